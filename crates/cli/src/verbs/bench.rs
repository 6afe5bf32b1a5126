//! `tutte bench`: how fast a model parses, and where the time goes.
//!
//! What `tutte parse -j 1` does, file by file, with a clock between the stages and the result
//! thrown away. After a run to warm up, the run whose time is the median is shown, so that its stages
//! add up to it.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use tutte::{Compact, Model, Stage, Times};
use tutte_treebank::{Sentence, Writer};

use super::parse::{ParseOptions, Worker, write};
use crate::failure::{Outcome, usage};
use crate::input::{ByteCounter, InputArgs, ModelArgs, ModelSource, Threads};
use crate::report::{Align, Table, count, counted};
use crate::session::Session;

/// Time a model by stage, on one thread
///
/// Parses the files again and again, as `tutte parse -j 1` does, and shows the run of median time:
/// microseconds a token of every stage, tokens a second of the whole, and how many arcs were looked
/// at. Reading raw text is finding its sentences and words too. Results are thrown away. Use an idle machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte bench letters.txt --probs
  tutte bench -m en.tutte test.conllu
  tutte bench -m en.tutte test.conllu -n 20 --json | jq .words_per_second")]
pub(crate) struct Bench {
    #[command(flatten)]
    which: ModelSource,

    /// The files to parse; standard input cannot be read twice, so it is none
    #[arg(value_name = "FILES", required = true)]
    files: Vec<PathBuf>,

    /// How often to parse them, after a run to warm up
    #[arg(short = 'n', long, value_name = "REPEATS", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeats: u32,

    #[command(flatten)]
    answering: ParseOptions,

    #[command(flatten)]
    intake: InputArgs,
}

/// What was measured.
#[derive(Debug, Serialize)]
struct Report {
    model: String,
    sentences: usize,
    words: usize,
    repeats: u32,
    /// Opening, checking and mapping the model, in the median.
    load_seconds: f64,
    /// Of the median run.
    seconds: f64,
    words_per_second: f64,
    slowest_words_per_second: f64,
    fastest_words_per_second: f64,
    arcs_per_word: Arcs,
    stages: Vec<Part>,
}

/// Arcs of a word that are possible, and those looked at.
#[derive(Debug, Serialize)]
struct Arcs {
    possible: f64,
    first_pass: f64,
    /// If there is a second.
    second_pass: Option<f64>,
}

/// A stage of the median run.
#[derive(Debug, Serialize)]
struct Part {
    stage: &'static str,
    seconds: f64,
    microseconds_per_word: f64,
    share: f64,
}

pub(crate) fn run(arguments: &Bench, session: &Session) -> Result<Outcome> {
    if arguments.files.iter().any(|file| file == Path::new("-")) {
        return Err(usage("standard input (-) can be read only once; name files to parse again"));
    }
    let model = arguments.which.open()?.model;
    let load = || {
        let started = Instant::now();
        arguments.which.open().map(|_| started.elapsed())
    };
    let loads = (0..arguments.repeats).map(|_| load()).collect::<Result<_, _>>()?;
    let (which, threads) = (arguments.which.clone(), Threads::one());
    let using = ModelArgs { which, tree_set: None, threads };
    let jsonl = arguments.answering.is_jsonl();
    let task = arguments.answering.of(&model, &using, jsonl, session)?;
    let mut worker = task.worker().timed();
    let (size, _) = parse_all(arguments, session, &model, &mut worker, true)?;
    let status = session.status();
    let mut runs = Vec::new();
    for number in 1..=arguments.repeats {
        status.show(|| format!("run {number} of {}", arguments.repeats));
        let (_, times) = parse_all(arguments, session, &model, &mut worker, false)?;
        runs.push(times);
    }
    drop(status);
    if size.words == 0 {
        return Err(anyhow::anyhow!("there are no words to parse"));
    }
    let report = Report::new(arguments, &model, size, median(loads), runs);
    if session.json() {
        session.print_report(&report)?;
    } else {
        session.stdout().write_all(report.text().as_bytes())?;
    }
    Ok(session.end(Outcome::Good))
}

/// What was parsed.
#[derive(Clone, Copy, Default)]
struct Size {
    sentences: usize,
    words: usize,
    /// Arcs that are possible.
    arcs: usize,
}

