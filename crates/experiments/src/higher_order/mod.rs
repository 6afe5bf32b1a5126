//! Models whose arcs know of each other, trained and decoded as in the papers, compared with the papers' findings:
//! `docs/results/higher-order.md`.
//!
//! The page has sections, which can be recorded one by one. Sections that are not recorded keep their text and date in the
//! page. Each is a list of trials and a text about their outcomes; its verdicts are computed.

mod ablation;
mod accuracy;
mod constraints;
mod corpus;
mod experts;
mod factors;
mod iterations;
mod model;
mod recording;
mod search;
mod speed;
mod trial;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use self::recording::Recorded;
use self::trial::FactorTrial;
use crate::data::{Cut, Data, ENGLISH};
use crate::lab::{Lab, Try};
use crate::page::{Finding, Table, count};

/// Factor graphs, truncated belief propagation and minimum risk, on the treebanks of the data folder
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The page to write; sections of it that are not recorded are kept
    #[arg(short, long, value_name = "FILE", default_value = "docs/results/higher-order.md")]
    output: PathBuf,

    /// Only this section; may be given several times
    #[arg(long, value_name = "SECTION")]
    only: Vec<Section>,

    /// Trials run at once. Times are comparable only with one
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1)]
    threads: usize,

    /// Approximate number of training words of each treebank
    #[arg(long, value_name = "N", conflicts_with = "full")]
    words: Option<usize>,

    /// Whole treebanks: hours instead of minutes
    #[arg(long)]
    full: bool,

    /// Folder for cached outcomes
    #[arg(long, value_name = "DIR", default_value = "target/experiments")]
    cache: PathBuf,
}

/// The sections of the page, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Section {
    /// Smith & Eisner 2008, table 2: families of factors, exact projective inference, hill-climbing
    Factors,
    /// Search error of belief propagation beside exact projective inference
    Search,
    /// Time of belief propagation by family, length and iteration
    Speed,
    /// Likelihood, unrolled gradients and risk by number of iterations
    Iterations,
    /// Smith & Eisner 2008, table 3: weaker hard constraints
    Constraints,
    /// Smith & Eisner 2006: combining ten experts
    Experts,
    /// Ingredients of the default parser
    Ablation,
}

impl Section {
    /// Returns the heading, by which a section is found in the page.
    fn heading(self) -> &'static str {
        match self {
            Self::Factors => "Families of factors (Smith & Eisner 2008, table 2)",
            Self::Search => "Search error",
            Self::Speed => "Time by family, length and iteration",
            Self::Iterations => "Gradients and numbers of iterations",
            Self::Constraints => "Weaker hard constraints (Smith & Eisner 2008, table 3)",
            Self::Experts => "Combining experts (Smith & Eisner 2006)",
            Self::Ablation => "Ingredients of the default parser",
        }
    }

    fn write(self, plan: &Plan, desk: &Desk<'_>) -> Result<WrittenSection> {
        match self {
            Self::Factors => accuracy::write(plan, &desk.models()?),
            Self::Search => search::write(plan, &desk.models()?),
            Self::Speed => speed::write(&desk.lab("speed")?),
            Self::Iterations => iterations::write(plan, &desk.models()?),
            Self::Constraints => constraints::write(plan, &desk.models()?),
            Self::Experts => experts::write(plan, &desk.lab("experts")?),
            Self::Ablation => ablation::write(plan, &desk.lab("ablation")?),
        }
    }
}

/// Text and findings of a section.
struct WrittenSection {
    text: String,
    findings: Vec<Finding>,
}

/// Opens labs.
struct Desk<'a> {
    arguments: &'a Arguments,
}

impl Desk<'_> {
    fn models(&self) -> Result<Lab<FactorTrial>> {
        self.lab("models")
    }

    fn lab<T: Try>(&self, name: &str) -> Result<Lab<T>> {
        let folder = self.arguments.cache.join("higher-order").join(name);
        Lab::open(Data::find()?, folder, self.arguments.threads)
    }
}

/// The treebanks of the papers' tables, or those nearest to them.
const TREEBANKS: [&str; 3] = ["conllx/danish", "conllx/dutch", ENGLISH];

