//! `tutte combine`: several models become one.
//!
//! The library fits the weights (`tutte::learn::experts`). This verb reads, calibrates, writes and prints.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use serde::Serialize;
use tutte::learn::experts::{Combined, Criterion, ExpertSentence, combine, combine_lists, product};
use tutte::learn::{AnnealedStage, Annealing, Cooling, Quench};
use tutte::{About, Calibration, Calibrator, Compact, Method, Model, ModelFile, ParserModel};
use tutte_treebank::Sentence;

use super::train::command_line::{self, base_names};
use crate::failure::{Outcome, usage};
use crate::files::Files;
use crate::input::{Seed, Threads, TreebankArgs};
use crate::numbers::counted;
use crate::output::output_file;
use crate::report::{Align, Table, rounded};
use crate::session::Session;

/// Combine several models into one, with weights that held-out trees decide
///
/// The trees of the new model are scored by the weighted sum of the experts' log-probabilities (Smith & Eisner 2006). It
/// has the size and the speed of one expert. TREES should not be training data of the experts. Experts have one pass
/// over all arcs (--preset plain) and the same templates, labels and tree set; they differ in data, seed or learner.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte combine --experts a.tutte,b.tutte,c.tutte dev.conllu -o all.tutte
  tutte combine --experts a.tutte,b.tutte trees.conllu --objective error --mode list --dev dev.conllu -o all.tutte")]
pub(crate) struct Combine {
    /// Models to combine, separated by commas
    #[arg(long, value_name = "A,B,…", required = true, value_delimiter = ',')]
    experts: Vec<PathBuf>,

    /// Trees that decide the weights; - is standard input
    #[arg(value_name = "TREES", required = true)]
    files: Vec<PathBuf>,

    /// Model to write, compressed if its name ends in .gz or .zst
    #[arg(short, long, value_name = "MODEL", value_parser = output_file())]
    output: PathBuf,

    /// Held-out trees that choose the stage of annealing and calibrate the probabilities [default: TREES calibrate them]
    #[arg(long, value_name = "DEV")]
    dev: Vec<PathBuf>,

    /// Fit weights by risk (annealed expected errors), likelihood, or error (errors of the best trees; needs
    /// --mode list)
    #[arg(
        long,
        value_name = "OBJECTIVE",
        value_enum,
        default_value = "risk",
        hide_possible_values = true
    )]
    objective: ObjectiveArg,

    /// Sums over all trees (forest), or over lists of the best trees (list)
    #[arg(
        long,
        value_name = "MODE",
        value_enum,
        default_value = "forest",
        hide_possible_values = true
    )]
    mode: ModeArg,

    /// Trees that each round adds to the list of a sentence
    #[arg(long, value_name = "K", default_value_t = 200)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    k: u16,

    /// Greatest number of rounds of decoding and fitting, with --mode list
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    rounds: u16,

    /// Random starts of --objective error
    #[arg(long, value_name = "N", default_value_t = 10)]
    restarts: u16,

    /// Temperatures of --objective risk, as of `tutte train` [default: 1000:0.5:0.01]
    #[arg(long, value_name = "SCHEDULE")]
    temperature_schedule: Option<Cooling>,

    /// Last stages of --objective risk, as of `tutte train` [default: 2:10]
    #[arg(long, value_name = "FACTOR:ROUNDS")]
    quench: Option<Quench>,

    #[command(flatten)]
    seed: Seed,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    reading: TreebankArgs,
}

/// Quantity that weights are fitted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ObjectiveArg {
    Risk,
    Likelihood,
    Error,
}

/// Trees that are summed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    Forest,
    List,
}

/// Result of a combination.
#[derive(Debug, Serialize)]
struct Summary {
    model: String,
    objective: String,
    words: usize,
    /// Number of rounds of decoding; 0 for the forest.
    rounds: usize,
    experts: Vec<ExpertLine>,
    /// Number of errors of the best trees of the combination.
    errors: f64,
    temperature: f64,
}

/// An expert in the result.
#[derive(Debug, Serialize)]
struct ExpertLine {
    model: String,
    weight: f64,
    /// Number of errors of its own best trees.
    errors: f64,
}

