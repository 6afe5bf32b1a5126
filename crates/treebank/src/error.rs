//! Errors: what is wrong, where, and what to do about it.

mod place;
mod problem;

use std::io;
use std::path::PathBuf;

pub use self::place::Place;
pub use self::problem::Problem;
use crate::Id;
use crate::eval::Difference;

/// Any error of this crate. The message says what was found and what was expected;
/// [`hint`](Error::hint) says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A sentence breaks the rules of its format. Reading can continue with the next sentence.
    #[error("{place}: {problem}{}", .place.sent_id_in_brackets())]
    Malformed {
        /// Place of the problem.
        place: Box<Place>,
        /// The problem.
        problem: Problem,
        /// The offending line, without its line end.
        line: String,
    },

    /// The heads of a sentence are not a tree.
    #[error("{place}: {source}{}", .place.sent_id_in_brackets())]
    NotATree {
        /// The line of a word involved.
        place: Box<Place>,
        /// The reason.
        source: tutte_trees::Error,
    },

    /// A tree was requested, but a word has no head.
    #[error("{place}: word {word} has no head{}", .place.sent_id_in_brackets())]
    NoHead {
        /// The line of the word.
        place: Box<Place>,
        /// The first word without a head.
        word: usize,
    },

    /// A value is not a probability.
    #[error("{place}: {key} is {found:?}, but a probability is a number from 0 to 1{}",
        .place.sent_id_in_brackets())]
    NotAProbability {
        /// Place of the value.
        place: Box<Place>,
        /// Key of the probability.
        key: &'static str,
        /// The value found.
        found: String,
    },

    /// The input is not valid in the chosen encoding. Nothing after this place can be read.
    #[error("{place}: byte {offset} of the input is not valid {encoding}")]
    Undecodable {
        /// Place of the invalid bytes.
        place: Box<Place>,
        /// The chosen encoding.
        encoding: &'static str,
        /// Offset in the (decompressed) input, from 0.
        offset: u64,
    },

    /// A sentence or line exceeds the limit of memory. Nothing after it can be read.
    #[error("{place}: a sentence or line is longer than {limit} bytes")]
    TooLong {
        /// Place of its start.
        place: Box<Place>,
        /// Largest size of a sentence or line in bytes.
        limit: usize,
    },

    /// A sentence has too many words for a task.
    #[error("{place}: the sentence has {words} words, but {task} is limited to {limit}{}",
            .place.sent_id_in_brackets())]
    TooManyWords {
        /// The sentence.
        place: Box<Place>,
        /// Number of its words.
        words: usize,
        /// The task.
        task: &'static str,
        /// Maximum number of words.
        limit: usize,
    },

    /// Reading failed before the end of the input.
    #[error("{place}: cannot continue reading: {source}")]
    Read {
        /// The first incomplete line.
        place: Box<Place>,
        /// The error of the system.
        source: io::Error,
    },

    /// A file could not be opened, created or written.
    #[error("{}: cannot {action}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The failed action.
        action: &'static str,
        /// The error of the system.
        source: io::Error,
    },

    /// No encoding has this name.
    #[error("unknown encoding {label:?}")]
    UnknownEncoding {
        /// The name given.
        label: String,
    },

    /// No format has this name.
    #[error("unknown format {name:?}: expected conllu or conllx")]
    UnknownFormat {
        /// The name given.
        name: String,
    },

    /// The sentence has no line with this ID.
    #[error("the sentence has no line with ID {id}; it has {}", words_counted(*.words))]
    NoSuchLine {
        /// The requested ID.
        id: Id,
        /// Number of words.
        words: usize,
    },

    /// The number of values is not the number of words.
    #[error("expected one value per word: got {found} for a sentence of {}",
        words_counted(*.words))]
    WrongLength {
        /// Number of values.
        found: usize,
        /// Number of words.
        words: usize,
    },

    /// Two files that should be analyses of the same text have different texts.
    #[error("{0}")]
    DifferentText(Box<Difference>),

    /// The enhanced dependencies of empty nodes form too many paths to list.
    #[error("{place}: too many paths over empty nodes{}", .place.sent_id_in_brackets())]
    TooManyPaths {
        /// The sentence.
        place: Box<Place>,
    },

    /// A value is not valid in its column.
    #[error("{column} of line {id} cannot be {value:?}: {expected}")]
    BadValue {
        /// The line.
        id: Id,
        /// Name of the column in its format.
        column: &'static str,
        /// The value given.
        value: String,
        /// The rule that the value breaks.
        expected: &'static str,
    },

    /// A comment cannot be written.
    #[error("comment {key:?} cannot be set to {value:?}: {expected}")]
    BadComment {
        /// The key given.
        key: String,
        /// The value given.
        value: String,
        /// The rule that they break.
        expected: &'static str,
    },
}

impl Error {
    /// Returns advice on how to fix the error, if there is any.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Malformed { problem, line, .. } => problem.hint(line),
            Error::DifferentText(difference) => Some(difference.hint.clone()),
            Error::TooManyPaths { .. } => {
                Some("empty nodes rarely depend on each other: is DEPS right here?".into())
            }
            Error::NotATree { .. } => Some("give one of these words another head".into()),
            Error::NoHead { .. } => Some("parse the sentence first, or leave it out".into()),
            Error::NotAProbability { found, .. }
                if found.trim_end_matches('%').parse::<f64>().is_ok_and(|n| n > 1.0) =>
            {
                Some("if this is a percentage, divide it by 100".into())
            }
            Error::Undecodable { .. } => {
                Some("choose another --encoding, or repair the file".into())
            }
            Error::TooLong { .. } => {
                Some("sentences end with a blank line; is one missing?".into())
            }
            Error::TooManyWords { limit, .. } => Some(format!(
                "is a blank line missing? `tutte convert IN OUT --max-length {limit}` leaves such \
                 sentences out"
            )),
            Error::UnknownEncoding { .. } => Some(
                "use a name of the WHATWG standard: latin1, windows-1252, iso-8859-2, \
                 koi8-r, utf-16le, shift_jis, gb18030, …"
                    .into(),
            ),
            _ => None,
        }
    }

    /// Returns the place of the error in the input, if it has one. For two files that differ, it is
    /// the place in the first.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Error::Malformed { place, .. }
            | Error::NotATree { place, .. }
            | Error::NoHead { place, .. }
            | Error::TooManyPaths { place }
            | Error::NotAProbability { place, .. }
            | Error::Undecodable { place, .. }
            | Error::TooLong { place, .. }
            | Error::TooManyWords { place, .. }
            | Error::Read { place, .. } => Some(place),
            Error::DifferentText(difference) => {
                let spot = difference.gold.as_ref().or(difference.system.as_ref())?;
                Some(&spot.place)
            }
            _ => None,
        }
    }
}

/// `1 word`, `2 words`.
pub(crate) fn words_counted(words: usize) -> String {
    format!("{words} word{}", if words == 1 { "" } else { "s" })
}
