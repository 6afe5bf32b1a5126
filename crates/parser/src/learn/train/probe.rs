//! The temperature of a model that is trained without development data.
//!
//! A second pass is overconfident on sentences that it was not trained on, and no constant tells by how much: it
//! depends on the treebank, its size and the options. So the same second pass is trained twice. The first time, as a
//! *probe*, it learns from four fifths of the sentences, and T calibrates its heads on the last fifth (see
//! [`temperature`]). First-pass outputs are jackknifed for both, so those of the last fifth are held out, too. The probe
//! takes 4/5 of the time of the second pass.
//!
//! Heads are judged as development data would judge them: by the trees of the treebank, also where a projective model
//! learns from trees whose crossing arcs were lifted.

use std::sync::Arc;

use tutte_trees::{ArcMatrix, Workspace, marginals_with};

use super::cascade::fold_of;
use super::{TrainingOptions, TrainingSession, fit};
use crate::features::{Atoms, FirstPassOutput, Prepared};
use crate::learn::corpus::{Corpus, Example};
use crate::learn::temperature::{self, ScoredReading, ScoredSentence};
use crate::model::factors::{FactorMemory, Refinement};
use crate::model::labels::ArcLabels;
use crate::model::pruner::PrunerMemory;
use crate::model::{rounded, second_pass};
use crate::parse::add_left_out;
use crate::{Error, Labelling, ParserModel};

/// One sentence in this many is held out.
pub(super) const HELD_OUT_ONE_IN: usize = 5;

/// Returns the temperature of a model whose second pass is about to be trained. `corpus` is that of the second pass, with
/// `first_version` sentences in the first version, and `first_pass_outputs` are those of its examples.
pub(super) fn temperature(
    model: &ParserModel,
    corpus: &Corpus<'_>,
    first_version: usize,
    first_pass_outputs: &[Arc<FirstPassOutput>],
    options: &TrainingOptions,
) -> Result<f64, Error> {
    let is_held_out = |at: usize| fold_of(at, first_version, HELD_OUT_ONE_IN) == 0;
    let training = corpus.part(|at| !is_held_out(at)).annotated();
    // The first version is the one with predicted tags, if there is one: that is what the parser will see.
    let held_out: Vec<usize> = (0..first_version.min(corpus.examples.len()))
        .filter(|&at| is_held_out(at) && corpus.examples[at].is_annotated())
        .collect();
    if training.words == 0 || held_out.is_empty() {
        return Ok(1.0);
    }
    let probe = fit(model.clone(), &training, options, &mut TrainingSession::new(&mut ()))?;
    let words = held_out.iter().map(|&at| corpus.examples[at].gold.len()).sum();
    let mut scorer = Scorer { model: &probe, corpus, memory: Memory::default() };
    let scored = held_out
        .iter()
        .step_by(temperature::sampling_stride(words))
        .map(|&at| scorer.score(&corpus.examples[at], &first_pass_outputs[at]))
        .collect::<Result<Vec<_>, _>>()?;
    let scored: Vec<&ScoredSentence> = scored.iter().collect();
    // A model that is trained on more sentences than its probe is not underconfident.
    Ok(rounded(temperature::best(&scored, model.tree_set, options.threads)?.max(1.0)))
}

/// Scores held-out examples by the second pass, given the first.
struct Scorer<'a> {
    model: &'a ParserModel,
    corpus: &'a Corpus<'a>,
    memory: Memory,
}

#[derive(Default)]
struct Memory {
    prepared: Prepared,
    arc_labels: ArcLabels,
    pruner: PrunerMemory,
    workspace: Workspace,
    factors: FactorMemory,
}

impl Scorer<'_> {
    fn score(
        &mut self,
        example: &Example,
        first_pass_output: &FirstPassOutput,
    ) -> Result<ScoredSentence, Error> {
        let Memory { prepared, arc_labels, pruner: pruner_memory, workspace, factors: memory } =
            &mut self.memory;
        let ParserModel { pruner, second_pass, labels, tree_set, .. } = self.model;
        let sentence = &self.corpus.treebank[example.sentence];
        let mut scores = ArcMatrix::forbidden(example.gold.len());
        if let Some(second) = second_pass {
            // Unlike in training, gold arcs are not always candidates.
            let candidates = second_pass::candidates(first_pass_output, second.threshold);
            let allowed = |head, modifier| candidates.allows(head, modifier);
            prepared.fill_for(&second.arcs.features, &example.arcs, |_| true, allowed);
            second.arcs.score(prepared, allowed, &mut scores);
        }
        if labels.labelling() == Labelling::Joint {
            let possible = |head, modifier| scores[(head, modifier)] != f64::NEG_INFINITY;
            prepared.fill_for(&labels.features, &example.labels, |_| true, possible);
            labels.score_arcs(prepared, &scores, arc_labels);
            arc_labels.add_sums(&mut scores);
        }
        if let Some(factors) = second_pass.as_ref().and_then(|second| second.factors.as_ref()) {
            let refinement = Refinement::of_parser(*tree_set);
            let best = |head, modifier| arc_labels.best(head, modifier);
            factors.refine(&example.arcs, best, &mut scores, refinement, memory)?;
        }
        let mut marginals = ArcMatrix::default();
        marginals_with(&scores, *tree_set, workspace, &mut marginals)?;
        let mut left_out = marginals.clone();
        add_left_out(first_pass_output.marginals(), &mut left_out);
        if let Some(pruner) = pruner {
            let features = &pruner.arcs.features;
            prepared.fill(features, &Atoms::new(sentence, features.columns()), |_| true);
            pruner.candidates(prepared, *tree_set, pruner_memory)?;
            add_left_out(pruner_memory.marginals(), &mut left_out);
        }
        left_out.zip_in_place(&marginals, |prob, own| if own == 0.0 { prob } else { 0.0 });
        let reading = ScoredReading { scores, left_out: Some(left_out) };
        // The heads of the treebank, and not those of the example: a projective model is trained on lifted trees, but
        // its probabilities are of heads as people annotate them, crossing ones too.
        let gold = sentence.words().map(|word| word.head()).collect();
        ScoredSentence::new(reading, gold, *tree_set)
    }
}

#[cfg(test)]
mod tests;
