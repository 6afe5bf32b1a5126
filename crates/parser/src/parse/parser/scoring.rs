//! Scores of the arcs of a sentence, step by step: pruner, first pass, second pass, labels.

use std::sync::Arc;

use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, Tree, arcs};

use super::Parser;
use crate::features::FirstPassOutput;
use crate::model::factors::Refinement;
use crate::model::latent;
use crate::model::second_pass::{self, first_pass_output};
use crate::parse::constraints;
use crate::rules::RuleSet;
use crate::{
    Candidates, Contradiction, Decoding, Error, Labelling, ParserModel, SecondPass, Stage, Weights,
};

impl<W: Weights> Parser<'_, W> {
    /// Returns the scores of some arcs; −∞ for all others. Every step is conditioned on trees of these arcs.
    ///
    /// # Errors
    /// If the arcs do not contain a tree that satisfies the rules of the model; [`TooManyWords`](tutte_treebank::Error::TooManyWords).
    pub(super) fn scores_within(
        &mut self,
        sentence: &Sentence,
        within: &Candidates,
    ) -> Result<&ArcMatrix, Error> {
        let allowed = match &self.model.rules {
            Some(rules) => Some(self.allowed_by(rules, sentence, within)?),
            None => None,
        };
        let within = allowed.as_ref().unwrap_or(within);
        self.score_features(sentence, within)?;
        if let Some(network) = &self.model.network
            && let Some(weights) = network.score_weights()
        {
            self.mix(sentence, within, network, weights)?;
        } else if let Some(network) = &self.model.network {
            network.add_scores(sentence, &mut self.network, &mut self.scores)?;
            // Labels of single arcs are scored when they are asked for. The best tree asks for one arc per word.
            if self.is_joint() {
                let labels = &self.model.labels;
                network.score_labels(labels, &mut self.network, &self.scores, &mut self.arc_labels);
            }
            self.clock.lap(Stage::Network);
        } else if self.is_joint() {
            self.model.labels.score_arcs(&self.labels, &self.scores, &mut self.arc_labels);
            self.arc_labels.add_sums(&mut self.scores);
            self.clock.lap(Stage::Labels);
        }
        self.refine_by_factors()?;
        let temperature = self.temperature();
        if temperature != 1.0 {
            self.scores.map_in_place(|score| score / temperature);
        }
        Ok(&self.scores)
    }

    /// Replaces the scores of arcs by those that factors refine, if the model has factors.
    fn refine_by_factors(&mut self) -> Result<(), Error> {
        let second_pass = self.model.second_pass.as_ref();
        let factors = second_pass.and_then(|second_pass| second_pass.factors.as_ref());
        let Some(factors) = factors else { return Ok(()) };
        let Self { atoms, arc_labels, scores, tree_set, factors: memory, .. } = self;
        let best = |head, modifier| arc_labels.best(head, modifier);
        factors.refine(atoms, best, scores, Refinement::of_parser(*tree_set), memory)?;
        self.clock.lap(Stage::Factors);
        Ok(())
    }

    /// Returns the arcs of `within` that the rules of the model allow.
    ///
    /// # Errors
    /// [`Contradiction::Rules`] if they contain no tree.
    fn allowed_by(
        &self,
        rules: &RuleSet,
        sentence: &Sentence,
        within: &Candidates,
    ) -> Result<Candidates, Error> {
        let words = sentence.len();
        let mut allowed = rules.allowed_arcs(words, &rules.matches(sentence));
        if allowed.is_all() {
            return Ok(within.clone());
        }
        allowed.restrict(within);
        match constraints::tree_error(&allowed, &vec![None; words], self.tree_set) {
            None => Ok(allowed),
            Some(source) => {
                let place = Box::new(sentence.place());
                Err(Error::Contradiction { place, problem: Contradiction::Rules(source) })
            }
        }
    }

    /// Scores the arcs of candidates by features: pruner, first pass, second pass. Prepares the features of labels.
    pub(super) fn score_features(
        &mut self,
        sentence: &Sentence,
        within: &Candidates,
    ) -> Result<(), Error> {
        let words = sentence.len();
        sentence.check_words("a distribution over all trees")?;
        let ParserModel { pruner, arcs, second_pass, .. } = self.model;
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
        if let Some(SecondPass { arcs: second, threshold, transition, .. }) = second_pass {
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
        Ok(())
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
        for step in self.steps() {
            add_left_out(step, probs);
        }
    }

    /// Computes the probability of each arc of a tree, as [`add_left_out`](Self::add_left_out) would, from the current
    /// marginals. Looks at the heads of each word once per step, and changes no matrix.
    pub(super) fn tree_arc_probs(&mut self, tree: &Tree) -> Vec<f64> {
        let mut rests = std::mem::take(&mut self.rests);
        let mut steps = self.steps();
        let probs =
            arc_probs_after(&self.marginals, [steps.next(), steps.next()], tree, &mut rests);
        drop(steps);
        self.rests = rests;
        probs
    }

    /// Returns the marginals of the steps that left arcs out, from the last step to the first.
    fn steps(&self) -> impl Iterator<Item = &ArcMatrix> {
        let first_pass = self.first_pass_output.as_deref().map(FirstPassOutput::marginals);
        let pruner = self.model.pruner.as_ref().map(|_| self.pruner.marginals());
        first_pass.into_iter().chain(pruner)
    }

    pub(super) fn is_joint(&self) -> bool {
        self.model.labels.labelling() == Labelling::Joint
    }

    pub(super) fn prepare_labels(&mut self) {
        let possible = |head, modifier| self.scores[(head, modifier)] != f64::NEG_INFINITY;
        let features = &self.model.labels.features;
        self.labels.fill_for(features, &self.atoms, |_| true, possible);
    }

    /// Returns the score w_ℓ·g of each label of an arc.
    pub(super) fn label_scores(&mut self, head: usize, modifier: usize) -> &[f32] {
        let Self { model, labels, arc_labels, rows, label_scores, network: memory, .. } = self;
        arc_labels.of(head, modifier).unwrap_or_else(|| {
            let is_by_network = model.network.as_ref().is_some_and(|network| {
                network.score_labels_of(&model.labels, memory, (head, modifier), label_scores)
            });
            if !is_by_network {
                model.labels.rows(labels, head, modifier, rows);
                model.labels.scores(rows, head, 1.0, label_scores);
            }
            label_scores
        })
    }
}

