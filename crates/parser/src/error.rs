//! What can go wrong, and what to do about it.

mod checkpoint;
mod contradiction;
mod model;

use std::path::PathBuf;

pub use self::checkpoint::CheckpointProblem;
pub use self::contradiction::Contradiction;
pub use self::model::ModelProblem;

/// Every error of this crate. The message says what was found and what was expected;
/// [`hint`](Error::hint) says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line that is no feature template.
    #[error("template {text:?}: {why}")]
    Template {
        /// The line.
        text: String,
        /// What is wrong with it.
        why: String,
    },

    /// Gold trees that the model could not give.
    #[error("{}", not_in_tree_set(.sentences, *.count, *.tree_set, .source))]
    NotInTreeSet {
        /// The first few sentences.
        sentences: Vec<tutte_treebank::Place>,
        /// How many there are.
        count: usize,
        /// The trees that are possible.
        tree_set: tutte_trees::TreeSet,
        /// Why the first one is not.
        source: tutte_trees::Error,
    },

    /// A label that the model to be trained does not have.
    #[error("{place}: the model has no label {label:?}")]
    UnknownLabel {
        /// The sentence.
        place: Box<tutte_treebank::Place>,
        /// The label.
        label: String,
    },

    /// A tree that is known in part, for a learner that must know all of it.
    #[error("{place}: not every word has a head and a label, and {optimizer} learns from whole trees \
             only{}", in_brackets(.place))]
    PartialTree {
        /// The sentence.
        place: Box<tutte_treebank::Place>,
        /// The learner.
        optimizer: &'static str,
    },

    /// A treebank without heads.
    #[error("there is nothing to learn from: no word of the treebank has a head")]
    NoHeads,

    /// A treebank without words.
    #[error("there is nothing to learn from: the treebank has no words")]
    NoWords,

    /// A treebank or development data without sentences.
    #[error("there are no sentences {purpose}")]
    NoSentences {
        /// What they are for.
        purpose: &'static str,
    },

    /// Learning that whoever watched it has stopped.
    #[error("stopped before it was learnt")]
    Stopped,

    /// Trees to calibrate by that are none.
    #[error("there is nothing to judge by: no word has a head")]
    NothingToJudge,

    /// A model without a parser, where trees are asked for.
    #[error("the model has no parser, so it finds no trees")]
    NoParser,

    /// A setting of training that makes no sense.
    #[error("{0}")]
    Setting(String),

    /// A question about kinds of arcs to a model that knows none.
    #[error("max-z looks for the best kind of every arc, but this model's arcs are all of one")]
    NoClusters,

    /// A sentence too long for a question about all its trees.
    #[error("{place}: this sentence has {words} words, and all trees of a sentence are looked at together \
             up to {limit}{}", in_brackets(.place))]
    TooLong {
        /// The sentence.
        place: Box<tutte_treebank::Place>,
        /// Its number of words.
        words: usize,
        /// The most that are possible.
        limit: usize,
    },

    /// What a sentence says of its tree cannot be true.
    #[error("{place}: {problem}{}", in_brackets(.place))]
    Contradiction {
        /// The sentence, and the line of a word involved.
        place: Box<tutte_treebank::Place>,
        /// What cannot be.
        problem: Contradiction,
    },

    /// Weights grew until scores were no numbers.
    #[error("{place}: training diverged here: {source}; a smaller rate or C would help")]
    Diverged {
        /// The sentence at which it was seen.
        place: Box<tutte_treebank::Place>,
        /// What was seen.
        source: tutte_trees::Error,
    },

    /// A line that is no verdict on a find of an [audit](crate::annotate::audit).
    #[error("{file}:{line}:{column}: {why}")]
    Verdict {
        /// The name of the file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column of the table, from 1.
        column: usize,
        /// What is wrong with it.
        why: String,
    },

    /// A file that is no model, or none that can be used.
    #[error("{}: {problem}", .path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: ModelProblem,
    },

    /// A training that cannot go on from a file.
    #[error("{}: {problem}", .path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: CheckpointProblem,
    },

    /// A treebank that cannot be used.
    #[error(transparent)]
    Treebank(#[from] tutte_treebank::Error),

    /// A file of rules with errors.
    #[cfg(feature = "train")]
    #[error(transparent)]
    Rules(#[from] crate::rules::Invalid),

    /// A question that trees cannot answer.
    #[error(transparent)]
    Trees(#[from] tutte_trees::Error),
}

impl From<tutte_text::Error> for Error {
    fn from(error: tutte_text::Error) -> Self {
        match error {
            tutte_text::Error::NoWords => Self::NoWords,
            tutte_text::Error::Stopped => Self::Stopped,
            tutte_text::Error::Treebank(error) => Self::Treebank(error),
            other => Self::Setting(other.to_string()),
        }
    }
}

impl Error {
    /// What to do about it, where there is advice to give.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Model { problem, .. } => problem.hint(),
            Error::Checkpoint { problem: CheckpointProblem::Unreadable(_), .. } => None,
            Error::Checkpoint { problem, .. } => Some(problem.hint().to_owned()),
            Error::NotInTreeSet { tree_set, .. } => {
                let roots = if tree_set.is_single_root() { " with several roots" } else { "" };
                Some(format!("choose a tree set{roots} that holds it, or leave the choice to auto"))
            }
            Error::Contradiction { problem, .. } => problem.hint().map(str::to_owned),
            Error::PartialTree { .. } => {
                Some("adagrad, sgd and lbfgs learn from partial trees; or complete them".to_owned())
            }
            Error::NoHeads => Some(
                "give some words heads: `tutte ask` says which would tell most, or parse it first"
                    .to_owned(),
            ),
            Error::NothingToJudge => Some(
                "calibration needs trees that people made, and that were not learnt from"
                    .to_owned(),
            ),
            Error::TooLong { .. } => Some(
                "split it into sentences; the best tree and its probabilities (`tutte parse --probs`) can \
                 be had of any length"
                    .to_owned(),
            ),
            Error::NoParser => {
                Some("train one with a parser: `tutte train TRAIN -o MODEL` makes one".to_owned())
            }
            Error::NoClusters => Some("use map or mbr, or train with --clusters".to_owned()),
            Error::Treebank(error) => error.hint(),
            _ => None,
        }
    }
}

fn in_brackets(place: &tutte_treebank::Place) -> String {
    place.sent_id.as_ref().map(|id| format!(" (sent_id = {id})")).unwrap_or_default()
}

fn not_in_tree_set(
    sentences: &[tutte_treebank::Place],
    count: usize,
    tree_set: tutte_trees::TreeSet,
    why: &tutte_trees::Error,
) -> String {
    let name = |place: &tutte_treebank::Place| match &place.sent_id {
        Some(id) => format!("{place} (sent_id = {id})"),
        None => place.to_string(),
    };
    let first = sentences.first().map(name).unwrap_or_default();
    let mut text = format!("{first}: the tree is not in the set {tree_set}: {why}");
    if count > 1 {
        let others: Vec<String> = sentences.iter().skip(1).map(name).collect();
        let more = if count > sentences.len() { ", …" } else { "" };
        text += &format!("; {} more are not: {}{more}", count - 1, others.join(", "));
    }
    text
}
