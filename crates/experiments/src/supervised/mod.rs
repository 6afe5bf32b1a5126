//! The supervised learners of the founding papers, compared with the papers' findings:
//! `docs/results/supervised.md`.
//!
//! Each section is a list of trials and a text about their outcomes. Its verdicts are computed.

mod calibration;
mod clusters;
mod koo;
mod passive;
mod smith;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use crate::data::{Cut, Data, Source, words};
use crate::decoder::Decoder;
use crate::lab::Lab;
use crate::page::{Finding, Table, count, percent};
use crate::trial::{Templates, Trial};

/// The learners of the founding papers, on the treebanks of the data folder
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The page to write
    #[arg(short, long, value_name = "FILE", default_value = "docs/results/supervised.md")]
    output: PathBuf,

    /// Only this section; may be given several times
    #[arg(long, value_name = "SECTION")]
    only: Vec<Section>,

    /// Trials run at once [default: one for each processor]
    #[arg(short = 'j', long, value_name = "N")]
    threads: Option<usize>,

    /// Whole treebanks and more passes: hours instead of minutes
    #[arg(long)]
    full: bool,

    /// Folder for cached outcomes
    #[arg(long, value_name = "DIR", default_value = "target/experiments")]
    cache: PathBuf,
}

/// The sections of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Section {
    /// Koo et al.: projective and non-projective training of three models
    Koo,
    /// Smith & Smith: MIRA and conditional training, MAP and MBR
    Smith,
    /// Smith & Smith: latent clusters of arcs
    Clusters,
    /// Nguyen et al.: passive-aggressive learning, also across domains
    Passive,
    /// Calibration of all learners, and the choice of the default
    Calibration,
}

/// Text and findings of a section.
struct WrittenSection {
    text: String,
    findings: Vec<Finding>,
}

impl Section {
    fn trials(self, plan: &Plan) -> Vec<Trial> {
        match self {
            Section::Koo => koo::trials(plan),
            Section::Smith => smith::trials(plan),
            Section::Clusters => clusters::trials(plan),
            Section::Passive => passive::trials(plan),
            Section::Calibration => calibration::trials(plan),
        }
    }

    fn write(self, plan: &Plan, lab: &Lab<Trial>) -> Result<WrittenSection> {
        match self {
            Section::Koo => koo::write(plan, lab),
            Section::Smith => smith::write(plan, lab),
            Section::Clusters => clusters::write(plan, lab),
            Section::Passive => passive::write(plan, lab),
            Section::Calibration => calibration::write(plan, lab),
        }
    }
}

/// Sizes of the trials.
#[derive(Clone, Copy, Debug)]
struct Plan {
    cut: Cut,
    /// Cut for latent clusters: 32 clusters take 32 times as long.
    cluster_cut: Cut,
    /// Passes of online learners.
    passes: usize,
    /// Passes of learners that converge slowly: exponentiated gradient, L-BFGS.
    slow_passes: usize,
    cluster_passes: usize,
    bits: u32,
}

impl Plan {
    const QUICK: Plan = Plan {
        cut: Cut { train: 20_000, test: 8_000 },
        cluster_cut: Cut { train: 6_000, test: 6_000 },
        passes: 10,
        slow_passes: 25,
        cluster_passes: 6,
        bits: 21,
    };

    const FULL: Plan = Plan {
        cut: Cut { train: usize::MAX, test: usize::MAX },
        cluster_cut: Cut { train: 50_000, test: usize::MAX },
        passes: 30,
        slow_passes: 100,
        cluster_passes: 15,
        bits: 23,
    };

    /// Returns the usual trial: McDonald's templates, crossing arcs allowed, MAP decoding.
    fn trial(&self, source: Source, learner: &str) -> Trial {
        let is_slow = learner.starts_with("eg-") || learner.starts_with("lbfgs");
        Trial {
            source,
            cut: self.cut,
            learner: learner.to_owned(),
            after: None,
            templates: Templates::McDonald,
            projective: false,
            clusters: 0,
            passes: if is_slow { self.slow_passes } else { self.passes },
            bits: self.bits,
            decoders: vec![Decoder::Map],
            should_test_calibration: false,
        }
    }
}

