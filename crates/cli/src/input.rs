//! Arguments and inputs that verbs share: models, files, threads, the seed, and the stream of sentences.
//!
//! ```text
//! input/model.rs      the model: a file, or the English one inside the program
//! input/treebank.rs   treebanks: --format, --encoding, --lenient
//! input/source.rs     files of any kind that are parsed: CoNLL, words, JSON lines, raw text
//! input/recognise.rs  the format of a file, by its first lines
//! input/jsonl.rs      JSON lines
//! input/raw_text.rs   raw text
//! input/sentences.rs  the loop that reads sentences, and with --lenient skips some
//! input/rules.rs      files of rules
//! input/tagging.rs    tags for untagged sentences
//! input/familiarity.rs  warnings about text in another script or language
//! ```

mod familiarity;
mod jsonl;
mod model;
mod raw_text;
mod recognise;
mod rules;
mod sentences;
mod source;
mod tagging;
mod treebank;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use tutte::{Compact, Model, ModelFile, ParserModel, Pipeline, map_stream};
use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

pub(crate) use self::familiarity::warn_unfamiliar;
pub(crate) use self::jsonl::json_lines;
pub(crate) use self::model::ModelSource;
pub(crate) use self::rules::read_rules;
pub(crate) use self::sentences::Sentences;
pub(crate) use self::source::{ByteCounter, InputArgs, InputKind};
pub(crate) use self::tagging::{Tagged, note_untagged};
pub(crate) use self::treebank::TreebankArgs;
use crate::files::Files;
use crate::session::{Progress, Session};

/// Number of threads.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Threads {
    /// Number of threads [default: all processors]; results do not depend on it
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl Threads {
    /// Uses one thread.
    pub(crate) fn one() -> Self {
        Self { threads: Some(1) }
    }

    /// Returns the number of threads to use. Many more than there are processors would only take memory.
    pub(crate) fn count(self) -> usize {
        const PER_PROCESSOR: usize = 4;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let most = PER_PROCESSOR * processors;
        self.threads.map_or(processors, |threads| usize::from(threads).min(most))
    }
}

/// Seed of the random numbers of verbs that learn.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Seed {
    /// Seed of random numbers
    #[arg(long = "seed", value_name = "NUMBER", default_value_t = 1)]
    pub(crate) number: u64,
}

/// The model, its tree set and the threads that use it.
#[derive(Args, Clone, Debug)]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    pub(crate) model_source: ModelSource,

    /// Tree set instead of the model's: nonprojective-multi-root, nonprojective-single-root,
    /// projective-multi-root or projective-single-root
    #[arg(long, value_name = "SET", hide_short_help = true)]
    pub(crate) tree_set: Option<TreeSet>,

    #[command(flatten)]
    pub(crate) threads: Threads,
}

impl ModelArgs {
    /// Loads the model.
    pub(crate) fn load(&self) -> Result<Model<Compact>> {
        Ok(self.open()?.model)
    }

    /// Opens the model with the metadata of its file.
    pub(crate) fn open(&self) -> Result<ModelFile> {
        self.model_source.open()
    }

    /// Returns the tree set to parse with.
    pub(crate) fn tree_set(&self, model: &ParserModel<Compact>) -> TreeSet {
        self.tree_set.unwrap_or(model.tree_set)
    }
}

/// A model, and treebanks that it scores.
#[derive(Args, Clone, Debug)]
pub(crate) struct ModelAndFiles {
    #[command(flatten)]
    pub(crate) model_args: ModelArgs,

    /// Files, one after the other; - is standard input
    #[arg(value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: TreebankArgs,
}

impl ModelAndFiles {
    /// Returns the files that are read.
    pub(crate) fn files(&self) -> Files {
        Files::default().reads_or_stdin(&self.files).reads(self.model_args.model_source.path())
    }

    /// Loads the model.
    pub(crate) fn load(&self) -> Result<Model<Compact>> {
        self.model_args.load()
    }

    /// Returns the tree set to parse with.
    pub(crate) fn tree_set(&self, model: &ParserModel<Compact>) -> TreeSet {
        self.model_args.tree_set(model)
    }

    /// Tags each sentence that has no tags, passes it to a worker, and writes the results in order (see
    /// [`map_stream`]). The first error stops the run. Returns the text after the last sentence.
    pub(crate) fn each<'m, T: Send, F: FnMut(Tagged<'_, 'm>, &mut Sentence) -> Result<T> + Send>(
        &self,
        model: &'m Model<Compact>,
        session: &Session,
        worker: impl Fn() -> F,
        mut write: impl FnMut(&Sentence, T) -> Result<()>,
    ) -> Result<String> {
        let mut inputs = Inputs {
            session,
            reading: &self.reading,
            files: session.files(&self.files)?.into_iter(),
            sentences: None,
            progress: session.progress("sentences"),
            tail: String::new(),
        };
        let worker = || {
            let pipeline = Pipeline::new(model);
            let pipeline = match self.model_args.tree_set {
                Some(tree_set) => pipeline.with_tree_set(tree_set),
                None => pipeline,
            };
            let mut annotator = pipeline.annotator();
            let mut work = worker();
            move |_, sentence: &mut Sentence| {
                let readings = annotator.tag(sentence)?;
                let tagged = Tagged { annotator: &mut annotator, readings: &readings };
                Ok((readings.is_untagged(), work(tagged, sentence)?))
            }
        };
        let read = |sentence: &mut Sentence| inputs.read(sentence);
        let mut sentences = 0;
        let mut untagged = 0;
        map_stream(
            self.model_args.threads.count(),
            worker,
            read,
            |sentence, done: Result<(bool, T)>, _| {
                let (is_untagged, done) = done?;
                sentences += 1;
                untagged += usize::from(is_untagged);
                write(sentence, done)
            },
        )?;
        note_untagged(untagged, sentences, session);
        Ok(inputs.tail)
    }
}

/// Returns `true` if a file has the name of a JSON Lines file.
pub(crate) fn is_jsonl(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    [".jsonl", ".jsonl.gz", ".jsonl.zst"].iter().any(|end| name.ends_with(end))
}

/// Sentences of several files, one after the other.
struct Inputs<'a> {
    session: &'a Session,
    reading: &'a TreebankArgs,
    files: std::vec::IntoIter<PathBuf>,
    /// Sentences of the current file.
    sentences: Option<Sentences<'a>>,
    progress: Progress,
    /// Text after the last sentence.
    tail: String,
}

impl Inputs<'_> {
    /// Reads the next sentence; returns `false` after the last.
    fn read(&mut self, sentence: &mut Sentence) -> Result<bool> {
        loop {
            let sentences = match &mut self.sentences {
                Some(sentences) => sentences,
                None => match self.files.next() {
                    Some(path) => {
                        let reader = self.reading.open(&path, self.session)?;
                        self.sentences.insert(self.reading.sentences_of(reader, self.session))
                    }
                    None => return Ok(false),
                },
            };
            self.progress.step();
            if sentences.read(sentence)? {
                if self.reading.is_short(sentence, "a distribution over all trees", self.session)? {
                    return Ok(true);
                }
                continue;
            }
            self.tail = sentences.tail().to_owned();
            self.sentences = None;
        }
    }
}
