//! The supervised learners of the founding papers, beside what the papers found:
//! `docs/results/supervised.md`.
//!
//! A section is a list of trials and a text about what they found; the text's verdicts are computed.

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
    only: Vec<Name>,

    /// Trials run at once [default: one for each processor]
    #[arg(short = 'j', long, value_name = "N")]
    threads: Option<usize>,

    /// Whole treebanks and more passes: hours instead of minutes
    #[arg(long)]
    full: bool,

    /// Where to keep what trials have found
    #[arg(long, value_name = "DIR", default_value = "target/experiments")]
    cache: PathBuf,
}

/// The sections of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
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

/// A section, written.
struct Written {
    text: String,
    findings: Vec<Finding>,
}

impl Name {
    fn trials(self, plan: &Plan) -> Vec<Trial> {
        match self {
            Name::Koo => koo::trials(plan),
            Name::Smith => smith::trials(plan),
            Name::Clusters => clusters::trials(plan),
            Name::Passive => passive::trials(plan),
            Name::Calibration => calibration::trials(plan),
        }
    }

    fn write(self, plan: &Plan, lab: &Lab<Trial>) -> Result<Written> {
        match self {
            Name::Koo => koo::write(plan, lab),
            Name::Smith => smith::write(plan, lab),
            Name::Clusters => clusters::write(plan, lab),
            Name::Passive => passive::write(plan, lab),
            Name::Calibration => calibration::write(plan, lab),
        }
    }
}

/// How much is run.
#[derive(Clone, Copy, Debug)]
struct Plan {
    cut: Cut,
    /// For what clusters learn from: with 32 kinds of arcs, all takes 32 times as long.
    cluster_cut: Cut,
    /// Of online learners.
    passes: usize,
    /// Of learners that approach an optimum slowly: exponentiated gradient, L-BFGS.
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

    /// A trial as most are: McDonald's templates, crossing arcs allowed, the best tree.
    fn trial(&self, source: Source, learner: &str) -> Trial {
        let slow = learner.starts_with("eg-") || learner.starts_with("lbfgs");
        Trial {
            source,
            cut: self.cut,
            learner: learner.to_owned(),
            after: None,
            templates: Templates::McDonald,
            projective: false,
            kinds: 0,
            passes: if slow { self.slow_passes } else { self.passes },
            bits: self.bits,
            decoders: vec![Decoder::Map],
            judged: false,
        }
    }
}

/// Runs trials and writes the page.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let threads = arguments
        .threads
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let lab = Lab::open(Data::find()?, arguments.cache.join("supervised"), threads)?;
    let plan = if arguments.full { Plan::FULL } else { Plan::QUICK };
    let all = Name::value_variants();
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

fn page(plan: &Plan, lab: &Lab<Trial>, trials: &[Trial], sections: &[Written]) -> Result<String> {
    let minutes = lab.seconds() / 60.0;
    let mut text = format!(
        "# Supervised learners: what the founding papers found, and what we find\n\n\
         Written by `scripts/record-experiments supervised`; do not edit. Every number, and every \
         verdict, is computed by it; learning took {minutes:.0} minutes of processor time.\n\n"
    );
    text += &conditions(plan, lab, trials)?;
    text += "## In short\n\n";
    text += "*Reproduced*: found again, and by a paired test over sentences not by luck (p < .05) where \
             a difference is claimed, or not significantly violated where none is. *In sign only*: the \
             difference points the same way, but may be luck. *Holds*: likewise, of what a paper suggests without numbers.\n\n";
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

/// What must be said of McDonald's templates while they have no forms cut to five letters.
fn without_prefixes() -> &'static str {
    match Templates::McDonald.set().to_string().contains("cut") {
        true => "",
        false => " (without forms cut to five letters, and with each tag in between counted once)",
    }
}

/// What was learnt from, and how.
fn conditions(plan: &Plan, lab: &Lab<Trial>, trials: &[Trial]) -> Result<String> {
    let mut text = String::from("## Conditions\n\n");
    if plan.cut.train < usize::MAX {
        text += &format!(
            "Treebanks are cut, by keeping sentences evenly spaced over each file: about {} words to learn \
             from and {} each to tune on and to test on ({} words to learn from with latent clusters). So \
             numbers are lower than a parser's would be, and differences below a point are often luck; \
             `--full` runs it all without cuts. ",
            count(plan.cut.train),
            count(plan.cut.test),
            count(plan.cluster_cut.train),
        );
    }
    text += &format!(
        "Where there is no `train` file, `dev` is learnt from; where there is no other `dev`, the last \
         fifth of what would be learnt from is kept to tune on. Tokens and tags are gold, all tokens \
         count, punctuation too. Templates are those of McDonald, Crammer & Pereira (2005) if nothing else \
         is said{}, hashed into 2^{} weights (the papers kept the features of gold arcs in a dictionary \
         instead). Online learners make {} passes, exponentiated gradient and L-BFGS {}; the pass that \
         does best on dev is tested, each decoder with its own. Several roots are possible where the \
         training file has them.\n\n",
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
