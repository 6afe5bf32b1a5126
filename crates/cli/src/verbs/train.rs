//! `tutte train`: a treebank in, a model out.
//!
//! The recipe is [`train_pipeline`]. This verb adds arguments, progress and a summary. Training that is stopped by
//! Ctrl-C or a kill leaves the best model so far beside the output, and a checkpoint for `--resume`.

mod choices;
pub(crate) mod command_line;
mod dev_file;
mod features;
mod network;
mod progress;
mod scores;
mod summary;
mod table;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use tutte::learn::{
    Annealing, Cooling, Ending, Part, Preset, Quench, Recipe, Trained, best_path, train_pipeline,
};
use tutte::{About, Compact, Labelling, Model, ModelFile, Optimizer};
use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

pub(crate) use self::choices::PresetArg;
use self::choices::{PartArg, TagsArg};
use self::command_line::{base_name, base_names};
pub(crate) use self::features::{template_file, templates};
use self::network::NetworkArgs;
use self::progress::Terminal;
pub(crate) use self::progress::tree_set_note;
pub(crate) use self::scores::Scores;
use self::summary::{TextSummary, TrainSummary, next_step};
use self::table::DevTable;
use crate::failure::{Outcome, advise, usage};
use crate::files::Files;
use crate::input::{Seed, Threads, TreebankArgs};
use crate::interrupt::Interrupt;
use crate::numbers::megabytes;
use crate::output::output_file;
use crate::session::Session;