/// Parses everything once. Warnings of skipped sentences are printed in the first run only.
fn parse_all(
    arguments: &Bench,
    session: &Session,
    model: &Model<Compact>,
    worker: &mut Worker<'_>,
    is_first: bool,
) -> Result<(Size, Times)> {
    let mut size = Size::default();
    let mut sentence = Sentence::default();
    let mut writer = Writer::new(io::sink());
    worker.clock().restart();
    for path in &arguments.files {
        let counter = ByteCounter::default();
        let mut sentences = arguments.intake.open(path, model, 0, &counter, session)?;
        if !is_first {
            sentences = sentences.silent();
        }
        while sentences.read(&mut sentence)? {
            worker.clock().lap(Stage::Reading);
            let answer = worker.answer(size.sentences, &mut sentence)?;
            write(&mut writer, &sentence, answer.done)?;
            worker.clock().lap(Stage::Writing);
            size.sentences += 1;
            size.words += sentence.len();
            size.arcs += sentence.len().pow(2);
        }
    }
    writer.finish()?;
    worker.clock().lap(Stage::Writing);
    Ok((size, worker.clock().restart()))
}

/// The one in the middle, the lower one of two.
fn median<T: Ord + Copy + Default>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

impl Report {
    fn new(
        arguments: &Bench,
        model: &Model<Compact>,
        size: Size,
        load: Duration,
        runs: Vec<Times>,
    ) -> Self {
        let words = size.words as f64;
        let wholes: Vec<Duration> = runs.iter().map(Times::whole).collect();
        let middle = median(wholes.clone());
        let times = runs.into_iter().find(|times| times.whole() == middle).unwrap_or_default();
        let seconds = middle.as_secs_f64();
        let rate = |time: Option<&Duration>| words / time.map_or(seconds, Duration::as_secs_f64);
        let a_word = |stage| times.arcs(stage) as f64 / words;
        let part = |stage: Stage| {
            let time = times.of(stage).as_secs_f64();
            Part {
                stage: stage.name(),
                seconds: time,
                microseconds_per_word: time * 1e6 / words,
                share: time / seconds,
            }
        };
        let second_pass = model.parser.as_ref().and_then(|parser| parser.second_pass.as_ref());
        Self {
            model: arguments.which.name(),
            sentences: size.sentences,
            words: size.words,
            repeats: arguments.repeats,
            load_seconds: load.as_secs_f64(),
            seconds,
            words_per_second: words / seconds,
            slowest_words_per_second: rate(wholes.iter().max()),
            fastest_words_per_second: rate(wholes.iter().min()),
            arcs_per_word: Arcs {
                possible: size.arcs as f64 / words,
                first_pass: a_word(Stage::FirstPass),
                second_pass: second_pass.map(|_| a_word(Stage::SecondPass)),
            },
            stages: Stage::ALL
                .into_iter()
                .filter(|stage| !times.of(*stage).is_zero())
                .map(part)
                .collect(),
        }
    }

    fn text(&self) -> String {
        let mut table = Table::new([
            ("stage", Align::Left),
            ("µs a token", Align::Right),
            ("share", Align::Right),
        ]);
        let mut row = |stage: &str, microseconds: f64, share: f64| {
            let share = format!("{:.1} %", 100.0 * share);
            table.row([stage.to_owned(), format!("{microseconds:.2}"), share]);
        };
        for part in &self.stages {
            row(part.stage, part.microseconds_per_word, part.share);
        }
        row("whole", self.seconds * 1e6 / self.words as f64, 1.0);
        let mut text = table.text(0);

        let rate = |rate: f64| count(rate as usize);
        let (sentences, words) =
            (counted(self.sentences, "sentence"), counted(self.words, "token"));
        let runs = match self.repeats {
            1 => "one run".to_owned(),
            runs => format!(
                "the median of {} runs, from {} to {}",
                count(runs as usize),
                rate(self.slowest_words_per_second),
                rate(self.fastest_words_per_second)
            ),
        };
        let Arcs { possible, first_pass, second_pass } = self.arcs_per_word;
        let second = second_pass.map(|arcs| format!(", {arcs:.1} looked at again"));
        text.push_str(&format!(
            "\n{} tokens a second on one thread ({runs}): {sentences}, {words}\n\
             Heads a token: {possible:.1} possible, {first_pass:.1} looked at{}\n\
             The model was loaded in {:.1} ms\n",
            rate(self.words_per_second),
            second.unwrap_or_default(),
            1e3 * self.load_seconds,
        ));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_one_of_the_values() {
        assert_eq!(median(vec![5]), 5);
        assert_eq!(median(vec![9, 1]), 1);
        assert_eq!(median(vec![7, 3, 5]), 5);
        assert_eq!(median::<u32>(Vec::new()), 0);
    }
}
