//! `tutte run`: whole corpora, one output for each input, in a folder that can be gone on with.
//!
//! ```text
//! run/inputs.rs    which files, in which order, of which part; where the output of each goes
//! run/manifest.rs  what is done, and by what
//! parse/           everything else
//! ```
//!
//! Outputs are written under temporary names and renamed, then noted in the manifest. Whatever ends a run,
//! an output is whole or not there, and what the manifest does not have is done again.

mod inputs;
mod manifest;
mod progress;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Serialize;
use tutte_treebank::{Error, Sentence};

use self::inputs::{Choice, Job, Listing, Shard, with_slashes};
use self::manifest::{Entry, Fingerprint, Manifest, Means};
use self::progress::{Fingerprints, Watch};
use super::parse::{Answer, Answering, End, Page, Stream, Taker, Tally, Task};
use crate::asking::{Intake, Kind, Meter, Using};
use crate::failure::{Outcome, usage};
use crate::leftovers;
use crate::report::{Align, Table, count, counted};
use crate::session::{Session, Status};

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
    using: Using,

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
    answering: Answering,

    #[command(flatten)]
    intake: Intake,
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

/// What was done.
#[derive(Debug, Default, Serialize)]
struct Summary {
    folder: String,
    manifest: String,
    files: usize,
    /// Of these, parsed now.
    parsed: usize,
    /// Of these, found done.
    done_before: usize,
    failed: Vec<Failure>,
    interrupted: bool,
    /// Of all that is done.
    #[serde(flatten)]
    tally: Tally,
    /// Sentences that could not be read.
    skipped: usize,
    /// Of this run.
    seconds: f64,
    words_per_second: f64,
}

/// A file that could not be parsed.
#[derive(Debug, Serialize)]
struct Failure {
    input: String,
    error: String,
}

pub(crate) fn run(arguments: &Run, session: &Session) -> Result<Outcome> {
    let started = Instant::now();
    let Run { using, answering, intake, output: folder, .. } = arguments;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let extension = arguments.extension();
    let jsonl = answering.check_output(Path::new(&extension))?;
    let choice = if intake.input == Kind::Auto { Choice::ByName } else { Choice::All };
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

    let mut work = Work {
        folder,
        jobs: Vec::new(),
        task: &task,
        session,
        fail_fast: arguments.fail_fast,
        fingerprints: Rc::default(),
        status: Rc::new(session.status()),
        page: None,
        manifest,
        summary: Summary {
            folder: folder.display().to_string(),
            manifest: Manifest::name(shard),
            files: jobs.len(),
            tally: Tally::new(&task),
            ..Summary::default()
        },
        words: 0,
    };
    work.leave_what_is_done(jobs)?;
    let ended = work.parse(intake);
    let Work { mut summary, manifest, words, .. } = work;
    manifest.close()?;
    ended?;
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
            intake: &'a Intake,
            #[serde(flatten)]
            answering: &'a Answering,
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

/// The files of a job, and what came of them.
struct Work<'a> {
    folder: &'a Path,
    /// Those that have to be done.
    jobs: Vec<Job>,
    task: &'a Task<'a>,
    session: &'a Session,
    fail_fast: bool,
    /// What inputs were before they were opened.
    fingerprints: Rc<Fingerprints>,
    status: Rc<Status>,
    /// The output at hand.
    page: Option<Page>,
    manifest: Manifest,
    summary: Summary,
    /// Words parsed now.
    words: usize,
}

impl Work<'_> {
    /// Tells what is done from what has to be done, and clears away what is in the way of the latter.
    fn leave_what_is_done(&mut self, jobs: Vec<Job>) -> Result<()> {
        for job in jobs {
            let name = with_slashes(&job.output);
            let output = self.folder.join(&job.output);
            let entry = self.manifest.entries.get(&name);
            self.status.show(|| format!("looking at what is done, {name}"));
            match entry.filter(|entry| entry.holds(&job.input, &output)) {
                Some(entry) => {
                    self.summary.done_before += 1;
                    self.summary.add(entry);
                }
                None => {
                    self.manifest.forget(&name);
                    match fs::remove_file(&output) {
                        Err(error) if error.kind() != io::ErrorKind::NotFound => {
                            return Err(Error::File {
                                path: output,
                                action: "replace",
                                source: error,
                            }
                            .into());
                        }
                        _ => self.jobs.push(job),
                    }
                }
            }
        }
        Ok(())
    }

    /// Does what has to be done.
    fn parse(&mut self, intake: &Intake) -> Result<()> {
        let (jobs, meter) = (std::mem::take(&mut self.jobs), Meter::default());
        let paths: Vec<&Path> = jobs.iter().map(|job| job.input.as_path()).collect();
        let session = self.session;
        let stream = Stream { paths: &paths, intake, meter: &meter, apart: true, session };
        let (fingerprints, status) = (self.fingerprints.clone(), self.status.clone());
        let mut watch = Watch::new(&paths, &meter, &fingerprints, &status);
        self.jobs.clone_from(&jobs);
        let ended = stream.run(self.task, self, &mut watch);
        self.page = None;
        self.summary.interrupted = watch.interrupted();
        ended
    }

    /// The output of an input, which is made with its folder.
    fn page(&mut self, input: usize) -> Result<Page> {
        if let Some(page) = self.page.take() {
            return Ok(page);
        }
        let path = self.folder.join(&self.jobs[input].output);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|source| Error::File {
                path: folder.to_owned(),
                action: "create",
                source,
            })?;
        }
        Page::create(&path, self.task)
    }

    /// Lets the output of an input appear.
    fn finish(&mut self, input: usize, end: End) -> Result<Entry> {
        let tally = self.page(input)?.finish(&end.tail)?;
        let job = &self.jobs[input];
        let output = self.folder.join(&job.output);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::File { path, action: "read", source }
        };
        let before = self.fingerprints.borrow_mut().remove(&input);
        let read =
            before.unwrap_or_else(|| Fingerprint::of(&job.input)).map_err(failed(&job.input))?;
        let written = Fingerprint::of(&output).map_err(failed(&output))?;
        let entry = Entry {
            output: with_slashes(&job.output),
            output_bytes: written.bytes,
            output_xxh3: written.xxh3,
            input: with_slashes(&job.input),
            bytes: read.bytes,
            xxh3: read.xxh3,
            sentences: tally.sentences,
            words: tally.words,
            skipped: end.skipped,
            contradictions: tally.contradictions,
        };
        self.words += tally.words;
        // The rest is counted by the entry, as it is if a job goes on.
        let Tally { no_trees, open_heads, untagged, too_long, .. } = tally;
        self.summary.tally +=
            Tally { no_trees, open_heads, untagged, too_long, ..Tally::default() };
        Ok(entry)
    }
}

