//! Every verb works on every real treebank at hand.
#![allow(clippy::print_stderr, reason = "a skipped test must say so")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The treebanks in `$TUTTE_DATA`, or in a folder beside the project.
fn treebanks() -> Vec<PathBuf> {
    let root = std::env::var_os("TUTTE_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let mut folders = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "conllu" || e == "conll") {
                files.push(path);
            }
        }
    }
    files.sort();
    if files.is_empty() {
        eprintln!("SKIPPED: no treebanks in {}; set TUTTE_DATA", root.display());
    }
    files
}

/// Runs the program, which must succeed.
fn tutte(arguments: &[&str], files: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tutte"));
    let output = command.args(arguments).args(files).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "tutte {arguments:?} {files:?}: {}\n{said}", output.status);
    output
}

#[test]
fn published_treebanks_pass_check() {
    for file in treebanks() {
        let said = String::from_utf8(tutte(&["check"], &[&file]).stdout).unwrap();
        assert!(said.contains("\nNo errors "), "{}: {said}", file.display());
    }
}

#[test]
fn statistics_of_every_treebank_are_json_too() {
    for file in treebanks() {
        assert!(!tutte(&["stats"], &[&file]).stdout.is_empty());
        let json = tutte(&["stats", "--json"], &[&file]).stdout;
        assert!(serde_json::from_slice::<serde_json::Value>(&json).is_ok(), "{}", file.display());
    }
}

#[test]
fn converting_to_the_same_format_changes_nothing() {
    for file in treebanks() {
        let copied = tutte(&["convert", "-q"], &[&file, Path::new("-")]).stdout;
        assert!(copied == fs::read(&file).unwrap(), "{} changed", file.display());
    }
}

#[test]
fn every_tree_can_be_drawn_in_every_way() {
    for file in treebanks() {
        // All sentences as text, which is fast; the first twenty as pictures.
        let text = tutte(&["draw", "-o", "text", "-n", "all"], &[&file]).stdout;
        assert!(text.len() > 100, "{}", file.display());
        let svg = tutte(&["draw", "-o", "svg", "-n", "20"], &[&file]).stdout;
        assert!(svg.ends_with(b"</svg>\n"), "{}", file.display());
        let tikz = tutte(&["draw", "-o", "tikz", "-n", "20"], &[&file]).stdout;
        assert!(tikz.starts_with(b"%"), "{}", file.display());
    }
}

#[test]
fn every_treebank_is_right_when_judged_by_itself() {
    for file in treebanks() {
        let conllx = file.extension().is_some_and(|extension| extension == "conll");
        let arguments: &[&str] = if conllx { &["eval", "--conllx", "-q"] } else { &["eval", "-q"] };
        let said = String::from_utf8(tutte(arguments, &[&file, &file]).stdout).unwrap();
        for line in said.lines().filter(|line| line.starts_with("LAS") || line.starts_with("UAS")) {
            assert!(line.contains("100.00"), "{}: {line}", file.display());
        }
        assert!(said.contains("LAS"), "{}: {said}", file.display());
    }
}