/// Gives the arcs of probability 0 the marginals of the step that left them out, and the other heads of the same word
/// what remains.
pub(crate) fn add_left_out(step: &ArcMatrix, probs: &mut ArcMatrix) {
    let mut rests = Vec::new();
    rests_of_words(step, &mut rests, |sums| {
        add_left_out_heads(step.as_slice(), probs.as_slice(), sums);
    });
    for (head, modifier) in arcs(probs.words()) {
        let arc = (head, modifier);
        probs[arc] = after_step(probs[arc], step[arc], rests[modifier]);
    }
}

/// Returns the probability of each arc of a tree after up to two steps, the last one first. `rests` is scratch.
fn arc_probs_after(
    marginals: &ArcMatrix,
    steps: [Option<&ArcMatrix>; 2],
    tree: &Tree,
    (last_rests, first_rests): &mut (Vec<f64>, Vec<f64>),
) -> Vec<f64> {
    let [Some(last), first] = steps else {
        return tree.arcs().map(|arc| marginals[arc]).collect();
    };
    rests_of_words(last, last_rests, |sums| {
        add_left_out_heads(last.as_slice(), marginals.as_slice(), sums);
    });
    let after_last = |arc: (usize, usize)| after_step(marginals[arc], last[arc], last_rests[arc.1]);
    let Some(first) = first else { return tree.arcs().map(after_last).collect() };
    rests_of_words(first, first_rests, |sums| {
        let [first, last] = [first.as_slice(), last.as_slice()];
        add_left_out_heads_after(first, last, last_rests, marginals.as_slice(), sums);
    });
    tree.arcs().map(|arc| after_step(after_last(arc), first[arc], first_rests[arc.1])).collect()
}

/// Returns the probability of an arc when a step adds what it left out. The heads of the word that the step kept share
/// `rest`.
#[inline(always)]
fn after_step(prob: f64, step: f64, rest: f64) -> f64 {
    if prob == 0.0 { step } else { prob * rest }
}

/// Computes for each word the probability that a step gave to the heads it kept: 1 minus the marginals of the heads of
/// probability 0, which `add` adds up.
fn rests_of_words(step: &ArcMatrix, rests: &mut Vec<f64>, add: impl FnOnce(&mut [f64])) {
    rests.clear();
    rests.resize(step.words() + 1, 0.0);
    add(rests);
    rests.iter_mut().for_each(|sum| *sum = 1.0 - *sum);
}

/// Adds up, for each word, the marginals of a step for the heads of probability 0. Matrices are given by their cells.
///
/// Walks row by row, so that the loop is vectorised. Marginals of each word are added in the order of their heads.
fn add_left_out_heads(step: &[f64], probs: &[f64], sums: &mut [f64]) {
    let side = sums.len();
    let rows = step.chunks_exact(side).zip(probs.chunks_exact(side));
    for (head, (step, probs)) in rows.enumerate() {
        // The word itself is not one of its heads.
        let own = sums[head];
        for ((sum, step), prob) in sums.iter_mut().zip(step).zip(probs) {
            *sum += if *prob == 0.0 { *step } else { 0.0 };
        }
        sums[head] = own;
    }
}

/// Adds up the same as [`add_left_out_heads`], of the probabilities after another step.
fn add_left_out_heads_after(
    step: &[f64],
    other: &[f64],
    other_rests: &[f64],
    probs: &[f64],
    sums: &mut [f64],
) {
    let side = sums.len();
    let rows = step.chunks_exact(side).zip(other.chunks_exact(side)).zip(probs.chunks_exact(side));
    for (head, ((step, other), probs)) in rows.enumerate() {
        let own = sums[head];
        let cells = sums.iter_mut().zip(step).zip(other.iter().zip(other_rests).zip(probs));
        for ((sum, step), ((other, rest), prob)) in cells {
            let prob = after_step(*prob, *other, *rest);
            *sum += if prob == 0.0 { *step } else { 0.0 };
        }
        sums[head] = own;
    }
}

#[cfg(test)]
mod tests;
