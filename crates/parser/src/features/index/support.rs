//! Selection of the features that have weights: those with enough support in a treebank.
//!
//! The keys of all arcs, each with the bin of its arc, are collected, sorted and counted: O(N log N) for
//! N features of all arcs. N may be billions, so keys are collected in passes. Each pass takes only the
//! keys with certain bits, and there are enough passes to keep N / passes below [`AT_ONCE`]. Passes
//! are independent of each other, so threads share them.

use std::fmt;
use std::str::FromStr;

use tutte_treebank::Sentence;

use super::{Dictionary, Names};
use crate::Error;
use crate::features::{Atoms, FeatureSet, Prepared, bin};

/// The arcs on which a feature must occur to have a weight. A feature with direction and distance is
/// counted separately from the bare feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Support {
    /// `supported`: one arc of a gold tree (McDonald et al. 2005; Koo et al. 2007; Smith & Smith
    /// 2007; Nguyen et al. 2007).
    Gold,
    /// A number: this many possible arcs, including wrong arcs and those from the root (10: Smith &
    /// Eisner 2007; Druck, Mann & McCallum 2009).
    Count(u32),
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Support::Gold => f.write_str("supported"),
            Support::Count(count) => write!(f, "{count}"),
        }
    }
}

impl FromStr for Support {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match (text, text.parse()) {
            ("supported", _) => Ok(Support::Gold),
            (_, Ok(count @ 1..)) => Ok(Support::Count(count)),
            _ => Err(Error::Setting(format!(
                "{text:?} does not say which features to keep; expected supported, or the number of arcs \
                 on which a feature must occur, such as 10"
            ))),
        }
    }
}

impl Dictionary {
    /// Makes the dictionary of the features with enough support, with their names.
    pub(crate) fn of_arcs(arcs: &SupportingArcs<'_>, threads: usize) -> Result<Self, Error> {
        let keys = arcs.supported(threads, AT_ONCE);
        let too_many = |found| Error::Setting(format!("the features of the treebank are {found}"));
        let dictionary = Self::from_keys(keys.into_iter()).map_err(too_many)?;
        let names = Names::new(&dictionary, arcs);
        Ok(dictionary.with_names(names))
    }
}

/// Number of keys that are sorted at once, at eight bytes each.
const AT_ONCE: usize = 1 << 25;

/// Number of leading bits by which keys are separated before they are sorted. Removing these bits from
/// the key makes room for a bin.
const LEADING: u32 = 4;

/// The arcs of a treebank that count for support.
#[derive(Debug)]
pub(crate) struct SupportingArcs<'a> {
    pub(crate) examples: Vec<SupportExample<'a>>,
    pub(crate) features: &'a FeatureSet,
    pub(crate) support: Support,
}

/// A sentence with its atoms and, for [`Support::Gold`], its gold heads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SupportExample<'a> {
    pub(crate) sentence: &'a Sentence,
    pub(crate) atoms: &'a Atoms,
    pub(crate) gold: &'a [Option<usize>],
}

impl<'a> SupportingArcs<'a> {
    /// Returns the arcs of a sentence that count.
    pub(super) fn arcs_of<'b>(
        &self,
        example: &SupportExample<'b>,
    ) -> Box<dyn Iterator<Item = (usize, usize)> + 'b> {
        let words = example.atoms.words();
        match self.support {
            Support::Gold => {
                Box::new((1..).zip(example.gold).filter_map(|(m, head)| Some(((*head)?, m))))
            }
            Support::Count(_) => Box::new((0..=words).flat_map(move |head| {
                (1..=words).filter(move |&modifier| modifier != head).map(move |m| (head, m))
            })),
        }
    }

    /// Returns all keys with enough support, in increasing order, each with the mask of its slots that
    /// have it.
    fn supported(&self, threads: usize, at_once: usize) -> Vec<(u64, u16)> {
        let mut all = 0usize;
        self.for_each_key(|_, _| all += 1);
        let passes = all.div_ceil(at_once).next_power_of_two();
        let workers = threads.clamp(1, passes);
        // `found[pass][leading bits]`
        let mut found = vec![Vec::new(); passes];
        std::thread::scope(|scope| {
            let mut shares: Vec<Vec<_>> = (0..workers).map(|_| Vec::new()).collect();
            for (pass, found) in found.iter_mut().enumerate() {
                shares[pass % workers].push((pass, found));
            }
            for share in shares {
                scope.spawn(move || {
                    for (pass, found) in share {
                        *found = self.pass(pass, passes, all);
                    }
                });
            }
        });
        let leading = 0..1 << LEADING;
        leading.flat_map(|at| found.iter().flat_map(move |pass| &pass[at])).copied().collect()
    }

    /// Returns the supported keys of one pass, by leading bits. The bits below the leading ones are the
    /// number of the pass.
    fn pass(&self, pass: usize, passes: usize, all: usize) -> Vec<Vec<(u64, u16)>> {
        let bits = passes.ilog2();
        let room = all / (passes << LEADING);
        let mut found: [Vec<u64>; 1 << LEADING] =
            std::array::from_fn(|_| Vec::with_capacity(room + room / 16));
        self.for_each_key(|key, bin| {
            // The leading bits, then those of the pass.
            let leading = key >> (u64::BITS - LEADING - bits);
            if leading as usize & (passes - 1) == pass {
                found[(leading >> bits) as usize].push(key << LEADING | bin as u64);
            }
        });
        let count = |(leading, mut packed): (u64, Vec<u64>)| {
            packed.sort_unstable();
            self.count(&packed, leading << (u64::BITS - LEADING))
        };
        (0..).zip(found).map(count).collect()
    }

    /// Counts sorted keys, each with a bin in its last bits, and keeps those with enough support.
    fn count(&self, packed: &[u64], leading: u64) -> Vec<(u64, u16)> {
        let enough = match self.support {
            Support::Gold => 1,
            Support::Count(count) => count as usize,
        };
        let conjoin = self.features.conjoin();
        let same_key = |a: &u64, b: &u64| a >> LEADING == b >> LEADING;
        let kept = packed.chunk_by(same_key).filter_map(|feature| {
            let mut mask = u16::from(conjoin.bare() && feature.len() >= enough);
            for copy in feature.chunk_by(|a, b| a == b) {
                if conjoin.binned() && copy.len() >= enough {
                    mask |= 1 << (copy[0] % (1 << LEADING));
                }
            }
            (mask != 0).then(|| (leading | feature[0] >> LEADING, mask))
        });
        kept.collect()
    }

    /// Calls `f` with all keys of all arcs, and their bins.
    fn for_each_key(&self, mut f: impl FnMut(u64, usize)) {
        let mut prepared = Prepared::default();
        for example in &self.examples {
            prepared.fill(self.features, example.atoms, |_| true);
            for (head, modifier) in self.arcs_of(example) {
                let bin = bin(head, modifier);
                prepared.keys(head, modifier, |key| f(key, bin));
            }
        }
    }

    /// Returns the supported keys, counted in more passes, for tests.
    #[cfg(test)]
    pub(super) fn supported_in_passes(&self, at_once: usize) -> Vec<(u64, u16)> {
        self.supported(3, at_once)
    }
}
