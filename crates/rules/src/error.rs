//! Errors of rules files.

use std::fmt;

/// An error or warning about one line of a rules file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line number, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Message: what was found, what was expected, and how to fix it.
    pub message: String,
}

/// A rules file with errors. Displays all of them, one per line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Name of the file.
    pub file: String,
    /// All errors, sorted by line and column; never empty.
    pub problems: Vec<Problem>,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, Problem { line, column, message }) in self.problems.iter().enumerate() {
            let separator = if number > 0 { "\n" } else { "" };
            write!(f, "{separator}{}:{line}:{column}: {message}", self.file)?;
        }
        Ok(())
    }
}

impl std::error::Error for Invalid {}
