//! Risk: expected number of wrong heads in a tree drawn from the model (Smith & Eisner 2006). The paper sums over a
//! list of candidate trees; here the sum is exact over all trees:
//!
//! ```text
//! R = Σ_{h→m} μ_γθ(h → m) ℓ(h → m)        ∂R/∂θ(h → m) = γ Cov_γθ([(h → m) ∈ y′], ℓ(y′))
//! ```
//!
//! It is bounded and not convex. Its gradient vanishes where the model is certain, right or wrong: start from weights
//! trained by likelihood, or with a small γ. Without an entropy term or a prior, scaling γ is the same as scaling the
//! weights. O(n³).

use tutte_trees::{ArcMatrix, Error, arc_covariances_with, arcs};

use super::{Scored, Scratch, cost};

pub(super) fn add(
    sentence: Scored<'_>,
    gamma: f64,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut ArcMatrix,
) -> Result<f64, Error> {
    let Scored { scores, gold, tree_set, .. } = sentence;
    let words = scores.words();
    let Scratch { workspace, scores: scaled, function: wrong, result: covariances, .. } = scratch;
    *scaled = ArcMatrix::from_fn(words, |head, modifier| gamma * scores[(head, modifier)]);
    *wrong = ArcMatrix::from_fn(words, |head, modifier| cost(gold, head, modifier));
    let risk = arc_covariances_with(scaled, wrong, tree_set, workspace, covariances)?;
    for arc in arcs(words) {
        gradient[arc] += factor * gamma * covariances[arc];
    }
    Ok(risk)
}
