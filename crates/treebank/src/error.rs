//! What can go wrong, where, and what to do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::eval::Difference;
use crate::{Column, Format, Id};

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

/// Why a sentence cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Not ten columns.
    #[error("{found} column{} between tabs, but {format} has 10", if *.found == 1 { "" } else { "s" })]
    ColumnCount {
        /// Columns found.
        found: usize,
        /// The format that was expected.
        format: Format,
    },
    /// An ID of no known shape.
    #[error("ID is {found:?}, but it must be a number{}", match .format {
        Format::ConllU => ", a range such as 3-4, or an empty node such as 5.1",
        Format::ConllX => ": CoNLL-X has one line per word",
    })]
    BadId {
        /// The ID found.
        found: String,
        /// The format that was expected.
        format: Format,
    },
    /// Words or empty nodes not numbered 1, 2, 3, …
    #[error("ID is {found}, but {expected} comes next")]
    IdOrder {
        /// The ID found.
        found: Id,
        /// The ID expected.
        expected: Id,
    },
    /// A range that ends before it starts.
    #[error("multiword token {found} ends before it starts")]
    DescendingRange {
        /// The range found.
        found: Id,
    },
    /// A range not directly before its first word.
    #[error("multiword token {found} must stand directly before word {}, but word {next} comes next",
        .found.first())]
    MisplacedRange {
        /// The range found.
        found: Id,
        /// Number of the next word.
        next: usize,
    },
    /// Two ranges share a word.
    #[error("multiword token {found} overlaps with {previous}")]
    OverlappingRange {
        /// The range found.
        found: Id,
        /// The range before.
        previous: Id,
    },
    /// A range that ends after the sentence.
    #[error("multiword token {found} ends after the sentence, which has {}", words_counted(*.words))]
    RangeOutOfSentence {
        /// The range found.
        found: Id,
        /// Number of words of the sentence.
        words: usize,
    },
    /// A word without a form.
    #[error("FORM is empty")]
    EmptyForm,
    /// A head that is not a number.
    #[error("HEAD is {found:?}, but it must be the number of a word, 0 for the root, or _")]
    BadHead {
        /// The head found.
        found: String,
    },
    /// A head after the end of the sentence.
    #[error("HEAD is {found}, but this sentence has {}", words_counted(*.words))]
    HeadOutOfRange {
        /// The head found.
        found: String,
        /// Number of words of the sentence.
        words: usize,
    },
    /// A word that is its own head.
    #[error("HEAD is {word}, the word itself")]
    OwnHead {
        /// The word.
        word: usize,
    },
    /// An enhanced dependency that is no head and label.
    #[error("DEPS holds {found:?}, but a dependency is HEAD:LABEL, as in 4:nsubj or 5.1:obj")]
    BadDependency {
        /// What stands between two bars.
        found: String,
    },
    /// An enhanced dependency on a node that is not there.
    #[error("DEPS names the head {found}, but {}", match .found {
        Id::Word(_) => "this sentence has no such word",
        Id::Empty(..) => "this sentence has no such empty node",
        Id::Multiword(..) => "multiword tokens have no dependents, their words have",
    })]
    NoSuchNode {
        /// The head found.
        found: Id,
    },
    /// Comments or empty nodes, but no word.
    #[error("a sentence without words")]
    NoWords,
    /// Bytes that are not UTF-8.
    #[error(
        "byte 0x{byte:02X} is not UTF-8 (byte {in_line} of the line, byte {offset} of the input, \
         counted from 0)"
    )]
    NotUtf8 {
        /// The first byte that is not UTF-8.
        byte: u8,
        /// Its offset in the line, from 0.
        in_line: usize,
        /// Its offset in the (decompressed) input, from 0.
        offset: u64,
    },
    /// U+FEFF anywhere but at the start of the input.
    #[error("a byte order mark (U+FEFF) inside the input; it may only stand at its start")]
    ByteOrderMark,
    /// One sentence was expected, and a second one follows.
    #[error("a second sentence starts here, but one was expected")]
    SecondSentence,
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

impl Problem {
    fn hint(&self, line: &str) -> Option<String> {
        let hint = match self {
            Problem::ColumnCount { found: 1, .. } if line.split_whitespace().count() == 10 => {
                "columns are separated by tabs, and this line has spaces: an editor may have \
                 replaced them"
            }
            Problem::ColumnCount { found: 11, .. } if line.ends_with('\t') => {
                "remove the tab at the end of the line"
            }
            Problem::ColumnCount { found: 1, .. } => {
                "ten columns, with tabs between them, make a treebank; if this is text, \
                 `tutte parse FILE -o OUT.conllu` makes one of it"
            }
            Problem::ColumnCount { .. } => {
                "unused columns hold _; sentences are separated by blank lines, comments start \
                 with #"
            }
            Problem::IdOrder { found: Id::Word(1), .. } => {
                "a new sentence? Separate sentences by a blank line"
            }
            Problem::BadId { format: Format::ConllX, .. } => "for CoNLL-U, say --format conllu",
            Problem::EmptyForm => "a form that is not known is written _",
            Problem::BadHead { found } if found.is_empty() => "write _ for an unknown head",
            Problem::BadDependency { .. } => "dependencies are separated by |; none at all is _",
            Problem::NoWords => {
                "remove it, or join it to the sentence that follows; if this is no treebank but text, \
                 `tutte parse FILE -o OUT.conllu` makes one of it"
            }
            Problem::NotUtf8 { byte: 0xFF, offset: 0, .. } => {
                "this looks like UTF-16: decode it with --encoding utf-16le"
            }
            Problem::NotUtf8 { byte: 0xFE, offset: 0, .. } => {
                "this looks like UTF-16: decode it with --encoding utf-16be"
            }
            Problem::NotUtf8 { .. } => {
                "name the file's encoding, such as --encoding latin1 (Western Europe) or \
                 --encoding iso-8859-2 (Central Europe)"
            }
            Problem::ByteOrderMark => "remove it; files joined with cat may hold one each",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// `1 word`, `2 words`.
pub(crate) fn words_counted(words: usize) -> String {
    format!("{words} word{}", if words == 1 { "" } else { "s" })
}

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
    fn sent_id_in_brackets(&self) -> String {
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
