//! One run of the program: standard output, JSON, notes, warnings and progress.

mod stdin;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

pub(crate) use self::stdin::Stdin;
use self::stdin::StdinStopper;
use crate::failure::{self, Outcome, advise, usage};
use crate::numbers::counted;

/// One run of the program.
#[derive(Debug)]
pub(crate) struct Session {
    quiet: bool,
    json: bool,
    /// Number of sentences skipped because of `--lenient`; `None` if reports do not mention it.
    skipped: Mutex<Option<usize>>,
    stdin_taken: AtomicBool,
    /// Ends the reading of standard input.
    stdin_stopper: Mutex<Option<StdinStopper>>,
    /// Warnings that were printed, and are not printed again.
    warned: Mutex<Vec<&'static str>>,
}

impl Session {
    pub(crate) fn new(quiet: bool, json: bool) -> Self {
        Self {
            quiet,
            json,
            skipped: Mutex::default(),
            stdin_taken: AtomicBool::new(false),
            stdin_stopper: Mutex::default(),
            warned: Mutex::default(),
        }
    }

    /// Returns `true` if a JSON document is printed instead of tables.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// Refuses to write both the JSON document and an output to standard output.
    pub(crate) fn refuse_json_beside(&self, output: &Path) -> Result<()> {
        if self.json && output == Path::new("-") {
            return Err(usage(
                "--json goes to standard output, and so does OUT; name a file with -o",
            ));
        }
        Ok(())
    }

    /// Returns the files to read: those named, or standard input if it is not a terminal.
    pub(crate) fn files(&self, named: &[PathBuf]) -> Result<Vec<PathBuf>> {
        if !named.is_empty() {
            return Ok(named.to_vec());
        }
        if io::stdin().is_terminal() {
            return Err(usage("no files given; name files to read, or - for standard input"));
        }
        Ok(vec![PathBuf::from("-")])
    }

    /// Claims standard input, which can be read once.
    pub(crate) fn take_stdin(&self) -> Result<()> {
        if self.stdin_taken.swap(true, Ordering::Relaxed) {
            return Err(usage(
                "standard input (-) can be read only once; name it once, or name files",
            ));
        }
        Ok(())
    }

    /// Starts to read standard input, which can be read once.
    pub(crate) fn stdin(&self) -> Stdin {
        let (stdin, stopper) = Stdin::start();
        *self.stdin_stopper.lock().unwrap_or_else(PoisonError::into_inner) = Some(stopper);
        stdin
    }

    /// Ends standard input where it is, if it is read by [`stdin`](Self::stdin).
    pub(crate) fn stop_stdin(&self) {
        let stopper = self.stdin_stopper.lock().unwrap_or_else(PoisonError::into_inner);
        stopper.iter().for_each(StdinStopper::stop);
    }

    fn skipped(&self) -> MutexGuard<'_, Option<usize>> {
        self.skipped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes reports say how many sentences were skipped, even if none was.
    pub(crate) fn report_skipped(&self) {
        self.skipped().get_or_insert(0);
    }

    /// Counts a sentence that `--lenient` skips. Prints a warning for the first few.
    pub(crate) fn skip(&self, error: &anyhow::Error) {
        const SHOWN: usize = 5;
        let skipped = {
            let mut skipped = self.skipped();
            let count = skipped.get_or_insert(0);
            *count += 1;
            *count
        };
        if skipped <= SHOWN {
            self.warn(error);
        }
    }

    /// Prints an error that does not end the run, unless `-q` was given.
    pub(crate) fn warn(&self, error: &anyhow::Error) {
        if !self.quiet {
            failure::warn(error);
        }
    }

