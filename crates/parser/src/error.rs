//! What can go wrong, and what to do about it.

use std::io;
use std::path::PathBuf;

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
    #[error("{place}: not every word has a head and a label, and {learner} learns from whole trees \
             only{}", in_brackets(.place))]
    PartialTree {
        /// The sentence.
        place: Box<tutte_treebank::Place>,
        /// The learner.
        learner: &'static str,
    },

    /// A treebank without heads.
    #[error("there is nothing to learn from: no word of the treebank has a head")]
    NoHeads,

    /// A treebank without words.
    #[error("there is nothing to learn from: the treebank has no words")]
    NoWords,

    /// Learning that whoever watched it has stopped.
    #[error("stopped before it was learnt")]
    Stopped,

    /// Trees to calibrate by that are none.
    #[error("there is nothing to judge by: no word has a head")]
    NothingToJudge,

    /// A setting of training that makes no sense.
    #[error("{0}")]
    Setting(String),

    /// A question about kinds of arcs to a model that knows none.
    #[error("max-z looks for the best kind of every arc, but this model's arcs are all of one")]
    NoKinds,

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

    /// A line that is no verdict on a find of an [audit](crate::audit).
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
    #[error(transparent)]
    Rules(#[from] crate::rules::Invalid),

    /// A question that trees cannot answer.
    #[error(transparent)]
    Trees(#[from] tutte_trees::Error),
}

/// Why no tree satisfies what is known of a sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Contradiction {
    /// Heads in a circle.
    #[error("the heads that are given form a cycle: {}", as_cycle(.words))]
    Cycle {
        /// The words: each is the head of the next, the last of the first.
        words: Vec<usize>,
    },

    /// More than one root word where one is allowed.
    #[error("{} are given the root as head, but {tree_set} trees have one root word",
            as_words(.words))]
    SeveralRoots {
        /// The words.
        words: Vec<usize>,
        /// The trees that are possible.
        tree_set: tutte_trees::TreeSet,
    },

    /// Two arcs cross where none may.
    #[error("the arcs {} → {} and {} → {} are given, but they cross, and arcs of {tree_set} trees do \
             not", .arcs[0].0, .arcs[0].1, .arcs[1].0, .arcs[1].1)]
    Crossing {
        /// The arcs, as (head, modifier).
        arcs: [(usize, usize); 2],
        /// The trees that are possible.
        tree_set: tutte_trees::TreeSet,
    },

    /// Two heads for one word.
    #[error("word {word} is given two heads, {} and {}", .heads[0], .heads[1])]
    TwoHeads {
        /// The word.
        word: usize,
        /// The heads.
        heads: [usize; 2],
    },

    /// A head that is both given and forbidden.
    #[error("word {word} is given head {head}, which is also forbidden")]
    ForbiddenHead {
        /// The word.
        word: usize,
        /// The head.
        head: usize,
    },

    /// A label that the model does not have.
    #[error("word {word} is given the label {label:?}, which the model does not have")]
    UnknownLabel {
        /// The word.
        word: usize,
        /// The label.
        label: String,
    },

    /// A label that never goes with the head.
    #[error("word {word} is given head {head} and label {label:?}, but the model knows that label only \
             on arcs of {}", if *.head == 0 { "words" } else { "the root" })]
    LabelElsewhere {
        /// The word.
        word: usize,
        /// Its head.
        head: usize,
        /// Its label.
        label: String,
    },

    /// A list of forbidden heads that is none.
    #[error(
        "Forbid is {found:?}, but it lists other words of this sentence, 1 to {words}, or 0 for the \
             root, separated by commas"
    )]
    NotHeads {
        /// What was found.
        found: String,
        /// Number of words.
        words: usize,
    },

    /// A given head in another piece of a sentence that is parsed in pieces.
    #[error(
        "word {word} is given head {head}, but a sentence of {words} words is parsed in pieces, here \
             {pieces}, and these two are not in the same one"
    )]
    AcrossPieces {
        /// The word.
        word: usize,
        /// Its head.
        head: usize,
        /// The number of words.
        words: usize,
        /// The number of pieces.
        pieces: usize,
    },

    /// Nothing is left, for no single reason.
    #[error("no tree satisfies what is given: {0}")]
    NoTree(#[source] tutte_trees::Error),
}

