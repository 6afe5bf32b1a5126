//! Longer sentences, and the number of trees that a supervised parser needs for the same accuracy (Druck, Mann &
//! McCallum 2009, table 2).

use std::path::Path;

use anyhow::Result;

use super::corpus::Corpus;
use super::trial::{Evaluated, Features, How, Oracle, RuleSource, Set, Weak};
use crate::lab::Lab;
use crate::page::{Finding, Table, Verdict, mean, percent};

const TREEBANKS: [&str; 5] = [
    "conllx/dutch",
    "conll2007/spanish",
    "ud/turkish-imst",
    "ud/portuguese-bosque",
    "conllx/danish",
];
const LENGTHS: [usize; 2] = [20, 60];
const SPLITS: std::ops::RangeInclusive<u64> = 1..=5;
/// Numbers of trees: 10 · 2^k.
const SIZES: [usize; 7] = [10, 20, 40, 80, 160, 320, 640];
/// Largest number of raw sentences.
const RAW: usize = 3000;

fn corpora() -> Vec<Corpus> {
    let of = |name| LENGTHS.map(|longest| Corpus::whole(name, longest));
    TREEBANKS.into_iter().flat_map(of).collect()
}

/// Returns the threshold of possible parents: they have more arcs than this in the treebank.
fn least(corpus: &Corpus) -> Option<u64> {
    Some(if corpus.longest <= 20 { 10 } else { 100 })
}

fn rules(corpus: &Corpus, kind: Oracle, exact: bool) -> RuleSource {
    RuleSource::Oracle { kind, top: usize::MAX, least: least(corpus), exact }
}

fn ge(corpus: &Corpus, kind: Oracle) -> Weak {
    let rules = rules(corpus, kind, false);
    Weak { raw: RAW, evaluated: Evaluated::HeldOut, ..Weak::new(corpus.clone(), rules) }
}

fn baseline(corpus: &Corpus, kind: Oracle) -> Weak {
    Weak { how: How::Rules, ..ge(corpus, kind) }
}

/// Returns the trial with our features and one root.
fn ours(corpus: &Corpus, kind: Oracle) -> Weak {
    let settings = Weak { features: Features::Ours, set: Set::One, ..ge(corpus, kind) };
    Weak { variance: Some(30.0), ..settings }
}

/// Returns the trial with our features, exact targets and no crossing arcs.
fn best(corpus: &Corpus, kind: Oracle) -> Weak {
    Weak {
        rules: rules(corpus, kind, true),
        set: Set::Projective,
        variance: Some(100.0),
        ..ours(corpus, kind)
    }
}

/// Returns the trial of a supervised parser from `trees` trees.
fn supervised(corpus: &Corpus, trees: usize, split: u64) -> Weak {
    Weak {
        trees,
        split,
        features: Features::Ours,
        evaluated: Evaluated::HeldOut,
        ..Weak::supervised(corpus.clone())
    }
}

/// Returns the floors of lengths ≤ 20: name, trial, floor in percent. Accuracy is on training sentences.
pub(crate) fn floors() -> Vec<(&'static str, Weak, f64)> {
    let spanish = Corpus::whole(TREEBANKS[1], 20);
    let turkish = Corpus::whole(TREEBANKS[2], 20);
    let several = |corpus: &Corpus| Weak {
        set: Set::Several,
        evaluated: Evaluated::All,
        ..ours(corpus, Oracle::Parents)
    };
    let exact = Weak { evaluated: Evaluated::All, ..best(&spanish, Oracle::Parents) };
    vec![
        ("Spanish ≤ 20, possible parents", several(&spanish), 69.5),
        ("Spanish ≤ 20, possible parents, projective, exact, σ² 100", exact, 73.0),
        ("Turkish ≤ 20, possible parents", several(&turkish), 58.0),
    ]
}

pub(crate) fn trials() -> Vec<Weak> {
    let mut all: Vec<Weak> = floors().into_iter().map(|(_, trial, _)| trial).collect();
    for corpus in corpora() {
        for kind in [Oracle::Parents, Oracle::ParentsSequence] {
            all.extend([baseline, ge].map(|trial| trial(&corpus, kind)));
        }
        all.extend([ours, best].map(|trial| trial(&corpus, Oracle::ParentsSequence)));
        for size in SIZES {
            all.extend(SPLITS.map(|split| supervised(&corpus, size, split)));
        }
    }
    all
}

