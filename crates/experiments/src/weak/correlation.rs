//! Correlation of Rényi entropies with accuracy (Smith & Eisner 2007, table 1).

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

/// Orders α of the entropies; the last one is infinite.
const ORDERS: [(&str, f64); 7] =
    [("0", 0.0), (".5", 0.5), ("1", 1.0), ("2", 2.0), ("5", 5.0), ("7", 7.0), ("∞", f64::INFINITY)];

/// Trial: the parser trained on a seed of trees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Correlation {
    seed: Weak,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Correlations {
    /// By order: correlations of R_α per word with accuracy and with cross-entropy.
    orders: Vec<[f64; 2]>,
    /// Correlation of cross-entropy with accuracy.
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
        let mut entropies = vec![Vec::new(); ORDERS.len()];
        let mut accuracy = Vec::new();
        let mut cross = Vec::new();
        for sentence in &parts.dev {
            let words = sentence.len() as f64;
            let gold = sentence.tree()?;
            let scores = parser.scores(sentence)?.clone();
            let trees = TreeDistribution::new(scores, self.seed.tree_set())?;
            let best = &trees.argmax().tree;
            let right = best.heads().iter().zip(gold.heads()).filter(|(a, b)| a == b).count();
            accuracy.push(right as f64 / words);
            cross.push(-trees.log_prob(&gold)? / words);
            for ((_, order), entropies) in ORDERS.iter().zip(&mut entropies) {
                entropies.push(trees.renyi(*order)? / words);
            }
        }
        if accuracy.len() < 2 {
            return Err(anyhow!("a correlation needs at least two sentences"));
        }
        let orders = entropies.iter().map(|e| [pearson(e, &accuracy), pearson(e, &cross)]);
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

/// Returns Pearson's correlation; 0 if a variance is 0.
fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().max(1) as f64;
    let mean = |x: &[f64]| x.iter().sum::<f64>() / n;
    let mean_a = mean(a);
    let mean_b = mean(b);
    let covariance: f64 = a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum();
    let variance_a: f64 = a.iter().map(|a| (a - mean_a).powi(2)).sum();
    let variance_b: f64 = b.iter().map(|b| (b - mean_b).powi(2)).sum();
    let product = variance_a * variance_b;
    if product > 0.0 { covariance / product.sqrt() } else { 0.0 }
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

/// Returns three counts: negative correlations with accuracy, seeds for which the infinite order has a stronger
/// correlation than order 0, and all correlations with accuracy.
pub(crate) fn counts(lab: &Lab<Correlation>) -> Result<(usize, usize, usize)> {
    let mut negative = 0;
    let mut growing = 0;
    let mut cells = 0;
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
