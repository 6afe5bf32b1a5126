//! A model of arcs: θ(h → m) = w · f(x, h, m), or of arcs of Z latent clusters
//! ([`latent`]), θ(h → m) = log Σ_z exp(w_z · f(x, h, m)), which share features and differ in
//! weights. A score costs Z times as much then.

use tutte_linear::gaussian;
use tutte_trees::ArcMatrix;

use crate::features::index::hashed;
use crate::features::{FeatureSet, Prepared};
use crate::model::latent;
use crate::{Compact, Index, Weights};

/// Features and their weights, of any cluster that can be read.
#[derive(Clone, Debug)]
pub struct ArcModel<W = Vec<f32>> {
    /// What is looked at.
    pub features: FeatureSet,
    /// Where the weights of a feature are.
    pub index: Index,
    /// Z, never 0.
    pub(crate) clusters: usize,
    /// The weights of the clusters one after the other, [`Index::cells`] each.
    pub weights: W,
}

impl ArcModel {
    /// A model whose weights are all zero.
    pub fn new(features: FeatureSet, index: Index) -> Self {
        let weights = vec![0.0; index.cells()];
        Self { features, index, clusters: 1, weights }
    }

    /// A model of arcs of several latent clusters (at least one), whose weights are drawn from a
    /// normal distribution around 0 so that clusters can come to differ.
    ///
    /// ```
    /// use tutte::{ArcModel, Index, features::FeatureSet};
    ///
    /// let index = Index::Hashed { bits: 10 };
    /// let model = ArcModel::clustered(FeatureSet::mcdonald(), index, 4, 0.01, 1);
    /// assert_eq!(model.weights.len(), 4 << 10);
    /// assert!(model.weights.iter().all(|weight| weight.abs() < 0.1));
    /// ```
    pub fn clustered(
        features: FeatureSet,
        index: Index,
        clusters: usize,
        deviation: f64,
        seed: u64,
    ) -> Self {
        let clusters = clusters.max(1);
        let mut draw = gaussian(seed);
        let weights = (0..clusters * index.cells()).map(|_| (deviation * draw()) as f32).collect();
        Self { features, index, clusters, weights }
    }

    /// The same with weights rounded to 8 bits.
    pub(crate) fn compact(&self) -> ArcModel<Compact> {
        let Self { features, index, clusters, weights } = self;
        let (features, index) = (features.clone(), index.clone());
        ArcModel { features, index, clusters: *clusters, weights: Compact::new(weights) }
    }
}

impl<W: Weights> ArcModel<W> {
    /// Of how many latent clusters arcs are: 1 for ordinary models.
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// Scores all arcs of a sentence that [`Prepared::fill`] has made ready, summed over their
    /// clusters; those that `keep` refuses are forbidden.
    pub fn score(
        &self,
        sentence: &Prepared,
        keep: impl Fn(usize, usize) -> bool,
        scores: &mut ArcMatrix,
    ) {
        match self.clusters {
            1 => self.score_cluster(0, sentence, keep, scores),
            _ => *scores = latent::summed(&self.score_by_cluster(sentence, keep)),
        }
    }

    /// The same by cluster: θ_z of all arcs, for each z.
    pub fn score_by_cluster(
        &self,
        sentence: &Prepared,
        keep: impl Fn(usize, usize) -> bool,
    ) -> Vec<ArcMatrix> {
        let score = |cluster| {
            let mut scores = ArcMatrix::zeros(sentence.words());
            self.score_cluster(cluster, sentence, &keep, &mut scores);
            scores
        };
        (0..self.clusters).map(score).collect()
    }

    fn score_cluster(
        &self,
        cluster: usize,
        sentence: &Prepared,
        keep: impl Fn(usize, usize) -> bool,
        scores: &mut ArcMatrix,
    ) {
        let size = self.index.cells();
        let cells = &self.weights.cells()[cluster * size..][..size];
        let scale = self.weights.scale();
        match &self.index {
            &Index::Hashed { bits } => {
                sentence.score(cells, scale, |key| Some(hashed(key, bits)), keep, scores);
            }
            Index::Dictionary(dictionary) => {
                sentence.score(cells, scale, |key| dictionary.block(key), keep, scores);
            }
        }
    }

    /// Adds up `coefficient · f` over all arcs of one cluster, `add(cell, amount)` any number of times
    /// a cell: the gradient, if coefficients are derivatives by scores. Cells are counted from the
    /// first of the cluster.
    pub fn accumulate(
        &self,
        sentence: &Prepared,
        coefficients: &ArcMatrix,
        negligible: f64,
        add: impl FnMut(usize, f32),
    ) {
        match &self.index {
            &Index::Hashed { bits } => {
                let block = |key| Some(hashed(key, bits));
                sentence.accumulate(coefficients, negligible, block, add);
            }
            Index::Dictionary(dictionary) => {
                let block = |key| dictionary.block(key);
                sentence.accumulate(coefficients, negligible, block, add);
            }
        }
    }
}
