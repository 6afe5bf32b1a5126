//! Files of any format as a stream of sentences.
//!
//! ```text
//! file, standard input ─▶ ByteCounter ─▶ decompress ─▶ format? ─┬▶ Reader       CoNLL-U, CoNLL-X
//!                         bytes read                 -i, or its ├▶ WordReader   vertical, horizontal
//!                                                   first lines ├▶ Jsonl        {"tokens": […]}, {"text": "…"}
//!                                                               └▶ raw_text.rs  raw text
//! ```

use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::{Serialize, Serializer};
use tutte::{Compact, Model};
use tutte_treebank::{
    Encoding, Error, Format, Input, Layout, Lines, Options, Place, Reader, Sentence, WordReader,
    decompress,
};

use super::Sentences;
use super::jsonl::Jsonl;
use super::raw_text::{self, Cut};
use crate::failure::usage;
use crate::session::Session;

/// A stream of sentences.
pub(super) trait Source {
    /// Reads the next sentence into `sentence`, whose memory is reused; returns `false` at the end. Reading can
    /// continue after an error that is [`Unusable`] or [`Error::Malformed`].
    fn read(&mut self, sentence: &mut Sentence) -> Result<bool>;

    /// Text after the last sentence.
    fn tail(&self) -> &str {
        ""
    }

    /// Returns `true` if the sentences are found in raw text.
    fn is_raw_text(&self) -> bool {
        false
    }
}

impl Source for Reader<Input> {
    fn read(&mut self, sentence: &mut Sentence) -> Result<bool> {
        Ok(Reader::read(self, sentence)?)
    }

    fn tail(&self) -> &str {
        Reader::tail(self)
    }
}

impl Source for WordReader<Input> {
    fn read(&mut self, sentence: &mut Sentence) -> Result<bool> {
        Ok(WordReader::read(self, sentence)?)
    }
}

/// Arguments of verbs that read files of any format.
#[derive(Args, Clone, Debug, Serialize)]
#[command(next_help_heading = "Reading")]
pub(crate) struct InputArgs {
    /// Format of the files
    ///
    /// auto recognises CoNLL and JSON Lines by the first lines of each file; everything else is text. A sentence of
    /// more than 1,000 words is split; # tutte_split numbers its parts.
    #[arg(short, long, value_name = "FORMAT", alias = "format", default_value = "auto")]
    #[arg(display_order = 800)]
    pub(crate) input: InputKind,

    /// Encoding of the input, such as latin1 or iso-8859-2; results are UTF-8
    #[arg(long, value_name = "NAME", default_value = "utf-8", hide_default_value = true)]
    #[arg(display_order = 801, hide_short_help = true)]
    #[serde(serialize_with = "name_of")]
    pub(crate) encoding: Encoding,

    /// Skip sentences that cannot be read, count them, and end with exit code 3
    #[arg(long, display_order = 802)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) lenient: bool,

    /// Text that is read instead of standard input.
    #[arg(skip)]
    #[serde(skip)]
    text: Option<String>,
}

fn name_of<S: Serializer>(encoding: &Encoding, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(encoding.name())
}

/// Format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum InputKind {
    /// Recognised by the first lines
    Auto,
    /// CoNLL-U
    #[value(alias = "conll-u")]
    Conllu,
    /// CoNLL-X, of the shared tasks of 2006 and 2007
    #[value(aliases = ["conll-x", "conll2006", "conll2007"])]
    Conllx,
    /// One word per line, a blank line after each sentence; text after a tab is ignored
    Vertical,
    /// One sentence per line, spaces between words
    Horizontal,
    /// One JSON object per line: {"tokens": ["…"]} or {"text": "…"}, and optionally "id"
    Jsonl,
    /// Raw text
    Text,
    /// Raw text, one sentence per line
    Lines,
}

