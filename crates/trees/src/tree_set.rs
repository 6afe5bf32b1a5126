//! The four tree sets: projective or not, one root word or several.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// The set of dependency trees that a distribution ranges over.
///
/// A *projective* tree has no crossing arcs: every word between a head and its modifier descends
/// from that head. A *single-root* tree has exactly one word attached to the artificial root 0.
///
/// With all scores equal, the number of trees of a sentence of `n` words is
///
/// | set | n = 1, 2, 3, 4, 5 | closed form |
/// |---|---|---|
/// | [`NonProjectiveMultiRoot`](Self::NonProjectiveMultiRoot) | 1, 3, 16, 125, 1296 | (n+1)^(n−1) |
/// | [`NonProjectiveSingleRoot`](Self::NonProjectiveSingleRoot) | 1, 2, 9, 64, 625 | n^(n−1) |
/// | [`ProjectiveMultiRoot`](Self::ProjectiveMultiRoot) | 1, 3, 12, 55, 273 | C(3n, n) / (2n+1) |
/// | [`ProjectiveSingleRoot`](Self::ProjectiveSingleRoot) | 1, 2, 7, 30, 143 | C(3n−2, n−1) / n |
///
/// ```
/// use tutte_trees::TreeSet;
/// let set: TreeSet = "projective-single-root".parse()?;
/// assert_eq!(set, TreeSet::ProjectiveSingleRoot);
/// assert!(set.is_projective() && set.is_single_root());
/// # Ok::<(), tutte_trees::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeSet {
    /// Crossing arcs allowed, any number of root words: the matrix-tree theorem as Tutte wrote it.
    NonProjectiveMultiRoot,
    /// Crossing arcs allowed, exactly one root word, as in most treebanks.
    NonProjectiveSingleRoot,
    /// No crossing arcs, any number of root words.
    ProjectiveMultiRoot,
    /// No crossing arcs, exactly one root word.
    ProjectiveSingleRoot,
}

impl TreeSet {
    /// All four sets, for tests and tables.
    pub const ALL: [TreeSet; 4] = [
        TreeSet::NonProjectiveMultiRoot,
        TreeSet::NonProjectiveSingleRoot,
        TreeSet::ProjectiveMultiRoot,
        TreeSet::ProjectiveSingleRoot,
    ];

    /// True if crossing arcs are excluded.
    pub const fn is_projective(self) -> bool {
        matches!(self, TreeSet::ProjectiveMultiRoot | TreeSet::ProjectiveSingleRoot)
    }

    /// True if exactly one word must attach to the root.
    pub const fn is_single_root(self) -> bool {
        matches!(self, TreeSet::NonProjectiveSingleRoot | TreeSet::ProjectiveSingleRoot)
    }

    /// True if every tree of `other` is a tree of this set.
    pub const fn contains(self, other: TreeSet) -> bool {
        (other.is_projective() || !self.is_projective())
            && (other.is_single_root() || !self.is_single_root())
    }

    /// The number of trees of a sentence of `words` words, if it (and the arithmetic) fits 128 bits.
    ///
    /// ```
    /// use tutte_trees::TreeSet;
    /// assert_eq!(TreeSet::ProjectiveSingleRoot.tree_count(5), Some(143));
    /// assert_eq!(TreeSet::NonProjectiveMultiRoot.tree_count(100), None);
    /// ```
    pub fn tree_count(self, words: usize) -> Option<u128> {
        let n = u128::try_from(words).ok()?;
        if n == 0 {
            return Some(1);
        }
        let power = |base: u128| base.checked_pow(u32::try_from(n - 1).ok()?);
        match self {
            TreeSet::NonProjectiveMultiRoot => power(n + 1),
            TreeSet::NonProjectiveSingleRoot => power(n),
            TreeSet::ProjectiveMultiRoot => Some(binomial(3 * n, n)? / (2 * n + 1)),
            TreeSet::ProjectiveSingleRoot => Some(binomial(3 * n - 2, n - 1)? / n),
        }
    }

    pub(crate) const fn roots(self) -> Roots {
        if self.is_single_root() { Roots::Single } else { Roots::Multi }
    }

    const fn name(self) -> &'static str {
        match self {
            TreeSet::NonProjectiveMultiRoot => "nonprojective-multi-root",
            TreeSet::NonProjectiveSingleRoot => "nonprojective-single-root",
            TreeSet::ProjectiveMultiRoot => "projective-multi-root",
            TreeSet::ProjectiveSingleRoot => "projective-single-root",
        }
    }
}

impl fmt::Display for TreeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for TreeSet {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        TreeSet::ALL
            .into_iter()
            .find(|set| set.name() == text)
            .ok_or_else(|| Error::UnknownTreeSet { found: text.to_owned() })
    }
}

/// The number of words that may attach to the root, as both inference families take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Roots {
    /// One or more.
    Multi,
    /// Exactly one.
    Single,
}

/// C(n, k). Multiplications and divisions alternate, so that every intermediate value is an integer.
fn binomial(n: u128, k: u128) -> Option<u128> {
    (0..k).try_fold(1u128, |product, i| Some(product.checked_mul(n - i)? / (i + 1)))
}
