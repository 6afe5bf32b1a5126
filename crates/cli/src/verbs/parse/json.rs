//! Annotations as JSON, one object per line. `docs/parse.schema.json` describes it, and `tutte parse -i jsonl` reads it
//! (`input/jsonl.rs`).
//!
//! ```json
//! {"sent_id": "tea-1", "text": "I don't", "comments": ["newdoc"], "model": "en.tutte", "logprob": -0.7, "entropy": 1.2,
//!  "tokens": [{"form": "I", "start": 0, "end": 1, "words": [1]}, {"form": "don't", "start": 2, "end": 7, "words": [2, 3]}],
//!  "words": [{"id": 1, "form": "I", "lemma": "I", "upos": "PRON", "feats": "Case=Nom", "head": 2, "deprel": "nsubj",
//!    "head_prob": 0.98, "label_prob": 0.99,
//!    "alternatives": [{"head": 3, "deprel": "nmod", "prob": 0.02, "label_prob": 0.9}]}, …],
//!  "empty_nodes": [{"id": "2.1", "form": "do"}]}
//! ```
//!
//! A column that is `_` has no key. With `"calibration": "isotonic"`, `head_prob` is calibrated, see `tutte::Isotonic`.
//!
//! Words that the model tagged also have the probabilities of their tags:
//!
//! ```json
//! {"id": 1, "form": "saw", "upos": "VERB", "xpos": "VBD", "feats": "Tense=Past", "upos_prob": 0.93,
//!  "upos_alternatives": [{"upos": "NOUN", "prob": 0.07}], "xpos_prob": 0.99, "feats_prob": 0.99, …}
//! ```

use std::borrow::Cow;

use anyhow::Result;
use serde::Serialize;
use tutte::text::{TagAlternative, TagProbabilities, raw_text, token_ranges};
use tutte::{Alternative, AnnotatedWord, Annotation, Detail, Error};
use tutte_treebank::{AUDITED, Id, PROBABILITIES, Sentence, Token};

use crate::report::rounded;

/// A sentence.
#[derive(Default, Serialize)]
pub(super) struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_id: Option<&'a str>,
    text: Cow<'a, str>,
    /// Other comments, without `#`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comments: Vec<&'a str>,
    /// Name of the model.
    model: &'a str,
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
    tokens: Vec<SurfaceToken<'a>>,
    words: Vec<Word<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    empty_nodes: Vec<EmptyNode<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kbest: Option<Vec<OneTree<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<Vec<OneTree<'a>>>,
    /// Rows are heads, the first is the root. Columns are words.
    #[serde(skip_serializing_if = "Option::is_none")]
    marginals: Option<Vec<Vec<f64>>>,
}

/// A token of the text: a word, or a multiword token.
#[derive(Serialize)]
struct SurfaceToken<'a> {
    form: &'a str,
    /// Place in the text, in characters from 0; `None` if the text is not that of the tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<usize>,
    /// Ids of its words.
    words: Vec<usize>,
    /// MISC of a multiword token. That of a word is its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    misc: Option<Cow<'a, str>>,
}

/// An empty node of the enhanced graph.
#[derive(Serialize)]
struct EmptyNode<'a> {
    id: String,
    #[serde(flatten)]
    columns: Columns<'a>,
}

#[derive(Serialize)]
struct Word<'a> {
    id: usize,
    #[serde(flatten)]
    columns: Columns<'a>,
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

/// Probabilities of the tags that the model chose.
#[derive(Serialize)]
struct Tags<'a> {
    /// Marginal probability of `upos`.
    upos_prob: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    upos_alternatives: Vec<OtherUpos<'a>>,
    /// Probability of `xpos` given the UPOS of all words.
    #[serde(skip_serializing_if = "Option::is_none")]
    xpos_prob: Option<f64>,
    /// Probability of `feats` given the UPOS of all words.
    #[serde(skip_serializing_if = "Option::is_none")]
    feats_prob: Option<f64>,
    /// Probability of `lemma`, if a network found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    lemma_prob: Option<f64>,
}

#[derive(Serialize)]
struct OtherUpos<'a> {
    upos: &'a str,
    prob: f64,
}

/// Columns of the sentence that parsing does not change.
#[derive(Serialize)]
struct Columns<'a> {
    form: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    lemma: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upos: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    xpos: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feats: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deps: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    misc: Option<Cow<'a, str>>,
}

impl<'a> Columns<'a> {
    fn new(token: Token<'a>, has_deps: bool) -> Self {
        let known = |value: &'a str| Some(value).filter(|value| *value != "_");
        Self {
            form: token.form(),
            // The lemma of _ is _.
            lemma: Some(token.lemma()).filter(|lemma| *lemma != "_" || token.form() == "_"),
            upos: known(token.upos()),
            xpos: known(token.xpos()),
            feats: known(token.feats()),
            deps: known(token.deps()).filter(|_| has_deps),
            misc: misc(token),
        }
    }
}