/// Train a parser, with tokenizer and tagger, on a treebank
///
/// With --dev, the best pass on DEV is kept, and probabilities are calibrated on DEV. The same files, options and seed
/// give the same model.
///
/// MODEL is written when the training ends. Until then, the best model so far is MODEL.best, and an existing MODEL
/// stays as it is. Ctrl-C stops training; the same command with --resume continues.
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
    #[arg(short, long, value_name = "MODEL", value_parser = output_file())]
    output: PathBuf,

    /// Development treebank; repeatable [default: the file beside TRAIN with dev for train in its name, if it exists]
    #[arg(long, value_name = "DEV")]
    dev: Vec<PathBuf>,

    /// Train without a development treebank, even if that file exists
    #[arg(long, conflicts_with = "dev")]
    no_dev: bool,

    /// Parts to train: tokenizer, tagger, parser, separated by commas [default: all that TRAIN has data for; for
    /// CoNLL-X only the parser]
    #[arg(
        long,
        value_name = "PARTS",
        value_enum,
        value_delimiter = ',',
        hide_possible_values = true
    )]
    with: Vec<PartArg>,

    /// Tags that the parser is trained on: jackknife (gold tags and predicted ones of held-out folds) or gold
    /// [default: jackknife if there is a tagger]
    #[arg(long, value_name = "TAGS", value_enum, hide_possible_values = true)]
    tags: Option<TagsArg>,

    /// Trade-off: default, fast (faster, less accurate), compact (fast, with a smaller model) or plain (one parsing
    /// pass over all arcs, as in the papers)
    #[arg(long, value_name = "PRESET", value_enum, hide_possible_values = true)]
    preset: Option<PresetArg>,

    /// Trees of another parser, such as a more accurate teacher; tagger and parser learn from them, too
    ///
    /// `tutte parse -m TEACHER text.txt --tags model -o silver.conllu` makes such a file from raw text. `tutte distil`
    /// writes the teacher's probabilities beside its trees (Teacher=… in MISC), and the parser learns these.
    #[arg(long, value_name = "FILE")]
    silver: Vec<PathBuf>,

    #[command(flatten)]
    network: NetworkArgs,

    /// Learner: adagrad, sgd, lbfgs, eg-max-margin, eg-log-linear, perceptron, pa, pa-i, pa-ii or mira; parameters
    /// follow a colon: mira:k=5,c=0.1 [default: adagrad]
    ///
    /// The objective of adagrad, sgd and lbfgs is a sum of terms, such as 'adagrad:objective=likelihood + 0.1*risk(1)'. Terms
    /// are likelihood, softmax, softmax-margin(COST), risk(GAMMA), decoded-risk(TEMPERATURE), brier, entropy and
    /// renyi(ORDER). A factor FROM..TO changes from the first pass to the last, for example in 1..0*likelihood.
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

    /// Number of passes over the treebank [default: 8; 4 with --preset fast; with jackknifed tags 5 and 3; 10 with --encoder]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    passes: Option<u32>,

    /// Anneal the risk in the last pass of parsing (Smith & Eisner 2006): START:FACTOR:END, such as 1000:0.5:0.01, are
    /// temperatures of the entropy; START may be auto
    ///
    /// Needs --learner with objective=risk, such as lbfgs:objective=risk,c=1000. Each temperature has the number of passes
    /// of --passes. With --init, auto is the temperature at which that model is stationary; without, it is 1000. The stage
    /// with the best trees on DEV is kept, and its probabilities are calibrated.
    #[arg(long, value_name = "SCHEDULE")]
    temperature_schedule: Option<Cooling>,

    /// Last stages of --temperature-schedule, without entropy: scores are multiplied by FACTOR in each of at most ROUNDS
    /// rounds, until no tree changes; 0 is none [default: 2:10]
    #[arg(long, value_name = "FACTOR:ROUNDS", requires = "temperature_schedule")]
    quench: Option<Quench>,

    /// Model whose weights training starts from; treebank and options must be those it was trained with, except for the
    /// learner and its schedule
    #[arg(long, value_name = "MODEL")]
    init: Option<PathBuf>,

    /// Stop after this long: 90s, 5m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,

    /// Replace MODEL even if it has a parser and the new model has none
    #[arg(long)]
    force: bool,

    /// Resume an interrupted training from MODEL.resume; files and options must be the same, except --time and -j
    #[arg(long)]
    resume: bool,

    #[command(flatten)]
    seed: Seed,

    /// Tree set: auto (by accuracy on held-out sentences), nonprojective-single-root, nonprojective-multi-root,
    /// projective-single-root or projective-multi-root
    #[arg(long, value_name = "SET", default_value = "auto", value_parser = tree_set)]
    tree_set: TreeSetArg,

    /// Give arcs K latent clusters, each with its own weights (Smith & Smith 2007); takes K times the time and memory;
    /// needs adagrad or sgd
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=256))]
    clusters: Option<u16>,

    /// Feature templates: richer, lean, mcdonald (McDonald et al. 2005), pa (Nguyen et al. 2007), or a file with one
    /// template per line, such as h.lemma b.upos m.upos [default: richer; lean with --preset fast]
    #[arg(long, value_name = "SET", help_heading = "Features")]
    templates: Option<String>,

    /// Factors, which score two arcs at once: standard, lean, none, or a file with one template per line, such as
    /// siblings m.label s.label; --preset plain and learners other than adagrad and sgd have none [default: standard;
    /// lean with --preset fast]
    #[arg(long, value_name = "SET", help_heading = "Features")]
    factors: Option<String>,

    /// Iterations of belief propagation over factors, in training and in parsing [default: 1]
    #[arg(long, value_name = "N", help_heading = "Features", value_parser = clap::value_parser!(u8).range(1..=20))]
    factor_iterations: Option<u8>,

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

    /// Other files of the command line. The model's description has their names without folders.
    #[arg(skip)]
    also_read: Vec<PathBuf>,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// A tree set, or its choice by the treebank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TreeSetArg {
    Auto,
    Set(TreeSet),
}

fn tree_set(typed: &str) -> Result<TreeSetArg, String> {
    match typed {
        "auto" => Ok(TreeSetArg::Auto),
        typed => typed.parse().map(TreeSetArg::Set).map_err(|error| format!("{error}, or auto")),
    }
}

