//! The files of a job, one after the other: finished files are skipped, the others are parsed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow};
use tutte_treebank::{Error, beside};

use super::inputs::{Job, with_slashes};
use super::manifest::{Entry, Fingerprint, Manifest};
use super::progress::{Fingerprints, Watch};
use super::summary::{Failure, RunSummary};
use crate::input::{ByteCounter, InputArgs};
use crate::session::{Session, Status};
use crate::verbs::parse::{End, Page, Sink, Stream, Tally, Task};

/// The files of a job and the result so far.
pub(super) struct Work<'a> {
    folder: &'a Path,
    /// Files to parse.
    jobs: Vec<Job>,
    task: &'a Task<'a>,
    session: &'a Session,
    fail_fast: bool,
    /// Fingerprints of inputs before they were opened.
    fingerprints: Arc<Fingerprints>,
    status: Arc<Status>,
    /// Current output.
    page: Option<Page>,
    manifest: Manifest,
    summary: RunSummary,
    /// Number of words parsed in this run.
    words: usize,
}

impl<'a> Work<'a> {
    /// Starts without files.
    pub(super) fn new(
        folder: &'a Path,
        task: &'a Task<'a>,
        session: &'a Session,
        fail_fast: bool,
        manifest: Manifest,
        summary: RunSummary,
    ) -> Self {
        Self {
            folder,
            jobs: Vec::new(),
            task,
            session,
            fail_fast,
            fingerprints: Arc::default(),
            status: Arc::new(session.status()),
            page: None,
            manifest,
            summary,
            words: 0,
        }
    }

    /// Skips finished files. Outdated outputs of the others stay until new ones replace them.
    pub(super) fn skip_finished(&mut self, jobs: Vec<Job>) {
        for job in jobs {
            let name = with_slashes(&job.output);
            let output = self.folder.join(&job.output);
            let entry = self.manifest.entries.get(&name);
            self.status.show(|| format!("checking finished files, {name}"));
            match entry.filter(|entry| entry.holds(&job.input, &output)) {
                Some(entry) => {
                    self.summary.done_before += 1;
                    self.summary.add(entry);
                }
                None => self.jobs.push(job),
            }
        }
    }

    /// Parses the other files and closes the manifest. Returns the summary and the number of words
    /// parsed in this run.
    pub(super) fn parse_rest(mut self, input_args: &InputArgs) -> Result<(RunSummary, usize)> {
        let ended = self.parse(input_args);
        let Self { summary, manifest, words, .. } = self;
        manifest.close()?;
        ended?;
        Ok((summary, words))
    }

    fn parse(&mut self, input_args: &InputArgs) -> Result<()> {
        let jobs = std::mem::take(&mut self.jobs);
        let counter = ByteCounter::default();
        let paths: Vec<&Path> = jobs.iter().map(|job| job.input.as_path()).collect();
        let session = self.session;
        let stream = Stream { paths: &paths, input_args, counter: &counter, apart: true, session };
        let fingerprints = self.fingerprints.clone();
        let status = self.status.clone();
        let mut watch = Watch::new(&paths, &counter, &fingerprints, &status);
        self.jobs.clone_from(&jobs);
        let ended = stream.run(self.task, self, &mut watch);
        self.page = None;
        self.summary.interrupted = watch.is_interrupted();
        ended
    }

    /// Returns the output of an input; creates it and its folder if needed.
    fn take_page(&mut self, input: usize) -> Result<Page> {
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

    /// Keeps an output that this job has not written, or that was edited since, under another name. Returns the name.
    fn keep_edited(&self, output: &Path) -> Result<Option<PathBuf>> {
        let path = self.folder.join(output);
        let entry = self.manifest.entries.get(&with_slashes(output));
        if !path.exists() || entry.is_some_and(|entry| entry.holds_output(&path)) {
            return Ok(None);
        }
        for number in 1u32.. {
            let ending = if number == 1 { ".old".to_owned() } else { format!(".old{number}") };
            let kept = beside(&path, &ending);
            if kept.exists() {
                // A job that was killed here has left it; it is not needed twice.
                let content = |path: &Path| Fingerprint::of(path).ok();
                if content(&kept).is_some_and(|found| content(&path) == Some(found)) {
                    return Ok(Some(kept));
                }
                continue;
            }
            // A second name, so that the file has one at any moment. Some file systems have no such names.
            let linked = fs::hard_link(&path, &kept).or_else(|_| fs::copy(&path, &kept).map(drop));
            return match linked {
                Ok(()) => Ok(Some(kept)),
                Err(source) => Err(Error::File { path: kept, action: "create", source }.into()),
            };
        }
        Ok(None)
    }

    /// Says where an edited output is now. A file with the same content was written by this job before it was killed,
    /// and is not needed twice.
    fn note_kept(&self, kept: &Path, written: &Fingerprint, output: &Path) {
        if Fingerprint::of(kept).is_ok_and(|found| found == *written) {
            let _ = fs::remove_file(kept);
            return;
        }
        let kept = kept.display();
        let output = output.display();
        let note = anyhow!("{output} was not as this job had written it; it is kept as {kept}");
        self.status.aside(|| self.session.warn(&note));
    }

    /// Completes the output of an input.
    fn finish(&mut self, input: usize, end: End) -> Result<Entry> {
        let page = self.take_page(input)?;
        let job = &self.jobs[input];
        let output = self.folder.join(&job.output);
        let kept = self.keep_edited(&job.output)?;
        let tally = page.finish(&end.tail)?;
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::File { path, action: "read", source }
        };
        let before = self.fingerprints.remove(input);
        let read =
            before.unwrap_or_else(|| Fingerprint::of(&job.input)).map_err(failed(&job.input))?;
        let written = Fingerprint::of(&output).map_err(failed(&output))?;
        if let Some(kept) = kept {
            self.note_kept(&kept, &written, &output);
        }
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
        // The rest is counted from the entry, as when a job is resumed.
        let Tally { no_trees, open_heads, untagged, too_long, familiarity, .. } = tally;
        self.summary.tally +=
            Tally { no_trees, open_heads, untagged, too_long, familiarity, ..Tally::default() };
        Ok(entry)
    }
}

impl Sink for Work<'_> {
    fn page(&mut self, input: usize) -> Result<&mut Page> {
        let page = self.take_page(input)?;
        Ok(self.page.insert(page))
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
        // The incomplete output is removed.
        self.page = None;
        self.fingerprints.remove(input);
        let name = self.jobs[input].input.display().to_string();
        let is_named = format!("{error:#}").contains(&name);
        let error = if is_named { error } else { error.context(name.clone()) };
        self.summary.failed.push(Failure { input: name, error: format!("{error:#}") });
        if self.fail_fast {
            return Err(error);
        }
        self.status.aside(|| self.session.complain(&error));
        Ok(())
    }
}
