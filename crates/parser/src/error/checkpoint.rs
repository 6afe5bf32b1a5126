//! Problems of checkpoints.

use std::io;

/// Why training cannot resume from a checkpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointProblem {
    /// The file cannot be read.
    #[error("cannot read the checkpoint: {0}")]
    Unreadable(#[source] io::Error),

    /// The file is not a checkpoint.
    #[error("not a checkpoint of `tutte train`")]
    NotACheckpoint,

    /// The checkpoint has another version of the format.
    #[error("the checkpoint has format {found}, but this tutte reads format {expected}")]
    FormatVersion {
        /// Version of the checkpoint.
        found: u64,
        /// Version that this tutte reads.
        expected: u64,
    },

    /// The content is not what was written.
    #[error("the checkpoint is damaged: {what}")]
    Damaged {
        /// Evidence of the damage.
        what: String,
    },

    /// There is no checkpoint.
    #[error("there is no checkpoint to resume from")]
    Missing,

    /// The model beside it is of another training.
    #[error("the model is of another training, but a checkpoint belongs to the best model so far")]
    OtherModel,

    /// The checkpoint belongs to a training that would lead to another model.
    #[error("the checkpoint is of another training: {}", as_text(.differences))]
    Different {
        /// Name of each setting that differs, its value in the checkpoint, and its value now.
        differences: Vec<(String, String, String)>,
    },
}

impl CheckpointProblem {
    pub(super) fn hint(&self) -> &'static str {
        match self {
            CheckpointProblem::Different { .. } => {
                "use the files and options it was started with, or start again without --resume"
            }
            CheckpointProblem::Missing => {
                "a training that was interrupted after its first pass leaves a checkpoint beside its model; \
                 start one without --resume"
            }
            _ => "start again without --resume",
        }
    }
}

fn as_text(differences: &[(String, String, String)]) -> String {
    let one = |(name, before, now): &(String, String, String)| {
        format!("{name} was {before} and is {now}")
    };
    differences.iter().map(one).collect::<Vec<_>>().join("; ")
}
