//! Objectives of labelled trees. Labels are summed inside the score of each arc (Koo, Globerson, Carreras & Collins
//! 2007, §3.4), which reduces every quantity to one of unlabelled trees:
//!
//! ```text
//! θ(e) = log Σ_ℓ exp θ(e, ℓ)        p(ℓ | e) = exp(θ(e, ℓ) − θ(e))        μ(e, ℓ) = μ(e) p(ℓ | e)
//!
//! ḡ(e) = Σ_ℓ p(ℓ | e) g(e, ℓ)
//! Cov([(e, ℓ) ∈ y], g(y)) = p(ℓ | e) · (Cov([e ∈ y], ḡ(y)) + μ(e) · (g(e, ℓ) − ḡ(e)))
//! ```
//!
//! for arcs e = h → m. The gold tree has labelled arcs, and a word is wrong if its head or its label is wrong:
//! ℓ(e, ℓ) = 1 for every labelled arc except the gold one. Otherwise the terms are those of unlabelled trees. Where
//! a gold head or label is missing, the sum is over all of them. O(n³ + n² L) per term, for L labels.

use tutte_trees::{
    ArcMatrix, Error, LabelledArcMatrix, LabelledTreeDistribution, TreeSet, Workspace,
    arc_covariances_with, arcs, log_partition_with, marginals_with,
};

use super::{Objective, Scratch, Term, brier, decoded_risk, distil};
use crate::learn::teacher::SoftArc;

/// Scores, gold heads and gold labels of a sentence: the input of a labelled objective.
#[derive(Clone, Copy, Debug)]
pub struct LabelledScored<'a> {
    /// θ, the score of every labelled arc.
    pub scores: &'a LabelledArcMatrix,
    /// Gold head of every word, `None` if unannotated.
    pub gold: &'a [Option<usize>],
    /// Gold label of every word, `None` if unannotated.
    pub labels: &'a [Option<usize>],
    /// Arcs of a teacher's distribution; empty if the sentence has no teacher. The probabilities of each word sum to 1.
    pub teacher: &'a [SoftArc],
    /// Set of trees that the distribution is over.
    pub tree_set: TreeSet,
}

impl LabelledScored<'_> {
    fn cost(&self, head: usize, modifier: usize, label: usize) -> f64 {
        cost(self.gold, self.labels, head, modifier, label)
    }
}

/// Returns ℓ(h → m, ℓ): 1 if the head or the label differs from an annotated one, otherwise 0.
pub(crate) fn cost(
    gold: &[Option<usize>],
    labels: &[Option<usize>],
    head: usize,
    modifier: usize,
    label: usize,
) -> f64 {
    let is_wrong =
        |gold: &[Option<usize>], found| gold[modifier - 1].is_some_and(|gold| gold != found);
    if is_wrong(gold, head) || is_wrong(labels, label) { 1.0 } else { 0.0 }
}

impl Objective {
    /// Returns the value for labelled trees, and writes its derivatives into `gradient`; compare
    /// [`evaluate`](Self::evaluate). The likelihood is that of the gold tree with its labels. A word is wrong if its
    /// head or its label is wrong. Entropies are those of the labelled tree.
    ///
    /// ```
    /// use tutte::learn::objective::{LabelledScored, Scratch, likelihood};
    /// use tutte_trees::{LabelledArcMatrix, TreeSet};
    ///
    /// let sentence = LabelledScored {
    ///     scores: &LabelledArcMatrix::zeros(2, 3), // two words, three labels
    ///     gold: &[Some(2), Some(0)],
    ///     labels: &[Some(1), Some(0)],
    ///     teacher: &[],
    ///     tree_set: TreeSet::NonProjectiveSingleRoot,
    /// };
    /// let mut gradient = LabelledArcMatrix::default();
    /// let value =
    ///     likelihood().evaluate_labelled(sentence, 0.0, &mut Scratch::default(), &mut gradient)?;
    /// assert!((value - 18f64.ln()).abs() < 1e-12); // 2 trees, 3 · 3 ways to label each
    /// assert!((gradient[(2, 1, 1)] - (1.0 / 6.0 - 1.0)).abs() < 1e-12);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn evaluate_labelled(
        &self,
        sentence: LabelledScored<'_>,
        progress: f64,
        scratch: &mut Scratch,
        gradient: &mut LabelledArcMatrix,
    ) -> Result<f64, Error> {
        *gradient = LabelledArcMatrix::zeros(sentence.scores.words(), sentence.scores.labels());
        let mut value = 0.0;
        for (factor, term) in self.at(progress) {
            value += factor
                * match term {
                    _ if self.ignores(term, sentence.teacher) => 0.0,
                    Term::Distil => distil::add_labelled(sentence, factor, scratch, gradient)?,
                    Term::Likelihood => margin(sentence, 0.0, factor, scratch, gradient)?,
                    Term::Softmax => super::softmax::add_labelled(sentence, factor, gradient)?,
                    Term::SoftmaxMargin { cost } => {
                        margin(sentence, cost, factor, scratch, gradient)?
                    }
                    Term::Risk { gamma } => {
                        risk(sentence, gamma.at(progress), factor, scratch, gradient)?
                    }
                    Term::DecodedRisk { temperature } => decoded_risk::add_labelled(
                        sentence,
                        temperature,
                        factor,
                        scratch,
                        gradient,
                    )?,
                    Term::Brier => brier::add_labelled(sentence, factor, scratch, gradient)?,
                    Term::Entropy => entropy(sentence, factor, scratch, gradient)?,
                    Term::Renyi { order } => renyi(sentence, order, factor, scratch, gradient)?,
                };
        }
        Ok(value)
    }
}

