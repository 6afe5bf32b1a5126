//! `tutte train`: a treebank in, a model out.
//!
//! Training runs in a thread of its own and tells of every pass; this thread keeps the file of the
//! best one, so that whatever ends the work, Ctrl-C, `--time` or a kill, leaves the best model so
//! far, and beside it a checkpoint that `--resume` goes on from.

mod checkpoint;
pub(crate) mod command;
mod features;
mod material;
mod progress;
mod scores;
mod text;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Serialize;
use tutte::{About, FirstPass, LabelOptions, Labelling, Learner, Model, Options, SecondPass};
use tutte_trees::TreeSet;

pub(crate) use self::features::templates;
use self::material::Material;
pub(crate) use self::material::{choose, trees};
pub(crate) use self::progress::clock;
use self::progress::{ChosenOn, Ending, Run};
pub(crate) use self::scores::Scores;
use self::text::{Parts, Sizes, Text};
use super::calibrate;
use crate::asking::{Seed, Threads};
use crate::failure::{Outcome, usage};
use crate::report::{Align, Table, counted};
use crate::session::{Reading, Session};

/// Learn a parser from a treebank
///
/// Learns from the trees of all TRAIN files together. Trees may be partial: heads that are _ are
/// unknown, and summed over (by adagrad, sgd and lbfgs; other learners need whole trees). With --dev, the model of the pass that does
/// best on DEV (by LAS; by UAS if there are no labels) is kept, otherwise that of the last pass. DEV also chooses the temperature,
/// which makes probabilities as high as they are right (as `tutte calibrate` does), and tells how precise
/// they are, for `parse --precision`; without it, models of two passes have one
/// from parts of TRAIN that were kept from what parsed them. The file is replaced whenever a
/// better model is found; Ctrl-C ends training and leaves the best so far, and the same command with
/// --resume goes on. The same files, options and seed give the same bytes, in one sitting or several.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte train train.conllu --dev dev.conllu -o en.tutte
  tutte train *-train.conllu -o en.tutte --time 5m --language en --licence 'CC BY-SA 4.0'")]
pub(crate) struct Train {
    /// The treebank to learn from; - is standard input
    #[arg(value_name = "TRAIN", required = true)]
    files: Vec<PathBuf>,

    /// The model to write
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,

    /// Trees to judge by, which are not learnt from; may be given several times [default: the file beside
    /// TRAIN with dev for train in its name, if there is one]
    #[arg(long, value_name = "DEV")]
    dev: Vec<PathBuf>,

    /// Judge by nothing, even if there is such a file
    #[arg(long, conflicts_with = "dev")]
    no_dev: bool,

    #[command(flatten)]
    parts: Parts,

    /// How much to do: default, fast (a small first pass of parsing before the second: twice as fast,
    /// less accurate), compact (fast with small tables, so that the model has 8 MB) or plain (one pass over
    /// all arcs, as in the papers)
    #[arg(long, value_name = "PRESET", value_enum, hide_possible_values = true)]
    preset: Option<Preset>,

    /// How to learn: adagrad, sgd, lbfgs, eg-max-margin, eg-log-linear, perceptron, pa, pa-i, pa-ii or
    /// mira, with parameters behind a colon: mira:k=5,c=0.1
    #[arg(long, value_name = "LEARNER", default_value_t = Learner::default())]
    #[arg(hide_default_value = true)]
    learner: Learner,

    /// How labels go with arcs: joint (both at once: more accurate), staged (after them: faster) or
    /// none (trees are bare, and DEPREL is written as _) [default: joint; staged with --preset
    /// plain and with --clusters]
    #[arg(long, value_name = "HOW")]
    labels: Option<Labelling>,

    /// Whether a small model leaves out hopeless arcs before others look at them: on or off
    /// [default: on, but for --preset fast and plain]
    #[arg(long, value_name = "WHETHER", value_enum, hide_possible_values = true)]
    pruning: Option<Switch>,

    /// Passes over the treebank [default: 8; 4 with --preset fast; with jackknifed tags 5 and 3]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    passes: Option<u32>,

    /// Stop after this long: 90s, 5m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,

    /// Go on with a training that was interrupted, from MODEL.resume; the files and options must be
    /// the same, but for --time and -j
    #[arg(long)]
    resume: bool,

    #[command(flatten)]
    seed: Seed,

    /// The trees that are possible: auto (as those of TRAIN are), nonprojective-single-root,
    /// nonprojective-multi-root, projective-single-root or projective-multi-root
    #[arg(long, value_name = "SET", default_value = "auto", value_parser = tree_set)]
    tree_set: Wanted,

