//! How time grows: parsing with the length of sentences, training with the number of them. Of both,
//! the exponent e of time ≈ c·nᵉ, by least squares in logarithms.
//!
//! `cargo bench -p tutte --bench scaling` takes some minutes and needs UD English EWT in `$TUTTE_DATA`;
//! `cargo test -p tutte --bench scaling` glances at sentences of `examples/`.
//!
//! Sentences of any length are made from those of the treebank: all their words, in order, form one
//! row, which is cut after every n words. So every length has the same words to parse, each with
//! real neighbours; but short pieces are no whole sentences, and long ones are several.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark reports")]

#[path = "../../treebank/tests/support/treebanks.rs"]
mod treebanks;

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use tutte::{Compact, Parser, ParserModel, Stage, Times, TrainingOptions, train};
use tutte_treebank::{Sentence, open};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How much is done.
struct Plan {
    lengths: &'static [usize],
    /// The exponent is also fitted from this length on, where what grows fastest shows.
    long: usize,
    /// Words to parse, of each length.
    words: usize,
    /// Runs over them, of which the fastest counts: what else the machine does only ever adds.
    repeats: usize,
    /// Words to train the models on that parse.
    model_words: usize,
    copies: &'static [usize],
    /// Words of one copy.
    copy_words: usize,
}

const BENCH: Plan = Plan {
    lengths: &[5, 10, 20, 40, 60, 80, 120, 160, 200],
    long: 40,
    words: 12_000,
    repeats: 3,
    model_words: 20_000,
    copies: &[1, 2, 4, 8, 16],
    copy_words: 2_000,
};

const GLANCE: Plan = Plan {
    lengths: &[5, 10, 20],
    long: 10,
    words: 200,
    repeats: 1,
    model_words: 200,
    copies: &[1, 2],
    copy_words: 100,
};

fn main() -> Result<()> {
    // Cargo says --bench when it is a benchmark that is wanted, nothing when it is a test.
    let (plan, train_file, test_file) = match std::env::args().any(|a| a == "--bench") {
        true => {
            let ewt = treebanks::root().join("ud/english-ewt");
            (BENCH, ewt.join("train.conllu"), ewt.join("test.conllu"))
        }
        false => {
            let garden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/garden.conllu");
            (GLANCE, garden.clone(), garden)
        }
    };
    println!("\n== tables\n");
    let learn_from = first(&train_file, plan.model_words)?;
    let row = row_of_words(&first(&test_file, plan.words)?);
    println!(
        "Parsing, one thread, µs a token by the length n of sentences. The {} words of the first sentences\n\
         to test on stand in one row, which is cut after every n: short sentences are pieces of real\n\
         ones, long ones are several. Models of {} words; fastest of {} runs. Last rows: the exponent\n\
         e of time a token ≈ c·nᵉ.",
        row.len(),
        words_of(&learn_from),
        plan.repeats + 1
    );
    for (name, preset) in presets() {
        eprintln!("training the model that parses, preset {name}");
        let model = train(&learn_from, &preset, |_, _| {})?.compact();
        println!("\npreset {name}");
        print_parsing(&plan, &model, &row)?;
    }

    let copy = first(&train_file, plan.copy_words)?;
    println!(
        "\nTraining, two threads, seconds by the size of the treebank: copies of {} sentences, {} words;\n\
         {} passes, 2^{} weights, no dev. e: seconds ≈ c·(words)ᵉ.",
        copy.len(),
        words_of(&copy),
        TrainingOptions::default().passes,
        BITS
    );
    print_training(&plan, &copy)
}

/// The binary logarithm of the number of weights, the same for all sizes.
const BITS: u32 = 22;

