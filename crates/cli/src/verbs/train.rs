//! `tutte train`: a treebank in, a model out.
//!
//! Training runs in a thread of its own and tells of every pass; this thread keeps the file of the
//! best one, so that whatever ends the work, Ctrl-C, `--time` or a kill, leaves the best model so
//! far, and beside it a checkpoint that `--resume` goes on from.

mod checkpoint;
pub(crate) mod command;
mod ending;
mod features;
mod learning;
mod material;
mod plan;
mod preset;
mod progress;
mod scores;
mod shelf;
mod summary;
mod table;
mod text;
mod watching;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use tutte::{About, Labelling, Optimizer, TrainingOptions};
use tutte_trees::TreeSet;

use self::ending::{WithoutParser, dev_table};
pub(crate) use self::features::templates;
use self::material::Material;
pub(crate) use self::material::{choose, trees};
pub(crate) use self::plan::clock;
pub(crate) use self::preset::{Preset, label_bits};
use self::preset::{second_pass, settings};
use self::progress::{Ending, Run};
pub(crate) use self::scores::Scores;
pub(crate) use self::summary::megabytes;
use self::summary::{Summary, next_step};
use self::text::{Parts, Sizes, Study};
use super::calibrate;
use crate::failure::{Outcome, usage};
use crate::input::TreebankArgs;
use crate::input::{Seed, Threads};
use crate::interrupt::Interrupt;
use crate::session::Session;

/// Train a parser, with tokenizer and tagger, on a treebank
///
/// With --dev, the best pass on DEV is kept, and probabilities are calibrated on DEV. Ctrl-C stops training and keeps
/// the best model so far; the same command with --resume continues. The same files, options and seed give the same
/// model.
///
/// Trees may be partial: heads that are _ are treated as unknown (with adagrad, sgd and lbfgs; other learners need
/// whole trees).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte train train.conllu --dev dev.conllu -o en.tutte
  tutte train *-train.conllu -o en.tutte --time 5m --language en --licence 'CC BY-SA 4.0'")]
pub(crate) struct Train {
    /// Training treebank; - is standard input
    #[arg(value_name = "TRAIN", required = true)]
    files: Vec<PathBuf>,

    /// Model to write, compressed if its name ends in .gz or .zst
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,

    /// Development treebank; repeatable [default: the file beside TRAIN with dev for train in its name, if it exists]
    #[arg(long, value_name = "DEV")]
    dev: Vec<PathBuf>,

    /// Train without a development treebank, even if that file exists
    #[arg(long, conflicts_with = "dev")]
    no_dev: bool,

    #[command(flatten)]
    parts: Parts,

    /// Trade-off: default, fast (faster, less accurate), compact (fast, with a smaller model) or plain (one parsing
    /// pass over all arcs, as in the papers)
    #[arg(long, value_name = "PRESET", value_enum, hide_possible_values = true)]
    preset: Option<Preset>,

    /// Learner: adagrad, sgd, lbfgs, eg-max-margin, eg-log-linear, perceptron, pa, pa-i, pa-ii or mira; parameters
    /// follow a colon: mira:k=5,c=0.1 [default: adagrad]
    #[arg(long, value_name = "LEARNER", default_value_t = Optimizer::default())]
    #[arg(hide_default_value = true)]
    learner: Optimizer,

    /// Labels: joint (with the arcs, more accurate), staged (after the arcs, faster) or none (DEPREL is _) [default:
    /// joint; staged with --preset plain and with --clusters]
    #[arg(long, value_name = "HOW")]
    labels: Option<Labelling>,

    /// Prune improbable arcs with a small model first: on or off [default: on; off with --preset fast and plain]
    #[arg(long, value_name = "on|off", value_enum, hide_possible_values = true)]
    pruning: Option<Switch>,

    /// Number of passes over the treebank [default: 8; 4 with --preset fast; with jackknifed tags 5 and 3]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    passes: Option<u32>,

    /// Stop after this long: 90s, 5m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,

    /// Resume an interrupted training from MODEL.resume; files and options must be the same, except --time and -j
    #[arg(long)]
    resume: bool,

    #[command(flatten)]
    seed: Seed,

    /// Tree set: auto (by the trees of TRAIN), nonprojective-single-root, nonprojective-multi-root,
    /// projective-single-root or projective-multi-root
    #[arg(long, value_name = "SET", default_value = "auto", value_parser = tree_set)]
    tree_set: Wanted,

