//! The transition parser: a greedy shift-reduce parser, whose tree the second pass sees.
//!
//! An arc-factored model compares all trees, but sees little of each. A shift-reduce parser follows one
//! tree, and sees everything it has built so far. Their errors differ, so an arc-factored model that sees
//! the other's tree is better than both (Nivre & McDonald 2008). That tree is an attribute of arcs like
//! any other (`a.opinion`, `m.function`), so the distribution over trees stays exact.
//!
//! The system is arc-hybrid (Kuhlmann, Gómez-Rodríguez & Satta 2011). Words wait in a queue, with the
//! root at its end, and move to a stack. The word on top of the stack becomes a modifier of the first
//! word of the queue, or of the word below it ([`state`]). A projective tree takes 2n steps. Each step and
//! each label is the one with the highest sum of feature weights ([`features`]). Weights are trained by an
//! averaged perceptron that also explores the parser's own mistakes (Goldberg & Nivre 2013;
//! `learn/transition.rs`). Cost: O(n) steps of about 130 look-ups.
//!
//! A parser that reads forwards knows more of the words before than of those to come. A parser that reads
//! backwards makes other errors, and arcs that both find are mostly right (Sagae & Lavie 2006). So the
//! parser may read in both directions, with weights in the same tables. The tree found backwards is less
//! accurate: templates only see which arcs it has (`a.opinion`).

mod features;
mod state;

use std::io;

use tutte_linear::{Checkpointed, Codec, Rounding};
use tutte_trees::TreeSet;

use self::features::StepFeatures;
pub(crate) use self::state::Step;
use self::state::{Direction, ParserState, STEPS};
use crate::features::{Atoms, Attribute, TransitionParse};
use crate::{Compact, Weights};

/// A shift-reduce parser, trained with the second pass of a model, which sees its tree.
///
/// ```
/// use tutte::{TrainingOptions, SecondPassOptions, train};
///
/// # let sentence = "1\tTea\ttea\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_\n";
/// # let treebank: Vec<tutte_treebank::Sentence> = vec![sentence.parse()?, sentence.parse()?];
/// let options = TrainingOptions::default().with_passes(1).with_bits(12).with_label_bits(8);
/// let model = train(&treebank, &options, &mut ())?;
/// assert!(model.second_pass.is_some_and(|second_pass| second_pass.transition.is_some()));
///
/// let second = Some(SecondPassOptions::default().with_transition(None));
/// let model = train(&treebank, &options.with_second_pass(second), &mut ())?;
/// assert!(model.second_pass.is_some_and(|second_pass| second_pass.transition.is_none()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TransitionParser<W = Vec<f32>> {
    /// `[row · 3 + step]`: weights of the three steps.
    pub(crate) steps: W,
    /// `[row · labels + label]`: weights of labels.
    pub(crate) functions: W,
    /// Number of labels, at least 1.
    pub(crate) labels: usize,
    /// `true` if it reads backwards, too.
    pub(crate) bidirectional: bool,
}

/// Scratch memory of a transition parser.
#[derive(Debug, Default)]
pub(crate) struct TransitionMemory {
    pub(crate) state: ParserState,
    pub(crate) features: StepFeatures,
    pub(crate) scores: Vec<f32>,
}

impl TransitionParser {
    /// Makes a parser whose weights are all zero, with 2^`bits` rows for steps and 2^`label_bits` rows
    /// for labels.
    pub(crate) fn untrained(
        bits: u32,
        label_bits: u32,
        labels: usize,
        bidirectional: bool,
    ) -> Self {
        let labels = labels.max(1);
        let steps = vec![0.0; STEPS << bits];
        let functions = vec![0.0; labels << label_bits];
        Self { steps, functions, labels, bidirectional }
    }

    /// Adds a share of the weights of another parser of the same size.
    pub(crate) fn add(&mut self, other: &Self, share: f32) {
        let tables = [(&mut self.steps, &other.steps), (&mut self.functions, &other.functions)];
        for (own, other) in tables {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += share * other);
        }
    }

    /// Rounds all weights to 8 bits.
    pub(crate) fn rounded(&self, rounding: Rounding) -> TransitionParser<Compact> {
        let [steps, functions] =
            [&self.steps, &self.functions].map(|it| Compact::rounded(it, rounding));
        TransitionParser {
            steps,
            functions,
            labels: self.labels,
            bidirectional: self.bidirectional,
        }
    }
}

