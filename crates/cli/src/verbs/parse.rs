//! `tutte parse`: trees of sentences, and their probabilities.
//!
//! ```text
//! input/              inputs and their sentences
//! parse/options.rs    the options: trees, probabilities, constraints
//! parse/tagging.rs    the source of tags, and the number of readings
//! parse/result.rs     the annotation of a sentence and its output; long.rs, long sentences; json.rs, JSON
//! parse/stream.rs     sentences of all inputs through threads, in order, in bounded memory
//! parse/page.rs       an output file; outfile.rs, its name
//! ```
//!
//! `tutte run` uses the same modules.

mod json;
mod long;
mod options;
mod outfile;
mod page;
mod result;
mod stream;
mod tagging;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use tutte::ModelFile;

pub(super) use self::options::{ParseOptions, Task, probability};
pub(super) use self::outfile::without_extension;
pub(super) use self::page::{Page, Tally, write};
pub(super) use self::result::Worker;
pub(super) use self::stream::{End, Sink, Stream, Watcher};
pub(super) use self::tagging::TagOptions;
use crate::failure::{Outcome, usage};
use crate::files::Files;
use crate::input::{ByteCounter, InputArgs, ModelArgs, warn_unfamiliar};
use crate::output::{check_folder_of, output_file};
use crate::report::{count, counted};
use crate::session::{Progress, Session};

/// Parse text or treebanks, with probabilities if you ask for them
///
/// Reads raw text, words, JSON Lines or CoNLL, and writes CoNLL-U, JSON Lines, drawings or pictures. Existing heads are replaced
/// unless --keep-heads is given, and DEPS is cleared unless --keep-deps is; other columns stay. Sentences without tags
/// are tagged by the model (--tags). On a pipe, each sentence is answered before the next one is read.
///
/// Heads can be constrained: --keep-heads and --keep-labels keep those of the input, and Forbid=4,7 in MISC forbids
/// heads. Probabilities are then conditional on these constraints. Arcs that the model prunes have probability zero.
///
/// Sentences of more than 500 words are parsed in parts of at most 250 (# tutte_pieces = 8). Heads that you give must
/// then be in the same part as their words. --kbest, --sample, --decode greedy and --matrix work up to 1,000 words; of
/// longer sentences, the best tree is written, with a warning.
///
/// With isotonic calibration (# tutte_calibration = isotonic), only HeadProb is calibrated; AltHead,
/// log-probabilities and entropies are those of the distribution.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte parse -m en.tutte text.conllu --probs | tutte draw -
  tutte parse -t 'We read the book.' -o tree.png
  tutte parse -m en.tutte half.conllu --keep-heads -o whole.conllu
  tutte parse -m en.tutte -i horizontal text.tok --kbest 5 -o readings.jsonl
  tutte parse -m en.tutte part-*.conllu.gz --outfile '{}.parsed.conllu'")]
pub(crate) struct Parse {
    #[command(flatten)]
    model_args: ModelArgs,

    /// Files, one after the other; - is standard input
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,

    /// Text to parse, instead of files
    #[arg(short, long, value_name = "TEXT", conflicts_with = "files", allow_hyphen_values = true)]
    text: Option<String>,

    /// File to write, compressed if its name ends in .gz or .zst; - is standard output
    ///
    /// A name in .jsonl, .svg, .png or .tex chooses that format. A picture shows all trees, with their probabilities.
    #[arg(short, long, value_name = "OUT", default_value = "-", hide_default_value = true)]
    #[arg(value_parser = output_file())]
    output: PathBuf,

    /// One output per input; {} is its path without extension
    ///
    /// With '{}.parsed.conllu', a/b.conllu.gz becomes a/b.parsed.conllu. Outputs are compressed if their names end in
    /// .gz or .zst.
    #[arg(long, value_name = "PATTERN", conflicts_with = "output")]
    outfile: Option<String>,

    #[command(flatten)]
    options: ParseOptions,

    #[command(flatten)]
    input_args: InputArgs,
}

/// Counts of the run.
#[derive(Debug, Serialize)]
struct ParseSummary {
    output: String,
    #[serde(flatten)]
    tally: Tally,
    seconds: f64,
    words_per_second: f64,
    /// Heads less probable than this are left open.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_prob: Option<f64>,
}

impl Parse {
    /// Returns the files of the run.
    ///
    /// # Errors
    /// If `--outfile` does not give each input a name.
    pub(super) fn files(&self) -> Result<Files> {
        let files = match self.text {
            Some(_) => Files::default(),
            None => Files::default().reads_or_stdin(&self.files),
        };
        let files = files.reads(self.model_args.model_source.path());
        let Some(pattern) = &self.outfile else {
            return Ok(files.writes("-o", [&self.output]));
        };
        let outputs = outfile::outputs(pattern, &self.files)?;
        let pairs = self.files.iter().zip(outputs);
        Ok(pairs.fold(files, |files, (input, output)| {
            files.writes_from(input, output, "choose another pattern with --outfile")
        }))
    }
}

