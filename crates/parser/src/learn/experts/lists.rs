//! Lists of candidates, with features and losses of whole analyses.
//!
//! ```text
//! p(c) ∝ exp(γ θ·f_c)         R = E ℓ                H = entropy
//! ∂R/∂θ = γ Cov(ℓ, f)         ∂H/∂θ = −γ² Cov(f, θ·f)
//! −log p of the candidates with the least loss, together, is the likelihood
//! ```
//!
//! The number of errors of the best candidates is constant between points where the best candidate of a list changes.
//! Along a line each candidate has a score a + b λ, and the best ones are the upper envelope of these lines. So the
//! minimum along a line is exact (Och 2003), in O(c log c) for c candidates.

use std::collections::HashSet;

use tutte_linear::Order;

use super::Data;
use crate::Error;

/// A candidate: an analysis of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Features of the whole analysis, such as its log-probability by each expert.
    pub features: Vec<f64>,
    /// Loss of the analysis, such as its number of errors.
    pub loss: f64,
}

/// A candidate and the tree it stands for, which tells it from others.
#[derive(Clone, Debug)]
pub(super) struct ListedTree {
    /// Head and label of each word.
    pub(super) tree: Vec<(u32, u32)>,
    pub(super) candidate: Candidate,
}

/// Lists of candidates, one for each sentence.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    pub(super) lists: Vec<Vec<ListedTree>>,
}

/// Adds the trees that a list does not have, and returns their number. The same tree twice would have twice the
/// probability.
pub(super) fn merge(list: &mut Vec<ListedTree>, trees: Vec<ListedTree>) -> usize {
    let known: HashSet<Vec<(u32, u32)>> = list.iter().map(|listed| listed.tree.clone()).collect();
    let before = list.len();
    list.extend(trees.into_iter().filter(|listed| !known.contains(&listed.tree)));
    list.len() - before
}

impl Lists {
    /// Makes lists of candidates that differ from each other. Empty lists, and lists whose candidates are equally good,
    /// teach nothing.
    pub(super) fn new(lists: Vec<Vec<Candidate>>) -> Result<Self, Error> {
        let refuse = |why: String| Err(Error::Setting(why));
        let mut features = None;
        for (number, list) in (1..).zip(&lists) {
            for Candidate { features: found, loss } in list {
                let expected = *features.get_or_insert(found.len());
                if found.len() != expected {
                    let found = found.len();
                    return refuse(format!(
                        "list {number} has a candidate with {found} features, others have {expected}"
                    ));
                }
                if !(loss.is_finite() && *loss >= 0.0) {
                    return refuse(format!(
                        "list {number} has a candidate with loss {loss}; losses must be 0 or more"
                    ));
                }
                if let Some(value) = found.iter().find(|value| !value.is_finite()) {
                    return refuse(format!("list {number} has a feature with value {value}"));
                }
            }
        }
        if features.is_none() {
            return Err(Error::NothingToJudge);
        }
        let listed = |(number, candidate): (u32, Candidate)| ListedTree {
            tree: vec![(number, 0)],
            candidate,
        };
        let lists = lists.into_iter().map(|list| (0..).zip(list).map(listed).collect()).collect();
        Ok(Self { lists })
    }

    /// Returns the candidates of each list that is not empty.
    pub(super) fn candidates(&self) -> impl Iterator<Item = Vec<&Candidate>> {
        let lists = self.lists.iter().filter(|list| !list.is_empty());
        lists.map(|list| list.iter().map(|listed| &listed.candidate).collect())
    }

    /// Returns the weights with the fewest errors: line searches along each weight in turn, from `start` and from random
    /// starts in [−1, 1].
    pub(super) fn fewest_errors(
        &self,
        start: &[f64],
        restarts: usize,
        seed: u64,
    ) -> Result<Vec<f64>, Error> {
        let mut order = Order::new(seed, 3);
        let mut uniform = || (order.stream().draw() >> 11) as f64 / 2f64.powi(52) - 1.0;
        let mut best: Option<(f64, Vec<f64>)> = None;
        for restart in 0..=restarts {
            let from = match restart {
                0 => start.to_vec(),
                _ => start.iter().map(|_| uniform()).collect(),
            };
            let found = self.descend(from)?;
            if best.as_ref().is_none_or(|(errors, _)| found.0 < *errors) {
                best = Some(found);
            }
        }
        Ok(best.map_or_else(|| start.to_vec(), |(_, weights)| weights))
    }

    /// Searches along each weight until no search helps.
    fn descend(&self, mut weights: Vec<f64>) -> Result<(f64, Vec<f64>), Error> {
        let mut errors = self.best(&weights)?.0;
        loop {
            let before = errors;
            for k in 0..weights.len() {
                let (found, value) = self.line_minimum(&weights, k);
                if found < errors {
                    weights[k] = value;
                    errors = self.best(&weights)?.0;
                }
            }
            if errors >= before {
                return Ok((errors, weights));
            }
        }
    }

