//! LABEL: an arc has exactly one of its labels if it is in the tree, and none if it is not.
//!
//! With q₀ the log-odds of the arc and q_ℓ those of its labels, q̄ = e^q:
//!
//! ```text
//! r₀ = ln Σ_ℓ q̄_ℓ          r_ℓ = ln q̄₀ / (1 + q̄₀ Σ_{ℓ'≠ℓ} q̄_ℓ')          ln Z = ln (1 + q̄₀ Σ_ℓ q̄_ℓ)
//! ```
//!
//! O(k) for k labels. Sums without one label come from sums of those before and after it. The adjoint
//! takes O(k²); arcs have few labels. The factor has no weight: labels have scores of their own.

use super::algebra::{Algebra, bounded, share, sigmoid};
use super::family::{Family, Scratch, Starts};

/// Slots of a factor: the arc, then its labels.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    starts: Starts,
    cells: Vec<u32>,
}

impl Labels {
    /// Number of factors.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.cells.clear();
    }

    /// Adds a factor over an arc and the cells of its labels, of which there is at least one; returns its
    /// number.
    pub(super) fn push(&mut self, arc: u32, labels: std::ops::Range<u32>) -> usize {
        self.cells.push(arc);
        self.cells.extend(labels);
        self.starts.push(self.cells.len());
        self.starts.len() - 1
    }
}

/// Writes ⊕ of all labels but one, for each.
fn leave_one_out(algebra: Algebra, labels: &[f64], others: &mut [f64]) {
    let mut before = f64::NEG_INFINITY;
    for (other, &q) in others.iter_mut().zip(labels) {
        *other = before;
        before = algebra.add(before, q);
    }
    let mut after = f64::NEG_INFINITY;
    for (other, &q) in others.iter_mut().zip(labels).rev() {
        *other = algebra.add(*other, after);
        after = algebra.add(after, q);
    }
}

impl Family for Labels {
    fn cells(&self) -> &[u32] {
        &self.cells
    }

    fn weights(&self) -> &[f64] {
        &[]
    }

    fn update(&self, algebra: Algebra, q: &[f64], r: &mut [f64], scratch: &mut Scratch) {
        for factor in 0..self.starts.len() {
            let range = self.starts.range(factor);
            let (arc, labels) = (q[range.start], &q[range.start + 1..range.end]);
            let [others] = scratch.arrays([labels.len()], 0.0);
            leave_one_out(algebra, labels, others);
            r[range.start] = algebra.sum_of(labels.len(), |label| labels[label]);
            for (r, other) in r[range.start + 1..range.end].iter_mut().zip(others) {
                *r = bounded(arc - algebra.add_one(arc + *other));
            }
        }
    }

    fn log_partition(&self, algebra: Algebra, q: &[f64], _: &mut Scratch) -> f64 {
        let term = |factor: usize| {
            let range = self.starts.range(factor);
            let labels = &q[range.start + 1..range.end];
            algebra.add_one(q[range.start] + algebra.sum_of(labels.len(), |label| labels[label]))
        };
        (0..self.starts.len()).map(term).sum()
    }

    fn expectations(&self, _: Algebra, _: &[f64], _: &mut [f64], _: &mut Scratch) {}

    fn adjoint(
        &self,
        algebra: Algebra,
        q: &[f64],
        r_bar: &[f64],
        q_bar: &mut [f64],
        _: &mut [f64],
        scratch: &mut Scratch,
    ) {
        for factor in 0..self.starts.len() {
            let range = self.starts.range(factor);
            let (arc, labels) = (q[range.start], &q[range.start + 1..range.end]);
            let (arc_bar, labels_bar) = (r_bar[range.start], &r_bar[range.start + 1..range.end]);
            let (to_arc, to_labels) = q_bar[range].split_at_mut(1);
            let all = algebra.sum_of(labels.len(), |label| labels[label]);
            for (bar, &q) in to_labels.iter_mut().zip(labels) {
                *bar += arc_bar * share(q, all);
            }
            let [others] = scratch.arrays([labels.len()], 0.0);
            leave_one_out(algebra, labels, others);
            for (label, (&bar, &other)) in labels_bar.iter().zip(others.iter()).enumerate() {
                let taken = sigmoid(arc + other);
                to_arc[0] += bar * (1.0 - taken);
                for (rival, to_rival) in to_labels.iter_mut().enumerate() {
                    if rival != label {
                        *to_rival -= bar * taken * share(labels[rival], other);
                    }
                }
            }
        }
    }
}
