//! `tutte distil`: an accurate model answers raw text, and a small model learns from its answers.
//!
//! The answers are written to a file, which later runs use again. The rest is `tutte train --silver ANSWERS`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser};
use tutte::ModelFile;
use tutte::learn::{Coverage, Preset, Recipe, TeacherOptions, answer};
use tutte_linear::Checksum;
use tutte_treebank::{Sentence, create, open};
use tutte_trees::TreeSet;

use super::parse::probability;
use super::train::{self, PresetArg, Train};
use crate::failure::{Outcome, advise, cannot_write, usage};
use crate::files::Files;
use crate::input::{ByteCounter, InputArgs, ModelSource, Sentences, Threads};
use crate::numbers::{count, counted, hundredths};
use crate::output::output_file;
use crate::session::Session;

/// Comment of the first answer: what it depends on.
const ORIGIN: &str = "tutte_answers";

/// Start of the comment: the notation of answers. Format 1 had no number and no probabilities of tags.
const FORMAT: &str = "format 2, ";

/// Train a small model on the answers of an accurate one
///
/// TEACHER tags and parses raw text. The new model learns the probabilities of its trees, and the trees of --gold. What
/// TEACHER answers is written to MODEL.answers.conllu.zst first, and used again by the next run with the same text, so
/// that models of several sizes cost one reading.
///
/// Options after -- are those of `tutte train`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte distil --teacher large.tutte wiki.txt --gold train.conllu --dev dev.conllu -o small.tutte
  tutte distil --teacher large.tutte wiki.txt --gold train.conllu -o small.tutte -- --passes 3 --bits 22")]
pub(crate) struct Distil {
    /// Model that answers: a file, or english-large
    #[arg(long, value_name = "TEACHER")]
    teacher: PathBuf,

    /// Raw text, or sentences in any format that `tutte parse` reads
    #[arg(value_name = "TEXT", required = true)]
    files: Vec<PathBuf>,

    /// Model to write, compressed if its name ends in .gz or .zst
    #[arg(short, long, value_name = "MODEL", value_parser = output_file())]
    output: PathBuf,

    /// Treebank to learn from, too; repeatable
    #[arg(long, value_name = "TREEBANK")]
    gold: Vec<PathBuf>,

    /// Development treebank; repeatable
    #[arg(long, value_name = "DEV")]
    dev: Vec<PathBuf>,

    /// Trade-off, as of `tutte train`: default, fast, compact or plain
    #[arg(long, value_name = "PRESET", value_enum, default_value = "compact")]
    #[arg(hide_possible_values = true)]
    preset: PresetArg,

    /// File of the answers [default: MODEL.answers.conllu.zst]
    #[arg(long, value_name = "FILE", value_parser = output_file())]
    answers: Option<PathBuf>,

    /// Leave out sentences whose heads are less probable than this, in the mean
    #[arg(long, value_name = "P", default_value_t = 0.0, value_parser = probability)]
    least_confidence: f64,

    /// Read about this many words of the text [default: all]
    #[arg(long, value_name = "N")]
    words: Option<usize>,

    /// Tree set of both models [default: the teacher's for answers; for the new model as `tutte train` chooses]
    #[arg(long, value_name = "SET")]
    tree_set: Option<TreeSet>,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    input_args: InputArgs,

    /// Options of `tutte train`
    #[arg(last = true, value_name = "OPTIONS")]
    options: Vec<OsString>,
}

/// `tutte train`, as a command line of its own.
#[derive(Debug, Parser)]
#[command(name = "tutte train")]
struct Student {
    #[command(flatten)]
    train: Train,
}

pub(crate) fn run(arguments: &Distil, session: &Session) -> Result<Outcome> {
    if arguments.files.iter().any(|path| path == Path::new("-")) {
        return Err(usage("the text must be in files, so that a later run knows it again"));
    }
    // Wrong options are errors before the teacher has worked for hours.
    let student = arguments.student()?;
    let answers = arguments.answers();
    let teacher = ModelSource::named(&arguments.teacher).open()?;
    let origin = arguments.origin(&teacher)?;
    if answers.is_file() {
        check_origin(&answers, &origin)?;
        session.note(format!("answers: {}, of an earlier run", answers.display()));
    } else {
        let coverage = arguments.answer(&teacher, &origin, session)?;
        session.note(shown(&coverage, &answers));
        if coverage.answered_sentences == 0 {
            std::fs::remove_file(&answers).with_context(|| cannot_write(&answers))?;
            return Err(anyhow!("the teacher answered none of the sentences"));
        }
    }
    train::run(&student, session)
}

impl Distil {
    fn answers(&self) -> PathBuf {
        self.answers.clone().unwrap_or_else(|| {
            let mut name = self.output.as_os_str().to_owned();
            name.push(".answers.conllu.zst");
            name.into()
        })
    }

    /// Returns the files of the run, with those that the options of `tutte train` name. The answers are written and
    /// then read.
    ///
    /// # Errors
    /// If the options of `tutte train` are wrong.
    pub(super) fn files(&self) -> Result<Files> {
        let answers = self.answers();
        let student = self.student()?;
        let mut reads: Vec<PathBuf> = student.reads().collect();
        // Once only: a treebank of the same name is an input.
        if let Some(own) = reads.iter().position(|path| *path == answers) {
            reads.remove(own);
        }
        let beside = Recipe::new().with_output(&self.output).files_beside();
        let files = Files::default().reads(reads);
        Ok(files.writes("-o", [&self.output]).writes("-o", beside).writes("--answers", [answers]))
    }

