//! Annealed risk, initial weights, and models made of several.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An empty folder with the example treebanks.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("risk-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for file in ["garden.conllu", "garden-test.conllu"] {
        fs::copy(examples.join(file), folder.join(file)).unwrap();
    }
    folder
}

fn run(folder: &Path, command: &str) -> Output {
    let mut tutte = Command::new(env!("CARGO_BIN_EXE_tutte"));
    tutte.current_dir(folder).args(command.split(' ')).output().unwrap()
}

/// Runs a command that must succeed. Returns its output and its messages.
fn good(folder: &Path, command: &str) -> (String, String) {
    let Output { status, stdout, stderr } = run(folder, command);
    let said = String::from_utf8(stderr).unwrap();
    assert!(status.success(), "tutte {command}\n{said}");
    (String::from_utf8(stdout).unwrap(), said)
}

const TRAIN: &str = "train garden.conllu --dev garden-test.conllu --with parser --preset plain --bits 14 \
                     --templates pa --tree-set nonprojective-single-root";

#[test]
fn the_risk_is_annealed_from_a_model() {
    let folder = folder("anneal");
    good(&folder, &format!("{TRAIN} -q --passes 3 --labels joint -o start.tutte"));
    let annealed = format!(
        "{TRAIN} --labels joint --learner lbfgs:objective=risk,c=1000 --temperature-schedule auto:0.3:0.1 --quench 2:2 \
         --passes 3 --init start.tutte"
    );
    let (_, said) = good(&folder, &format!("{annealed} -o risk.tutte"));
    let stages: Vec<&str> = said.lines().skip_while(|line| !line.contains("entropy")).collect();
    assert!(stages.len() > 3 && stages[1].contains("start"), "{said}");
    let (info, _) = good(&folder, "info risk.tutte");
    assert!(info.contains("annealing auto:0.3:0.1, quench 2:2"), "{info}");
    let (info, _) = good(&folder, "info risk.tutte --json");
    let start = info.find("\"temperature\":").map(|at| &info[at..at + 30]);
    assert!(start.is_some(), "{info}");
    // The same command gives the same bytes.
    good(&folder, &format!("{annealed} -q -o again.tutte"));
    assert!(
        fs::read(folder.join("risk.tutte")).unwrap()
            == fs::read(folder.join("again.tutte")).unwrap()
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = folder("refused");
    good(&folder, &format!("{TRAIN} -q --passes 1 -o start.tutte"));
    for (more, expected) in [
        ("--temperature-schedule 1:0.5:0.1", "needs an objective with risk"),
        ("--temperature-schedule 1:2:0.1", "between 0 and 1"),
        ("--temperature-schedule 1:2", "START:FACTOR:END"),
        ("--quench 2:3", "--temperature-schedule"),
        ("--init start.tutte --labels joint", "labelling"),
        ("--init missing.tutte", "missing.tutte"),
        ("--learner mira --temperature-schedule 1:0.5:0.1", "no objective"),
    ] {
        let output = run(&folder, &format!("{TRAIN} -q -o new.tutte {more}"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(expected), "{more}: {said}");
        assert!(!folder.join("new.tutte").exists(), "{more}");
    }
}

#[test]
fn experts_become_one_model() {
    let folder = folder("combine");
    for (name, labels) in [("joint", "joint"), ("staged", "staged")] {
        for seed in 1..=3 {
            let expert = format!("{TRAIN} -q --passes 1 --labels {labels} --seed {seed}");
            good(&folder, &format!("{expert} -o {name}{seed}.tutte"));
        }
        let combine = format!(
            "combine --experts {name}1.tutte,{name}2.tutte,{name}3.tutte garden-test.conllu -o all.tutte"
        );
        for objective in [
            "--objective likelihood",
            "--temperature-schedule 10:0.2:0.1 --dev garden.conllu",
            "--objective error --mode list --k 5 --rounds 3 --restarts 1",
        ] {
            let (table, _) = good(&folder, &format!("{combine} {objective}"));
            assert!(table.contains("staged3.tutte") || table.contains("joint3.tutte"), "{table}");
            good(&folder, "parse -q -m all.tutte garden-test.conllu --probs");
            let (info, _) = good(&folder, "info all.tutte");
            assert!(info.contains("weights") && info.contains("experts"), "{info}");
        }
    }
    let mixed =
        run(&folder, "combine --experts joint1.tutte,staged1.tutte garden.conllu -o all.tutte");
    assert!(String::from_utf8(mixed.stderr).unwrap().contains("other labels"));
    let error =
        run(&folder, "combine --experts joint1.tutte garden.conllu --objective error -o x.tutte");
    assert!(String::from_utf8(error.stderr).unwrap().contains("--mode list"));
}
