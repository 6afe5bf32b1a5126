//! `tutte bench`: throughput of a model, by stage.
//!
//! Does what `tutte parse -j 1` does, with a clock between the stages, and discards the result. After a warm-up run,
//! the run with the median time is shown, so that its stages add up to it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use tutte::{BATCH_WORDS, BatchWorker, Compact, Model, Stage, Times};
use tutte_treebank::{Sentence, Writer};

use super::parse::{ParseOptions, Worker, write};
use crate::failure::{Outcome, usage};
use crate::input::{ByteCounter, InputArgs, ModelArgs, ModelSource, Threads};
use crate::report::{Align, Table, count, counted};
use crate::session::Session;

/// Measure the speed of a model, stage by stage, on one thread
///
/// Parses the files several times, as `tutte parse -j 1` does, and shows the run with the median time: microseconds
/// per token of each stage and tokens per second. Nothing is written. Use an idle machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte bench letters.txt --probs
  tutte bench -m en.tutte test.conllu
  tutte bench -m en.tutte test.conllu -n 20 --json | jq .words_per_second")]
pub(crate) struct Bench {
    #[command(flatten)]
    model_source: ModelSource,

    /// Files to parse; standard input is not possible
    #[arg(value_name = "FILES", required = true)]
    files: Vec<PathBuf>,

    /// Number of runs after a warm-up run
    #[arg(short = 'n', long, value_name = "REPEATS", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeats: u32,

    #[command(flatten)]
    options: ParseOptions,

    #[command(flatten)]
    input_args: InputArgs,
}

/// The measurements.
#[derive(Debug, Serialize)]
struct BenchReport {
    model: String,
    sentences: usize,
    words: usize,
    repeats: u32,
    /// Median time to open, check and map the model.
    load_seconds: f64,
    /// Time of the median run.
    seconds: f64,
    words_per_second: f64,
    slowest_words_per_second: f64,
    fastest_words_per_second: f64,
    arcs_per_word: Arcs,
    stages: Vec<StageTime>,
}

/// Possible and scored arcs per word.
#[derive(Debug, Serialize)]
struct Arcs {
    possible: f64,
    first_pass: f64,
    /// `None` if the model has no second pass.
    second_pass: Option<f64>,
}

/// A stage of the median run.
#[derive(Debug, Serialize)]
struct StageTime {
    stage: &'static str,
    seconds: f64,
    microseconds_per_word: f64,
    share: f64,
}

pub(crate) fn run(arguments: &Bench, session: &Session) -> Result<Outcome> {
    if arguments.files.iter().any(|file| file == Path::new("-")) {
        return Err(usage("standard input (-) cannot be read several times; name a file"));
    }
    let model = arguments.model_source.open()?.model;
    let load = || {
        let started = Instant::now();
        arguments.model_source.open().map(|_| started.elapsed())
    };
    let loads = (0..arguments.repeats).map(|_| load()).collect::<Result<_, _>>()?;
    let model_source = arguments.model_source.clone();
    let model_args = ModelArgs { model_source, tree_set: None, threads: Threads::one() };
    let jsonl = arguments.options.is_jsonl();
    let task = arguments.options.of(&model, &model_args, jsonl, session)?;
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
        return Err(anyhow::anyhow!("the files have no words to parse; name other files"));
    }
    let report = BenchReport::new(arguments, &model, size, median(loads), runs);
    if session.json() {
        session.print_report(&report)?;
    } else {
        session.print(&report.text())?;
    }
    Ok(session.end(Outcome::Good))
}

/// Size of the input.
#[derive(Clone, Copy, Default)]
struct Size {
    sentences: usize,
    words: usize,
    /// Number of possible arcs.
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
    let mut batch: Vec<Sentence> = Vec::new();
    let mut writer = Writer::new(io::sink());
    worker.clock().restart();
    for path in &arguments.files {
        let counter = ByteCounter::default();
        let mut sentences = arguments.input_args.open(path, model, 0, &counter, session)?;
        if !is_first {
            sentences = sentences.silent();
        }
        // Without batches, one sentence is parsed at a time, in the same memory.
        let words_of_batch = if worker.is_batched() { BATCH_WORDS } else { 1 };
        let mut is_end = false;
        while !is_end {
            let (mut count, mut words) = (0, 0);
            while words < words_of_batch && !is_end {
                if batch.len() == count {
                    batch.push(Sentence::default());
                }
                is_end = !sentences.read(&mut batch[count])?;
                if !is_end {
                    words += batch[count].len().max(1);
                    count += 1;
                }
            }
            worker.clock().lap(Stage::Reading);
            worker.prepare(&batch[..count]);
            for sentence in &mut batch[..count] {
                let answer = worker.answer(size.sentences, sentences.words(), sentence)?;
                write(&mut writer, sentence, answer.done)?;
                worker.clock().lap(Stage::Writing);
                size.sentences += 1;
                size.words += sentence.len();
                size.arcs += sentence.len().pow(2);
            }
        }
    }
    writer.finish()?;
    worker.clock().lap(Stage::Writing);
    Ok((size, worker.clock().restart()))
}

/// Returns the median; the lower of two middle values.
fn median<T: Ord + Copy + Default>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

impl BenchReport {
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
            StageTime {
                stage: stage.name(),
                seconds: time,
                microseconds_per_word: time * 1e6 / words,
                share: time / seconds,
            }
        };
        let second_pass = model.parser.as_ref().and_then(|parser| parser.second_pass.as_ref());
        Self {
            model: arguments.model_source.name(),
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
            ("µs per token", Align::Right),
            ("share", Align::Right),
        ]);
        let mut row = |stage: &str, microseconds: f64, share: f64| {
            let share = format!("{:.1} %", 100.0 * share);
            table.row([stage.to_owned(), format!("{microseconds:.2}"), share]);
        };
        for part in &self.stages {
            row(part.stage, part.microseconds_per_word, part.share);
        }
        row("total", self.seconds * 1e6 / self.words as f64, 1.0);
        let mut text = table.text(0);

        let rate = |rate: f64| count(rate as usize);
        let sentences = counted(self.sentences, "sentence");
        let words = counted(self.words, "token");
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
        let second = second_pass.map(|arcs| format!(", {arcs:.1} scored again"));
        text.push_str(&format!(
            "\n{} tokens per second on one thread ({runs}): {sentences}, {words}\n\
             Candidate heads per token: {possible:.1} possible, {first_pass:.1} scored{}\n\
             Model loaded in {:.1} ms\n",
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
