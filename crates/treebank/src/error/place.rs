//! Places in an input.

use std::fmt;
use std::sync::Arc;

use crate::Column;

/// A place in an input, printed as `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the file or other input.
    pub file: Arc<str>,
    /// Number of the line, from 1.
    pub line: u64,
    /// The CoNLL column, if the problem is in one.
    pub column: Option<Column>,
    /// The `sent_id` of the sentence, if it has one.
    pub sent_id: Option<String>,
}

impl Place {
    pub(super) fn sent_id_in_brackets(&self) -> String {
        self.sent_id.as_ref().map(|id| format!(" (sent_id = {id})")).unwrap_or_default()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.column {
            Some(column) => write!(f, ":{}", column.number()),
            None => Ok(()),
        }
    }
}
