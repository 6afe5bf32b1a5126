//! Files of any format as a stream of sentences.
//!
//! ```text
//! file, standard input ─▶ ByteCounter ─▶ decompress ─▶ format? ─┬▶ Reader       CoNLL-U, CoNLL-X
//!                         bytes read              -i, or by its ├▶ WordReader   vertical, horizontal
//!                                                   first lines ├▶ Jsonl        {"tokens": […]}, {"text": "…"}
//!                                                  recognise.rs └▶ raw_text.rs  raw text
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
use super::recognise::recognise;
use crate::failure::{advise, usage};
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
    ///
    /// In raw text, paragraphs with bytes of another encoding are skipped; with -i lines, such lines.
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
    /// Recognised by the first lines; text unless they have ten columns, or are JSON
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
    /// One JSON object per line: {"tokens": ["…"]}, {"text": "…"} or what --to jsonl writes
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

/// Adds advice to an error about a missing file whose name looks like a text.
fn advise_text(error: Error, path: &Path) -> anyhow::Error {
    let name = path.display().to_string();
    match &error {
        Error::File { source, .. }
            if source.kind() == io::ErrorKind::NotFound && name.contains(' ') =>
        {
            advise(error, format!("to parse this text, add -t: tutte parse -t {name:?}"))
        }
        _ => error.into(),
    }
}

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
        let source = self.source(path, model, unnamed, counter, session)?;
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
        session: &Session,
    ) -> Result<Box<dyn Source + Send + 'a>> {
        if path.is_dir() {
            let path = path.display();
            return Err(usage(format!(
                "{path} is a folder; name the files in it, for example {path}/*.conllu, or parse all of them \
                 with `tutte run {path} -o DIR`"
            )));
        }
        let failed = |source| Error::File { path: path.to_owned(), action: "open", source };
        let counter = counter.clone();
        let typed = self.text.as_ref().filter(|_| path == Path::new("-"));
        let (mut input, name): (Input, String) = if let Some(text) = typed {
            (Box::new(Cursor::new(text.clone())), "<text>".to_owned())
        } else if path == Path::new("-") {
            let input = Counted { input: session.stdin(), counter };
            (decompress(input).map_err(failed)?, "<stdin>".to_owned())
        } else {
            let file = File::open(path).map_err(|error| advise_text(failed(error), path))?;
            let input = Counted { input: file, counter };
            (decompress(input).map_err(failed)?, path.display().to_string())
        };
        let kind = match self.input {
            InputKind::Auto if typed.is_some() => InputKind::Text,
            InputKind::Auto => {
                let recognised = recognise(path, &mut input, self.encoding).map_err(failed)?;
                if let Some(doubt) = recognised.doubt {
                    session.note(format!("note: {name} {doubt}"));
                }
                recognised.kind
            }
            kind => kind,
        };
        let conll = |input, format| {
            let options = Options::default()
                .with_name(name.clone())
                .with_format(format)
                .with_encoding(self.encoding);
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
}
