//! The first ten minutes with the program: any text, wrong files, pipes, threads, Ctrl-C.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::output::{said, sentences};
use tutte_treebank::Sentence;

fn tutte() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tutte"));
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("first-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs the program with something on standard input.
fn piped(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = tutte();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // The program may stop reading early.
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().unwrap()
    })
}

const TEXTS: [&str; 12] = [
    "The family 👨‍👩‍👧‍👦 waved 🇩🇪🇯🇵 flags. Thumbs up 👍🏽!",
    "Cafe\u{301} nai\u{308}ve Z\u{323}\u{307}. \u{301}odd",
    "السلام عليكم يا صديقي. כלב גדול רץ בבית.\n",
    "我今天去了北京。他喜欢喝茶吗？東京に行きました。ภาษาไทย\n",
    "See https://example.org/a?b=c&d=e#f or mail me@example.org.\n",
    "NUL \0 in the \0\0middle.\0\n",
    "One.\r\nTwo lines\r\n\r\nAnd a paragraph.\r\n",
    "  Spaces \t before,\u{a0}between  and\u{3000}after. \n\n\n Yes.\t",
    "…",
    "#hash is no comment.\n1\tis no id\n",
    "a|b=c \\s \\n SpaceAfter=No _ _ _\n",
    "Zero\u{200b}width\u{200d}joined\u{ad}soft.\u{2028}Separator.",
];

#[test]
fn any_text_comes_back_from_its_trees_with_any_number_of_threads() {
    let together = TEXTS.join("\n\n");
    for text in TEXTS.into_iter().chain([together.as_str()]) {
        let parse = |threads| {
            piped(&["parse", "-q", "--probs", "-i", "text", "-j", threads, "-"], text.as_bytes())
        };
        let (one, two) = (parse("1"), parse("2"));
        assert!(one.stdout == two.stdout, "{text:?}");
        for sentence in sentences(&one) {
            assert!(sentence.tree().is_ok(), "{text:?}");
        }
        let back = piped(&["convert", "-q", "-", "-", "--raw-text"], &one.stdout);
        let text = text.replace('\0', "\u{fffd}");
        assert_eq!(String::from_utf8_lossy(&back.stdout), text, "{}", said(&back));
    }
}

#[test]
fn nothing_in_nothing_out() {
    for nothing in ["", " \n\t\n", "\n\n\n", "\u{feff}"] {
        let file = folder("nothing").join("nothing.txt");
        fs::write(&file, nothing).unwrap();
        let file = file.to_str().unwrap();
        for (arguments, input) in
            [(&["parse"][..], nothing), (&["parse", file], ""), (&["parse", "-t", nothing], "")]
        {
            let output = piped(arguments, input.as_bytes());
            assert!(output.status.success(), "{nothing:?}: {}", said(&output));
            assert!(output.stdout.is_empty(), "{nothing:?}");
            assert!(said(&output).contains("there are no sentences"), "{}", said(&output));
            let quiet = piped(&[arguments, &["-q"]].concat(), input.as_bytes());
            assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty(), "{nothing:?}");
        }
    }
}

/// Text of people that looks like a format of programs.
#[test]
fn my_text_is_text_typed_piped_or_in_a_file() {
    let file = folder("text").join("text.md");
    for (text, first) in [
        ("100 people have died in the war since last May.", "100"),
        ("#MeToo is trending today.", "#"),
        ("# Heading", "#"),
        ("# Heading\n\nSome *text* under it.\n", "#"),
        ("# text messages are short.", "#"),
        ("[\"Tea\", \"cools\"]", "["),
        ("{\"title\": \"Tea\"}", "{"),
        ("- one\n- two\n", "-"),
        ("1\tI saw him.\n2\tHe ran.\n", "1"),
        ("name\tage\ttown\tnote\nAnn\t30\tOslo\tno\n", "name"),
    ] {
        fs::write(&file, text).unwrap();
        let typed = tutte().args(["parse", "-q", "-t", text]).output().unwrap();
        let from_file = tutte().args(["parse", "-q"]).arg(&file).output().unwrap();
        let from_pipe = piped(&["parse", "-q"], text.as_bytes());
        for output in [&typed, &from_file, &from_pipe] {
            assert!(output.status.success(), "{text:?}: {}", said(output));
            let found = sentences(output);
            let form = found[0].word(1).unwrap().form().to_owned();
            assert!(form.starts_with(first), "{text:?}: {form}");
            assert!(found.iter().all(|sentence| sentence.tree().is_ok()), "{text:?}");
        }
        assert!(typed.stdout == from_pipe.stdout && typed.stdout == from_file.stdout, "{text:?}");
    }
}

