//! Attributes of words and arcs, of which templates are made, and their values as numbers.
//!
//! The value of an attribute becomes a 64-bit number: the XXH3 hash of its bytes, seeded with the
//! attribute. No dictionary of strings is needed, and words that are not in the training data have
//! numbers too.

use std::fmt;
use std::str::FromStr;

use tutte_linear::hash_text;

/// An attribute of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Attribute {
    /// `form`: the word as written.
    Form,
    /// `lemma`: the dictionary form.
    Lemma,
    /// `upos`: the coarse tag, UPOS in CoNLL-U, CPOSTAG in CoNLL-X.
    Upos,
    /// `tag`: the fine tag (XPOS, POSTAG), or the coarse one where there is none.
    Tag,
    /// `feats`: all morphological features together.
    Feats,
    /// `feat`: each morphological feature by itself; a template fires once for each.
    Feat,
    /// `prefix3`: the first characters of the form.
    Prefix(u8),
    /// `suffix3`: the last characters of the form.
    Suffix(u8),
    /// `cut5`: the first characters of the form; a template fires only if a form that it cuts is
    /// longer than that.
    Cut(u8),
    /// `marker`: the function word that marks the phrase of the word, see [`Atoms`](super::Atoms).
    Marker,
    /// `head`: the coarse tag of the head that the first pass gave the word.
    FirstPassHead,
    /// `left`: the coarse tag of the word's leftmost modifier in the first pass.
    FirstPassLeft,
    /// `right`: the coarse tag of the word's rightmost modifier in the first pass.
    FirstPassRight,
    /// `valency`: numbers of modifiers that the first pass gave the word, to its left and to its right.
    FirstPassValency,
    /// `function`: the label that the [transition parser](crate::TransitionParser) gave the word.
    Function,
}

impl Attribute {
    /// Seed of the hashes of this attribute. Part of the model format.
    fn seed(self) -> u64 {
        match self {
            Attribute::Form => 1,
            Attribute::Lemma => 2,
            Attribute::Upos => 3,
            Attribute::Tag => 4,
            Attribute::Feats => 5,
            Attribute::Feat => 6,
            Attribute::Marker => 7,
            Attribute::FirstPassHead => 8,
            Attribute::FirstPassLeft => 9,
            Attribute::FirstPassRight => 10,
            Attribute::FirstPassValency => 11,
            Attribute::Function => 12,
            Attribute::Prefix(length) => 0x100 + u64::from(length),
            Attribute::Suffix(length) => 0x200 + u64::from(length),
            Attribute::Cut(length) => 0x300 + u64::from(length),
        }
    }

    /// Returns `true` for attributes of the tree of the first pass.
    pub(super) fn needs_first_pass(self) -> bool {
        use Attribute::{FirstPassHead, FirstPassLeft, FirstPassRight, FirstPassValency, Function};
        matches!(self, FirstPassHead | FirstPassLeft | FirstPassRight | FirstPassValency | Function)
    }

    /// Hashes a value of this attribute.
    pub(crate) fn hash(self, value: &str) -> u64 {
        hash_text(value, self.seed())
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attribute::Form => f.write_str("form"),
            Attribute::Lemma => f.write_str("lemma"),
            Attribute::Upos => f.write_str("upos"),
            Attribute::Tag => f.write_str("tag"),
            Attribute::Feats => f.write_str("feats"),
            Attribute::Feat => f.write_str("feat"),
            Attribute::Prefix(length) => write!(f, "prefix{length}"),
            Attribute::Suffix(length) => write!(f, "suffix{length}"),
            Attribute::Cut(length) => write!(f, "cut{length}"),
            Attribute::Marker => f.write_str("marker"),
            Attribute::FirstPassHead => f.write_str("head"),
            Attribute::FirstPassLeft => f.write_str("left"),
            Attribute::FirstPassRight => f.write_str("right"),
            Attribute::FirstPassValency => f.write_str("valency"),
            Attribute::Function => f.write_str("function"),
        }
    }
}

impl FromStr for Attribute {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        let affix = |rest: &str| rest.parse().ok().filter(|length| (1..=9).contains(length));
        Ok(match name {
            "form" => Attribute::Form,
            "lemma" => Attribute::Lemma,
            "upos" => Attribute::Upos,
            "tag" => Attribute::Tag,
            "feats" => Attribute::Feats,
            "feat" => Attribute::Feat,
            "marker" => Attribute::Marker,
            "head" => Attribute::FirstPassHead,
            "left" => Attribute::FirstPassLeft,
            "right" => Attribute::FirstPassRight,
            "valency" => Attribute::FirstPassValency,
            "function" => Attribute::Function,
            _ => {
                if let Some(length) = name.strip_prefix("prefix").and_then(affix) {
                    Attribute::Prefix(length)
                } else if let Some(length) = name.strip_prefix("suffix").and_then(affix) {
                    Attribute::Suffix(length)
                } else if let Some(length) = name.strip_prefix("cut").and_then(affix) {
                    Attribute::Cut(length)
                } else {
                    return Err(());
                }
            }
        })
    }
}

/// An attribute of an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ArcAttribute {
    /// `side`: the side of the head on which the modifier stands; right, for the root.
    Side,
    /// `punctuation`: number of punctuation marks in between.
    Punctuation,
    /// `verbs`: number of verbs in between.
    Verbs,
    /// `guide`: the binned probability of the arc in the first pass, and whether its tree has the arc.
    FirstPass,
    /// `inner`: the coarse tag of the head's next modifier towards the head in the first pass.
    Inner,
    /// `outer`: the coarse tag of the head's next modifier away from the head in the first pass.
    Outer,
    /// `level`: how far up the tree of the first pass the arc attaches, see
    /// [`FirstPassOutput`](super::FirstPassOutput).
    Level,
    /// `above`: position, relative to the arc, of the head's own head in the first pass.
    Above,
    /// `opinion`: whether the trees of the [transition parser](crate::TransitionParser), forwards and
    /// backwards, have the arc or its reverse.
    Transition,
}

impl fmt::Display for ArcAttribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ArcAttribute::Side => "side",
            ArcAttribute::Punctuation => "punctuation",
            ArcAttribute::Verbs => "verbs",
            ArcAttribute::FirstPass => "guide",
            ArcAttribute::Inner => "inner",
            ArcAttribute::Outer => "outer",
            ArcAttribute::Level => "level",
            ArcAttribute::Above => "above",
            ArcAttribute::Transition => "opinion",
        })
    }
}

impl FromStr for ArcAttribute {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Ok(match name {
            "side" => ArcAttribute::Side,
            "punctuation" => ArcAttribute::Punctuation,
            "verbs" => ArcAttribute::Verbs,
            "guide" => ArcAttribute::FirstPass,
            "inner" => ArcAttribute::Inner,
            "outer" => ArcAttribute::Outer,
            "level" => ArcAttribute::Level,
            "above" => ArcAttribute::Above,
            "opinion" => ArcAttribute::Transition,
            _ => return Err(()),
        })
    }
}
