//! A whole model from a treebank, with tokenizer, tagger and parser: trained with the simplest command, and with
//! interruptions.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn tutte() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tutte"))
}

/// Makes a folder with a treebank, the garden repeated, and development data beside it.
fn folder(name: &str, times: usize) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("newcomer-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let read = |name: &str| fs::read_to_string(examples.join(name)).unwrap();
    fs::write(folder.join("xx-train.conllu"), read("garden.conllu").repeat(times)).unwrap();
    fs::write(folder.join("xx-dev.conllu"), read("garden-test.conllu")).unwrap();
    folder
}

/// `tutte train xx-train.conllu -o MODEL …` in a folder.
fn train(folder: &Path, model: &str, more: &[&str]) -> Command {
    let mut command = tutte();
    command.current_dir(folder).args(["train", "xx-train.conllu", "-o", model]);
    command.args(["--preset", "fast", "--passes", "2"]).args(more);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn signal(name: &str, process: &Child) {
    let killed = Command::new("kill").args([name, &process.id().to_string()]).status();
    assert!(killed.unwrap().success());
}

/// Waits until a file exists; returns `false` if the training ended before.
fn wait_for(file: &Path, training: &mut Child) -> bool {
    let started = Instant::now();
    while !file.exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "no {} yet", file.display());
        if training.try_wait().unwrap().is_some() {
            return false;
        }
        sleep(Duration::from_millis(1));
    }
    true
}

#[test]
fn development_data_is_found_and_the_end_is_a_table() {
    let folder = folder("table", 1);
    let output = train(&folder, "xx.tutte", &[]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("development data: xx-dev.conllu, found beside the treebank"), "{said}");
    assert!(said.contains("\nnext: tutte parse -m xx.tutte -t '"), "{said}");
    let shown = String::from_utf8(output.stdout).unwrap();
    let head = shown.lines().find(|line| line.starts_with("F1 on dev")).expect("a table");
    assert!(head.ends_with("raw text  gold words"), "{head}");
    for row in ["Tokens", "Sentences", "Words", "UPOS", "Lemmas", "UAS", "LAS", "BLEX"] {
        assert!(shown.lines().any(|line| line.starts_with(row)), "no {row}:\n{shown}");
    }

    // The same numbers as by hand.
    let output = train(&folder, "xx.tutte", &["--json"]).output().unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = ["convert", "--raw-text", "xx-dev.conllu", "dev.txt"];
    assert!(tutte().current_dir(&folder).args(text).output().unwrap().status.success());
    let parse = |more: &[&str]| {
        let mut parse = tutte();
        parse.current_dir(&folder).args(["parse", "-q", "-m", "xx.tutte"]).args(more);
        assert!(parse.args(["-o", "parsed.conllu"]).output().unwrap().status.success());
        let mut eval = tutte();
        let eval = eval.current_dir(&folder).args(["eval", "--json", "xx-dev.conllu"]);
        let judged = eval.arg("parsed.conllu").output().unwrap().stdout;
        let judged: serde_json::Value = serde_json::from_slice(&judged).unwrap();
        judged["systems"][0]["metrics"].clone()
    };
    assert_eq!(summary["scores"]["raw_text"], parse(&["dev.txt"]));
    assert_eq!(summary["scores"]["gold_words"], parse(&["xx-dev.conllu", "--tags", "model"]));
}

/// Training that is killed during tokenizer, tagger and parser gives the same model when resumed.
#[test]
fn stages_before_the_parser_are_not_trained_again() {
    let folder = folder("killed", 4);
    assert!(train(&folder, "whole.tutte", &[]).output().unwrap().status.success());
    for (number, ending) in [".resume-text", ".resume-tags", ".resume"].into_iter().enumerate() {
        let resume: &[&str] = if number == 0 { &[] } else { &["--resume"] };
        let mut training = train(&folder, "parts.tutte", resume).spawn().unwrap();
        assert!(wait_for(&folder.join(format!("parts.tutte{ending}")), &mut training), "{ending}");
        training.kill().unwrap();
        training.wait().unwrap();
    }
    let last = train(&folder, "parts.tutte", &["--resume", "-j", "1"]).output().unwrap();
    let said = String::from_utf8(last.stderr).unwrap();
    assert!(last.status.success(), "{said}");
    assert!(
        said.contains(
            "tokenizer from the interrupted training\ntagger from the interrupted training"
        ),
        "{said}"
    );
    assert!(said.contains("\nresuming after pass 1"), "{said}");
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    assert!(read("whole.tutte") == read("parts.tutte"));
    // A kill in the middle of writing may leave a hidden file, never a damaged one.
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let left = names.filter(|name| !name.to_string_lossy().starts_with('.')).count();
    assert_eq!(left, 4, "the treebank, development data and two models");
}