#[test]
fn what_looks_like_a_format_but_is_read_as_text_has_a_note_with_the_option() {
    for (text, option) in [
        ("1\tTea\ttea\tNOUN\n", "-i conllu"),
        ("Tea\ttea\tNOUN\tNN\n", "-i vertical"),
        ("[{\"text\": \"Tea.\"}]\n", "-i jsonl"),
        ("{\"title\": \"Tea.\"}\n", "-i jsonl"),
    ] {
        let output = piped(&["parse"], text.as_bytes());
        assert!(output.status.success(), "{text:?}");
        let said = said(&output);
        assert!(said.contains("note: <stdin> ") && said.contains(option), "{text:?}: {said}");
    }
    // -i decides, for typed text too.
    let typed = tutte().args(["parse", "-q", "-i", "lines", "-t", "One. Two.\nThree."]).output();
    assert_eq!(sentences(&typed.unwrap()).len(), 2);
}

#[test]
fn what_convert_calls_conllu_is_conllu() {
    let folder = folder("named");
    let old = "1\tLys\t_\tN\tNC\t_\t2\tsubj\t_\t_\n2\tslukkes\t_\tV\tVA\t_\t0\tROOT\t_\t_\n\n";
    fs::write(folder.join("old.conll"), old).unwrap();
    let run = |arguments: &[&str]| {
        let output = tutte().args(arguments).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        output
    };
    run(&["convert", "-q", "old.conll", "new.conllu", "--to", "conllu"]);
    let parsed = run(&["parse", "-q", "--probs", "new.conllu"]);
    assert!(String::from_utf8_lossy(&parsed.stdout).contains("HeadProb="));
}

#[test]
fn a_nul_byte_never_becomes_part_of_a_word() {
    let output = piped(&["parse", "-q"], b"The tea\0 is \0 hot.\n");
    assert!(output.status.success());
    assert!(!output.stdout.contains(&0));
    assert!(String::from_utf8_lossy(&output.stdout).contains('\u{fffd}'));
    let output = piped(&["parse", "-q", "-i", "jsonl"], b"{\"tokens\": [\"a\\u0000b\", \"c\"]}\n");
    assert!(output.status.success() && !output.stdout.contains(&0), "{}", said(&output));
    let treebank = b"1\tte\0a\t_\t_\t_\t_\t_\t_\t_\t_\n\n";
    for (arguments, input) in [
        (&["parse", "-q"][..], &treebank[..]),
        (&["parse", "-q", "-i", "horizontal"], b"te\0a\n"),
        (&["parse", "-q", "-i", "vertical"], b"\nte\0a\n"),
        (&["check"], &treebank[..]),
    ] {
        let output = piped(arguments, input);
        assert_ne!(output.status.code(), Some(0), "{arguments:?}");
        let words = [said(&output), String::from_utf8_lossy(&output.stdout).into_owned()].concat();
        assert!(words.contains("a NUL byte (byte"), "{arguments:?}: {words}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_reported_and_no_partial_sentence_is_written() {
    let text = b"Good day.\n\nI like tea. A caf\xe9 please.\n\nYes.\n";
    let output = piped(&["parse"], text);
    assert_eq!(output.status.code(), Some(3));
    let place = "<stdin>:3: byte 0xE9 is not UTF-8 (byte 17 of the line, byte 28 of the input";
    assert!(said(&output).contains(place), "{}", said(&output));
    assert!(said(&output).contains("--encoding latin1"), "{}", said(&output));
    let written = String::from_utf8(output.stdout).unwrap();
    assert!(written.contains("# text = Good day.\n") && !written.contains("tea"), "{written}");

    let folder = folder("utf8");
    let out = folder.join("out.conllu");
    let output = piped(&["parse", "-q", "-", "-o", out.to_str().unwrap()], text);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "no file, and none on the way");
    let output = piped(&["parse", "-q", "--encoding", "latin1"], text);
    assert!(String::from_utf8(output.stdout).unwrap().contains("# text = A café please."));
}

/// Memory does not grow with the line: 400 MB of address space is enough.
#[cfg(target_os = "linux")]
#[test]
fn a_line_of_ten_megabytes_ends_and_needs_little_memory() {
    let letters = vec![b'a'; 10_000_000];
    let words = b"the cat sat on the mat and saw a dog ".repeat(4000);
    for (text, least) in [(&letters, 70), (&words, 40)] {
        let path = folder(&format!("line-{least}")).join("line.txt");
        fs::write(&path, text).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", r#"ulimit -v 400000; exec "$0" parse -q -j 1 "$1""#]);
        let output = command.arg(env!("CARGO_BIN_EXE_tutte")).arg(&path).output().unwrap();
        let found = sentences(&output);
        assert!(found.len() >= least, "{}", found.len());
        let length: usize =
            found.iter().flat_map(Sentence::words).map(|word| word.form().len()).sum();
        let expected = text.iter().filter(|byte| **byte != b' ').count();
        assert_eq!(length, expected);
    }
}

#[test]
fn help_needs_nothing() {
    let help = tutte().arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let verbs = help.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
    let verbs: Vec<&str> = verbs
        .map(|(verb, _)| verb)
        .filter(|verb| !verb.is_empty() && verb.bytes().all(|b| b.is_ascii_lowercase()))
        .collect();
    assert!(verbs.len() >= 20, "{verbs:?}");
    for verb in verbs {
        for flag in ["-h", "--help"] {
            let output = piped(&[verb, flag], b"");
            assert!(output.status.success() && output.stderr.is_empty(), "{verb} {flag}");
            assert!(String::from_utf8(output.stdout).unwrap().contains("Usage: "), "{verb}");
        }
    }
    // Help does not open the model.
    let output = piped(&["parse", "-m", "gone.tutte", "--help"], b"");
    assert!(output.status.success());
}

#[test]
fn a_model_of_a_newer_version_says_so() {
    let packed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/en.tutte.gz");
    let mut model = Vec::new();
    let mut unpacked = flate2::read::GzDecoder::new(fs::File::open(packed).unwrap());
    unpacked.read_to_end(&mut model).unwrap();
    let field = br#"\"format\":"#;
    let at = model.windows(field.len()).position(|bytes| bytes == field).unwrap() + field.len();
    assert!(model[at].is_ascii_digit() && !model[at + 1].is_ascii_digit());
    model[at] = b'9';
    let path = folder("newer").join("newer.tutte");
    fs::write(&path, model).unwrap();
    let output = piped(&["parse", "-m", path.to_str().unwrap()], b"Tea.");
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).contains("format 9"), "{}", said(&output));
    assert!(said(&output).contains("update, or train again"), "{}", said(&output));
}

