//! The score of the best tree that contains each arc: inside and outside in the semiring (max, +).
//!
//! The best tree with the arc h → m scores I\[h\]\[m\] + Î\[h\]\[m\] of [`outside`](super::outside), read with
//! max for sums and + for products. O(n³) for all arcs.

use super::ProjectiveWorkspace;
use super::argmax::{Best, best_chart};
use crate::ArcMatrix;
use crate::tree_set::Roots;

/// Writes the score of the best tree with each arc; −∞ for arcs in no tree.
pub(crate) fn max_marginals(
    scores: &ArcMatrix,
    roots: Roots,
    ws: &mut ProjectiveWorkspace,
    out: &mut ArcMatrix,
) {
    let words = scores.words();
    out.reset(words, f64::NEG_INFINITY);
    best_chart(&mut ws.best, scores, roots);
    let ProjectiveWorkspace { best, best_outside, .. } = ws;
    let arc = |head, modifier| Best(scores[(head, modifier)]);
    best_outside.run(best, words, roots, arc, |head, modifier, score| {
        out[(head, modifier)] = score.0;
    });
}
