//! Second-order projective trees: consecutive siblings and grandparents, exactly.
//!
//! | parts | time | memory | paper |
//! |---|---|---|---|
//! | arcs, siblings | O(n³) | O(n²), beside the scores | McDonald & Pereira 2006 |
//! | arcs, siblings, grandparents | O(n⁴) | O(n³) | Koo & Collins 2010, model 1 |
//!
//! [`chart`] is the recurrence over a semiring. The sum is its value in (log-add, +), the best tree a
//! walk through (max, +), and marginals are read from the outside pass of [`posterior`].

mod chart;
mod posterior;
#[cfg(test)]
mod tests;

use chart::{Chart, Derivation, Scored};
use posterior::Posterior;

use super::argmax::Best;
use crate::SecondOrderParts;
use crate::simd::dispatched;
use crate::tree_set::Roots;
use crate::weight::{Log, Semiring};

/// Scratch memory that a caller keeps; nothing allocates after warm-up.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecondOrderWorkspace {
    log: Chart<Log>,
    best: Chart<Best>,
    derivation: Derivation<Best>,
    posterior: Posterior,
}

impl Scored for Log {
    #[inline(always)]
    fn of(score: f64) -> Self {
        Log(score)
    }
}

impl Scored for Best {
    #[inline(always)]
    fn of(score: f64) -> Self {
        Best(score)
    }
}

dispatched! {
    fn log_chart(chart: &mut Chart<Log>, scores: &SecondOrderParts, roots: Roots) -> Log {
        chart.inside(scores, roots)
    }
}

dispatched! {
    fn best_chart(chart: &mut Chart<Best>, scores: &SecondOrderParts, roots: Roots) -> Best {
        chart.inside(scores, roots)
    }
}

/// Returns ln Σ exp(score) over all projective trees; −∞ if there is none.
pub(crate) fn log_partition(
    scores: &SecondOrderParts,
    roots: Roots,
    ws: &mut SecondOrderWorkspace,
) -> f64 {
    log_chart(&mut ws.log, scores, roots).0
}

/// Writes the probability of every part and returns ln Z. If there is no tree, all parts are 0 and ln Z
/// is −∞.
pub(crate) fn marginals(
    scores: &SecondOrderParts,
    roots: Roots,
    ws: &mut SecondOrderWorkspace,
    out: &mut SecondOrderParts,
) -> f64 {
    let log_z = log_partition(scores, roots, ws);
    if log_z == f64::NEG_INFINITY {
        out.reset(scores.words(), scores.has_grandparents());
    } else {
        ws.posterior.outside(&ws.log, scores, out);
    }
    log_z
}

/// Writes the heads of the best tree and returns its score; `None` if there is no tree.
///
/// Ties go to the first split of each item, from the top down.
pub(crate) fn argmax(
    scores: &SecondOrderParts,
    roots: Roots,
    ws: &mut SecondOrderWorkspace,
    heads: &mut Vec<usize>,
) -> Option<f64> {
    let SecondOrderWorkspace { best, derivation, .. } = ws;
    let total = best_chart(best, scores, roots);
    if total == Best::zero() {
        return None;
    }
    best.derive(scores, derivation, heads, |a, b| {
        let high = Best::dot(a, b);
        // The same two numbers were added to find the maximum, so one sum equals it.
        a.iter().zip(b).position(|(x, y)| x.times(y) == high).unwrap_or(0)
    });
    Some(total.0)
}
