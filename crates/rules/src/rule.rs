//! The parts of a rule.

use crate::condition::Test;

/// A rule: a predicate of arcs, a way to count them, and a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Name, unique in its file.
    pub name: String,
    /// Line number, from 1.
    pub line: usize,
    /// Test of the dependent.
    pub dependent: Test,
    /// Test of the head.
    pub head: Head,
    /// True if only the nearest word that passes the head's test is a candidate, on each side.
    pub nearest: bool,
    /// Label of the arcs.
    pub as_label: Option<String>,
    /// Conditions on the positions of head and dependent.
    pub place: Place,
    /// Denominator of the share.
    pub counting: Counting,
    /// Required share.
    pub target: Target,
    /// Weight of the rule in training; 1 by default.
    pub weight: f64,
    /// Name of a group. The shares of a group add up to at most one.
    pub group: Option<String>,
}

/// The head of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// The root, which is not a word.
    Root,
    /// A word that passes a test.
    Word(Test),
}

/// Conditions on the positions of head and dependent. All of them must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Side of the dependent on which the head stands.
    pub direction: Direction,
    /// Allowed distances.
    pub distance: Option<Distance>,
    /// Conditions on the words strictly between them.
    pub between: Vec<Between>,
    /// Tests of their neighbours.
    pub beside: Vec<(Neighbour, Test)>,
}

/// Side of the dependent on which the head stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// On either side.
    #[default]
    Any,
    /// The head comes first. The root always does.
    Left,
    /// The dependent comes first.
    Right,
}

/// A range of distances between two words. Neighbours are at distance 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distance {
    /// Smallest distance.
    pub least: usize,
    /// Largest distance, if there is a limit.
    pub most: Option<usize>,
}

/// A condition on the words strictly between head and dependent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Between {
    /// True if at least one word must pass the test, false if none may.
    pub some: bool,
    /// Test of these words.
    pub test: Test,
}

/// A word beside the head or the dependent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Neighbour {
    /// The word before the head, `p-1`: the head is just after it.
    BeforeHead,
    /// The word after the head, `p+1`.
    AfterHead,
    /// The word before the dependent, `c-1`.
    BeforeDependent,
    /// The word after the dependent, `c+1`.
    AfterDependent,
}

/// Denominator of a rule's share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Candidate arcs that match.
    Pairs,
    /// Words that pass the dependent's test.
    Words,
    /// Words that pass the dependent's test and have a candidate head. Only for `nearest` rules.
    Nearest,
}

/// Required share of arcs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Exactly this share.
    Exactly(f64),
    /// A share in this range, ends included.
    Range(f64, f64),
    /// This share or more.
    AtLeast(f64),
    /// This share or less.
    AtMost(f64),
    /// A hard constraint: all of them.
    Always,
    /// A hard constraint: none of them.
    Never,
    /// Not known yet, written `?`; to be counted in a treebank. Only a [`Draft`](crate::Draft) has such rules.
    Open,
}

impl Target {
    /// Returns the smallest and the largest share that the target allows.
    pub fn bounds(self) -> (f64, f64) {
        match self {
            Target::Exactly(share) => (share, share),
            Target::Range(low, high) => (low, high),
            Target::AtLeast(low) => (low, 1.0),
            Target::AtMost(high) => (0.0, high),
            Target::Always => (1.0, 1.0),
            Target::Never => (0.0, 0.0),
            Target::Open => (0.0, 1.0),
        }
    }

    /// Returns the middle of the allowed range.
    pub fn middle(self) -> f64 {
        let (low, high) = self.bounds();
        if low == high { low } else { (low + high) / 2.0 }
    }

    /// Returns true if the target requires some arcs, or is open.
    pub fn wants_some(self) -> bool {
        self == Target::Open || self.bounds().0 > 0.0
    }

    /// Returns true for a hard constraint (`always`, `never`), which every tree must satisfy.
    pub fn is_hard(self) -> bool {
        matches!(self, Target::Always | Target::Never)
    }
}

impl Distance {
    /// Returns true if a distance is in the range.
    pub fn holds(self, distance: usize) -> bool {
        self.least <= distance && self.most.is_none_or(|most| distance <= most)
    }
}

impl Rule {
    /// Returns how a rule counts if it has no `of` clause.
    pub(crate) fn default_counting(is_nearest: bool) -> Counting {
        if is_nearest { Counting::Nearest } else { Counting::Words }
    }
}

/// Rounds a share to the nearest of 0, 0.1, 0.25, 0.5, 0.75 and 1; a tie goes to the smaller one.
///
/// People can be asked for targets as coarse as these (Druck, Mann and McCallum 2009).
///
/// ```
/// assert_eq!(tutte_rules::bin(0.83), 0.75);
/// assert_eq!(tutte_rules::bin(0.375), 0.25);
/// ```
pub fn bin(p: f64) -> f64 {
    // The end of each bin, half-way to the next, and its value.
    const BINS: [(f64, f64); 5] =
        [(0.05, 0.0), (0.175, 0.1), (0.375, 0.25), (0.625, 0.5), (0.875, 0.75)];
    BINS.iter().find(|&&(end, _)| p <= end).map_or(1.0, |&(_, bin)| bin)
}
