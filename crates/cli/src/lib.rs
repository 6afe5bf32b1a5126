//! The command-line program `tutte`, as a library for its `main`, its tests and its fuzz targets. It parses arguments, calls the libraries and prints their results; nothing is
//! computed here.
//!
//! Each module uses only modules below it:
//!
//! ```text
//! arguments.rs   the command line: help, completions and manual pages from one definition
//! readers.rs     readers of the program's own formats, for tests and fuzz targets
//! verbs/         one file per verb: its arguments and what it prints
//! input/         models, files of any format, and the loop that reads sentences
//! report/        tables for terminals and pages, charts, HTML
//! session.rs     one run of the program: standard output, JSON, notes, progress
//! failure.rs     error messages and exit codes
//! files.rs       files that a run reads and writes: outputs are never inputs
//! interrupt.rs   Ctrl-C
//! numbers.rs     numbers as people read them
//! output.rs      arguments that name a file to write
//! ```

mod arguments;
mod failure;
mod files;
mod input;
mod interrupt;
mod numbers;
mod output;
#[doc(hidden)]
pub mod readers;
mod report;
mod session;
mod verbs;

use std::process::ExitCode;

use clap::FromArgMatches;

use crate::arguments::Arguments;
use crate::session::Session;

/// Runs the program with the arguments of the process, and returns its exit code.
pub fn run() -> ExitCode {
    let matches = arguments::command().try_get_matches();
    let arguments = match matches.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => return failure::report_usage(&error),
    };
    let session = Session::new(arguments.quiet, arguments.json);
    match verbs::run(&arguments.verb, arguments::command, &session) {
        Ok(outcome) => outcome.into(),
        Err(error) => failure::report(&error),
    }
}
