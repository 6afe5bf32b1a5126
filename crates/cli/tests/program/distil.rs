//! `tutte distil`: answers are written once, checked and used again, and the student learns from them.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tutte::text::read_soft_tags;
use tutte_treebank::{Sentence, create, open};

use crate::output::said;

const TEXT: &str = "The tea cools. She drinks the tea. They saw a dog in the garden.\n";

/// Makes a folder with a treebank, a teacher and a text.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("distil-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let garden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/garden.conllu");
    fs::copy(garden, folder.join("garden.conllu")).unwrap();
    fs::write(folder.join("text.txt"), TEXT).unwrap();
    let teacher = ["train", "garden.conllu", "-o", "teacher.tutte", "--preset", "fast"];
    let trained = tutte(&folder, &[&teacher[..], &["--passes", "1", "--tree-set", SET]].concat());
    assert!(trained.status.success(), "{}", said(&trained));
    folder
}

const SET: &str = "nonprojective-single-root";

fn tutte(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tutte"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// `tutte distil --teacher teacher.tutte text.txt -o student.tutte …`, with few passes.
fn distil(folder: &Path, more: &[&str]) -> Output {
    let verb = ["distil", "--teacher", "teacher.tutte", "text.txt", "-o", "student.tutte"];
    tutte(folder, &[&verb[..], &["--tree-set", SET], more, &["--", "--passes", "1"]].concat())
}

fn answers(folder: &Path) -> Vec<Sentence> {
    let path = folder.join("student.tutte.answers.conllu.zst");
    open(path).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_student_learns_from_answers_that_are_written_once() {
    let folder = folder("once");
    let first = distil(&folder, &["--gold", "garden.conllu"]);
    assert!(first.status.success(), "{}", said(&first));
    assert!(said(&first).contains("answers: 3 of 3 sentences"), "{}", said(&first));
    let answers = answers(&folder);
    for sentence in &answers {
        for word in sentence.words() {
            let answer = word.misc_entry("Teacher").unwrap();
            let probabilities = answer.split(',').map(|it| it.rsplit(':').next().unwrap());
            let sum: f64 = probabilities.map(|it| it.parse::<f64>().unwrap()).sum();
            assert!((0.5..1.001).contains(&sum), "{answer}");
        }
    }
    // The teacher learnt little, so some tags are uncertain.
    let uncertain: usize = answers.iter().map(assert_tags).sum();
    assert!(uncertain > 0);
    let student = fs::read(folder.join("student.tutte")).unwrap();
    let info = tutte(&folder, &["info", "student.tutte"]);
    let info = String::from_utf8(info.stdout).unwrap();
    assert!(info.contains("likelihood + distil"), "{info}");

    // The second run needs no answers, and gives the same bytes. So does any number of threads.
    let second = distil(&folder, &["--gold", "garden.conllu", "-j", "2"]);
    assert!(said(&second).contains("of an earlier run"), "{}", said(&second));
    assert_eq!(fs::read(folder.join("student.tutte")).unwrap(), student);
    fs::remove_file(folder.join("student.tutte.answers.conllu.zst")).unwrap();
    let third = distil(&folder, &["--gold", "garden.conllu", "-j", "2"]);
    assert!(third.status.success(), "{}", said(&third));
    assert_eq!(fs::read(folder.join("student.tutte")).unwrap(), student);
}

/// Checks the probabilities of tags, and returns the number of words that have them.
fn assert_tags(sentence: &Sentence) -> usize {
    let mut uncertain = 0;
    for (word, tags) in sentence.words().zip(read_soft_tags(sentence).unwrap()) {
        let Some(entry) = word.misc_entry("TeacherTags") else { continue };
        uncertain += 1;
        let sum: f64 = tags.iter().map(|tag| tag.probability).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{entry}");
        let own = tags.iter().any(|tag| {
            [&*tag.upos, &*tag.xpos, &*tag.feats] == [word.upos(), word.xpos(), word.feats()]
        });
        assert!(own, "{entry}: {} {} {}", word.upos(), word.xpos(), word.feats());
    }
    uncertain
}

#[test]
fn answers_of_an_older_program_are_not_used() {
    let folder = folder("older");
    assert!(distil(&folder, &[]).status.success());
    let mut older = answers(&folder);
    let origin = older[0].comment("tutte_answers").unwrap().to_owned();
    let without = origin.strip_prefix("format 2, ").unwrap();
    older[0].set_comment("tutte_answers", Some(without)).unwrap();
    let mut writer = create(folder.join("student.tutte.answers.conllu.zst")).unwrap();
    older.iter().for_each(|sentence| writer.write(sentence).unwrap());
    writer.finish().unwrap().commit().unwrap();
    let output = distil(&folder, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("another version of this program"), "{}", said(&output));
    assert!(said(&output).contains("tutte train --silver"), "{}", said(&output));
}

#[test]
fn a_student_needs_no_treebank() {
    let folder = folder("alone");
    let output = distil(&folder, &[]);
    assert!(output.status.success(), "{}", said(&output));
    let parsed = tutte(&folder, &["parse", "-m", "student.tutte", "-t", "She drinks the tea."]);
    assert!(parsed.status.success(), "{}", said(&parsed));
}

#[test]
fn answers_to_another_text_are_not_used() {
    let folder = folder("other");
    assert!(distil(&folder, &[]).status.success());
    let before = fs::read(folder.join("student.tutte")).unwrap();
    fs::write(folder.join("text.txt"), "Tea cools.\n").unwrap();
    let output = distil(&folder, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("another teacher, text or setting"), "{}", said(&output));
    assert!(said(&output).contains("hint: name another file with --answers"), "{}", said(&output));
    assert_eq!(fs::read(folder.join("student.tutte")).unwrap(), before);
}

#[test]
fn sentences_can_be_left_out() {
    let folder = folder("out");
    let output = distil(&folder, &["--words", "5", "--gold", "garden.conllu"]);
    assert!(said(&output).contains("2 of 2 sentences"), "{}", said(&output));
    let none = distil(&folder, &["--least-confidence", "1", "--answers", "none.conllu"]);
    assert_eq!(none.status.code(), Some(3), "{}", said(&none));
    assert!(said(&none).contains("left out: 3 sentences, too uncertain"), "{}", said(&none));
    assert!(said(&none).contains("the teacher answered none of the sentences"), "{}", said(&none));
    assert!(!folder.join("none.conllu").exists());
}

#[test]
fn mistakes_are_found_before_the_teacher_works() {
    let folder = folder("mistakes");
    let verb = ["distil", "--teacher", "teacher.tutte", "text.txt", "-o", "student.tutte"];
    let with = |more: &[&str]| tutte(&folder, &[&verb[..], more].concat());
    for (more, code, message) in [
        (&["--", "--bogus"][..], 2, "--bogus"),
        (&["--answers", "text.txt"], 2, "text.txt"),
        (&["--answers", "teacher.tutte"], 2, "teacher.tutte"),
        (&["-"], 2, "the text must be in files"),
    ] {
        let output = with(more);
        assert_eq!(output.status.code(), Some(code), "{more:?}: {}", said(&output));
        assert!(said(&output).contains(message), "{more:?}: {}", said(&output));
    }
    assert_eq!(fs::read_to_string(folder.join("text.txt")).unwrap(), TEXT);
    assert!(!folder.join("student.tutte.answers.conllu.zst").exists());
}

/// The model and the answers are files that `distil` writes. The files of options after -- are inputs, too.
#[test]
fn what_i_name_anywhere_on_the_line_is_not_overwritten() {
    let folder = folder("guard");
    for name in ["dev.conllu", "more.conllu", "silver.conllu"] {
        fs::copy(folder.join("garden.conllu"), folder.join(name)).unwrap();
    }
    fs::write(folder.join("templates"), "h.upos m.upos\n").unwrap();
    let line = "distil --teacher teacher.tutte text.txt --gold garden.conllu --preset plain -o OUT -- --passes 1 \
                --dev dev.conllu --silver silver.conllu --templates templates more.conllu";
    let inputs = [
        "teacher.tutte",
        "text.txt",
        "garden.conllu",
        "dev.conllu",
        "silver.conllu",
        "templates",
        "more.conllu",
    ];
    for input in inputs {
        let content = fs::read(folder.join(input)).unwrap();
        fs::hard_link(folder.join(input), folder.join("hard")).unwrap();
        std::os::unix::fs::symlink(input, folder.join("soft")).unwrap();
        for out in [input, "hard", "soft"] {
            for outputs in [out.to_owned(), format!("new.tutte --answers {out}")] {
                let line = line.replace("OUT", &outputs);
                let output = tutte(&folder, &line.split_whitespace().collect::<Vec<_>>());
                assert_eq!(output.status.code(), Some(2), "{line}: {}", said(&output));
                assert!(said(&output).contains("would be overwritten"), "{}", said(&output));
                assert!(content == fs::read(folder.join(input)).unwrap(), "{line}");
            }
        }
        fs::remove_file(folder.join("hard")).unwrap();
        fs::remove_file(folder.join("soft")).unwrap();
    }
}

#[test]
fn a_full_device_or_a_missing_folder_is_an_error() {
    let folder = folder("full");
    for out in ["/dev/full", "missing/out", "/proc/out"] {
        for outputs in [vec!["-o", out], vec!["-o", "new.tutte", "--answers", out]] {
            let verb = ["distil", "--teacher", "teacher.tutte", "text.txt", "--preset", "plain"];
            let output = tutte(&folder, &[&verb[..], &outputs, &["--", "--passes", "1"]].concat());
            assert!(matches!(output.status.code(), Some(2 | 3)), "{outputs:?}: {}", said(&output));
            assert!(!folder.join("new.tutte").exists(), "{outputs:?}");
        }
    }
}

/// Ctrl-C while the teacher answers.
#[test]
fn ctrl_c_leaves_my_model_and_nothing_half_written() {
    let folder = folder("interrupt");
    fs::write(folder.join("text.txt"), TEXT.repeat(20_000)).unwrap();
    fs::write(folder.join("student.tutte"), "mine").unwrap();
    let names = || {
        let names = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let before = names();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tutte"));
    let verb = ["distil", "--teacher", "teacher.tutte", "text.txt", "-o", "student.tutte"];
    command.current_dir(&folder).args(verb).stdin(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let is_at_work = || names().iter().any(|name| name.ends_with(".tmp"));
    let started = std::time::Instant::now();
    while !is_at_work() {
        assert!(started.elapsed().as_secs() < 60, "no temporary file: {:?}", names());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert_eq!(names(), before);
    assert_eq!(fs::read_to_string(folder.join("student.tutte")).unwrap(), "mine");
}
