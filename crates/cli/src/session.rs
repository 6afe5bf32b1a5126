//! What every verb shares: where sentences come from, where results go, and how long it may take
//! before somebody wonders.

use std::cell::Cell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::failure::{self, Outcome, usage};
use crate::numbers::counted;

/// One run of the program.
#[derive(Debug)]
pub(crate) struct Session {
    quiet: bool,
    json: bool,
    /// Sentences passed over because of `--lenient`; none without it.
    skipped: Cell<Option<usize>>,
    stdin_taken: Cell<bool>,
}

impl Session {
    pub(crate) fn new(quiet: bool, json: bool) -> Self {
        Self { quiet, json, skipped: Cell::new(None), stdin_taken: Cell::new(false) }
    }

    /// Whether to print a JSON document instead of tables.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// The files to read: those named, or standard input if something is piped into it.
    pub(crate) fn files(&self, named: &[PathBuf]) -> Result<Vec<PathBuf>> {
        if !named.is_empty() {
            return Ok(named.to_vec());
        }
        if io::stdin().is_terminal() {
            return Err(usage("no files given; name some, or - for standard input"));
        }
        Ok(vec![PathBuf::from("-")])
    }

    /// Claims standard input, which can be read once.
    pub(crate) fn take_stdin(&self) -> Result<()> {
        if self.stdin_taken.replace(true) {
            return Err(usage("standard input (-) can be read only once"));
        }
        Ok(())
    }

    /// Makes reports say how many sentences were skipped, even if none was.
    pub(crate) fn report_skipped(&self) {
        if self.skipped.get().is_none() {
            self.skipped.set(Some(0));
        }
    }

    /// Passes over a sentence that cannot be used, as `--lenient` asks: warns and counts.
    pub(crate) fn skip(&self, error: &anyhow::Error) {
        const SHOWN: usize = 5;
        let skipped = self.skipped.get().unwrap_or(0) + 1;
        self.skipped.set(Some(skipped));
        if skipped <= SHOWN {
            self.warn(error);
        }
    }

    /// Shows an error that does not end the run, unless `-q` was given.
    pub(crate) fn warn(&self, error: &anyhow::Error) {
        if !self.quiet {
            failure::warn(error);
        }
    }

    /// Shows an error that is one of a sentence, not of the run; `-q` does not hide it.
    pub(crate) fn complain(&self, error: &anyhow::Error) {
        failure::complain(error);
    }

    /// How the run ends: as the verb says, unless sentences were passed over.
    pub(crate) fn end(&self, outcome: Outcome) -> Outcome {
        match self.skipped.get() {
            None | Some(0) => outcome,
            Some(skipped) => {
                let were = if skipped == 1 { "was" } else { "were" };
                let skipped = counted(skipped, "sentence");
                self.note(format!("{skipped} could not be read and {were} skipped"));
                Outcome::BadInput
            }
        }
    }

    /// Says something on standard error that is no result, unless `-q` was given.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        if !self.quiet {
            // Nobody is left to hear of a failure to write.
            let _ = writeln!(anstream::stderr().lock(), "{}", text.as_ref());
        }
    }

    /// Standard output for results; colours are taken out where they would not be seen.
    pub(crate) fn stdout(&self) -> BufWriter<impl Write + use<>> {
        BufWriter::new(anstream::AutoStream::auto(io::stdout()))
    }

    /// Prints a report, an object, as JSON; with `--lenient` it says how many sentences it is without.
    pub(crate) fn print_report(&self, report: &impl Serialize) -> Result<()> {
        #[derive(Serialize)]
        struct Document<'a, T> {
            #[serde(flatten)]
            report: &'a T,
            #[serde(skip_serializing_if = "Option::is_none")]
            skipped: Option<usize>,
        }
        self.print_json(&Document { report, skipped: self.skipped.get() })
    }

    /// Prints a result as JSON.
    pub(crate) fn print_json(&self, value: &impl Serialize) -> Result<()> {
        let mut out = BufWriter::new(io::stdout().lock());
        serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    /// Progress of work that counts `unit`s; shown only to people, and only when it takes long.
    pub(crate) fn progress(&self, unit: &'static str) -> Progress {
        Progress {
            shown: (!self.quiet && io::stderr().is_terminal()).then_some(unit),
            started: Instant::now(),
            done: 0,
            bar: None,
        }
    }

    /// A line that says what long work is at, shown to people only.
    pub(crate) fn status(&self) -> Status {
        Status { bar: (!self.quiet && io::stderr().is_terminal()).then(spinner) }
    }

    /// The width of the terminal that results go to, or what suits a file.
    pub(crate) fn width(&self) -> usize {
        terminal_size::terminal_size_of(io::stdout()).map_or(100, |(width, _)| width.0.into())
    }
}

/// A line on standard error that says how far the work is.
#[derive(Debug)]
pub(crate) struct Progress {
    shown: Option<&'static str>,
    started: Instant,
    done: u64,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Before this, nobody wonders.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// One unit more is done.
    pub(crate) fn step(&mut self) {
        self.done += 1;
        // Looking at the clock costs more than reading a short sentence.
        let Some(unit) = self.shown.filter(|_| self.done.is_multiple_of(256)) else { return };
        let elapsed = self.started.elapsed();
        if elapsed < Self::PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(spinner);
        let rate = self.done as f64 / elapsed.as_secs_f64();
        let (done, rate) = (HumanCount(self.done), HumanCount(rate as u64));
        bar.set_message(format!("{done} {unit}, {rate} a second"));
        bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A line on standard error that says what the work is at.
#[derive(Debug)]
pub(crate) struct Status {
    bar: Option<ProgressBar>,
}

impl Status {
    /// Shows another text, if anybody sees it.
    pub(crate) fn show(&self, text: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_message(text());
            bar.tick();
        }
    }

    /// Does something that prints, with the line out of its way.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn spinner() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
    let style = ProgressStyle::with_template("{spinner} {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar
}
