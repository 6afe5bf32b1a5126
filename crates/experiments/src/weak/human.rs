//! Rules written by people, without counting, on all treebanks with universal tags.

use std::path::Path;

use anyhow::Result;

use super::corpus::{Corpus, TagColumn};
use super::short::ours;
use super::trial::{Evaluated, Features, How, Oracle, RuleSource, Set, Weak};
use crate::lab::Lab;
use crate::page::{Table, percent};

/// All treebanks with universal tags and a test file.
const TREEBANKS: [&str; 17] = [
    "ancient_greek-perseus",
    "arabic-padt",
    "czech-cltt",
    "czech-fictree",
    "danish-ddt",
    "dutch-alpino",
    "dutch-lassysmall",
    "english-ewt",
    "english-partut",
    "english-pud",
    "french-partut",
    "german-pud",
    "gothic-proiel",
    "portuguese-bosque",
    "slovenian-ssj",
    "spanish-gsd",
    "turkish-imst",
];

const RULES: &str = "rules/universal-20.tut";
const HEAD_FINAL: &str = "rules/universal-20-head-final.tut";

/// Returns true for a treebank of a head-final language.
fn is_head_final(treebank: &str) -> bool {
    treebank.starts_with("turkish")
}

/// Returns true if the treebank has trees besides the test file.
fn has_trees(treebank: &str) -> bool {
    !treebank.ends_with("pud")
}

fn file(treebank: &str) -> &'static str {
    if is_head_final(treebank) { HEAD_FINAL } else { RULES }
}

fn corpora(treebank: &str) -> [Corpus; 3] {
    let name = format!("ud/{treebank}");
    [
        Corpus::short(&name, TagColumn::Coarse, 10),
        Corpus::short(&name, TagColumn::Coarse, 20),
        Corpus::whole(&name, 60),
    ]
}

/// Returns the trial with the settings of `tutte learn`.
fn learnt(corpus: Corpus, rules: RuleSource) -> Weak {
    let settings = ours(corpus, rules);
    Weak {
        set: Set::One,
        variance: Some(300.0),
        raw: 3000,
        evaluated: Evaluated::HeldOut,
        ..settings
    }
}

fn human(corpus: Corpus, file: &str) -> Weak {
    learnt(corpus, RuleSource::File(file.to_owned()))
}

fn alone(corpus: Corpus, file: &str) -> Weak {
    Weak { how: How::Rules, ..human(corpus, file) }
}

fn counted(corpus: Corpus, kind: Oracle) -> Weak {
    // Some treebanks are too small for the paper's threshold of 200.
    learnt(corpus, RuleSource::Oracle { kind, top: 20, least: Some(50), exact: false })
}

fn supervised(corpus: Corpus) -> Weak {
    let settings = Weak::supervised(corpus);
    Weak { features: Features::Ours, set: Set::One, evaluated: Evaluated::HeldOut, ..settings }
}

/// Returns the floors of human rules: name, trial, floor in percent. Accuracy is on training sentences.
pub(crate) fn floors() -> Vec<(&'static str, Weak, f64)> {
    let of = |treebank, longest| {
        let corpus = Corpus::short(&format!("ud/{treebank}"), TagColumn::Coarse, longest);
        Weak { raw: usize::MAX, evaluated: Evaluated::All, ..human(corpus, RULES) }
    };
    vec![
        ("human rules, EWT ≤ 10", of("english-ewt", 10), 62.0),
        ("human rules, EWT ≤ 20", of("english-ewt", 20), 57.0),
        ("human rules, Portuguese ≤ 10", of("portuguese-bosque", 10), 73.0),
        ("human rules, Portuguese ≤ 20", of("portuguese-bosque", 20), 68.0),
    ]
}

