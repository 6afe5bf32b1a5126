//! Conditional log-likelihood of the gold tree (Lafferty, McCallum & Pereira 2001; for trees Koo, Globerson,
//! Carreras & Collins 2007, Smith & Smith 2007, McDonald & Satta 2007):
//!
//! ```text
//! −log p(y | x) = log Z(θ) − Σ_{(h→m) ∈ y} θ(h → m)        ∂/∂θ(h → m) = μ(h → m) − [(h → m) ∈ y]
//! ```
//!
//! with μ the marginals. Convex in θ. O(n³).
//!
//! For a partial tree, it is the likelihood of the set Y of all trees that contain the gold arcs (Li, Zhang & Chen
//! 2014; the idea is as old as EM):
//!
//! ```text
//! −log p(Y | x) = log Z(θ) − log Z_Y(θ)        ∂/∂θ(h → m) = μ(h → m) − μ_Y(h → m)
//! ```
//!
//! Z_Y and μ_Y belong to scores that forbid every arc from another head to a word with a gold head. The value is
//! exact, but a difference of two convex functions is not convex. A complete tree is the case where Z_Y has a
//! single term. Without gold heads the value is 0.

use tutte_trees::{ArcMatrix, Error, arcs, marginals_with};

use super::{Scored, Scratch};

pub(super) fn add(
    sentence: Scored<'_>,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut ArcMatrix,
) -> Result<f64, Error> {
    let Scored { scores, gold, tree_set, .. } = sentence;
    if gold.iter().all(Option::is_none) {
        return Ok(0.0);
    }
    let marginals = &mut scratch.result;
    let mut value = marginals_with(scores, tree_set, &mut scratch.workspace, marginals)?;
    for arc in arcs(scores.words()) {
        gradient[arc] += factor * marginals[arc];
    }
    if gold.contains(&None) {
        scratch.scores.clone_from(scores);
        for arc @ (head, modifier) in arcs(scores.words()) {
            if gold[modifier - 1].is_some_and(|gold| gold != head) {
                scratch.scores[arc] = f64::NEG_INFINITY;
            }
        }
        value -= marginals_with(&scratch.scores, tree_set, &mut scratch.workspace, marginals)?;
        for arc in arcs(scores.words()) {
            gradient[arc] -= factor * marginals[arc];
        }
        return Ok(value);
    }
    for (modifier, head) in (1..).zip(gold.iter().flatten()) {
        gradient[(*head, modifier)] -= factor;
        value -= scores[(*head, modifier)];
    }
    Ok(value)
}