impl Checkpointed for TransitionParser {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        codec.table(&mut self.steps)?;
        codec.table(&mut self.functions)
    }
}

impl<W: Weights> TransitionParser<W> {
    /// Returns the templates of steps as text. They name values of places in the stack (`s0` is its top) and in the
    /// queue (`n0` comes next). Others belong to the modifiers attached to these, or to the whole state.
    pub fn templates() -> impl Iterator<Item = &'static str> {
        features::TEMPLATES.lines().filter(|line| !line.is_empty())
    }

    /// Returns the weights of steps.
    pub fn cells(&self) -> &[W::Cell] {
        self.steps.cells()
    }

    /// Number of steps to choose from.
    pub(crate) const STEPS: usize = STEPS;

    /// Attributes of words in the templates.
    pub(crate) const COLUMNS: [Attribute; 5] = features::COLUMNS;

    /// Returns the binary logarithms of the numbers of rows: for steps, for labels.
    pub(crate) fn bits(&self) -> [u32; 2] {
        let rows = |cells: usize, width: usize| (cells / width).max(1).ilog2();
        [rows(self.steps.cells().len(), STEPS), rows(self.functions.cells().len(), self.labels)]
    }

    /// Parses a sentence, whose atoms must have [these attributes](Self::COLUMNS).
    pub(crate) fn parse(
        &self,
        atoms: &Atoms,
        tree_set: TreeSet,
        memory: &mut TransitionMemory,
    ) -> TransitionParse {
        let mut transition_parse = TransitionParse::default();
        for &direction in self.directions() {
            let is_single_root = tree_set.is_single_root();
            memory.state.start(atoms.words(), is_single_root, direction);
            while let Some(step) = self.best_step(atoms, memory) {
                let label = if step == Step::Shift { 0 } else { self.best_label(step, memory) };
                memory.state.take(step, label);
            }
            let heads = memory.state.heads();
            match direction {
                Direction::Forwards => {
                    transition_parse.heads = heads;
                    transition_parse.labels = memory.state.labels();
                }
                Direction::Backwards => transition_parse.backwards = heads,
            }
        }
        transition_parse
    }

    /// Returns the directions in which the parser reads.
    pub(crate) fn directions(&self) -> &'static [Direction] {
        if self.bidirectional {
            &[Direction::Forwards, Direction::Backwards]
        } else {
            &[Direction::Forwards]
        }
    }

    /// Returns the best possible step, or `None` at the end. The features and scores stay in memory.
    pub(crate) fn best_step(&self, atoms: &Atoms, memory: &mut TransitionMemory) -> Option<Step> {
        let TransitionMemory { state, features, scores } = memory;
        let possible = state.possible();
        if possible == [false; STEPS] {
            return None;
        }
        let [bits, label_bits] = self.bits();
        features.fill(atoms, state, bits, label_bits);
        scores.clear();
        scores.resize(STEPS, 0.0);
        self.steps.add_rows(features.rows(), scores);
        best(scores, |step| possible[step]).and_then(|step| Step::ALL.get(step).copied())
    }

    /// Returns the best label of the arc that a step makes, from the features of the last
    /// [`best_step`](Self::best_step).
    pub(crate) fn best_label(&self, step: Step, memory: &mut TransitionMemory) -> usize {
        if self.labels == 1 {
            return 0;
        }
        let TransitionMemory { features, scores, .. } = memory;
        scores.clear();
        scores.resize(self.labels, 0.0);
        self.functions.add_rows(features.label_rows(step, self.labels), scores);
        best(scores, |_| true).unwrap_or(0)
    }
}

/// Returns the index of the first of the highest scores, among those that are `possible`.
pub(crate) fn best(scores: &[f32], possible: impl Fn(usize) -> bool) -> Option<usize> {
    let candidates = (0..scores.len()).rev().filter(|at| possible(*at));
    candidates.max_by(|a, b| scores[*a].total_cmp(&scores[*b]))
}

#[cfg(test)]
mod tests;
