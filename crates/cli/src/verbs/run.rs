//! `tutte run`: whole corpora, one output for each input, in a job that can be resumed.
//!
//! ```text
//! run/inputs.rs    the files of a job or shard, their order and outputs
//! run/manifest.rs  the record of finished files
//! run/work.rs      the files, one after the other
//! run/progress.rs  progress and Ctrl-C
//! run/summary.rs   the result, as a table or JSON
//! parse/           everything else
//! ```
//!
//! An output is written under a temporary name, renamed, then recorded in the manifest. If a run is killed, each output
//! is complete or absent, and files that the manifest does not list are parsed again.

mod inputs;
mod manifest;
mod progress;
mod summary;
mod work;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Serialize;
use tutte_treebank::Error;

use self::inputs::{Choice, Listing, Shard};
use self::manifest::{JobSettings, Manifest};
use self::summary::RunSummary;
use self::work::Work;
use super::parse::{ParseOptions, Tally};
use crate::failure::{Outcome, usage};
use crate::input::{InputArgs, InputKind, ModelArgs, warn_unfamiliar};
use crate::report::counted;
use crate::session::Session;

/// Parse a corpus, one output per file, and resume after an interruption
///
/// Parses the files named and all files in the folders named. If killed, you lose at most the file in progress: the
/// same command with --resume parses the rest, and the result is the same as without interruption. An output that you
/// have edited is kept as NAME.old.
///
/// Of files in folders, only .conllu, .conll, .conllx, .jsonl and .txt are parsed, plain or compressed, unless -i
/// names the format. Hidden files and links to folders are skipped. If the folder corpus is named, the output of
/// corpus/a/b.txt.gz is DIR/a/b.conllu.
///
/// DIR/manifest.jsonl records the model, the options and each finished file. With --shard 2/4, every fourth file is
/// parsed, from the second on; each shard has its own manifest, manifest-2of4.jsonl.
///
/// A file that cannot be parsed is reported and has no output. Parsing continues, and the exit code is 3.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte run -m en.tutte corpus -o parsed
  tutte run -m en.tutte corpus -o parsed --resume
  tutte run -m en.tutte -i horizontal corpus/*.tok -o parsed --probs --shard 1/8")]
pub(crate) struct Run {
    #[command(flatten)]
    model_args: ModelArgs,

    /// Files and folders
    #[arg(value_name = "INPUTS", required = true)]
    inputs: Vec<PathBuf>,

    /// Folder for outputs and manifest
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    /// Resume the job in DIR; finished files are skipped
    #[arg(long)]
    resume: bool,

    /// Parse only shard i of n: every n-th file
    #[arg(long, value_name = "i/n")]
    shard: Option<Shard>,

    /// Stop at the first file that cannot be parsed
    #[arg(long)]
    fail_fast: bool,

    /// Compress outputs
    #[arg(long, value_name = "FORMAT")]
    compress: Option<Compress>,

    #[command(flatten)]
    options: ParseOptions,

    #[command(flatten)]
    input_args: InputArgs,
}

/// Compression of outputs.
#[derive(Clone, Copy, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Compress {
    /// Smaller
    Gz,
    /// Faster
    Zst,
}

pub(crate) fn run(arguments: &Run, session: &Session) -> Result<Outcome> {
    let started = Instant::now();
    let Run { model_args, options, input_args, output: folder, .. } = arguments;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let extension = arguments.extension();
    let jsonl = options.check_output(Path::new(&extension))?;
    let choice = if input_args.input == InputKind::Auto { Choice::ByName } else { Choice::All };
    let listing = Listing::new(&arguments.inputs, folder, &extension, choice)?;
    let manifest = folder.join(Manifest::name(shard));
    let files = listing.files(folder).reads(model_args.model_source.path());
    files.writes("-o", [&manifest]).prepare()?;
    let Listing { jobs, skipped } = listing;
    if let [one, ..] = &skipped[..] {
        let others = counted(skipped.len(), "file");
        session.note(format!(
            "skipped {others} with other extensions, such as {}; parse them with -i FORMAT",
            one.display()
        ));
    }
    if jobs.is_empty() {
        return Err(usage("there is no file to parse; name files, or their format with -i"));
    }
    if folder.exists() && !folder.is_dir() {
        return Err(usage(format!("{} is a file; name a folder with -o", folder.display())));
    }
    let jobs = shard.of(jobs);
    let file = model_args.open()?;
    let task = options.of(&file.model, model_args, jsonl, session)?;

    fs::create_dir_all(folder).map_err(|source| Error::File {
        path: folder.clone(),
        action: "create",
        source,
    })?;
    let is_new = !manifest.exists();
    let settings = arguments.settings(file.checksum.clone())?;
    let manifest = Manifest::open(folder, shard, settings, arguments.resume)?;
    let mut outputs = jobs.iter().map(|job| folder.join(&job.output));
    if is_new && let Some(there) = outputs.find(|output| output.exists()) {
        let _ = fs::remove_file(folder.join(Manifest::name(shard)));
        let there = there.display();
        return Err(usage(format!(
            "{there} exists, but the folder has no manifest; choose another folder with -o"
        )));
    }

    let summary = RunSummary {
        folder: folder.display().to_string(),
        manifest: Manifest::name(shard),
        files: jobs.len(),
        tally: Tally::new(&task),
        ..RunSummary::default()
    };
    let mut work = Work::new(folder, &task, session, arguments.fail_fast, manifest, summary);
    work.skip_finished(jobs);
    let (mut summary, words) = work.parse_rest(input_args)?;
    let name = model_args.model_source.name();
    warn_unfamiliar(&summary.tally.familiarity, &name, &file.about, session);
    summary.seconds = started.elapsed().as_secs_f64();
    summary.words_per_second = words as f64 / summary.seconds;
    summary.print(session)
}

impl Run {
    /// Returns the extension of outputs.
    fn extension(&self) -> String {
        let kind = if self.options.is_jsonl() { ".jsonl" } else { ".conllu" };
        let packed = match self.compress {
            None => "",
            Some(Compress::Gz) => ".gz",
            Some(Compress::Zst) => ".zst",
        };
        format!("{kind}{packed}")
    }

    /// Returns all settings that outputs depend on.
    fn settings(&self, model: String) -> Result<JobSettings> {
        #[derive(Serialize)]
        struct Options<'a> {
            #[serde(flatten)]
            input_args: &'a InputArgs,
            #[serde(flatten)]
            options: &'a ParseOptions,
            #[serde(skip_serializing_if = "Option::is_none")]
            tree_set: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            compress: Option<Compress>,
        }
        let options = Options {
            input_args: &self.input_args,
            options: &self.options,
            tree_set: self.model_args.tree_set.map(|set| set.to_string()),
            compress: self.compress,
        };
        let options = serde_json::from_value(serde_json::to_value(options)?)?;
        Ok(JobSettings { tutte: env!("CARGO_PKG_VERSION").to_owned(), model, options })
    }
}

/// Resumes the whole job of a folder and ends it, without parsing. Returns the output and the JSON of each finished
/// file.
pub(crate) fn resume_job(folder: &Path, settings: &str) -> Result<Vec<(String, String)>> {
    let settings: JobSettings = serde_json::from_str(settings)?;
    let manifest = Manifest::open(folder, Shard::WHOLE, settings, true)?;
    let entries = manifest.entries.iter();
    let finished = entries
        .map(|(output, entry)| Ok((output.clone(), serde_json::to_string(entry)?)))
        .collect();
    manifest.close()?;
    finished
}