/// Softmax-margin: log Z(θ + κ ℓ) − θ(y), with log Z_Y(θ) in place of θ(y) for a partial tree. κ = 0 is −log p.
fn margin(
    sentence: LabelledScored<'_>,
    kappa: f64,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut LabelledArcMatrix,
) -> Result<f64, Error> {
    let LabelledScored { scores, gold, labels, tree_set, .. } = sentence;
    if gold.iter().chain(labels).all(Option::is_none) {
        return Ok(0.0);
    }
    let Scratch { workspace, scores: summed, result: marginals, given, .. } = scratch;
    given.clone_from(scores);
    if kappa != 0.0 {
        change(given, |score, (h, m, label)| score + kappa * sentence.cost(h, m, label));
    }
    sum_out(given, summed);
    let mut value = marginals_with(summed, tree_set, workspace, marginals)?;
    for (head, modifier) in arcs(scores.words()) {
        let share = factor * marginals[(head, modifier)];
        add_scaled(gradient, given, (head, modifier), share);
    }
    if gold.contains(&None) || labels.contains(&None) {
        given.clone_from(scores);
        change(given, |score, (h, m, label)| match sentence.cost(h, m, label) {
            0.0 => score,
            _ => f64::NEG_INFINITY,
        });
        sum_out(given, summed);
        value -= marginals_with(summed, tree_set, workspace, marginals)?;
        for (head, modifier) in arcs(scores.words()) {
            let share = -factor * marginals[(head, modifier)];
            add_scaled(gradient, given, (head, modifier), share);
        }
        return Ok(value);
    }
    for (modifier, (head, label)) in (1..).zip(gold.iter().flatten().zip(labels.iter().flatten())) {
        gradient[(*head, modifier, *label)] -= factor;
        value -= scores[(*head, modifier, *label)];
    }
    Ok(value)
}

/// Expected number of wrong words under probabilities ∝ exp(γ θ(y)).
fn risk(
    sentence: LabelledScored<'_>,
    gamma: f64,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut LabelledArcMatrix,
) -> Result<f64, Error> {
    scratch.given.clone_from(sentence.scores);
    change(&mut scratch.given, |score, _| gamma * score);
    let cost = |head, modifier, label| sentence.cost(head, modifier, label);
    add_covariances(sentence, cost, factor * gamma, scratch, gradient)
}

/// Entropy of the labelled tree, log Z − E θ(y).
fn entropy(
    sentence: LabelledScored<'_>,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut LabelledArcMatrix,
) -> Result<f64, Error> {
    scratch.given.clone_from(sentence.scores);
    let score = |head, modifier, label| sentence.scores[(head, modifier, label)];
    let mean = add_covariances(sentence, score, -factor, scratch, gradient)?;
    Ok(log_partition_with(&scratch.scores, sentence.tree_set, &mut scratch.workspace)? - mean)
}

/// Rényi entropy of the labelled tree.
fn renyi(
    sentence: LabelledScored<'_>,
    order: f64,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut LabelledArcMatrix,
) -> Result<f64, Error> {
    let trees = LabelledTreeDistribution::new(sentence.scores.clone(), sentence.tree_set)?;
    if order == 1.0 {
        return entropy(sentence, factor, scratch, gradient);
    }
    if order == 0.0 {
        return trees.renyi(order);
    }
    let workspace = &mut scratch.workspace;
    let mut own = LabelledArcMatrix::default();
    marginals(sentence.scores, sentence.tree_set, workspace, &mut own)?;
    let (share, other) = if order == f64::INFINITY {
        let mut best = LabelledArcMatrix::zeros(own.words(), own.labels());
        trees.argmax().tree.arcs().for_each(|arc| best[arc] = 1.0);
        (-1.0, best)
    } else {
        let mut sharper = sentence.scores.clone();
        change(&mut sharper, |score, _| order * score);
        let mut other = LabelledArcMatrix::default();
        marginals(&sharper, sentence.tree_set, workspace, &mut other)?;
        (order / (1.0 - order), other)
    };
    for (head, modifier) in arcs(own.words()) {
        add_scaled(gradient, &other, (head, modifier), factor * share);
        add_scaled(gradient, &own, (head, modifier), -factor * share);
    }
    trees.renyi(order)
}

