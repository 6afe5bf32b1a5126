//! Mistake-driven optimizers: parse a sentence with the current weights. If a wrong tree scores too high, move the
//! weights towards the gold tree and away from the wrong tree.
//!
//! ```text
//! d_j = Φ(gold) − Φ(tree_j)        w ← w + Σ_j a_j d_j
//! ```
//!
//! The rules differ in the wrong trees they use and in the step sizes a_j:
//! - the perceptron (Collins 2002): the best tree, a = 1;
//! - [passive-aggressive](super::passive_aggressive): the best tree, the smallest a that reaches the margin;
//! - [MIRA](super::mira): the k best trees, the shortest step that reaches all margins.
//!
//! The result is the mean of the weights after each sentence. Cost per sentence: O(n² F) for F features per arc, and
//! one decoding. Features are summed only for arcs in which the trees differ. With labels, the best trees are the best
//! labelled trees, θ(h → m) = max_ℓ θ(h → m, ℓ). A word is then wrong if its head or its label is wrong.

use std::io;

use tutte_linear::{Checkpointed, Codec, LazyAverage, Order, SparseSum, SparseVector};
use tutte_trees::{Error as TreesError, Workspace};

use super::passive_aggressive::{Cost, Update};
use super::scorer::{PartScorer, PartTable, Scorer};
use super::{OptimizerRun, Report, mira};
use crate::Error;
use crate::learn::train::{Corpus, Example};

/// Choice of wrong trees and step sizes.
#[derive(Clone, Copy, Debug)]
pub(super) enum UpdateRule {
    Perceptron,
    PassiveAggressive { update: Update, cost: Cost },
    Mira { k: usize, c: f64 },
}

/// A tree that differs from the gold tree.
#[derive(Clone, Debug)]
pub(super) struct WrongTree {
    /// d = Φ(gold) − Φ(tree).
    pub(super) difference: SparseVector,
    /// Number of wrong words.
    pub(super) wrong: usize,
}

impl UpdateRule {
    /// Returns the step size a_j for each wrong tree.
    pub(super) fn sizes(
        self,
        wrong_trees: &[WrongTree],
        weight: impl Fn(usize) -> f32,
    ) -> Vec<f64> {
        match self {
            UpdateRule::Perceptron => vec![1.0; wrong_trees.len()],
            UpdateRule::PassiveAggressive { update, cost } => wrong_trees
                .iter()
                .map(|tree| {
                    let margin = tree.difference.dot_weights(&weight);
                    update.size(cost.of(tree.wrong) - margin, tree.difference.dot(&tree.difference))
                })
                .collect(),
            UpdateRule::Mira { c, .. } => mira::sizes(wrong_trees, weight, c),
        }
    }

    /// Returns the number of best trees to decode.
    fn trees(self) -> usize {
        match self {
            UpdateRule::Perceptron | UpdateRule::PassiveAggressive { .. } => 1,
            UpdateRule::Mira { k, .. } => k,
        }
    }
}

/// The parts of a tree, by word.
type TreeParts<S> = Vec<<<S as Scorer>::Scores as PartTable>::Part>;

/// A run of a mistake-driven optimizer.
#[derive(Debug)]
pub(super) struct MistakeDriven<S: PartScorer> {
    rule: UpdateRule,
    order: Order,
    average: LazyAverage,
    sum: SparseSum,
    memory: S::Memory,
    workspace: Workspace,
}

impl<S: PartScorer> MistakeDriven<S> {
    pub(super) fn new(rule: UpdateRule, cells: usize, seed: u64) -> Self {
        Self {
            rule,
            order: Order::new(seed, 0),
            average: LazyAverage::new(cells),
            sum: SparseSum::default(),
            memory: S::Memory::default(),
            workspace: Workspace::default(),
        }
    }

    /// Updates the weights on a sentence. Returns the number of wrong parts of the best tree.
    pub(super) fn update(
        &mut self,
        corpus: &Corpus<'_>,
        example: &Example,
        model: &mut S,
    ) -> Result<usize, Error> {
        model.prepare(example, |_| true, &mut self.memory);
        let scores = model.score(example, 1.0, &mut self.memory);
        let trees =
            self.best_trees(corpus, &scores).map_err(|source| corpus.diverged(example, source))?;
        let gold = S::Scores::gold(example);
        let wrong = trees.first().map_or(0, |best| wrong(best, &gold));
        let mut wrong_trees = Vec::new();
        for tree in trees.iter().filter(|tree| **tree != gold) {
            wrong_trees.push(self.wrong_tree(tree, &gold, scores.zeros(), model));
        }
        let sizes = self.rule.sizes(&wrong_trees, |cell| model.weight(cell));
        for (size, tree) in sizes.into_iter().zip(&wrong_trees) {
            for (cell, value) in tree.difference.iter().filter(|_| size != 0.0) {
                let weight = model.weight_mut(cell);
                let before = *weight;
                *weight = (f64::from(before) + size * value) as f32;
                self.average.moved(cell, f64::from(*weight) - f64::from(before));
            }
        }
        self.average.end_example();
        Ok(wrong)
    }

    fn best_trees(
        &mut self,
        corpus: &Corpus<'_>,
        scores: &S::Scores,
    ) -> Result<Vec<TreeParts<S>>, TreesError> {
        match self.rule.trees() {
            1 => Ok(vec![scores.argmax(corpus.tree_set, &mut self.workspace)?.1]),
            k => scores.clone().kbest(k, corpus.tree_set),
        }
    }

    /// Returns the features in which a tree differs from the gold tree. `self.memory` must be prepared for the
    /// sentence, and `coefficients` all zero.
    fn wrong_tree(
        &mut self,
        tree: &[<S::Scores as PartTable>::Part],
        gold: &[<S::Scores as PartTable>::Part],
        mut coefficients: S::Scores,
        model: &S,
    ) -> WrongTree {
        for (&part, &gold) in tree.iter().zip(gold) {
            if part != gold {
                coefficients[gold] = 1.0;
                coefficients[part] = -1.0;
            }
        }
        let Self { sum, memory, .. } = self;
        model.accumulate(memory, &coefficients, 0.0, |cell, amount| sum.add(cell, amount));
        WrongTree { difference: sum.take(), wrong: wrong(tree, gold) }
    }
}

/// Returns the number of parts that differ.
fn wrong<P: PartialEq>(tree: &[P], gold: &[P]) -> usize {
    tree.iter().zip(gold).filter(|(part, gold)| part != gold).count()
}

impl<S: PartScorer> OptimizerRun<S> for MistakeDriven<S> {
    fn pass(&mut self, corpus: &Corpus<'_>, model: &mut S) -> Result<Report, Error> {
        let mut loss = 0;
        for at in self.order.shuffled(corpus.examples.len()) {
            loss += self.update(corpus, &corpus.examples[at], model)?;
        }
        Ok(Report { loss: loss as f64, ..Report::default() })
    }

    fn weights_to_keep(&self, model: &S) -> Option<Vec<f32>> {
        Some(self.average.mean(model.weights()))
    }
}

impl<S: PartScorer> Checkpointed for MistakeDriven<S> {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        self.order.checkpoint(codec)?;
        self.average.checkpoint(codec)
    }
}

#[cfg(test)]
mod tests;