/// Reads a duration such as `90s`, `5m` or `1h30m`.
fn duration(typed: &str) -> Result<Duration, String> {
    let wrong = || "expected a time such as 90s, 5m or 1h30m".to_owned();
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
    let output = &arguments.output;
    if output == Path::new("-") {
        return Err(usage("a model cannot be written to standard output; name a file with -o"));
    }
    let dev_files = arguments.dev_files();
    if arguments.dev.is_empty()
        && let Some(dev) = dev_files.first()
    {
        session.note(format!("development data: {}, found beside the treebank", dev.display()));
    }
    let recipe = arguments.recipe(&dev_files, session)?;
    if !arguments.resume && recipe.can_resume() {
        let checkpoint = recipe.checkpoint().unwrap_or_default();
        let checkpoint = checkpoint.display();
        session.note(format!(
            "starting from the beginning; --resume would continue from {checkpoint}"
        ));
        let best = best_path(output);
        if best.is_file() {
            session.note(format!("{} will be replaced; rename it to keep it", best.display()));
        }
    }
    arguments.warn_of_shared_files(&dev_files, session);
    let treebank = arguments.read(&arguments.files, session)?;
    let dev = arguments.read(&dev_files, session)?;
    let recipe = recipe.with_silver(arguments.read(&arguments.silver, session)?);
    if !dev_files.is_empty() && dev.is_empty() {
        return Err(advise(
            anyhow!("the development data has no sentences"),
            "name another file with --dev, or train with --no-dev",
        ));
    }
    let started = std::time::Instant::now();
    let interrupt = Interrupt::watch()?;
    let mut terminal = Terminal::new(session, interrupt);
    let trained = train_pipeline(treebank, dev, &recipe, &mut terminal);
    drop(terminal);
    let trained = match trained {
        Err(tutte::Error::Stopped) if interrupt.is_requested() => {
            session.note(format!("interrupted; {}", arguments.as_it_was()));
            return Ok(session.end(Outcome::Interrupted));
        }
        trained => trained.map_err(|error| arguments.explain(error))?,
    };
    arguments.note_ending(&trained, &recipe, session);
    if trained.file.is_none() {
        return Ok(session.end(outcome(trained.ending)));
    }
    let seconds = started.elapsed().as_secs_f64();
    arguments.report(trained, dev_files.first(), seconds, session)
}

impl Train {
    /// Returns the recipe that the options describe.
    fn recipe(&self, dev_files: &[PathBuf], session: &Session) -> Result<Recipe> {
        let dictionary = self.features.support();
        if dictionary.is_some() && self.bits.is_some() {
            return Err(usage(
                "--bits is for hashed features; a dictionary has as many weights as it needs",
            ));
        }
        let preset = match (self.preset, dictionary) {
            (Some(PresetArg::Default | PresetArg::Fast | PresetArg::Compact), Some(_)) => {
                return Err(usage(
                    "a dictionary needs --preset plain, since features of a second pass have no names",
                ));
            }
            (None, Some(_)) => Preset::Plain,
            (preset, _) => preset.map_or(Preset::Default, Preset::from),
        };
        let without_tagger = !self.with.is_empty() && !self.with.contains(&PartArg::Tagger);
        if self.tags == Some(TagsArg::Jackknife) && without_tagger {
            return Err(usage("--tags jackknife needs a tagger: --with tagger,parser"));
        }
        let mut recipe = Recipe::new()
            .with_preset(preset)
            .with_parts(self.with.iter().copied().map(Part::from))
            .with_optimizer(self.learner.clone())
            .with_seed(self.seed.number)
            .with_threads(self.threads.count())
            .with_output(&self.output)
            .with_description(self.about())
            .with_dev_name(base_names(dev_files));
        if let Some(name) = &self.templates {
            let shown = base_name(Path::new(name));
            recipe = recipe.with_templates(shown, templates(name)?);
        }
        if let Some(typed) = &self.factors {
            recipe = recipe.with_factors(features::factors(typed)?);
        }
        if let Some(iterations) = self.factor_iterations {
            recipe = recipe.with_factor_iterations(iterations.into());
        }
        if let Some(tags) = self.tags {
            recipe = recipe.with_tags(tags.into());
        }
        if let Some(labelling) = self.labels {
            recipe = recipe.with_labelling(labelling);
        }
        if let Some(pruning) = self.pruning {
            recipe = recipe.with_pruner(pruning == Switch::On);
        }
        if let Some(passes) = self.passes {
            recipe = recipe.with_passes(passes as usize);
        }
        if let TreeSetArg::Set(tree_set) = self.tree_set {
            recipe = recipe.with_tree_set(tree_set);
        }
        if let Some(clusters) = self.clusters {
            recipe = recipe.with_clusters(clusters.into());
        }
        if let Some(support) = dictionary {
            recipe = recipe.with_dictionary(support);
        }
        if let Some(bits) = self.bits {
            recipe = recipe.with_bits(bits);
        }
        if let Some(cooling) = self.temperature_schedule {
            let quench = self.quench.unwrap_or_default();
            let annealing = Annealing::default().with_cooling(cooling).with_quench(quench);
            recipe = recipe.with_annealing(annealing);
        }
        if let Some(path) = &self.init {
            let model = ModelFile::open(path)?.model;
            recipe = recipe.with_init(model.require_parser()?.clone());
        }
        if let Some(time) = self.time {
            recipe = recipe.with_time(time);
        }
        if self.reading.lenient {
            recipe = recipe.leniently();
        }
        if self.resume {
            recipe = recipe.resuming();
        }
        if self.force {
            recipe = recipe.replacing_parsers();
        }
        self.network.add_to(recipe, &self.output, session)
    }