/// Runs the trials and writes the page.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let threads = arguments
        .threads
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let lab = Lab::open(Data::find()?, arguments.cache.join("supervised"), threads)?;
    let plan = if arguments.full { Plan::FULL } else { Plan::QUICK };
    let all = Section::value_variants();
    let sections = if arguments.only.is_empty() { all } else { &arguments.only };
    let trials: Vec<Trial> = sections.iter().flat_map(|section| section.trials(&plan)).collect();
    lab.run(&trials)?;
    let mut written = Vec::new();
    for section in sections {
        written.push(section.write(&plan, &lab)?);
    }
    let text = page(&plan, &lab, &trials, &written)?;
    write(&arguments.output, &text)
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn page(
    plan: &Plan,
    lab: &Lab<Trial>,
    trials: &[Trial],
    sections: &[WrittenSection],
) -> Result<String> {
    let minutes = lab.seconds() / 60.0;
    let mut text = format!(
        "# Supervised learners: findings of the founding papers, and ours\n\n\
         Written by `scripts/record-experiments supervised`; do not edit. The script computes every number \
         and every verdict. Training took {minutes:.0} minutes of processor time.\n\n"
    );
    text += &conditions(plan, lab, trials)?;
    text += "## In short\n\n";
    text += "- *Reproduced*: if the paper claims a difference, it is significant here by a paired test over \
             sentences (p < .05). If the paper claims no difference, there is no significant one here.\n\
             - *In sign only*: the difference has the same sign, but is not significant.\n\
             - *Holds*: reproduced, for a claim that the paper makes without numbers.\n\n";
    let mut table = Table::of_text(&["finding", "paper", "here", ""]);
    for finding in sections.iter().flat_map(|section| &section.findings) {
        table.row(&finding.row());
    }
    text += table.text();
    for section in sections {
        text += "\n";
        text += &section.text;
    }
    Ok(text)
}

/// Returns a note for the page if McDonald's templates have no word prefixes of five letters.
fn without_prefixes() -> &'static str {
    if Templates::McDonald.set().to_string().contains("cut") {
        ""
    } else {
        " (without word prefixes of five letters, and with each tag in between counted once)"
    }
}

/// Describes the data and the training.
fn conditions(plan: &Plan, lab: &Lab<Trial>, trials: &[Trial]) -> Result<String> {
    let mut text = String::from("## Conditions\n\n");
    if plan.cut.train < usize::MAX {
        text += &format!(
            "Treebanks are cut to save time. Sentences evenly spaced over each file are kept: about {} \
             training words, and {} words each for tuning and testing ({} training words for latent \
             clusters). So accuracies are lower than those of a full parser, and differences below one point \
             are often not significant. `--full` runs all experiments without cuts. ",
            count(plan.cut.train),
            count(plan.cut.test),
            count(plan.cluster_cut.train),
        );
    }
    text += &format!(
        "If a treebank has no `train` file, `dev` is the training file. If it has no other `dev`, the last \
         fifth of the training sentences is held out for tuning. Tokens and tags are gold. All tokens \
         count, including punctuation. Unless stated otherwise, templates are those of McDonald, Crammer & \
         Pereira (2005){}, hashed into 2^{} weights (the papers kept the features of gold arcs in a \
         dictionary). Online learners make {} passes, exponentiated gradient and L-BFGS {}. For each decoder, \
         the pass with the best accuracy on dev is tested. Trees may have several roots if those of the \
         training file do.\n\n",
        without_prefixes(),
        plan.bits,
        plan.passes,
        plan.slow_passes
    );
    let mut table =
        Table::new(&["", "train sentences", "words", "dev words", "test words", "% crossing arcs"]);
    let mut seen: Vec<&Source> = Vec::new();
    for trial in trials {
        if seen.contains(&&trial.source) || !matches!(trial.source, Source::Treebank(_)) {
            continue;
        }
        seen.push(&trial.source);
        let split = lab.data.split(&trial.source, plan.cut)?;
        table.row(&[
            trial.source.to_string(),
            count(split.train.len()),
            count(words(&split.train)),
            count(words(&split.dev)),
            count(words(&split.test)),
            percent(split.crossing()?),
        ]);
    }
    text += table.text();
    text += "\n";
    Ok(text)
}
