//! Benchmark of scaling: parsing time by sentence length, and training time by treebank size. For both it prints the
//! exponent e of time ≈ c·nᵉ, fitted by least squares in logarithms.
//!
//! `cargo bench -p tutte --bench scaling` needs UD English EWT in `$TUTTE_DATA`. `cargo test -p tutte --bench scaling`
//! runs a short version on `examples/`.
//!
//! Sentences of any length are made from the treebank: all words in order form one list, which is cut after every n
//! words. So every length has the same words with real neighbours. Short pieces are parts of sentences, and long ones
//! span several.
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

/// Sizes of the benchmark.
struct Plan {
    /// Sentence lengths to parse.
    lengths: &'static [usize],
    /// Length from which the exponent is fitted again, to show the fastest-growing part.
    long: usize,
    /// Number of words to parse at each length.
    words: usize,
    /// Number of runs after the first. The fastest counts, because other load only adds time.
    repeats: usize,
    /// Number of words to train the parsing models on.
    model_words: usize,
    /// Numbers of copies of a treebank to train on.
    copies: &'static [usize],
    /// Number of words in one copy.
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
    // Cargo passes --bench to benchmarks, and not to tests.
    let (plan, train_file, test_file) = if std::env::args().any(|a| a == "--bench") {
        let ewt = treebanks::root().join("ud/english-ewt");
        (BENCH, ewt.join("train.conllu"), ewt.join("test.conllu"))
    } else {
        let garden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/garden.conllu");
        (GLANCE, garden.clone(), garden)
    };
    println!("\n== tables\n");
    let learn_from = first(&train_file, plan.model_words)?;
    let row = row_of_words(&first(&test_file, plan.words)?);
    println!(
        "Parsing, one thread, µs per token by sentence length n. The {} words of the first test sentences\n\
         form one list, which is cut after every n words: short sentences are pieces of real ones, and\n\
         long ones span several. Models trained on {} words; fastest of {} runs. Last rows: exponent e\n\
         of time per token ≈ c·nᵉ.",
        row.len(),
        words_of(&learn_from),
        plan.repeats + 1
    );
    for (name, preset) in presets() {
        eprintln!("training the parsing model, preset {name}");
        let model = train(&learn_from, &preset, &mut ())?.compact();
        println!("\npreset {name}");
        print_parsing(&plan, &model, &row)?;
    }

    let copy = first(&train_file, plan.copy_words)?;
    println!(
        "\nTraining, two threads, seconds by treebank size: copies of {} sentences, {} words;\n\
         {} passes, 2^{} weights, no dev file. e: seconds ≈ c·(words)ᵉ.",
        copy.len(),
        words_of(&copy),
        TrainingOptions::default().passes,
        BITS
    );
    print_training(&plan, &copy)
}

/// Binary logarithm of the number of weights, the same for all sizes.
const BITS: u32 = 22;

fn presets() -> [(&'static str, TrainingOptions); 2] {
    [("fast", TrainingOptions::fast()), ("default", TrainingOptions::default())]
        .map(|(name, options)| (name, options.with_bits(BITS).with_threads(2)))
}

/// Returns the first sentences of a treebank, with at least this many words together.
fn first(path: &Path, words: usize) -> Result<Vec<Sentence>> {
    let mut found = Vec::new();
    let mut sum = 0;
    let missing = |error| format!("{error}; set TUTTE_DATA to your folder of treebanks");
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

/// Returns the columns FORM to FEATS of all words.
fn row_of_words(sentences: &[Sentence]) -> Vec<String> {
    let words = sentences.iter().flat_map(Sentence::words);
    words.map(|w| [w.form(), w.lemma(), w.upos(), w.xpos(), w.feats()].join("\t")).collect()
}

/// Cuts the words into sentences of `length` words, and drops the rest at the end.
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

/// Returns the times by stage of the fastest of several runs.
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
            train(&treebank, &preset, &mut ())?;
            points.push((words, started.elapsed().as_secs_f64()));
        }
        let per_pass = |(words, seconds): &(f64, f64)| seconds * 1e6 / words / preset.passes as f64;
        let seconds: String = points.iter().map(|(_, t)| format!("{t:>10.2}")).collect();
        println!("{:<28}{seconds}{:>10.2}", format!("{name}, s"), exponent(&points));
        let rates: String =
            points.iter().map(|point| format!("{:>10.1}", per_pass(point))).collect();
        println!("{:<28}{rates}", format!("{name}, µs per token, pass"));
    }
    Ok(())
}

/// Returns the exponent e of y ≈ c·xᵉ, by least squares in logarithms.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / count, y + p.1 / count));
    let covariance: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    covariance / logs.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}
