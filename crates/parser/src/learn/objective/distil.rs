//! Cross-entropy to a teacher's distribution over trees (Hinton, Vinyals & Dean 2015; for arcs of trees Kuncoro,
//! Ballesteros, Kong, Dyer & Smith 2016):
//!
//! ```text
//! Σ_y p_T(y) (−log p(y)) = log Z(θ) − Σ_{h→m} μ_T(h → m) θ(h → m)        ∂/∂θ(h → m) = μ(h → m) − μ_T(h → m)
//! ```
//!
//! with μ_T the marginals of the teacher. The sum over all trees is exact, since θ(y) is a sum over arcs. Convex in θ;
//! smallest, and then the entropy of the teacher, where μ = μ_T. O(n³).
//!
//! Labelled arcs have θ(e, ℓ) and μ_T(e, ℓ) in place of θ(e) and μ_T(e). An arc of a teacher without labels counts for
//! all labels: θ(e) = log Σ_ℓ exp θ(e, ℓ). The gold likelihood is the case where the teacher gives one tree
//! probability 1. Without a teacher the value is 0.

use tutte_trees::{ArcMatrix, Error, LabelledArcMatrix, arcs, marginals_with};

use super::labelled::{add_scaled, sum_out};
use super::{LabelledScored, Scored, Scratch};

pub(super) fn add(
    sentence: Scored<'_>,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut ArcMatrix,
) -> Result<f64, Error> {
    let Scored { scores, teacher, tree_set, .. } = sentence;
    if teacher.is_empty() {
        return Ok(0.0);
    }
    let marginals = &mut scratch.result;
    let mut value = marginals_with(scores, tree_set, &mut scratch.workspace, marginals)?;
    for arc in arcs(scores.words()) {
        gradient[arc] += factor * marginals[arc];
    }
    for soft in teacher {
        let arc = (soft.head, soft.modifier);
        // The student cannot learn an arc that its scores forbid.
        if scores[arc] == f64::NEG_INFINITY {
            continue;
        }
        gradient[arc] -= factor * soft.probability;
        value -= soft.probability * scores[arc];
    }
    Ok(value)
}

pub(super) fn add_labelled(
    sentence: LabelledScored<'_>,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut LabelledArcMatrix,
) -> Result<f64, Error> {
    let LabelledScored { scores, teacher, tree_set, .. } = sentence;
    if teacher.is_empty() {
        return Ok(0.0);
    }
    let Scratch { workspace, scores: summed, result: marginals, given, .. } = scratch;
    given.clone_from(scores);
    sum_out(given, summed);
    let mut value = marginals_with(summed, tree_set, workspace, marginals)?;
    for arc in arcs(scores.words()) {
        add_scaled(gradient, given, arc, factor * marginals[arc]);
    }
    for soft in teacher {
        let arc = (soft.head, soft.modifier);
        if let Some(label) = soft.label {
            let score = scores[(soft.head, soft.modifier, label)];
            // The student cannot learn a labelled arc that its scores forbid, such as a second root.
            if score != f64::NEG_INFINITY {
                gradient[(soft.head, soft.modifier, label)] -= factor * soft.probability;
                value -= soft.probability * score;
            }
        } else if summed[arc] != f64::NEG_INFINITY {
            add_scaled(gradient, given, arc, -factor * soft.probability);
            value -= soft.probability * summed[arc];
        }
    }
    Ok(value)
}

#[cfg(test)]
mod tests;
