//! What shifters learn from a treebank.

use std::sync::Arc;

use tutte_trees::TreeSet;

use super::{Corpus, Example, TrainingOptions, TransitionOptions};
use crate::TransitionParser;
use crate::features::Atoms;
use crate::learn::transition::{self, TransitionExample};

/// What shifters learn from: all sentences whose trees are whole.
pub(super) struct TransitionTrainingData<'c> {
    /// What is seen of each example.
    atoms: Vec<Atoms>,
    /// Its heads, if all are known.
    heads: Vec<Option<Vec<usize>>>,
    examples: &'c [Arc<Example>],
    passes: usize,
    bits: [u32; 2],
    labels: usize,
    bidirectional: bool,
}

impl<'c> TransitionTrainingData<'c> {
    /// Those of a corpus, if there are enough.
    pub(super) fn new(
        corpus: &'c Corpus<'_>,
        transition_options: &TransitionOptions,
        options: &TrainingOptions,
        labels: usize,
    ) -> Option<Self> {
        let examples = &corpus.examples[..];
        let atoms = |example: &Arc<Example>| {
            Atoms::new(corpus.sentence(example), &TransitionParser::<Vec<f32>>::COLUMNS)
        };
        let heads = |example: &Arc<Example>| example.gold.iter().copied().collect();
        let heads: Vec<Option<Vec<usize>>> = examples.iter().map(heads).collect();
        let annotated = examples.iter().filter(|example| example.is_annotated()).count();
        (2 * heads.iter().flatten().count() >= annotated).then(|| Self {
            atoms: examples.iter().map(atoms).collect(),
            heads,
            examples,
            passes: transition_options.passes,
            bits: [
                options.bits.saturating_sub(2).clamp(4, transition_options.bits.max(4)),
                options.label_bits.saturating_sub(1).max(2),
            ],
            labels,
            bidirectional: transition_options.bidirectional,
        })
    }

    /// What is seen of an example.
    pub(super) fn atoms(&self, example: usize) -> &Atoms {
        &self.atoms[example]
    }

    /// A shifter that has learnt nothing.
    pub(super) fn untrained(&self) -> TransitionParser {
        let [bits, label_bits] = self.bits;
        TransitionParser::untrained(bits, label_bits, self.labels, self.bidirectional)
    }

    /// One that has learnt from those examples whose number `keep` says.
    pub(super) fn learn(
        &self,
        keep: impl Fn(usize) -> bool,
        seed: u64,
        tree_set: TreeSet,
    ) -> TransitionParser {
        let example = |at: usize| {
            let heads = self.heads[at].as_ref().filter(|_| keep(at))?;
            Some(TransitionExample {
                atoms: &self.atoms[at],
                heads,
                labels: &self.examples[at].label_of,
            })
        };
        let training_data: Vec<TransitionExample<'_>> =
            (0..self.examples.len()).filter_map(example).collect();
        transition::learn(self.untrained(), &training_data, self.passes, seed, tree_set)
    }
}
