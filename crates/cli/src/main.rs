//! The command-line program `tutte`. It parses arguments, calls the libraries and lays out what
//! they answer; nothing is computed here.
//!
//! ```text
//! arguments.rs   what can be typed, help, completions and manual pages from one definition
//! asking.rs      what verbs that ask a model share
//! session.rs     what every verb shares: inputs, standard output, JSON, progress
//! failure.rs     errors as people read them, and exit codes
//! leftovers.rs   what unfinished outputs leave behind
//! verbs/         one file a verb: its arguments, and what it prints
//! report/        tables for terminals and pages, charts, HTML
//! ```

mod arguments;
mod failure;
mod input;
mod leftovers;
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
    match verbs::run(&arguments.verb, &session) {
        Ok(outcome) => outcome.into(),
        Err(error) => failure::report(&error),
    }
}