    /// Give arcs K latent clusters, each with its own weights (Smith & Smith 2007); takes K times the time and memory;
    /// needs adagrad or sgd
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=256))]
    clusters: Option<u16>,

    /// Feature templates: richer, lean, mcdonald (McDonald et al. 2005), pa (Nguyen et al. 2007), or a file with one
    /// template per line, such as h.lemma b.upos m.upos [default: richer; lean with --preset fast]
    #[arg(long, value_name = "SET", help_heading = "Features")]
    templates: Option<String>,

    /// Feature index: hashed (fast), dictionary:supported (exact, features of gold arcs only) or dictionary:N (exact,
    /// features of at least N candidate arcs); `tutte info --weights` needs a dictionary
    #[arg(long, value_name = "INDEX", default_value = "hashed", help_heading = "Features")]
    #[arg(value_parser = features::index)]
    features: features::Index,

    /// Number of weights of hashed features, as a power of two [default: by the size of the treebank, at most 24]
    #[arg(long, help_heading = "Features", value_name = "BITS", value_parser = clap::value_parser!(u32).range(10..=28))]
    bits: Option<u32>,

    #[command(flatten)]
    threads: Threads,

    /// Language, for the model's metadata
    #[arg(long, value_name = "NAME", help_heading = "Description")]
    language: Option<String>,

    /// Name of the treebank, for the model's metadata
    #[arg(long, value_name = "NAME", help_heading = "Description")]
    data: Option<String>,

    /// Licence of the treebank, for the model's metadata
    #[arg(long, value_name = "NAME", help_heading = "Description")]
    licence: Option<String>,

    #[command(flatten)]
    reading: TreebankArgs,
}

/// Whether to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// The temperature of models with a second pass until development data has its say.
const UNTIL_CHOSEN: f64 = 1.5;

/// A tree set, or the choice of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Auto,
    Set(TreeSet),
}

fn tree_set(typed: &str) -> Result<Wanted, String> {
    match typed {
        "auto" => Ok(Wanted::Auto),
        typed => typed.parse().map(Wanted::Set).map_err(|error| format!("{error}, or auto")),
    }
}

/// `90s`, `5m`, `1h30m`.
fn duration(typed: &str) -> Result<Duration, String> {
    let wrong = || "a time is 90s, 5m or 1h30m".to_owned();
    let mut rest = typed;
    let mut seconds = 0u64;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest[..digits].parse().map_err(|_| wrong())?;
        let unit = match rest[digits..].chars().next() {
            Some('s') => 1,
            Some('m') => 60,
            Some('h') => 3600,
            _ => return Err(wrong()),
        };
        seconds =
            number.checked_mul(unit).and_then(|s| s.checked_add(seconds)).ok_or_else(wrong)?;
        rest = &rest[digits + 1..];
    }
    if seconds == 0 { Err(wrong()) } else { Ok(Duration::from_secs(seconds)) }
}

