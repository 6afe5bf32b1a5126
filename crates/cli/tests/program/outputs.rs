//! Files that verbs write: never over an input, whole or not at all, and without leftovers.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// Every verb that writes a file, and the inputs that it reads. `OUT` is the file.
const COMMANDS: &[(&str, &[&str])] = &[
    ("train tea.conllu --with parser --preset fast --passes 1 -j 1 -o OUT", &["tea.conllu"]),
    (
        "train garden.conllu --dev tea.conllu --with parser --preset plain --passes 1 --templates \
         templates -o OUT",
        &["garden.conllu", "tea.conllu", "templates"],
    ),
    (
        "learn garden.conllu --rules rules --trees tea.conllu --dev test.conllu --steps 1 -o OUT",
        &["garden.conllu", "rules", "tea.conllu", "test.conllu"],
    ),
    ("parse -q -m model.tutte text.txt -i horizontal -o OUT", &["model.tutte", "text.txt"]),
    ("parse -q -m model.tutte tea.conllu --outfile OUT", &["model.tutte", "tea.conllu"]),
    ("forest -m model.tutte tea.conllu -o OUT", &["model.tutte", "tea.conllu"]),
    ("ask -m model.tutte tea.conllu -o OUT", &["model.tutte", "tea.conllu"]),
    ("score -m model.tutte tea.conllu -o OUT", &["model.tutte", "tea.conllu"]),
    ("calibrate -m model.tutte tea.conllu -o OUT", &["model.tutte", "tea.conllu"]),
    ("calibrate -m model.tutte tea.conllu --html OUT", &["model.tutte", "tea.conllu"]),
    ("stats tea.conllu --html OUT", &["tea.conllu"]),
    ("eval tea.conllu system.conllu --html OUT", &["tea.conllu", "system.conllu"]),
    ("diff tea.conllu system.conllu --html OUT", &["tea.conllu", "system.conllu"]),
    ("draw tea.conllu --html OUT", &["tea.conllu"]),
    ("draw tea.conllu --to svg -o OUT", &["tea.conllu"]),
    #[cfg(feature = "png")]
    ("draw tea.conllu --only 1 --to png -o OUT", &["tea.conllu"]),
    ("parse -q -m model.tutte tea.conllu --to draw -o OUT", &["model.tutte", "tea.conllu"]),
    ("audit tea.conllu --folds 2 -o OUT", &["tea.conllu"]),
    ("audit tea.conllu --folds 2 --html OUT", &["tea.conllu"]),
    ("audit tea.conllu --folds 2 --conllu OUT", &["tea.conllu"]),
    ("convert tea.conllu OUT --to conllu", &["tea.conllu"]),
    ("convert tea.conllu OUT --raw-text", &["tea.conllu"]),
    ("rules suggest tea.conllu --least 1 -o OUT", &["tea.conllu"]),
    ("rules suggest tea.conllu --fill draft -o OUT", &["tea.conllu", "draft"]),
];

/// Inputs and a model, the same for all tests.
static INPUTS: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outputs");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for (from, to) in [
        ("tea.conllu", "tea.conllu"),
        ("tea-system.conllu", "system.conllu"),
        ("garden.conllu", "garden.conllu"),
        ("garden-test.conllu", "test.conllu"),
    ] {
        fs::copy(examples.join(from), folder.join(to)).unwrap();
    }
    fs::write(folder.join("text.txt"), "I saw the man\nTea cools\n").unwrap();
    fs::write(folder.join("templates"), "h.upos m.upos\n").unwrap();
    fs::write(folder.join("rules"), "det: DET <- nearest NOUN  head right  90%\n").unwrap();
    fs::write(folder.join("draft"), "det: DET <- nearest NOUN  head right  ?\n").unwrap();
    let train = "train garden.conllu --with parser --preset fast --passes 1 -q -o model.tutte";
    let output = run(&folder, train);
    assert!(output.status.success(), "{}", said(&output));
    folder
});

/// Copies the inputs to a new folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("outputs-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for entry in fs::read_dir(&*INPUTS).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
    }
    folder
}

