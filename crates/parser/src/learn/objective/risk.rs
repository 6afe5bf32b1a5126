//! Risk: the number of wrong heads to expect of a tree drawn from the model (Smith & Eisner 2006),
//! exact over all trees instead of a list of candidates:
//!
//! ```text
//! R = Σ_{h→m} μ_γθ(h → m) ℓ(h → m)        ∂R/∂θ(h → m) = γ Cov_γθ([(h → m) ∈ y′], ℓ(y′))
//! ```
//!
//! It is bounded, not convex, and its gradient vanishes where the model is sure, rightly or wrongly:
//! start from weights that likelihood has found, or with a small γ. Without an entropy term or a
//! prior, γ and the size of the weights are one thing.

use tutte_trees::{ArcMatrix, Error, arc_covariances_with, arcs};

use super::{Scored, Scratch, cost};

pub(super) fn add(
    sentence: Scored<'_>,
    gamma: f64,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut ArcMatrix,
) -> Result<f64, Error> {
    let Scored { scores, gold, tree_set } = sentence;
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
