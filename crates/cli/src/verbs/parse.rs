//! `tutte parse`: trees for sentences that have none, or other ones.
//!
//! Sentences are read and written by this thread and parsed by others (see `tutte::parse_stream`),
//! so memory does not grow with the input.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use serde::Serialize;
use tutte::{Decoding, Model, parse_stream};
use tutte_treebank::{Error, Input, Reader, Sentence, create};

use crate::failure::{Outcome, usage};
use crate::report::{count, counted};
use crate::session::{Progress, Reading, Session};

/// Give sentences the trees that a model thinks best
///
/// Reads CoNLL files and writes them with new HEAD and DEPREL; heads that are there are not looked
/// at, and everything else stays byte for byte as it was, DEPS too (`tutte convert --strip-heads`
/// empties what other trees left there). Words and tags are those of the file: models look at
/// lemmas, tags and features, so a file should have them as the model's treebank did.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte parse -m en.tutte text.conllu -o parsed.conllu
  tutte parse -m en.tutte gold.conllu | tutte eval gold.conllu -
  zcat web-*.conllu.gz | tutte parse -m en.tutte -j 8 -o web.conllu.zst")]
pub(crate) struct Parse {
    /// The model, as `tutte train` writes it
    #[arg(short, long, value_name = "MODEL")]
    model: PathBuf,

    /// The files to parse, one after the other; - is standard input
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,

    /// The file to write, compressed if it is called .gz or .zst; - is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    output: PathBuf,

    /// Which tree is the best
    #[arg(long, value_name = "TREE", default_value = "mbr")]
    decode: Decode,

    /// Threads [default: one for each processor]; the result is the same for any number
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    #[command(flatten)]
    reading: Reading,
}

/// A tree of a distribution.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Decode {
    /// The tree with the most arcs expected to be right (minimum Bayes risk)
    Mbr,
    /// The most probable tree
    Map,
    /// The most probable tree together with the kinds of its arcs, for models trained with
    /// --clusters
    MaxZ,
}

/// What was done.
#[derive(Debug, Serialize)]
struct Summary {
    output: String,
    sentences: usize,
    words: usize,
    seconds: f64,
    words_per_second: f64,
}

pub(crate) fn run(arguments: &Parse, session: &Session) -> Result<Outcome> {
    let started = Instant::now();
    if session.json() && arguments.output == Path::new("-") {
        return Err(usage("--json goes to standard output, and so does OUT; name a file with -o"));
    }
    let files = session.files(&arguments.files)?;
    let model = Model::load(&arguments.model)?;
    let name = arguments.output.display().to_string();
    let cannot_write = || format!("cannot write {name}");
    let mut writer = create(&arguments.output)?;
    let mut input = Inputs {
        session,
        reading: &arguments.reading,
        files: files.into_iter(),
        reader: None,
        progress: session.progress("sentences"),
        tail: String::new(),
    };
    let (mut sentences, mut words) = (0, 0);
    parse_stream::<_, anyhow::Error>(
        &model,
        match arguments.decode {
            Decode::Mbr => Decoding::Mbr,
            Decode::Map => Decoding::Map,
            Decode::MaxZ => Decoding::MaxZ,
        },
        threads(arguments.threads),
        |sentence| input.read(sentence),
        |sentence| {
            sentences += 1;
            words += sentence.len();
            writer.write(sentence).with_context(cannot_write)
        },
    )?;
    writer.write_tail(&input.tail).with_context(cannot_write)?;
    writer.finish().with_context(cannot_write)?.commit()?;
    drop(input);

    let seconds = started.elapsed().as_secs_f64();
    let words_per_second = words as f64 / seconds;
    if session.json() {
        let output = name;
        session.print_json(&Summary { output, sentences, words, seconds, words_per_second })?;
    } else {
        let (read, rate) = (counted(words, "token"), count(words_per_second as usize));
        let sentences = counted(sentences, "sentence");
        session.note(format!("{sentences}, {read} in {seconds:.1} s: {rate} tokens a second"));
    }
    Ok(session.end(Outcome::Good))
}

/// The number of threads to use.
pub(crate) fn threads(asked: Option<u16>) -> usize {
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or_else(available, usize::from)
}

/// The sentences of several files, one after the other.
struct Inputs<'a> {
    session: &'a Session,
    reading: &'a Reading,
    files: std::vec::IntoIter<PathBuf>,
    reader: Option<Reader<Input>>,
    progress: Progress,
    /// What followed the last sentence.
    tail: String,
}

impl Inputs<'_> {
    /// Reads the next sentence; `false` if there is none.
    fn read(&mut self, sentence: &mut Sentence) -> Result<bool> {
        loop {
            let reader = match &mut self.reader {
                Some(reader) => reader,
                None => match self.files.next() {
                    Some(path) => self.reader.insert(self.session.open(&path, self.reading)?),
                    None => return Ok(false),
                },
            };
            self.progress.step();
            match reader.read(sentence) {
                Ok(true) => return Ok(true),
                Ok(false) => {
                    self.tail = reader.tail().to_owned();
                    self.reader = None;
                }
                Err(error @ Error::Malformed { .. }) if self.reading.lenient => {
                    self.session.skip(&error.into());
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