pub(crate) fn run(arguments: &Parse, session: &Session) -> Result<Outcome> {
    let started = Instant::now();
    let Parse { model_args, .. } = arguments;
    let pattern = arguments.outfile.as_deref();
    let output = pattern.map_or(arguments.output.as_path(), Path::new);
    let is_json = session.json() && output == Path::new("-");
    let options = arguments.options.for_people(output);
    let options = if is_json { options.into_json()? } else { options };
    let input_args = arguments.input_args.clone().with_text(arguments.text.clone());
    let jsonl = options.check_output(output)?;
    let picture = options.picture(output)?;
    let files = match arguments.text {
        Some(_) => vec![PathBuf::from("-")],
        None => session.files(&arguments.files)?,
    };
    if files.iter().filter(|file| *file == Path::new("-")).count() > 1 {
        return Err(usage("standard input (-) can be read only once; name it once, or name files"));
    }
    let outputs = pattern.map(|pattern| outfile::outputs(pattern, &files)).transpose()?;
    outputs.iter().flatten().try_for_each(|output| check_folder_of(output))?;
    let ModelFile { model, about, .. } = model_args.open()?;
    let task = options.of(&model, model_args, jsonl, session)?;
    let task = if let Some(kind) = picture { task.with_picture(kind) } else { task };

    let apart = outputs.is_some();
    let stream = Stream {
        paths: &files,
        input_args: &input_args,
        counter: &ByteCounter::default(),
        apart,
        session,
    };
    let outputs = outputs.unwrap_or_else(|| vec![output.to_owned()]);
    let mut pages = Pages {
        task: &task,
        outputs,
        apart,
        inputs: files.len(),
        page: None,
        tally: Tally::new(&task),
    };
    if !apart {
        // A file that cannot be written is an error before anything is parsed.
        pages.page = Some(Page::create(output, &task)?);
    }
    let mut progress = session.progress("sentences");
    stream.run(&task, &mut pages, &mut progress)?;
    drop(progress);

    let Pages { tally, .. } = pages;
    warn_unfamiliar(&tally.familiarity, &model_args.model_source.name(), &about, session);
    let seconds = started.elapsed().as_secs_f64();
    let words_per_second = tally.words as f64 / seconds;
    let output = output.display().to_string();
    let summary =
        ParseSummary { output, tally, seconds, words_per_second, min_prob: task.min_prob };
    let outcome = match summary.tally.contradictions {
        0 => Outcome::Good,
        _ => Outcome::CheckFailed,
    };
    if session.json() && !is_json {
        session.print_json(&summary)?;
    } else {
        summary.tell(session);
    }
    Ok(session.end(outcome))
}

/// Output files: one for all inputs, or one for each.
struct Pages<'a> {
    task: &'a Task<'a>,
    /// Paths: one for all inputs, or one for each.
    outputs: Vec<PathBuf>,
    apart: bool,
    inputs: usize,
    /// The current file.
    page: Option<Page>,
    tally: Tally,
}

impl Pages<'_> {
    fn take_page(&mut self, input: usize) -> Result<Page> {
        match self.page.take() {
            Some(page) => Ok(page),
            None => Page::create(&self.outputs[input], self.task),
        }
    }
}

impl Sink for Pages<'_> {
    fn page(&mut self, input: usize) -> Result<&mut Page> {
        let page = self.take_page(input)?;
        Ok(self.page.insert(page))
    }

    fn end(&mut self, input: usize, end: Result<End>) -> Result<()> {
        let End { tail, .. } = end?;
        if self.apart || input + 1 == self.inputs {
            let tally = self.take_page(input)?.finish(&tail)?;
            self.tally += tally;
        }
        Ok(())
    }
}

impl Watcher for Progress {
    fn reads(&mut self) -> bool {
        self.step();
        true
    }
}

impl ParseSummary {
    fn tell(&self, session: &Session) {
        if self.tally.sentences == 0 {
            session
                .note("note: there are no sentences; the input is empty, or has only white space");
        }
        self.tally.tell(session);
        let Tally { sentences, words, .. } = self.tally;
        let sentences = counted(sentences, "sentence");
        let tokens = counted(words, "token");
        let seconds = self.seconds;
        let rate = count(self.words_per_second as usize);
        session.note(format!("{sentences}, {tokens} in {seconds:.1} s: {rate} tokens a second"));
    }
}
