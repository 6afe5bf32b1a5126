//! What learners see of a model: scores, the way back from scores to weights, and exact inference on
//! the scores. Written once for arcs, arcs with labels and arcs of latent kinds, compiled for each.
//!
//! A model is one flat table of cells to its learner, whatever its parts: a [`Scorer`]. It gives a
//! number to every *part* of which analyses of a sentence are made, arcs or labelled arcs: [`Parts`]
//! are tables of such numbers, scores as well as marginals and coefficients.

use std::fmt::Debug;
use std::ops::IndexMut;

use tutte_trees::{
    ArcMatrix, Error as TreesError, Tree, TreeDistribution, TreeSet, Workspace, arcs, argmax_with,
    log_partition_with, marginals_with,
};

use crate::ArcModel;
use crate::features::Prepared;
use crate::learn::corpus::Example;
use crate::learn::objective::{Objective, Scored, Scratch, cost};

/// A model that can be learnt.
pub(crate) trait Scorer: Debug + Send + Sync {
    /// A sentence made ready for scoring.
    type Memory: Debug + Default + Send;
    /// Scores, and derivatives by them.
    type Scores: Differentiable;

    /// The number of weights.
    fn cells(&self) -> usize;

    /// One of them.
    fn weight(&self, cell: usize) -> f32;

    /// The same, to be moved.
    fn weight_mut(&mut self, cell: usize) -> &mut f32;

    /// All of them.
    fn weights(&self) -> impl Iterator<Item = &f32>;

    /// The same, to be moved.
    fn weights_mut(&mut self) -> impl Iterator<Item = &mut f32>;

    /// The number of templates.
    fn templates(&self) -> usize;

    /// Makes a sentence ready, with those templates that `keep` says.
    fn prepare(&self, example: &Example, keep: impl Fn(usize) -> bool, memory: &mut Self::Memory);

    /// Scores a sentence that is ready.
    fn score(&self, example: &Example, memory: &mut Self::Memory) -> Self::Scores;

    /// Adds up `coefficient · f`: `add(cell, amount)`, any number of times a cell.
    fn accumulate(
        &self,
        memory: &mut Self::Memory,
        coefficients: &Self::Scores,
        negligible: f64,
        add: impl FnMut(usize, f32),
    );
}

/// A model whose parts can be told apart.
pub(crate) trait PartScorer: Scorer<Scores: Parts> {
    /// 0 for the parts that a sentence may have, −∞ for others.
    fn possible(&self, example: &Example) -> Self::Scores;
}

/// Scores of which an objective can be had.
pub(crate) trait Differentiable: Debug + Default + Send {
    /// Multiplies all.
    fn scale(&mut self, by: f64);

    /// The value of an objective, and into `gradient` its derivatives; see
    /// [`Objective::evaluate`].
    fn evaluate(
        &self,
        objective: &Objective,
        example: &Example,
        tree_set: TreeSet,
        progress: f64,
        scratch: &mut Scratch,
        gradient: &mut Self,
    ) -> Result<f64, TreesError>;
}

/// A number for every part of which the analyses of a sentence are made.
pub(crate) trait Parts: Differentiable + Clone + IndexMut<Self::Part, Output = f64> {
    /// An arc, with its label if it has one.
    type Part: Copy + Debug + PartialEq;

    /// As many zeros.
    fn zeros(&self) -> Self;

    /// All parts.
    fn parts(&self) -> impl Iterator<Item = Self::Part> + use<Self>;

    /// The word that a part gives a head.
    fn modifier(part: Self::Part) -> usize;

    /// The parts of the gold tree that are known, by word.
    fn gold(example: &Example) -> Vec<Self::Part>;

    /// 0 for parts of the gold tree, 1 for others.
    fn cost(example: &Example, part: Self::Part) -> f64;

    /// log Z.
    fn log_partition(
        &self,
        tree_set: TreeSet,
        workspace: &mut Workspace,
    ) -> Result<f64, TreesError>;

    /// The probability of every part; log Z.
    fn marginals(
        &self,
        tree_set: TreeSet,
        workspace: &mut Workspace,
        marginals: &mut Self,
    ) -> Result<f64, TreesError>;

    /// The score and the parts, by word, of the best tree.
    fn argmax(
        &self,
        tree_set: TreeSet,
        workspace: &mut Workspace,
    ) -> Result<(f64, Vec<Self::Part>), TreesError>;

