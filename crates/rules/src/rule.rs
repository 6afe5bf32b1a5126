//! What a rule says.

use super::Test;

/// A rule: arcs, how they are counted, and how many there should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// What people call it; no two rules of a file have the same name.
    pub name: String,
    /// The line it is on, from 1.
    pub line: usize,
    /// Which words may be dependents.
    pub dependent: Test,
    /// Which may be heads.
    pub head: Head,
    /// Whether only the nearest word of the head's kind is a candidate, on each side.
    pub nearest: bool,
    /// The label of the arcs.
    pub as_label: Option<String>,
    /// Where the two stand.
    pub place: Place,
    /// What the target is a share of.
    pub counting: Counting,
    /// How large that share should be.
    pub target: Target,
    /// How much it matters, 1 if nothing is said.
    pub weight: f64,
    /// The rules whose shares add up to one.
    pub group: Option<String>,
}

/// What a head may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// The root, which is no word.
    Root,
    /// A word.
    Word(Test),
}

/// Where head and dependent stand: all of it must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// On which side of the dependent the head stands.
    pub direction: Direction,
    /// How far apart they are.
    pub distance: Option<Distance>,
    /// What stands strictly between them, or does not.
    pub between: Vec<Between>,
    /// What stands beside them.
    pub beside: Vec<(Neighbour, Test)>,
}

/// On which side of the dependent the head stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// On either side.
    #[default]
    Any,
    /// The head comes first. The root does.
    Left,
    /// The dependent comes first.
    Right,
}

/// How far apart two words are; neighbours are at distance 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distance {
    /// At least.
    pub least: usize,
    /// At most, if there is a limit.
    pub most: Option<usize>,
}

/// What stands strictly between head and dependent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Between {
    /// Whether some such word must be there, or none.
    pub some: bool,
    /// Which words.
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

/// What a target is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Of the candidate arcs that match.
    Pairs,
    /// Of the words that match the left side.
    Words,
    /// Of the words that match the left side and have a candidate. Only for `nearest` rules.
    Nearest,
}

/// How large a share should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// This large.
    Exactly(f64),
    /// Between the two.
    Range(f64, f64),
    /// This large or larger.
    AtLeast(f64),
    /// This large or smaller.
    AtMost(f64),
    /// All of it, by law.
    Always,
    /// Nothing of it, by law.
    Never,
    /// To be counted in a treebank, written `?`. Only a [`Draft`](super::Draft) has such rules.
    Open,
}

impl Target {
    /// The smallest and the largest share it allows.
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

    /// The middle of what it allows.
    pub fn middle(self) -> f64 {
        let (low, high) = self.bounds();
        if low == high { low } else { (low + high) / 2.0 }
    }

    /// Whether it asks for anything to be there, not only for it not to be.
    pub fn wants_some(self) -> bool {
        self == Target::Open || self.bounds().0 > 0.0
    }

    /// Whether it is a law, which no tree may break.
    pub fn is_hard(self) -> bool {
        matches!(self, Target::Always | Target::Never)
    }
}

impl Distance {
    /// Whether two words at this distance are so far apart.
    pub fn holds(self, distance: usize) -> bool {
        self.least <= distance && self.most.is_none_or(|most| distance <= most)
    }
}

impl Rule {
    /// What is counted if nothing is said.
    pub(super) fn usual_counting(nearest: bool) -> Counting {
        if nearest { Counting::Nearest } else { Counting::Words }
    }
}
