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
//! sentence; features are summed only for the arcs in which the trees differ. If arcs have labels,
//! the best trees are the best labelled ones, θ(h → m) = max_ℓ θ(h → m, ℓ), and a word is wrong if
//! its head or its label is.

use std::io;

use tutte_linear::{Checkpointed, Codec, LazyAverage, Order, SparseSum, SparseVector};
use tutte_trees::{Error as TreesError, Workspace};

use super::passive_aggressive::{Cost, Update};
use super::scorer::{PartScorer, Parts, Scorer};
use super::{Learn, Report, mira};
use crate::Error;
use crate::learn::train::{Corpus, Example};

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
    /// How many of its heads (or labels) are wrong.
    pub(super) wrong: usize,
}

impl Rule {
    /// a_j for each rival.
    pub(super) fn sizes(self, rivals: &[Rival], weight: impl Fn(usize) -> f32) -> Vec<f64> {
        match self {
            Rule::Perceptron => vec![1.0; rivals.len()],
            Rule::PassiveAggressive { update, cost } => rivals
                .iter()
                .map(|rival| {
                    let margin = rival.difference.dot_weights(&weight);
                    update.size(
                        cost.of(rival.wrong) - margin,
                        rival.difference.dot(&rival.difference),
                    )
                })
                .collect(),
            Rule::Mira { c, .. } => mira::sizes(rivals, weight, c),
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

/// A tree, as its parts by word.
type Analysis<S> = Vec<<<S as Scorer>::Scores as Parts>::Part>;

/// A learner driven by mistakes.
#[derive(Debug)]
pub(super) struct MistakeDriven<S: PartScorer> {
    rule: Rule,
    order: Order,
    average: LazyAverage,
    sum: SparseSum,
    memory: S::Memory,
    workspace: Workspace,
}

impl<S: PartScorer> MistakeDriven<S> {
    pub(super) fn new(rule: Rule, cells: usize, seed: u64) -> Self {
        Self {
            rule,
            order: Order::new(seed, 0),
            average: LazyAverage::new(cells),
            sum: SparseSum::default(),
            memory: S::Memory::default(),
            workspace: Workspace::default(),
        }
    }

    /// Learns from a sentence; gives the number of wrong parts of the best tree.
    pub(super) fn sentence(
        &mut self,
        corpus: &Corpus<'_>,
        example: &Example,
        model: &mut S,
    ) -> Result<usize, Error> {
        model.prepare(example, |_| true, &mut self.memory);
        let scores = model.score(example, &mut self.memory);
        let trees =
            self.best_trees(corpus, &scores).map_err(|source| corpus.diverged(example, source))?;
        let gold = S::Scores::gold(example);
        let wrong = trees.first().map_or(0, |best| wrong(best, &gold));
        let mut rivals = Vec::new();
        for tree in trees.iter().filter(|tree| **tree != gold) {
            rivals.push(self.rival(tree, &gold, scores.zeros(), model));
        }
        let sizes = self.rule.sizes(&rivals, |cell| model.weight(cell));
        for (size, rival) in sizes.into_iter().zip(&rivals) {
            for (cell, value) in rival.difference.iter().filter(|_| size != 0.0) {
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
    ) -> Result<Vec<Analysis<S>>, TreesError> {
        match self.rule.trees() {
            1 => Ok(vec![scores.argmax(corpus.tree_set, &mut self.workspace)?.1]),
            k => scores.clone().kbest(k, corpus.tree_set),
        }
    }

    /// What stands against a tree, of the sentence that was scored last.
    fn rival(
        &mut self,
        tree: &[<S::Scores as Parts>::Part],
        gold: &[<S::Scores as Parts>::Part],
        mut coefficients: S::Scores,
        model: &S,
    ) -> Rival {
        for (&part, &gold) in tree.iter().zip(gold) {
            if part != gold {
                coefficients[gold] = 1.0;
                coefficients[part] = -1.0;
            }
        }
        let Self { sum, memory, .. } = self;
        model.accumulate(memory, &coefficients, 0.0, |cell, amount| sum.add(cell, amount));
        Rival { difference: sum.take(), wrong: wrong(tree, gold) }
    }
}

fn wrong<P: PartialEq>(tree: &[P], gold: &[P]) -> usize {
    tree.iter().zip(gold).filter(|(part, gold)| part != gold).count()
}

impl<S: PartScorer> Learn<S> for MistakeDriven<S> {
    fn pass(&mut self, corpus: &Corpus<'_>, model: &mut S) -> Result<Report, Error> {
        let mut loss = 0;
        for at in self.order.shuffled(corpus.examples.len()) {
            loss += self.sentence(corpus, &corpus.examples[at], model)?;
        }
        Ok(Report { loss: loss as f64, ..Report::default() })
    }

    fn learnt(&self, model: &S) -> Option<Vec<f32>> {
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
