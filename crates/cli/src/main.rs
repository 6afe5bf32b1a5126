//! The command-line program `tutte`. It parses arguments, calls the libraries and prints their results; nothing is
//! computed here.
//!
//! Each module uses only modules below it:
//!
//! ```text
//! arguments.rs   the command line: help, completions and manual pages from one definition
//! verbs/         one file per verb: its arguments and what it prints
//! input/         models, files of any format, and the loop that reads sentences
//! report/        tables for terminals and pages, charts, HTML
//! session.rs     one run of the program: standard output, JSON, notes, progress
//! failure.rs     error messages and exit codes
//! interrupt.rs   Ctrl-C
//! leftovers.rs   temporary files of outputs that were never finished
//! numbers.rs     numbers as people read them
//! output.rs      arguments that name a file to write
//! ```

mod arguments;
mod failure;
mod input;
mod interrupt;
mod leftovers;
mod numbers;
mod output;
mod report;
mod session;
mod verbs;

use std::process::ExitCode;

use clap::FromArgMatches;

use crate::arguments::Arguments;
use crate::session::Session;

fn main() -> ExitCode {
    let matches = arguments::command().get_matches();
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    let session = Session::new(arguments.quiet, arguments.json);
    match verbs::run(&arguments.verb, arguments::command, &session) {
        Ok(outcome) => outcome.into(),
        Err(error) => failure::report(&error),
    }
}
