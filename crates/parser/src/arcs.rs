//! A model of arcs: θ(h → m) = w · f(x, h, m).

use tutte_trees::ArcMatrix;

use crate::features::{FeatureSet, Prepared};
use crate::index::hashed;
use crate::{Compact, Index, Weights};

/// Features and their weights, of any kind that can be read.
#[derive(Clone, Debug)]
pub struct ArcModel<W = Vec<f32>> {
    /// What is looked at.
    pub features: FeatureSet,
    /// Where the weights of a feature are.
    pub index: Index,
    /// The weights, [`Index::cells`] of them.
    pub weights: W,
}

impl ArcModel {
    /// A model whose weights are all zero.
    pub fn new(features: FeatureSet, index: Index) -> Self {
        let weights = vec![0.0; index.cells()];
        Self { features, index, weights }
    }

    /// The same with weights rounded to 8 bits.
    pub(crate) fn compact(&self) -> ArcModel<Compact> {
        let Self { features, index, weights } = self;
        let weights = Compact::new(weights);
        ArcModel { features: features.clone(), index: index.clone(), weights }
    }
}

impl<W: Weights> ArcModel<W> {
    /// Scores all arcs of a sentence that [`Prepared::fill`] has made ready; those that `keep`
    /// refuses are forbidden.
    pub fn score(
        &self,
        sentence: &Prepared,
        keep: impl Fn(usize, usize) -> bool,
        scores: &mut ArcMatrix,
    ) {
        let (cells, scale) = (self.weights.cells(), self.weights.scale());
        match &self.index {
            &Index::Hashed { bits } => {
                sentence.score(cells, scale, |key| Some(hashed(key, bits)), keep, scores);
            }
            Index::Dictionary(dictionary) => {
                sentence.score(cells, scale, |key| dictionary.block(key), keep, scores);
            }
        }
    }

    /// Adds up `coefficient · f` over all arcs, `add(cell, amount)` any number of times a cell: the
    /// gradient, if coefficients are derivatives by scores.
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