impl Taker for Work<'_> {
    fn take(&mut self, input: usize, sentence: &Sentence, answer: Answer) -> Result<()> {
        let mut page = self.page(input)?;
        page.write(sentence, answer, self.session)?;
        self.page = Some(page);
        Ok(())
    }

    fn end(&mut self, input: usize, end: Result<End>) -> Result<()> {
        let error = match end.and_then(|end| self.finish(input, end)) {
            Ok(entry) => {
                self.summary.parsed += 1;
                self.summary.add(&entry);
                return self.manifest.add(entry);
            }
            Err(error) => error,
        };
        // What was written of it goes.
        self.page = None;
        self.fingerprints.borrow_mut().remove(&input);
        let name = self.jobs[input].input.display().to_string();
        let error = match format!("{error:#}").contains(&name) {
            true => error,
            false => error.context(name.clone()),
        };
        self.summary.failed.push(Failure { input: name, error: format!("{error:#}") });
        if self.fail_fast {
            return Err(error);
        }
        self.status.aside(|| self.session.complain(&error));
        Ok(())
    }
}

impl Entry {
    /// Whether this is still so: the same input, and its output whole.
    fn holds(&self, input: &Path, output: &Path) -> bool {
        let is = |path: &Path, bytes, xxh3: &str| {
            // Most that is not the same has another length, which is cheaper to ask for.
            fs::metadata(path).is_ok_and(|about| about.len() == bytes)
                && Fingerprint::of(path).is_ok_and(|found| found.xxh3 == xxh3)
        };
        is(output, self.output_bytes, &self.output_xxh3) && is(input, self.bytes, &self.xxh3)
    }
}

impl Summary {
    /// Counts a file that is done.
    fn add(&mut self, entry: &Entry) {
        let Entry { sentences, words, contradictions, skipped, .. } = *entry;
        self.tally += Tally { sentences, words, contradictions, ..Tally::default() };
        self.skipped += skipped;
    }

    fn tell(&self, session: &Session) -> Result<Outcome> {
        /// So many names of files that failed are shown: all have been reported.
        const SHOWN: usize = 10;
        if session.json() {
            session.print_json(self)?;
        } else {
            let mut files = format!("{} of {}", count(self.parsed), counted(self.files, "file"));
            files.push_str(" parsed");
            for (number, what) in [(self.done_before, "done before"), (self.failed.len(), "failed")]
            {
                if number > 0 {
                    files.push_str(&format!(", {} {what}", count(number)));
                }
            }
            let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
            table.row(["folder", &self.folder]);
            table.row(["manifest", &self.manifest]);
            table.row(["files", &files]);
            table.row(["sentences", &count(self.tally.sentences)]);
            table.row(["tokens", &count(self.tally.words)]);
            let (seconds, rate) = (self.seconds, count(self.words_per_second as usize));
            table.row(["time", &format!("{seconds:.1} s, {rate} tokens a second")]);
            for failure in self.failed.iter().take(SHOWN) {
                table.row(["failed", &failure.input]);
            }
            let mut out = session.stdout();
            out.write_all(table.text(0).as_bytes())?;
            if self.failed.len() > SHOWN {
                writeln!(out, "and {} others", count(self.failed.len() - SHOWN))?;
            }
            out.flush()?;
            self.tally.tell(session);
        }
        if self.interrupted {
            session.note("interrupted; the same command with --resume goes on");
        } else if !self.failed.is_empty() {
            session.note("the same command with --resume tries again what failed");
        }
        let outcome = match self {
            _ if self.interrupted || !self.failed.is_empty() || self.skipped > 0 => {
                Outcome::BadInput
            }
            _ if self.tally.contradictions > 0 => Outcome::CheckFailed,
            _ => Outcome::Good,
        };
        Ok(session.end(outcome))
    }
}
