//! Detection of planted annotation errors by `tutte audit` and simpler detectors: `docs/results/audit.md`.
//!
//! Manual verdicts on finds are a table in the same folder, written by hand; the page counts them.

mod by_eye;
mod detect;
mod plant;

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde::{Deserialize, Serialize};
use tutte_trees::TreeSet;

use self::by_eye::ByEye;
use self::detect::{Detector, Suspicion};
use self::plant::{Planted, plant};
use crate::clock::Processor;
use crate::data::{Data, ENGLISH, Source, words};
use crate::lab::{Lab, Try};
use crate::page::{Table, count, percent};

/// Plant annotation errors and compare detectors
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The page to write
    #[arg(short, long, value_name = "FILE", default_value = "docs/results/audit.md")]
    output: PathBuf,

    /// Manual verdicts on the first finds on English EWT
    #[arg(long, value_name = "FILE", default_value = "docs/results/audit-by-eye.tsv")]
    by_eye: PathBuf,

    /// Only this treebank, such as english-ewt; may be given several times
    #[arg(long, value_name = "TREEBANK")]
    only: Vec<String>,

    /// Folder for cached outcomes
    #[arg(long, value_name = "DIR", default_value = "target/experiments")]
    cache: PathBuf,
}

const TREEBANKS: [&str; 3] = [ENGLISH, "ud/portuguese-bosque", "ud/gothic-proiel"];

/// Share of arcs that get a planted error.
const SHARE: f64 = 0.01;

/// Numbers of the most suspicious arcs for which precision is reported.
const AMONG: [usize; 3] = [100, 500, 1000];

/// Share of the most suspicious arcs for which recall is reported.
const LOOKED_AT: f64 = 0.02;

/// Target of the precision at 500 on English.
const TARGET_PRECISION: f64 = 0.6;

/// Rankings that the audit is compared with: name, and its name in the text.
const BASELINES: [(&str, &str); 3] = [
    ("−log P(head), by label", "heads alone"),
    ("one pass: local softmax", "the local softmax"),
    ("one pass: perceptron margin", "the perceptron's margin"),
];

/// A treebank and a detector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cell {
    treebank: String,
    detector: Detector,
}

/// Outcome of a detector on a treebank.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Outcome {
    words: usize,
    planted: usize,
    /// Processor time, in seconds.
    seconds: f64,
    rankings: Vec<Ranking>,
}

/// Planted errors at the top of a ranking.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Ranking {
    name: String,
    /// Planted errors among the first [`AMONG`].
    among: [usize; 3],
    /// Planted errors among the first [`LOOKED_AT`].
    looked_at: usize,
}

impl Ranking {
    fn new(name: String, suspicion: &Suspicion, wrong: &BTreeSet<(usize, usize)>) -> Self {
        let mut arcs: Vec<(f64, bool)> = Vec::new();
        for (at, words) in suspicion.iter().enumerate() {
            for (word, &suspicion) in words.iter().enumerate() {
                arcs.push((suspicion, wrong.contains(&(at, word))));
            }
        }
        // The sort is stable: of equally suspicious arcs, the earlier one comes first.
        arcs.sort_by(|a, b| b.0.total_cmp(&a.0));
        let found = |first: usize| arcs.iter().take(first).filter(|(_, wrong)| *wrong).count();
        let looked_at = (LOOKED_AT * arcs.len() as f64).ceil() as usize;
        Self { name, among: AMONG.map(found), looked_at: found(looked_at) }
    }

    fn precision(&self, at: usize) -> f64 {
        self.among[at] as f64 / AMONG[at] as f64
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", Source::treebank(&self.treebank), self.detector)
    }
}

impl Try for Cell {
    type Outcome = Outcome;

    /// Templates of detectors are fixed, so they are not part of the cache key.
    fn templates(&self) -> String {
        String::new()
    }

    fn seconds(outcome: &Outcome) -> f64 {
        outcome.seconds
    }

    fn headline(outcome: &Outcome) -> f64 {
        outcome.rankings.first().map_or(0.0, |first| 100.0 * first.precision(1))
    }

