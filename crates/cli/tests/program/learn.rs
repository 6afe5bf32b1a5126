//! Models of `tutte learn`, and Ctrl-C.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const RULES: &str = "\
det:   DET       <- nearest NOUN|PROPN  head right  90%
subj:  NOUN|PRON <- nearest VERB        head right  60%..90%
root:  VERB      <- ROOT                            80% of words
never: *         <- PUNCT                           never
";

/// A folder with rules and sentences, in which the program runs. A model stores its command, so models that are
/// compared have the same file name.
fn folder(name: &str, sentences: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("learn-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("rules.tut"), RULES).unwrap();
    fs::write(folder.join("raw.conllu"), sentences).unwrap();
    folder
}

fn learn(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tutte"));
    command.current_dir(folder).args(["learn", "raw.conllu", "--rules", "rules.tut"]);
    command.args(["--least", "1", "-o", "got.tutte"]);
    command
}

/// Returns the bytes of the model of these sentences.
fn model(name: &str, sentences: &str, more: &[&str]) -> Vec<u8> {
    let folder = folder(name, sentences);
    let output = learn(&folder).arg("-q").args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read(folder.join("got.tutte")).unwrap()
}

fn garden() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/garden.conllu");
    fs::read_to_string(path).unwrap()
}

/// Replaces the heads of sentences.
fn with_heads(text: &str, head: impl Fn(usize) -> String) -> String {
    let mut changed = String::new();
    for line in text.lines() {
        let mut columns: Vec<String> = line.split('\t').map(str::to_owned).collect();
        if let (10, Ok(word)) = (columns.len(), columns[0].parse()) {
            columns[6] = head(word);
            columns[7] = "dep".to_owned();
            columns[8] = "_".to_owned();
        }
        changed += &columns.join("\t");
        changed.push('\n');
    }
    changed
}

#[test]
fn heads_of_raw_text_are_not_looked_at() {
    let garden = garden();
    let right = model("gold", &garden, &[]);
    let chains = with_heads(&garden, |word| (word - 1).to_string());
    assert!(right == model("chains", &chains, &[]), "every word hangs from the one before");
    let open = with_heads(&garden, |_| "_".to_owned());
    assert!(right == model("open", &open, &[]), "no word has a head");
    let half: Vec<&str> = garden.split_inclusive("\n\n").take(100).collect();
    assert!(right != model("half", &half.concat(), &[]), "other sentences");
}

#[test]
fn the_model_is_the_same_for_any_number_of_threads() {
    let garden = garden();
    let one = model("one-thread", &garden, &["-j", "1"]);
    assert!(one == model("three-threads", &garden, &["--threads", "3"]));
}

#[test]
fn ctrl_c_keeps_my_good_model_and_the_best_so_far() {
    let folder = folder("interrupted", &garden());
    fs::write(folder.join("got.tutte"), "a good model").unwrap();
    let mut learning = learn(&folder)
        .args(["--restarts", "10000"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(learning.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.any(|line| line.starts_with("step ")), "it ended early");
    let killed = Command::new("kill").args(["-INT", &learning.id().to_string()]).status();
    assert!(killed.unwrap().success());
    // Its messages must not fill the pipe.
    said.for_each(drop);
    assert_eq!(learning.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read(folder.join("got.tutte")).unwrap(), b"a good model");
    let mut parse = Command::new(env!("CARGO_BIN_EXE_tutte"));
    parse.current_dir(&folder).args(["parse", "-q", "-m", "got.tutte.best", "raw.conllu"]);
    let parsed = parse.output().unwrap();
    assert!(parsed.status.success() && !parsed.stdout.is_empty());
}

#[test]
fn hard_constraints_hold_in_trees_of_the_model() {
    let folder = folder("hard", &garden());
    let never = "never: * <- PUNCT never\nroot: VERB|NOUN <- ROOT always\n";
    fs::write(folder.join("rules.tut"), never).unwrap();
    let output =
        learn(&folder).args(["--tree-set", "nonprojective-multi-root", "-q"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tutte = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tutte"));
        let output = command.current_dir(&folder).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let info = tutte(&["info", "got.tutte"]);
    assert!(info.contains("rule") && info.contains("never"), "{info}");
    for more in [&[][..], &["--probs"], &["--decode", "map"], &["--decode", "greedy"]] {
        let arguments = [&["parse", "-q", "-m", "got.tutte", "raw.conllu"], more].concat();
        let parsed = tutte(&arguments);
        let mut roots = 0;
        for sentence in parsed.split("\n\n") {
            let rows: Vec<Vec<&str>> = sentence
                .lines()
                .filter(|line| !line.starts_with('#'))
                .map(|line| line.split('\t').collect::<Vec<&str>>())
                .filter(|row| row[0].parse::<usize>().is_ok())
                .collect();
            for row in &rows {
                let head: usize = row[6].parse().unwrap();
                let is_rooted = matches!(row[3], "VERB" | "NOUN");
                assert!(head == 0 || rows[head - 1][3] != "PUNCT", "{sentence}");
                assert!(!is_rooted || head == 0, "{sentence}");
                roots += usize::from(is_rooted);
            }
        }
        assert!(roots > 100);
    }
}
