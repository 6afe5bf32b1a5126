//! The program `tutte`. All of it is in the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    tutte_cli::run()
}