    fn read(&self, files: &[PathBuf], session: &Session) -> Result<Vec<Sentence>> {
        let mut all = Vec::new();
        for path in files {
            all.extend(self.reading.read_all(path, session)?);
        }
        Ok(all)
    }

    /// Warns of files that are both training and development data.
    fn warn_of_shared_files(&self, dev_files: &[PathBuf], session: &Session) {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let train: Vec<PathBuf> = self.files.iter().map(real).collect();
        for dev in dev_files.iter().filter(|dev| train.contains(&real(dev))) {
            let warning = anyhow!(
                "{} is both training and development data: scores and probabilities will be too high",
                dev.display()
            );
            let hint =
                "hold out trees for --dev: `tutte convert TREEBANK parts.conllu --split 90/10`";
            session.warn(&advise(warning, hint));
        }
    }

    /// Adds a hint to an error of a training.
    fn explain(&self, error: tutte::Error) -> anyhow::Error {
        let output = self.output.display();
        match error {
            tutte::Error::Stopped => {
                let error =
                    anyhow!("stopped before the first pass was over; {output} was not written");
                advise(error, "raise --time, or train on fewer sentences")
            }
            tutte::Error::Treebank(
                error @ (tutte_treebank::Error::NoHead { .. }
                | tutte_treebank::Error::NotATree { .. }),
            ) => advise(error, "--lenient leaves out sentences without a tree"),
            error @ tutte::Error::ParserWouldBeLost { .. } => {
                advise(error, "name another file with -o, or replace it with --force")
            }
            tutte::Error::Treebank(error @ tutte_treebank::Error::TooManyWords { .. }) => {
                advise(error, "split it, or leave it out with --lenient")
            }
            error => error.into(),
        }
    }

    /// Prints why the training ended early, and how to resume it.
    fn note_ending(&self, trained: &Trained, recipe: &Recipe, session: &Session) {
        match (trained.ending, &trained.file) {
            (Ending::Interrupted, Some(file)) => {
                let as_it_was = self.as_it_was();
                let words = ["mv".to_owned(), file.display().to_string(), self.shown_output()];
                let rename = command_line::shell_words(words);
                session.note(format!(
                    "interrupted; {as_it_was}\nthe best model so far is {}; to use it as it is: {rename}",
                    file.display()
                ));
            }
            (Ending::Interrupted, None) => {
                session.note(format!("interrupted; {}", self.as_it_was()));
            }
            (Ending::TimeUp, Some(_)) => session.note("time is up"),
            (Ending::TimeUp, None) => {
                let output = self.shown_output();
                session.note(format!(
                    "time is up before the first pass; {output} has a parser and is as it was"
                ));
            }
            _ => {}
        }
        // Without a parser, the command comes after the note about the model.
        let is_reported_later = trained.file.is_some() && trained.model.parser.is_none();
        if trained.ending != Ending::Finished && recipe.can_resume() && !is_reported_later {
            session.note(format!("resume with: {}", command_line::to_resume()));
        }
    }