#[test]
fn models_inside_have_names() {
    let by_name = piped(&["parse", "-q", "-m", "english"], b"Tea cools.");
    assert!(by_name.status.success(), "{}", said(&by_name));
    assert_eq!(by_name.stdout, piped(&["parse", "-q"], b"Tea cools.").stdout);

    // A file of this name in the current folder comes first.
    let folder = folder("names");
    fs::write(folder.join("english"), "not a model").unwrap();
    let mut command = tutte();
    let output = command.current_dir(&folder).args(["info", "-m", "english"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("english"), "{}", said(&output));

    // The large one is there, or the error says how to get it.
    let output = piped(&["info", "-m", "english-large"], b"");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/en-large.tutte.gz");
    if cfg!(feature = "neural") && Path::new(file).exists() {
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(shown.contains("the large English model inside tutte"), "{shown}");
    } else {
        assert_eq!(output.status.code(), Some(3), "{}", said(&output));
        let cure =
            if cfg!(feature = "neural") { "make-english-model" } else { "--features neural" };
        assert!(said(&output).contains("english-large"), "{}", said(&output));
        assert!(said(&output).contains(cure), "{}", said(&output));
    }
}

#[test]
fn colours_are_for_terminals_and_quiet_is_quiet() {
    let bad = b"caf\xe9";
    let has_escapes =
        |output: &Output| output.stderr.contains(&0x1b) || output.stdout.contains(&0x1b);
    assert!(!has_escapes(&piped(&["parse"], bad)));
    let coloured = |key: &str| {
        let mut command = tutte();
        command.env("CLICOLOR_FORCE", "1").env(key, "1");
        command.args(["parse", "-m", "gone.tutte", "-t", "Tea."]).output().unwrap()
    };
    assert!(has_escapes(&coloured("CLICOLOR_FORCE")));
    assert!(!has_escapes(&coloured("NO_COLOR")));
    let output = piped(&["parse", "-q"], b"Tea cools.");
    assert!(output.status.success() && output.stderr.is_empty());
    // Errors are printed even with -q.
    assert!(!piped(&["parse", "-q"], bad).stderr.is_empty());
}

/// A reader that closes the pipe after the first lines ends the parsing of endless text.
#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_parsing() {
    let script = r#"yes "Tea cools." | "$0" parse -q - -j 2 | head -n 1"#;
    let mut command = Command::new("sh");
    let output = command.args(["-c", script, env!("CARGO_BIN_EXE_tutte")]).output().unwrap();
    assert_eq!((output.stdout, output.stderr), (b"# newdoc\n".to_vec(), Vec::new()));
}

/// An interrupted run leaves neither an output nor a temporary file.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_nothing() {
    use std::time::{Duration, Instant};
    let folder = folder("interrupted");
    let mut command = tutte();
    command.current_dir(&folder).args(["parse", "-q", "-", "-o", "out.conllu"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while fs::read_dir(&folder).unwrap().count() == 0 {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing is written");
        std::thread::sleep(Duration::from_millis(1));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}