/// Formats the range of sizes in which a supervised parser reaches an accuracy, in the mean over splits.
fn bracket(lab: &Lab<Weak>, corpus: &Corpus, uas: f64) -> Result<String> {
    let mut before = 0;
    for size in SIZES {
        let found: Vec<f64> = SPLITS
            .map(|split| Ok(lab.outcome(&supervised(corpus, size, split))?.test.uas()))
            .collect::<Result<_>>()?;
        if mean(found) >= uas {
            return Ok(match before {
                0 => format!("< {size}"),
                _ => format!("{before}–{size}"),
            });
        }
        before = size;
    }
    Ok(format!("> {before}"))
}

pub(crate) fn section(lab: &Lab<Weak>, _: &Path) -> Result<String> {
    let mut text = format!(
        "\n## 2. Longer sentences, and the number of trees they are worth\n\n\
         Sentences of at most 20 and 60 words, with punctuation and coarse tags; at most {RAW} raw sentences. \
         Accuracy on the test file.\n\n\
         - *parents*: all combinations of two tags, direction and distance with more than 10 arcs (≤ 20 words) \
         or 100 arcs (≤ 60 words) in the training trees, including the root.\n\
         - *+ sequence*: 25 more rules, with words between or beside.\n\
         - *trees*: number of random trees that a supervised parser with our features needs for the accuracy \
         of the column before, in the mean over five draws.\n\n"
    );
    let mut table = Table::new(&[
        "corpus",
        "rules",
        "parents: baseline",
        "GE full",
        "+ sequence: baseline",
        "GE full",
        "trees",
        "ours, one root",
        "ours, exact, σ² 100, projective",
        "trees",
    ]);
    let mut beats = 0;
    let mut gains = 0;
    let mut cells = 0;
    let mut curve = Table::new(
        &[&["corpus".to_owned()][..], &SIZES.map(|size| format!("{size} trees"))].concat(),
    );
    for corpus in corpora() {
        let uas = |trial: Weak| -> Result<f64> { Ok(lab.outcome(&trial)?.test.uas()) };
        let parents = Oracle::Parents;
        let sequence = Oracle::ParentsSequence;
        let found = [
            uas(baseline(&corpus, parents))?,
            uas(ge(&corpus, parents))?,
            uas(baseline(&corpus, sequence))?,
            uas(ge(&corpus, sequence))?,
            uas(ours(&corpus, sequence))?,
            uas(best(&corpus, sequence))?,
        ];
        beats += usize::from(found[1] > found[0]) + usize::from(found[3] > found[2]);
        gains += usize::from(found[3] > found[1]);
        cells += 1;
        let rules = lab.outcome(&ge(&corpus, parents))?.rules;
        let mut row = vec![corpus.to_string(), rules.to_string()];
        row.extend(found[..4].iter().map(|uas| percent(*uas)));
        row.push(bracket(lab, &corpus, found[3])?);
        row.extend(found[4..].iter().map(|uas| percent(*uas)));
        row.push(bracket(lab, &corpus, found[5])?);
        table.row(&row);
        let mut row = vec![corpus.to_string()];
        for size in SIZES {
            let of = |split| Ok(lab.outcome(&supervised(&corpus, size, split))?.test.uas());
            row.push(percent(mean(SPLITS.map(of).collect::<Result<Vec<f64>>>()?)));
        }
        curve.row(&row);
    }
    text += table.text();
    text += "\nThe supervised parser, by number of trees:\n\n";
    text += curve.text();
    text += "\n";
    text += &Finding::table(&[
        Finding {
            claim: "GE beats the baseline on longer sentences".to_owned(),
            paper: Some("always, by 1 to 6 points".to_owned()),
            ours: format!("in {beats} of {} cases", 2 * cells),
            verdict: Verdict::mostly(beats, 2 * cells),
        },
        Finding {
            claim: "sequence rules help".to_owned(),
            paper: Some("always, by .5 to 2.6 points".to_owned()),
            ours: format!("in {gains} of {cells} corpora"),
            verdict: Verdict::mostly(gains, cells),
        },
    ]);
    Ok(text)
}
