//! The labels of all arcs that are looked at, for joint models.

use tutte_linear::{highest, log_sum};
use tutte_trees::{ArcMatrix, arcs};

/// w_ℓ·g of the labels of arcs of a sentence.
#[derive(Debug, Default)]
pub(crate) struct ArcLabels {
    pub(super) places: usize,
    pub(super) labels: usize,
    /// `[head · places + modifier]`: where in `scores` those of the arc start.
    pub(super) starts: Vec<usize>,
    pub(super) scores: Vec<f32>,
    pub(super) rows: Vec<usize>,
    pub(super) of_arc: Vec<f32>,
}

impl ArcLabels {
    pub(super) const NONE: usize = usize::MAX;

    /// Those of an arc, if they were asked for.
    pub(crate) fn of(&self, head: usize, modifier: usize) -> Option<&[f32]> {
        let start = *self.starts.get(head * self.places + modifier)?;
        self.scores.get(start..start.checked_add(self.labels)?)
    }

    /// Adds log Σ_ℓ exp(w_ℓ·g) to the scores of their arcs: from w·f to θ, of a joint model.
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
