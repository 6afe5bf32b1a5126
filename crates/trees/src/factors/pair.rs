//! PAIR: two arcs that are better or worse together (GRAND, SIB, NOT2, NO2CYCLE).
//!
//! The factor's value is x = e^ℓ if both arcs are in the tree, else 1. With q the incoming log-odds,
//!
//! ```text
//! r_a = ln (1 + x·e^{q_b}) / (1 + e^{q_b})           ln Z = ln (1 + e^{q_a} + e^{q_b} + x·e^{q_a+q_b})
//! ∂r_a/∂q_b = σ(ℓ + q_b) − σ(q_b)                    ∂r_a/∂ℓ = σ(ℓ + q_b)
//! ```
//!
//! x = 0 forbids the pair: r_a = −ln(1 + e^{q_b}). O(1) for each factor. Smith & Eisner (2008), §3.

use super::algebra::{Algebra, Sum, share, sigmoid, softplus};
use super::family::{Family, Scratch};
use crate::exp::exp;

/// Pairs of boolean cells, with one log-weight each.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    cells: Vec<u32>,
    weights: Vec<f64>,
}

impl Pairs {
    pub(super) fn clear(&mut self) {
        self.cells.clear();
        self.weights.clear();
    }

    /// Number of factors.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Keeps the first `count` factors.
    pub(super) fn truncate(&mut self, count: usize) {
        self.cells.truncate(2 * count);
        self.weights.truncate(count);
    }

    /// Adds a factor and returns its number.
    pub(super) fn push(&mut self, first: u32, second: u32, log_weight: f64) -> usize {
        self.cells.extend([first, second]);
        self.weights.push(log_weight);
        self.weights.len() - 1
    }

    /// True if a factor has log-weight −∞ and both of its arcs hold.
    pub(super) fn forbids(&self, factor: usize, holds: impl Fn(u32) -> bool) -> bool {
        let cells = &self.cells[2 * factor..2 * factor + 2];
        self.weights[factor] == f64::NEG_INFINITY && cells.iter().all(|&cell| holds(cell))
    }

    pub(super) fn weights_mut(&mut self) -> &mut [f64] {
        &mut self.weights
    }
}

/// Beyond this, exponentials are taken one by one.
const MODERATE: f64 = 300.0;

/// Returns the message to one arc, given the log-odds of the other.
#[inline(always)]
fn message(algebra: Algebra, weight: f64, q: f64) -> f64 {
    if algebra.sum == Sum::All && q.abs() < MODERATE && weight.abs() < MODERATE {
        return ((1.0 + exp(weight + q)) / (1.0 + exp(q))).ln();
    }
    match algebra.sum {
        // For opposite signs of large numbers, the difference of the two terms is exact.
        Sum::All => softplus(weight + q) - softplus(q),
        Sum::Best => (weight + q).max(0.0) - q.max(0.0),
    }
}

impl Family for Pairs {
    fn cells(&self) -> &[u32] {
        &self.cells
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn update(&self, algebra: Algebra, q: &[f64], r: &mut [f64], _: &mut Scratch) {
        let (r, _) = r.as_chunks_mut::<2>();
        let (q, _) = q.as_chunks::<2>();
        for ((r, q), &weight) in r.iter_mut().zip(q).zip(&self.weights) {
            let weight = algebra.cooled(weight);
            *r = [message(algebra, weight, q[1]), message(algebra, weight, q[0])];
        }
    }

    fn log_partition(&self, algebra: Algebra, q: &[f64], _: &mut Scratch) -> f64 {
        let (q, _) = q.as_chunks::<2>();
        let term = |(q, &weight): (&[f64; 2], &f64)| total(algebra, *q, algebra.cooled(weight));
        q.iter().zip(&self.weights).map(term).sum()
    }

    fn expectations(&self, algebra: Algebra, q: &[f64], out: &mut [f64], _: &mut Scratch) {
        let (q, _) = q.as_chunks::<2>();
        for ((out, q), &weight) in out.iter_mut().zip(q).zip(&self.weights) {
            let weight = algebra.cooled(weight);
            *out = share(weight + q[0] + q[1], total(algebra, *q, weight));
        }
    }

    fn adjoint(
        &self,
        algebra: Algebra,
        q: &[f64],
        r_bar: &[f64],
        q_bar: &mut [f64],
        weight_bar: &mut [f64],
        _: &mut Scratch,
    ) {
        for (factor, &weight) in self.weights.iter().enumerate() {
            let weight = algebra.cooled(weight);
            for (to, from) in [(2 * factor, 2 * factor + 1), (2 * factor + 1, 2 * factor)] {
                let both = sigmoid(weight + q[from]);
                q_bar[from] += r_bar[to] * (both - sigmoid(q[from]));
                weight_bar[factor] += r_bar[to] * both;
            }
        }
    }
}

/// Returns ln Z of one factor.
fn total(algebra: Algebra, q: [f64; 2], weight: f64) -> f64 {
    let without = algebra.add_one(q[1]);
    algebra.add(without, q[0] + algebra.add_one(weight + q[1]))
}
