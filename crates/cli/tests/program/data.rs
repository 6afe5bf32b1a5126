//! Every verb works on every real treebank at hand.

#[path = "../../../treebank/tests/support/treebanks.rs"]
mod treebanks;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use treebanks::{is_conllu, treebanks};

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
        let text = tutte(&["draw", "--to", "text", "-n", "all"], &[&file]).stdout;
        assert!(text.len() > 100, "{}", file.display());
        let svg = tutte(&["draw", "--to", "svg", "-n", "20"], &[&file]).stdout;
        assert!(svg.ends_with(b"</svg>\n"), "{}", file.display());
        let tikz = tutte(&["draw", "--to", "tikz", "-n", "20"], &[&file]).stdout;
        assert!(tikz.starts_with(b"%"), "{}", file.display());
    }
}

#[test]
fn every_treebank_is_right_when_judged_by_itself() {
    for file in treebanks() {
        let conllu = is_conllu(&file);
        let arguments: &[&str] = if conllu { &["eval", "-q"] } else { &["eval", "--conllx", "-q"] };
        let said = String::from_utf8(tutte(arguments, &[&file, &file]).stdout).unwrap();
        for line in said.lines().filter(|line| line.starts_with("LAS") || line.starts_with("UAS")) {
            assert!(line.contains("100.00"), "{}: {line}", file.display());
        }
        assert!(said.contains("LAS"), "{}: {said}", file.display());
    }
}

#[test]
fn parsing_changes_heads_and_labels_alone() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("parsed-treebanks");
    fs::create_dir_all(&folder).unwrap();
    let model = folder.join("tea.tutte");
    let tea = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tea.conllu");
    tutte(&["train", "-q", "--with", "parser", "--passes", "2", "-o"], &[&model, &tea]);
    let sample = folder.join("sample");
    for file in treebanks() {
        tutte(&["convert", "-q", "--sample", "20"], &[&file, &sample]);
        let parsed =
            tutte(&["parse", "-q", "--keep-deps", "-j", "2", "-m"], &[&model, &sample]).stdout;
        let before = fs::read(&sample).unwrap();
        let lines = |text: &[u8]| -> Vec<Vec<String>> {
            let text = String::from_utf8(text.to_vec()).unwrap();
            let columns = |line: &str| line.split('\t').map(str::to_owned).collect();
            text.split('\n').map(columns).collect()
        };
        let (before, parsed) = (lines(&before), lines(&parsed));
        assert_eq!(before.len(), parsed.len(), "{}", file.display());
        for (mut old, mut new) in before.into_iter().zip(parsed) {
            if old.len() == 10 && old[0].parse::<usize>().is_ok() {
                assert!(new[6].parse::<usize>().is_ok(), "{}: {new:?}", file.display());
                old.drain(6..8);
                new.drain(6..8);
            }
            assert_eq!(old, new, "{}", file.display());
        }
    }
}
