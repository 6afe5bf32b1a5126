//! A model of labels: p(ℓ | x, h → m) = exp(w_ℓ · g(x, h, m)) / Σ_ℓ′ exp(w_ℓ′ · g(x, h, m)).
//!
//! Multiplied with a distribution over trees, it is a distribution over labelled trees ("staged":
//! first the arc, then its label). Its scores are wanted only for arcs that matter, so it is cheap:
//! one row of weights a feature and direction, O(features · labels) an arc.

use crate::Weights;
use crate::features::{FeatureSet, GOLDEN, Prepared};

/// Features, labels and their weights, of any kind that can be read.
#[derive(Clone, Debug)]
pub struct LabelModel<W = Vec<f32>> {
    /// What is looked at.
    pub features: FeatureSet,
    labels: Vec<String>,
    bits: u32,
    /// Cells of a row: the number of labels, rounded up so that rows are aligned.
    width: usize,
    pub(crate) weights: W,
}

impl LabelModel {
    /// A model of 2^bits rows whose weights are all zero.
    pub fn new(features: FeatureSet, labels: Vec<String>, bits: u32) -> Self {
        let weights = vec![0.0; width_of(labels.len()) << bits];
        Self::with_weights(features, labels, bits, weights)
    }
}

impl<W> LabelModel<W> {
    /// A model with given weights: 2^bits rows of [`width_of`] as many labels.
    pub(crate) fn with_weights(
        features: FeatureSet,
        labels: Vec<String>,
        bits: u32,
        weights: W,
    ) -> Self {
        let width = width_of(labels.len());
        Self { features, labels, bits, width, weights }
    }

    /// The weights: 2^bits rows, in each one for every label and some that fill the row.
    pub fn weights(&self) -> &W {
        &self.weights
    }

    /// The binary logarithm of the number of rows of weights.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The labels.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Where the rows of an arc's features start: each alone, and with the arc's direction.
    pub(crate) fn rows(
        &self,
        sentence: &Prepared,
        head: usize,
        modifier: usize,
        rows: &mut Vec<usize>,
    ) {
        let side = if head < modifier { 1 } else { 2 };
        let row = |key: u64| (key >> (64 - self.bits)) as usize * self.width;
        rows.clear();
        sentence.keys(head, modifier, |key| {
            rows.push(row(key));
            rows.push(row(key.wrapping_add(side).wrapping_mul(GOLDEN)));
        });
    }

    /// log p(ℓ | h → m) of all labels, from the rows of the arc. Weights count `scale` times.
    pub(crate) fn log_probs(&self, rows: &[usize], scale: f32, out: &mut Vec<f32>)
    where
        W: Weights,
    {
        let (cells, scale) = (self.weights.cells(), scale * self.weights.scale());
        out.clear();
        out.resize(self.width, 0.0);
        for &row in rows {
            let weights = &cells[row..row + self.width];
            out.iter_mut().zip(weights).for_each(|(sum, &weight)| *sum += weight.into());
        }
        out.truncate(self.labels.len());
        let highest = out.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let total: f32 = out.iter().map(|score| ((score - highest) * scale).exp()).sum();
        let log_total = total.ln();
        out.iter_mut().for_each(|score| *score = (*score - highest) * scale - log_total);
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }
}

/// The cells of a row: as many as labels, rounded up so that rows are aligned.
pub(crate) fn width_of(labels: usize) -> usize {
    labels.next_multiple_of(8)
}
