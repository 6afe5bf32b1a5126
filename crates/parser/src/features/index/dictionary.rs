//! Dictionaries: tables of the keys of features.
//!
//! Keys are sorted, and the number of a feature is the rank of its key. It depends neither on the order
//! of sentences nor on threads. Keys are hashes and evenly spread. A table has the first key for each
//! value of the leading bits, so that one or two keys are left to compare. A look-up costs two memory
//! accesses. In files made to slow it down, it is a binary search.
//!
//! A feature's block has cells only for the copies (bare, and with each direction and distance) that have
//! support. A feature that occurs only with adjacent words has no weight for distant words. A mask
//! says which cells exist; the cells of all features follow each other.

use super::{Block, Names};
use crate::features::BLOCK;

/// The features that have weights, and the cells of their weights.
///
/// ```
/// use tutte::features::FeatureSet;
/// use tutte::{Dictionary, Support};
/// use tutte_trees::TreeSet;
///
/// let treebank = ["\
/// 1\tTea\ttea\tNOUN\t_\t_\t2\tnsubj\t_\t_
/// 2\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_
/// ".parse()?];
/// let features = FeatureSet::parse("h.form m.form")?;
/// let set = TreeSet::ProjectiveSingleRoot;
/// let dictionary = Dictionary::new(&treebank, &features, Support::Gold, set, 1)?;
/// let names = dictionary.names().read(&features);
/// let mut names: Vec<String> = names.map(|name| name.to_string()).collect();
/// names.sort();
/// assert_eq!(names, ["h.form=<root> m.form=cools", "h.form=cools m.form=Tea"]);
/// assert_eq!(dictionary.cells(), 4); // each bare, and with its direction and distance
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dictionary {
    /// Sorted by key.
    entries: Vec<Entry>,
    /// `starts[leading bits]`: the first entry whose key has these leading bits, or larger ones.
    starts: Vec<u32>,
    /// Shift that leaves the leading bits of a key.
    shift: u32,
    cells: usize,
    names: Names,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    /// First cell.
    start: u32,
    /// Slots that have cells, one bit each.
    mask: u16,
}

/// A block in which only the slots of a mask have cells, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SparseBlock {
    start: u32,
    mask: u16,
}

impl Block for SparseBlock {
    #[inline]
    fn cell(self, slot: usize) -> Option<usize> {
        let bit = 1u16 << slot;
        let before = (self.mask & (bit - 1)).count_ones();
        (self.mask & bit != 0).then(|| self.start as usize + before as usize)
    }
}

impl Dictionary {
    /// Makes a dictionary from keys in increasing order, each with the mask of its slots that have cells.
    ///
    /// # Errors
    /// A description of the first invalid key.
    pub(crate) fn from_keys(
        keys: impl ExactSizeIterator<Item = (u64, u16)>,
    ) -> Result<Self, String> {
        let bits = keys.len().max(2).ilog2();
        if keys.len() > u32::MAX as usize {
            return Err(format!("{} features, too many to number", keys.len()));
        }
        let mut entries: Vec<Entry> = Vec::with_capacity(keys.len());
        let mut starts = Vec::with_capacity((1 << bits) + 1);
        let shift = u64::BITS - bits;
        let mut cells = 0;
        for (key, mask) in keys {
            if entries.last().is_some_and(|last| last.key >= key) {
                return Err(format!("keys that do not increase, at number {}", entries.len()));
            }
            let start = u32::try_from(cells).map_err(|_| "more than 2^32 weights".to_owned())?;
            starts.resize(starts.len().max((key >> shift) as usize + 1), entries.len() as u32);
            entries.push(Entry { key, start, mask });
            cells += mask.count_ones() as usize;
        }
        starts.resize((1 << bits) + 1, entries.len() as u32);
        Ok(Self { entries, starts, shift, cells, names: Names::default() })
    }

    /// Sets the names of all features.
    pub(crate) fn with_names(self, names: Names) -> Self {
        Self { names, ..self }
    }

    /// Number of features, not counting those with direction and distance.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if there are no features.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Number of weights: of bare features, and of features with direction and distance.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// Returns the names of all features, by rank of their keys.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the keys of all features, in increasing order, each with the mask of its slots.
    pub(crate) fn keys(&self) -> impl ExactSizeIterator<Item = (u64, u16)> {
        self.entries.iter().map(|entry| (entry.key, entry.mask))
    }

    /// Returns, for each feature, the cell of every slot.
    pub fn slots(&self) -> impl Iterator<Item = [Option<usize>; BLOCK]> {
        self.entries.iter().map(|&Entry { start, mask, .. }| {
            std::array::from_fn(|slot| SparseBlock { start, mask }.cell(slot))
        })
    }

    /// Returns the rank of a key, if the dictionary has it.
    #[inline]
    pub(crate) fn rank(&self, key: u64) -> Option<usize> {
        let leading = (key >> self.shift) as usize;
        let (from, to) = (self.starts[leading] as usize, self.starts[leading + 1] as usize);
        let bucket = &self.entries[from..to];
        // Long buckets occur only in files made to slow down look-ups.
        let found = match bucket.len() {
            0..16 => bucket.iter().position(|entry| entry.key == key),
            _ => bucket.binary_search_by_key(&key, |entry| entry.key).ok(),
        };
        found.map(|at| from + at)
    }

    /// Returns the cells of a key, if the dictionary has it.
    #[inline]
    pub(crate) fn block(&self, key: u64) -> Option<SparseBlock> {
        let &Entry { start, mask, .. } = &self.entries[self.rank(key)?];
        Some(SparseBlock { start, mask })
    }
}
