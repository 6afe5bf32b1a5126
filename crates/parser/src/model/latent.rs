//! Latent clusters of arcs (Smith & Smith 2007, §5): every arc is of one of Z kinds that nobody has
//! named, and each kind z scores it in its own way,
//!
//! ```text
//! θ(h → m) = log Σ_z exp θ_z(h → m)        p(z | h → m) = exp(θ_z(h → m) − θ(h → m))
//! ```
//!
//! Summed over kinds it is an arc score like any other, so any objective can be had of it, and
//! ∂/∂θ_z(h → m) = ∂/∂θ(h → m) · p(z | h → m). Not convex: kinds that score alike stay alike.

use tutte_trees::{ArcMatrix, arcs};

/// θ, summed over the kinds of every arc: for the most probable tree or the least expected errors.
pub fn summed(kinds: &[ArcMatrix]) -> ArcMatrix {
    let highest = best(kinds);
    ArcMatrix::from_fn(highest.words(), |head, modifier| {
        let arc = (head, modifier);
        let best = highest[arc];
        if best == f64::NEG_INFINITY {
            return best;
        }
        best + kinds.iter().map(|scores| (scores[arc] - best).exp()).sum::<f64>().ln()
    })
}

/// max_z θ_z: for the most probable tree together with its kinds.
pub fn best(kinds: &[ArcMatrix]) -> ArcMatrix {
    let words = kinds.first().map_or(0, ArcMatrix::words);
    ArcMatrix::from_fn(words, |head, modifier| {
        kinds.iter().map(|scores| scores[(head, modifier)]).fold(f64::NEG_INFINITY, f64::max)
    })
}

/// The derivative by θ_z, from the derivative by θ: writes it where θ_z was.
pub(crate) fn split(gradient: &ArcMatrix, summed: &ArcMatrix, kind: &mut ArcMatrix) {
    for arc in arcs(gradient.words()) {
        // What no kind allows moves none.
        let share = if summed[arc].is_finite() { (kind[arc] - summed[arc]).exp() } else { 0.0 };
        kind[arc] = gradient[arc] * share;
    }
}
