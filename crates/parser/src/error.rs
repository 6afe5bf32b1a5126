//! The error type of this crate: what is wrong, where, and how to fix it.

mod checkpoint;
mod contradiction;
mod memory;
mod model;

use std::path::PathBuf;

pub use self::checkpoint::CheckpointProblem;
pub use self::contradiction::Contradiction;
pub use self::memory::MemoryCause;
pub use self::model::ModelProblem;

/// Any error of this crate. The message says what is wrong and where; [`hint`](Error::hint) says how to
/// fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line that is not a feature template.
    #[error("template {text:?}: {why}")]
    Template {
        /// The line.
        text: String,
        /// Why it is invalid.
        why: String,
    },

    /// Gold trees outside the tree set of the model.
    #[error("{}", not_in_tree_set(.sentences, *.count, *.tree_set, .source))]
    NotInTreeSet {
        /// The first few sentences.
        sentences: Vec<tutte_treebank::Place>,
        /// Number of such sentences.
        count: usize,
        /// The tree set of the model.
        tree_set: tutte_trees::TreeSet,
        /// Why the first tree is outside the set.
        source: tutte_trees::Error,
    },

    /// A gold label that the model in training does not have.
    #[error("{place}: the model has no label {label:?}")]
    UnknownLabel {
        /// The sentence.
        place: Box<tutte_treebank::Place>,
        /// The label.
        label: String,
    },

    /// A partial tree, for an optimizer that needs complete trees.
    #[error("{place}: a word has no head or no label, but {optimizer} learns from complete trees \
             only{}", in_brackets(.place))]
    PartialTree {
        /// The sentence.
        place: Box<tutte_treebank::Place>,
        /// Name of the optimizer.
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
        /// Purpose of the sentences.
        purpose: &'static str,
    },

    /// Training that an observer stopped.
    #[error("training was stopped before it was finished")]
    Stopped,

    /// A calibration without gold heads.
    #[error("there is nothing to calibrate on: no word has a head")]
    NothingToJudge,

    /// A request for trees to a model without a parser.
    #[error("the model has no parser")]
    NoParser,

    /// A model without a parser in place of one that has a parser.
    #[error("{} has a parser, but the new model would have none", .path.display())]
    ParserWouldBeLost {
        /// File of the model.
        path: PathBuf,
    },

    /// An invalid setting of training.
    #[error("{0}")]
    Setting(String),

    /// A request for the latent clusters of arcs to a model without clusters.
    #[error("max-z needs a model with latent clusters of arcs, but this model has none")]
    NoClusters,

    /// A label that the model does not have.
    #[error("the model has no label {name:?}")]
    NoSuchLabel {
        /// The label.
        name: String,
    },

    /// Training that needs more memory than there is.
    #[error("training would need about {:.1} GB of memory, which is too much: {cause}", *.bytes as f64 / 1e9)]
    Memory {
        /// Number of bytes that training would need.
        bytes: u64,
        /// The largest part of it.
        cause: MemoryCause,
    },

    /// Constraints of a sentence that no tree satisfies.
    #[error("{place}: {problem}{}", in_brackets(.place))]
    Contradiction {
        /// The sentence, and the line of a word involved.
        place: Box<tutte_treebank::Place>,
        /// The contradiction.
        problem: Contradiction,
    },

    /// Weights that grew until scores were not finite.
    #[error("{place}: training diverged here: {source}")]
    Diverged {
        /// The sentence with the first such score.
        place: Box<tutte_treebank::Place>,
        /// The error of inference.
        source: tutte_trees::Error,
        /// Advice on which option to change.
        advice: &'static str,
    },

    /// A line that is not a verdict on a finding of an [audit](crate::annotate::audit).
    #[error("{file}:{line}:{column}: {why}")]
    Verdict {
        /// Name of the file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column of the table, from 1.
        column: usize,
        /// Why it is invalid.
        why: String,
    },

    /// A file that is not a model, or that cannot be used.
    #[error("{}: {problem}", .path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: ModelProblem,
    },

    /// A checkpoint from which training cannot resume.
    #[error("{}: {problem}", .path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: CheckpointProblem,
    },

    /// A treebank that cannot be used.
    #[error(transparent)]
    Treebank(#[from] tutte_treebank::Error),

    /// A file of rules with errors.
    #[cfg(feature = "train")]
    #[error(transparent)]
    Rules(#[from] crate::rules::Invalid),

    /// An error of a network or an encoder.
    #[cfg(feature = "neural")]
    #[error(transparent)]
    Network(#[from] tutte_neural::Error),

    /// An error of inference over trees.
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
    /// Returns advice on how to fix the error, if there is any.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Model { problem, .. } => problem.hint(),
            Error::Checkpoint { problem: CheckpointProblem::Unreadable(_), .. } => None,
            Error::Checkpoint { problem, .. } => Some(problem.hint().to_owned()),
            Error::NotInTreeSet { tree_set, .. } => {
                let roots = if tree_set.is_single_root() { " with several roots" } else { "" };
                Some(format!("choose a tree set{roots} that contains it, or --tree-set auto"))
            }
            Error::Contradiction { problem, .. } => problem.hint().map(str::to_owned),
            Error::PartialTree { .. } => {
                Some("use --learner adagrad, sgd or lbfgs, or complete the tree".to_owned())
            }
            Error::NoHeads => Some(
                "give some words heads: `tutte ask` chooses the most useful words, `tutte parse` \
                 predicts heads; or train without a parser: --with tokenizer,tagger"
                    .to_owned(),
            ),
            Error::NothingToJudge => {
                Some("calibration needs gold trees that the model was not trained on".to_owned())
            }
            Error::Memory { cause, .. } => Some(cause.hint().to_owned()),
            Error::NoParser => {
                Some("train a model with a parser: `tutte train TRAIN -o MODEL`".to_owned())
            }
            Error::NoSuchLabel { .. } => {
                Some("`tutte info MODEL` lists the labels of a model".to_owned())
            }
            Error::NoClusters => {
                Some("use --decode map or mbr, or train with --clusters".to_owned())
            }
            Error::Diverged { advice, .. } => Some((*advice).to_owned()),
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
        text += &format!("; {} more trees are not: {}{more}", count - 1, others.join(", "));
    }
    text
}