/// Adds `factor` · Cov([(e, ℓ) ∈ y], g(y)) to the gradient, for the distribution whose scores are in
/// `scratch.given`. Returns the mean of g(y).
pub(super) fn add_covariances(
    sentence: LabelledScored<'_>,
    g: impl Fn(usize, usize, usize) -> f64,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut LabelledArcMatrix,
) -> Result<f64, Error> {
    let LabelledScored { scores, tree_set, .. } = sentence;
    let Scratch { workspace, scores: summed, function: means, .. } = scratch;
    let Scratch { result: covariances, given, marginals, .. } = scratch;
    sum_out(given, summed);
    // Labels with probability 0 are left out: g may be infinite or NaN there.
    let possible = |head, modifier| {
        let shares = given.labels_of(head, modifier).unwrap_or_default().iter().enumerate();
        shares.filter(|(_, share)| **share > 0.0)
    };
    *means = ArcMatrix::from_fn(scores.words(), |head, modifier| {
        possible(head, modifier).map(|(label, share)| share * g(head, modifier, label)).sum()
    });
    let mean = arc_covariances_with(summed, means, tree_set, workspace, covariances)?;
    marginals_with(summed, tree_set, workspace, marginals)?;
    for arc @ (head, modifier) in arcs(scores.words()) {
        for (label, share) in possible(head, modifier) {
            let own = marginals[arc] * (g(head, modifier, label) - means[arc]);
            gradient[(head, modifier, label)] += factor * share * (covariances[arc] + own);
        }
    }
    Ok(mean)
}

/// Replaces every score by `f` of it.
fn change(scores: &mut LabelledArcMatrix, f: impl Fn(f64, (usize, usize, usize)) -> f64) {
    for (head, modifier) in arcs(scores.words()) {
        let labels = scores.labels_of_mut(head, modifier).into_iter().flatten();
        for (label, score) in labels.enumerate() {
            *score = f(*score, (head, modifier, label));
        }
    }
}

/// Writes θ(e) into `summed`, and replaces θ(e, ℓ) by p(ℓ | e).
pub(crate) fn sum_out(scores: &mut LabelledArcMatrix, summed: &mut ArcMatrix) {
    *summed = ArcMatrix::from_fn(scores.words(), |head, modifier| {
        scores.labels_of_mut(head, modifier).map_or(f64::NEG_INFINITY, softmax)
    });
}

/// Returns log Σ exp, and replaces every score by its share; by 0 if all are −∞.
fn softmax(scores: &mut [f64]) -> f64 {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if best == f64::NEG_INFINITY {
        // All are −∞, or some are NaN: the sum passes NaN on.
        let sum = scores.iter().fold(best, |sum, score| sum + score);
        scores.fill(0.0);
        return sum;
    }
    scores.iter_mut().for_each(|score| *score = (*score - best).exp());
    let sum: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|share| *share /= sum);
    best + sum.ln()
}

/// Writes the marginals of labelled arcs and returns log Z.
pub(crate) fn marginals(
    scores: &LabelledArcMatrix,
    tree_set: TreeSet,
    workspace: &mut Workspace,
    marginals: &mut LabelledArcMatrix,
) -> Result<f64, Error> {
    let mut summed = ArcMatrix::default();
    let mut of_arcs = ArcMatrix::default();
    marginals.clone_from(scores);
    sum_out(marginals, &mut summed);
    let log_partition = marginals_with(&summed, tree_set, workspace, &mut of_arcs)?;
    change(marginals, |share, (head, modifier, _)| share * of_arcs[(head, modifier)]);
    Ok(log_partition)
}

/// Adds `factor` times the numbers of one arc, over all labels, to another matrix.
pub(crate) fn add_scaled(
    sums: &mut LabelledArcMatrix,
    shares: &LabelledArcMatrix,
    (head, modifier): (usize, usize),
    factor: f64,
) {
    let sums = sums.labels_of_mut(head, modifier).into_iter().flatten();
    let shares = shares.labels_of(head, modifier).into_iter().flatten();
    sums.zip(shares).for_each(|(sum, share)| *sum += factor * share);
}

#[cfg(test)]
mod tests;
