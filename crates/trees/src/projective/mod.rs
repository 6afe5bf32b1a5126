//! Projective trees: one chart of spans, asked in many semirings.
//!
//! A projective tree has no crossing arcs, so the words below any word form a span, and a dynamic
//! program over spans sees every tree once (Eisner 1996, *Three New Probabilistic Models for
//! Dependency Parsing*). [`chart`] is that program, O(n³) time and O(n²) memory; the other modules
//! choose what to add and multiply, and how to walk back down:
//!
//! | question | semiring | module |
//! |---|---|---|
//! | log-partition, marginals | (+, ×) scaled, where that is certain; else (log-add, +) | [`linear`], [`outside`], [`posterior`] |
//! | best tree, k best | (max, +) | [`argmax`](mod@argmax), [`kbest`](mod@kbest) |
//! | sampling | the same | [`sample`] |
//! | means, a covariance | moments (Li & Eisner 2009) | [`moments`](mod@moments) |
//! | covariances with every arc | numbers with a derivative | [`covariance`] |
//! | which words descend from which | (log-add, +) | [`dominance`](mod@dominance) |
//! | how many trees, any tree at all | (+, ×) on integers, (or, and) on bits | [`count`](mod@count) |

mod argmax;
mod chart;
mod count;
mod covariance;
mod dominance;
mod kbest;
mod linear;
mod moments;
mod outside;
mod posterior;
mod projectivise;
mod sample;
#[cfg(test)]
mod tests;

pub(crate) use argmax::argmax;
pub(crate) use count::{count, has_tree};
pub(crate) use covariance::arc_covariances;
pub(crate) use dominance::dominance;
pub(crate) use kbest::kbest;
pub(crate) use moments::moments;
pub(crate) use sample::Sampler;

use linear::Scale;

use crate::ArcMatrix;
use crate::simd::dispatched;
use crate::tree_set::Roots;
use crate::weight::Log;

/// Scratch memory, kept by a caller; nothing allocates after warm-up.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProjectiveWorkspace {
    linear: linear::Linear,
    log: chart::Chart<Log>,
    posterior: posterior::Posterior<f64>,
    best: chart::Chart<argmax::Best>,
    possible: count::Possible,
    covariance: covariance::CovarianceWorkspace,
    heads: Vec<usize>,
}

dispatched! {
    fn log_chart(chart: &mut chart::Chart<Log>, scores: &ArcMatrix, roots: Roots) -> Log {
        chart.inside(scores.words(), roots, |head, modifier| Log(scores[(head, modifier)]))
    }
}

/// Which chart of a workspace an inside pass has left its items in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filled {
    Neither,
    Linear,
    Log,
}

/// ln Z by the cheapest path that can vouch for it; −∞ if there is no tree.
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

/// ln Σ exp(score) over all trees; −∞ if there is none.
pub(crate) fn log_partition(scores: &ArcMatrix, roots: Roots, ws: &mut ProjectiveWorkspace) -> f64 {
    inside(scores, roots, ws).0
}

/// The probability of every arc, and ln Z. Cells that are no arcs are 0, and so is everything if
/// there is no tree (ln Z = −∞).
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

/// The probability of every arc from a filled log chart, into an `out` of zeros.
fn log_marginals(ws: &mut ProjectiveWorkspace, out: &mut ArcMatrix) {
    let words = out.words();
    ws.posterior.outside(&ws.log, words);
    for head in 0..=words {
        for modifier in (1..=words).filter(|&modifier| modifier != head) {
            out[(head, modifier)] = ws.posterior.arc(head, modifier);
        }
    }
}
