//! Probability of the tree of one sentence.

use anyhow::Result;
use serde::Serialize;
use tutte::{AnnotatedWord, Annotation, TreeScore};
use tutte_treebank::{Sentence, Token};
use tutte_trees::{Tree, TreeSet};

use crate::report::rounded;

/// The probability of the tree of a sentence, and of its parts.
#[derive(Serialize)]
pub(super) struct SentenceScore {
    /// Log-probability of the heads and labels, in nats; null if they are impossible, because JSON has no infinity.
    /// An estimate if arcs were left out.
    pub(super) logprob: f64,
    /// Entropy of the distribution over trees, in nats.
    pub(super) entropy: f64,
    /// Reason why the tree is impossible, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) impossible: Option<Impossible>,
    /// Number of arcs that are not candidates of the model.
    pub(super) arcs_left_out: usize,
    pub(super) words: Vec<Word>,
}

/// The first reason why a tree has probability zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Impossible {
    /// The heads form a cycle.
    NoTree,
    /// It has several roots or crossing arcs, which the tree set does not allow.
    NotInTreeSet,
    /// The model does not have a label, or not on such arcs.
    Labels,
    /// Each arc is possible, but not all together.
    Together,
}

/// The probability of the arc of a word.
#[derive(Serialize)]
pub(super) struct Word {
    pub(super) id: usize,
    pub(super) form: String,
    pub(super) head: Option<usize>,
    pub(super) deprel: Option<String>,
    pub(super) head_prob: Option<f64>,
    pub(super) label_prob: Option<f64>,
    /// Rank of the head among all heads, 1 if none is more probable.
    pub(super) head_rank: Option<usize>,
    /// `true` if the head is not a candidate of the model.
    pub(super) left_out: bool,
    /// The most probable head.
    pub(super) rather: MostProbableHead,
}

/// The most probable head of a word.
#[derive(Serialize)]
pub(super) struct MostProbableHead {
    pub(super) head: usize,
    pub(super) deprel: String,
    pub(super) prob: f64,
}

impl SentenceScore {
    /// Makes the score of a sentence from the score and the annotation of its tree.
    pub(super) fn new(
        sentence: &Sentence,
        tree_score: &TreeScore<'_>,
        annotation: &Annotation<'_>,
    ) -> Result<Self> {
        let TreeScore { distribution, log_prob, left_out, .. } = tree_score;
        let word = |((id, token), annotated): ((usize, Token<'_>), &AnnotatedWord<'_>)| {
            let best = distribution.alternatives(id, 1)?;
            Ok(Word {
                id,
                form: token.form().to_owned(),
                head: annotated.head,
                deprel: annotated.label_name().map(str::to_owned),
                head_prob: annotated.head_prob,
                label_prob: annotated.label_prob,
                head_rank: annotated.head_rank,
                left_out: left_out.contains(&id),
                rather: best.first().map_or(
                    MostProbableHead { head: 0, deprel: "_".to_owned(), prob: 0.0 },
                    |best| MostProbableHead {
                        head: best.head,
                        deprel: best.label.to_owned(),
                        prob: best.probability,
                    },
                ),
            })
        };
        let words = (1..).zip(sentence.words()).zip(&annotation.words);
        let words: Vec<Word> = words.map(word).collect::<Result<_>>()?;
        let logprob = *log_prob;
        let impossible = (logprob == f64::NEG_INFINITY)
            .then(|| Impossible::of(sentence, distribution.tree_set(), &words));
        Ok(Self {
            logprob,
            entropy: annotation.entropy.unwrap_or_default(),
            impossible,
            arcs_left_out: left_out.len(),
            words,
        })
    }

    /// Returns a line of JSON.
    pub(super) fn line(&self, sentence: &Sentence) -> Result<String> {
        #[derive(Serialize)]
        struct Line<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            sent_id: Option<&'a str>,
            #[serde(flatten)]
            score: &'a SentenceScore,
        }
        let line = Line { sent_id: sentence.sent_id(), score: self };
        let mut value = serde_json::to_value(line)?;
        round(&mut value);
        Ok(value.to_string() + "\n")
    }

    /// Returns the number of heads.
    pub(super) fn heads(&self) -> usize {
        self.words.iter().filter(|word| word.head.is_some()).count()
    }

    /// Returns the word with the least probable head.
    pub(super) fn oddest(&self) -> Option<&Word> {
        let words = self.words.iter().filter_map(|word| Some((word.head_prob?, word)));
        words.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, word)| word)
    }
}

impl Impossible {
    fn of(sentence: &Sentence, tree_set: TreeSet, words: &[Word]) -> Self {
        // Open heads count as the root, which is in no cycle.
        let heads: Vec<usize> = sentence.partial_heads().map(|head| head.unwrap_or(0)).collect();
        if Tree::new(&heads).is_err() {
            Self::NoTree
        } else if tutte::check_heads(sentence, tree_set).is_err() {
            Self::NotInTreeSet
        } else if words.iter().any(|word| word.label_prob == Some(0.0)) {
            Self::Labels
        } else {
            Self::Together
        }
    }
}

/// Rounds all numbers that are not integers.
fn round(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::Number(number) if number.is_f64() => {
            *value = Value::from(rounded(number.as_f64().unwrap_or_default()));
        }
        Value::Array(items) => items.iter_mut().for_each(round),
        Value::Object(entries) => entries.values_mut().for_each(round),
        _ => {}
    }
}
