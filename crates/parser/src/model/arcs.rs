//! The arc scorer: θ(h → m) = w · f(x, h, m).
//!
//! With Z latent clusters ([`latent`]), θ(h → m) = log Σ_z exp(w_z · f(x, h, m)). Clusters share features
//! and differ in weights; a score costs Z times as much.

use tutte_linear::{Rounding, gaussian};
use tutte_trees::ArcMatrix;

use crate::features::index::hashed;
use crate::features::{FeatureSet, Prepared};
use crate::model::latent;
use crate::{Compact, Index, Weights};

/// Templates of arcs and the weights of their features.
#[derive(Clone, Debug)]
pub struct ArcModel<W = Vec<f32>> {
    /// Feature templates.
    pub features: FeatureSet,
    /// Map from features to weights.
    pub index: Index,
    /// Number of clusters, Z; never 0.
    pub(crate) clusters: usize,
    /// The weights of the clusters one after the other, [`Index::cells`] each.
    pub weights: W,
}

impl ArcModel {
    /// Makes a model whose weights are all zero.
    pub fn new(features: FeatureSet, index: Index) -> Self {
        let weights = vec![0.0; index.cells()];
        Self { features, index, clusters: 1, weights }
    }

    /// Makes a model with several latent clusters (at least one). Weights are drawn from a normal
    /// distribution around 0, so that clusters can become different.
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

    /// Rounds all weights to 8 bits.
    pub(crate) fn rounded(&self, rounding: Rounding) -> ArcModel<Compact> {
        let Self { features, index, clusters, weights } = self;
        ArcModel {
            features: features.clone(),
            index: index.clone(),
            clusters: *clusters,
            weights: Compact::rounded(weights, rounding),
        }
    }
}

impl<W: Weights> ArcModel<W> {
    /// Number of latent clusters: 1 for ordinary models.
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// Scores all arcs of a sentence that was prepared by [`Prepared::fill`], summed over clusters. Arcs
    /// that `keep` rejects are forbidden (−∞).
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

    /// Returns the scores of each cluster: θ_z of all arcs, for each z.
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

    /// Adds up `coefficient · f` over all arcs of one cluster, by `add(cell, amount)`, any number of
    /// times per cell. This is the gradient if coefficients are derivatives by scores. Cells are counted
    /// from the first cell of the cluster.
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
