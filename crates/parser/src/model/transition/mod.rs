//! A second opinion: a greedy shift–reduce parser, whose tree the second pass sees.
//!
//! A model of arcs looks at all trees, and at little of each; a shift–reduce parser looks at one, and at
//! all that it has built so far. They err in different places, so a model of arcs that is shown the other's
//! tree is better than both (Nivre & McDonald 2008). What it says is an attribute of arcs like any other
//! (`a.opinion`, `m.function`), so the distribution over trees stays exact.
//!
//! The system is arc-hybrid (Kuhlmann, Gómez-Rodríguez & Satta 2011): words wait in a queue, at whose end
//! the root stands, and go to a stack; the word on its top becomes a modifier of the first in the queue or of
//! the one below it ([`state`]). 2n steps make a projective tree. Each step and each label is that with the
//! highest sum of weights of what is seen there ([`features`]); weights are those of an averaged
//! perceptron that also learns from where its own mistakes have led it (Goldberg & Nivre 2013; [`train`]).
//! O(n) steps of some 130 look-ups each.
//!
//! What it has built tells it more of what stands before than of what comes. One that reads from the last word
//! to the first errs elsewhere, and arcs that both find are mostly right (Sagae & Lavie 2006): a shifter may
//! read in both directions, with weights in the same tables. The tree of reading backwards is less good; what
//! is told of it is which arcs it has (`a.opinion`). On 24,000 words of UD Portuguese Bosque, English EWT and
//! French ParTUT, and two seeds, 0.3, 0.4 and 0.2 UAS more of predicted tags, 0.1, 0.4 and 0.15 of gold ones.

mod features;
mod state;

use std::io;

use tutte_linear::{Checkpointed, Codec};
use tutte_trees::TreeSet;

use self::features::Seen;
pub(crate) use self::state::Step;
use self::state::{Configuration, Direction, STEPS};
use crate::features::{Atoms, Attribute, TransitionParse};
use crate::{Compact, Weights};

/// A shift–reduce parser, learnt with the second pass of a model, which sees its tree.
///
/// ```
/// use tutte::{TrainingOptions, SecondPassOptions, train};
///
/// # let sentence = "1\tTea\ttea\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_\n";
/// # let treebank: Vec<tutte_treebank::Sentence> = vec![sentence.parse()?, sentence.parse()?];
/// let options = TrainingOptions { passes: 1, bits: 12, label_bits: 8, ..TrainingOptions::default() };
/// let model = train(&treebank, &options, |_, _| {})?;
/// assert!(model.second_pass.is_some_and(|second_pass| second_pass.transition.is_some()));
///
/// let second = Some(SecondPassOptions { transition: None, ..SecondPassOptions::default() });
/// let model = train(&treebank, &TrainingOptions { second_pass: second, ..options }, |_, _| {})?;
/// assert!(model.second_pass.is_some_and(|second_pass| second_pass.transition.is_none()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TransitionParser<W = Vec<f32>> {
    /// `[row · 3 + step]`: weights of steps, of which there are three.
    pub(crate) steps: W,
    /// `[row · labels + label]`: weights of labels.
    pub(crate) functions: W,
    /// How many labels there are, 1 at least.
    pub(crate) labels: usize,
    /// Whether it also reads backwards.
    pub(crate) bidirectional: bool,
}

/// Memory that a shifter works in.
#[derive(Debug, Default)]
pub(crate) struct TransitionMemory {
    pub(crate) configuration: Configuration,
    pub(crate) seen: Seen,
    pub(crate) scores: Vec<f32>,
}

impl TransitionParser {
    /// One that knows nothing, with 2^`bits` rows of weights of steps and 2^`label_bits` of labels.
    pub(crate) fn untrained(
        bits: u32,
        label_bits: u32,
        labels: usize,
        bidirectional: bool,
    ) -> Self {
        let labels = labels.max(1);
        let (steps, functions) = (vec![0.0; STEPS << bits], vec![0.0; labels << label_bits]);
        Self { steps, functions, labels, bidirectional }
    }

