//! Latent clusters of arcs (Smith & Smith 2007, §5).
//!
//! Every arc belongs to one of Z latent clusters, and each cluster z has its own score for it:
//!
//! ```text
//! θ(h → m) = log Σ_z exp θ_z(h → m)        p(z | h → m) = exp(θ_z(h → m) − θ(h → m))
//! ```
//!
//! Summed over clusters, it is an arc score like any other, so any objective can use it, with
//! ∂/∂θ_z(h → m) = ∂/∂θ(h → m) · p(z | h → m). The objective is not convex: clusters with equal scores
//! stay equal.

use tutte_trees::{ArcMatrix, arcs};

/// Returns θ, the scores summed over clusters, for the most probable tree or the fewest expected errors.
pub fn summed(clusters: &[ArcMatrix]) -> ArcMatrix {
    let highest = best(clusters);
    ArcMatrix::from_fn(highest.words(), |head, modifier| {
        let arc = (head, modifier);
        let best = highest[arc];
        if best == f64::NEG_INFINITY {
            return best;
        }
        best + clusters.iter().map(|scores| (scores[arc] - best).exp()).sum::<f64>().ln()
    })
}

/// Returns max_z θ_z, for the most probable tree together with its clusters.
pub fn best(clusters: &[ArcMatrix]) -> ArcMatrix {
    let words = clusters.first().map_or(0, ArcMatrix::words);
    ArcMatrix::from_fn(words, |head, modifier| {
        clusters.iter().map(|scores| scores[(head, modifier)]).fold(f64::NEG_INFINITY, f64::max)
    })
}

/// Replaces θ_z by the derivative by θ_z, computed from the derivative by θ.
pub(crate) fn split(gradient: &ArcMatrix, summed: &ArcMatrix, cluster: &mut ArcMatrix) {
    for arc in arcs(gradient.words()) {
        // An arc that all clusters forbid has no gradient.
        let share = if summed[arc].is_finite() { (cluster[arc] - summed[arc]).exp() } else { 0.0 };
        cluster[arc] = gradient[arc] * share;
    }
}
