//! Learning to shift and to reduce.
//!
//! An averaged perceptron (Collins 2002) at every step: if the step that scores highest puts more arcs of
//! the tree out of reach than another, weights move towards the best of those that put the fewest. From
//! the second pass on, the parser mostly goes where its own step leads, right or wrong, and so learns what
//! to do after mistakes ("training with exploration", Goldberg & Nivre 2013). Labels are learnt at arcs that
//! the tree has.

use tutte_trees::TreeSet;

use super::state::Step;
use super::{Shifter, ShifterMemory, best};
use crate::features::Atoms;
use crate::learner::{LazyAverage, Order};

/// A sentence to learn from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lesson<'a> {
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
    mut shifter: Shifter,
    lessons: &[Lesson<'_>],
    passes: usize,
    seed: u64,
    tree_set: TreeSet,
) -> Shifter {
    let mut order = Order::new(seed, STREAM);
    let mut memory = ShifterMemory::default();
    let mut steps = LazyAverage::new(shifter.steps.len());
    let mut functions = LazyAverage::new(shifter.functions.len());
    for pass in 0..passes {
        for at in order.shuffled(lessons.len()) {
            let lesson = lessons[at];
            memory.configuration.start(lesson.atoms.words(), tree_set.is_single_root());
            while let Some(chosen) = shifter.best_step(lesson.atoms, &mut memory) {
                let costs = memory.configuration.costs(lesson.heads);
                let least = costs.into_iter().flatten().min();
                let right =
                    best(&memory.scores, |step| costs[step].is_some() && costs[step] == least);
                let right = right.map_or(chosen, |step| Step::ALL[step]);
                if chosen != right {
                    let rows = memory.seen.rows();
                    let moves = [(right as usize, 1.0), (chosen as usize, -1.0)];
                    move_weights(&mut shifter.steps, &mut steps, rows, moves);
                }
                let own_way = pass > 0 && order.chance().draw() % 10 < OWN_WAY;
                let step = if own_way { chosen } else { right };
                let mut label = 0;
                if let Some((head, modifier)) = memory.configuration.arc(step) {
                    label = shifter.best_label(step, &mut memory);
                    let known = lesson.labels.get(modifier - 1).copied().flatten();
                    if let Some(known) =
                        known.filter(|known| lesson.heads[modifier - 1] == head && *known != label)
                    {
                        let rows = memory.seen.label_rows(step, shifter.labels);
                        let moves = [(known, 1.0), (label, -1.0)];
                        move_weights(&mut shifter.functions, &mut functions, rows, moves);
                    }
                }
                memory.configuration.take(step, label);
            }
            steps.next();
            functions.next();
        }
    }
    shifter.steps = steps.mean(shifter.steps.iter());
    shifter.functions = functions.mean(shifter.functions.iter());
    shifter
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