    /// The parts of the `k` best trees, best first.
    fn kbest(self, k: usize, tree_set: TreeSet) -> Result<Vec<Vec<Self::Part>>, TreesError>;
}

impl Scorer for ArcModel {
    type Memory = Prepared;
    type Scores = ArcMatrix;

    fn cells(&self) -> usize {
        self.weights.len()
    }

    #[inline]
    fn weight(&self, cell: usize) -> f32 {
        self.weights[cell]
    }

    #[inline]
    fn weight_mut(&mut self, cell: usize) -> &mut f32 {
        &mut self.weights[cell]
    }

    fn weights(&self) -> impl Iterator<Item = &f32> {
        self.weights.iter()
    }

    fn weights_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        self.weights.iter_mut()
    }

    fn templates(&self) -> usize {
        self.features.templates().len()
    }

    fn prepare(&self, example: &Example, keep: impl Fn(usize) -> bool, memory: &mut Prepared) {
        let allowed = |head, modifier| example.candidates.allows(head, modifier);
        memory.fill_for(&self.features, &example.arcs, keep, allowed);
    }

    fn score(&self, example: &Example, memory: &mut Prepared) -> ArcMatrix {
        let mut scores = ArcMatrix::zeros(example.gold.len());
        ArcModel::score(self, memory, |h, m| example.candidates.allows(h, m), &mut scores);
        scores
    }

    fn accumulate(
        &self,
        memory: &mut Prepared,
        coefficients: &ArcMatrix,
        negligible: f64,
        add: impl FnMut(usize, f32),
    ) {
        ArcModel::accumulate(self, memory, coefficients, negligible, add);
    }
}

impl PartScorer for ArcModel {
    fn possible(&self, example: &Example) -> ArcMatrix {
        ArcMatrix::from_fn(example.gold.len(), |head, modifier| {
            match example.candidates.allows(head, modifier) {
                true => 0.0,
                false => f64::NEG_INFINITY,
            }
        })
    }
}

impl Differentiable for ArcMatrix {
    fn scale(&mut self, by: f64) {
        for arc in arcs(self.words()) {
            self[arc] *= by;
        }
    }

    fn evaluate(
        &self,
        objective: &Objective,
        example: &Example,
        tree_set: TreeSet,
        progress: f64,
        scratch: &mut Scratch,
        gradient: &mut Self,
    ) -> Result<f64, TreesError> {
        let scored = Scored { scores: self, gold: &example.gold, tree_set };
        objective.evaluate(scored, progress, scratch, gradient)
    }
}

impl Parts for ArcMatrix {
    type Part = (usize, usize);

    fn zeros(&self) -> Self {
        ArcMatrix::zeros(self.words())
    }

    fn parts(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        arcs(self.words())
    }

    fn modifier((_, modifier): (usize, usize)) -> usize {
        modifier
    }

    fn gold(example: &Example) -> Vec<(usize, usize)> {
        example.gold.iter().zip(1..).filter_map(|(head, word)| Some(((*head)?, word))).collect()
    }

    fn cost(example: &Example, (head, modifier): (usize, usize)) -> f64 {
        cost(&example.gold, head, modifier)
    }

    fn log_partition(
        &self,
        tree_set: TreeSet,
        workspace: &mut Workspace,
    ) -> Result<f64, TreesError> {
        log_partition_with(self, tree_set, workspace)
    }

    fn marginals(
        &self,
        tree_set: TreeSet,
        workspace: &mut Workspace,
        marginals: &mut Self,
    ) -> Result<f64, TreesError> {
        marginals_with(self, tree_set, workspace, marginals)
    }

    fn argmax(
        &self,
        tree_set: TreeSet,
        workspace: &mut Workspace,
    ) -> Result<(f64, Vec<(usize, usize)>), TreesError> {
        let mut heads = Vec::new();
        let score = argmax_with(self, tree_set, workspace, &mut heads)?;
        Ok((score, heads.into_iter().zip(1..).collect()))
    }

    fn kbest(self, k: usize, tree_set: TreeSet) -> Result<Vec<Vec<(usize, usize)>>, TreesError> {
        let best = TreeDistribution::new(self, tree_set)?.kbest(k);
        Ok(best.into_iter().map(|scored| Tree::arcs(&scored.tree).collect()).collect())
    }
}