    /// Let every arc be of one of K kinds that nobody has named, each with weights of its own: takes
    /// K times the time, memory and file; needs adagrad or sgd (Smith & Smith 2007)
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=256))]
    clusters: Option<u16>,

    /// What is looked at in an arc: richer, lean, mcdonald (McDonald et al. 2005), pa (Nguyen et al.
    /// 2007), or a file of templates, one a line: h.lemma b.upos m.upos [default: richer; lean with
    /// --preset fast]
    #[arg(long, value_name = "SET", help_heading = "Features")]
    templates: Option<String>,

    /// How features find their weights: hashed (fast), dictionary:supported (exact, for features of arcs
    /// of gold trees) or dictionary:10 (of at least so many possible arcs); `tutte info --weights` shows
    /// the weights of a dictionary
    #[arg(long, value_name = "INDEX", default_value = "hashed", help_heading = "Features")]
    #[arg(value_parser = features::index)]
    features: features::Index,

    /// 2^BITS weights of hashed features [default: by the size of the treebank, at most 24]
    #[arg(long, help_heading = "Features", value_name = "BITS", value_parser = clap::value_parser!(u32).range(10..=28))]
    bits: Option<u32>,

    #[command(flatten)]
    threads: Threads,

    /// The language, for the model's description
    #[arg(long, value_name = "NAME", help_heading = "Description")]
    language: Option<String>,

    /// The treebank's name, for the model's description
    #[arg(long, value_name = "NAME", help_heading = "Description")]
    data: Option<String>,

    /// The treebank's licence, for the model's description
    #[arg(long, value_name = "NAME", help_heading = "Description")]
    licence: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

/// How much to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    Fast,
    Compact,
    Default,
    Plain,
}

impl Preset {
    pub(crate) fn options(self) -> Options {
        match self {
            Preset::Fast | Preset::Compact => Options::fast(),
            Preset::Default => Options::default(),
            Preset::Plain => Options::plain(),
        }
    }

    /// The binary logarithm of the number of weights that a treebank can use: some hundred for each
    /// word of a small one; 2²² do for 35,000 words, 2²⁴ for 200,000. To be fast, half of that: what
    /// the caches hold is looked up sooner.
    pub(crate) fn bits(self, words: usize) -> u32 {
        match words {
            65_536.. if self == Preset::Compact => 22,
            65_536.. if self == Preset::Fast => 23,
            65_536.. => 24,
            _ => (words.max(2).ilog2() + 8).clamp(14, 22),
        }
    }
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

/// What was made.
#[derive(Debug, Serialize)]
struct Summary {
    model: String,
    bytes: u64,
    sentences: usize,
    words: usize,
    labels: usize,
    tree_set: String,
    passes: usize,
    best_pass: usize,
    temperature: f64,
    temperature_chosen_on: Option<ChosenOn>,
    dev: Option<Scores>,
    ended: &'static str,
    seconds: f64,
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
    let text = arguments.parts.learn(&mut material, sizes, seed, threads, session)?;
    if !arguments.parts.parser() {
        return arguments.save_without_parser(&text, &material, session);
    }
    features::tell_of_pairs(&templates, &material.train, session);
    let usual = preset.options();
    let provisional = (!material.dev.is_empty()).then_some(UNTIL_CHOSEN);
    let second =
        usual.second.clone().map(|second| SecondPass { temperature: provisional, ..second });
    let second = match preset {
        Preset::Compact => second.map(sizes_of_compact),
        _ => second,
    };
    let options = Options {
        templates,
        dictionary,
        learner: arguments.learner.clone(),
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
        label_bits: label_bits(material.words).min(sizes.label_bits),
        second,
        tree_set: material.tree_set,
        seed: arguments.seed.number,
        threads,
        ..usual
    };
    let about = About { training: settings(&options, preset, named, tags), ..arguments.about() };
    let (sentences, words) = (material.train.len() / material.versions, material.words);
    let run = Run {
        session,
        output: &arguments.output,
        checkpoint: checkpoint::path(&arguments.output),
        dev: calibrate::names(&dev),
        text,
        about,
        options,
        time: arguments.time,
        headed: false,
    };
    let result = run.watch(material, resumed, threads)?;