    /// Scores the model on development data and prints the summary.
    fn report(
        &self,
        trained: Trained,
        dev_file: Option<&PathBuf>,
        seconds: f64,
        session: &Session,
    ) -> Result<Outcome> {
        let Trained { model, ending, sentences, words, gold, file, .. } = trained;
        let file = file.unwrap_or_else(|| self.output.clone());
        let path = file.display().to_string();
        let bytes = std::fs::metadata(&file).map_or(0, |file| file.len());
        let has_tokenizer = model.tokenizer.is_some();
        let Some(parser) = &model.parser else {
            let abilities = abilities(&model);
            session.note(format!("{path} written, {}: it {abilities}", megabytes(bytes)));
            let gold = if ending == Ending::Finished { &gold[..] } else { &[] };
            let scores = dev_table(&model, gold, self.threads.count(), session);
            let summary =
                TextSummary { model: path, bytes, sentences, words, scores, ended: ending };
            if session.json() {
                session.print_json(&summary)?;
            } else {
                summary.print(session)?;
            }
            if ending == Ending::Finished {
                session.note(next_step(&file, has_tokenizer, gold, None));
            } else {
                session.note(format!("resume with: {}", command_line::to_resume()));
            }
            return Ok(session.end(outcome(ending)));
        };
        let labelling = parser.labels.labelling();
        let summary = TrainSummary {
            model: path,
            bytes,
            sentences,
            words,
            labels: parser.labels.labels().len(),
            tree_set: parser.tree_set.to_string(),
            passes: trained.passes,
            best_pass: trained.best_pass,
            temperature: parser.temperature,
            text_temperature: parser.text_calibration.as_ref().map(|text| text.temperature),
            temperature_chosen_on: trained.temperature_source,
            dev: trained.dev.map(|dev| Scores::new(&dev, labelling)),
            scores: dev_table(&model, &gold, self.threads.count(), session),
            ended: ending,
            seconds,
        };
        if session.json() {
            session.print_json(&summary)?;
        } else {
            summary.print(session)?;
            session.note(next_step(&file, has_tokenizer, &gold, dev_file));
        }
        Ok(session.end(outcome(ending)))
    }

    /// Returns the description of the model.
    fn about(&self) -> About {
        About {
            language: self.language.clone(),
            data: self.data.clone(),
            licence: self.licence.clone(),
            command: Some(command_line::of_model(self.read_paths())),
            ..About::default()
        }
    }

    /// Returns the development data: the named files, or the file beside the treebank.
    fn dev_files(&self) -> Vec<PathBuf> {
        if self.no_dev || !self.dev.is_empty() {
            return self.dev.clone();
        }
        dev_file::sibling(&self.files).into_iter().collect()
    }

    /// Returns the files of the run.
    pub(super) fn files(&self) -> Files {
        let files = Files::default().reads(self.reads());
        let beside = Recipe::new().with_output(&self.output).files_beside();
        files.writes("-o", [&self.output]).writes("-o", beside)
    }

    /// Sets files that another verb, which calls this one, has read.
    pub(super) fn also_reads(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        self.also_read.extend(files);
    }

    /// Returns all inputs: those that are named, files inside of the encoder's folder, and the development data.
    pub(super) fn reads(&self) -> impl Iterator<Item = PathBuf> {
        let named = self.read_paths().map(Path::to_owned);
        named.chain(self.network.files()).chain(self.dev_files())
    }

    /// Returns the named inputs.
    fn read_paths(&self) -> impl Iterator<Item = &Path> {
        let templates = self.templates.as_deref().and_then(template_file);
        let factors = self.factors.as_deref().and_then(features::factor_file);
        let named = self.files.iter().chain(&self.dev).chain(&self.silver).chain(&self.also_read);
        let named = named.chain(&self.init).chain(self.network.rules());
        named.map(PathBuf::as_path).chain(templates).chain(factors).chain(self.network.folder())
    }

    fn shown_output(&self) -> String {
        self.output.display().to_string()
    }

    /// Describes the output of a training that has not written it.
    fn as_it_was(&self) -> String {
        let output = self.shown_output();
        if self.output.exists() {
            format!("{output} is as it was")
        } else {
            format!("{output} was not written")
        }
    }
}

/// Returns the outcome of a training.
fn outcome(ending: Ending) -> Outcome {
    if ending == Ending::Interrupted { Outcome::Interrupted } else { Outcome::Good }
}

/// Scores a model by the official table. A failure is a warning, since the model is written already.
fn dev_table(
    model: &Model<Compact>,
    gold: &[Sentence],
    threads: usize,
    session: &Session,
) -> Option<DevTable> {
    let status = session.status();
    status.show(|| "scoring on dev, from raw text to trees".to_owned());
    let table = DevTable::new(model, gold, threads);
    drop(status);
    table.unwrap_or_else(|error| {
        session.warn(&advise(error, "the model is written; only its scores are missing"));
        None
    })
}

/// Returns the abilities of a model without a parser.
fn abilities(model: &Model<Compact>) -> &'static str {
    match (&model.tokenizer, &model.tagger) {
        (Some(_), Some(_)) => "finds words and tags, but no trees",
        (Some(_), None) => "finds words and sentences, but neither tags nor trees",
        _ => "finds tags, but no trees",
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
