//! Files that a training leaves when it ends, is interrupted or is killed.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn tutte() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tutte"))
}

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("train-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn treebank() -> PathBuf {
    example("tea.conllu")
}

/// The examples have no errors, and a model of them parses the test sentences well.
#[test]
fn the_garden_teaches_its_grammar() {
    let garden = example("garden.conllu");
    let test = example("garden-test.conllu");
    let checked = tutte().args(["check", "--strict"]).args([&garden, &test]).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));

    let folder = folder("garden");
    let model = folder.join("garden.tutte");
    let parsed = folder.join("parsed.conllu");
    let trained = tutte()
        .args(["train", "-q", "--with", "parser", "-o"])
        .args([&model, &garden])
        .output()
        .unwrap();
    assert!(trained.status.success());
    let mut parse = tutte();
    parse.args(["parse", "-q", "-m"]).args([&model, &test]).arg("-o").arg(&parsed);
    assert!(parse.output().unwrap().status.success());
    let judged = tutte().args(["eval", "--json"]).args([&test, &parsed]).output().unwrap();
    let judged: serde_json::Value = serde_json::from_slice(&judged.stdout).unwrap();
    let las = judged["systems"][0]["metrics"]["LAS"]["f1"].as_f64().unwrap();
    assert!(las > 0.88, "LAS {las}");
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let folder = folder("same");
    let treebank = treebank();
    let train = |name: &str, more: &[&str]| {
        let model = folder.join(name);
        let mut command = tutte();
        command
            .args(["train", "-q", "--with", "parser", "--passes", "3", "--dev"])
            .args([&treebank, &treebank]);
        assert!(command.arg("-o").arg(&model).args(more).output().unwrap().status.success());
        fs::read(model).unwrap()
    };
    let first = train("one.tutte", &["-j", "1"]);
    assert!(first == train("two.tutte", &["-j", "2"]), "another number of threads");
    assert!(first == train("three.tutte", &["--threads=3"]), "another number of threads");
    assert!(first != train("four.tutte", &["--seed", "2"]), "another seed");
}

fn leaves_a_model_after(signal: &str) {
    let folder = folder(signal);
    let treebank = treebank();
    let model = folder.join("tea.tutte");
    let mut training = tutte()
        .args(["train", "--with", "parser", "--passes", "10000", "--json", "-o"])
        .args([&model, &treebank])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&folder.join("tea.tutte.resume"), &mut training);
    let killed = Command::new("kill").args([signal, &training.id().to_string()]).status();
    assert!(killed.unwrap().success());
    let output = training.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["ended"], "interrupted");

    let info = tutte().args(["info", "--json", "-m"]).arg(&model).output().unwrap();
    assert!(info.status.success());
    let parsed = tutte().args(["parse", "-q", "-m"]).args([&model, &treebank]).output().unwrap();
    assert!(parsed.status.success() && !parsed.stdout.is_empty());
    // Nothing else is left beside it.
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "the model and its checkpoint");
}

fn wait_for(file: &Path, training: &mut Child) {
    let started = Instant::now();
    while !file.exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "no {} yet", file.display());
        assert!(training.try_wait().unwrap().is_none(), "training ended early");
        sleep(Duration::from_millis(1));
    }
}

/// Training that is killed in both stages gives the same model when resumed.
#[test]
fn a_killed_training_resumes_to_the_same_bytes() {
    let folder = folder("killed");
    let garden = example("garden.conllu");
    let test = example("garden-test.conllu");
    let train = |model: &Path, more: &[&str]| {
        let mut command = tutte();
        command
            .args(["train", "--with", "parser", "--passes", "6", "--dev"])
            .args([&test, &garden])
            .arg("-o")
            .arg(model);
        command.args(more).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    let whole = folder.join("whole.tutte");
    let model = folder.join("killed.tutte");
    let resume = folder.join("killed.tutte.resume");
    assert!(train(&whole, &[]).status().unwrap().success());

    let mut first = train(&model, &[]).spawn().unwrap();
    wait_for(&resume, &mut first);
    first.kill().unwrap();
    first.wait().unwrap();

    let mut second = train(&model, &["--resume", "-j", "1"]).spawn().unwrap();
    let mut said = BufReader::new(second.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.any(|line| line.starts_with("   7 ")), "the second stage is not reached");
    second.kill().unwrap();
    second.wait().unwrap();
    assert!(resume.exists(), "training ended early");

    let third = train(&model, &["--resume", "-j", "2"]).output().unwrap();
    assert!(third.status.success(), "{}", String::from_utf8_lossy(&third.stderr));
    assert!(fs::read(&whole).unwrap() == fs::read(&model).unwrap());
    assert!(!resume.exists(), "a finished training leaves no checkpoint");
}

/// Interrupted training says how to resume it, and makes the same choices on development data.
#[test]
fn an_interrupted_training_resumes_to_the_same_bytes() {
    let folder = folder("interrupted");
    let garden = example("garden.conllu");
    let test = example("garden-test.conllu");
    let train = |model: &Path, more: &[&str]| {
        let mut command = tutte();
        command.args(["train", "--with", "parser", "--passes", "8", "--preset", "fast", "--dev"]);
        command.args([&test, &garden]).arg("-o").arg(model).args(more);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    let whole = folder.join("whole.tutte");
    let model = folder.join("model.tutte");
    assert!(train(&whole, &[]).status().unwrap().success());
    let mut first = train(&model, &[]).spawn().unwrap();
    wait_for(&folder.join("model.tutte.resume"), &mut first);
    assert!(
        Command::new("kill").args(["-INT", &first.id().to_string()]).status().unwrap().success()
    );
    let said = first.wait_with_output().unwrap().stderr;
    let said = String::from_utf8(said).unwrap();
    assert!(
        said.contains("\nresume with: tutte train --with parser --passes 8 --preset fast"),
        "{said}"
    );
    assert!(said.trim_end().lines().any(|line| line.ends_with(" --resume")), "{said}");
    assert!(train(&model, &["--resume"]).status().unwrap().success());
    assert!(fs::read(&whole).unwrap() == fs::read(&model).unwrap());
}

#[test]
fn ctrl_c_leaves_the_best_model_so_far() {
    leaves_a_model_after("-INT");
}

#[test]
fn a_kill_leaves_the_best_model_so_far() {
    leaves_a_model_after("-TERM");
}