/// Why a model file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelProblem {
    /// It cannot be read at all.
    #[error("cannot open the model: {0}")]
    Unreadable(#[source] io::Error),

    /// It is something else.
    #[error("not a model of tutte but {found}")]
    NotAModel {
        /// What it seems to be.
        found: &'static str,
    },

    /// Another version of the format.
    #[error("a model of format {found}, but this tutte reads format {expected}")]
    FormatVersion {
        /// Its version.
        found: u64,
        /// The version that can be read.
        expected: u64,
        /// The tutte that wrote it, if it says so.
        writer: Option<String>,
    },

    /// Its end is missing.
    #[error("the model is cut off: {found} bytes of {expected}")]
    Truncated {
        /// Its length.
        found: u64,
        /// What its header says.
        expected: u64,
    },

    /// It is packed, and too large to be unpacked into memory.
    #[error(
        "the model is packed, and has {bytes} bytes unpacked; up to {limit} are unpacked on the way"
    )]
    TooLargeToUnpack {
        /// Its length, unpacked.
        bytes: u64,
        /// The most that is possible.
        limit: u64,
    },

    /// Its content is not what was written.
    #[error("the model was altered or damaged: {what}")]
    Altered {
        /// How that is known.
        what: String,
    },

    /// A template that this version does not know.
    #[error("the model looks at something unknown: {0}")]
    UnknownTemplate(#[source] Box<Error>),

    /// A tree set that this version does not know.
    #[error("the model is of trees of an unknown kind, {0:?}")]
    UnknownTreeSet(String),

    /// There are not as many labels as columns of weights.
    #[error("the model names {labels} labels but has weights for {columns}")]
    LabelCount {
        /// Labels named.
        labels: usize,
        /// Labels with weights.
        columns: usize,
    },

    /// A table is missing or has another size or kind than it should.
    #[error("the model's table {name:?} is {found}, expected {expected}")]
    Table {
        /// Its name.
        name: &'static str,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
}

/// Why a training cannot go on from a checkpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointProblem {
    /// It cannot be read at all.
    #[error("cannot read the checkpoint: {0}")]
    Unreadable(#[source] io::Error),

    /// It is something else.
    #[error("not a checkpoint of a training")]
    NotACheckpoint,

    /// Another version of the format.
    #[error("a checkpoint of format {found}, but this tutte goes on from format {expected}")]
    FormatVersion {
        /// Its version.
        found: u64,
        /// The version that can be read.
        expected: u64,
    },

    /// Its content is not what was written.
    #[error("the checkpoint is damaged: {what}")]
    Damaged {
        /// How that is known.
        what: String,
    },

    /// It is of a training that would lead to another model.
    #[error("a checkpoint of another training: {}", as_text(.differences))]
    Different {
        /// What differs: its name, what it was, what it is.
        differences: Vec<(String, String, String)>,
    },
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
            Error::NoKinds => Some("use map or mbr, or train with --clusters".to_owned()),
            Error::Treebank(error) => error.hint(),
            _ => None,
        }
    }
}

impl Contradiction {
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::SeveralRoots { .. } => {
                Some("correct a head, or use a tree set with several roots")
            }
            Self::Crossing { .. } => Some("correct a head, or use a nonprojective tree set"),
            Self::AcrossPieces { .. } => {
                Some("leave that head open (_), or split the sentence so that both are in one part")
            }
            Self::UnknownLabel { .. } => Some("`tutte info -m MODEL` lists the labels of a model"),
            _ => None,
        }
    }
}

impl ModelProblem {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            ModelProblem::Unreadable(error) if error.kind() == io::ErrorKind::NotFound => {
                "is the name right? `tutte train TRAIN -o MODEL` makes a model"
            }
            ModelProblem::Unreadable(_) => return None,
            ModelProblem::NotAModel { .. } => {
                "a model is what `tutte train -o MODEL` writes; treebanks are given without -m"
            }
            ModelProblem::FormatVersion { found, expected, writer } => {
                let writer = match writer {
                    Some(version) => format!("tutte {version}"),
                    None => "another tutte".to_owned(),
                };
                return Some(match found > expected {
                    true => format!("it was written by {writer}: update, or train again"),
                    false => {
                        format!("it was written by {writer}: train again, or use that version")
                    }
                });
            }
            ModelProblem::TooLargeToUnpack { .. } => "unpack it first: `gunzip -k MODEL.gz`",
            ModelProblem::Truncated { .. } => "a download or copy that stopped? Fetch it again",
            ModelProblem::Altered { .. } => "fetch it again, or train again",
            ModelProblem::UnknownTemplate(_) | ModelProblem::UnknownTreeSet(_) => {
                "a newer tutte may know it: update, or train again"
            }
            ModelProblem::LabelCount { .. } | ModelProblem::Table { .. } => {
                "whatever wrote it did not keep to the format: train again"
            }
        };
        Some(hint.to_owned())
    }
}

impl CheckpointProblem {
    fn hint(&self) -> &'static str {
        match self {
            CheckpointProblem::Different { .. } => {
                "go on with the files and options it was started with, or start afresh without --resume"
            }
            _ => "start afresh without --resume",
        }
    }
}

fn as_text(differences: &[(String, String, String)]) -> String {
    let tell = |(name, before, now): &(String, String, String)| {
        format!("{name} was {before} and is {now}")
    };
    differences.iter().map(tell).collect::<Vec<_>>().join("; ")
}

fn in_brackets(place: &tutte_treebank::Place) -> String {
    place.sent_id.as_ref().map(|id| format!(" (sent_id = {id})")).unwrap_or_default()
}

/// `3 → 5 → 3`.
fn as_cycle(words: &[usize]) -> String {
    let around = words.iter().chain(words.first());
    around.map(usize::to_string).collect::<Vec<_>>().join(" → ")
}

/// `words 2, 5 and 7`.
fn as_words(words: &[usize]) -> String {
    match words {
        [most @ .., last] if !most.is_empty() => {
            let most: Vec<String> = most.iter().map(usize::to_string).collect();
            format!("words {} and {last}", most.join(", "))
        }
        _ => format!("words {words:?}"),
    }
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