/// Training that is interrupted before there is a parser leaves a model with the finished parts.
#[test]
fn ctrl_c_before_the_parser_leaves_words_and_tags() {
    let folder = folder("interrupted", 16);
    let mut training = train(&folder, "xx.tutte", &[]).spawn().unwrap();
    assert!(wait_for(&folder.join("xx.tutte.resume-text"), &mut training));
    signal("-INT", &training);
    let output = training.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("\ninterrupted; xx.tutte was not written\n"), "{said}");
    assert!(said.contains("\nxx.tutte.best written, "), "{said}");
    assert!(said.contains(": it finds words and "), "{said}");
    assert!(said.contains("\nresume with: tutte train xx-train.conllu -o xx.tutte "), "{said}");
    let parse = ["parse", "-q", "-m", "xx.tutte.best", "-t", "The cat sleeps."];
    let parsed = tutte().current_dir(&folder).args(parse).output().unwrap();
    assert!(parsed.status.success());
    assert!(String::from_utf8(parsed.stdout).unwrap().contains("\n2\tcat\t"));

    // Other settings cannot be resumed.
    let mut other = train(&folder, "xx.tutte", &["--resume", "--seed", "2"]);
    let said = String::from_utf8(other.output().unwrap().stderr).unwrap();
    assert!(
        said.contains(
            "xx.tutte.resume-text: the checkpoint is of another training: seed was 1 and is 2"
        ),
        "{said}"
    );
}

/// A model with a parser is not replaced by one without.
#[test]
fn ctrl_c_before_the_parser_keeps_a_parser_from_before() {
    let folder = folder("kept", 16);
    let mut training = train(&folder, "xx.tutte", &[]).spawn().unwrap();
    assert!(wait_for(&folder.join("xx.tutte.resume-text"), &mut training));
    signal("-INT", &training);
    training.wait_with_output().unwrap();
    let before = ["--with", "parser", "--passes", "1"];
    let mut small = tutte();
    small.current_dir(&folder).args(["train", "-q", "xx-dev.conllu", "-o", "small.tutte"]);
    assert!(small.args(before).output().unwrap().status.success());
    fs::rename(folder.join("small.tutte"), folder.join("xx.tutte")).unwrap();
    let parser = fs::read(folder.join("xx.tutte")).unwrap();
    let mut training = train(&folder, "xx.tutte", &["--resume"]).spawn().unwrap();
    let mut said = std::io::BufReader::new(training.stderr.take().unwrap());
    let mut lines = String::new();
    while !lines.contains("from the interrupted training") {
        assert!(std::io::BufRead::read_line(&mut said, &mut lines).unwrap() > 0, "{lines}");
    }
    signal("-INT", &training);
    std::io::Read::read_to_string(&mut said, &mut lines).unwrap();
    assert_eq!(training.wait().unwrap().code(), Some(130), "{lines}");
    assert!(lines.contains("\ninterrupted; xx.tutte is as it was\n"), "{lines}");
    assert!(fs::read(folder.join("xx.tutte")).unwrap() == parser);
}

/// Training that is interrupted before any part is finished says so.
#[test]
fn ctrl_c_before_anything_is_ready_leaves_nothing() {
    let folder = folder("nothing", 60);
    let mut training = train(&folder, "xx.tutte", &[]).spawn().unwrap();
    // These lines come before training.
    let mut said = std::io::BufReader::new(training.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("tree set") {
        assert!(std::io::BufRead::read_line(&mut said, &mut line).unwrap() > 0, "{line}");
    }
    // Before the handler is installed, Ctrl-C kills the program.
    sleep(Duration::from_millis(300));
    signal("-INT", &training);
    std::io::Read::read_to_string(&mut said, &mut line).unwrap();
    let status = training.wait().unwrap();
    if status.code().is_some() {
        assert_eq!(status.code(), Some(130), "{line}");
        assert!(line.contains("\ninterrupted; xx.tutte was not written\n"), "{line}");
    }
    assert!(!folder.join("xx.tutte").exists());
}
