//! A network that scores arcs and labels, beside features or instead of them.
//!
//! ```text
//! θ(h → m) = a₁ · w·f(x, h, m) + a₂ · s(h, m)
//! ```
//!
//! s is the biaffine score of a network over an encoder (`tutte_neural`). The sum is one score per arc, so the
//! distribution over trees is as exact as with features alone. Labels are scored in the same way. Either scorer may be
//! absent; if a model has both, it has [weights](ScoreWeights) for them, which `learn/mix.rs` learns. A network may
//! also find tags. A model with both takes them from the network or from its tagger, whichever is more accurate.
//!
//! Networks need the feature `neural`. Without it, [`NetworkScorer`] has no values: a model file with a network is an
//! error, and nothing else changes.
//!
//! - T. Dozat, C. D. Manning (2017). Deep biaffine attention for neural dependency parsing.

#[cfg(not(feature = "neural"))]
mod absent;
#[cfg(feature = "neural")]
mod scorer;
mod weights;

#[cfg(not(feature = "neural"))]
pub(crate) use self::absent::NetworkMemory;
#[cfg(not(feature = "neural"))]
pub use self::absent::NetworkScorer;
#[cfg(feature = "neural")]
pub(crate) use self::scorer::NetworkMemory;
#[cfg(feature = "neural")]
pub use self::scorer::NetworkScorer;
pub use self::weights::{ScoreWeights, ScorerWeights};

use serde::{Deserialize, Serialize};

use crate::text::{TagAlternative, TagProbabilities};

/// Names of the classes of a tag head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagClasses {
    /// Name of the head: `upos`, `xpos`, `feats` or `lemma`.
    pub head: String,
    /// Names of the classes, by number. Those of lemmas are [rules](crate::text::LemmaRule) as JSON.
    pub names: Vec<String>,
}

/// The parts of a network in a model file that are not tables of weights.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NetworkDocument {
    /// Sizes and options, as JSON.
    pub(crate) description: String,
    /// Names of tags.
    pub(crate) tags: Vec<TagClasses>,
    /// Combinations of UPOS, XPOS and FEATS, as numbers of classes, that words of the treebank have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) combinations: Vec<[usize; 3]>,
    /// Weights of features and of the network, if the model has both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) weights: Option<ScoreWeights>,
    /// The encoder, if its weights are not in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) outside: Option<OutsideEncoder>,
    /// `true` if tags are those of the tagger.
    #[serde(rename = "tags_of_tagger", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_tags_of_tagger: bool,
}

/// An encoder that a model file names instead of containing it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutsideEncoder {
    /// Name of its folder, which is beside the model file.
    pub(crate) folder: String,
    /// Hash of sizes, tokenizer and weights.
    pub(crate) checksum: String,
}

/// The most probable tags of a word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WordTags<'a> {
    pub(crate) upos: &'a str,
    pub(crate) xpos: &'a str,
    pub(crate) feats: &'a str,
    /// Probabilities of the three; `None` without such a head.
    pub(crate) probs: [Option<f64>; 3],
    /// The lemma and its probability; `None` without such a head.
    pub(crate) lemma: Option<(String, f64)>,
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
            lemma: tags.lemma.map(|(_, probability)| probability),
            alternatives: tags.other_upos.into_iter().map(other).collect(),
        }
    }
}
