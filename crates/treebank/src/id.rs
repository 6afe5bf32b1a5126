//! IDs: the first column of a line.

use std::fmt;
use std::str::FromStr;

/// The ID of a line: a word, a multiword token or an empty node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// A syntactic word, `3`. Words are numbered from 1.
    Word(usize),
    /// A multiword token, `3-4`: one token in the text, words 3 to 4 in the tree.
    Multiword(usize, usize),
    /// An empty node, `5.1`: the first one after word 5. It occurs in enhanced dependencies only.
    Empty(usize, usize),
}

impl Id {
    /// Returns the number before the dash or dot; for a word, its number.
    pub fn first(self) -> usize {
        match self {
            Id::Word(first) | Id::Multiword(first, _) | Id::Empty(first, _) => first,
        }
    }

    /// Returns the number of a word, or `None` for other lines.
    pub fn word(self) -> Option<usize> {
        match self {
            Id::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Id> {
        if let Some(word) = number(bytes) {
            return Some(Id::Word(word));
        }
        let at = memchr::memchr2(b'-', b'.', bytes)?;
        let first = number(&bytes[..at])?;
        let second = number(&bytes[at + 1..])?;
        Some(if bytes[at] == b'-' {
            Id::Multiword(first, second)
        } else {
            Id::Empty(first, second)
        })
    }
}

impl From<usize> for Id {
    fn from(word: usize) -> Self {
        Id::Word(word)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Word(word) => write!(f, "{word}"),
            Id::Multiword(first, last) => write!(f, "{first}-{last}"),
            Id::Empty(after, number) => write!(f, "{after}.{number}"),
        }
    }
}

/// Error of a string that is not an ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an ID is a number, a range such as 3-4, or an empty node such as 5.1")]
pub struct NotAnId;

impl FromStr for Id {
    type Err = NotAnId;

    /// Parses `3`, `3-4` or `5.1`. Heads in DEPS have the same form.
    fn from_str(id: &str) -> Result<Self, NotAnId> {
        Id::parse(id.as_bytes()).ok_or(NotAnId)
    }
}

/// Parses a decimal number without sign or leading zeros. Very large numbers saturate, so that the
/// error is "out of range" rather than "not a number".
pub(crate) fn number(digits: &[u8]) -> Option<usize> {
    match digits {
        [] | [b'0', _, ..] => None,
        _ => digits.iter().try_fold(0usize, |sum, digit| match digit {
            b'0'..=b'9' => Some(sum.saturating_mul(10).saturating_add((digit - b'0') as usize)),
            _ => None,
        }),
    }
}
