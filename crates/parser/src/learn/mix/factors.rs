//! The weight of factors in a joined model.
//!
//! Factors refine the sum of both scorers, whoever gave the arcs their scores (`model/factors.rs`). Those of the features
//! were learnt for scores of another range, so theirs are multiplied by a weight c:
//!
//! ```text
//! θ′ = refined(a₁ · θ_features + a₂ · s, c · φ)        L(c) = Σ log q(y)        q(y) ∝ exp Σ_{e ∈ y} θ′(e)
//! ```
//!
//! L has one variable. A few values of c bracket its maximum over held-out trees, and golden section finds it. If the
//! maximum is at 0, the joined model has no factors.

use tutte_linear::in_parts;
use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};

use super::PRIOR_VARIANCE;
use crate::features::Atoms;
use crate::model::factors::{FactorMemory, Refinement};
use crate::model::labels::ArcLabels;
use crate::{Compact, Error, FactorModel};

/// Weight of the scores of factors in a joined model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FactorWeight {
    /// The weight. Without factors, it is 0.
    pub weight: f64,
    /// Log-likelihood per word of the held-out trees, with factors.
    pub log_likelihood: f64,
}

/// Weights that are tried first, rising.
const FIRST_TRIED: [f64; 8] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0];

/// Number of steps of golden section. Each shortens the interval to 0.62 of its length.
const STEPS: usize = 10;

/// A held-out sentence as factors see it.
pub(super) struct Refinable {
    pub(super) atoms: Atoms,
    /// Sums of both scorers; −∞ for arcs that are not scored.
    pub(super) scores: ArcMatrix,
    pub(super) labels: ArcLabels,
    pub(super) gold: Vec<usize>,
}

impl Refinable {
    /// Returns log q(y) of the gold tree.
    pub(super) fn log_prob(
        &self,
        factors: &FactorModel<Compact>,
        weight: f64,
        tree_set: TreeSet,
        memory: &mut FactorMemory,
    ) -> Result<f64, Error> {
        let mut scores = self.scores.clone();
        let best = |head, modifier| self.labels.best(head, modifier);
        let refinement = Refinement { scale: weight, ..Refinement::of_parser(tree_set) };
        factors.refine(&self.atoms, best, &mut scores, refinement, memory)?;
        let of_gold: f64 =
            (1..).zip(&self.gold).map(|(modifier, head)| scores[(*head, modifier)]).sum();
        Ok(of_gold - TreeDistribution::new(scores, tree_set)?.log_partition())
    }
}

/// Returns the weight with the greatest L, and L.
pub(super) fn best_weight(
    sentences: &[Refinable],
    factors: &FactorModel<Compact>,
    tree_set: TreeSet,
    threads: usize,
) -> Result<(f64, f64), Error> {
    maximum(|weight| {
        let log_probs = in_parts(sentences, threads, |part| {
            let mut memory = FactorMemory::default();
            part.iter().map(|one| one.log_prob(factors, weight, tree_set, &mut memory)).collect()
        })?;
        Ok::<_, Error>(log_probs.into_iter().sum())
    })
}

/// Returns the place of the greatest value of a function plus a prior around 1, and the value without the prior.
fn maximum<E>(mut value: impl FnMut(f64) -> Result<f64, E>) -> Result<(f64, f64), E> {
    let mut best = (0.0, f64::NEG_INFINITY, f64::NEG_INFINITY);
    // Returns the value with the prior. The first of equals stays the best.
    let mut try_at = |at: f64| -> Result<f64, E> {
        let alone = value(at)?;
        let with_prior = alone - (at - 1.0).powi(2) / (2.0 * PRIOR_VARIANCE);
        if with_prior > best.1 {
            best = (at, with_prior, alone);
        }
        Ok(with_prior)
    };
    let mut values = [0.0; FIRST_TRIED.len()];
    for (value, at) in values.iter_mut().zip(FIRST_TRIED) {
        *value = try_at(at)?;
    }
    let highest = (0..values.len()).rev().max_by(|a, b| values[*a].total_cmp(&values[*b]));
    let highest = highest.unwrap_or(0);
    let mut low = FIRST_TRIED[highest.saturating_sub(1)];
    let mut high = FIRST_TRIED[(highest + 1).min(FIRST_TRIED.len() - 1)];
    let share = (5f64.sqrt() - 1.0) / 2.0;
    let [mut left, mut right] = [high - share * (high - low), low + share * (high - low)];
    let [mut at_left, mut at_right] = [try_at(left)?, try_at(right)?];
    for _ in 0..STEPS {
        if at_left >= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - share * (high - low);
            at_left = try_at(left)?;
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + share * (high - low);
            at_right = try_at(right)?;
        }
    }
    let (weight, _, alone) = best;
    Ok((weight, alone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_of_a_known_function_is_found() {
        for place in [0.0, 0.1, 0.62, 1.0, 1.9, 2.7] {
            let value = |at: f64| Ok::<_, Error>(-100.0 * (at - place).powi(2));
            let (found, value) = maximum(value).expect("a maximum");
            assert!((found - place).abs() < 0.01, "{found} {place}");
            assert!(value > -0.01);
        }
        // Weights are not negative, and the prior decides where nothing else does.
        let (found, _) = maximum(|at: f64| Ok::<_, Error>(-at)).expect("a maximum");
        assert_eq!(found, 0.0);
        let (found, value) = maximum(|_| Ok::<_, Error>(-5.0)).expect("a maximum");
        assert_eq!((found, value), (1.0, -5.0));
    }
}
