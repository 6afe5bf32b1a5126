//! What `tutte run` did: as JSON, or as a table.

use std::io::Write as _;

use anyhow::Result;
use serde::Serialize;

use super::manifest::Entry;
use crate::failure::Outcome;
use crate::report::{Align, Table, count, counted};
use crate::session::Session;
use crate::verbs::parse::Tally;

/// What was done.
#[derive(Debug, Default, Serialize)]
pub(super) struct Summary {
    pub(super) folder: String,
    pub(super) manifest: String,
    pub(super) files: usize,
    /// Of these, parsed now.
    pub(super) parsed: usize,
    /// Of these, found done.
    pub(super) done_before: usize,
    pub(super) failed: Vec<Failure>,
    pub(super) interrupted: bool,
    /// Of all that is done.
    #[serde(flatten)]
    pub(super) tally: Tally,
    /// Sentences that could not be read.
    pub(super) skipped: usize,
    /// Of this run.
    pub(super) seconds: f64,
    pub(super) words_per_second: f64,
}

/// A file that could not be parsed.
#[derive(Debug, Serialize)]
pub(super) struct Failure {
    pub(super) input: String,
    pub(super) error: String,
}

impl Summary {
    /// Counts a file that is done.
    pub(super) fn add(&mut self, entry: &Entry) {
        let Entry { sentences, words, contradictions, skipped, .. } = *entry;
        self.tally += Tally { sentences, words, contradictions, ..Tally::default() };
        self.skipped += skipped;
    }

    pub(super) fn tell(&self, session: &Session) -> Result<Outcome> {
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