/// Error in one sentence of an input other than CoNLL. Reading can continue after it.
#[derive(Debug)]
pub(super) struct Unusable {
    pub(super) place: Place,
    pub(super) problem: String,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

impl std::error::Error for Unusable {}

/// Number of bytes read, before decompression.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByteCounter(Arc<AtomicU64>);

impl ByteCounter {
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

struct Counted<R> {
    input: R,
    counter: ByteCounter,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.counter.0.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl InputArgs {
    /// Sets a text that is read instead of standard input.
    pub(crate) fn with_text(self, text: Option<String>) -> Self {
        Self { text, ..self }
    }

    /// Opens a file, or standard input for `-`, and returns its sentences. Those without an id are numbered from
    /// `unnamed` + 1. The model has the tokenizer for raw text.
    pub(crate) fn open<'a>(
        &self,
        path: &Path,
        model: &'a Model<Compact>,
        unnamed: u64,
        counter: &ByteCounter,
        session: &'a Session,
    ) -> Result<Sentences<'a>> {
        let source = self.source(path, model, unnamed, counter)?;
        if source.is_raw_text() && model.tokenizer.is_none() {
            session.warn_once(
                "this model has no tokenizer: words and sentences are found by the general rules of Unicode",
                "`tutte train TRAIN -o MODEL` trains one if TRAIN is CoNLL-U; words can be given with -i vertical",
            );
        }
        Ok(Sentences::new(source, self.lenient, session))
    }

    fn source<'a>(
        &self,
        path: &Path,
        model: &'a Model<Compact>,
        unnamed: u64,
        counter: &ByteCounter,
    ) -> Result<Box<dyn Source + 'a>> {
        if path.is_dir() {
            let path = path.display();
            return Err(usage(format!(
                "{path} is a folder; name the files in it, for example {path}/*.conllu, or parse all of them \
                 with `tutte run {path} -o DIR`"
            )));
        }
        if let Some(text) = self.text.as_ref().filter(|_| path == Path::new("-")) {
            let text = Cursor::new(text.clone());
            return Ok(raw_text::sentences(
                Box::new(text),
                "<text>",
                Encoding::UTF_8,
                Cut::Text,
                model,
                unnamed,
            ));
        }
        let failed = |source| Error::File { path: path.to_owned(), action: "open", source };
        let counter = counter.clone();
        let (input, name) = if path == Path::new("-") {
            (decompress(Counted { input: io::stdin(), counter }), "<stdin>".to_owned())
        } else {
            let input = File::open(path).map_err(failed)?;
            (decompress(Counted { input, counter }), path.display().to_string())
        };
        let mut input = input.map_err(failed)?;
        let kind = match self.input {
            InputKind::Auto => self.recognise(path, &mut input).map_err(failed)?,
            kind => kind,
        };
        let conll = |input, format| {
            let options = Options { name: Some(name.clone()), format, encoding: self.encoding };
            Box::new(Reader::with_options(input, &options))
        };
        let lines = |input| Lines::new(input, &name, self.encoding);
        let words = |input, layout| Box::new(WordReader::new(lines(input), layout).after(unnamed));
        Ok(match kind {
            InputKind::Auto => conll(input, None),
            InputKind::Conllu => conll(input, Some(Format::ConllU)),
            InputKind::Conllx => conll(input, Some(Format::ConllX)),
            InputKind::Vertical => words(input, Layout::Vertical),
            InputKind::Horizontal => words(input, Layout::Horizontal),
            InputKind::Jsonl => Box::new(Jsonl::new(lines(input), model, unnamed)),
            InputKind::Text => {
                raw_text::sentences(input, &name, self.encoding, Cut::Text, model, unnamed)
            }
            InputKind::Lines => {
                raw_text::sentences(input, &name, self.encoding, Cut::Lines, model, unnamed)
            }
        })
    }

    /// Looks at the first lines of an input, and puts them back. [`InputKind::Auto`] stands for CoNLL-U or CoNLL-X;
    /// their reader recognises which of the two it is.
    fn recognise(&self, path: &Path, input: &mut Input) -> io::Result<InputKind> {
        /// Bytes to look at; a file without a line end in them is taken for text.
        const ENOUGH: usize = 1 << 16;
        let mut first = Vec::new();
        let mut piece = [0; 1 << 12];
        // Reads no more than needed: the program at the other end of a pipe may wait for an answer.
        let found = loop {
            let is_all = match input.read(&mut piece) {
                Ok(read) => {
                    first.extend_from_slice(&piece[..read]);
                    read == 0
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => false,
                Err(error) => return Err(error),
            };
            let text = self.encoding.preview(&first);
            if let Some(kind) = recognise(&text, is_all) {
                break kind;
            }
            if is_all || first.len() > ENOUGH {
                break if is_all { InputKind::Auto } else { InputKind::Text };
            }
        };
        let rest = std::mem::replace(input, Box::new(io::empty()));
        *input = Box::new(Cursor::new(first).chain(rest));
        let name = path.to_string_lossy().to_ascii_lowercase();
        let is_called = |end: &str| {
            ["", ".gz", ".zst"].iter().any(|packed| name.ends_with(&format!("{end}{packed}")))
        };
        Ok(match found {
            InputKind::Jsonl if is_called(".txt") => InputKind::Text,
            InputKind::Text if is_called(".jsonl") => InputKind::Jsonl,
            // The name promises columns, so errors in them are reported.
            InputKind::Text if is_called(".conllu") || is_called(".conll") => InputKind::Auto,
            found => found,
        })
    }
}

