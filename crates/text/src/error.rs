//! Errors of learning from a treebank, reading text and opening stored models.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A treebank without words.
    #[error("there is nothing to learn from: the treebank has no words")]
    NoWords,

    /// Training that its observer has stopped.
    #[error("stopped before it was learnt")]
    Stopped,

    /// An option with a value that cannot be used.
    #[error("{0}")]
    Setting(String),

    /// A text or treebank that cannot be read.
    #[error(transparent)]
    Treebank(#[from] tutte_treebank::Error),
}

impl Error {
    /// Returns advice on how to fix it, where there is some.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Treebank(error) => error.hint(),
            _ => None,
        }
    }
}

/// Why a stored tokenizer or tagger cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentProblem {
    /// Its content is not what was written.
    #[error("{what}")]
    Altered {
        /// The part that is wrong.
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