pub(crate) fn run(arguments: &Train, session: &Session) -> Result<Outcome> {
    if arguments.output == Path::new("-") {
        return Err(usage("a model is no text; name the file to write with -o"));
    }
    if arguments.output.is_dir() {
        let path = arguments.output.display();
        return Err(usage(format!("{path} is a folder; name a file, {path}/en.tutte say")));
    }
    let dictionary = arguments.features.support();
    if dictionary.is_some() && arguments.bits.is_some() {
        return Err(usage(
            "--bits is for hashed features; a dictionary has as many weights as it needs",
        ));
    }
    let preset = match (arguments.preset, dictionary) {
        (Some(Preset::Default | Preset::Fast | Preset::Compact), Some(_)) => {
            return Err(usage(
                "the features of a second pass have no names; with a dictionary, choose --preset plain",
            ));
        }
        (None, Some(_)) => Preset::Plain,
        (preset, _) => preset.unwrap_or(Preset::Default),
    };
    let named = arguments.templates.as_deref().unwrap_or(match preset {
        Preset::Fast | Preset::Compact => "lean",
        Preset::Default | Preset::Plain => "richer",
    });
    let templates = features::templates(named)?;
    arguments.parts.check()?;
    let resumed = checkpoint::open(arguments, session)?;
    let dev = arguments.dev_files(session);
    let mut material = Material::read(arguments, &dev, session)?;
    let tags = arguments.parts.tags(&material.train);
    let threads = arguments.threads.count();
    let sizes = match preset {
        Preset::Compact => Sizes::compact(),
        _ => Sizes::default(),
    };
    let seed = arguments.seed.number;
    let interrupt = Interrupt::watch()?;
    let output = &arguments.output;
    let study = Study { session, interrupt: &interrupt, output, sizes, seed, threads };
    let (text, ready) = arguments.parts.learn(&mut material, &study, arguments.resume)?;
    let (sentences, words) = (material.train.len() / material.versions, material.words);
    let without = WithoutParser { text: &text, sentences, words };
    if !ready {
        session.note("interrupted");
        return arguments.save_without_parser(&without, &[], Ending::Interrupted, session);
    }
    if !arguments.parts.parser() {
        return arguments.save_without_parser(&without, &material.gold, Ending::Finished, session);
    }
    features::tell_of_pairs(&templates, &material.train, session);
    let usual = preset.options();
    let provisional = (!material.dev.is_empty()).then_some(UNTIL_CHOSEN);
    let second = usual.second_pass.clone();
    let second = second
        .map(|second| second_pass(second, &arguments.learner, material.versions, provisional));
    let options = TrainingOptions {
        templates,
        dictionary,
        optimizer: arguments.learner.clone(),
        labelling: arguments.labels.unwrap_or(match arguments.clusters {
            None => usual.labelling,
            Some(_) => Labelling::Staged,
        }),
        passes: match (arguments.passes, material.versions) {
            (Some(passes), _) => passes as usize,
            (None, 1) => usual.passes,
            // Each sentence is seen twice in a pass.
            (None, _) => usual.passes / 2 + 1,
        },
        versions: material.versions,
        pruning: match arguments.pruning {
            None => usual.pruning.clone(),
            Some(Switch::On) => Some(usual.pruning.clone().unwrap_or_default()),
            Some(Switch::Off) => None,
        },
        clusters: arguments.clusters.map_or(1, usize::from),
        bits: arguments.bits.unwrap_or_else(|| preset.bits(material.words)),
        label_bits: label_bits(material.words),
        second_pass: second,
        tree_set: material.tree_set,
        seed: arguments.seed.number,
        threads,
        ..usual
    };
    let about = About { training: settings(&options, preset, named, tags), ..arguments.about() };
    let run = Run {
        session,
        output: &arguments.output,
        checkpoint: checkpoint::path(&arguments.output),
        dev: calibrate::names(&dev),
        text: text.clone(),
        about,
        options,
        time: arguments.time,
        interrupt,
        headed: false,
    };
    let Some(result) = run.watch(material, resumed, threads)? else {
        let ending = if interrupt.is_requested() { Ending::Interrupted } else { Ending::TimeUp };
        return arguments.save_without_parser(&without, &[], ending, session);
    };
    if result.ending == Ending::Finished {
        arguments.clear_shelf()?;
    }

    let scores = dev_table(&result.model, &result.gold, threads, session);
    let next = next_step(output, result.model.tokenizer.is_some(), &result.gold, dev.first());
    let model = arguments.output.display().to_string();
    let summary = Summary {
        bytes: std::fs::metadata(&arguments.output).map_or(0, |file| file.len()),
        model,
        sentences,
        words,
        labels: result.model.trees()?.labels.labels().len(),
        tree_set: result.model.trees()?.tree_set.to_string(),
        passes: result.passes,
        best_pass: result.best_pass,
        temperature: result.model.trees()?.temperature,
        temperature_chosen_on: result.chosen_on,
        dev: result.dev,
        scores,
        ended: result.ending,
        seconds: result.seconds,
    };
    if session.json() {
        session.print_json(&summary)?;
    } else {
        summary.print(session)?;
        session.note(next);
    }
    Ok(session.end(Outcome::Good))
}

impl Train {
    /// What is told of the model.
    fn about(&self) -> About {
        About {
            language: self.language.clone(),
            data: self.data.clone(),
            licence: self.licence.clone(),
            command: Some(command::of_model()),
            seed: self.seed.number,
            training: Vec::new(),
            dev: None,
        }
    }

    /// The development data: what was named, or what lies beside the treebank.
    fn dev_files(&self, session: &Session) -> Vec<PathBuf> {
        if self.no_dev || !self.dev.is_empty() {
            return self.dev.clone();
        }
        let found = text::sibling(&self.files);
        if let Some(dev) = &found {
            session.note(format!("judging by {}, which lies beside it", dev.display()));
        }
        found.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let seconds = |typed| duration(typed).map(|time| time.as_secs());
        assert_eq!(seconds("90s"), Ok(90));
        assert_eq!(seconds("5m"), Ok(300));
        assert_eq!(seconds("1h30m"), Ok(5400));
        for wrong in
            ["", "5", "m", "5x", "-5m", "0s", "99999999999999999999s", "9999999999999999h", "5ü"]
        {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
