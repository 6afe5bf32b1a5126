//! A softmax over the heads of each word, apart from all other words (Dozat & Manning 2017; as "head selection" Zhang,
//! Cheng & Lapata 2017):
//!
//! ```text
//! Σ_m (log Σ_h exp θ(h → m) − θ(h_m → m))        ∂/∂θ(h → m) = exp θ(h → m) / Σ_h′ exp θ(h′ → m) − [h = h_m]
//! ```
//!
//! with h_m the gold head of word m. It is the likelihood if all choices of heads were trees, so it takes no notice of
//! cycles and of other roots: the distribution over trees is another one. Convex in θ. Words without a gold head do not
//! count. O(n²).
//!
//! Labelled arcs have θ(e, ℓ) in place of θ(e). If the gold head or the gold label of a word is unknown, the sum is over
//! all of them.

use tutte_trees::{
    ArcMatrix, Error, LabelledArcMatrix, LabelledTreeDistribution, TreeDistribution,
};

use super::{LabelledScored, Scored, cost, labelled};

pub(super) fn add(
    sentence: Scored<'_>,
    factor: f64,
    gradient: &mut ArcMatrix,
) -> Result<f64, Error> {
    let Scored { scores, gold, .. } = sentence;
    let mut value = 0.0;
    for modifier in (1..).zip(gold).filter_map(|(modifier, head)| head.map(|_| modifier)) {
        let heads = (0..=scores.words()).filter(|&head| head != modifier);
        let cells = heads.map(|head| (head, scores[(head, modifier)]));
        let agrees = |head: usize| cost(gold, head, modifier) == 0.0;
        value += add_word(cells, agrees, |head, derivative| {
            gradient[(head, modifier)] += factor * derivative;
        });
    }
    if !value.is_finite() {
        // Bad scores are an error as for all other terms.
        TreeDistribution::new(scores.clone(), sentence.tree_set)?;
    }
    Ok(value)
}

pub(super) fn add_labelled(
    sentence: LabelledScored<'_>,
    factor: f64,
    gradient: &mut LabelledArcMatrix,
) -> Result<f64, Error> {
    let LabelledScored { scores, gold, labels, .. } = sentence;
    let mut value = 0.0;
    for modifier in 1..=scores.words() {
        if gold[modifier - 1].is_none() && labels[modifier - 1].is_none() {
            continue;
        }
        let heads = (0..=scores.words()).filter(|&head| head != modifier);
        let cells = heads.flat_map(|head| {
            let of_arc = scores.labels_of(head, modifier).unwrap_or_default();
            of_arc.iter().enumerate().map(move |(label, score)| ((head, label), *score))
        });
        let agrees = |(head, label)| labelled::cost(gold, labels, head, modifier, label) == 0.0;
        value += add_word(cells, agrees, |(head, label), derivative| {
            gradient[(head, modifier, label)] += factor * derivative;
        });
    }
    if !value.is_finite() {
        LabelledTreeDistribution::new(scores.clone(), sentence.tree_set)?;
    }
    Ok(value)
}

/// Returns −log p of the cells that agree with the gold annotation of a word, and gives the derivative by each score.
fn add_word<C: Copy>(
    cells: impl Iterator<Item = (C, f64)> + Clone,
    agrees: impl Fn(C) -> bool,
    mut add: impl FnMut(C, f64),
) -> f64 {
    let possible = cells.filter(|(_, score)| *score != f64::NEG_INFINITY);
    let all = log_sum(possible.clone());
    let gold = log_sum(possible.clone().filter(|(cell, _)| agrees(*cell)));
    for (cell, score) in possible {
        let of_gold = if agrees(cell) { (score - gold).exp() } else { 0.0 };
        add(cell, (score - all).exp() - of_gold);
    }
    all - gold
}

fn log_sum<C>(cells: impl Iterator<Item = (C, f64)> + Clone) -> f64 {
    let highest = cells.clone().map(|(_, score)| score).fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return highest;
    }
    highest + cells.map(|(_, score)| (score - highest).exp()).sum::<f64>().ln()
}
