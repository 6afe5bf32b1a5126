//! Errors of learning from a treebank, reading text and opening stored models.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The treebank has no words.
    #[error("there is nothing to learn from: the treebank has no words")]
    NoWords,

    /// The observer stopped the training.
    #[error("training was stopped before it was finished")]
    Stopped,

    /// An option has a value that cannot be used.
    #[error("{0}")]
    Setting(String),

    /// A text or treebank cannot be read, or a column cannot be written.
    #[error(transparent)]
    Treebank(#[from] tutte_treebank::Error),
}

impl Error {
    /// Returns advice on how to fix the error, if there is any.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Treebank(error) => error.hint(),
            _ => None,
        }
    }
}

/// Reason why a stored tokenizer or tagger cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentProblem {
    /// Its content was changed after it was written.
    #[error("{what}")]
    Altered {
        /// The part that is wrong, as a clause about the model.
        what: String,
    },

    /// A table of weights has the wrong size.
    #[error("table {name:?} is {found}, expected {expected}")]
    Table {
        /// Name of the table.
        name: &'static str,
        /// Size that was found.
        found: String,
        /// Size that was expected.
        expected: String,
    },
}
