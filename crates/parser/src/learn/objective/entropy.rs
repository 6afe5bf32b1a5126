//! Entropy: how unsure the model is of the tree,
//!
//! ```text
//! H = log Z − Σ_{h→m} μ(h → m) θ(h → m)        ∂H/∂θ(h → m) = −Cov([(h → m) ∈ y], θ(y))
//! ```
//!
//! With a negative factor it keeps a model from being sure too early (deterministic annealing, Smith
//! & Eisner 2006); with a positive one it makes a model decide where nobody tells it the answer
//! (Grandvalet & Bengio 2005).

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
