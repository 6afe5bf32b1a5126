//! Risk of a soft decoder (Stoyanov & Eisner 2012; for trees Gormley, Dredze & Eisner 2015): expected number of wrong
//! heads in what the parser answers, not in what it believes.
//!
//! The parser answers the tree with the largest sum of marginals μ of its distribution (minimum Bayes risk). The soft
//! decoder is a second distribution over trees, whose scores are these marginals, at a temperature T. Its marginals δ
//! are the soft answer:
//!
//! ```text
//! q(y′) ∝ exp( 1/T Σ_{e∈y′} μ_e )        δ_e = q(e ∈ y′)        L = Σ_e δ_e ℓ(e)
//! ```
//!
//! As T → 0, q becomes the answer itself, and L its number of wrong heads. The gradient goes back through both
//! distributions, by one vector of covariances in each, O(n³):
//!
//! ```text
//! g_f = ∂L/∂μ_f = 1/T Cov_q([f ∈ y′], ℓ(y′))        ∂L/∂θ_e = Cov_θ([e ∈ y], g(y))
//! ```
//!
//! Scores logit(μ)/T would have another limit than the parser's answer, and slopes 1/μ(1 − μ), which explode where the
//! model is certain. Scores μ/T stay between 0 and 1/T, so nothing has to be clipped.
//!
//! **Labels.** The parser answers the most probable label of each arc of its tree. The soft answer is δ_e π(ℓ | e), with
//!
//! ```text
//! π(ℓ | e) ∝ exp( 1/T p(ℓ | e) )        c_e = Σ_ℓ π(ℓ | e) ℓ(e, ℓ)        L = Σ_e δ_e c_e
//! u(ℓ | e) = ∂L/∂p(ℓ | e) = 1/T δ_e π(ℓ | e) (ℓ(e, ℓ) − c_e)
//! ∂L/∂θ(e, ℓ) = p(ℓ | e) [ Cov_θ([e ∈ y], g(y)) + u(ℓ | e) − Σ_ℓ′ p(ℓ′ | e) u(ℓ′ | e) ]
//! ```
//!
//! where g is that of costs c_e. Like all risks, L is bounded and not convex: start from likelihood. With factors, θ are
//! the scores that belief propagation has refined, and the gradient continues through its iterations.

use tutte_trees::{
    ArcMatrix, Error, LabelledArcMatrix, arc_covariances_with, arcs, marginals_with,
};

use super::labelled::{add_scaled, sum_out};
use super::{LabelledScored, Scored, Scratch, cost, labelled};

pub(super) fn add(
    sentence: Scored<'_>,
    temperature: f64,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut ArcMatrix,
) -> Result<f64, Error> {
    let Scored { scores, gold, tree_set, .. } = sentence;
    if gold.iter().all(Option::is_none) {
        return Ok(0.0);
    }
    let words = scores.words();
    let Scratch { workspace, scores: answer, function, result, .. } = scratch;
    marginals_with(scores, tree_set, workspace, answer)?;
    soften(answer, scores, temperature);
    *function = ArcMatrix::from_fn(words, |head, modifier| cost(gold, head, modifier));
    let risk = arc_covariances_with(answer, function, tree_set, workspace, result)?;
    result.map_in_place(|covariance| covariance / temperature);
    arc_covariances_with(scores, result, tree_set, workspace, function)?;
    for arc in arcs(words) {
        gradient[arc] += factor * function[arc];
    }
    Ok(risk)
}

pub(super) fn add_labelled(
    sentence: LabelledScored<'_>,
    temperature: f64,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut LabelledArcMatrix,
) -> Result<f64, Error> {
    let LabelledScored { scores, gold, labels, tree_set, .. } = sentence;
    if gold.iter().chain(labels).all(Option::is_none) {
        return Ok(0.0);
    }
    let words = scores.words();
    let Scratch { workspace, scores: summed, function, result, given, marginals, answer } = scratch;
    given.clone_from(scores);
    sum_out(given, summed);
    marginals_with(summed, tree_set, workspace, answer)?;
    soften(answer, summed, temperature);
    let mut soft = Vec::new();
    let costs = |head, modifier, soft: &[f64]| -> f64 {
        let cost = |label| labelled::cost(gold, labels, head, modifier, label);
        soft.iter().enumerate().map(|(label, share)| share * cost(label)).sum()
    };
    *function = ArcMatrix::from_fn(words, |head, modifier| {
        soft_labels(scores, given, (head, modifier), temperature, &mut soft);
        costs(head, modifier, &soft)
    });
    let risk = arc_covariances_with(answer, function, tree_set, workspace, result)?;
    marginals_with(answer, tree_set, workspace, marginals)?;
    for arc @ (head, modifier) in arcs(words) {
        if marginals[arc] == 0.0 {
            continue;
        }
        soft_labels(scores, given, arc, temperature, &mut soft);
        // Now the slopes u(ℓ | e).
        for (label, share) in soft.iter_mut().enumerate() {
            let cost = labelled::cost(gold, labels, head, modifier, label);
            *share *= marginals[arc] * (cost - function[arc]) / temperature;
        }
        let shares = given.labels_of(head, modifier).unwrap_or_default();
        let mean: f64 = shares.iter().zip(&soft).map(|(share, slope)| share * slope).sum();
        let sums = gradient.labels_of_mut(head, modifier).into_iter().flatten();
        for (sum, (share, slope)) in sums.zip(shares.iter().zip(&soft)) {
            *sum += factor * share * (slope - mean);
        }
    }
    result.map_in_place(|covariance| covariance / temperature);
    arc_covariances_with(summed, result, tree_set, workspace, function)?;
    for arc in arcs(words) {
        add_scaled(gradient, given, arc, factor * function[arc]);
    }
    Ok(risk)
}

/// Replaces marginals by the scores of the soft answer. Arcs without a score stay forbidden.
fn soften(marginals: &mut ArcMatrix, scores: &ArcMatrix, temperature: f64) {
    let soften = |marginal, score| {
        if score > f64::NEG_INFINITY { marginal / temperature } else { f64::NEG_INFINITY }
    };
    marginals.zip_in_place(scores, soften);
}

/// Writes π(ℓ | e) for all labels of an arc; nothing if none is possible. `given` are p(ℓ | e).
fn soft_labels(
    scores: &LabelledArcMatrix,
    given: &LabelledArcMatrix,
    (head, modifier): (usize, usize),
    temperature: f64,
    soft: &mut Vec<f64>,
) {
    soft.clear();
    let of_arc = scores.labels_of(head, modifier).unwrap_or_default();
    let given = given.labels_of(head, modifier).unwrap_or_default();
    if of_arc.iter().all(|score| *score == f64::NEG_INFINITY) {
        return;
    }
    let best = given.iter().copied().fold(0.0, f64::max);
    soft.extend(of_arc.iter().zip(given).map(|(score, share)| {
        if *score > f64::NEG_INFINITY { ((share - best) / temperature).exp() } else { 0.0 }
    }));
    let sum: f64 = soft.iter().sum();
    soft.iter_mut().for_each(|share| *share /= sum);
}

#[cfg(test)]
mod tests;
