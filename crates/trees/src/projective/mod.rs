//! Projective trees: one chart of spans, asked in many semirings.
//!
//! A projective tree has no crossing arcs, so the words below any word form a span. A dynamic
//! program over spans builds every tree once (Eisner 1996, *Three New Probabilistic Models for
//! Dependency Parsing*). [`chart`] is that program, O(n³) time and O(n²) memory. The other modules
//! choose the semiring and the walk back down:
//!
//! | question | semiring | module |
//! |---|---|---|
//! | log-partition, marginals | (+, ×) scaled, where that is accurate; else (log-add, +) | [`linear`], [`outside`], [`posterior`] |
//! | best tree, k best | (max, +) | [`argmax`](mod@argmax), [`kbest`](mod@kbest) |
//! | best tree with each arc | the same | [`max_marginals`](mod@max_marginals), [`outside`] |
//! | sampling | (log-add, +) | [`sample`] |
//! | means, a covariance | moments (Li & Eisner 2009) | [`moments`](mod@moments) |
//! | covariances with every arc | numbers with a derivative | [`covariance`] |
//! | dominance of words | (log-add, +) | [`dominance`](mod@dominance) |
//! | siblings and grandparents | (log-add, +), (max, +) | [`second_order`] |
//! | number of trees, existence of a tree | (+, ×) on integers, (or, and) on bits | [`count`](mod@count) |

mod argmax;
mod chart;
mod count;
mod covariance;
mod dominance;
mod kbest;
mod linear;
mod max_marginals;
mod moments;
mod outside;
mod posterior;
mod projectivise;
mod sample;
pub(crate) mod second_order;
#[cfg(test)]
mod tests;

pub(crate) use argmax::argmax;
pub(crate) use count::{count, has_tree};
pub(crate) use covariance::arc_covariances;
pub(crate) use dominance::dominance;
pub(crate) use kbest::kbest;
pub(crate) use max_marginals::max_marginals;
pub(crate) use moments::moments;
pub(crate) use sample::Sampler;

use linear::Scale;

use crate::ArcMatrix;
use crate::simd::dispatched;
use crate::tree_set::Roots;
use crate::weight::Log;

/// Scratch memory that a caller keeps; nothing allocates after warm-up.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProjectiveWorkspace {
    linear: linear::Linear,
    log: chart::Chart<Log>,
    posterior: posterior::Posterior<f64>,
    best: chart::Chart<argmax::Best>,
    best_outside: outside::Outside<argmax::Best>,
    possible: count::Possible,
    covariance: covariance::CovarianceWorkspace,
    pub(crate) second_order: second_order::SecondOrderWorkspace,
    heads: Vec<usize>,
}

dispatched! {
    fn log_chart(chart: &mut chart::Chart<Log>, scores: &ArcMatrix, roots: Roots) -> Log {
        chart.inside(scores.words(), roots, |head, modifier| Log(scores[(head, modifier)]))
    }
}

/// The chart of a workspace that an inside pass has filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filled {
    Neither,
    Linear,
    Log,
}

/// Returns ln Z by the cheapest accurate path, and the chart it filled; −∞ if there is no tree.
fn inside(scores: &ArcMatrix, roots: Roots, ws: &mut ProjectiveWorkspace) -> (f64, Filled) {
    if let Some(log_z) = ws.linear.log_partition(scores, roots, Scale::ByMaxima) {
        return (log_z, Filled::Linear);
    }
    let mut heads = std::mem::take(&mut ws.heads);
    let best = argmax(scores, roots, ws, &mut heads);
    let around_best = (best > f64::NEG_INFINITY)
        .then(|| ws.linear.log_partition(scores, roots, Scale::ByTree(&heads)));
    ws.heads = heads;
    match around_best {
        None => (f64::NEG_INFINITY, Filled::Neither),
        Some(Some(log_z)) => (log_z, Filled::Linear),
        Some(None) => (log_chart(&mut ws.log, scores, roots).0, Filled::Log),
    }
}

/// Returns ln Σ exp(score) over all trees; −∞ if there is none.
pub(crate) fn log_partition(scores: &ArcMatrix, roots: Roots, ws: &mut ProjectiveWorkspace) -> f64 {
    inside(scores, roots, ws).0
}

/// Writes the probability of every arc and returns ln Z. Cells that are not arcs are 0. If there is no
/// tree, all cells are 0 and ln Z is −∞.
pub(crate) fn marginals(
    scores: &ArcMatrix,
    roots: Roots,
    ws: &mut ProjectiveWorkspace,
    out: &mut ArcMatrix,
) -> f64 {
    let (log_z, filled) = inside(scores, roots, ws);
    if filled == Filled::Linear && ws.linear.marginals(roots, out) {
        return log_z;
    }
    if filled == Filled::Linear {
        log_chart(&mut ws.log, scores, roots);
    }
    out.reset(scores.words(), 0.0);
    if filled != Filled::Neither {
        log_marginals(ws, out);
    }
    log_z
}

/// Writes the probability of every arc from a filled log chart into `out`, which must be all zeros.
fn log_marginals(ws: &mut ProjectiveWorkspace, out: &mut ArcMatrix) {
    let words = out.words();
    ws.posterior.outside(&ws.log, words);
    for head in 0..=words {
        for modifier in (1..=words).filter(|&modifier| modifier != head) {
            out[(head, modifier)] = ws.posterior.arc(head, modifier);
        }
    }
}
