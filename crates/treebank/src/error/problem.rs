//! Ways in which a sentence can break the rules of its format.

use super::words_counted;
use crate::{Format, Id};

/// The reason why a sentence cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The line does not have ten columns.
    #[error("{found} column{} between tabs, but {format} has 10", if *.found == 1 { "" } else { "s" })]
    ColumnCount {
        /// Number of columns found.
        found: usize,
        /// The format that was expected.
        format: Format,
    },
    /// The ID is neither a number nor another form of ID.
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
    /// The IDs are not numbered 1, 2, 3, …
    #[error("ID is {found}, but {expected} comes next")]
    IdOrder {
        /// The ID found.
        found: Id,
        /// The ID expected.
        expected: Id,
    },
    /// A range ends before it starts.
    #[error("multiword token {found} ends before it starts")]
    DescendingRange {
        /// The range found.
        found: Id,
    },
    /// A range does not stand directly before its first word.
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
        /// The previous range.
        previous: Id,
    },
    /// A range ends after the sentence.
    #[error("multiword token {found} ends after the sentence, which has {}", words_counted(*.words))]
    RangeOutOfSentence {
        /// The range found.
        found: Id,
        /// Number of words of the sentence.
        words: usize,
    },
    /// A word has no form.
    #[error("FORM is empty")]
    EmptyForm,
    /// A head is not a number.
    #[error("HEAD is {found:?}, but it must be the number of a word, 0 for the root, or _")]
    BadHead {
        /// The head found.
        found: String,
    },
    /// A head is larger than the number of words.
    #[error("HEAD is {found}, but this sentence has {}", words_counted(*.words))]
    HeadOutOfRange {
        /// The head found.
        found: String,
        /// Number of words of the sentence.
        words: usize,
    },
    /// A word is its own head.
    #[error("HEAD is {word}, the word itself")]
    OwnHead {
        /// The word.
        word: usize,
    },
    /// An entry of DEPS is not a head and a label.
    #[error("DEPS holds {found:?}, but a dependency is HEAD:LABEL, as in 4:nsubj or 5.1:obj")]
    BadDependency {
        /// The entry found.
        found: String,
    },
    /// The head of an enhanced dependency does not exist.
    #[error("DEPS names the head {found}, but {}", match .found {
        Id::Word(_) => "this sentence has no such word",
        Id::Empty(..) => "this sentence has no such empty node",
        Id::Multiword(..) => "a multiword token cannot be a head; its words can",
    })]
    NoSuchNode {
        /// The head found.
        found: Id,
    },
    /// The sentence has comments or empty nodes, but no words.
    #[error("a sentence without words")]
    NoWords,
    /// A byte is not UTF-8.
    #[error(
        "byte 0x{byte:02X} is not UTF-8 (byte {in_line} of the line, byte {offset} of the input, \
         counted from 0)"
    )]
    NotUtf8 {
        /// The first byte that is not UTF-8.
        byte: u8,
        /// Offset in the line, from 0.
        in_line: usize,
        /// Offset in the (decompressed) input, from 0.
        offset: u64,
    },
    /// A byte is NUL, which is not a character of any text.
    #[error(
        "a NUL byte (byte {in_line} of the line, byte {offset} of the input, counted from 0); a \
         text has none"
    )]
    Nul {
        /// Offset in the line, from 0.
        in_line: usize,
        /// Offset in the (decompressed) input, from 0.
        offset: u64,
    },
    /// U+FEFF occurs after the start of the input.
    #[error("a byte order mark (U+FEFF) inside the input; it may only stand at its start")]
    ByteOrderMark,
    /// A second sentence follows where one was expected.
    #[error("a second sentence starts here, but one was expected")]
    SecondSentence,
}

impl Problem {
    pub(super) fn hint(&self, line: &str) -> Option<String> {
        let hint = match self {
            Problem::ColumnCount { found: 1, .. } if line.split_whitespace().count() == 10 => {
                "columns are separated by tabs, and this line has spaces: an editor may have \
                 replaced them"
            }
            Problem::ColumnCount { found: 11, .. } if line.ends_with('\t') => {
                "remove the tab at the end of the line"
            }
            Problem::ColumnCount { found: 1, .. } => {
                "a treebank has ten columns separated by tabs; to parse plain text, run \
                 `tutte parse FILE -o OUT.conllu`"
            }
            Problem::ColumnCount { .. } => {
                "unused columns hold _; sentences are separated by blank lines, comments start \
                 with #"
            }
            Problem::IdOrder { found: Id::Word(1), .. } => {
                "a new sentence? Separate sentences by a blank line"
            }
            Problem::BadId { format: Format::ConllX, .. } => {
                "if this is CoNLL-U, use --format conllu"
            }
            Problem::EmptyForm => "write _ for an unknown form",
            Problem::BadHead { found } if found.is_empty() => "write _ for an unknown head",
            Problem::BadDependency { .. } => {
                "separate dependencies by |; write _ if there are none"
            }
            Problem::NoWords => {
                "remove it, or join it to the next sentence; to parse plain text, run \
                 `tutte parse FILE -o OUT.conllu`"
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
            Problem::Nul { .. } => {
                "remove NUL bytes with `tr -d '\\000' < FILE > NEW`; if every second byte is NUL, \
                 the file is UTF-16: decode it with --encoding utf-16le"
            }
            Problem::ByteOrderMark => "remove it; files joined with cat may each start with one",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