    /// Prints a warning with a hint, unless it was printed before or `-q` was given.
    pub(crate) fn warn_once(&self, warning: &'static str, hint: &str) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if !warned.contains(&warning) {
            warned.push(warning);
            self.warn(&advise(anyhow!(warning), hint));
        }
    }

    /// Prints an error that concerns one sentence or file, even with `-q`.
    pub(crate) fn complain(&self, error: &anyhow::Error) {
        failure::complain(error);
    }

    /// Returns the outcome of the run: that of the verb, unless sentences were skipped.
    pub(crate) fn end(&self, outcome: Outcome) -> Outcome {
        let skipped = *self.skipped();
        match skipped {
            None | Some(0) => outcome,
            _ if outcome == Outcome::Interrupted => outcome,
            Some(skipped) => {
                let were = if skipped == 1 { "was" } else { "were" };
                let skipped = counted(skipped, "sentence");
                self.note(format!("{skipped} could not be read and {were} skipped"));
                Outcome::BadInput
            }
        }
    }

    /// Prints a note to standard error, unless `-q` was given.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        if !self.quiet {
            // A failure to write to standard error cannot be reported.
            let _ = writeln!(anstream::stderr().lock(), "{}", text.as_ref());
        }
    }

    /// Returns standard output, without colours unless it is a terminal that shows them. Callers must flush it:
    /// an error of the last bytes is lost otherwise. [`Session::print`] does so.
    pub(crate) fn stdout(&self) -> BufWriter<impl Write + use<>> {
        BufWriter::new(anstream::AutoStream::auto(io::stdout()))
    }

    /// Prints a text to standard output.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        let mut out = self.stdout();
        out.write_all(text.as_bytes())?;
        Ok(out.flush()?)
    }

    /// Prints an object as JSON; with `--lenient`, with the number of skipped sentences.
    pub(crate) fn print_report(&self, report: &impl Serialize) -> Result<()> {
        #[derive(Serialize)]
        struct Document<'a, T> {
            #[serde(flatten)]
            report: &'a T,
            #[serde(skip_serializing_if = "Option::is_none")]
            skipped: Option<usize>,
        }
        self.print_json(&Document { report, skipped: *self.skipped() })
    }

    /// Prints a result as JSON.
    pub(crate) fn print_json(&self, value: &impl Serialize) -> Result<()> {
        let mut out = BufWriter::new(io::stdout().lock());
        serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    /// Starts a progress line that counts `unit`s. Only a terminal shows it, and only after a while.
    pub(crate) fn progress(&self, unit: &'static str) -> Progress {
        Progress {
            shown: (!self.quiet && io::stderr().is_terminal()).then_some(unit),
            started: Instant::now(),
            done: 0,
            bar: None,
        }
    }

    /// Starts a status line for long work. Only a terminal shows it.
    pub(crate) fn status(&self) -> Status {
        Status { bar: (!self.quiet && io::stderr().is_terminal()).then(spinner) }
    }

    /// Returns the width of the terminal, or 100 for a file.
    pub(crate) fn width(&self) -> usize {
        terminal_size::terminal_size_of(io::stdout()).map_or(100, |(width, _)| width.0.into())
    }
}

/// A progress line on standard error.
#[derive(Debug)]
pub(crate) struct Progress {
    shown: Option<&'static str>,
    started: Instant,
    done: u64,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Time before the line appears.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// Counts one unit.
    pub(crate) fn step(&mut self) {
        self.done += 1;
        // Reading the clock costs more than reading a short sentence.
        let Some(unit) = self.shown.filter(|_| self.done.is_multiple_of(256)) else { return };
        let elapsed = self.started.elapsed();
        if elapsed < Self::PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(spinner);
        let rate = self.done as f64 / elapsed.as_secs_f64();
        let done = HumanCount(self.done);
        let rate = HumanCount(rate as u64);
        bar.set_message(format!("{done} {unit}, {rate} per second"));
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

/// A status line on standard error.
#[derive(Debug)]
pub(crate) struct Status {
    bar: Option<ProgressBar>,
}

impl Status {
    /// Shows another text.
    pub(crate) fn show(&self, text: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_message(text());
            bar.tick();
        }
    }

    /// Hides the line while `print` runs.
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
