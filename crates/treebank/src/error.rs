//! What can go wrong, where, and what to do about it.

mod place;
mod problem;

use std::io;
use std::path::PathBuf;

pub use self::place::Place;
pub use self::problem::Problem;
use crate::Id;
use crate::eval::Difference;

/// Every error of this crate. The message says what was found and what was expected;
/// [`hint`](Error::hint) says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A sentence that breaks the rules of its format. Reading can go on with the next sentence.
    #[error("{place}: {problem}{}", .place.sent_id_in_brackets())]
    Malformed {
        /// Where.
        place: Box<Place>,
        /// What is wrong.
        problem: Problem,
        /// The offending line, without its end.
        line: String,
    },

    /// The heads of a sentence that was read are no tree.
    #[error("{place}: {source}{}", .place.sent_id_in_brackets())]
    NotATree {
        /// The sentence, and the line of a word involved.
        place: Box<Place>,
        /// What is wrong with the heads.
        source: tutte_trees::Error,
    },

    /// A tree was asked for, but a word has no head.
    #[error("{place}: word {word} has no head{}", .place.sent_id_in_brackets())]
    NoHead {
        /// Where.
        place: Box<Place>,
        /// The first word without head.
        word: usize,
    },

    /// A probability that is none.
    #[error("{place}: {key} is {found:?}, but a probability is a number from 0 to 1{}",
        .place.sent_id_in_brackets())]
    NotAProbability {
        /// Where.
        place: Box<Place>,
        /// What the probability is called.
        key: &'static str,
        /// What was found.
        found: String,
    },

    /// Input that the chosen encoding does not allow. Nothing after it can be read.
    #[error("{place}: byte {offset} of the input is not valid {encoding}")]
    Undecodable {
        /// Where.
        place: Box<Place>,
        /// The encoding that was asked for.
        encoding: &'static str,
        /// The offset in the (decompressed) input, from 0.
        offset: u64,
    },

    /// A sentence larger than memory should hold. Nothing after it can be read.
    #[error("{place}: a sentence starts here that is longer than {limit} bytes")]
    TooLong {
        /// Where it starts.
        place: Box<Place>,
        /// The largest size of a sentence.
        limit: usize,
    },

    /// A sentence with more words than something can be done for.
    #[error("{place}: {words} words; {task} is possible for up to {limit}{}",
            .place.sent_id_in_brackets())]
    TooManyWords {
        /// The sentence.
        place: Box<Place>,
        /// How many words it has.
        words: usize,
        /// What was to be done.
        task: &'static str,
        /// The largest number of words.
        limit: usize,
    },

    /// Reading failed on the way.
    #[error("{place}: cannot read on: {source}")]
    Read {
        /// The first line that was not complete.
        place: Box<Place>,
        /// What the system says.
        source: io::Error,
    },

    /// A file could not be opened, created or written.
    #[error("{}: cannot {action}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system says.
        source: io::Error,
    },

    /// A name that is no encoding.
    #[error("no encoding is called {label:?}")]
    UnknownEncoding {
        /// The name given.
        label: String,
    },

    /// A name that is no format.
    #[error("no format is called {name:?}; there are conllu and conllx")]
    UnknownFormat {
        /// The name given.
        name: String,
    },

    /// A line that a sentence does not have.
    #[error("the sentence has no line with ID {id}; it has {}", words_counted(*.words))]
    NoSuchLine {
        /// The ID asked for.
        id: Id,
        /// Number of words.
        words: usize,
    },

    /// As many values as words were expected.
    #[error("{found} values were given for a sentence of {}", words_counted(*.words))]
    WrongLength {
        /// Number of values.
        found: usize,
        /// Number of words.
        words: usize,
    },

    /// Two files that should be analyses of the same text are not.
    #[error("{0}")]
    DifferentText(Box<Difference>),

    /// Empty nodes whose enhanced dependencies are so entangled that their paths are too many.
    #[error("{place}: too many paths over empty nodes{}", .place.sent_id_in_brackets())]
    TooManyPaths {
        /// The sentence.
        place: Box<Place>,
    },

    /// A value that the column of a line cannot hold.
    #[error("{column} of line {id} cannot be {value:?}: {expected}")]
    BadValue {
        /// The line.
        id: Id,
        /// The column, as the format calls it.
        column: &'static str,
        /// The value given.
        value: String,
        /// What it must be.
        expected: &'static str,
    },

    /// A comment that cannot be written.
    #[error("no comment {key:?} can be set to {value:?}: {expected}")]
    BadComment {
        /// The key given.
        key: String,
        /// The value given.
        value: String,
        /// What they must be.
        expected: &'static str,
    },
}

impl Error {
    /// What to do about it, where there is advice to give.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Malformed { problem, line, .. } => problem.hint(line),
            Error::DifferentText(difference) => Some(difference.hint.clone()),
            Error::TooManyPaths { .. } => {
                Some("empty nodes rarely depend on each other: is DEPS right here?".into())
            }
            Error::NotATree { .. } => Some("give one of these words another head".into()),
            Error::NoHead { .. } => Some("parse it first, or leave it out".into()),
            Error::NotAProbability { found, .. }
                if found.trim_end_matches('%').parse::<f64>().is_ok_and(|n| n > 1.0) =>
            {
                Some("a percentage? Divide it by 100".into())
            }
            Error::Undecodable { .. } => {
                Some("choose another --encoding, or repair the file".into())
            }
            Error::TooLong { .. } => {
                Some("sentences end with a blank line; is one missing?".into())
            }
            Error::TooManyWords { limit, .. } => Some(format!(
                "leave such sentences out with --max-length {limit}; or is a blank line missing?"
            )),
            Error::UnknownEncoding { .. } => Some(
                "names are those of the WHATWG standard: latin1, windows-1252, iso-8859-2, \
                 koi8-r, utf-16le, shift_jis, gb18030, …"
                    .into(),
            ),
            _ => None,
        }
    }

    /// Where in the input, for errors that have a place; of two files that differ, where the first
    /// does.
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
