//! Annotations as JSON, one object per line.
//!
//! ```json
//! {"sent_id": "tea-1", "text": "…", "logprob": -0.7, "entropy": 1.2, "words": [
//!   {"id": 1, "form": "I", "head": 2, "deprel": "nsubj", "head_prob": 0.98, "label_prob": 0.99,
//!    "alternatives": [{"head": 4, "deprel": "nmod", "prob": 0.02, "label_prob": 0.9}]}, …]}
//! ```
//!
//! With `"calibration": "isotonic"`, `head_prob` is calibrated, see `tutte::Isotonic`.
//!
//! Words that the model tagged also have their tags and the probabilities of these:
//!
//! ```json
//! {"id": 1, "form": "saw", "upos": "VERB", "upos_prob": 0.93, "xpos": "VBD", "xpos_prob": 0.99,
//!  "feats": "Tense=Past", "feats_prob": 0.99, "upos_alternatives": [{"upos": "NOUN", "prob": 0.07}], …}
//! ```

use std::borrow::Cow;

use anyhow::Result;
use serde::Serialize;
use tutte::text::{TagAlternative, TagProbabilities};
use tutte::{Alternative, AnnotatedWord, Annotation, Detail, Error};
use tutte_treebank::{Sentence, Token};

use crate::report::rounded;

/// A sentence.
#[derive(Default, Serialize)]
pub(super) struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    /// Why the sentence was not parsed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Name of the calibration of `head_prob`.
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<&'static str>,
    /// Log-probability of the tree, in nats; null if it is impossible, because JSON has no infinity.
    #[serde(skip_serializing_if = "Option::is_none")]
    logprob: Option<f64>,
    /// Entropy of the distribution over trees, in nats.
    #[serde(skip_serializing_if = "Option::is_none")]
    entropy: Option<f64>,
    /// Number of pieces, if the sentence was not parsed as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pieces: Option<usize>,
    words: Vec<Word<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kbest: Option<Vec<OneTree<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<Vec<OneTree<'a>>>,
    /// Rows are heads, the first is the root. Columns are words.
    #[serde(skip_serializing_if = "Option::is_none")]
    marginals: Option<Vec<Vec<f64>>>,
}

#[derive(Serialize)]
struct Word<'a> {
    id: usize,
    form: &'a str,
    #[serde(flatten)]
    tags: Option<Tags<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deprel: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head_prob: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_prob: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alternatives: Option<Vec<Other<'a>>>,
}

/// Tags that the model chose, and their probabilities.
#[derive(Serialize)]
struct Tags<'a> {
    upos: &'a str,
    /// Marginal probability of `upos`.
    upos_prob: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    upos_alternatives: Vec<OtherUpos<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    xpos: Option<&'a str>,
    /// Probability of `xpos` given the UPOS of all words.
    #[serde(skip_serializing_if = "Option::is_none")]
    xpos_prob: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feats: Option<&'a str>,
    /// Probability of `feats` given the UPOS of all words.
    #[serde(skip_serializing_if = "Option::is_none")]
    feats_prob: Option<f64>,
}

#[derive(Serialize)]
struct OtherUpos<'a> {
    upos: &'a str,
    prob: f64,
}

#[derive(Serialize)]
struct Other<'a> {
    head: usize,
    deprel: &'a str,
    prob: f64,
    label_prob: f64,
}

/// One of several trees.
#[derive(Serialize)]
struct OneTree<'a> {
    logprob: f64,
    prob: f64,
    heads: Vec<usize>,
    deprels: Vec<Cow<'a, str>>,
    /// Probability of each head, and of each label given the head.
    #[serde(skip_serializing_if = "Option::is_none")]
    head_probs: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_probs: Option<Vec<f64>>,
}

impl<'a> From<&Alternative<'a>> for Other<'a> {
    fn from(other: &Alternative<'a>) -> Self {
        Self {
            head: other.head,
            deprel: other.label,
            prob: rounded(other.probability),
            label_prob: rounded(other.label_probability),
        }
    }
}

impl<'a> Tags<'a> {
    fn new(token: Token<'a>, probabilities: &TagProbabilities<'a>) -> Self {
        let TagProbabilities { upos, xpos, feats, alternatives } = probabilities;
        let other = |other: &TagAlternative<'a>| OtherUpos {
            upos: other.upos,
            prob: rounded(other.probability),
        };
        Self {
            upos: token.upos(),
            upos_prob: rounded(*upos),
            upos_alternatives: alternatives.iter().map(other).collect(),
            xpos: xpos.map(|_| token.xpos()),
            xpos_prob: xpos.map(rounded),
            feats: feats.map(|_| token.feats()),
            feats_prob: feats.map(rounded),
        }
    }
}

