//! Scores of a model with both features and a network: a weighted sum on one set of arcs.
//!
//! The network scores all arcs, but the pruner and the first pass leave out most arcs before features score the others.
//! The sum lives on the candidates of the features and on the arcs that the network finds probable. The first alone
//! would make every mistake of the pruner final; all arcs would cost the features of labels of n² arcs. Candidates
//! contain a tree, so their union with others does, too, and the distribution over the union is exact.
//!
//! An arc that a step of the features left out has no score of the last pass. It gets the one that keeps the odds of
//! that step. Let p̃ be the probabilities of the heads of word m: a softmax of the scores of candidates C, scaled
//! down by what the steps left out, and the step's own probabilities of the others (`Parser::add_left_out`). Then
//!
//! ```text
//! θ(h → m) = log Σ_{h′ ∈ C} exp θ(h′ → m) + log p̃(h → m)        for h ∉ C
//! ```
//!
//! For h ∈ C the right side is θ(h → m) and a number that is the same for all heads of the word. Such numbers do not
//! change a distribution over trees, so features alone keep theirs.
//!
//! Factors of the features refine the sums as they refine other scores (`model/factors.rs`). They see the output of the
//! features' first pass, and the best labels of the sum.

use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, arcs, marginals_with};

use super::Parser;
#[cfg(all(feature = "train", feature = "neural"))]
use crate::features::Atoms;
use crate::model::labels::ArcLabels;
use crate::model::network::{NetworkScorer, ScoreWeights};
use crate::{Candidates, Error, Stage, Weights};

/// Arcs that are at least this probable by the network alone are scored.
const PROBABLE: f64 = 1e-3;

/// Scores of both scorers for the arcs of a sentence, before they are added.
#[derive(Debug, Default)]
pub(crate) struct ScoreParts {
    /// Scores of features; −∞ for arcs that are not scored.
    pub(crate) features: ArcMatrix,
    /// Scores of the network, for all arcs.
    pub(crate) network: ArcMatrix,
    /// Label scores of features.
    pub(crate) feature_labels: ArcLabels,
    /// Label scores of the network.
    pub(crate) network_labels: ArcLabels,
}

impl<W: Weights> Parser<'_, W> {
    /// Turns the scores of features of candidate arcs into those of the whole model.
    pub(super) fn mix(
        &mut self,
        sentence: &Sentence,
        within: &Candidates,
        network: &NetworkScorer,
        weights: ScoreWeights,
    ) -> Result<(), Error> {
        let mut parts = std::mem::take(&mut self.parts);
        self.score_parts(sentence, within, network, &[], &mut parts)?;
        self.scores.reset(sentence.len(), f64::NEG_INFINITY);
        for arc in arcs(sentence.len()) {
            self.scores[arc] = weights.arcs.sum(parts.features[arc], parts.network[arc]);
        }
        self.arc_labels.mix(&parts.feature_labels, &parts.network_labels, weights.labels);
        self.parts = parts;
        self.clock.lap(Stage::Network);
        Ok(())
    }

    /// Writes the scores of both scorers. The current scores are those of features for candidate arcs. Arcs of `gold`
    /// are scored in any case.
    fn score_parts(
        &mut self,
        sentence: &Sentence,
        within: &Candidates,
        network: &NetworkScorer,
        gold: &[Option<usize>],
        parts: &mut ScoreParts,
    ) -> Result<(), Error> {
        let words = sentence.len();
        if self.is_joint() {
            self.model.labels.score_arcs(&self.labels, &self.scores, &mut parts.feature_labels);
            parts.feature_labels.add_sums(&mut self.scores);
        }
        parts.network.reset(words, f64::NEG_INFINITY);
        for arc in arcs(words).filter(|&(head, modifier)| within.allows(head, modifier)) {
            parts.network[arc] = 0.0;
        }
        network.add_scores(sentence, &mut self.network, &mut parts.network)?;
        marginals_with(&parts.network, self.tree_set, &mut self.workspace, &mut self.marginals)?;
        let is_gold = |(head, modifier): (usize, usize)| {
            gold.get(modifier - 1).is_some_and(|gold| *gold == Some(head))
        };
        let is_new = |arc: (usize, usize)| {
            self.scores[arc] == f64::NEG_INFINITY
                && (self.marginals[arc] >= PROBABLE || is_gold(arc))
        };
        let new: Vec<(usize, usize)> = arcs(words).filter(|arc| is_new(*arc)).collect();
        parts.features.clone_from(&self.scores);
        if !new.is_empty() {
            let sums: Vec<f64> =
                (1..=words).map(|word| log_sum_of_heads(&self.scores, word)).collect();
            let mut probs = self.scores.clone();
            for arc @ (_, modifier) in arcs(words) {
                probs[arc] = (probs[arc] - sums[modifier - 1]).exp();
            }
            self.add_left_out(&mut probs);
            for &arc @ (_, modifier) in &new {
                parts.features[arc] = sums[modifier - 1] + probs[arc].max(f64::MIN_POSITIVE).ln();
            }
            self.scores.clone_from(&parts.features);
        }
        if !new.is_empty() || !self.is_joint() {
            self.prepare_labels();
            self.model.labels.score_arcs(&self.labels, &self.scores, &mut parts.feature_labels);
        }
        let labels = &self.model.labels;
        network.score_labels(labels, &mut self.network, &self.scores, &mut parts.network_labels);
        Ok(())
    }

    /// Returns the attributes of the sentence that was scored last.
    #[cfg(all(feature = "train", feature = "neural"))]
    pub(crate) fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    /// Returns the scores of both scorers of a model with features and a network, for its candidate arcs and the arcs
    /// of a gold tree. `None` if the model has one scorer only.
    ///
    /// # Errors
    /// As [`scores`](Self::scores).
    #[cfg(all(feature = "train", feature = "neural"))]
    pub(crate) fn parts_of(
        &mut self,
        sentence: &Sentence,
        gold: &[Option<usize>],
    ) -> Result<Option<ScoreParts>, Error> {
        let Some(network) = &self.model.network else { return Ok(None) };
        if network.score_weights().is_none() {
            return Ok(None);
        }
        let all = Candidates::all();
        self.score_features(sentence, &all)?;
        let mut parts = ScoreParts::default();
        self.score_parts(sentence, &all, network, gold, &mut parts)?;
        Ok(Some(parts))
    }
}

/// Returns log Σ_h exp θ(h → m).
fn log_sum_of_heads(scores: &ArcMatrix, modifier: usize) -> f64 {
    let heads = || (0..=scores.words()).filter(move |head| *head != modifier);
    let highest = heads().map(|head| scores[(head, modifier)]).fold(f64::NEG_INFINITY, f64::max);
    highest + heads().map(|head| (scores[(head, modifier)] - highest).exp()).sum::<f64>().ln()
}
