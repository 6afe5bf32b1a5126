//! Training of arcs with latent clusters (see [`latent`]). Scores are one matrix per cluster, and the table holds the
//! weights of all clusters one after the other. Cost per sentence: K times that of one cluster for scores and features,
//! and one inference.

use std::io;
use std::mem::swap;

use tutte_linear::{Checkpointed, Codec};
use tutte_trees::{ArcMatrix, Error as TreesError};

use super::scorer::{Differentiable, Scorer, Term, multiply};
use super::{Gradient, Optimizer, OptimizerRun, Report, Schedule};
use crate::features::Prepared;
use crate::learn::objective::{Scored, Scratch};
use crate::learn::train::{Corpus, Example};
use crate::model::latent;
use crate::{ArcModel, Error};

impl Optimizer {
    /// Starts a run on arcs with one cluster or several.
    pub(crate) fn start_arcs(
        &self,
        corpus: &Corpus<'_>,
        arcs: &mut ArcModel,
        schedule: Schedule,
    ) -> Result<Box<dyn OptimizerRun>, Error> {
        match arcs.clusters {
            1 => self.start(corpus, arcs, schedule),
            _ => Ok(Box::new(ClusterRun::new(self, corpus, arcs, schedule)?)),
        }
    }
}

/// A run of AdaGrad or SGD on all clusters of a model.
struct ClusterRun {
    optimizer: Gradient<ClusteredModel>,
    /// The model without its weights. To avoid a copy, each pass borrows them from the caller's model.
    model: ClusteredModel,
}

impl ClusterRun {
    fn new(
        optimizer: &Optimizer,
        corpus: &Corpus<'_>,
        arcs: &ArcModel,
        schedule: Schedule,
    ) -> Result<Self, Error> {
        let model = ClusteredModel(ArcModel {
            features: arcs.features.clone(),
            index: arcs.index.clone(),
            clusters: arcs.clusters,
            weights: Vec::new(),
        });
        Ok(Self { optimizer: optimizer.gradient(corpus, &model, schedule)?, model })
    }
}

impl OptimizerRun for ClusterRun {
    fn pass(&mut self, corpus: &Corpus<'_>, arcs: &mut ArcModel) -> Result<Report, Error> {
        swap(&mut self.model.0.weights, &mut arcs.weights);
        let report = self.optimizer.pass(corpus, &mut self.model);
        swap(&mut self.model.0.weights, &mut arcs.weights);
        report
    }

    fn weights_to_keep(&self, _: &ArcModel) -> Option<Vec<f32>> {
        self.optimizer.weights_to_keep(&self.model)
    }
}

impl Checkpointed for ClusterRun {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        self.optimizer.checkpoint(codec)
    }
}

/// A model that scores each cluster on its own.
#[derive(Debug)]
struct ClusteredModel(ArcModel);

/// Arc scores, one matrix per cluster.
#[derive(Debug, Default)]
struct ClusterScores(Vec<ArcMatrix>);

impl Scorer for ClusteredModel {
    type Memory = Prepared;
    type Scores = ClusterScores;

    fn cells(&self) -> usize {
        self.0.clusters * self.0.index.cells()
    }

    #[inline]
    fn weight(&self, cell: usize) -> f32 {
        self.0.weights[cell]
    }

    #[inline]
    fn weight_mut(&mut self, cell: usize) -> &mut f32 {
        &mut self.0.weights[cell]
    }

    fn weights(&self) -> impl Iterator<Item = &f32> {
        self.0.weights.iter()
    }

    fn weights_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        self.0.weights.iter_mut()
    }

    fn templates(&self) -> usize {
        self.0.templates()
    }

    fn prepare(&self, example: &Example, keep: impl Fn(usize) -> bool, memory: &mut Prepared) {
        self.0.prepare(example, keep, memory);
    }

    fn score(&self, example: &Example, scale: f64, memory: &mut Prepared) -> ClusterScores {
        let allowed = |head, modifier| example.candidates.allows(head, modifier);
        let mut scores = self.0.score_by_cluster(memory, allowed);
        scores.iter_mut().for_each(|scores| multiply(scores, scale));
        ClusterScores(scores)
    }

    fn accumulate(
        &self,
        memory: &mut Prepared,
        coefficients: &ClusterScores,
        negligible: f64,
        mut add: impl FnMut(usize, f32),
    ) {
        let size = self.0.index.cells();
        for (cluster, coefficients) in coefficients.0.iter().enumerate() {
            let add = |cell, amount| add(cluster * size + cell, amount);
            ArcModel::accumulate(&self.0, memory, coefficients, negligible, add);
        }
    }
}

impl Differentiable for ClusterScores {
    fn evaluate(
        &self,
        term: Term<'_>,
        scratch: &mut Scratch,
        gradient: &mut Self,
    ) -> Result<f64, TreesError> {
        let Term { objective, example, tree_set, progress } = term;
        let summed = latent::summed(&self.0);
        let mut by_sum = ArcMatrix::default();
        let Example { gold, teacher, .. } = example;
        let scored = Scored { scores: &summed, gold, teacher, tree_set };
        let value = objective.evaluate(scored, progress, scratch, &mut by_sum)?;
        gradient.0.clone_from(&self.0);
        gradient.0.iter_mut().for_each(|cluster| latent::split(&by_sum, &summed, cluster));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use tutte_trees::TreeSet;

    use super::*;
    use crate::learn::train::tests::{SMALL, corpus, small_model, treebank};

    /// Training by cluster gives the usual weights if there is a single cluster.
    #[test]
    fn one_cluster_is_trained_like_none() {
        let treebank = treebank();
        let mut plain = small_model(&treebank, SMALL, TreeSet::NonProjectiveSingleRoot);
        let mut clustered = plain.clone();
        let corpus = corpus(&treebank, &plain);
        let schedule = Schedule { passes: 6, seed: 1, threads: 1 };
        for optimizer in [Optimizer::default(), Optimizer::named("sgd").unwrap()] {
            let mut one = optimizer.start(&corpus, &mut plain.arcs, schedule).unwrap();
            let mut clusters =
                ClusterRun::new(&optimizer, &corpus, &clustered.arcs, schedule).unwrap();
            for _ in 0..6 {
                one.pass(&corpus, &mut plain.arcs).unwrap();
                clusters.pass(&corpus, &mut clustered.arcs).unwrap();
                assert!(plain.arcs.weights == clustered.arcs.weights, "{optimizer}");
                assert!(
                    one.weights_to_keep(&plain.arcs) == clusters.weights_to_keep(&clustered.arcs),
                    "{optimizer}"
                );
            }
        }
    }
}