fn presets() -> [(&'static str, TrainingOptions); 2] {
    [("fast", TrainingOptions::fast()), ("default", TrainingOptions::default())]
        .map(|(name, options)| (name, TrainingOptions { bits: BITS, threads: 2, ..options }))
}

/// The first sentences of a treebank that together have so many words.
fn first(path: &Path, words: usize) -> Result<Vec<Sentence>> {
    let mut found = Vec::new();
    let mut sum = 0;
    let missing = |error| format!("{error}; TUTTE_DATA can name a folder of treebanks");
    for sentence in open(path).map_err(missing)? {
        let sentence = sentence?;
        sum += sentence.len();
        found.push(sentence);
        if sum >= words {
            break;
        }
    }
    Ok(found)
}

fn words_of(sentences: &[Sentence]) -> usize {
    sentences.iter().map(Sentence::len).sum()
}

/// The columns from FORM to FEATS of all words.
fn row_of_words(sentences: &[Sentence]) -> Vec<String> {
    let words = sentences.iter().flat_map(Sentence::words);
    words.map(|w| [w.form(), w.lemma(), w.upos(), w.xpos(), w.feats()].join("\t")).collect()
}

/// Sentences of `length` words, but for what is left at the end.
fn cut(row: &[String], length: usize) -> Result<Vec<Sentence>> {
    let pieces = row.chunks_exact(length).map(|piece| {
        let mut text = String::new();
        for (number, word) in (1..).zip(piece) {
            let _ = writeln!(text, "{number}\t{word}\t_\t_\t_\t_");
        }
        Ok(text.parse()?)
    });
    pieces.collect()
}

/// The fastest of several runs, stage by stage.
fn fastest(plan: &Plan, model: &ParserModel<Compact>, sentences: &[Sentence]) -> Result<Times> {
    let mut parser = Parser::new(model).timed();
    let mut best: Option<Times> = None;
    for _ in 0..=plan.repeats {
        parser.clock().restart();
        for sentence in sentences {
            parser.parse(sentence)?;
        }
        let times = parser.clock().restart();
        if best.is_none_or(|best| times.whole() < best.whole()) {
            best = Some(times);
        }
    }
    Ok(best.unwrap_or_default())
}

fn print_parsing(plan: &Plan, model: &ParserModel<Compact>, row: &[String]) -> Result<()> {
    let mut lines: Vec<(usize, Times, usize)> = Vec::new();
    for &length in plan.lengths {
        let sentences = cut(row, length)?;
        lines.push((length, fastest(plan, model, &sentences)?, words_of(&sentences)));
    }
    let happens = |stage: &Stage| lines.iter().any(|(_, times, _)| !times.of(*stage).is_zero());
    let stages: Vec<Stage> = Stage::ALL.into_iter().filter(happens).collect();
    let header: String = stages.iter().map(|stage| format!("{:>12}", stage.name())).collect();
    println!("{:>8}{:>12}{header}{:>12}", "n", "heads seen", "whole");
    let microseconds =
        |time: Duration, words: usize| time.as_secs_f64() * 1e6 / words.max(1) as f64;
    for (length, times, words) in &lines {
        let seen = times.arcs(Stage::FirstPass) as f64 / *words as f64;
        print!("{length:>8}{seen:>12.1}");
        stages.iter().for_each(|stage| print!("{:>12.2}", microseconds(times.of(*stage), *words)));
        println!("{:>12.2}", microseconds(times.whole(), *words));
    }
    for from in [0, plan.long] {
        let fit = |time: &dyn Fn(&Times) -> f64| {
            let long = lines.iter().filter(|(length, ..)| *length >= from);
            let points: Vec<(f64, f64)> = long
                .map(|(length, times, words)| (*length as f64, time(times) / *words as f64))
                .collect();
            exponent(&points)
        };
        let name = if from == 0 { "e".to_owned() } else { format!("e, ≥ {from}") };
        print!("{name:>8}{:>12.2}", fit(&|times| times.arcs(Stage::FirstPass) as f64));
        for stage in &stages {
            print!("{:>12.2}", fit(&|times| times.of(*stage).as_secs_f64()));
        }
        println!("{:>12.2}", fit(&|times| times.whole().as_secs_f64()));
    }
    Ok(())
}

fn print_training(plan: &Plan, copy: &[Sentence]) -> Result<()> {
    let header: String = plan.copies.iter().map(|n| format!("{:>10}", format!("×{n}"))).collect();
    println!("{:<28}{header}{:>10}", "", "e");
    for (name, preset) in presets() {
        let mut points = Vec::new();
        for &copies in plan.copies {
            eprintln!("training on {copies} copies, preset {name}");
            let treebank: Vec<Sentence> =
                std::iter::repeat_n(copy, copies).flatten().cloned().collect();
            let words = words_of(&treebank) as f64;
            let started = Instant::now();
            train(&treebank, &preset, |_, _| {})?;
            points.push((words, started.elapsed().as_secs_f64()));
        }
        let a_pass = |(words, seconds): &(f64, f64)| seconds * 1e6 / words / preset.passes as f64;
        let seconds: String = points.iter().map(|(_, t)| format!("{t:>10.2}")).collect();
        println!("{:<28}{seconds}{:>10.2}", format!("{name}, s"), exponent(&points));
        let rates: String = points.iter().map(|point| format!("{:>10.1}", a_pass(point))).collect();
        println!("{:<28}{rates}", format!("{name}, µs a token and pass"));
    }
    Ok(())
}

/// The exponent e of y ≈ c·xᵉ: least squares in logarithms.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / count, y + p.1 / count));
    let covariance: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    covariance / logs.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}
