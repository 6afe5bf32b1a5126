//! Rényi entropies (Rényi 1961; as priors for unannotated sentences, Smith & Eisner 2007). The higher the order α,
//! the more the best trees count:
//!
//! ```text
//! R_α = [log Z(αθ) − α log Z(θ)] / (1 − α)        ∂R_α/∂θ(e) = α/(1 − α) · [μ_αθ(e) − μ_θ(e)]
//! R_∞ = log Z(θ) − max_y θ(y)                     ∂R_∞/∂θ(e) = μ_θ(e) − [e ∈ ŷ]
//! ```
//!
//! R_0 is the logarithm of the number of trees and does not depend on scores. R_1 is Shannon's
//! [entropy](super::entropy). The gradient of R_∞ is that of training on the best tree (Viterbi self-training).
//! O(n³) in all four tree sets.

use tutte_trees::{ArcMatrix, Error, TreeDistribution, arcs};

use super::Scored;

pub(super) fn add(
    sentence: Scored<'_>,
    order: f64,
    factor: f64,
    gradient: &mut ArcMatrix,
) -> Result<f64, Error> {
    let Scored { scores, tree_set, .. } = sentence;
    let trees = TreeDistribution::new(scores.clone(), tree_set)?;
    let slopes = trees.renyi_gradient(order)?;
    for arc in arcs(scores.words()) {
        gradient[arc] += factor * slopes[arc];
    }
    trees.renyi(order)
}