pub(crate) fn trials() -> Vec<Weak> {
    let mut all: Vec<Weak> = floors().into_iter().map(|(_, trial, _)| trial).collect();
    for treebank in TREEBANKS {
        let [ten, twenty, whole] = corpora(treebank);
        for corpus in [ten.clone(), twenty.clone(), whole.clone()] {
            all.push(alone(corpus.clone(), file(treebank)));
            all.push(human(corpus, file(treebank)));
        }
        let other = if is_head_final(treebank) { RULES } else { HEAD_FINAL };
        all.push(human(ten.clone(), other));
        if has_trees(treebank) {
            all.extend([Oracle::Top, Oracle::Frequent].map(|kind| counted(ten.clone(), kind)));
            all.push(supervised(ten));
        }
    }
    all
}

pub(crate) fn section(lab: &Lab<Weak>, _: &Path) -> Result<String> {
    let mut text = format!(
        "\n## 4. Rules that people write\n\n\
         [`{RULES}`](../../{RULES}) has twenty rules over universal tags. [`{HEAD_FINAL}`](../../{HEAD_FINAL}) \
         is for head-final languages (here Turkish). Both were written from the guidelines of Universal \
         Dependencies, before anything was counted, and were not changed afterwards.\n\n\
         Accuracy on the test file. Parsers are trained as by `tutte learn` with prior variance 300, on at most \
         3,000 raw sentences of the training file, or of the dev file if there is no training file. PUD has \
         only a test file: its sentences, without trees, are the raw text, and no rules are counted in it. \
         Means are over the treebanks that have a number.\n\n\
         - *wrong variant*: the rules of the other word order.\n\
         - *oracle's 20*: twenty rules counted in the training trees, with at least 50 pairs or words, binned. \
         *Pairs*: those of the paper, by share of pairs. *Nearest*: nearest rules, by number of arcs.\n\n"
    );
    let mut table = Table::new(&[
        "treebank",
        "≤ 10: rules alone",
        "trained",
        "wrong variant",
        "oracle's 20, pairs",
        "oracle's 20, nearest",
        "supervised",
        "≤ 20: rules alone",
        "trained",
        "≤ 60 with punctuation: rules alone",
        "trained",
    ]);
    let mut sums = [(0.0, 0usize); 10];
    let mut better = [0; 3];
    for treebank in TREEBANKS {
        let [ten, twenty, whole] = corpora(treebank);
        let other = if is_head_final(treebank) { RULES } else { HEAD_FINAL };
        let uas =
            |trial: Weak| -> Result<Option<f64>> { Ok(Some(lab.outcome(&trial)?.test.uas())) };
        let cells = [
            uas(alone(ten.clone(), file(treebank)))?,
            uas(human(ten.clone(), file(treebank)))?,
            uas(human(ten.clone(), other))?,
            if has_trees(treebank) { uas(counted(ten.clone(), Oracle::Top))? } else { None },
            if has_trees(treebank) { uas(counted(ten.clone(), Oracle::Frequent))? } else { None },
            if has_trees(treebank) { uas(supervised(ten))? } else { None },
            uas(alone(twenty.clone(), file(treebank)))?,
            uas(human(twenty, file(treebank)))?,
            uas(alone(whole.clone(), file(treebank)))?,
            uas(human(whole, file(treebank)))?,
        ];
        for (count, (alone, learnt)) in better.iter_mut().zip([(0, 1), (6, 7), (8, 9)]) {
            *count += usize::from(cells[learnt] > cells[alone]);
        }
        for ((sum, count), cell) in sums.iter_mut().zip(&cells) {
            *sum += cell.unwrap_or(0.0);
            *count += usize::from(cell.is_some());
        }
        let mut row = vec![treebank.to_owned()];
        row.extend(cells.iter().map(|cell| cell.map_or("–".to_owned(), percent)));
        table.row(&row);
    }
    let mut row = vec!["mean".to_owned()];
    row.extend(sums.iter().map(|(sum, count)| percent(sum / (*count).max(1) as f64)));
    table.row(&row);
    text += table.text();
    text += &format!(
        "\nTraining beats the rules alone on {} of {n} treebanks with sentences of at most ten words, on {} of \
         {n} with twenty, and on {} of {n} with sixty.\n",
        better[0],
        better[1],
        better[2],
        n = TREEBANKS.len()
    );
    Ok(text)
}
