//! Entropy of the distribution over trees:
//!
//! ```text
//! H = log Z − Σ_{h→m} μ(h → m) θ(h → m)        ∂H/∂θ(h → m) = −Cov([(h → m) ∈ y], θ(y))
//! ```
//!
//! A negative factor keeps the distribution flat early in training (deterministic annealing, Smith & Eisner 2006).
//! A positive factor sharpens it on sentences without gold trees (Grandvalet & Bengio 2005). O(n³).

use tutte_trees::{ArcMatrix, Error, arc_covariances_with, arcs, log_partition_with};

use super::{Scored, Scratch};

pub(super) fn add(
    sentence: Scored<'_>,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut ArcMatrix,
) -> Result<f64, Error> {
    let Scored { scores, tree_set, .. } = sentence;
    let Scratch { workspace, result: covariances, .. } = scratch;
    let mean = arc_covariances_with(scores, scores, tree_set, workspace, covariances)?;
    for arc in arcs(scores.words()) {
        gradient[arc] -= factor * covariances[arc];
    }
    Ok(log_partition_with(scores, tree_set, workspace)? - mean)
}
