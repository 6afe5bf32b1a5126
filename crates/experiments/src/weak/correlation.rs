//! How well doubt predicts errors: the correlation of Rényi entropies with accuracy (table 1 of Smith &
//! Eisner 2007).

use std::fmt;

use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};
use tutte::Parser;
use tutte_trees::TreeDistribution;

use super::entropic::{SEEDS, TREEBANKS, seed};
use super::trial::Weak;
use crate::clock::Clock;
use crate::data::Data;
use crate::lab::{Lab, Try};
use crate::page::Table;

/// The orders, the last of which is infinite.
const ORDERS: [(&str, f64); 7] =
    [("0", 0.0), (".5", 0.5), ("1", 1.0), ("2", 2.0), ("5", 5.0), ("7", 7.0), ("∞", f64::INFINITY)];

/// The parser of a seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Correlation {
    seed: Weak,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Correlations {
    /// By order, the correlation of R_α for each word with accuracy, and with cross-entropy.
    orders: Vec<[f64; 2]>,
    /// That of cross-entropy with accuracy.
    cross: f64,
    seconds: f64,
}

pub(crate) fn trials() -> Vec<Correlation> {
    let of = |treebank| SEEDS.map(|trees| Correlation { seed: seed(treebank, trees) });
    TREEBANKS.into_iter().flat_map(of).collect()
}

impl Try for Correlation {
    type Outcome = Correlations;

    fn run(&self, data: &Data) -> Result<Correlations> {
        let clock = Clock::start();
        let parts = self.seed.corpus.read(data)?;
        let learnt = self.seed.learn(&parts.train)?;
        let mut parser = Parser::new(&learnt.model);
        let mut doubts = vec![Vec::new(); ORDERS.len()];
        let (mut accuracy, mut cross) = (Vec::new(), Vec::new());
        for sentence in &parts.dev {
            let words = sentence.len() as f64;
            let gold = sentence.tree()?;
            let scores = parser.scores(sentence)?.clone();
            let trees = TreeDistribution::new(scores, self.seed.tree_set())?;
            let best = &trees.argmax().tree;
            let right = best.heads().iter().zip(gold.heads()).filter(|(a, b)| a == b).count();
            accuracy.push(right as f64 / words);
            cross.push(-trees.log_prob(&gold)? / words);
            for ((_, order), doubts) in ORDERS.iter().zip(&mut doubts) {
                doubts.push(trees.renyi(*order)? / words);
            }
        }
        if accuracy.len() < 2 {
            return Err(anyhow!("too few sentences for a correlation"));
        }
        let orders = doubts.iter().map(|d| [pearson(d, &accuracy), pearson(d, &cross)]);
        Ok(Correlations {
            orders: orders.collect(),
            cross: pearson(&cross, &accuracy),
            seconds: clock.seconds(),
        })
    }

    fn templates(&self) -> String {
        self.seed.templates()
    }

    fn seconds(found: &Correlations) -> f64 {
        found.seconds
    }

    fn headline(found: &Correlations) -> f64 {
        100.0 * found.cross
    }
}

impl fmt::Display for Correlation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "correlation: {}", self.seed)
    }
}

/// Pearson's correlation.
fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().max(1) as f64;
    let mean = |x: &[f64]| x.iter().sum::<f64>() / n;
    let (ma, mb) = (mean(a), mean(b));
    let pairs = || a.iter().zip(b);
    let covariance: f64 = pairs().map(|(a, b)| (a - ma) * (b - mb)).sum();
    let (va, vb): (f64, f64) =
        (a.iter().map(|a| (a - ma).powi(2)).sum(), b.iter().map(|b| (b - mb).powi(2)).sum());
    match va * vb > 0.0 {
        true => covariance / (va * vb).sqrt(),
        false => 0.0,
    }
}

fn signed(value: f64) -> String {
    format!("{value:+.3}").replace("0.", ".").replace('-', "−").replace('+', "")
}

pub(crate) fn table(lab: &Lab<Correlation>) -> Result<String> {
    let mut columns = vec!["α".to_owned()];
    for trial in trials() {
        let name = trial.seed.corpus.treebank.rsplit('/').next().unwrap_or_default().to_owned();
        columns.push(format!("{name}, {} trees: accuracy", trial.seed.trees));
        columns.push("cross-entropy".to_owned());
    }
    let mut table = Table::new(&columns);
    let found: Vec<Correlations> =
        trials().iter().map(|t| lab.outcome(t)).collect::<Result<_>>()?;
    for (at, (name, _)) in ORDERS.iter().enumerate() {
        let mut row = vec![(*name).to_owned()];
        row.extend(found.iter().flat_map(|found| found.orders[at].map(signed)));
        table.row(&row);
    }
    let mut row = vec!["cross-entropy".to_owned()];
    row.extend(found.iter().flat_map(|found| [signed(found.cross), "1".to_owned()]));
    table.row(&row);
    Ok(table.text().to_owned())
}

/// How many correlations with accuracy are negative, of how many seeds the infinite order has a stronger
/// one than order 0, and how many cells there are.
pub(crate) fn counts(lab: &Lab<Correlation>) -> Result<(usize, usize, usize)> {
    let (mut negative, mut growing, mut cells) = (0, 0, 0);
    for trial in trials() {
        let found = lab.outcome(&trial)?;
        cells += found.orders.len();
        negative += found.orders.iter().filter(|[accuracy, _]| *accuracy < 0.0).count();
        growing += usize::from(found.orders[ORDERS.len() - 1][0] < found.orders[0][0]);
    }
    Ok((negative, growing, cells))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_are_between_minus_one_and_one() {
        assert!((pearson(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]) - 1.0).abs() < 1e-12);
        assert!((pearson(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
        assert_eq!(pearson(&[1.0, 1.0], &[3.0, 2.0]), 0.0);
        assert_eq!(signed(-0.254), "−.254");
    }
}
