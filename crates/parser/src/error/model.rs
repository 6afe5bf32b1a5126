//! Problems of model files.

use std::io;

use super::Error;

/// Why a model file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelProblem {
    /// The file cannot be read.
    #[error("cannot open the model: {0}")]
    Unreadable(#[source] io::Error),

    /// The file is not a model.
    #[error("not a model of tutte but {found}")]
    NotAModel {
        /// Description of the file, guessed from its start.
        found: &'static str,
    },

    /// The model has another version of the format.
    #[error("the model has format {found}, but this tutte reads format {expected}")]
    FormatVersion {
        /// Version of the model.
        found: u64,
        /// Version that this tutte reads.
        expected: u64,
        /// Version of tutte that wrote the model, if it says so.
        writer: Option<String>,
    },

    /// The end of the file is missing.
    #[error("the model is cut off: {found} bytes of {expected}")]
    Truncated {
        /// Length of the file.
        found: u64,
        /// Length according to its header.
        expected: u64,
    },

    /// The model is packed, and too large to be unpacked into memory.
    #[error(
        "the model is packed, and too large to unpack into memory: {bytes} bytes, at most {limit}"
    )]
    TooLargeToUnpack {
        /// Unpacked length.
        bytes: u64,
        /// Largest possible length.
        limit: u64,
    },

    /// The content is not what was written.
    #[error("the model was altered or damaged: {what}")]
    Altered {
        /// Evidence of the damage.
        what: String,
    },

    /// This version does not know a feature template of the model.
    #[error("the model has an unknown feature template: {0}")]
    UnknownTemplate(#[source] Box<Error>),

    /// This version does not know the tree set of the model.
    #[error("the model has an unknown tree set, {0:?}")]
    UnknownTreeSet(String),

    /// The model has a network, and this build has none.
    #[error("the model has a network, but this tutte was built without networks")]
    NeedsNetworks,

    /// The encoder of the model is not in its file, and cannot be used.
    #[error("the encoder of the model is outside, in the folder {folder:?} beside it: {why}")]
    OutsideEncoder {
        /// Name of the folder.
        folder: String,
        /// Reason.
        why: String,
    },

    /// The numbers of labels and of columns of label weights differ.
    #[error("the model names {labels} labels but has weights for {columns}")]
    LabelCount {
        /// Number of named labels.
        labels: usize,
        /// Number of labels with weights.
        columns: usize,
    },

    /// A table is missing, or has the wrong shape or type.
    #[error("the model's table {name:?} is {found}, expected {expected}")]
    Table {
        /// Name of the table.
        name: &'static str,
        /// Its type and shape.
        found: String,
        /// The type and shape that it should have.
        expected: String,
    },
}

impl ModelProblem {
    pub(super) fn hint(&self) -> Option<String> {
        let hint = match self {
            ModelProblem::Unreadable(error) if error.kind() == io::ErrorKind::NotFound => {
                "check the path, or make a model with `tutte train TRAIN -o MODEL`"
            }
            ModelProblem::Unreadable(_) => return None,
            ModelProblem::NotAModel { .. } => {
                "`tutte train TRAIN -o MODEL` makes a model; give treebanks without -m"
            }
            ModelProblem::FormatVersion { found, expected, writer } => {
                let writer = match writer {
                    Some(version) => format!("tutte {version}"),
                    None => "another tutte".to_owned(),
                };
                return Some(if found > expected {
                    format!("it was written by {writer}: update, or train again")
                } else {
                    format!("it was written by {writer}: train again, or use that version")
                });
            }
            ModelProblem::TooLargeToUnpack { .. } => {
                "unpack it first: `gunzip -k MODEL.gz` or `zstd -d MODEL.zst`"
            }
            ModelProblem::Truncated { .. } => {
                "the download or copy may be incomplete: fetch the file again"
            }
            ModelProblem::Altered { .. } => "fetch the file again, or train again",
            ModelProblem::UnknownTemplate(_) | ModelProblem::UnknownTreeSet(_) => {
                "a newer tutte may know it: update, or train again"
            }
            ModelProblem::OutsideEncoder { folder, .. } => {
                return Some(format!(
                    "put the encoder there, or a link to it: `ln -s ENCODER {folder}` in the model's folder"
                ));
            }
            ModelProblem::NeedsNetworks => {
                "build it with them: `cargo install --path crates/cli --features neural`"
            }
            ModelProblem::LabelCount { .. } | ModelProblem::Table { .. } => {
                "the file does not follow the model format: train again"
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
