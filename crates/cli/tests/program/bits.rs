//! Exact models and outputs.
//!
//! `bits.golden` lists hashes: of the models that presets and learners make of the example treebank, and of the outputs
//! of verbs with these models. A change that only moves code must leave all hashes unchanged. After an intended change
//! of results: `TUTTE_BITS=overwrite cargo test -p tutte-cli --test program bits`, and say in the commit why.
//!
//! Some results depend on the logarithm of the system's C library, so hashes are compared on one platform only.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tutte_linear::hash_bytes;

/// Hashes by name, and the folder in which commands run.
struct Bits {
    folder: PathBuf,
    found: BTreeMap<String, u64>,
}

impl Bits {
    /// A folder with the example files, so that no path outside of it enters a model.
    fn new() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bits");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for file in [
            "examples/garden.conllu",
            "examples/garden-test.conllu",
            "examples/tea.conllu",
            "examples/telescope.conllu",
            "rules/universal-20.tut",
        ] {
            let source = root.join(file);
            fs::copy(&source, folder.join(source.file_name().unwrap())).unwrap();
        }
        let text = "I saw the man with a telescope. The hens slept in the garden, didn't they?\n";
        fs::write(folder.join("text.txt"), text).unwrap();
        Self { folder, found: BTreeMap::new() }
    }

    /// Runs a command, which must succeed, and returns its standard output.
    fn run(&self, command: &str) -> Vec<u8> {
        let output = Command::new(env!("CARGO_BIN_EXE_tutte"))
            .args(command.split(' '))
            .current_dir(&self.folder)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tutte {command}\n{said}");
        output.stdout
    }

    /// Hashes the output of a command.
    fn answer(&mut self, command: &str) {
        let answer = self.run(command);
        self.found.insert(format!("answer  {command}"), hash_bytes(&answer, 0));
    }

    /// Hashes the model that a command writes to `NAME.tutte`: its tables and, separately, its header, whose fields may
    /// be renamed.
    fn model(&mut self, name: &str, command: &str) {
        self.run(&format!("{command} -q -o {name}.tutte"));
        let bytes = fs::read(self.folder.join(format!("{name}.tutte"))).unwrap();
        let (length, rest) = bytes.split_first_chunk::<8>().unwrap();
        let (header, tables) = rest.split_at(u64::from_le_bytes(*length) as usize);
        self.found.insert(format!("header  {name}: {command}"), hash_bytes(header, 0));
        self.found.insert(format!("tables  {name}: {command}"), hash_bytes(tables, 0));
    }

    /// Compares all hashes with the recorded ones.
    fn compare(&self) {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bits.golden");
        let mut lines = String::new();
        for (name, hash) in &self.found {
            writeln!(lines, "{hash:016x}  {name}").unwrap();
        }
        if std::env::var_os("TUTTE_BITS").is_some_and(|value| value == "overwrite") {
            fs::write(&golden, &lines).unwrap();
        }
        let recorded = fs::read_to_string(&golden).unwrap();
        let changed: Vec<&str> =
            lines.lines().filter(|line| !recorded.lines().any(|other| other == *line)).collect();
        assert!(changed.is_empty(), "other bits than before:\n{}", changed.join("\n"));
        assert_eq!(lines.lines().count(), recorded.lines().count(), "hashes that are not made");
    }
}

#[test]
fn models_and_answers_stay_as_they_are() {
    let mut bits = Bits::new();
    for preset in ["default", "fast", "compact", "plain"] {
        let train = format!("train garden.conllu --dev garden-test.conllu --preset {preset}");
        bits.model(preset, &train);
        bits.answer(&format!("parse -q -m {preset}.tutte text.txt --probs --to conll"));
        bits.answer(&format!("parse -q -m {preset}.tutte garden-test.conllu --probs"));
    }
    let alone = "train garden.conllu --with parser --preset plain --passes 3";
    for (name, more) in [
        ("mira", "--learner mira:k=3"),
        ("perceptron", "--learner perceptron"),
        ("pa", "--learner pa-i --labels none"),
        ("sgd", "--learner sgd --labels joint"),
        ("lbfgs", "--learner lbfgs --labels none"),
        ("eg", "--learner eg-log-linear"),
        ("margin", "--learner eg-max-margin"),
        ("clusters", "--clusters 2"),
        ("dictionary", "--features dictionary:supported"),
        ("projective", "--tree-set projective-single-root"),
        ("seed", "--seed 7 --templates mcdonald"),
    ] {
        bits.model(name, &format!("{alone} {more}"));
        bits.answer(&format!("parse -q -m {name}.tutte garden-test.conllu --probs"));
    }
    bits.model("own", "train garden.conllu --with parser --no-dev --tags gold");
    bits.answer("parse -q -m clusters.tutte garden-test.conllu --decode max-z");
    for options in [
        "--kbest 3",
        "--sample 4 --seed 2",
        "--to jsonl --probs",
        "--to draw",
        "--keep-heads --probs",
        "--decode map",
        "--decode greedy",
        "--min-prob 0.9",
        "--tags model --probs",
    ] {
        bits.answer(&format!("parse -q -m default.tutte garden-test.conllu {options}"));
    }
    for command in [
        "forest -q -m default.tutte garden-test.conllu --eps 0.01",
        "score -q -m default.tutte garden-test.conllu --json",
        "ask -q -m default.tutte telescope.conllu",
        "calibrate -q -m own.tutte garden-test.conllu --json -o calibrated.tutte",
        "parse -q -m calibrated.tutte garden-test.conllu --precision 0.9",
        "audit -q garden.conllu --json --folds 3",
        "rules suggest -q garden.conllu --top 10",
        "rules check -q universal-20.tut garden.conllu --json",
        "parse -q text.txt --probs --to conll",
        "parse -q garden-test.conllu --tags model --probs",
    ] {
        bits.answer(command);
    }
    bits.model("learn", "learn garden.conllu --rules universal-20.tut --steps 10 --words");
    bits.answer("parse -q -m learn.tutte garden-test.conllu --probs");
    bits.compare();
}
