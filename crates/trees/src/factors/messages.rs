//! The messages of one sentence, and the loop that sends them.

use super::algebra::{Algebra, bounded, share, sigmoid};
use super::family::Scratch;
use super::graph::{FAMILIES, FactorGraph};
use super::options::{Options, Report, Schedule};
use super::tape::Tape;
use super::tree_factor::TreeScratch;
use crate::Error;

/// Residual below which a run without a tolerance counts as converged.
const CONVERGED: f64 = 1e-9;

/// Messages, beliefs and scratch memory of belief propagation; one per thread.
///
/// [`FactorGraph::run`] fills it. Runs on other graphs reuse the memory, and allocate nothing once it
/// has served the largest of them.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    /// Slots of each family: family k has `offsets[k]..offsets[k + 1]`.
    pub(super) offsets: [usize; FAMILIES + 1],
    /// r, by slot.
    pub(super) to_cells: Vec<f64>,
    /// q, by slot, divided by the temperature.
    pub(super) to_factors: Vec<f64>,
    /// Σ r of one family into each cell: family k has `k·cells..(k+1)·cells`.
    sums: Vec<f64>,
    /// Score of each cell and all messages but TREE's: the log-odds that TREE receives.
    pub(super) local: Vec<f64>,
    /// That sum with TREE's message: the log-odds of the belief.
    pub(super) total: Vec<f64>,
    pub(super) beliefs: Vec<f64>,
    previous: Vec<f64>,
    /// TREE's message to each arc is `tree_logits − tree_inputs`.
    pub(super) tree_logits: Vec<f64>,
    pub(super) tree_inputs: Vec<f64>,
    /// Messages of this iteration before damping.
    fresh: Vec<f64>,
    /// TREE's logits before damping.
    raw_logits: Vec<f64>,
    /// Number of factors of each cell, for the Bethe log Z.
    pub(super) degrees: Vec<u32>,
    pub(super) scratch: Scratch,
    pub(super) tree: TreeScratch,
    /// The algebra of the last iteration.
    pub(super) algebra: Algebra,
    pub(super) tape: Tape,
}

/// Makes a list of `count` zeros in the memory it has.
pub(super) fn zeros(values: &mut Vec<f64>, count: usize) {
    values.clear();
    values.resize(count, 0.0);
}

impl FactorGraph {
    /// Runs belief propagation from zero messages.
    ///
    /// An iteration takes O(n³) for TREE, and for the other families time linear in their slots (see the
    /// table of this module). Scores of any size are accepted, and no message or belief is ever NaN.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for options out of range.
    pub fn run(&self, options: &Options, messages: &mut Messages) -> Result<Report, Error> {
        options.check()?;
        messages.start(self, options);
        let mut report = Report { iterations: 0, residual: 1.0, converged: false };
        for iteration in 0..options.iterations {
            messages.iterate(self, options, options.algebra(iteration));
            report.iterations += 1;
            report.residual = messages.refresh_beliefs(self);
            report.converged = report.residual
                <= if options.tolerance > 0.0 { options.tolerance } else { CONVERGED };
            if options.tolerance > 0.0 && report.converged {
                break;
            }
        }
        Ok(report)
    }
}

impl Messages {
    /// Sets all messages to zero.
    fn start(&mut self, graph: &FactorGraph, options: &Options) {
        let cells = graph.scores.len();
        let families = graph.families();
        for (k, family) in families.iter().enumerate() {
            self.offsets[k + 1] = self.offsets[k] + family.cells().len();
        }
        let slots = self.offsets[FAMILIES];
        for values in [&mut self.to_cells, &mut self.to_factors, &mut self.fresh] {
            zeros(values, slots);
        }
        zeros(&mut self.sums, FAMILIES * cells);
        for values in [&mut self.local, &mut self.total, &mut self.beliefs, &mut self.previous] {
            zeros(values, cells);
        }
        for values in [&mut self.tree_logits, &mut self.tree_inputs, &mut self.raw_logits] {
            zeros(values, graph.arcs.len());
        }
        self.algebra = options.algebra(0);
        self.tape.clear(options);
        self.refresh_totals(graph);
        self.refresh_beliefs(graph);
    }

    fn iterate(&mut self, graph: &FactorGraph, options: &Options, algebra: Algebra) {
        self.algebra = algebra;
        let families = graph.families();
        let present = |k: &usize| !families[*k].cells().is_empty();
        match options.schedule {
            Schedule::Flooding => {
                (0..FAMILIES).filter(present).for_each(|k| self.gather(graph, k));
                (0..FAMILIES).filter(present).for_each(|k| self.update(graph, options, k));
                self.update_tree(graph, options);
                self.refresh_totals(graph);
            }
            Schedule::Serial => {
                self.update_in_turn(graph, options);
                self.update_tree(graph, options);
                self.refresh_totals(graph);
            }
            Schedule::TreeFirst => {
                self.update_tree(graph, options);
                self.refresh_totals(graph);
                self.update_in_turn(graph, options);
            }
        }
        if options.record {
            self.tape.push(algebra, &self.to_factors, &self.tree_inputs, &self.raw_logits);
        }
    }

