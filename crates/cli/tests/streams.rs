//! Standard output on a full disk, or into a closed pipe.
#![cfg(target_os = "linux")]

use std::fs::{self, OpenOptions};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

const GOLD: &str = "tests/verbs/eval.in/gold.conllu";

const RULES: &str = "../../rules/universal-20.tut";
/// Stands for a file or folder of verbs that also write one.
const OUT: &str = "OUT";

/// Every verb that prints results.
const COMMANDS: [&[&str]; 26] = [
    &["check", GOLD],
    &["check", "--json", GOLD],
    &["stats", GOLD],
    &["stats", "--json", GOLD],
    &["convert", GOLD, "-"],
    &["draw", "-q", GOLD],
    &["draw", "-q", "-o", "text", GOLD],
    &["eval", GOLD, GOLD],
    &["diff", GOLD, "tests/verbs/eval.in/system.conllu"],
    &["parse", "-q", GOLD],
    &["parse", "-q", "-t", "Tea cools.", "--to", "draw"],
    &["run", "-q", GOLD, "-o", OUT],
    &["forest", "-q", GOLD],
    &["ask", "-q", GOLD],
    &["score", "-q", GOLD],
    &["bench", "-q", GOLD, "-n", "1"],
    &["info"],
    &["info", "--json"],
    &["audit", "-q", "../../examples/tea.conllu", "--folds", "2"],
    &["rules", "check", "-q", RULES, GOLD],
    &["rules", "show", "-q", RULES, GOLD, "--rule", "det"],
    &["rules", "suggest", "-q", GOLD, "--least", "1"],
    &["learn", "-q", GOLD, "--rules", RULES, "--steps", "1", "--least", "1", "-o", OUT],
    &["train", "-q", "--with", "parser", "--preset", "fast", "--passes", "1", GOLD, "-o", OUT],
    &["completions", "bash"],
    &["--help"],
];

fn run(arguments: &[&str], stdout: Stdio) -> Output {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    let out = format!("{}/streams-{number}", env!("CARGO_TARGET_TMPDIR"));
    let _ = fs::remove_dir_all(&out).or_else(|_| fs::remove_file(&out));
    let mut command = Command::new(env!("CARGO_BIN_EXE_tutte"));
    command.args(arguments.iter().map(|word| if *word == OUT { &out } else { *word }));
    command.stdout(stdout).stderr(Stdio::piped());
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
