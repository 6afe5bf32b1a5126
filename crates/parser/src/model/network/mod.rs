//! A network that scores arcs and labels, beside features or instead of them.
//!
//! ```text
//! θ(h → m) = w·f(x, h, m) + s(h, m)
//! ```
//!
//! s is the biaffine score of a network over an encoder (`tutte_neural`). The sum is one score per arc, so the
//! distribution over trees is as exact as with features alone. Labels are scored by the network
//! alone, if there is one. It may also find tags.
//!
//! Networks need the feature `neural`. Without it, [`NetworkScorer`] has no values: a model file with a network is an
//! error, and nothing else changes.
//!
//! - T. Dozat, C. D. Manning (2017). Deep biaffine attention for neural dependency parsing.

#[cfg(not(feature = "neural"))]
mod absent;
#[cfg(feature = "neural")]
mod scorer;

#[cfg(not(feature = "neural"))]
pub(crate) use self::absent::NetworkMemory;
#[cfg(not(feature = "neural"))]
pub use self::absent::NetworkScorer;
#[cfg(feature = "neural")]
pub(crate) use self::scorer::NetworkMemory;
#[cfg(feature = "neural")]
pub use self::scorer::NetworkScorer;

use serde::{Deserialize, Serialize};

use crate::text::{TagAlternative, TagProbabilities};

/// Names of the classes of a tag head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagClasses {
    /// Name of the head: `upos`, `xpos` or `feats`.
    pub head: String,
    /// Names of the classes, by number.
    pub names: Vec<String>,
}

/// The parts of a network in a model file that are not tables of weights.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NetworkDocument {
    /// Sizes and options, as JSON.
    pub(crate) description: String,
    /// Names of tags.
    pub(crate) tags: Vec<TagClasses>,
}

/// The most probable tags of a word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WordTags<'a> {
    pub(crate) upos: &'a str,
    pub(crate) xpos: &'a str,
    pub(crate) feats: &'a str,
    /// Probabilities of the three; `None` without such a head.
    pub(crate) probs: [Option<f64>; 3],
    /// Other UPOS, with their probabilities.
    pub(crate) other_upos: Vec<(&'a str, f64)>,
}

impl<'a> From<WordTags<'a>> for TagProbabilities<'a> {
    fn from(tags: WordTags<'a>) -> Self {
        let [upos, xpos, feats] = tags.probs;
        let other = |(upos, probability)| TagAlternative { upos, probability };
        Self {
            upos: upos.unwrap_or(0.0),
            xpos,
            feats,
            alternatives: tags.other_upos.into_iter().map(other).collect(),
        }
    }
}
