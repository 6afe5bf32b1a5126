//! The best tree: the chart in the semiring (max, +).
//!
//! Only the values are kept. On the way down, the split that gave a value is found again as the first
//! sum equal to it: O(n) for each of the 3n items of one tree. Back-pointers would cost a store and an
//! index for each of the Θ(n³) sums.

use super::ProjectiveWorkspace;
use super::chart::Chart;
use crate::ArcMatrix;
use crate::simd::{LANES, dispatched};
use crate::tree_set::Roots;
use crate::weight::Semiring;

/// A score, with max as sum and + as product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Best(pub(super) f64);

#[inline(always)]
fn higher(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

impl Semiring for Best {
    #[inline(always)]
    fn zero() -> Self {
        Best(f64::NEG_INFINITY)
    }
    #[inline(always)]
    fn one() -> Self {
        Best(0.0)
    }
    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        Best(higher(self.0, other.0))
    }
    #[inline(always)]
    fn times(&self, other: &Self) -> Self {
        Best(self.0 + other.0)
    }
    #[inline(always)]
    fn dot(a: &[Self], b: &[Self]) -> Self {
        let mut best = [f64::NEG_INFINITY; LANES];
        let (a_chunks, a_rest) = a.as_chunks::<LANES>();
        let (b_chunks, b_rest) = b.as_chunks::<LANES>();
        for (x, y) in a_chunks.iter().zip(b_chunks) {
            for lane in 0..LANES {
                best[lane] = higher(best[lane], x[lane].0 + y[lane].0);
            }
        }
        let mut high = f64::NEG_INFINITY;
        for (x, y) in a_rest.iter().zip(b_rest) {
            high = higher(high, x.0 + y.0);
        }
        // Most spans of a short sentence are short: they skip the lanes.
        if a_chunks.is_empty() {
            return Best(high);
        }
        Best(best.iter().fold(high, |high, &x| higher(high, x)))
    }
}

dispatched! {
    pub(super) fn best_chart(chart: &mut Chart<Best>, scores: &ArcMatrix, roots: Roots) -> Best {
        chart.inside(scores.words(), roots, |head, modifier| Best(scores[(head, modifier)]))
    }
}

/// Writes the best tree's heads and returns its score (the plain sum of its arcs' scores); −∞ if there
/// is no tree.
///
/// Ties go to the first split of each span, from the top down.
pub(crate) fn argmax(
    scores: &ArcMatrix,
    roots: Roots,
    ws: &mut ProjectiveWorkspace,
    heads: &mut Vec<usize>,
) -> f64 {
    if best_chart(&mut ws.best, scores, roots) == Best::zero() {
        return f64::NEG_INFINITY;
    }
    ws.best.derive(heads, |a, b| {
        let best = Best::dot(a, b);
        // The same two numbers were added to find the maximum, so one sum equals it.
        a.iter().zip(b).position(|(x, y)| x.times(y) == best).unwrap_or(0)
    });
    heads.iter().enumerate().map(|(index, &head)| scores[(head, index + 1)]).sum()
}