    /// Returns the fewest errors along one weight, and the middle of the widest interval that has them.
    pub(super) fn line_minimum(&self, weights: &[f64], k: usize) -> (f64, f64) {
        let mut errors = 0.0;
        let mut changes: Vec<(f64, f64)> = Vec::new();
        for list in self.candidates() {
            let lines: Vec<Line> = list
                .iter()
                .map(|candidate| {
                    let slope = candidate.features[k];
                    let level = dot(weights, &candidate.features) - weights[k] * slope;
                    Line { slope, level, loss: candidate.loss }
                })
                .collect();
            let envelope = envelope(lines);
            errors += envelope[0].1.loss;
            changes.extend(
                envelope.windows(2).map(|pair| (pair[1].0, pair[1].1.loss - pair[0].1.loss)),
            );
        }
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let first = changes.first().map_or(0.0, |change| change.0 - 1.0);
        let (mut least, mut place, mut width) = (errors, first, 1.0);
        for (at, (from, change)) in changes.iter().enumerate() {
            errors += change;
            let to = changes.get(at + 1).map_or(from + 1.0, |next| next.0);
            let is_better = errors < least || (errors == least && to - from > width);
            if to > *from && is_better {
                (least, place, width) = (errors, 0.5 * (from + to), to - from);
            }
        }
        (least, place)
    }
}

/// The score of a candidate along a line, a + b λ.
#[derive(Clone, Copy, Debug)]
struct Line {
    slope: f64,
    level: f64,
    loss: f64,
}

/// Returns the upper envelope: from which λ each of its lines is the highest, from −∞ on.
fn envelope(mut lines: Vec<Line>) -> Vec<(f64, Line)> {
    // Of parallel lines, the highest one comes last.
    lines.sort_by(|a, b| a.slope.total_cmp(&b.slope).then(a.level.total_cmp(&b.level)));
    let mut hull: Vec<(f64, Line)> = Vec::new();
    for line in lines {
        while let Some(&(from, last)) = hull.last() {
            let crossing = if line.slope > last.slope {
                (last.level - line.level) / (line.slope - last.slope)
            } else {
                f64::NEG_INFINITY
            };
            if crossing > from {
                hull.push((crossing, line));
                break;
            }
            hull.pop();
        }
        if hull.is_empty() {
            hull.push((f64::NEG_INFINITY, line));
        }
    }
    hull
}

fn dot(weights: &[f64], features: &[f64]) -> f64 {
    weights.iter().zip(features).map(|(weight, feature)| weight * feature).sum()
}

/// Writes p(c) ∝ exp(γ θ·f_c), and returns log Σ exp.
pub(super) fn probabilities(
    list: &[&Candidate],
    weights: &[f64],
    gamma: f64,
    probs: &mut Vec<f64>,
) -> f64 {
    probs.clear();
    probs.extend(list.iter().map(|candidate| gamma * dot(weights, &candidate.features)));
    let highest = probs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    probs.iter_mut().for_each(|score| *score = (*score - highest).exp());
    let sum: f64 = probs.iter().sum();
    probs.iter_mut().for_each(|prob| *prob /= sum);
    highest + sum.ln()
}

impl Data for Lists {
    fn experts(&self) -> usize {
        self.lists.iter().flatten().next().map_or(0, |listed| listed.candidate.features.len())
    }

    fn likelihood(&self, weights: &[f64], gradient: &mut [f64]) -> Result<f64, Error> {
        let mut probs = Vec::new();
        let mut value = 0.0;
        for list in self.candidates() {
            let least = list.iter().map(|candidate| candidate.loss).fold(f64::INFINITY, f64::min);
            let best: Vec<&Candidate> =
                list.iter().filter(|candidate| candidate.loss == least).copied().collect();
            for (candidates, sign) in [(&list, 1.0), (&best, -1.0)] {
                value += sign * probabilities(candidates, weights, 1.0, &mut probs);
                for (candidate, prob) in candidates.iter().zip(&probs) {
                    let slopes = gradient.iter_mut().zip(&candidate.features);
                    slopes.for_each(|(slope, feature)| *slope += sign * prob * feature);
                }
            }
        }
        Ok(value)
    }

    fn risk_and_entropy(
        &self,
        weights: &[f64],
        gamma: f64,
        [of_risk, of_entropy]: [&mut [f64]; 2],
    ) -> Result<[f64; 2], Error> {
        of_risk.fill(0.0);
        of_entropy.fill(0.0);
        let mut probs = Vec::new();
        let (mut risk, mut entropy) = (0.0, 0.0);
        for list in self.candidates() {
            let log_sum = probabilities(&list, weights, gamma, &mut probs);
            let score = |candidate: &Candidate| dot(weights, &candidate.features);
            let mean = |of: &dyn Fn(&Candidate) -> f64| -> f64 {
                list.iter().zip(&probs).map(|(candidate, prob)| prob * of(candidate)).sum()
            };
            let mean_loss = mean(&|candidate| candidate.loss);
            let mean_score = mean(&score);
            risk += mean_loss;
            entropy += log_sum - gamma * mean_score;
            for (candidate, prob) in list.iter().zip(&probs) {
                let by_risk = gamma * prob * (candidate.loss - mean_loss);
                let by_entropy = -gamma * gamma * prob * (score(candidate) - mean_score);
                let slopes = of_risk.iter_mut().zip(&mut *of_entropy).zip(&candidate.features);
                for ((of_risk, of_entropy), feature) in slopes {
                    *of_risk += by_risk * feature;
                    *of_entropy += by_entropy * feature;
                }
            }
        }
        Ok([risk, entropy])
    }

    fn best(&self, weights: &[f64]) -> Result<(f64, Vec<usize>), Error> {
        let mut errors = 0.0;
        let mut numbers = Vec::new();
        for list in self.candidates() {
            let mut best = (0, f64::NEG_INFINITY);
            for (number, candidate) in list.iter().enumerate() {
                let score = dot(weights, &candidate.features);
                if score > best.1 {
                    best = (number, score);
                }
            }
            errors += list[best.0].loss;
            numbers.push(best.0);
        }
        Ok((errors, numbers))
    }
}
