//! What can be wrong with a checkpoint.

use std::io;

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

    /// There is none.
    #[error("there is nothing to resume here")]
    Missing,

    /// The model beside it is of another training.
    #[error("a model of another training, but the best model so far belongs to the checkpoint")]
    OtherModel,

    /// It is of a training that would lead to another model.
    #[error("a checkpoint of another training: {}", as_text(.differences))]
    Different {
        /// What differs: its name, what it was, what it is.
        differences: Vec<(String, String, String)>,
    },
}

impl CheckpointProblem {
    pub(super) fn hint(&self) -> &'static str {
        match self {
            CheckpointProblem::Different { .. } => {
                "go on with the files and options it was started with, or start afresh without --resume"
            }
            CheckpointProblem::Missing => {
                "a training that was interrupted after its first pass leaves a checkpoint beside its model; \
                 start one without --resume"
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
