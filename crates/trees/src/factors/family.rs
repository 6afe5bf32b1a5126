//! A family of factors: what belief propagation asks of each of them.
//!
//! The state of a sentence is a list of *cells*. A boolean variable (an arc, a label of an arc) has one
//! cell, the log-odds of true. A tag variable has one cell for each tag, a log-weight. A factor has
//! *slots*, and each slot is attached to a cell. Messages are numbers by slot, in both directions:
//!
//! ```text
//! q    from the variable to the factor: the cell's total minus this factor's own message
//! r    from the factor to the variable: r = F(q, ℓ), with ℓ the factor's log-weights
//! ```
//!
//! A factor is log-linear: its log-value is Σ_k ℓ_k φ_k. Here φ_k counts how often weight k is used.

use std::fmt::Debug;

use super::algebra::Algebra;

/// All factors of one family.
pub(super) trait Family: Debug {
    /// The cell of every slot, factor by factor.
    fn cells(&self) -> &[u32];

    /// All log-weights ℓ, factor by factor.
    fn weights(&self) -> &[f64];

    /// Writes r of every slot.
    fn update(&self, algebra: Algebra, q: &[f64], r: &mut [f64], scratch: &mut Scratch);

    /// Returns Σ_F ln Σ_A F(A) Π q(A), the factors' part of the Bethe log Z.
    fn log_partition(&self, algebra: Algebra, q: &[f64], scratch: &mut Scratch) -> f64;

    /// Writes E\[φ_k\] of every log-weight under the factor's belief, by sum-product.
    fn expectations(&self, algebra: Algebra, q: &[f64], out: &mut [f64], scratch: &mut Scratch);

    /// Adds Σ r̄·∂r/∂q to `q_bar` and Σ r̄·∂r/∂ℓ to `weight_bar`, for sum-product.
    fn adjoint(
        &self,
        algebra: Algebra,
        q: &[f64],
        r_bar: &[f64],
        q_bar: &mut [f64],
        weight_bar: &mut [f64],
        scratch: &mut Scratch,
    );
}

/// Memory that factors compute in.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    values: Vec<f64>,
}

impl Scratch {
    /// Returns arrays of these lengths, all at `value`.
    pub(super) fn arrays<const N: usize>(
        &mut self,
        lengths: [usize; N],
        value: f64,
    ) -> [&mut [f64]; N] {
        self.values.clear();
        self.values.resize(lengths.iter().sum(), value);
        let mut rest = &mut self.values[..];
        lengths.map(|length| {
            let (array, after) = std::mem::take(&mut rest).split_at_mut(length);
            rest = after;
            array
        })
    }
}

/// Start of each factor's part in a list, with one more entry for the end of the last.
#[derive(Clone, Debug)]
pub(super) struct Starts(Vec<u32>);

impl Default for Starts {
    fn default() -> Self {
        Self(vec![0])
    }
}

impl Starts {
    pub(super) fn clear(&mut self) {
        self.0.truncate(1);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len() - 1
    }

    /// Ends the next part at `end`.
    pub(super) fn push(&mut self, end: usize) {
        self.0.push(end as u32);
    }

    /// Removes the last part, and returns its start.
    pub(super) fn pop(&mut self) -> usize {
        if self.0.len() > 1 {
            self.0.pop();
        }
        self.0.last().map_or(0, |&end| end as usize)
    }

    #[inline(always)]
    pub(super) fn range(&self, factor: usize) -> std::ops::Range<usize> {
        self.0[factor] as usize..self.0[factor + 1] as usize
    }
}
