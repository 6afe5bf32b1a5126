//! Standard output on a full disk, into a closed pipe, and to a program that asks line by line.
#![cfg(target_os = "linux")]

use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const GOLD: &str = "tests/verbs/eval.in/gold.conllu";

const RULES: &str = "../../rules/universal-20.tut";
const MODEL: &str = "../../fuzz/seeds/model/hashed.tutte";
/// Stands for a file or folder of verbs that also write one.
const OUT: &str = "OUT";

/// Every verb that prints results.
const COMMANDS: [&[&str]; 28] = [
    &["check", GOLD],
    &["check", "--json", GOLD],
    &["stats", GOLD],
    &["stats", "--json", GOLD],
    &["convert", GOLD, "-"],
    &["draw", "-q", GOLD],
    &["draw", "-q", "--to", "text", GOLD],
    &["eval", GOLD, GOLD],
    &["diff", GOLD, "tests/verbs/eval.in/system.conllu"],
    &["parse", "-q", GOLD],
    &["parse", "-q", "-t", "Tea cools.", "--to", "draw"],
    &["run", "-q", GOLD, "-o", OUT],
    &["forest", "-q", GOLD],
    &["ask", "-q", GOLD],
    &["score", "-q", GOLD],
    &["bench", "-q", GOLD, "-n", "1"],
    &["calibrate", "-q", "-m", MODEL, GOLD],
    &["calibrate", "-q", "-m", MODEL, GOLD, "--json", "-o", OUT],
    &["info"],
    &["info", "--json"],
    &["audit", "-q", "../../examples/tea.conllu", "--folds", "2"],
    &["rules", "check", "-q", RULES, GOLD],
    &["rules", "show", "-q", RULES, GOLD, "--rule", "det"],
    &["rules", "suggest", "-q", GOLD, "--least", "1"],
    &["learn", "-q", GOLD, "--rules", RULES, "--steps", "1", "--least", "1", "-o", OUT],
    &["train", "-q", "--with", "parser", "--preset", "fast", "--passes", "1", GOLD, "-o", OUT],
    &["completions", "bash"],
    &["--help"],
];

fn run(arguments: &[&str], stdout: Stdio) -> Output {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    let out = format!("{}/streams-{number}", env!("CARGO_TARGET_TMPDIR"));
    let _ = fs::remove_dir_all(&out).or_else(|_| fs::remove_file(&out));
    let mut command = Command::new(env!("CARGO_BIN_EXE_tutte"));
    command.args(arguments.iter().map(|word| if *word == OUT { &out } else { *word }));
    command.stdout(stdout).stderr(Stdio::piped());
    command.spawn().and_then(std::process::Child::wait_with_output).unwrap()
}

#[test]
fn a_full_disk_is_an_error_that_says_so() {
    for arguments in COMMANDS {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = run(arguments, full.into());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {message}");
        assert!(message.contains("cannot write to standard output"), "{arguments:?}: {message}");
    }
}

/// `manual` prints nothing: its pages are files.
#[test]
fn manual_pages_on_a_full_disk_are_an_error() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("manual-full");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.join("tutte-parse.1")).unwrap();
    let output = run(&["manual", folder.to_str().unwrap()], Stdio::null());
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(message.contains("cannot write into") && message.contains("manual-full"), "{message}");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(run(&["manual", "-q", OUT], writer.into()).status.code(), Some(0));
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    for arguments in COMMANDS {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = run(arguments, writer.into());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{arguments:?}");
    }
}

/// The program as a coprocess: questions go to its standard input, and answers come back while it waits for more.
struct Coprocess {
    child: Child,
    /// Lines of standard output.
    lines: Receiver<String>,
}

impl Coprocess {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tutte"));
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        Self { child, lines }
    }

    fn write(&mut self, text: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Reads lines up to one that ends the answer, or fails after a minute.
    fn read_to(&mut self, is_end: impl Fn(&str) -> bool) -> String {
        let mut answer = String::new();
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(60));
            let line = line.unwrap_or_else(|_| panic!("no answer yet, only {answer:?}"));
            answer.push_str(&line);
            answer.push('\n');
            if is_end(&line) {
                return answer;
            }
        }
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
        assert!(self.lines.recv().is_err(), "nothing is left");
    }
}

#[test]
fn every_line_is_answered_before_i_send_the_next() {
    for threads in ["1", "2", "5"] {
        let parse = ["parse", "-q", "-j", threads];
        let mut lines = Coprocess::start(&[&parse[..], &["-i", "lines"]].concat());
        for number in 1..=5 {
            lines.write(&format!("Tea number {number} cools. It does.\n"));
            let answer = lines.read_to(str::is_empty);
            assert!(answer.contains(&format!("# sent_id = {number}\n")), "{answer}");
            assert!(answer.contains(&format!("\t{number}\t")), "{answer}");
        }
        lines.end();

        let mut json = Coprocess::start(&[&parse[..], &["-i", "jsonl", "--to", "jsonl"]].concat());
        for word in ["tea", "cake"] {
            json.write(&format!("{{\"tokens\": [\"My\", \"{word}\"]}}\n"));
            let answer = json.read_to(|_| true);
            assert!(answer.contains(&format!("\"form\":\"{word}\"")), "{answer}");
        }
        json.end();

        let mut words = Coprocess::start(&[&parse[..], &["-i", "horizontal"]].concat());
        for word in ["tea", "cake"] {
            words.write(&format!("My {word}\n"));
            assert!(words.read_to(str::is_empty).contains(&format!("\t{word}\t")));
        }
        words.end();

        // Recognised formats: a blank line ends a paragraph, and a sentence of a treebank.
        let mut text = Coprocess::start(&parse);
        for word in ["tea", "cake"] {
            text.write(&format!("I like\nmy {word}.\n\n"));
            assert!(text.read_to(str::is_empty).contains(&format!("\t{word}\t")));
        }
        text.end();
        let mut trees = Coprocess::start(&parse);
        for word in ["tea", "cake"] {
            trees.write(&format!("1\t{word}\t_\t_\t_\t_\t_\t_\t_\t_\n\n"));
            assert!(trees.read_to(str::is_empty).contains(&format!("\t{word}\t")));
            // Half of the next sentence does not hold back this one.
            trees.write("# a comment\n");
        }
        drop(trees.child.stdin.take());
        trees.child.wait().unwrap();
    }
}

#[test]
fn an_error_is_reported_while_i_wait_for_an_answer() {
    for threads in ["1", "3"] {
        let arguments = ["parse", "-q", "-j", threads, "-i", "conllx", "--probs"];
        let mut parse = Coprocess::start(&arguments);
        parse.write("1\ttea\t_\tN\tN\t_\t0\tROOT\t_\t_\n\n");
        let ended = std::time::Instant::now();
        while parse.child.try_wait().unwrap().is_none() {
            assert!(ended.elapsed() < Duration::from_secs(60), "it waits for more input");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(parse.child.wait().unwrap().code(), Some(2));
    }
}
