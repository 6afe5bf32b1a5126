//! Staged or joint labels, measured: accuracy, calibration, time to train and speed of parsing, as a
//! table in Markdown.
//!
//! ```sh
//! cargo run --release -p tutte --example staged_or_joint -- plain ud/gothic-proiel ud/turkish-imst
//! ```
//!
//! The first argument is a preset (plain, fast or default), the others are treebanks: folders below
//! `$TUTTE_DATA` with a train and a dev file. All is done by one thread, and times are those that it
//! has worked. The model that is judged is that of the last pass, with weights of 8 bits as in a file.

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tutte::{Labelling, Parser, TrainingOptions, train};
use tutte_treebank::Sentence;
use tutte_treebank::eval::calibration::{Calibration, Forecast, Probability};
use tutte_trees::TreeSet;

/// What was found.
struct Findings {
    uas: f64,
    las: f64,
    /// Calibration errors: of heads, of labels whose head is right, of both together.
    errors: [f64; 3],
    train_seconds: f64,
    words_per_second: f64,
}

#[expect(clippy::print_stdout, reason = "a table is what this program is for")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let options = match arguments.next().as_deref() {
        Some("plain") => TrainingOptions::plain(),
        Some("fast") => TrainingOptions::fast(),
        Some("default") => TrainingOptions::default(),
        _ => return Err("which preset: plain, fast or default? Then treebanks follow".into()),
    };
    let data = std::env::var_os("TUTTE_DATA").ok_or("TUTTE_DATA should say where treebanks are")?;
    println!("| treebank | labels | UAS | LAS | ECE heads | ECE labels | ECE both | s | words/s |");
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|");
    for name in arguments {
        let folder = Path::new(&data).join(&name);
        let (train, dev) = (read(&folder, "train")?, read(&folder, "dev")?);
        for labelling in [Labelling::Staged, Labelling::Joint] {
            let found = measure(&train, &dev, &TrainingOptions { labelling, ..options.clone() })?;
            let Findings { uas, las, errors: [heads, labels, both], .. } = found;
            let (seconds, speed) = (found.train_seconds, found.words_per_second);
            println!(
                "| {name} | {labelling} | {uas:.2} | {las:.2} | {heads:.4} | {labels:.4} | \
                 {both:.4} | {seconds:.0} | {speed:.0} |"
            );
        }
    }
    Ok(())
}

/// The sentences of the file of a treebank whose name has a part.
fn read(folder: &Path, part: &str) -> Result<Vec<Sentence>, Box<dyn Error>> {
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.contains(part) && name.contains(".conll")
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    files.retain(named);
    files.sort();
    let file = files.first().ok_or_else(|| format!("no {part} file in {}", folder.display()))?;
    Ok(tutte_treebank::open(file)?.collect::<Result<_, _>>()?)
}

fn measure(
    treebank: &[Sentence],
    dev: &[Sentence],
    options: &TrainingOptions,
) -> Result<Findings, Box<dyn Error>> {
    let several = |sentence: &Sentence| {
        sentence.heads().is_some_and(|heads| heads.iter().filter(|head| **head == 0).count() > 1)
    };
    let tree_set = match treebank.iter().any(several) {
        true => TreeSet::NonProjectiveMultiRoot,
        false => TreeSet::NonProjectiveSingleRoot,
    };
    let clock = Clock::start();
    let options = TrainingOptions { tree_set, bits: 22, ..options.clone() };
    let model = train(treebank, &options, |_, _| {})?.compact();
    let train_seconds = clock.seconds();

    let clock = Clock::start();
    let mut parser = Parser::new(&model);
    let parses =
        dev.iter().map(|sentence| parser.parse(sentence)).collect::<Result<Vec<_>, _>>()?;
    let parse_seconds = clock.seconds();

    let mut forecasts = [Vec::new(), Vec::new(), Vec::new()];
    for (sentence, parse) in dev.iter().zip(&parses) {
        for (at, word) in sentence.words().enumerate() {
            let head = word.head() == Some(parse.tree.heads()[at]);
            let label = model.labels.labels()[parse.labels[at]] == word.deprel();
            let (of_head, of_label) = (parse.head_probs[at], parse.label_probs[at]);
            let mut forecast = |kind: usize, probability: f64, correct| {
                // Rounding may leave a sum of probabilities a hair above 1.
                let probability = Probability::new(probability.clamp(0.0, 1.0));
                forecasts[kind].extend(probability.map(|p| Forecast { probability: p, correct }));
            };
            forecast(0, of_head, head);
            if head {
                forecast(1, of_label, label);
            }
            forecast(2, of_head * of_label, head && label);
        }
    }
    let bins = NonZeroUsize::new(10).ok_or("no bins")?;
    let words = forecasts[0].len();
    let judged = forecasts.each_ref().map(|forecasts| Calibration::new(forecasts, words, bins));
    let [Some(heads), Some(labels), Some(both)] = judged else { return Err("no words".into()) };
    Ok(Findings {
        uas: 100.0 * heads.accuracy,
        las: 100.0 * both.accuracy,
        errors: [heads, labels, both].map(|judged| judged.ece.value),
        train_seconds,
        words_per_second: words as f64 / parse_seconds,
    })
}

/// How long this thread has worked (Linux), or else how late it has become.
struct Clock {
    wall: Instant,
    thread: Option<Duration>,
}

impl Clock {
    fn start() -> Self {
        Self { wall: Instant::now(), thread: Self::thread() }
    }

    fn seconds(&self) -> f64 {
        match (self.thread, Self::thread()) {
            (Some(start), Some(now)) => now.saturating_sub(start).as_secs_f64(),
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }

    fn thread() -> Option<Duration> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }
}