    /// Sends the messages of all families but TREE, one after the other.
    fn update_in_turn(&mut self, graph: &FactorGraph, options: &Options) {
        for (k, family) in graph.families().into_iter().enumerate() {
            if !family.cells().is_empty() {
                self.gather(graph, k);
                self.update(graph, options, k);
                self.refresh_totals(graph);
            }
        }
    }

    /// Writes q of one family's slots.
    pub(super) fn gather(&mut self, graph: &FactorGraph, k: usize) {
        let range = self.offsets[k]..self.offsets[k + 1];
        let slots = self.to_factors[range.clone()].iter_mut().zip(&self.to_cells[range]);
        for ((q, r), &cell) in slots.zip(graph.families()[k].cells()) {
            *q = self.algebra.cooled(bounded(self.total[cell as usize] - r));
        }
    }

    /// Sends one family's messages.
    fn update(&mut self, graph: &FactorGraph, options: &Options, k: usize) {
        let family = graph.families()[k];
        let range = self.offsets[k]..self.offsets[k + 1];
        let fresh = &mut self.fresh[range.clone()];
        family.update(self.algebra, &self.to_factors[range.clone()], fresh, &mut self.scratch);
        let cells = graph.scores.len();
        let sums = &mut self.sums[k * cells..(k + 1) * cells];
        sums.fill(0.0);
        let temperature = self.algebra.temperature;
        let slots = self.to_cells[range].iter_mut().zip(fresh);
        for ((r, fresh), &cell) in slots.zip(family.cells()) {
            *r = bounded(damped(temperature * *fresh, *r, options.damping));
            sums[cell as usize] += *r;
        }
    }

    /// Sends TREE's messages, given the log-odds `local`.
    fn update_tree(&mut self, graph: &FactorGraph, options: &Options) {
        if !graph.has_tree_factor {
            return;
        }
        let arcs = graph.arcs.len();
        let inputs = &self.local[..arcs];
        self.tree.logits(graph, self.algebra, inputs, &mut self.raw_logits);
        for arc in 0..arcs {
            let input = inputs[arc];
            if options.damping > 0.0 {
                let old = self.tree_logits[arc] - self.tree_inputs[arc];
                let message = damped(self.raw_logits[arc] - input, old, options.damping);
                self.tree_logits[arc] = message + input;
            } else {
                self.tree_logits[arc] = self.raw_logits[arc];
            }
            self.tree_inputs[arc] = input;
        }
    }

    /// Adds up the messages into every cell.
    pub(super) fn refresh_totals(&mut self, graph: &FactorGraph) {
        let cells = graph.scores.len();
        self.local.copy_from_slice(&graph.scores);
        for sums in self.sums.chunks_exact(cells.max(1)) {
            self.local.iter_mut().zip(sums).for_each(|(local, sum)| *local += sum);
        }
        self.local.iter_mut().for_each(|local| *local = bounded(*local));
        self.total.copy_from_slice(&self.local);
        for (arc, total) in self.total[..graph.arcs.len()].iter_mut().enumerate() {
            *total = bounded(self.tree_logits[arc] + (self.local[arc] - self.tree_inputs[arc]));
        }
    }

    /// Computes the beliefs from the totals, and returns the largest change.
    fn refresh_beliefs(&mut self, graph: &FactorGraph) -> f64 {
        std::mem::swap(&mut self.beliefs, &mut self.previous);
        let algebra = self.algebra;
        for (belief, &total) in self.beliefs.iter_mut().zip(&self.total) {
            *belief = sigmoid(algebra.cooled(total));
        }
        if let Some(tags) = graph.tags {
            for range in tags.variables(graph.words) {
                let totals = &self.total[range.clone()];
                let log_z = Algebra::PLAIN.sum_of(tags.count, |tag| algebra.cooled(totals[tag]));
                for (belief, &total) in self.beliefs[range].iter_mut().zip(totals) {
                    *belief = share(algebra.cooled(total), log_z);
                }
            }
        }
        let change = |(now, before): (&f64, &f64)| (now - before).abs();
        self.beliefs.iter().zip(&self.previous).map(change).fold(0.0, f64::max)
    }
}

/// Returns (1−λ)·new + λ·old.
#[inline(always)]
fn damped(new: f64, old: f64, damping: f64) -> f64 {
    if damping == 0.0 { new } else { (1.0 - damping) * new + damping * old }
}
