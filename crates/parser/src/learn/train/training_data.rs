//! Training data of transition parsers.

use std::sync::Arc;

use tutte_trees::TreeSet;

use super::{Corpus, Example, TrainingOptions, TransitionOptions};
use crate::TransitionParser;
use crate::features::Atoms;
use crate::learn::transition::{self, TransitionExample};

/// Training data of transition parsers: all sentences with a whole tree.
pub(super) struct TransitionTrainingData<'c> {
    /// Atoms of each example.
    atoms: Vec<Atoms>,
    /// Gold heads of each example, if all are known.
    heads: Vec<Option<Vec<usize>>>,
    examples: &'c [Arc<Example>],
    passes: usize,
    bits: u32,
    label_bits: u32,
    /// Number of labels.
    labels: usize,
    is_bidirectional: bool,
}

impl<'c> TransitionTrainingData<'c> {
    /// Collects the data of a corpus. Returns `None` if fewer than half of its annotated trees are whole.
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
        let whole_tree = |example: &Arc<Example>| example.gold.iter().copied().collect();
        let heads: Vec<Option<Vec<usize>>> = examples.iter().map(whole_tree).collect();
        let annotated = examples.iter().filter(|example| example.is_annotated()).count();
        (2 * heads.iter().flatten().count() >= annotated).then(|| Self {
            atoms: examples.iter().map(atoms).collect(),
            heads,
            examples,
            passes: transition_options.passes,
            bits: options.bits.saturating_sub(2).clamp(4, transition_options.bits.max(4)),
            label_bits: options.label_bits.saturating_sub(1).max(2),
            labels,
            is_bidirectional: transition_options.bidirectional,
        })
    }

    /// Returns the atoms of an example.
    pub(super) fn atoms(&self, example: usize) -> &Atoms {
        &self.atoms[example]
    }

    /// Returns an untrained transition parser.
    pub(super) fn untrained(&self) -> TransitionParser {
        let Self { bits, label_bits, labels, is_bidirectional, .. } = *self;
        TransitionParser::untrained(bits, label_bits, labels, is_bidirectional)
    }

    /// Trains a transition parser on the examples whose number is included.
    pub(super) fn train(
        &self,
        is_included: impl Fn(usize) -> bool,
        seed: u64,
        tree_set: TreeSet,
    ) -> TransitionParser {
        let example = |number: usize| {
            let heads = self.heads[number].as_ref().filter(|_| is_included(number))?;
            Some(TransitionExample {
                atoms: &self.atoms[number],
                heads,
                labels: &self.examples[number].label_of,
            })
        };
        let included: Vec<TransitionExample<'_>> =
            (0..self.examples.len()).filter_map(example).collect();
        transition::learn(self.untrained(), &included, self.passes, seed, tree_set)
    }
}
