//! Gain of bootstrapping by group of features (Smith & Eisner 2007, table 3). One group keeps its bootstrapped
//! weights; the others get the weights of the seed, or 0.

use std::collections::HashSet;
use std::fmt;

use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};
use tutte::{Decoding, Dictionary, Index, Parser, ParserModel, Support};
use tutte_treebank::Sentence;

use super::entropic::{TREEBANKS, seed, trial};
use super::trial::{Renyi, Score, Weak};
use crate::clock::Clock;
use crate::data::Data;
use crate::lab::{Lab, Try};
use crate::page::{Finding, Table, Verdict, count, percent};

/// Trial: the parser of a seed, and the parser bootstrapped from it with raw text.
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

/// Accuracy on dev with the bootstrapped weights of one group.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    /// Number of weights of the group.
    weights: usize,
    /// With the seed's weights for all other features.
    #[serde(rename = "kept")]
    seed_weights: f64,
    /// With weight 0 for all other features.
    zeroed: f64,
}

/// Properties of a feature.
struct Feature {
    /// Uses at least one word form.
    is_lexical: bool,
    /// Uses two word forms.
    is_bilexical: bool,
    /// Occurs in the seed's sentences.
    is_of_seed: bool,
}

type Group = (&'static str, fn(&Feature) -> bool);

const GROUPS: [Group; 8] = [
    ("all", |_| true),
    ("none", |_| false),
    ("in the seed", |f| f.is_of_seed),
    ("not in the seed", |f| !f.is_of_seed),
    ("without words", |f| !f.is_lexical),
    ("with words", |f| f.is_lexical),
    ("without two words", |f| !f.is_bilexical),
    ("with two words", |f| f.is_bilexical),
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
            return Err(anyhow!("the model has no dictionary of features"));
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
                    is_lexical: words[0] || words[1],
                    is_bilexical: words[0] && words[1],
                    is_of_seed: of_seed.contains(&name),
                }
            })
            .collect();
        let mut rows = Vec::new();
        for (_, holds) in GROUPS {
            let mut seed_weights = before.clone();
            let mut zeroed = before.clone();
            zeroed.arcs.weights.fill(0.0);
            let mut weights = 0;
            for (feature, slots) in features.iter().zip(dictionary.slots()) {
                for cell in slots.into_iter().flatten().filter(|_| holds(feature)) {
                    seed_weights.arcs.weights[cell] = after.arcs.weights[cell];
                    zeroed.arcs.weights[cell] = after.arcs.weights[cell];
                    weights += 1;
                }
            }
            rows.push(Row {
                weights,
                seed_weights: uas(&seed_weights, &parts.dev)?,
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
        found.rows.first().map_or(0.0, |row| 100.0 * row.seed_weights)
    }
}

impl fmt::Display for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "groups of features: {}", self.bootstrapped)
    }
}

fn uas(model: &ParserModel, sentences: &[Sentence]) -> Result<f64> {
    let mut parser = Parser::new(model).with_decoding(Decoding::Map);
    let mut score = Score::default();
    for sentence in sentences {
        let gold = sentence.heads().ok_or_else(|| anyhow!("a sentence has no gold heads"))?;
        score.add(&gold, parser.parse(sentence)?.tree.heads());
    }
    Ok(score.uas())
}

pub(crate) fn section(lab: &Lab<Groups>) -> Result<String> {
    let mut text = String::new();
    for trial in trials() {
        let found = lab.outcome(&trial)?;
        text += &format!(
            "\nGain by group of features ({}, 100 trees, α = ∞, γ = .03; dev file). One group has its \
             bootstrapped weights; all others have the seed's weights, or 0.\n\n",
            trial.seed.corpus.treebank
        );
        let mut table =
            Table::new(&["bootstrapped weights of", "weights", "others from the seed", "others 0"]);
        for ((name, _), row) in GROUPS.iter().zip(&found.rows) {
            let cells = [count(row.weights), percent(row.seed_weights), percent(row.zeroed)];
            table.row(&[&[(*name).to_owned()][..], &cells].concat());
        }
        text += table.text();
        let uas = |at: usize| found.rows[at].seed_weights;
        // Without a gain of all groups together, the claims are void.
        let verdict = |difference: f64| {
            if uas(0) > uas(1) { Verdict::clearly(difference) } else { Verdict::NotReproduced }
        };
        text += "\n";
        text += &Finding::table(&[
            Finding {
                claim: "the gain comes from features without words, not from those with words"
                    .to_owned(),
                paper: Some("64.4 and 59.9, all 64.3, none 60.9".to_owned()),
                ours: format!(
                    "{} and {}, all {}, none {}",
                    percent(uas(4)),
                    percent(uas(5)),
                    percent(uas(0)),
                    percent(uas(1))
                ),
                verdict: verdict(uas(4) - uas(5)),
            },
            Finding {
                claim: "most of the gain comes from features of the seed".to_owned(),
                paper: Some("64.1, the other features alone 44.7".to_owned()),
                ours: format!("{}, the other features {}", percent(uas(2)), percent(uas(3))),
                verdict: verdict(uas(2) - uas(3)),
            },
        ]);
    }
    Ok(text)
}
