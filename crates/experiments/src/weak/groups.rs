//! Which features carry what bootstrapping gains (table 3 of Smith & Eisner 2007): weights that it has
//! moved are kept for one group, and put back for the others.

use std::collections::HashSet;
use std::fmt;

use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};
use tutte::{Decoding, Dictionary, Index, Model, Parser, Support};
use tutte_treebank::Sentence;

use super::entropic::{TREEBANKS, seed, trial};
use super::trial::{Renyi, Score, Weak};
use crate::clock::Clock;
use crate::data::Data;
use crate::lab::{Lab, Try};
use crate::page::{Finding, Table, Verdict, count, percent};

/// A seed, and what is learnt from it and raw text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Groups {
    seed: Weak,
    bootstrapped: Weak,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GroupAccuracies {
    rows: Vec<Row>,
    seconds: f64,
}

/// A group of features, whose weights are those of the bootstrapped parser.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    weights: usize,
    /// Accuracy on dev with the seed's weights for all others.
    kept: f64,
    /// With no weights for the others.
    zeroed: f64,
}

/// A feature: whether it sees a word, two words, and something that the seed's sentences show.
struct Feature {
    lexical: bool,
    bilexical: bool,
    of_seed: bool,
}

type Group = (&'static str, fn(&Feature) -> bool);

const GROUPS: [Group; 8] = [
    ("all", |_| true),
    ("none", |_| false),
    ("seen in the seed", |f| f.of_seed),
    ("not seen in the seed", |f| !f.of_seed),
    ("without words", |f| !f.lexical),
    ("with words", |f| f.lexical),
    ("without two words", |f| !f.bilexical),
    ("with two words", |f| f.bilexical),
];

pub(crate) fn trials() -> Vec<Groups> {
    let bootstrapped = trial(TREEBANKS[0], 100, Some((Renyi::Infinite, 0.03)));
    vec![Groups { seed: seed(TREEBANKS[0], 100), bootstrapped }]
}

impl Try for Groups {
    type Outcome = GroupAccuracies;

    fn run(&self, data: &Data) -> Result<GroupAccuracies> {
        let clock = Clock::start();
        let parts = self.seed.corpus.read(data)?;
        let before = self.seed.learn(&parts.train)?.model;
        let after = self.bootstrapped.learn(&parts.train)?.model;
        let Index::Dictionary(dictionary) = &before.arcs.index else {
            return Err(anyhow!("features have no names"));
        };
        let templates = &before.arcs.features;
        let (trees, _) = self.seed.seed(&parts.train);
        let small = Dictionary::new(&trees, templates, Support::Count(1), self.seed.tree_set(), 1)?;
        let of_seed: HashSet<String> =
            small.names().read(templates).map(|name| name.to_string()).collect();
        let features: Vec<Feature> = dictionary
            .names()
            .read(templates)
            .map(|name| {
                let name = name.to_string();
                let words = ["h.form=", "m.form="].map(|part| name.contains(part));
                Feature {
                    lexical: words[0] || words[1],
                    bilexical: words[0] && words[1],
                    of_seed: of_seed.contains(&name),
                }
            })
            .collect();
        let mut rows = Vec::new();
        for (_, holds) in GROUPS {
            let mut kept = before.clone();
            let mut zeroed = before.clone();
            zeroed.arcs.weights.fill(0.0);
            let mut weights = 0;
            for (feature, slots) in features.iter().zip(dictionary.slots()) {
                for cell in slots.into_iter().flatten().filter(|_| holds(feature)) {
                    kept.arcs.weights[cell] = after.arcs.weights[cell];
                    zeroed.arcs.weights[cell] = after.arcs.weights[cell];
                    weights += 1;
                }
            }
            rows.push(Row {
                weights,
                kept: uas(&kept, &parts.dev)?,
                zeroed: uas(&zeroed, &parts.dev)?,
            });
        }
        Ok(GroupAccuracies { rows, seconds: clock.seconds() })
    }

    fn templates(&self) -> String {
        self.seed.templates()
    }

    fn seconds(found: &GroupAccuracies) -> f64 {
        found.seconds
    }

    fn headline(found: &GroupAccuracies) -> f64 {
        found.rows.first().map_or(0.0, |row| 100.0 * row.kept)
    }
}

impl fmt::Display for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "groups of features: {}", self.bootstrapped)
    }
}

fn uas(model: &Model, sentences: &[Sentence]) -> Result<f64> {
    let mut parser = Parser::new(model).with_decoding(Decoding::Map);
    let mut score = Score::default();
    for sentence in sentences {
        let gold = sentence.heads().ok_or_else(|| anyhow!("no heads to judge by"))?;
        score.add(&gold, parser.parse(sentence)?.tree.heads());
    }
    Ok(score.uas())
}

pub(crate) fn section(lab: &Lab<Groups>) -> Result<String> {
    let mut text = String::new();
    for trial in trials() {
        let found = lab.outcome(&trial)?;
        text += &format!(
            "\nWhich features carry it ({}, 100 trees, α = ∞, γ = .03; dev file): the bootstrapped weights of \
             a group, with the seed's weights for all others, or with none.\n\n",
            trial.seed.corpus.treebank
        );
        let mut table =
            Table::new(&["bootstrapped weights of", "weights", "others from the seed", "others 0"]);
        for ((name, _), row) in GROUPS.iter().zip(&found.rows) {
            let cells = [count(row.weights), percent(row.kept), percent(row.zeroed)];
            table.row(&[&[(*name).to_owned()][..], &cells].concat());
        }
        text += table.text();
        let kept = |at: usize| found.rows[at].kept;
        // There must be something that is carried.
        let carried = |difference: f64| match kept(0) > kept(1) {
            true => Verdict::clearly(difference),
            false => Verdict::NotReproduced,
        };
        text += "\n";
        text += &Finding::table(&[
            Finding {
                claim: "features without words carry what is gained, those with words do not"
                    .to_owned(),
                paper: Some("64.4 and 59.9, all 64.3, none 60.9".to_owned()),
                ours: format!(
                    "{} and {}, all {}, none {}",
                    percent(kept(4)),
                    percent(kept(5)),
                    percent(kept(0)),
                    percent(kept(1))
                ),
                verdict: carried(kept(4) - kept(5)),
            },
            Finding {
                claim: "features that the seed shows carry most of it".to_owned(),
                paper: Some("64.1, others 44.7 by themselves".to_owned()),
                ours: format!("{}, others {}", percent(kept(2)), percent(kept(3))),
                verdict: carried(kept(2) - kept(3)),
            },
        ]);
    }
    Ok(text)
}
