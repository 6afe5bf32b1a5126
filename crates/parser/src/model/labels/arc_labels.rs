//! Label scores of all candidate arcs, for joint models.

use tutte_linear::{highest, log_sum};
use tutte_trees::{ArcMatrix, arcs};

#[cfg(feature = "neural")]
use super::LabelModel;
use crate::model::network::ScorerWeights;

/// The scores w_ℓ·g of the labels of a sentence's arcs.
#[derive(Debug, Default)]
pub(crate) struct ArcLabels {
    /// Number of words and the root.
    pub(super) places: usize,
    /// Number of labels.
    pub(super) labels: usize,
    /// `[head · places + modifier]`: start of the arc's scores in `scores`.
    pub(super) starts: Vec<usize>,
    pub(super) scores: Vec<f32>,
    /// Scratch memory: rows of weights of one arc.
    pub(super) rows: Vec<usize>,
    /// Scratch memory: scores of one arc.
    pub(super) of_arc: Vec<f32>,
}

impl ArcLabels {
    /// Start of the scores of an arc that has none.
    pub(super) const NONE: usize = usize::MAX;

    /// Returns the scores of an arc, if it is a candidate.
    pub(crate) fn of(&self, head: usize, modifier: usize) -> Option<&[f32]> {
        let start = *self.starts.get(head * self.places + modifier)?;
        self.scores.get(start..start.checked_add(self.labels)?)
    }

    /// Returns the number of the best label of an arc, the first of equals; 0 if it is not a candidate.
    pub(crate) fn best(&self, head: usize, modifier: usize) -> usize {
        let scores = self.of(head, modifier).unwrap_or_default().iter().enumerate();
        scores.rev().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(label, _)| label)
    }

    /// Takes the label scores of some arcs from a list with one row per arc. Labels that an arc may not have become −∞.
    #[cfg(feature = "neural")]
    pub(crate) fn set<W>(
        &mut self,
        words: usize,
        labels: &LabelModel<W>,
        candidates: &[(usize, usize)],
        scores: &[f32],
    ) {
        self.places = words + 1;
        self.labels = labels.labels().len();
        self.starts.clear();
        self.starts.resize(self.places * self.places, Self::NONE);
        self.scores.clear();
        self.scores.extend_from_slice(scores);
        for (at, &(head, modifier)) in candidates.iter().enumerate() {
            let start = at * self.labels;
            self.starts[head * self.places + modifier] = start;
            let row = self.scores[start..start + self.labels].iter_mut().enumerate();
            row.filter(|(label, _)| !labels.allows(head, *label))
                .for_each(|(_, score)| *score = f32::NEG_INFINITY);
        }
    }

    /// Takes the weighted sums of the label scores of features and of a network, which belong to the same arcs.
    pub(crate) fn mix(&mut self, features: &Self, network: &Self, weights: ScorerWeights) {
        self.places = network.places;
        self.labels = network.labels;
        self.starts.clone_from(&network.starts);
        self.scores.clear();
        let pairs = features.scores.iter().zip(&network.scores);
        self.scores.extend(pairs.map(|(features, network)| {
            weights.sum(f64::from(*features), f64::from(*network)) as f32
        }));
    }

    /// Adds log Σ_ℓ exp(w_ℓ·g) to the scores of arcs: from w·f to θ of a joint model.
    pub(crate) fn add_sums(&self, scores: &mut ArcMatrix) {
        self.add(scores, log_sum);
    }

    /// Adds max_ℓ log p(ℓ | h → m) to the scores of arcs: from θ(h → m) to max_ℓ θ(h → m, ℓ).
    pub(crate) fn add_best_log_probs(&self, scores: &mut ArcMatrix) {
        self.add(scores, |labels| highest(labels) - log_sum(labels));
    }

    fn add(&self, scores: &mut ArcMatrix, of: impl Fn(&[f32]) -> f32) {
        for (head, modifier) in arcs(scores.words()) {
            if let Some(labels) = self.of(head, modifier) {
                scores[(head, modifier)] += f64::from(of(labels));
            }
        }
    }
}
