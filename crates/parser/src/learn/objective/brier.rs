//! Brier score of the heads of words (Brier 1950): squared differences between marginals and the gold tree.
//!
//! ```text
//! B = Σ_m Σ_h (μ(h → m) − [h = h_m])²        ∂B/∂θ(e) = Cov([e ∈ y], g(y)),   g_f = 2 (μ_f − [f gold])
//! ```
//!
//! with h_m the gold head of word m. It leads from likelihood to the [risk of a decoder](super::decoded_risk) (Stoyanov
//! & Eisner 2012): it is bounded as risks are, and smallest in expectation at the true probabilities as likelihood is.
//! Labelled arcs have (e, ℓ) in place of e. Where the annotation of a word leaves several labelled arcs open, they count
//! as one event of probability 1. Words without annotation do not count. O(n³).

use tutte_trees::{
    ArcMatrix, Error, LabelledArcMatrix, arc_covariances_with, arcs, marginals_with,
};

use super::labelled::{self, add_covariances};
use super::{LabelledScored, Scored, Scratch};

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
    let Scratch { workspace, function: slopes, result: covariances, .. } = scratch;
    marginals_with(scores, tree_set, workspace, slopes)?;
    let mut value = 0.0;
    for arc @ (head, modifier) in arcs(scores.words()) {
        let Some(gold) = gold[modifier - 1] else {
            slopes[arc] = 0.0;
            continue;
        };
        let difference = slopes[arc] - if head == gold { 1.0 } else { 0.0 };
        value += difference * difference;
        slopes[arc] = 2.0 * difference;
    }
    arc_covariances_with(scores, slopes, tree_set, workspace, covariances)?;
    for arc in arcs(scores.words()) {
        gradient[arc] += factor * covariances[arc];
    }
    Ok(value)
}

pub(super) fn add_labelled(
    sentence: LabelledScored<'_>,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut LabelledArcMatrix,
) -> Result<f64, Error> {
    let LabelledScored { scores, gold, labels, tree_set, .. } = sentence;
    if gold.iter().chain(labels).all(Option::is_none) {
        return Ok(0.0);
    }
    let words = scores.words();
    let mut slopes = LabelledArcMatrix::default();
    labelled::marginals(scores, tree_set, &mut scratch.workspace, &mut slopes)?;
    let mut value = 0.0;
    for modifier in 1..=words {
        let is_known = gold[modifier - 1].is_some() || labels[modifier - 1].is_some();
        let heads = || (0..=words).filter(move |&head| head != modifier);
        let agrees = |head, label| labelled::cost(gold, labels, head, modifier, label) == 0.0;
        let mut right = 0.0;
        for head in heads() {
            let probs = slopes.labels_of(head, modifier).into_iter().flatten().enumerate();
            right +=
                probs.filter(|(label, _)| agrees(head, *label)).map(|(_, prob)| prob).sum::<f64>();
        }
        if is_known {
            value += (1.0 - right) * (1.0 - right);
        }
        for head in heads() {
            let slopes = slopes.labels_of_mut(head, modifier).into_iter().flatten();
            for (label, slope) in slopes.enumerate() {
                if !is_known {
                    *slope = 0.0;
                } else if agrees(head, label) {
                    *slope = -2.0 * (1.0 - right);
                } else {
                    value += *slope * *slope;
                    *slope *= 2.0;
                }
            }
        }
    }
    scratch.given.clone_from(scores);
    let slope = |head, modifier, label| slopes[(head, modifier, label)];
    add_covariances(sentence, slope, factor, scratch, gradient)?;
    Ok(value)
}
