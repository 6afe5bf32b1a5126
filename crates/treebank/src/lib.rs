//! Dependency treebanks, read and written without loss.
//!
//! Reads CoNLL-U (versions 1 and 2) and CoNLL-X (2006 and 2007), sentence by sentence, from files,
//! standard input, gzip or Zstandard. Comments, multiword tokens, empty nodes, unusual spaces and
//! all line ends are written back byte for byte. Only the columns that you change differ.
//!
//! ```
//! use tutte_treebank::{Reader, Writer};
//!
//! let file = "\
//! ## sent_id = tea-7
//! 1\tShe\tshe\tPRON\t_\t_\t2\tnsubj\t_\t_
//! 2\tpoured\tpour\tVERB\t_\t_\t0\troot\t_\t_
//! 3\ttea\ttea\tNOUN\t_\t_\t_\t_\t_\tSpaceAfter=No
//!
//! ";
//! // `tutte_treebank::open(path)` does the same for files, `-`, `.gz` and `.zst`.
//! let mut reader = Reader::new(file.as_bytes());
//! let mut writer = Writer::new(Vec::new());
//! for sentence in &mut reader {
//!     let mut sentence = sentence?;
//!     assert_eq!(sentence.sent_id(), Some("tea-7"));
//!     assert_eq!(sentence.word(3).unwrap().form(), "tea");
//!
//!     sentence.set_head(3, Some(2))?;
//!     sentence.set_deprel(3, "obj")?;
//!     assert!(sentence.tree()?.is_projective());
//!     writer.write(&sentence)?;
//! }
//! writer.write_tail(reader.tail())?;
//!
//! let written = String::from_utf8(writer.finish()?)?;
//! assert_eq!(written, file.replace("_\t_\t_\tSpace", "2\tobj\t_\tSpace"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Overview
//!
//! - [`open`] and [`Reader`] read, [`create`] and [`Writer`] write. [`AtomicFile`] writes any file
//!   that must appear whole or not at all.
//! - [`Sentence`] holds the lines of a sentence, [`Token`] is a view of one line, and [`Id`] is its
//!   first column. [`Sentence::tree`] returns a tree of [`tutte_trees`].
//! - [`WordReader`] reads tokenised text: one word per line, or one sentence per line. [`Lines`]
//!   reads any other line-based text.
//! - [`Converter`] converts sentences between formats. [`Sentence::projectivise`] and
//!   [`Sentence::strip_heads`] change their trees. [`select`] samples, shuffles and splits.
//! - [`draw`] draws sentences as SVG, TikZ or text. [`diff`] compares two analyses.
//! - [`Format`] and [`Column`] describe the two formats and their columns.
//! - [`check`] validates a treebank, [`stats`] computes its statistics.
//! - [`eval`] evaluates an analysis against a gold standard.
//! - [`Error`] names the place (`file:line:column`), the sentence, what was found and what was
//!   expected. [`Error::hint`] says what to do. Reading continues after a sentence that cannot be
//!   read:
//!
//! ```
//! use tutte_treebank::Reader;
//!
//! let file = "\
//! ## sent_id = weblog-0042
//! 1\tToo\t_\tADV\t_\t_\t2\tadvmod\t_\t_
//! 2\tfar\t_\tADV\t_\t_\t14\troot\t_\t_
//!
//! 1\tFine\t_\tADJ\t_\t_\t0\troot\t_\t_
//!
//! ";
//! let mut reader = Reader::new(file.as_bytes()).lenient();
//! let readable: Vec<_> = reader.by_ref().collect::<Result<_, _>>()?;
//! assert_eq!((readable.len(), reader.skipped()), (1, 1));
//! assert_eq!(
//!     reader.errors()[0].to_string(),
//!     "input:3:7: HEAD is 14, but this sentence has 2 words (sent_id = weblog-0042)"
//! );
//! # Ok::<(), tutte_treebank::Error>(())
//! ```
//!
//! # Lossless, exactly
//!
//! The concatenation of [`Sentence::as_str`] over all sentences, followed by [`Reader::tail`],
//! equals the input. Lines of spaces and tabs count as blank. Spaces at the end of a line, like its
//! `\r`, belong to the line end, not to the last column. The exception is input in another
//! [`Encoding`] than UTF-8: it is written as UTF-8.
//!
//! # References
//!
//! - S. Buchholz, E. Marsi (2006). CoNLL-X shared task on multilingual dependency parsing.
//! - J. Nivre, J. Hall, S. Kübler, R. McDonald, J. Nilsson, S. Riedel, D. Yuret (2007). The CoNLL
//!   2007 shared task on dependency parsing.
//! - J. Nivre et al. (2016, 2020). Universal Dependencies v1: a multilingual treebank collection;
//!   v2: an evergrowing multilingual treebank collection.
#![forbid(unsafe_code)]

mod atomic_file;
mod buffer;
pub mod check;
mod convert;
mod deps;
pub mod diff;
pub mod draw;
mod edit;
mod encoding;
mod error;
pub mod eval;
mod file_id;
mod format;
mod id;
mod lines;
mod notes;
mod parse;
mod reader;
pub mod select;
mod sentence;
mod source;
pub mod stats;
mod words;
mod writer;
mod zstandard;

pub use atomic_file::{AtomicFile, remove_leftovers, remove_own_temporary_files};
pub use convert::{ConllxPos, Converter, Losses};
pub use edit::Morphology;
pub use encoding::{Encoding, transcode};
pub use error::{Error, Place, Problem};
pub use file_id::{FileId, beside};
pub use format::{Column, Format};
pub use id::{Id, NotAnId};
pub use lines::Lines;
pub use notes::{AUDITED, PROBABILITIES};
pub use reader::{Lenient, Options, Reader};
pub use sentence::{LONGEST_DISTRIBUTION, Sentence, Token};
pub use source::{Input, decompress, open, open_with, unpack};
pub use words::{Layout, WordReader};
pub use writer::{Output, Writer, create};
