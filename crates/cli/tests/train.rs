//! What a training leaves behind, however it ends.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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

fn treebank() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tea.conllu")
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let (folder, treebank) = (folder("same"), treebank());
    let train = |name: &str, more: &[&str]| {
        let model = folder.join(name);
        let mut command = tutte();
        command.args(["train", "-q", "--passes", "3", "--dev"]).args([&treebank, &treebank]);
        assert!(command.arg("-o").arg(&model).args(more).output().unwrap().status.success());
        fs::read(model).unwrap()
    };
    let first = train("one.tutte", &["-j", "1"]);
    assert!(first == train("two.tutte", &["-j", "2"]), "another number of threads");
    assert!(first == train("three.tutte", &["--threads=3"]), "another number of threads");
    assert!(first != train("four.tutte", &["--seed", "2"]), "another seed");
}

fn leaves_a_model_after(signal: &str) {
    let (folder, treebank) = (folder(signal), treebank());
    let model = folder.join("tea.tutte");
    let mut training = tutte()
        .args(["train", "--passes", "10000", "--json", "-o"])
        .args([&model, &treebank])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !model.exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "no model after a minute");
        assert!(training.try_wait().unwrap().is_none(), "training ended early");
        sleep(Duration::from_millis(10));
    }
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
    // Nothing is left beside it.
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn ctrl_c_leaves_the_best_model_so_far() {
    leaves_a_model_after("-INT");
}

#[test]
fn a_kill_leaves_the_best_model_so_far() {
    leaves_a_model_after("-TERM");
}