fn run(folder: &Path, command: &str) -> Output {
    let mut tutte = Command::new(env!("CARGO_BIN_EXE_tutte"));
    tutte.current_dir(folder).stdin(Stdio::null()).args(command.split_whitespace());
    tutte.output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn an_output_never_replaces_an_input() {
    let folder = folder("inputs");
    let before = names(&folder);
    for (command, inputs) in COMMANDS {
        for input in *inputs {
            let content = fs::read(folder.join(input)).unwrap();
            fs::hard_link(folder.join(input), folder.join("hard")).unwrap();
            symlink(input, folder.join("soft")).unwrap();
            for out in [*input, &format!("./{input}"), "soft", "hard"] {
                let output = run(&folder, &command.replace("OUT", out));
                let said = said(&output);
                assert_eq!(output.status.code(), Some(2), "{command}, {out}: {said}");
                let is_clear = ["would be overwritten", "is the model itself"];
                assert!(is_clear.iter().any(|clear| said.contains(clear)), "{command}: {said}");
                assert!(content == fs::read(folder.join(input)).unwrap(), "{command}, {out}");
            }
            fs::remove_file(folder.join("hard")).unwrap();
            fs::remove_file(folder.join("soft")).unwrap();
        }
    }
    assert_eq!(names(&folder), before, "nothing else is written");
}

#[test]
fn files_beside_a_model_or_named_by_sentences_are_no_inputs() {
    let folder = folder("beside");
    for input in ["new.tutte.best", "new.tutte.resume", "new.tutte.resume-text"] {
        fs::copy(folder.join("tea.conllu"), folder.join(input)).unwrap();
        let output = run(&folder, &format!("train {input} --with parser -o new.tutte"));
        assert_eq!(output.status.code(), Some(2), "{input}: {}", said(&output));
    }
    // An encoder is a folder. The program need not have networks: outputs are checked first.
    fs::create_dir(folder.join("encoder")).unwrap();
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::write(folder.join("encoder").join(name), "mine").unwrap();
        let out = format!("encoder/{name}");
        let output = run(&folder, &format!("train tea.conllu --encoder encoder -o {out}"));
        assert_eq!(output.status.code(), Some(2), "{out}: {}", said(&output));
        assert!(said(&output).contains("would be overwritten"), "{out}: {}", said(&output));
        assert_eq!(fs::read_to_string(folder.join(out)).unwrap(), "mine");
    }
    // The drawing of sentence `a` is a.txt.
    let tea = fs::read_to_string(folder.join("tea.conllu")).unwrap();
    let id = tea.lines().find_map(|line| line.strip_prefix("# sent_id = ")).unwrap();
    let input = format!("{id}.txt");
    fs::copy(folder.join("tea.conllu"), folder.join(&input)).unwrap();
    let output = run(&folder, &format!("draw {input} -o text --out-dir ."));
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert_eq!(fs::read_to_string(folder.join(&input)).unwrap(), tea);
    // Two options cannot write one file, and the file behind standard input is an input.
    let output = run(&folder, "audit tea.conllu -o new --html ./new");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let output = Command::new(env!("CARGO_BIN_EXE_tutte"))
        .current_dir(&folder)
        .args(["convert", "-", "tea.conllu"])
        .stdin(fs::File::open(folder.join("tea.conllu")).unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert_eq!(fs::read_to_string(folder.join("tea.conllu")).unwrap(), tea);
}

#[test]
fn a_run_never_replaces_its_inputs_or_its_model() {
    let folder = folder("run");
    fs::create_dir(folder.join("out")).unwrap();
    for (input, out) in [("tea.conllu", "."), ("out/tea.conllu", "out"), ("hard.conllu", ".")] {
        let _ = fs::copy(INPUTS.join("tea.conllu"), folder.join("out/tea.conllu"));
        let _ = fs::hard_link(folder.join("tea.conllu"), folder.join("hard.conllu"));
        let output = run(&folder, &format!("run -m model.tutte {input} -o {out}"));
        assert_eq!(output.status.code(), Some(2), "{input}: {}", said(&output));
    }
    fs::copy(folder.join("model.tutte"), folder.join("garden.conllu")).unwrap();
    let output = run(&folder, "run -m garden.conllu -i conllu garden.txt test.conllu -o .");
    assert_ne!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        fs::read(folder.join("garden.conllu")).unwrap()
            == fs::read(folder.join("model.tutte")).unwrap()
    );
}

/// Also with names of 247 bytes, beside a file that a killed process has left.
#[test]
fn leftovers_of_killed_runs_vanish_and_long_names_work() {
    let folder = folder("leftovers");
    let out = "n".repeat(247);
    let leftover = folder.join(".tutte-99999-0.tmp");
    let before = names(&folder);
    for (command, _) in COMMANDS {
        fs::write(&leftover, "half").unwrap();
        let output = run(&folder, &command.replace("OUT", &out));
        assert_ne!(output.status.code(), Some(2), "{command}: {}", said(&output));
        assert!(!leftover.exists(), "{command}");
        assert!(fs::metadata(folder.join(&out)).is_ok_and(|file| file.len() > 0), "{command}");
        fs::remove_file(folder.join(&out)).unwrap();
        assert_eq!(names(&folder), before, "{command}");
    }
}