/// Returns MISC, if there is any, without what an earlier parse or audit wrote.
fn misc(token: Token<'_>) -> Option<Cow<'_, str>> {
    let keys: Vec<&str> = PROBABILITIES.into_iter().chain(AUDITED).collect();
    Some(token.misc_without(&keys)).filter(|misc| misc != "_")
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
    fn new(probabilities: &TagProbabilities<'a>) -> Self {
        let TagProbabilities { upos, xpos, feats, lemma, alternatives } = probabilities;
        let other = |other: &TagAlternative<'a>| OtherUpos {
            upos: other.upos,
            prob: rounded(other.probability),
        };
        Self {
            upos_prob: rounded(*upos),
            upos_alternatives: alternatives.iter().map(other).collect(),
            xpos_prob: xpos.map(rounded),
            feats_prob: feats.map(rounded),
            lemma_prob: lemma.map(rounded),
        }
    }
}

impl<'a> Word<'a> {
    /// Makes a word from its annotation.
    fn new(
        id: usize,
        token: Token<'a>,
        annotated: &'a AnnotatedWord<'a>,
        of: &Annotation<'_>,
    ) -> Self {
        let mut word = Self {
            id,
            columns: Columns::new(token, of.keeps_deps),
            tags: annotated.tag.as_ref().map(Tags::new),
            head: annotated.head,
            deprel: annotated.label_name(),
            head_prob: None,
            label_prob: None,
            alternatives: None,
        };
        if of.detail == Detail::Words {
            word.head_prob = annotated.head_prob.map(rounded);
            word.label_prob = annotated.label_prob.map(rounded);
            word.alternatives = Some(annotated.alternatives.iter().map(Other::from).collect());
        }
        word
    }

    /// Makes a word with the head and label it has.
    fn as_given(id: usize, token: Token<'a>) -> Self {
        Self {
            id,
            columns: Columns::new(token, true),
            tags: None,
            head: token.head(),
            deprel: Some(token.deprel()).filter(|label| *label != "_"),
            head_prob: None,
            label_prob: None,
            alternatives: None,
        }
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
    pub(super) fn new(
        sentence: &'a Sentence,
        annotation: &'a Annotation<'a>,
        model: &'a str,
    ) -> Self {
        let words = (1..).zip(sentence.words()).zip(&annotation.words);
        let words = words.map(|((id, token), word)| Word::new(id, token, word, annotation));
        let marginals = annotation.marginals.as_ref().map(|marginals| {
            let row = |head| marginals.row(head)[1..].iter().map(|p| rounded(*p)).collect();
            (0..=marginals.words()).map(row).collect()
        });
        Self {
            calibration: annotation.calibration,
            logprob: annotation.log_prob.map(rounded),
            entropy: annotation.entropy.map(rounded),
            pieces: Some(annotation.pieces).filter(|pieces| *pieces > 1),
            words: words.collect(),
            marginals,
            ..Self::of_text(sentence, annotation.keeps_deps, model)
        }
    }

    /// Makes a line for a sentence that was not parsed, with the heads and labels it has.
    pub(super) fn unparsed(sentence: &'a Sentence, model: &'a str) -> Self {
        let words = (1..).zip(sentence.words()).map(|(id, token)| Word::as_given(id, token));
        Self { words: words.collect(), ..Self::of_text(sentence, true, model) }
    }

    /// Makes a line for a sentence whose constraints contradict each other, with the heads and labels it has.
    pub(super) fn contradiction(sentence: &'a Sentence, error: &Error, model: &'a str) -> Self {
        Self { error: Some(error.to_string()), ..Self::unparsed(sentence, model) }
    }

    /// Makes a line without words.
    fn of_text(sentence: &'a Sentence, has_deps: bool, model: &'a str) -> Self {
        let text = match sentence.text() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(raw_text(std::slice::from_ref(sentence)).trim().to_owned()),
        };
        let empty = sentence.tokens().filter(|token| matches!(token.id(), Id::Empty(..)));
        let empty = empty.map(|token| EmptyNode {
            id: token.id().to_string(),
            columns: Columns::new(token, has_deps),
        });
        Self {
            sent_id: sentence.sent_id(),
            comments: sentence.comments().filter_map(other_comment).collect(),
            model,
            tokens: surface_tokens(sentence, &text),
            empty_nodes: empty.collect(),
            text,
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

/// Returns a comment without `#`, unless JSON has a key for it, or an earlier parse wrote it.
fn other_comment(comment: &str) -> Option<&str> {
    let comment = comment.trim_start_matches('#').trim();
    let key = comment.split_once('=').map_or(comment, |(key, _)| key).trim_end();
    let is_ours = key.starts_with("tutte_") && key != "tutte_split";
    (!is_ours && key != "sent_id" && key != "text").then_some(comment)
}

/// Returns the tokens of a sentence and their places in its text.
fn surface_tokens<'a>(sentence: &'a Sentence, text: &str) -> Vec<SurfaceToken<'a>> {
    let mut ranges = token_ranges(sentence, text).unwrap_or_default().into_iter();
    let mut tokens = Vec::new();
    // The words up to here belong to the last multiword token.
    let mut covered = 0;
    for token in sentence.tokens() {
        let (words, misc) = match token.id() {
            Id::Multiword(first, last) => {
                covered = last;
                ((first..=last).collect(), misc(token))
            }
            Id::Word(word) if word > covered => (vec![word], None),
            Id::Word(_) | Id::Empty(..) => continue,
        };
        let range = ranges.next();
        let start = range.as_ref().map(|range| range.start);
        let end = range.map(|range| range.end);
        tokens.push(SurfaceToken { form: token.form(), start, end, words, misc });
    }
    tokens
}