    /// Adds a share of the weights of another of the same size.
    pub(crate) fn add(&mut self, other: &Self, share: f32) {
        let tables = [(&mut self.steps, &other.steps), (&mut self.functions, &other.functions)];
        for (own, other) in tables {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += share * other);
        }
    }

    /// The same with weights of 8 bits.
    pub(crate) fn compact(&self) -> TransitionParser<Compact> {
        let [steps, functions] = [&self.steps, &self.functions].map(|it| Compact::new(it));
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
    /// What steps are chosen by, as text: values of places in the stack (`s0` is its top) and in the queue
    /// (`n0` comes next), of what has been built below them, and of the whole.
    pub fn templates() -> impl Iterator<Item = &'static str> {
        features::TEMPLATES.lines().filter(|line| !line.is_empty())
    }

    /// The weights of steps.
    pub fn cells(&self) -> &[W::Cell] {
        self.steps.cells()
    }

    /// How many steps there are to choose from.
    pub(crate) const STEPS: usize = STEPS;

    /// What it looks at in words.
    pub(crate) const COLUMNS: [Attribute; 5] = features::COLUMNS;

    /// The binary logarithms of the numbers of rows: of steps, of labels.
    pub(crate) fn bits(&self) -> [u32; 2] {
        let rows = |cells: usize, width: usize| (cells / width).max(1).ilog2();
        [rows(self.steps.cells().len(), STEPS), rows(self.functions.cells().len(), self.labels)]
    }

    /// Its tree of a sentence, which has [what it looks at](Self::COLUMNS).
    pub(crate) fn parse(
        &self,
        atoms: &Atoms,
        tree_set: TreeSet,
        memory: &mut TransitionMemory,
    ) -> TransitionParse {
        let mut transition_parse = TransitionParse::default();
        for &direction in self.directions() {
            let is_single_root = tree_set.is_single_root();
            memory.configuration.start(atoms.words(), is_single_root, direction);
            while let Some(step) = self.best_step(atoms, memory) {
                let label = if step == Step::Shift { 0 } else { self.best_label(step, memory) };
                memory.configuration.take(step, label);
            }
            let heads = memory.configuration.heads();
            match direction {
                Direction::Forwards => {
                    (transition_parse.heads, transition_parse.labels) =
                        (heads, memory.configuration.labels());
                }
                Direction::Backwards => transition_parse.backwards = heads,
            }
        }
        transition_parse
    }

    /// The directions in which it reads.
    pub(crate) fn directions(&self) -> &'static [Direction] {
        match self.bidirectional {
            true => &[Direction::Forwards, Direction::Backwards],
            false => &[Direction::Forwards],
        }
    }

    /// The best of the steps that are possible, by the sums that stay in memory; none at the end.
    pub(crate) fn best_step(&self, atoms: &Atoms, memory: &mut TransitionMemory) -> Option<Step> {
        let TransitionMemory { configuration, seen, scores } = memory;
        let possible = configuration.possible();
        if possible == [false; STEPS] {
            return None;
        }
        let [bits, label_bits] = self.bits();
        seen.look(atoms, configuration, bits, label_bits);
        scores.clear();
        scores.resize(STEPS, 0.0);
        let rows: &[usize] = seen.rows();
        self.steps.add_rows(rows, scores);
        best(scores, |step| possible[step]).and_then(|step| Step::ALL.get(step).copied())
    }

    /// The best label of the arc that a step makes, from what was seen last.
    pub(crate) fn best_label(&self, step: Step, memory: &mut TransitionMemory) -> usize {
        if self.labels == 1 {
            return 0;
        }
        let TransitionMemory { seen, scores, .. } = memory;
        scores.clear();
        scores.resize(self.labels, 0.0);
        self.functions.add_rows(seen.label_rows(step, self.labels), scores);
        best(scores, |_| true).unwrap_or(0)
    }
}

/// The first of the highest scores, among those that are `possible`.
pub(crate) fn best(scores: &[f32], possible: impl Fn(usize) -> bool) -> Option<usize> {
    let candidates = (0..scores.len()).rev().filter(|at| possible(*at));
    candidates.max_by(|a, b| scores[*a].total_cmp(&scores[*b]))
}

#[cfg(test)]
mod tests;
