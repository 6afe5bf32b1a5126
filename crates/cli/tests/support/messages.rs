//! Stand-ins for the program's errors and counts, for its readers in tests and fuzz targets.

pub(crate) mod failure {
    /// An error with a hint.
    pub(crate) fn advise(
        error: impl Into<anyhow::Error>,
        hint: impl Into<String>,
    ) -> anyhow::Error {
        assert!(!hint.into().is_empty());
        error.into()
    }

    /// An error in what was typed.
    pub(crate) fn usage(message: impl Into<String>) -> anyhow::Error {
        anyhow::Error::msg(message.into())
    }
}

pub(crate) mod report {
    /// Returns a number and its noun.
    pub(crate) fn counted(number: usize, noun: &str) -> String {
        format!("{number} {noun}s")
    }
}
