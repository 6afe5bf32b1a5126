//! Learners driven by mistakes: parse a sentence with the weights at hand, and where a wrong tree
//! comes out too high, move the weights towards the gold tree and away from it.
//!
//! ```text
//! d_j = Φ(gold) − Φ(tree_j)        w ← w + Σ_j a_j d_j
//! ```
//!
//! They differ in which wrong trees they look at and in the sizes a_j:
//! - the perceptron (Collins 2002): the best tree, a = 1;
//! - [passive-aggressive](super::passive_aggressive): the best tree, a as small as its margin allows;
//! - [MIRA](super::mira): the k best trees, the shortest step to all their margins.
//!
//! The weights that are kept are the mean of those after each sentence. O(n² F) and one decoding a
//! sentence; features are summed only for the arcs in which the trees differ.

use tutte_trees::{ArcMatrix, Error as TreesError, Tree, TreeDistribution, Workspace, argmax_with};

use super::passive_aggressive::{Cost, Update};
use super::sparse::{SparseSum, SparseVector};
use super::{Learn, Order, Report, mira};
use crate::features::Prepared;
use crate::train::{Corpus, Example};
use crate::{ArcModel, Error};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    Perceptron,
    PassiveAggressive { update: Update, cost: Cost },
    Mira { k: usize, c: f64 },
}

/// A wrong tree.
#[derive(Clone, Debug)]
pub(super) struct Rival {
    /// d = Φ(gold) − Φ(tree).
    pub(super) difference: SparseVector,
    /// How many of its heads are wrong.
    pub(super) wrong: usize,
}

impl Rule {
    /// a_j for each rival.
    pub(super) fn sizes(self, rivals: &[Rival], weights: &[f32]) -> Vec<f64> {
        match self {
            Rule::Perceptron => vec![1.0; rivals.len()],
            Rule::PassiveAggressive { update, cost } => rivals
                .iter()
                .map(|rival| {
                    let margin = rival.difference.dot_weights(weights);
                    update.size(
                        cost.of(rival.wrong) - margin,
                        rival.difference.dot(&rival.difference),
                    )
                })
                .collect(),
            Rule::Mira { c, .. } => mira::sizes(rivals, weights, c),
        }
    }

    /// How many of the best trees are looked at.
    fn trees(self) -> usize {
        match self {
            Rule::Perceptron | Rule::PassiveAggressive { .. } => 1,
            Rule::Mira { k, .. } => k,
        }
    }
}

/// A learner driven by mistakes.
#[derive(Debug)]
pub(super) struct MistakeDriven {
    rule: Rule,
    order: Order,
    average: LazyAverage,
    sum: SparseSum,
    prepared: Prepared,
    workspace: Workspace,
}

impl MistakeDriven {
    pub(super) fn new(rule: Rule, cells: usize, seed: u64) -> Self {
        Self {
            rule,
            order: Order::new(seed, 0),
            average: LazyAverage::new(cells),
            sum: SparseSum::new(cells),
            prepared: Prepared::default(),
            workspace: Workspace::default(),
        }
    }

    /// Learns from a sentence; gives the number of wrong heads of the best tree.
    pub(super) fn sentence(
        &mut self,
        corpus: &Corpus<'_>,
        example: &Example,
        arcs: &mut ArcModel,
    ) -> Result<usize, Error> {
        let trees = self
            .best_trees(corpus, example, arcs)
            .map_err(|source| corpus.diverged(example, source))?;
        let wrong = trees.first().map_or(0, |best| wrong(best, &example.gold));
        let mut rivals = Vec::new();
        for tree in trees.iter().filter(|tree| **tree != example.gold) {
            rivals.push(self.rival(tree, example, arcs));
        }
        for (size, rival) in self.rule.sizes(&rivals, &arcs.weights).into_iter().zip(&rivals) {
            for (cell, value) in rival.difference.iter().filter(|_| size != 0.0) {
                let before = arcs.weights[cell];
                let after = (f64::from(before) + size * value) as f32;
                arcs.weights[cell] = after;
                self.average.moved(cell, f64::from(after) - f64::from(before));
            }
        }
        self.average.next();
        Ok(wrong)
    }

    fn best_trees(
        &mut self,
        corpus: &Corpus<'_>,
        example: &Example,
        arcs: &ArcModel,
    ) -> Result<Vec<Vec<usize>>, TreesError> {
        self.prepared.fill(&arcs.features, &example.arcs, |_| true);
        let mut scores = ArcMatrix::zeros(example.gold.len());
        arcs.score(&self.prepared, |h, m| example.candidates.allows(h, m), &mut scores);
        let k = self.rule.trees();
        if k == 1 {
            let mut heads = Vec::new();
            argmax_with(&scores, corpus.tree_set, &mut self.workspace, &mut heads)?;
            return Ok(vec![heads]);
        }
        let best = TreeDistribution::new(scores, corpus.tree_set)?.kbest(k);
        Ok(best.into_iter().map(|scored| Tree::into_heads(scored.tree)).collect())
    }

    fn rival(&mut self, heads: &[usize], example: &Example, arcs: &ArcModel) -> Rival {
        let mut coefficients = ArcMatrix::zeros(heads.len());
        for (modifier, (&head, &gold)) in (1..).zip(heads.iter().zip(&example.gold)) {
            if head != gold {
                coefficients[(gold, modifier)] = 1.0;
                coefficients[(head, modifier)] = -1.0;
            }
        }
        let sum = &mut self.sum;
        arcs.accumulate(&self.prepared, &coefficients, 0.0, |cell, amount| sum.add(cell, amount));
        Rival { difference: self.sum.take(), wrong: wrong(heads, &example.gold) }
    }
}

fn wrong(heads: &[usize], gold: &[usize]) -> usize {
    heads.iter().zip(gold).filter(|(head, gold)| head != gold).count()
}

impl Learn for MistakeDriven {
    fn pass(&mut self, corpus: &Corpus<'_>, arcs: &mut ArcModel) -> Result<Report, Error> {
        let mut loss = 0;
        for at in self.order.shuffled(corpus.examples.len()) {
            loss += self.sentence(corpus, &corpus.examples[at], arcs)?;
        }
        Ok(Report { loss: loss as f64, ..Report::default() })
    }

    fn learnt(&self, arcs: &ArcModel) -> Option<Vec<f32>> {
        Some(self.average.mean(&arcs.weights))
    }
}

/// The mean of the weights after each sentence, at a cost only where weights move: with w_i moved by
/// δ_i at sentence i = 0, 1, …, t − 1, the mean is w − Σ i·δ_i / t.
#[derive(Clone, Debug)]
pub(super) struct LazyAverage {
    /// Σ i·δ_i.
    sums: Vec<f64>,
    /// Sentences seen.
    seen: f64,
}

impl LazyAverage {
    pub(super) fn new(cells: usize) -> Self {
        Self { sums: vec![0.0; cells], seen: 0.0 }
    }

    /// A weight has moved.
    #[inline]
    pub(super) fn moved(&mut self, cell: usize, by: f64) {
        self.sums[cell] += self.seen * by;
    }

    /// A sentence is done.
    pub(super) fn next(&mut self) {
        self.seen += 1.0;
    }

    /// The mean, from the weights as they are now.
    pub(super) fn mean(&self, weights: &[f32]) -> Vec<f32> {
        let seen = self.seen.max(1.0);
        let mean = |(weight, sum): (&f32, &f64)| (f64::from(*weight) - sum / seen) as f32;
        weights.iter().zip(&self.sums).map(mean).collect()
    }
}

#[cfg(test)]
mod tests;
