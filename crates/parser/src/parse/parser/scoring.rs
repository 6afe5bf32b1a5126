//! Scores of the arcs of a sentence, step by step: pruner, first pass, second pass, labels.

use std::sync::Arc;

use tutte_treebank::Sentence;
use tutte_trees::ArcMatrix;

use super::Parser;
use crate::model::latent;
use crate::model::second_pass::{self, first_pass_output};
use crate::{Candidates, Decoding, Error, Labelling, ParserModel, SecondPass, Stage, Weights};

impl<W: Weights> Parser<'_, W> {
    /// Returns the scores of some arcs; −∞ for all others. Every step is conditioned on trees of these arcs.
    ///
    /// # Errors
    /// If the arcs do not contain a tree; [`TooManyWords`](tutte_treebank::Error::TooManyWords).
    pub(super) fn scores_within(
        &mut self,
        sentence: &Sentence,
        within: &Candidates,
    ) -> Result<&ArcMatrix, Error> {
        let words = sentence.len();
        sentence.check_words("a distribution over all trees")?;
        let ParserModel { pruner, arcs, second_pass, .. } = self.model;
        let temperature = self.temperature();
        let tree_set = self.tree_set;
        self.atoms.fill(sentence, &self.columns);
        let mut candidates = within.clone();
        if let Some(pruner) = pruner {
            self.prepared.fill(&pruner.arcs.features, &self.atoms, |_| true);
            self.clock.lap(Stage::Features);
            candidates = if within.is_all() {
                pruner.candidates(&self.prepared, tree_set, &mut self.pruner)
            } else {
                pruner.candidates_within(&self.prepared, within, tree_set, &mut self.pruner)
            }?;
            self.clock.lap_over(Stage::Pruning, || words * words);
        }
        let allowed = |head, modifier| candidates.allows(head, modifier);
        self.prepared.fill_for(&arcs.features, &self.atoms, |_| true, allowed);
        self.clock.lap(Stage::Features);
        self.scores.reset(words, f64::NEG_INFINITY);
        let mut last = arcs;
        let mut stage = Stage::FirstPass;
        if let Some(SecondPass { arcs: second, threshold, transition }) = second_pass {
            arcs.score(&self.prepared, |h, m| candidates.allows(h, m), &mut self.scores);
            self.clock.lap_over(stage, || candidates.count(words));
            let mut first_pass_output =
                first_pass_output(&self.scores, tree_set, &mut self.workspace)?;
            if let Some(transition) = transition {
                first_pass_output = first_pass_output.with_transition_parse(transition.parse(
                    &self.atoms,
                    tree_set,
                    &mut self.transition,
                ));
            }
            candidates = second_pass::candidates(&first_pass_output, *threshold);
            candidates.restrict(within);
            self.clock.lap(Stage::FirstPassInference);
            let first_pass_output = Arc::new(first_pass_output);
            self.atoms.set_first_pass(sentence, Arc::clone(&first_pass_output));
            self.first_pass_output = Some(first_pass_output);
            let allowed = |head, modifier| candidates.allows(head, modifier);
            self.prepared.fill_for(&second.features, &self.atoms, |_| true, allowed);
            self.clock.lap(Stage::Features);
            (last, stage) = (second, Stage::SecondPass);
        }
        let keep = |head, modifier| candidates.allows(head, modifier);
        if self.decoding == Decoding::MaxZ {
            let by_cluster = last.score_by_cluster(&self.prepared, keep);
            self.best_clusters = latent::best(&by_cluster);
            self.scores = latent::summed(&by_cluster);
        } else {
            last.score(&self.prepared, keep, &mut self.scores);
        }
        self.clock.lap_over(stage, || candidates.count(words));
        self.prepare_labels();
        self.clock.lap(Stage::Features);
        if let Some(network) = &self.model.network {
            network.add_scores(sentence, &mut self.network, &mut self.scores)?;
            let labels = &self.model.labels;
            network.score_labels(labels, &mut self.network, &self.scores, &mut self.arc_labels);
            self.clock.lap(Stage::Network);
        } else if self.is_joint() {
            self.model.labels.score_arcs(&self.labels, &self.scores, &mut self.arc_labels);
            self.arc_labels.add_sums(&mut self.scores);
            self.clock.lap(Stage::Labels);
        }
        if temperature != 1.0 {
            self.scores.map_in_place(|score| score / temperature);
        }
        Ok(&self.scores)
    }

    /// Computes the probability of every arc of the current sentence from the marginals of candidate arcs. An arc that a
    /// step left out has the probability that the step gave it. All other arcs share the rest.
    ///
    /// Let μ₀, μ₁ and μ be the marginals of the pruner, the first pass and the last pass. Let π and λ be the
    /// probabilities of the heads of word m that the pruner and the first pass left out. Then
    ///
    /// ```text
    /// P(h → m) = μ₀               if the pruner left it out
    ///            (1 − π) μ₁       if the first pass did
    ///            (1 − π)(1 − λ) μ otherwise
    /// ```
    ///
    /// and the heads of a word sum to 1. Arcs that no tree of candidate arcs contains also count as left out: if a
    /// root word has no other candidate head, no other word can be the root. Scoring such arcs by the last pass
    /// would not work: in its training data, all candidate arcs that were this improbable were gold arcs.
    pub(crate) fn add_left_out(&self, probs: &mut ArcMatrix) {
        // The steps are applied from the last to the first.
        if let Some(first_pass) = &self.first_pass_output {
            add_left_out(first_pass.marginals(), probs);
        }
        if self.model.pruner.is_some() {
            add_left_out(self.pruner.marginals(), probs);
        }
    }

    pub(super) fn is_joint(&self) -> bool {
        self.model.labels.labelling() == Labelling::Joint
    }

    fn prepare_labels(&mut self) {
        let possible = |head, modifier| self.scores[(head, modifier)] != f64::NEG_INFINITY;
        let features = &self.model.labels.features;
        self.labels.fill_for(features, &self.atoms, |_| true, possible);
    }

    /// Returns the score w_ℓ·g of each label of an arc.
    pub(super) fn label_scores(&mut self, head: usize, modifier: usize) -> &[f32] {
        let Self { model, labels, arc_labels, rows, label_scores, .. } = self;
        arc_labels.of(head, modifier).unwrap_or_else(|| {
            model.labels.rows(labels, head, modifier, rows);
            model.labels.scores(rows, head, 1.0, label_scores);
            label_scores
        })
    }
}

/// Gives the arcs of probability 0 the marginals of the step that left them out, and the other heads of the same word
/// what remains.
pub(crate) fn add_left_out(step: &ArcMatrix, probs: &mut ArcMatrix) {
    for modifier in 1..=probs.words() {
        let heads = || (0..=step.words()).filter(move |&head| head != modifier);
        let is_left_out = |probs: &ArcMatrix, head| probs[(head, modifier)] == 0.0;
        let share: f64 = heads()
            .filter(|&head| is_left_out(probs, head))
            .map(|head| step[(head, modifier)])
            .sum();
        for head in heads() {
            if is_left_out(probs, head) {
                probs[(head, modifier)] = step[(head, modifier)];
            } else {
                probs[(head, modifier)] *= 1.0 - share;
            }
        }
    }
}