    /// Uses all processors; cells run one after the other.
    fn run(&self, data: &Data) -> Result<Outcome> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let clean = data.train(&self.treebank)?;
        let Planted { treebank, wrong } = plant(&clean, SHARE, 1)?;
        let mut tree_set = TreeSet::NonProjectiveSingleRoot;
        for sentence in &treebank {
            if sentence.tree()?.root_words().count() > 1 {
                tree_set = TreeSet::NonProjectiveMultiRoot;
            }
        }
        let clock = Processor::start();
        let suspicions = self.detector.run(&treebank, tree_set, threads)?;
        let seconds = clock.seconds();
        let ranking = |(name, suspicion)| Ranking::new(name, &suspicion, &wrong);
        let rankings = suspicions.into_iter().map(ranking).collect();
        Ok(Outcome { words: words(&treebank), planted: wrong.len(), seconds, rankings })
    }
}

/// Runs all cells and writes the page.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let lab = Lab::open(Data::find()?, arguments.cache.join("audit"), 1)?;
    let wanted = |treebank: &&str| {
        let name = Source::treebank(treebank).to_string();
        arguments.only.is_empty() || arguments.only.contains(&name)
    };
    let cells = |treebank: &str| {
        let treebank = treebank.to_owned();
        Detector::ALL.map(|detector| Cell { treebank: treebank.clone(), detector })
    };
    let mut results = Vec::new();
    // The smallest treebank first, for early results.
    for treebank in TREEBANKS.into_iter().rev().filter(wanted) {
        let cells = cells(treebank);
        lab.run(&cells)?;
        let outcomes = cells.iter().map(|cell| lab.outcome(cell));
        results.push((treebank, outcomes.collect::<Result<Vec<_>>>()?));
    }
    results.reverse();
    let by_eye = ByEye::read(&arguments.by_eye)?;
    let text = page(&results, by_eye.as_ref());
    fs::write(&arguments.output, text)
        .with_context(|| format!("cannot write {}", arguments.output.display()))
}

fn page(results: &[(&str, Vec<Outcome>)], by_eye: Option<&ByEye>) -> String {
    let mut text = format!(
        "# Auditing treebanks: detection of planted errors\n\n\
         Written by `scripts/record-experiments audit`; do not edit. The script computes every number, except \
         for the manual verdicts, which are in [audit-by-eye.tsv](audit-by-eye.tsv).\n\n\
         ## Planted errors\n\n\
         **Question:** if some arcs of a treebank are wrong, does `tutte audit` rank them first? **Method:** in \
         the training files of treebanks, {} % of the words, chosen at random, get another head. The new head is \
         chosen at random among plausible ones: the heads still form a tree with the same root words, and the \
         treebank has an arc with these two tags in this direction. Labels stay. All detectors use the same five \
         folds. No model is trained on the arcs it judges, on other sentences of their documents, or on \
         sentences with the same words.\n\n\
         Limits of these numbers:\n\n\
         - Precision counts only planted errors. Treebanks have other errors, which count as false finds here, \
         so the precision is a lower bound.\n\
         - Planted errors are errors of heads only. A ranking that also uses labels, as an audit of a real \
         treebank must, cannot gain from that here.\n\
         - Random heads are easier to find than errors of annotators. For those, see below.\n\
         - Errors were planted once, so differences of a few points may be random.\n\
         - The ranking of `tutte audit` was chosen among the first four rows on Gothic, because on clean English \
         another ranking had shown rare labels first.\n\n\
         Detectors:\n\n\
         - *log P(other) − log P(head, label), by label*: `tutte audit`, with models of the preset `fast`. It is \
         the log-odds of the best alternative, minus the mean log-odds of arcs with the same label. The five \
         rows below it are other rankings by the same models: not by label, without the alternative, or by heads \
         only.\n\
         - *one pass: −log P(head)*: a distribution over trees with few features (the {} templates of a pruner, \
         no labels, no second pass). The two detectors below have the same templates and the same number of \
         passes over the treebank.\n\
         - *local softmax*: head selection, a softmax over the heads of each word, trained by AdaGrad. It does \
         not model trees.\n\
         - *perceptron margin*: averaged perceptron; score of the best tree without the arc minus score of the \
         best tree with it.\n\n",
        100.0 * SHARE,
        tutte::features::FeatureSet::pruner().templates().len(),
    );
    for (treebank, outcomes) in results {
        text += &section(treebank, outcomes);
    }
    text += &goal(results);
    match by_eye {
        Some(by_eye) => text += &by_eye.text(),
        None => text += "## By eye\n\nThere are no manual verdicts yet.\n",
    }
    text
}