    /// Returns the training of the new model.
    fn student(&self) -> Result<Train> {
        let answers = self.answers();
        let mut words: Vec<OsString> = vec!["tutte train".into()];
        if self.gold.is_empty() {
            words.push(answers.into());
        } else {
            words.extend(self.gold.iter().map(|path| path.clone().into()));
            words.extend(["--silver".into(), answers.into()]);
        }
        for path in &self.dev {
            words.extend(["--dev".into(), path.clone().into()]);
        }
        words.extend(["-o".into(), self.output.clone().into()]);
        words.extend(["--preset".into(), Preset::from(self.preset).name().into()]);
        words.extend(["-j".into(), self.threads.count().to_string().into()]);
        if let Some(tree_set) = self.tree_set {
            words.extend(["--tree-set".into(), tree_set.to_string().into()]);
        }
        words.extend(self.options.iter().cloned());
        let matches = Student::command().try_get_matches_from(words);
        let student = matches.and_then(|matches| Student::from_arg_matches(&matches));
        let mut train = student.map_err(|error| usage(first_line(&error)))?.train;
        let teacher = ModelSource::named(&self.teacher);
        let files = self.files.iter().map(PathBuf::as_path).chain(teacher.path());
        train.also_reads(files.map(Path::to_owned));
        Ok(train)
    }

    /// Returns what the answers depend on: the teacher, the text and the settings.
    fn origin(&self, teacher: &ModelFile) -> Result<String> {
        let mut text = Checksum::default();
        let mut buffer = vec![0; 1 << 16];
        for path in &self.files {
            let cannot_read = || format!("cannot read {}", path.display());
            let mut file = BufReader::new(File::open(path).with_context(cannot_read)?);
            loop {
                match file.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(read) => text.update(&buffer[..read]),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error).with_context(cannot_read),
                }
            }
        }
        let words = self.words.map_or("all".to_owned(), |words| words.to_string());
        let trees = self.tree_set.map_or("teacher".to_owned(), |set| set.to_string());
        Ok(format!(
            "{FORMAT}teacher {}, text {text}, words {words}, confidence {}, trees {trees}",
            teacher.checksum, self.least_confidence
        ))
    }

    /// Writes the answers of the teacher.
    fn answer(&self, teacher: &ModelFile, origin: &str, session: &Session) -> Result<Coverage> {
        let model = &teacher.model;
        let options = TeacherOptions::default()
            .with_tree_set(self.tree_set)
            .with_least_confidence(self.least_confidence)
            .with_threads(self.threads.count());
        let path = self.answers();
        let mut writer = create(&path)?;
        let mut progress = session.progress("sentences");
        let mut files = self.files.iter();
        let mut open: Option<Sentences<'_>> = None;
        let mut words = 0;
        let next = |sentence: &mut Sentence| -> Result<bool> {
            loop {
                if self.words.is_some_and(|most| words >= most) {
                    return Ok(false);
                }
                let Some(sentences) = &mut open else {
                    let Some(path) = files.next() else { return Ok(false) };
                    let counter = ByteCounter::default();
                    open = Some(self.input_args.open(path, model, 0, &counter, session)?);
                    continue;
                };
                if sentences.read(sentence)? {
                    words += sentence.len();
                    return Ok(true);
                }
                open = None;
            }
        };
        let mut is_first = true;
        let coverage = answer(model, &options, next, |sentence| -> Result<()> {
            progress.step();
            if std::mem::take(&mut is_first) {
                let mut first = sentence.clone();
                first.set_comment(ORIGIN, Some(origin))?;
                return writer.write(&first).with_context(|| cannot_write(&path));
            }
            writer.write(sentence).with_context(|| cannot_write(&path))
        })?;
        writer.finish().with_context(|| cannot_write(&path))?.commit()?;
        Ok(coverage)
    }
}

/// Refuses answers of another teacher, text or setting.
fn check_origin(answers: &Path, origin: &str) -> Result<()> {
    let mut sentence = Sentence::default();
    let found = if open(answers)?.read(&mut sentence)? { sentence.comment(ORIGIN) } else { None };
    if found == Some(origin) {
        return Ok(());
    }
    let shown = answers.display();
    if found.is_some_and(|found| !found.starts_with(FORMAT)) {
        let error = anyhow!("{shown} was written by another version of this program");
        let advice = format!(
            "name another file with --answers, or remove this one; to use it as it is, run `tutte train --silver {shown}`"
        );
        return Err(advise(error, advice));
    }
    let error = anyhow!("{shown} has the answers of another teacher, text or setting");
    Err(advise(error, "name another file with --answers, or remove this one"))
}

fn shown(coverage: &Coverage, answers: &Path) -> String {
    let Coverage { sentences, answered_sentences, answered_words, .. } = *coverage;
    let mut text = format!(
        "answers: {} of {} in {}, {}; mean probability of heads {} %",
        count(answered_sentences),
        counted(sentences, "sentence"),
        answers.display(),
        counted(answered_words, "word"),
        hundredths(coverage.confidence),
    );
    for (count, why) in
        [(coverage.long_sentences, "too long"), (coverage.uncertain_sentences, "too uncertain")]
    {
        if count > 0 {
            text.push_str(&format!("\nleft out: {}, {why}", counted(count, "sentence")));
        }
    }
    text
}

/// Returns the message of a wrong command line, without its usage.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    format!("{} (an option of `tutte train`)", line.trim_start_matches("error: "))
}
