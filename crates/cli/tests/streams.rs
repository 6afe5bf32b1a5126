//! Standard output on a full disk, or into a closed pipe.
#![cfg(target_os = "linux")]

use std::fs::OpenOptions;
use std::process::{Command, Output, Stdio};

const GOLD: &str = "tests/verbs/eval.in/gold.conllu";

/// Every verb that prints results.
const COMMANDS: [&[&str]; 9] = [
    &["check", GOLD],
    &["stats", GOLD],
    &["stats", "--json", GOLD],
    &["convert", GOLD, "-"],
    &["eval", GOLD, GOLD],
    &["parse", "-q", GOLD],
    &["parse", "-q", "-t", "Tea cools.", "--to", "draw"],
    &["forest", "-q", GOLD],
    &["ask", "-q", GOLD],
];

fn run(arguments: &[&str], stdout: Stdio) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tutte"));
    command.args(arguments).stdout(stdout).stderr(Stdio::piped());
    command.spawn().and_then(std::process::Child::wait_with_output).unwrap()
}

#[test]
fn a_full_disk_is_an_error_that_says_so() {
    for arguments in COMMANDS {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = run(arguments, full.into());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {message}");
        assert!(message.contains("cannot write to standard output"), "{arguments:?}: {message}");
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    for arguments in COMMANDS {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = run(arguments, writer.into());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{arguments:?}");
    }
}
