//! Rényi entropies (Rényi 1961; as priors on what nobody has annotated, Smith & Eisner 2007): how unsure
//! the model is, looking the more at the best trees the higher the order α,
//!
//! ```text
//! R_α = [log Z(αθ) − α log Z(θ)] / (1 − α)        ∂R_α/∂θ(e) = α/(1 − α) · [μ_αθ(e) − μ_θ(e)]
//! R_∞ = log Z(θ) − max_y θ(y)                     ∂R_∞/∂θ(e) = μ_θ(e) − [e ∈ ŷ]
//! ```
//!
//! R_0 is the logarithm of the number of trees, which no score changes; R_1 is Shannon's
//! [entropy](super::entropy); R_∞ moves scores as training on the best tree would (Viterbi
//! self-training). O(n³) in all four sets.

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