fn section(treebank: &str, outcomes: &[Outcome]) -> String {
    let (words, planted) =
        outcomes.first().map_or((0, 0), |outcome| (outcome.words, outcome.planted));
    let mut text = format!(
        "### {}\n\n{} words, {} planted errors.\n\n",
        Source::treebank(treebank),
        count(words),
        count(planted)
    );
    if let Some(among) = AMONG.into_iter().find(|&among| among > planted) {
        text += &format!(
            "There are fewer than {among}, so precision at {among} is at most {} %.\n\n",
            percent(planted as f64 / among as f64)
        );
    }
    let among = AMONG.map(|among| format!("precision at {among}, %"));
    let share = format!("% of errors in the first {} %", 100.0 * LOOKED_AT);
    let columns: Vec<String> = [String::new()]
        .into_iter()
        .chain(among)
        .chain([share, "processor time, s".to_owned()])
        .collect();
    let mut table = Table::new(&columns);
    for Outcome { rankings, seconds, planted, .. } in outcomes {
        for (at, ranking) in rankings.iter().enumerate() {
            let precision = [0, 1, 2].map(|at| percent(ranking.precision(at)));
            let share = percent(ranking.looked_at as f64 / (*planted).max(1) as f64);
            // All rankings of a run take the same time.
            let seconds = if at == 0 { format!("{seconds:.0}") } else { String::new() };
            let row: Vec<String> = [ranking.name.clone()]
                .into_iter()
                .chain(precision)
                .chain([share, seconds])
                .collect();
            table.row(&row);
        }
    }
    text += table.text();
    text.push('\n');
    text
}

/// Compares the audit with its target and with the baselines.
fn goal(results: &[(&str, Vec<Outcome>)]) -> String {
    let mut text = String::from("### In short\n\n");
    for (treebank, outcomes) in results {
        let rankings = || outcomes.iter().flat_map(|outcome| &outcome.rankings);
        let Some(audit) = rankings().next() else { continue };
        let precision = audit.precision(1);
        text += &format!(
            "- {}: {} % of the first {} finds of `tutte audit` are planted errors",
            Source::treebank(treebank),
            percent(precision),
            AMONG[1],
        );
        if *treebank == ENGLISH {
            let verdict = if precision >= TARGET_PRECISION { "reached" } else { "not reached" };
            text += &format!(" (target {} %: **{verdict}**)", percent(TARGET_PRECISION));
        }
        for (name, what) in BASELINES {
            if let Some(ranking) = rankings().find(|ranking| ranking.name == name) {
                text += &format!(", {} % with {what}", percent(ranking.precision(1)));
            }
        }
        text += ".\n";
    }
    text += "\n";
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_errors_are_counted_among_the_most_suspicious() {
        let suspicion = vec![vec![0.5; 100], vec![f64::INFINITY, 2.0, -1.0]];
        let wrong = [(1, 0), (1, 1), (0, 99), (1, 2)].into_iter().collect();
        let ranking = Ranking::new("x".to_owned(), &suspicion, &wrong);
        // The first hundred are the two most suspicious arcs and 98 of the equally suspicious ones.
        assert_eq!((ranking.among, ranking.looked_at), ([2, 4, 4], 2));
        assert!((ranking.precision(0) - 0.02).abs() < 1e-12);
    }
}
