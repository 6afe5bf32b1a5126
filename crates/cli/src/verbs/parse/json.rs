//! Sentences as JSON, an object a line.
//!
//! ```json
//! {"sent_id": "tea-1", "text": "…", "logprob": -0.7, "entropy": 1.2, "words": [
//!   {"id": 1, "form": "I", "head": 2, "deprel": "nsubj", "head_prob": 0.98, "label_prob": 0.99,
//!    "alternatives": [{"head": 4, "deprel": "nmod", "prob": 0.02, "label_prob": 0.9}]}, …]}
//! ```
//!
//! With `"calibration": "isotonic"`, `head_prob` is how often such heads are right, see `tutte::Isotonic`.

use anyhow::Result;
use serde::Serialize;
use tutte::{Alternative, Error, LabelledDistribution, Mixture, Pieces};
use tutte_treebank::Sentence;
use tutte_trees::ArcMatrix;

use super::result::Listed;
use crate::report::rounded;

/// A sentence.
#[derive(Default, Serialize)]
pub(super) struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    /// Why it is as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What `head_prob` went through, if it is not the probability itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<&'static str>,
    /// Of the tree, in nats; null, as JSON knows no infinity, if it is impossible.
    #[serde(skip_serializing_if = "Option::is_none")]
    logprob: Option<f64>,
    /// Of all trees, in nats.
    #[serde(skip_serializing_if = "Option::is_none")]
    entropy: Option<f64>,
    /// In how many pieces it was parsed, if not as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pieces: Option<usize>,
    words: Vec<Word<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kbest: Option<Vec<OneTree<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<Vec<OneTree<'a>>>,
    /// By head, of which the first is the root, and word.
    #[serde(skip_serializing_if = "Option::is_none")]
    marginals: Option<Vec<Vec<f64>>>,
}

#[derive(Serialize)]
struct Word<'a> {
    id: usize,
    form: &'a str,
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
    deprels: Vec<&'a str>,
    /// Of each head, and of each label given the head.
    #[serde(skip_serializing_if = "Option::is_none")]
    head_probs: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_probs: Option<Vec<f64>>,
}

impl<'a> From<Alternative<'a>> for Other<'a> {
    fn from(other: Alternative<'a>) -> Self {
        Self {
            head: other.head,
            deprel: other.label,
            prob: rounded(other.probability),
            label_prob: rounded(other.label_probability),
        }
    }
}

impl<'a> Line<'a> {
    /// A sentence with its heads.
    pub(super) fn new(sentence: &'a Sentence) -> Self {
        let word = |(id, token): (usize, tutte_treebank::Token<'a>)| Word {
            id,
            form: token.form(),
            head: token.head(),
            deprel: Some(token.deprel()).filter(|label| *label != "_"),
            head_prob: None,
            label_prob: None,
            alternatives: None,
        };
        Self {
            sent_id: sentence.sent_id(),
            text: sentence.text(),
            words: (1..).zip(sentence.words()).map(word).collect(),
            ..Self::default()
        }
    }

    /// A sentence as it was, and why.
    pub(super) fn contradiction(sentence: &'a Sentence, error: &Error) -> Self {
        Self { error: Some(error.to_string()), ..Self::new(sentence) }
    }

    /// The same with what is reported of the heads, and alternatives above a threshold.
    pub(super) fn sure(
        sentence: &'a Sentence,
        distribution: &Mixture<'a, '_>,
        threshold: f64,
        head_probs: &[f64],
    ) -> Result<Self> {
        let mut line = Self::new(sentence);
        line.logprob = Some(rounded(distribution.log_prob_in(sentence)?));
        line.entropy = Some(rounded(distribution.entropy()));
        for (word, head_prob) in line.words.iter_mut().zip(head_probs) {
            let sure = distribution.certainty(word.id, word.head, word.deprel, threshold)?;
            word.head_prob = word.head.map(|_| rounded(*head_prob));
            word.label_prob = sure.label.map(rounded);
            word.alternatives = Some(sure.alternatives.into_iter().map(Other::from).collect());
        }
        Ok(line)
    }

    /// A sentence that was parsed in pieces and has their heads; if wanted, how sure they are.
    pub(super) fn in_pieces(sentence: &'a Sentence, pieces: &Pieces<'a>, probs: bool) -> Self {
        let mut line = Self { pieces: Some(pieces.parse.pieces), ..Self::new(sentence) };
        if probs {
            line.logprob = Some(rounded(pieces.log_prob));
            line.entropy = Some(rounded(pieces.entropy));
            for (word, sure) in line.words.iter_mut().zip(&pieces.certainties) {
                word.head_prob = sure.head.map(rounded);
                word.label_prob = sure.label.map(rounded);
                let others = sure.alternatives.iter().copied().map(Other::from);
                word.alternatives = Some(others.collect());
            }
        }
        line
    }

    /// A sentence with several trees, the most probable or random ones; if it is to be said how sure
    /// they are, with the probabilities of their arcs and, word by word, all heads above a threshold.
    pub(super) fn several(
        sentence: &'a Sentence,
        distribution: &LabelledDistribution<'a>,
        list: &[Listed],
        is_ranked: bool,
        sure: Option<f64>,
    ) -> Result<Self> {
        let marginals = distribution.arcs().marginals();
        let tree = |listed: &Listed| {
            let arcs = || listed.tree.arcs();
            let label_prob = |(head, word, label)| -> Result<f64> {
                Ok(rounded(distribution.label_probs(head, word)?[label]))
            };
            let head_prob = |(head, word, _)| rounded(marginals[(head, word)]);
            let names = listed.tree.labels().iter().map(|label| distribution.name(*label));
            let labelled = sure.filter(|_| !distribution.labels().is_empty());
            Ok(OneTree {
                logprob: rounded(listed.log_prob),
                prob: rounded(listed.log_prob.exp()),
                heads: listed.tree.tree().heads().to_vec(),
                deprels: names.collect(),
                head_probs: sure.map(|_| arcs().map(head_prob).collect()),
                label_probs: labelled
                    .map(|_| arcs().map(label_prob).collect::<Result<_>>())
                    .transpose()?,
            })
        };
        let trees: Vec<OneTree<'_>> = list.iter().map(tree).collect::<Result<_>>()?;
        let (kbest, samples) = if is_ranked { (Some(trees), None) } else { (None, Some(trees)) };
        let mut line = Self { kbest, samples, ..Self::new(sentence) };
        line.entropy = Some(rounded(distribution.entropy()));
        for word in &mut line.words {
            (word.head, word.deprel) = (None, None);
            if let Some(threshold) = sure {
                let heads = distribution.certainty(word.id, None, None, threshold)?;
                word.alternatives = Some(heads.alternatives.into_iter().map(Other::from).collect());
            }
        }
        Ok(line)
    }

    /// The same with what `head_prob` went through.
    pub(super) fn calibrated(self, calibration: Option<&'static str>) -> Self {
        Self { calibration, ..self }
    }

    /// The same with the probabilities of all arcs, if they are wanted.
    pub(super) fn with_matrix(mut self, wanted: bool, marginals: &ArcMatrix) -> Self {
        let row = |head| marginals.row(head)[1..].iter().map(|p| rounded(*p)).collect();
        self.marginals = wanted.then(|| (0..=marginals.words()).map(row).collect());
        self
    }

    /// One line.
    pub(super) fn text(&self) -> Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}
