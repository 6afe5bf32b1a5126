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

fn keeps_the_model_after(signal: &str, code: i32) {
    let folder = folder(signal);
    let treebank = treebank();
    let model = folder.join("tea.tutte");
    let best = folder.join("tea.tutte.best");
    fs::write(&model, "a good model").unwrap();
    let mut training = tutte()
        .args(["train", "--with", "parser", "--passes", "10000", "--json", "-o"])
        .args([&model, &treebank])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(&folder.join("tea.tutte.resume"), &mut training);
    let killed = Command::new("kill").args([signal, &training.id().to_string()]).status();
    assert!(killed.unwrap().success());
    let output = training.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", output.status);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["ended"], "interrupted");
    assert_eq!(summary["model"], best.to_str().unwrap());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("tea.tutte is as it was\n"), "{said}");
    assert!(said.contains(&format!("to use it as it is: mv {}", best.display())), "{said}");

    assert_eq!(fs::read(&model).unwrap(), b"a good model");
    let parsed = tutte().args(["parse", "-q", "-m"]).args([&best, &treebank]).output().unwrap();
    assert!(parsed.status.success() && !parsed.stdout.is_empty());
    // Nothing else is left beside it.
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3, "both models and the checkpoint");
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
fn ctrl_c_keeps_my_good_model_and_the_best_so_far() {
    keeps_the_model_after("-INT", 130);
}

#[test]
fn a_kill_keeps_my_good_model_and_the_best_so_far() {
    keeps_the_model_after("-TERM", 143);
}

/// A model that only finds tags replaces one that finds trees if the user says so.
#[test]
fn training_a_tokenizer_does_not_take_my_parser_away() {
    let folder = folder("parserless");
    let model = folder.join("tea.tutte");
    let train = |parts: &str, more: &[&str]| {
        let mut command = tutte();
        command.args(["train", "--with", parts, "--preset", "fast", "--passes", "1", "-o"]);
        command.arg(&model).arg(treebank()).args(more).output().unwrap()
    };
    assert!(train("parser", &[]).status.success());
    let before = fs::read(&model).unwrap();
    let refused = train("tokenizer", &[]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("tea.tutte has a parser, but the new model would have none"), "{said}");
    assert!(said.contains("hint: name another file with -o, or replace it with --force"), "{said}");
    assert!(before == fs::read(&model).unwrap());
    assert!(train("tokenizer", &["--force"]).status.success());
    assert!(before != fs::read(&model).unwrap());
    assert!(train("tokenizer", &[]).status.success(), "there is no parser to lose");
}

/// Paths do not enter models, only names of files do.
#[test]
fn the_same_files_elsewhere_give_the_same_bytes() {
    let run = |folder: &Path, inside: &str, arguments: &str| {
        let mut command = tutte();
        for word in arguments.split(' ') {
            command.arg(word.replace("IN/", inside));
        }
        let output = command.current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let models = |name: &str, inside: &str| -> Vec<Vec<u8>> {
        let folder = folder(name);
        let data = folder.join(inside);
        fs::create_dir_all(&data).unwrap();
        fs::copy(example("garden.conllu"), data.join("garden.conllu")).unwrap();
        fs::copy(example("garden-test.conllu"), data.join("test.conllu")).unwrap();
        fs::write(data.join("templates"), "h.upos m.upos\nh.form m.upos\n").unwrap();
        fs::write(data.join("rules"), "det: DET <- nearest NOUN  head right  90%\n").unwrap();
        let inside = if name == "here" { String::new() } else { format!("{}/", data.display()) };
        run(
            &folder,
            &inside,
            "train IN/garden.conllu --dev=IN/test.conllu --with parser --preset plain --passes 1 \
             --templates IN/templates -q -o one",
        );
        run(
            &folder,
            &inside,
            "learn IN/garden.conllu --rules IN/rules --trees IN/test.conllu --steps 2 -q -o two",
        );
        run(&folder, &inside, "calibrate -m one IN/test.conllu --write -q");
        ["one", "two"].map(|model| fs::read(folder.join(model)).unwrap()).into()
    };
    assert!(models("here", "") == models("there", "a/b"));
}

/// A name may be as long as the file system allows, though files lie beside the model.
#[test]
fn a_model_may_have_a_long_name() {
    let folder = folder("long-name");
    let model = folder.join("m".repeat(247));
    let mut command = tutte();
    command.args(["train", "-q", "--preset", "fast", "--passes", "1", "-o"]);
    let output = command.arg(&model).arg(treebank()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "the model");
}
