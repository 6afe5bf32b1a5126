//! Training of the transition parser: an averaged perceptron (Collins 2002) with a dynamic oracle and exploration
//! (Goldberg & Nivre 2013).
//!
//! The cost of a step is the number of gold arcs that it puts out of reach. If the best-scoring step does not have the
//! least cost, weights move towards the best-scoring step of least cost. From the second pass on, the parser mostly
//! follows its own steps, right or wrong, and so learns to continue after mistakes. Labels are trained on gold arcs.
//! Cost: O(n) steps per sentence and direction.

use tutte_linear::{LazyAverage, Order};
use tutte_trees::TreeSet;

use crate::features::Atoms;
use crate::model::transition::{Step, TransitionMemory, TransitionParser, best};

/// A training sentence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransitionExample<'a> {
    /// Attributes of its words.
    pub(crate) atoms: &'a Atoms,
    /// Gold head of each word.
    pub(crate) heads: &'a [usize],
    /// Gold label of each word, `None` if unannotated; may be empty.
    pub(crate) labels: &'a [Option<usize>],
}

/// Number of steps in 10 at which exploration follows the parser's own choice.
const EXPLORED_IN_TEN: u64 = 9;

/// Number of the random stream.
const STREAM: u8 = 7;

/// Trains a transition parser by some passes over the training data.
pub(crate) fn learn(
    transition: TransitionParser,
    training_data: &[TransitionExample<'_>],
    passes: usize,
    seed: u64,
    tree_set: TreeSet,
) -> TransitionParser {
    let mut learning = Learning {
        order: Order::new(seed, STREAM),
        memory: TransitionMemory::default(),
        steps: LazyAverage::new(transition.steps.len()),
        functions: LazyAverage::new(transition.functions.len()),
        transition,
    };
    for pass in 0..passes {
        for at in learning.order.shuffled(training_data.len()) {
            for &direction in learning.transition.directions() {
                let words = training_data[at].atoms.words();
                let is_single_root = tree_set.is_single_root();
                learning.memory.state.start(words, is_single_root, direction);
                learning.train_on(training_data[at], pass > 0);
            }
            learning.steps.end_example();
            learning.functions.end_example();
        }
    }
    let Learning { mut transition, steps, functions, .. } = learning;
    transition.steps = steps.mean(transition.steps.iter());
    transition.functions = functions.mean(transition.functions.iter());
    transition
}

/// State of the training.
struct Learning {
    transition: TransitionParser,
    steps: LazyAverage,
    functions: LazyAverage,
    order: Order,
    memory: TransitionMemory,
}

impl Learning {
    /// Parses a sentence from its initial configuration, which must be in `self.memory`, and updates weights at every
    /// step. If `explores`, most steps follow the parser's own choice.
    fn train_on(&mut self, example: TransitionExample<'_>, explores: bool) {
        let Self { transition, steps, functions, order, memory } = self;
        let direction = memory.state.direction();
        let heads = direction.turn_heads(example.heads);
        let labels = direction.turn_list(example.labels);
        while let Some(chosen) = transition.best_step(example.atoms, memory) {
            let costs = memory.state.costs(&heads);
            let least = costs.into_iter().flatten().min();
            let right = best(&memory.scores, |step| costs[step].is_some() && costs[step] == least);
            let right = right.map_or(chosen, |step| Step::ALL[step]);
            if chosen != right {
                let moves = [(right as usize, 1.0), (chosen as usize, -1.0)];
                move_weights(&mut transition.steps, steps, memory.features.rows(), moves);
            }
            let is_explored = explores && order.stream().draw() % 10 < EXPLORED_IN_TEN;
            let step = if is_explored { chosen } else { right };
            let mut label = 0;
            if let Some((head, modifier)) = memory.state.arc(step) {
                label = transition.best_label(step, memory);
                let gold = labels.get(modifier - 1).copied().flatten();
                if let Some(gold) =
                    gold.filter(|gold| heads[modifier - 1] == head && *gold != label)
                {
                    let rows = memory.features.label_rows(step, transition.labels);
                    let moves = [(gold, 1.0), (label, -1.0)];
                    move_weights(&mut transition.functions, functions, rows, moves);
                }
            }
            memory.state.take(step, label);
        }
    }
}

/// Adds an amount to two columns of each row of weights.
fn move_weights(
    weights: &mut [f32],
    average: &mut LazyAverage,
    rows: &[usize],
    moves: [(usize, f32); 2],
) {
    for row in rows {
        for (column, by) in moves {
            weights[row + column] += by;
            average.moved(row + column, by.into());
        }
    }
}
