//! What verbs share that learn or ask a model: threads, chance, the model, the files, and how sentences go
//! through threads.
//!
//! `asking/intake.rs` opens files of any kind for parsing, `asking/tagging.rs` tags sentences that have no
//! tags.

mod jsonl;
mod model;
mod raw_text;
mod source;
mod tagging;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use tutte::{Compact, Model, ModelFile, ParserModel, map_stream};
use tutte_treebank::{Error, Input, Reader, Sentence};
use tutte_trees::TreeSet;

pub(crate) use self::model::ModelSource;
use self::source::Unusable;
pub(crate) use self::source::{ByteCounter, InputArgs, InputKind, Source};
pub(crate) use self::tagging::{TagFiller, note_untagged};
use crate::session::{Progress, Reading, Session};

/// How many threads work; flattened into the arguments of verbs.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Threads {
    /// Threads [default: all processors]; any number gives the same result
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl Threads {
    /// One thread.
    pub(crate) fn one() -> Self {
        Self { threads: Some(1) }
    }

    /// The number of threads to use.
    pub(crate) fn count(self) -> usize {
        let available = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(available, usize::from)
    }
}

/// Where chance starts from; flattened into the arguments of verbs that learn.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Seed {
    /// The number that decides what is random
    #[arg(long = "seed", value_name = "NUMBER", default_value_t = 1)]
    pub(crate) number: u64,
}

/// The model and how it is used; flattened into the arguments of verbs.
#[derive(Args, Clone, Debug)]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    pub(crate) which: ModelSource,

    /// Other trees than the model's: nonprojective-multi-root, nonprojective-single-root,
    /// projective-multi-root or projective-single-root
    #[arg(long, value_name = "SET", hide_short_help = true)]
    pub(crate) tree_set: Option<TreeSet>,

    #[command(flatten)]
    pub(crate) threads: Threads,
}

impl ModelArgs {
    /// The model.
    pub(crate) fn load(&self) -> Result<Model<Compact>> {
        Ok(self.open()?.model)
    }

    /// The model and what its file says of it.
    pub(crate) fn open(&self) -> Result<ModelFile> {
        self.which.open()
    }

    /// The trees to look for.
    pub(crate) fn tree_set(&self, model: &ParserModel<Compact>) -> TreeSet {
        self.tree_set.unwrap_or(model.tree_set)
    }
}

/// A model and treebanks to ask it about; flattened into the arguments of verbs.
#[derive(Args, Clone, Debug)]
pub(crate) struct ModelAndFiles {
    #[command(flatten)]
    pub(crate) using: ModelArgs,

    /// The files, one after the other; - is standard input
    #[arg(value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: Reading,
}

impl ModelAndFiles {
    /// The model.
    pub(crate) fn load(&self) -> Result<Model<Compact>> {
        self.using.load()
    }

    /// The trees to look for.
    pub(crate) fn tree_set(&self, model: &ParserModel<Compact>) -> TreeSet {
        self.using.tree_set(model)
    }

    /// Does something with all sentences of the files, in their order (see [`map_stream`]), each with tags;
    /// the first failure ends it. Returns what followed the last sentence.
    pub(crate) fn each<T: Send, F: FnMut(usize, &mut Sentence) -> Result<T> + Send>(
        &self,
        model: &Model<Compact>,
        session: &Session,
        worker: impl Fn() -> F,
        mut write: impl FnMut(&Sentence, T) -> Result<()>,
    ) -> Result<String> {
        let mut inputs = Inputs {
            session,
            reading: &self.reading,
            files: session.files(&self.files)?.into_iter(),
            reader: None,
            progress: session.progress("sentences"),
            tail: String::new(),
        };
        let worker = || {
            let (mut tags, mut work) = (TagFiller::new(model), worker());
            move |number, sentence: &mut Sentence| {
                let lacking = tags.fill(sentence)?;
                Ok((lacking, work(number, sentence)?))
            }
        };
        let read = |sentence: &mut Sentence| inputs.read(sentence);
        let (mut sentences, mut untagged) = (0, 0);
        map_stream(
            self.using.threads.count(),
            worker,
            read,
            |sentence, done: Result<(bool, T)>| {
                let (lacking, done) = done?;
                sentences += 1;
                untagged += usize::from(lacking);
                write(sentence, done)
            },
        )?;
        note_untagged(untagged, sentences, session);
        Ok(inputs.tail)
    }
}

/// Whether a file is called as JSON lines are.
pub(crate) fn is_jsonl(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    [".jsonl", ".jsonl.gz", ".jsonl.zst"].iter().any(|end| name.ends_with(end))
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
