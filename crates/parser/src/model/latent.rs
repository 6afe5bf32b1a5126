//! Latent clusters of arcs (Smith & Smith 2007, §5): every arc is of one of Z clusters that nobody has
//! named, and each cluster z scores it in its own way,
//!
//! ```text
//! θ(h → m) = log Σ_z exp θ_z(h → m)        p(z | h → m) = exp(θ_z(h → m) − θ(h → m))
//! ```
//!
//! Summed over clusters it is an arc score like any other, so any objective can be had of it, and
//! ∂/∂θ_z(h → m) = ∂/∂θ(h → m) · p(z | h → m). Not convex: clusters that score alike stay alike.

use tutte_trees::{ArcMatrix, arcs};

/// θ, summed over the clusters of every arc: for the most probable tree or the least expected errors.
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

/// max_z θ_z: for the most probable tree together with its clusters.
pub fn best(clusters: &[ArcMatrix]) -> ArcMatrix {
    let words = clusters.first().map_or(0, ArcMatrix::words);
    ArcMatrix::from_fn(words, |head, modifier| {
        clusters.iter().map(|scores| scores[(head, modifier)]).fold(f64::NEG_INFINITY, f64::max)
    })
}

/// The derivative by θ_z, from the derivative by θ: writes it where θ_z was.
pub(crate) fn split(gradient: &ArcMatrix, summed: &ArcMatrix, cluster: &mut ArcMatrix) {
    for arc in arcs(gradient.words()) {
        // What no cluster allows moves none.
        let share = if summed[arc].is_finite() { (cluster[arc] - summed[arc]).exp() } else { 0.0 };
        cluster[arc] = gradient[arc] * share;
    }
}
