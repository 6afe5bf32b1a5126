//! Compares staged with joint labels: accuracy, calibration, training time and parsing speed, as a Markdown table.
//!
//! ```sh
//! cargo run --release -p tutte --example staged_or_joint -- plain ud/gothic-proiel ud/turkish-imst
//! ```
//!
//! The first argument is a preset (plain, fast or default). The others are treebanks: folders below `$TUTTE_DATA` with a
//! train and a dev file. Everything runs on one thread, and times are its processor times. The model is that of the last
//! pass, with 8-bit weights as in a model file.

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tutte::{Labelling, Parser, TrainingOptions, train};
use tutte_treebank::Sentence;
use tutte_treebank::eval::calibration::{Calibration, Forecast, Probability};
use tutte_trees::TreeSet;

/// Measurements of one model.
struct Measurements {
    uas: f64,
    las: f64,
    /// Expected calibration errors: of heads, of labels with a correct head, of both together.
    errors: [f64; 3],
    train_seconds: f64,
    words_per_second: f64,
}

#[expect(clippy::print_stdout, reason = "the example prints a table")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let options = match arguments.next().as_deref() {
        Some("plain") => TrainingOptions::plain(),
        Some("fast") => TrainingOptions::fast(),
        Some("default") => TrainingOptions::default(),
        _ => {
            let usage = "usage: staged_or_joint plain|fast|default TREEBANKS…";
            return Err(format!("the first argument is not a preset; {usage}").into());
        }
    };
    let data = std::env::var_os("TUTTE_DATA")
        .ok_or("TUTTE_DATA is not set; set it to your folder of treebanks")?;
    println!("| treebank | labels | UAS | LAS | ECE heads | ECE labels | ECE both | s | words/s |");
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|");
    for name in arguments {
        let folder = Path::new(&data).join(&name);
        let train = read(&folder, "train")?;
        let dev = read(&folder, "dev")?;
        for labelling in [Labelling::Staged, Labelling::Joint] {
            let found = measure(&train, &dev, &options.clone().with_labelling(labelling))?;
            let Measurements { uas, las, errors: [heads, labels, both], .. } = found;
            let seconds = found.train_seconds;
            let speed = found.words_per_second;
            println!(
                "| {name} | {labelling} | {uas:.2} | {las:.2} | {heads:.4} | {labels:.4} | \
                 {both:.4} | {seconds:.0} | {speed:.0} |"
            );
        }
    }
    Ok(())
}

/// Reads the first CoNLL file of a folder whose name contains `part`.
fn read(folder: &Path, part: &str) -> Result<Vec<Sentence>, Box<dyn Error>> {
    let is_part = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.contains(part) && name.contains(".conll")
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    files.retain(is_part);
    files.sort();
    let file =
        files.first().ok_or_else(|| format!("there is no {part} file in {}", folder.display()))?;
    Ok(tutte_treebank::open(file)?.collect::<Result<_, _>>()?)
}

fn measure(
    treebank: &[Sentence],
    dev: &[Sentence],
    options: &TrainingOptions,
) -> Result<Measurements, Box<dyn Error>> {
    let has_several_roots = |sentence: &Sentence| {
        sentence.heads().is_some_and(|heads| heads.iter().filter(|head| **head == 0).count() > 1)
    };
    let tree_set = if treebank.iter().any(has_several_roots) {
        TreeSet::NonProjectiveMultiRoot
    } else {
        TreeSet::NonProjectiveSingleRoot
    };
    let clock = Clock::start();
    let options = options.clone().with_tree_set(tree_set).with_bits(22);
    let model = train(treebank, &options, &mut ())?.compact();
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
            let of_head = parse.head_probs[at];
            let of_label = parse.label_probs[at];
            let mut forecast = |kind: usize, probability: f64, correct| {
                // Rounding may leave a sum of probabilities slightly above 1.
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
    let calibrations =
        forecasts.each_ref().map(|forecasts| Calibration::new(forecasts, words, bins));
    let [Some(heads), Some(labels), Some(both)] = calibrations else {
        return Err("the dev file has no words, or no head is correct".into());
    };
    Ok(Measurements {
        uas: 100.0 * heads.accuracy,
        las: 100.0 * both.accuracy,
        errors: [heads, labels, both].map(|calibration| calibration.ece.value),
        train_seconds,
        words_per_second: words as f64 / parse_seconds,
    })
}

/// Measures the processor time of this thread on Linux, and the elapsed time elsewhere.
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