impl<'a> Word<'a> {
    /// Makes a word from its annotation.
    fn new(id: usize, token: Token<'a>, annotated: &'a AnnotatedWord<'a>, detail: Detail) -> Self {
        let mut word = Self {
            id,
            form: token.form(),
            tags: annotated.tag.as_ref().map(|probabilities| Tags::new(token, probabilities)),
            head: annotated.head,
            deprel: annotated.label_name(),
            head_prob: None,
            label_prob: None,
            alternatives: None,
        };
        if detail == Detail::Words {
            word.head_prob = annotated.head_prob.map(rounded);
            word.label_prob = annotated.label_prob.map(rounded);
            word.alternatives = Some(annotated.alternatives.iter().map(Other::from).collect());
        }
        word
    }
}

impl<'a> OneTree<'a> {
    /// Makes a tree of a list from its annotation. `has_labels` is false for models without labels.
    fn new(annotation: &Annotation<'a>, has_labels: bool) -> Self {
        let Annotation { words, detail, log_prob, .. } = annotation;
        let log_prob = log_prob.unwrap_or_default();
        let probs = |prob: fn(&AnnotatedWord<'_>) -> Option<f64>| {
            words.iter().map(|word| rounded(prob(word).unwrap_or_default())).collect()
        };
        let has_probs = *detail == Detail::Words;
        Self {
            logprob: rounded(log_prob),
            prob: rounded(log_prob.exp()),
            heads: words.iter().filter_map(|word| word.head).collect(),
            deprels: words.iter().map(|word| word.label.clone()).collect(),
            head_probs: has_probs.then(|| probs(|word| word.head_prob)),
            label_probs: (has_probs && has_labels).then(|| probs(|word| word.label_prob)),
        }
    }
}

impl<'a> Line<'a> {
    /// Makes a line from the annotation of a sentence.
    pub(super) fn new(sentence: &'a Sentence, annotation: &'a Annotation<'a>) -> Self {
        let words = (1..).zip(sentence.words()).zip(&annotation.words);
        let words = words.map(|((id, token), word)| Word::new(id, token, word, annotation.detail));
        let marginals = annotation.marginals.as_ref().map(|marginals| {
            let row = |head| marginals.row(head)[1..].iter().map(|p| rounded(*p)).collect();
            (0..=marginals.words()).map(row).collect()
        });
        Self {
            sent_id: sentence.sent_id(),
            text: sentence.text(),
            calibration: annotation.calibration,
            logprob: annotation.log_prob.map(rounded),
            entropy: annotation.entropy.map(rounded),
            pieces: Some(annotation.pieces).filter(|pieces| *pieces > 1),
            words: words.collect(),
            marginals,
            ..Self::default()
        }
    }

    /// Makes a line for a sentence whose constraints contradict each other, with the heads and labels it has.
    pub(super) fn contradiction(sentence: &'a Sentence, error: &Error) -> Self {
        let word = |(id, token): (usize, Token<'a>)| Word {
            id,
            form: token.form(),
            tags: None,
            head: token.head(),
            deprel: Some(token.deprel()).filter(|label| *label != "_"),
            head_prob: None,
            label_prob: None,
            alternatives: None,
        };
        Self {
            sent_id: sentence.sent_id(),
            text: sentence.text(),
            error: Some(error.to_string()),
            words: (1..).zip(sentence.words()).map(word).collect(),
            ..Self::default()
        }
    }

    /// Adds several trees, the most probable ones or samples.
    pub(super) fn with_trees(
        mut self,
        trees: impl Iterator<Item = Result<Annotation<'a>, Error>>,
        has_labels: bool,
        is_ranked: bool,
    ) -> Result<Self> {
        let trees = trees.map(|annotation| Ok(OneTree::new(&annotation?, has_labels)));
        let trees = Some(trees.collect::<Result<Vec<_>, Error>>()?);
        if is_ranked {
            self.kbest = trees;
        } else {
            self.samples = trees;
        }
        Ok(self)
    }

    /// Returns the line, with its line end.
    pub(super) fn text(&self) -> Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}
