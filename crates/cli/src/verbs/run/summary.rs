//! The result of `tutte run`, as JSON or as a table.

use std::io::Write as _;

use anyhow::Result;
use serde::Serialize;

use super::manifest::Entry;
use crate::failure::Outcome;
use crate::report::{Align, Table, count, counted};
use crate::session::Session;
use crate::verbs::parse::Tally;

/// The result of a job.
#[derive(Debug, Default, Serialize)]
pub(super) struct RunSummary {
    pub(super) folder: String,
    pub(super) manifest: String,
    pub(super) files: usize,
    /// Number of files parsed in this run.
    pub(super) parsed: usize,
    /// Number of files that were done before.
    pub(super) done_before: usize,
    pub(super) failed: Vec<Failure>,
    pub(super) interrupted: bool,
    /// Counts over all finished files.
    #[serde(flatten)]
    pub(super) tally: Tally,
    /// Number of sentences that could not be read.
    pub(super) skipped: usize,
    /// Time of this run.
    pub(super) seconds: f64,
    pub(super) words_per_second: f64,
}

/// A file that could not be parsed.
#[derive(Debug, Serialize)]
pub(super) struct Failure {
    pub(super) input: String,
    pub(super) error: String,
}

impl RunSummary {
    /// Counts a finished file.
    pub(super) fn add(&mut self, entry: &Entry) {
        let Entry { sentences, words, contradictions, skipped, .. } = *entry;
        self.tally += Tally { sentences, words, contradictions, ..Tally::default() };
        self.skipped += skipped;
    }

    /// Prints the result, and returns the outcome of the run.
    pub(super) fn print(&self, session: &Session) -> Result<Outcome> {
        /// Number of failed files that are named; all have been reported.
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
            let mut time = format!("{:.1} s", self.seconds);
            if self.words_per_second > 0.0 {
                let rate = count(self.words_per_second as usize);
                time.push_str(&format!(", {rate} tokens per second"));
            }
            table.row(["time", &time]);
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
            session.note("interrupted; continue with the same command and --resume");
        } else if !self.failed.is_empty() {
            session.note("parse the failed files again with the same command and --resume");
        }
        let outcome = match self {
            _ if self.interrupted => Outcome::Interrupted,
            _ if !self.failed.is_empty() || self.skipped > 0 => Outcome::BadInput,
            _ if self.tally.contradictions > 0 => Outcome::CheckFailed,
            _ => Outcome::Good,
        };
        Ok(session.end(outcome))
    }
}
