//! What can be wrong with a model file.

use std::io;

use super::Error;

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

impl ModelProblem {
    pub(super) fn hint(&self) -> Option<String> {
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

impl From<tutte_text::DocumentProblem> for ModelProblem {
    fn from(problem: tutte_text::DocumentProblem) -> Self {
        match problem {
            tutte_text::DocumentProblem::Table { name, found, expected } => {
                Self::Table { name, found, expected }
            }
            other => Self::Altered { what: other.to_string() },
        }
    }
}