/// Sizes of the trials.
#[derive(Clone, Copy, Debug)]
struct Plan {
    cut: Cut,
    /// Cut for many trainings, or long ones.
    small: Cut,
    passes: usize,
}

impl Plan {
    const QUICK: Plan = Plan {
        cut: Cut { train: 15_000, test: 8_000 },
        small: Cut { train: 6_000, test: 8_000 },
        passes: 8,
    };
    const FULL: Plan = Plan { cut: Cut::NONE, small: Cut::NONE, passes: 10 };
}

/// Records sections, and writes the page.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut plan = if arguments.full { Plan::FULL } else { Plan::QUICK };
    if let Some(words) = arguments.words {
        plan.cut.train = words;
        plan.small.train = words;
    }
    let path = &arguments.output;
    let before = fs::read_to_string(path).unwrap_or_default();
    let mut recorded = Recorded::of_page(&before);
    let all = Section::value_variants();
    let sections = if arguments.only.is_empty() { all } else { &arguments.only };
    for section in sections {
        let machine = recording::machine_line();
        let WrittenSection { text, findings } = section.write(&plan, &Desk { arguments })?;
        let mut body = format!("{machine}\n\n{text}");
        if !findings.is_empty() {
            body += &format!("\n{}", Finding::table(&findings));
        }
        recorded.replace(section.heading(), body);
        // Written after each section, so that an interruption loses nothing.
        let headings: Vec<&str> = all.iter().map(|section| section.heading()).collect();
        let findings = recorded.findings(&headings);
        let page = format!("{}{}", introduction(&plan, &findings), recorded.text(&headings));
        fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn introduction(plan: &Plan, findings: &[String]) -> String {
    let mut text = String::from(
        "# Trees that see their own shape: factors, belief propagation and minimum risk\n\n\
         Written by `scripts/record-experiments higher-order`; do not edit. The script computes every number and every \
         verdict. `--only SECTION` records one section, and the others keep their text and date.\n\n\
         This page repeats experiments of D. Smith & J. Eisner (2008), *Dependency parsing by belief propagation*; \
         V. Stoyanov & J. Eisner (2012), *Minimum-risk training of approximate CRF-based NLP systems*; and D. Smith & \
         J. Eisner (2006), *Minimum risk annealing for training log-linear models*.\n\n\
         ## Conditions\n\n",
    );
    if plan.cut.train < usize::MAX {
        text += &format!(
            "Treebanks are cut to save time: sentences evenly spaced over each file, about {} training words and {} words to \
             judge. Sections with many trainings (numbers of iterations, weaker constraints, ingredients) have {} training \
             words. `--words` takes more, `--full` all. So accuracies are lower than those of a full parser, and differences \
             below one point are often not significant. ",
            count(plan.cut.train),
            count(plan.cut.test),
            count(plan.small.train)
        );
    }
    text += &format!(
        "No test file is read: models are judged on `dev` or, where there is none, on the last fifth of `train`. Nothing \
         is tuned on it but the rate of AdaGrad, on Danish. Words and tags are gold, and all tokens count, including punctuation. \
         Sections on the models of 2008 leave out sentences of more than {} words, because exact second-order inference \
         takes O(n⁴). Their arcs have the templates of McDonald et al. (2005); factors see tags and coarse tags, \
         directions and binned distances, as in the paper. All make {} passes of AdaGrad from 0 and take the mean of the \
         weights after each pass of the second half (the paper: at most 10 passes of SGD, early stopping), with one seed. \
         Trees come from the sum of beliefs, the decoder with the fewest expected errors (the paper: the sum of their \
         log-odds). p: paired permutation test over sentences.\n\n",
        corpus::LONGEST,
        plan.passes
    );
    text += "## In short\n\n\
             - *Reproduced*: if the paper claims a difference, it is significant here (p < .05). If it claims no \
             difference, there is no significant one.\n\
             - *In sign only*: the difference has the same sign, but is not significant.\n\
             - *Holds*: reproduced, for a claim without numbers in the papers.\n\n";
    if !findings.is_empty() {
        let mut table = Table::of_text(&Finding::COLUMNS).text().to_owned();
        findings.iter().for_each(|row| table += &format!("{row}\n"));
        text += &table;
    }
    text
}
