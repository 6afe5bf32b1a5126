//! Features that are known by their keys.
//!
//! Keys are sorted; a feature's number is the rank of its key, so it depends neither on the order of
//! sentences nor on threads. Keys are hashes, evenly spread, so a table of where those with the same
//! leading bits start leaves one or two to compare: two accesses to memory a look-up, and a binary
//! search in the worst of all files.
//!
//! Of the cells of a feature's block (alone, and with each direction and distance) only those exist
//! that are supported themselves: a feature that was seen with adjacent words only has no weight for
//! distant ones. A mask says which; the cells of all features stand one after the other.

use super::{Block, Names};
use crate::features::BLOCK;

/// The features that have weights, and where these are.
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
/// assert_eq!(dictionary.cells(), 4); // each alone, and with its direction and distance
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dictionary {
    /// By key.
    entries: Vec<Entry>,
    /// `starts[leading bits]`: the first entry whose key has such leading bits, or larger ones.
    starts: Vec<u32>,
    /// How far to shift a key to have its leading bits.
    shift: u32,
    cells: usize,
    names: Names,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    /// Its first cell.
    start: u32,
    /// Which of its slots have cells.
    mask: u16,
}

/// The cells of a feature, one after the other, of the slots in a mask.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    start: u32,
    mask: u16,
}

impl Block for Part {
    #[inline]
    fn cell(self, slot: usize) -> Option<usize> {
        let bit = 1u16 << slot;
        let before = (self.mask & (bit - 1)).count_ones();
        (self.mask & bit != 0).then(|| self.start as usize + before as usize)
    }
}

impl Dictionary {
    /// Features by their keys, which must rise, and the slots each has cells for.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn from_keys(
        keys: impl ExactSizeIterator<Item = (u64, u16)>,
    ) -> Result<Self, String> {
        let bits = keys.len().max(2).ilog2();
        if keys.len() > u32::MAX as usize {
            return Err(format!("{} features, too many to be numbered", keys.len()));
        }
        let mut entries: Vec<Entry> = Vec::with_capacity(keys.len());
        let mut starts = Vec::with_capacity((1 << bits) + 1);
        let shift = u64::BITS - bits;
        let mut cells = 0;
        for (key, mask) in keys {
            if entries.last().is_some_and(|last| last.key >= key) {
                return Err(format!("keys that do not rise, at number {}", entries.len()));
            }
            let start = u32::try_from(cells).map_err(|_| "more than 2^32 weights".to_owned())?;
            starts.resize(starts.len().max((key >> shift) as usize + 1), entries.len() as u32);
            entries.push(Entry { key, start, mask });
            cells += mask.count_ones() as usize;
        }
        starts.resize((1 << bits) + 1, entries.len() as u32);
        Ok(Self { entries, starts, shift, cells, names: Names::default() })
    }

    /// The same, with names for all features.
    pub(crate) fn with_names(self, names: Names) -> Self {
        Self { names, ..self }
    }

    /// The number of features, not counting those with direction and distance.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no features.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The number of weights: of features alone, and of each with directions and distances.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// The names of all features, by rank of their keys.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The keys of all features, rising, and the slots each has cells for.
    pub(crate) fn keys(&self) -> impl ExactSizeIterator<Item = (u64, u16)> {
        self.entries.iter().map(|entry| (entry.key, entry.mask))
    }

    /// Where the weights of each feature are: for every slot, its cell.
    pub fn slots(&self) -> impl Iterator<Item = [Option<usize>; BLOCK]> {
        self.entries.iter().map(|&Entry { start, mask, .. }| {
            std::array::from_fn(|slot| Part { start, mask }.cell(slot))
        })
    }

    /// The rank of a key among all, if it is one of them.
    #[inline]
    pub(crate) fn rank(&self, key: u64) -> Option<usize> {
        let leading = (key >> self.shift) as usize;
        let (from, to) = (self.starts[leading] as usize, self.starts[leading + 1] as usize);
        let bucket = &self.entries[from..to];
        // A long bucket is no accident of hashing.
        let found = match bucket.len() {
            0..16 => bucket.iter().position(|entry| entry.key == key),
            _ => bucket.binary_search_by_key(&key, |entry| entry.key).ok(),
        };
        found.map(|at| from + at)
    }

    /// The cells of a key, if it has any.
    #[inline]
    pub(crate) fn block(&self, key: u64) -> Option<Part> {
        let &Entry { start, mask, .. } = &self.entries[self.rank(key)?];
        Some(Part { start, mask })
    }
}