    let model = arguments.output.display().to_string();
    let summary = Summary {
        bytes: std::fs::metadata(&arguments.output).map_or(0, |file| file.len()),
        model,
        sentences,
        words,
        labels: result.labels,
        tree_set: result.tree_set.to_string(),
        passes: result.passes,
        best_pass: result.best_pass,
        temperature: result.temperature,
        temperature_chosen_on: result.chosen_on,
        dev: result.dev,
        ended: match result.ending {
            Ending::Finished => "finished",
            Ending::TimeUp => "time",
            Ending::Interrupted => "interrupted",
        },
        seconds: result.seconds,
    };
    if session.json() {
        session.print_json(&summary)?;
    } else {
        summary.print(session)?;
        session.note(next_step(arguments, dev.first()));
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

    /// Writes a model that finds words or tags and no trees.
    fn save_without_parser(
        &self,
        text: &Text,
        material: &Material,
        session: &Session,
    ) -> Result<Outcome> {
        let mut model = Model::without_parser(material.tree_set).compact();
        text.put_into(&mut model);
        model.save(&self.output, &self.about())?;
        let (output, bytes) = (self.output.display(), std::fs::metadata(&self.output));
        let bytes = megabytes(bytes.map_or(0, |file| file.len()));
        session.note(format!("{output} written, {bytes}: it finds no trees"));
        session.note(format!("next: tutte parse -m {output} FILE"));
        Ok(session.end(Outcome::Good))
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

impl Summary {
    fn print(&self, session: &Session) -> Result<()> {
        use std::io::Write as _;
        let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
        table.row(["model".to_owned(), format!("{}, {}", self.model, megabytes(self.bytes))]);
        let (sentences, words) = (counted(self.sentences, "sentence"), counted(self.words, "word"));
        let labels = counted(self.labels, "label");
        table.row(["learnt from".to_owned(), format!("{sentences}, {words}, {labels}")]);
        table.row(["trees", &self.tree_set]);
        let best = match (self.best_pass == self.passes, &self.dev) {
            (false, _) => format!(", the best was pass {}", self.best_pass),
            (true, Some(_)) => ", the last was the best".to_owned(),
            (true, None) => String::new(),
        };
        table.row(["passes".to_owned(), format!("{}{best}", self.passes)]);
        if let Some(scores) = &self.dev {
            let words = counted(scores.words(), "word");
            table.row(["dev".to_owned(), format!("{scores} on {words}")]);
        }
        let how = match self.temperature_chosen_on {
            Some(ChosenOn::Dev) => "chosen on dev",
            Some(ChosenOn::Folds) => "chosen on folds of what was learnt from",
            None => "as learnt; --dev would choose one",
        };
        table.row(["temperature".to_owned(), format!("{:.2}, {how}", self.temperature)]);
        let mut out = session.stdout();
        out.write_all(table.text(0).as_bytes())?;
        Ok(out.flush()?)
    }
}

/// A size as people read it.
pub(crate) fn megabytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn next_step(arguments: &Train, dev: Option<&PathBuf>) -> String {
    let model = arguments.output.display();
    match dev {
        Some(dev) => {
            let dev = dev.display();
            format!("next: tutte parse -m {model} {dev} | tutte eval {dev} -")
        }
        None => format!("next: tutte parse -m {model} FILE"),
    }
}

/// A second pass after a first that is smaller still.
fn sizes_of_compact(second: SecondPass) -> SecondPass {
    let smaller = |first: FirstPass| FirstPass { bits: first.bits.min(19), ..first };
    SecondPass { first: second.first.map(smaller), ..second }
}

/// The binary logarithm of the number of rows of weights of labels that a treebank can use.
pub(crate) fn label_bits(words: usize) -> u32 {
    (words.max(2).ilog2() + 4).clamp(10, 16)
}

/// Options by name, for the model's description.
fn settings(
    options: &Options,
    preset: Preset,
    templates: &str,
    tags: &str,
) -> Vec<(String, String)> {
    let LabelOptions { rate, damping, dropout, .. } = options.labels;
    let labels = match options.labelling {
        Labelling::Staged => format!("staged:rate={rate},damping={damping},dropout={dropout}"),
        labelling => labelling.to_string(),
    };
    let index = match options.dictionary {
        Some(support) => format!("dictionary:{support}"),
        None => "hashed".to_owned(),
    };
    let clusters = (options.clusters > 1).then(|| ("clusters", options.clusters.to_string()));
    let preset = match preset {
        Preset::Fast => "fast",
        Preset::Compact => "compact",
        Preset::Default => "default",
        Preset::Plain => "plain",
    };
    [
        ("preset", preset.to_owned()),
        ("learner", options.learner.to_string()),
        ("templates", templates.to_owned()),
        ("features", index),
        ("passes", options.passes.to_string()),
        ("labels", labels),
        ("tags", tags.to_owned()),
    ]
    .into_iter()
    .chain(clusters)
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
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

    #[test]
    fn tables_grow_with_the_treebank_up_to_a_limit() {
        assert_eq!(
            [0, 50, 5_000, 35_000, 100_000, 205_000].map(|w| Preset::Default.bits(w)),
            [14, 14, 20, 22, 24, 24]
        );
        assert_eq!([35_000, 205_000].map(|words| Preset::Fast.bits(words)), [22, 23]);
        assert_eq!([0, 50, 5_000, 205_000].map(label_bits), [10, 10, 16, 16]);
    }
}
