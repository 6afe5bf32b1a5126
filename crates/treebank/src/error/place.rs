//! Where something is wrong.

use std::fmt;
use std::sync::Arc;

use crate::Column;

/// A place in an input, printed as `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the file, or of whatever was read.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u64,
    /// The CoNLL column, if one is to blame.
    pub column: Option<Column>,
    /// The sentence's `sent_id`, if it has one.
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
