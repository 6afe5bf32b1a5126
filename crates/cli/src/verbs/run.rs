//! `tutte run`: whole corpora, one output for each input, in a folder that can be gone on with.
//!
//! ```text
//! run/inputs.rs    which files, in which order, of which part; where the output of each goes
//! run/manifest.rs  what is done, and by what
//! run/work.rs      what is to be done, file by file
//! run/summary.rs   what was done, for people and programs
//! parse/           everything else
//! ```
//!
//! Outputs are written under temporary names and renamed, then noted in the manifest. Whatever ends a run,
//! an output is whole or not there, and what the manifest does not have is done again.

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
use self::manifest::{Manifest, Means};
use self::summary::Summary;
use self::work::Work;
use super::parse::{ParseOptions, Tally};
use crate::failure::{Outcome, usage};
use crate::input::{InputArgs, InputKind, ModelArgs};
use crate::leftovers;
use crate::report::counted;
use crate::session::Session;

/// Parse a corpus, one output for each file, and go on after an interruption
///
/// Files are named, or found in folders (hidden files and links to folders are not looked at; unless -i says
/// what files are, only those called .conllu, .conll, .conllx, .jsonl or .txt, plain or compressed). The
/// output of corpus/a/b.txt.gz is DIR/a/b.conllu if the folder corpus was named, and DIR/b.conllu if the file
/// was. It appears when it is complete.
///
/// DIR/manifest.jsonl says by which model, options and version of tutte outputs were made, and of each that
/// is done the hashes (XXH3) of input and output. With --resume, what it has, unchanged, is not done again;
/// everything else is. The result is that of a run without interruption, byte for byte.
///
/// With --shard 2/4, the second of four parts is done, on this machine or another: every fourth file of the
/// sorted list. Each part has its own manifest, manifest-2of4.jsonl.
///
/// A file that cannot be parsed is reported and has no output; others go on, and the exit code is 3.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte run -m en.tutte corpus -o parsed
  tutte run -m en.tutte corpus -o parsed --resume
  tutte run -m en.tutte -i horizontal corpus/*.tok -o parsed --probs --shard 1/8")]
pub(crate) struct Run {
    #[command(flatten)]
    using: ModelArgs,

    /// Files, and folders of files
    #[arg(value_name = "INPUTS", required = true)]
    inputs: Vec<PathBuf>,

    /// The folder for outputs and manifest
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    /// Go on with the job that is in DIR: leave what is done
    #[arg(long)]
    resume: bool,

    /// Do part i of n only: every n-th file
    #[arg(long, value_name = "i/n")]
    shard: Option<Shard>,

    /// End at the first file that cannot be parsed
    #[arg(long)]
    fail_fast: bool,

    /// Compress outputs
    #[arg(long, value_name = "HOW")]
    compress: Option<Compress>,

    #[command(flatten)]
    answering: ParseOptions,

    #[command(flatten)]
    intake: InputArgs,
}

/// How outputs are compressed.
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
    let Run { using, answering, intake, output: folder, .. } = arguments;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let extension = arguments.extension();
    let jsonl = answering.check_output(Path::new(&extension))?;
    let choice = if intake.input == InputKind::Auto { Choice::ByName } else { Choice::All };
    let Listing { jobs, passed_over } =
        Listing::new(&arguments.inputs, folder, &extension, choice)?;
    if let [one, ..] = &passed_over[..] {
        let others = counted(passed_over.len(), "file");
        session.note(format!(
            "passed over {others} of other kinds, such as {}; -i says what they are",
            one.display()
        ));
    }
    if jobs.is_empty() {
        return Err(usage("there is no file to parse; name some, or say with -i what they are"));
    }
    let jobs = shard.of(jobs);
    let file = using.open()?;
    let task = answering.of(&file.model, using, jsonl, session)?;

    fs::create_dir_all(folder).map_err(|source| Error::File {
        path: folder.clone(),
        action: "create",
        source,
    })?;
    let is_new = !folder.join(Manifest::name(shard)).exists();
    let means = arguments.means(file.checksum.clone())?;
    let manifest = Manifest::open(folder, shard, means, arguments.resume)?;
    let outputs: Vec<PathBuf> = jobs.iter().map(|job| folder.join(&job.output)).collect();
    if let Some(there) = outputs.iter().find(|output| is_new && output.exists()) {
        let _ = fs::remove_file(folder.join(Manifest::name(shard)));
        let there = there.display();
        return Err(usage(format!(
            "{there} is there, and no manifest says where it is from; choose another folder with -o"
        )));
    }
    leftovers::remove(outputs.iter().map(PathBuf::as_path), None);
    leftovers::remove([folder.join(Manifest::name(shard)).as_path()].into_iter(), None);

    let summary = Summary {
        folder: folder.display().to_string(),
        manifest: Manifest::name(shard),
        files: jobs.len(),
        tally: Tally::new(&task),
        ..Summary::default()
    };
    let mut work = Work::new(folder, &task, session, arguments.fail_fast, manifest, summary);
    work.leave_what_is_done(jobs)?;
    let (mut summary, words) = work.do_the_rest(intake)?;
    summary.seconds = started.elapsed().as_secs_f64();
    summary.words_per_second = words as f64 / summary.seconds;
    summary.tell(session)
}

impl Run {
    /// How outputs are called that end in nothing yet.
    fn extension(&self) -> String {
        let kind = if self.answering.is_jsonl() { ".jsonl" } else { ".conllu" };
        let packed = match self.compress {
            None => "",
            Some(Compress::Gz) => ".gz",
            Some(Compress::Zst) => ".zst",
        };
        format!("{kind}{packed}")
    }

    /// Everything that decides what outputs are.
    fn means(&self, model: String) -> Result<Means> {
        #[derive(Serialize)]
        struct Options<'a> {
            #[serde(flatten)]
            intake: &'a InputArgs,
            #[serde(flatten)]
            answering: &'a ParseOptions,
            #[serde(skip_serializing_if = "Option::is_none")]
            tree_set: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            compress: Option<Compress>,
        }
        let options = Options {
            intake: &self.intake,
            answering: &self.answering,
            tree_set: self.using.tree_set.map(|set| set.to_string()),
            compress: self.compress,
        };
        let options = serde_json::from_value(serde_json::to_value(options)?)?;
        Ok(Means { tutte: env!("CARGO_PKG_VERSION").to_owned(), model, options })
    }
}
