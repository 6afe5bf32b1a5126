//! Softmax-margin (Gimpel & Smith 2010; Povey et al. 2008 as "boosted MMI"): the likelihood after the score of
//! every wrong head is raised by κ, so that a worse tree must lose by more:
//!
//! ```text
//! log Z(θ + κ ℓ) − θ(y)        ∂/∂θ(h → m) = μ_{θ + κ ℓ}(h → m) − [(h → m) ∈ y]
//! ```
//!
//! Convex in θ. κ = 0 is the likelihood. It is an upper bound of the likelihood loss and of κ times the risk.
//! O(n³).

use tutte_trees::{ArcMatrix, Error};

use super::{Scored, Scratch, cost, likelihood};

pub(super) fn add(
    sentence: Scored<'_>,
    kappa: f64,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut ArcMatrix,
) -> Result<f64, Error> {
    let Scored { scores, gold, .. } = sentence;
    let raised = ArcMatrix::from_fn(scores.words(), |head, modifier| {
        scores[(head, modifier)] + kappa * cost(gold, head, modifier)
    });
    // Gold arcs are not raised, so θ(y) does not change.
    likelihood::add(Scored { scores: &raised, ..sentence }, factor, scratch, gradient)
}
