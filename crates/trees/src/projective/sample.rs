//! Exact samples: walk down the inside chart, choosing each split in proportion to its product.
//!
//! The chart is filled once, O(n³). A tree then visits 3n items and the splits of each, at most O(n²)
//! and usually far fewer. Every choice takes one uniform number, the top 53 bits of one `next_u64`, so
//! a seed gives the same tree on every machine.

use rand_core::Rng;

use crate::uniform::uniform;

use super::chart::Chart;
use super::{Filled, ProjectiveWorkspace, inside};
use crate::ArcMatrix;
use crate::exp::exp;
use crate::tree_set::Roots;
use crate::weight::Log;

/// A filled chart, from which trees are drawn.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    inside: Inside,
}

#[derive(Clone, Debug)]
enum Inside {
    Linear(Chart<f64>),
    /// Logarithms, for scores of too wide a range.
    Log(Chart<Log>),
}

impl Sampler {
    /// Fills the chart; `None` if there is no tree.
    pub(crate) fn new(scores: &ArcMatrix, roots: Roots) -> Option<Self> {
        let mut ws = ProjectiveWorkspace::default();
        let inside = match inside(scores, roots, &mut ws).1 {
            Filled::Neither => return None,
            Filled::Linear => Inside::Linear(ws.linear.into_chart()),
            Filled::Log => Inside::Log(ws.log),
        };
        Some(Self { inside })
    }

    /// Draws a tree with probability proportional to exp(score).
    pub(crate) fn sample<R: Rng + ?Sized>(&self, rng: &mut R, heads: &mut Vec<usize>) {
        match &self.inside {
            Inside::Linear(chart) => {
                chart.derive(heads, |a, b| draw(a.len(), |k| a[k] * b[k], rng));
            }
            Inside::Log(chart) => chart.derive(heads, |a, b| {
                let sums = a.iter().zip(b).map(|(x, y)| x.0 + y.0);
                let high = sums.fold(f64::NEG_INFINITY, f64::max);
                draw(a.len(), |k| exp(a[k].0 + b[k].0 - high), rng)
            }),
        }
    }
}

/// Draws one of 0..splits with probability proportional to its weight. At least one weight is positive,
/// because only items that can be built are visited.
fn draw<R: Rng + ?Sized>(splits: usize, weight: impl Fn(usize) -> f64, rng: &mut R) -> usize {
    if splits == 1 {
        return 0;
    }
    let sum = (0..splits).fold(0.0, |sum, k| sum + weight(k));
    let mut left = uniform(rng) * sum;
    let mut last = 0;
    for k in 0..splits {
        let weight = weight(k);
        if weight > 0.0 {
            // Rounding may leave a rest after the last split; it belongs to that split.
            last = k;
            if left < weight {
                break;
            }
            left -= weight;
        }
    }
    last
}
