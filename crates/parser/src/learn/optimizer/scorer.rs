//! Models as optimizers see them: scores, the way back from scores to weights, and exact inference on the scores.
//! The code is generic over arcs, labelled arcs and arcs with latent clusters, and compiled for each.
//!
//! To an optimizer a model is a [`Scorer`]: one flat table of weights, also called cells. A scorer gives a number to
//! every *part* of an analysis. A part is an arc or a labelled arc. A [`PartTable`] holds one number per part: a
//! score, a marginal or a coefficient.

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

/// A model that an optimizer can train.
pub(crate) trait Scorer: Debug + Send + Sync {
    /// Features of a sentence, looked up before scoring.
    type Memory: Debug + Default + Send;
    /// Scores, and derivatives by them.
    type Scores: Differentiable;

    /// Returns the number of weights.
    fn cells(&self) -> usize;

    /// Returns a weight.
    fn weight(&self, cell: usize) -> f32;

    /// Returns a weight to change.
    fn weight_mut(&mut self, cell: usize) -> &mut f32;

    /// Returns all weights.
    fn weights(&self) -> impl Iterator<Item = &f32>;

    /// Returns all weights to change.
    fn weights_mut(&mut self) -> impl Iterator<Item = &mut f32>;

    /// Returns the number of templates.
    fn templates(&self) -> usize;

    /// Looks up the features of a sentence, for the templates that `keep` accepts.
    fn prepare(&self, example: &Example, keep: impl Fn(usize) -> bool, memory: &mut Self::Memory);

    /// Scores the sentence that `memory` was prepared for, with all weights multiplied by `scale`.
    fn score(&self, example: &Example, scale: f64, memory: &mut Self::Memory) -> Self::Scores;

    /// Sums `coefficient · f` over parts by calls of `add(cell, amount)`, perhaps several per cell. Skips
    /// coefficients whose absolute value is at most `negligible`.
    fn accumulate(
        &self,
        memory: &mut Self::Memory,
        coefficients: &Self::Scores,
        negligible: f64,
        add: impl FnMut(usize, f32),
    );
}

/// A model that scores parts one by one, without latent clusters.
pub(crate) trait PartScorer: Scorer<Scores: PartTable> {
    /// Returns 0 for the parts that a sentence may have, −∞ for others.
    fn possible(&self, example: &Example) -> Self::Scores;
}

/// Scores that an objective can be evaluated on.
pub(crate) trait Differentiable: Debug + Default + Send {
    /// Returns the value of the objective for a sentence, and writes its derivatives into `gradient`; see
    /// [`Objective::evaluate`].
    fn evaluate(
        &self,
        term: Term<'_>,
        scratch: &mut Scratch,
        gradient: &mut Self,
    ) -> Result<f64, TreesError>;
}

/// The term of an objective that belongs to one sentence, at one time of the training.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term<'a> {
    pub(crate) objective: &'a Objective,
    pub(crate) example: &'a Example,
    pub(crate) tree_set: TreeSet,
    /// Share of the passes that are done; see [`Objective::evaluate`].
    pub(crate) progress: f64,
}

/// One number for every part of the analyses of a sentence.
pub(crate) trait PartTable:
    Differentiable + Clone + IndexMut<Self::Part, Output = f64>
{
    /// An arc, with its label if it has one.
    type Part: Copy + Debug + PartialEq + Send;

    /// Returns a table of the same size, filled with zeros.
    fn zeros(&self) -> Self;

    /// Returns all parts.
    fn parts(&self) -> impl Iterator<Item = Self::Part> + use<Self>;

    /// Returns the dependent of a part.
    fn modifier(part: Self::Part) -> usize;

    /// Returns the parts of the gold tree, by word; without unannotated words.
    fn gold(example: &Example) -> Vec<Self::Part>;

    /// Returns 0 for parts of the gold tree, 1 for others.
    fn cost(example: &Example, part: Self::Part) -> f64;

    /// Returns log Z.
    fn log_partition(
        &self,
        tree_set: TreeSet,
        workspace: &mut Workspace,
    ) -> Result<f64, TreesError>;

    /// Writes the probability of every part and returns log Z.
    fn marginals(
        &self,
        tree_set: TreeSet,
        workspace: &mut Workspace,
        marginals: &mut Self,
    ) -> Result<f64, TreesError>;

    /// Returns the score of the best tree and its parts, by word.
    fn argmax(
        &self,
        tree_set: TreeSet,
        workspace: &mut Workspace,
    ) -> Result<(f64, Vec<Self::Part>), TreesError>;

    /// Returns the parts of the `k` best trees, best first.
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

    fn score(&self, example: &Example, scale: f64, memory: &mut Prepared) -> ArcMatrix {
        let mut scores = ArcMatrix::zeros(example.gold.len());
        ArcModel::score(self, memory, |h, m| example.candidates.allows(h, m), &mut scores);
        multiply(&mut scores, scale);
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
            if example.candidates.allows(head, modifier) { 0.0 } else { f64::NEG_INFINITY }
        })
    }
}

/// Multiplies every score.
pub(super) fn multiply(scores: &mut ArcMatrix, scale: f64) {
    arcs(scores.words()).for_each(|arc| scores[arc] *= scale);
}

impl Differentiable for ArcMatrix {
    fn evaluate(
        &self,
        term: Term<'_>,
        scratch: &mut Scratch,
        gradient: &mut Self,
    ) -> Result<f64, TreesError> {
        let Term { objective, example, tree_set, progress } = term;
        let Example { gold, teacher, .. } = example;
        let scored = Scored { scores: self, gold, teacher, tree_set };
        objective.evaluate(scored, progress, scratch, gradient)
    }
}

impl PartTable for ArcMatrix {
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