/// Limits the size of files, which fails at each of many writes, one after the other.
#[test]
fn a_file_that_cannot_be_written_whole_is_not_written_at_all() {
    let folder = folder("faults");
    let before = names(&folder);
    for (command, _) in COMMANDS {
        let output = run(&folder, &command.replace("OUT", "out"));
        assert_ne!(output.status.code(), Some(2), "{command}: {}", said(&output));
        let whole = fs::read(folder.join("out")).unwrap();
        // Blocks of 512 bytes; the last limit is enough.
        let blocks = whole.len().div_ceil(512);
        let mut failures = 0;
        for limit in [0, 1, blocks / 3, blocks - 1, usize::MAX] {
            fs::write(folder.join("out"), "old").unwrap();
            let command = command.replace("OUT", "out");
            let limit =
                if limit == usize::MAX { "unlimited".to_owned() } else { limit.to_string() };
            let tutte = env!("CARGO_BIN_EXE_tutte");
            // The signal of the limit is ignored, so that writing fails instead.
            let script = format!("trap '' XFSZ; ulimit -f {limit}; exec {tutte} {command}");
            let mut shell = Command::new("sh");
            shell.current_dir(&folder).stdin(Stdio::null()).args(["-c", &script]);
            let output = shell.output().unwrap();
            let found = fs::read(folder.join("out")).unwrap();
            if output.status.code() == Some(3) {
                failures += 1;
                assert_eq!(found, b"old", "{command}, {limit} blocks");
                assert!(said(&output).contains("cannot "), "{command}: {}", said(&output));
            } else {
                assert!(found == whole, "{command}, {limit} blocks: {}", said(&output));
            }
            let mut left = names(&folder);
            left.retain(|name| !before.contains(name) && !name.starts_with("out"));
            assert_eq!(left, Vec::<String>::new(), "{command}, {limit} blocks");
        }
        assert!(failures >= 1, "{command}: no fault was seen");
        for name in names(&folder) {
            if !before.contains(&name) {
                fs::remove_file(folder.join(name)).unwrap();
            }
        }
    }
}

#[test]
fn a_full_device_or_a_missing_folder_is_an_error() {
    let folder = folder("devices");
    let before = names(&folder);
    let devices = names(Path::new("/dev"));
    for (command, _) in COMMANDS {
        for out in ["/dev/full", "missing/out", "/proc/out"] {
            let output = run(&folder, &command.replace("OUT", out));
            let said = said(&output);
            assert!(matches!(output.status.code(), Some(2 | 3)), "{command}, {out}: {said}");
            assert!(said.contains(out.trim_end_matches("/out")), "{command}, {out}: {said}");
        }
    }
    assert_eq!(names(&folder), before);
    let made: Vec<String> =
        names(Path::new("/dev")).into_iter().filter(|name| !devices.contains(name)).collect();
    assert!(!made.iter().any(|name| name.starts_with("full")), "{made:?}");
}

/// Reading /proc/self/mem fails in the middle of a file that can be opened.
#[test]
fn an_input_that_fails_is_an_error_and_leaves_the_output_alone() {
    let folder = folder("inputs-fail");
    fs::write(folder.join("out"), "old").unwrap();
    for (command, inputs) in COMMANDS {
        for input in *inputs {
            let command = command.replace(&format!(" {input}"), " /proc/self/mem");
            let output = run(&folder, &command.replace("OUT", "out"));
            let said = said(&output);
            assert!(matches!(output.status.code(), Some(2 | 3)), "{command}: {said}");
            assert!(said.contains("/proc/self/mem"), "{command}: {said}");
            assert_eq!(fs::read(folder.join("out")).unwrap(), b"old", "{command}");
        }
    }
}

#[test]
fn a_job_on_a_full_disk_keeps_what_is_whole() {
    let folder = folder("job");
    let whole = run(&folder, "run -m model.tutte tea.conllu garden.conllu -o whole");
    assert!(whole.status.success(), "{}", said(&whole));
    for limit in [0, 1, 4, 8, 16, 64] {
        let script = format!(
            "trap '' XFSZ; ulimit -f {limit}; exec {} run -m model.tutte tea.conllu garden.conllu -o part --resume",
            env!("CARGO_BIN_EXE_tutte")
        );
        let mut shell = Command::new("sh");
        let output = shell.current_dir(&folder).args(["-c", &script]).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 3)), "{}", said(&output));
        for name in ["tea.conllu", "garden.conllu"] {
            if let Ok(found) = fs::read(folder.join("part").join(name)) {
                assert!(found == fs::read(folder.join("whole").join(name)).unwrap(), "{name}");
            }
        }
    }
    let output = run(&folder, "run -m model.tutte tea.conllu garden.conllu -o part --resume");
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(names(&folder.join("part")), names(&folder.join("whole")));
    for name in names(&folder.join("whole")) {
        let read = |job: &str| fs::read(folder.join(job).join(&name)).unwrap();
        assert!(read("part") == read("whole"), "{name}");
    }
}

#[test]
fn calibrate_answers_without_changing_the_model() {
    let folder = folder("calibrate");
    let model = || fs::read(folder.join("model.tutte")).unwrap();
    let before = model();
    let output = run(&folder, "calibrate -m model.tutte test.conllu");
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("model.tutte is unchanged"), "{}", said(&output));
    assert!(before == model());

    // A reader that has gone does not keep the model from being written.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_tutte"));
    command.current_dir(&folder).args("calibrate -m model.tutte test.conllu --write".split(' '));
    let output = command.stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(before != model());

    fs::write(folder.join("model.tutte"), &before).unwrap();
    let output = run(&folder, "calibrate -m model.tutte test.conllu -o new.tutte");
    assert!(output.status.success(), "{}", said(&output));
    assert!(before == model());
    assert!(folder.join("new.tutte").exists());
}