pub(crate) fn run(arguments: &Combine, session: &Session) -> Result<Outcome> {
    if arguments.output == Path::new("-") {
        return Err(usage("a model cannot be written to standard output; name a file with -o"));
    }
    if arguments.objective == ObjectiveArg::Error && arguments.mode == ModeArg::Forest {
        return Err(usage("the number of errors has no gradient over all trees; add --mode list"));
    }
    let mut models: Vec<Model<Compact>> = Vec::new();
    let mut experts: Vec<ParserModel<Compact>> = Vec::new();
    for path in &arguments.experts {
        let model = ModelFile::open(path)?.model;
        let parser = model.require_parser().with_context(|| path.display().to_string())?;
        experts.push(parser.clone());
        models.push(model);
    }
    let trees = arguments.read(&arguments.files, session)?;
    let dev = arguments.read(&arguments.dev, session)?;
    let threads = arguments.threads.count();
    let tree_set = experts[0].tree_set;
    let scored = ExpertSentence::of_treebank(&experts, &trees, threads)?;
    let held_out = ExpertSentence::of_treebank(&experts, &dev, threads)?;
    let criterion = arguments.criterion();
    let combined = match arguments.mode {
        ModeArg::Forest => combine(&scored, &held_out, tree_set, &criterion)?,
        ModeArg::List => {
            let size = (arguments.k.into(), arguments.rounds.into());
            combine_lists(&scored, &held_out, tree_set, &criterion, size)?
        }
    };
    note_stages(&combined.stages, session);
    let mut parser = product(&experts, &combined.weights)?.compact();
    let (judges, files) =
        if dev.is_empty() { (&trees, &arguments.files) } else { (&dev, &arguments.dev) };
    let (temperature, calibration) =
        Calibrator::new(&parser, judges, threads)?.fit(Method::Temperature)?;
    parser.temperature = temperature;
    parser.calibration = Some(Calibration { data: Some(base_names(files)), ..calibration });
    let first = models.swap_remove(0);
    let model = Model { parser: Some(parser), ..first };
    model.save(&arguments.output, &arguments.about(&combined))?;
    let mut lines = Vec::new();
    for (at, path) in arguments.experts.iter().enumerate() {
        let mut alone = vec![0.0; experts.len()];
        alone[at] = 1.0;
        lines.push(ExpertLine {
            model: path.display().to_string(),
            weight: rounded(combined.weights[at]),
            errors: ExpertSentence::errors_of_best(&scored, &alone, tree_set)?,
        });
    }
    let summary = Summary {
        model: arguments.output.display().to_string(),
        objective: arguments.described(),
        words: trees.iter().map(Sentence::len).sum(),
        rounds: combined.rounds,
        experts: lines,
        errors: ExpertSentence::errors_of_best(&scored, &combined.weights, tree_set)?,
        temperature,
    };
    if session.json() {
        session.print_json(&summary)?;
    } else {
        session.print(&summary.text())?;
    }
    Ok(session.end(Outcome::Good))
}

/// Prints the stages of annealing.
fn note_stages(stages: &[AnnealedStage], session: &Session) {
    if stages.is_empty() {
        return;
    }
    session.note("       T  gamma      risk   entropy     norm  errors  on dev  changed");
    for stage in stages {
        let AnnealedStage { gamma, risk, entropy, norm, errors, changed, .. } = stage;
        let temperature = stage.temperature.unwrap_or_default();
        let held_out = stage.held_out_errors.map_or("-".to_owned(), |errors| errors.to_string());
        session.note(format!(
            "{temperature:8.3} {gamma:>6} {risk:9.1} {entropy:9.1} {norm:8.3} {errors:7} {held_out:>7} {changed:8}"
        ));
    }
}

impl Combine {
    fn criterion(&self) -> Criterion {
        match self.objective {
            ObjectiveArg::Likelihood => Criterion::Likelihood,
            ObjectiveArg::Error => {
                Criterion::MinimumError { restarts: self.restarts.into(), seed: self.seed.number }
            }
            ObjectiveArg::Risk => Criterion::AnnealedRisk(self.annealing()),
        }
    }

    fn annealing(&self) -> Annealing {
        Annealing::default()
            .with_cooling(self.temperature_schedule.unwrap_or_default())
            .with_quench(self.quench.unwrap_or_default())
    }

    /// Describes how the weights were fitted.
    fn described(&self) -> String {
        let objective = match self.objective {
            ObjectiveArg::Likelihood => "likelihood".to_owned(),
            ObjectiveArg::Error => format!("errors, {} random starts", self.restarts),
            ObjectiveArg::Risk => format!("risk, annealed {}", self.annealing()),
        };
        match self.mode {
            ModeArg::Forest => objective,
            ModeArg::List => format!("{objective}, lists of {}", self.k),
        }
    }

    /// Returns the description of the model.
    fn about(&self, combined: &Combined) -> About {
        let settings = [("experts", base_names(&self.experts)), ("objective", self.described())];
        let weights = combined.weights.iter().map(|weight| format!("{weight:.4}"));
        let weights = ("weights", weights.collect::<Vec<_>>().join(" "));
        let training = settings.into_iter().chain([weights]);
        About {
            command: Some(command_line::of_model(self.read_paths())),
            seed: self.seed.number,
            training: training.map(|(name, value)| (name.to_owned(), value)).collect(),
            ..About::default()
        }
    }

    fn read(&self, files: &[PathBuf], session: &Session) -> Result<Vec<Sentence>> {
        let mut all = Vec::new();
        for path in files {
            all.extend(self.reading.read_all(path, session)?);
        }
        Ok(all)
    }

    fn read_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.experts.iter().chain(&self.files).chain(&self.dev)
    }

    /// Returns the files of the run.
    pub(super) fn files(&self) -> Files {
        Files::default().reads(self.read_paths()).writes("-o", [&self.output])
    }
}

impl Summary {
    fn text(&self) -> String {
        let mut table = Table::new([
            ("expert", Align::Left),
            ("weight", Align::Right),
            ("errors", Align::Right),
        ]);
        for ExpertLine { model, weight, errors } in &self.experts {
            table.row([model.clone(), format!("{weight:.3}"), errors.to_string()]);
        }
        table.row([self.model.clone(), String::new(), self.errors.to_string()]);
        format!("{}on {}, by {}\n", table.text(0), counted(self.words, "word"), self.objective)
    }
}