/// Recognises the format of a file by its first lines; `None` if more lines are needed.
fn recognise(first: &str, is_all: bool) -> Option<InputKind> {
    const KEYS: [&str; 5] = ["sent_id", "text", "newdoc", "newpar", "global.columns"];
    for line in first.split_inclusive('\n') {
        if !line.ends_with('\n') && !is_all {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            continue;
        }
        if let Some(comment) = line.strip_prefix('#') {
            let key = comment.trim_start().split([' ', '=']).next();
            if key.is_some_and(|key| KEYS.contains(&key)) {
                return Some(InputKind::Auto);
            }
            continue;
        }
        let is_id = |field: &str| {
            let is_part = |c: char| c.is_ascii_digit() || c == '-' || c == '.';
            field.starts_with(|c: char| c.is_ascii_digit()) && field.chars().all(is_part)
        };
        let mut columns = line.split('\t');
        let starts_with_id = columns.next().is_some_and(is_id);
        // Ten columns separated by spaces: an editor has replaced the tabs.
        let is_spaced = || {
            let mut fields = line.split_whitespace();
            fields.next().is_some_and(is_id) && fields.count() == 9
        };
        return Some(match columns.count() {
            1.. if starts_with_id => InputKind::Auto,
            3.. => InputKind::Auto,
            _ if is_spaced() => InputKind::Auto,
            _ if line.starts_with('{') && line.ends_with('}') => InputKind::Jsonl,
            _ => InputKind::Text,
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognised_by_their_first_lines() {
        for (first, expected) in [
            ("", None),
            ("1\tTea\t_\tNOUN\n", Some(InputKind::Auto)),
            ("1-2\tdon't", Some(InputKind::Auto)),
            ("\n\n# sent_id = 1\n", Some(InputKind::Auto)),
            ("# newdoc\n", Some(InputKind::Auto)),
            ("# anything\n1\tTea\n", Some(InputKind::Auto)),
            ("1 Tea tea NOUN _ _ 0 root _ _\r\n", Some(InputKind::Auto)),
            ("Tea\ttea\tNOUN\tNN\n", Some(InputKind::Auto)),
            ("# Tea\n\nIt was late.\n", Some(InputKind::Text)),
            ("# textbook\nx\n", Some(InputKind::Text)),
            ("12 o'clock\n", Some(InputKind::Text)),
            ("{\"text\": \"Tea.\"}\n", Some(InputKind::Jsonl)),
            ("{sic} tea\n", Some(InputKind::Text)),
            ("\0\u{fffd}\n", Some(InputKind::Text)),
        ] {
            assert_eq!(recognise(first, true), expected, "{first:?}");
            let cut = first.trim_end();
            assert_eq!(recognise(cut.rsplit('\n').next().unwrap_or(cut), false), None, "{cut:?}");
        }
    }
}
