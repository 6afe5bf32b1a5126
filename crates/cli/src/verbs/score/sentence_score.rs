//! How probable the tree of one sentence is.

use anyhow::Result;
use serde::Serialize;
use tutte_treebank::Sentence;
use tutte_trees::{Tree, TreeSet};

use crate::report::rounded;

/// What a model thinks of the tree of a sentence.
#[derive(Serialize)]
pub(super) struct TreeScore {
    /// Of the heads and labels that are there, in nats; null, as JSON knows no infinity, if they are
    /// impossible. With arcs that were left out, an estimate.
    pub(super) logprob: f64,
    /// Of all trees, in nats.
    pub(super) entropy: f64,
    /// Why the tree is impossible, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) impossible: Option<Impossible>,
    /// Arcs that the model has not looked at.
    pub(super) arcs_left_out: usize,
    pub(super) words: Vec<Word>,
}

/// Why a tree has probability zero; the first that is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Impossible {
    /// The heads form a cycle.
    NoTree,
    /// It has several roots, or crossing arcs, and the trees that are possible have not.
    NotInTreeSet,
    /// A label that the model does not have, or not there.
    Labels,
    /// Each part is possible, but not together.
    Together,
}

/// What it thinks of a word.
#[derive(Serialize)]
pub(super) struct Word {
    pub(super) id: usize,
    pub(super) form: String,
    pub(super) head: Option<usize>,
    pub(super) deprel: Option<String>,
    pub(super) head_prob: Option<f64>,
    pub(super) label_prob: Option<f64>,
    /// Of the head among all heads, 1 if none is more probable.
    pub(super) head_rank: Option<usize>,
    /// Whether the model does not look at the head by itself.
    pub(super) left_out: bool,
    /// The most probable head.
    pub(super) rather: Rather,
}

/// A head that the model would choose.
#[derive(Serialize)]
pub(super) struct Rather {
    pub(super) head: usize,
    pub(super) deprel: String,
    pub(super) prob: f64,
}

impl TreeScore {
    pub(super) fn new(sentence: &Sentence, judged: &tutte::TreeScore<'_>) -> Result<Self> {
        let tutte::TreeScore { distribution, log_prob, head_probs, left_out, given } = judged;
        let word = |(id, token): (usize, tutte_treebank::Token<'_>)| {
            let label = Some(token.deprel()).filter(|label| *label != "_");
            // What the model thinks of the label of an arc, it thinks when it looks at it.
            let looks = given.as_ref().filter(|_| left_out.contains(&id)).unwrap_or(distribution);
            // More probable than any: no alternatives but the best are asked for.
            let sure = looks.certainty(id, token.head(), label, 1.0)?;
            let best = distribution.alternatives(id, 1)?;
            let rank = token.head().map(|head| distribution.head_rank(id, head)).transpose()?;
            Ok(Word {
                id,
                form: token.form().to_owned(),
                head: token.head(),
                deprel: label.map(str::to_owned),
                head_prob: head_probs[id - 1],
                label_prob: sure.label,
                head_rank: rank,
                left_out: left_out.contains(&id),
                rather: best.first().map_or(
                    Rather { head: 0, deprel: "_".to_owned(), prob: 0.0 },
                    |best| Rather {
                        head: best.head,
                        deprel: best.label.to_owned(),
                        prob: best.probability,
                    },
                ),
            })
        };
        let words: Vec<Word> = (1..).zip(sentence.words()).map(word).collect::<Result<_>>()?;
        let (logprob, arcs_left_out) = (*log_prob, left_out.len());
        let impossible = (logprob == f64::NEG_INFINITY)
            .then(|| Impossible::of(sentence, distribution.tree_set(), &words));
        Ok(Self { logprob, entropy: distribution.entropy(), impossible, arcs_left_out, words })
    }

    /// A line of JSON about the sentence.
    pub(super) fn line(&self, sentence: &Sentence) -> Result<String> {
        #[derive(Serialize)]
        struct Line<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            sent_id: Option<&'a str>,
            #[serde(flatten)]
            judgement: &'a TreeScore,
        }
        let mut value =
            serde_json::to_value(Line { sent_id: sentence.sent_id(), judgement: self })?;
        round(&mut value);
        Ok(value.to_string() + "\n")
    }

    /// How many heads are there.
    pub(super) fn heads(&self) -> usize {
        self.words.iter().filter(|word| word.head.is_some()).count()
    }

    /// The word whose head is least probable.
    pub(super) fn oddest(&self) -> Option<&Word> {
        let judged = self.words.iter().filter_map(|word| Some((word.head_prob?, word)));
        judged.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, word)| word)
    }
}

impl Impossible {
    fn of(sentence: &Sentence, tree_set: TreeSet, words: &[Word]) -> Self {
        // Heads that are missing are taken for the root's, which breaks no tree.
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

/// Rounds all numbers that are not whole.
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
