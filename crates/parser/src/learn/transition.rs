//! Learning to shift and to reduce.
//!
//! An averaged perceptron (Collins 2002) at every step: if the step that scores highest puts more arcs of
//! the tree out of reach than another, weights move towards the best of those that put the fewest. From
//! the second pass on, the parser mostly goes where its own step leads, right or wrong, and so learns what
//! to do after mistakes ("training with exploration", Goldberg & Nivre 2013). Labels are learnt at arcs that
//! the tree has.

use tutte_linear::{LazyAverage, Order};
use tutte_trees::TreeSet;

use crate::features::Atoms;
use crate::model::transition::{Step, TransitionMemory, TransitionParser, best};

/// A sentence to learn from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransitionExample<'a> {
    /// What is seen of its words.
    pub(crate) atoms: &'a Atoms,
    /// The head of each word.
    pub(crate) heads: &'a [usize],
    /// The label of each word, where it is known; may be empty.
    pub(crate) labels: &'a [Option<usize>],
}

/// How often the parser goes where its own step leads: so many times of 10.
const OWN_WAY: u64 = 9;

/// The stream of random numbers that this draws from.
const STREAM: u8 = 7;

/// Trains a shifter in some passes over the lessons.
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
                learning.read(training_data[at], pass > 0);
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

/// A shifter that is being learnt.
struct Learning {
    transition: TransitionParser,
    steps: LazyAverage,
    functions: LazyAverage,
    order: Order,
    memory: TransitionMemory,
}

impl Learning {
    /// Reads a sentence from where the memory stands, its start; perhaps in the shifter's own ways.
    fn read(&mut self, example: TransitionExample<'_>, explores: bool) {
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
            let own_way = explores && order.stream().draw() % 10 < OWN_WAY;
            let step = if own_way { chosen } else { right };
            let mut label = 0;
            if let Some((head, modifier)) = memory.state.arc(step) {
                label = transition.best_label(step, memory);
                let known = labels.get(modifier - 1).copied().flatten();
                if let Some(known) =
                    known.filter(|known| heads[modifier - 1] == head && *known != label)
                {
                    let rows = memory.features.label_rows(step, transition.labels);
                    let moves = [(known, 1.0), (label, -1.0)];
                    move_weights(&mut transition.functions, functions, rows, moves);
                }
            }
            memory.state.take(step, label);
        }
    }
}

/// Moves the weights of some columns of rows.
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
