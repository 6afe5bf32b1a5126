//! Back-propagation through the iterations of belief propagation.
//!
//! T iterations are a computation like any other: from scores θ and log-weights ℓ to beliefs. Reverse
//! mode follows it back (Stoyanov & Eisner 2012; Gormley & Eisner 2014). For a family with messages
//! r' = (1−λ)·F(q, ℓ) + λ·r and q = total − r, where total is the sum of all messages into a cell,
//!
//! ```text
//! q̄ = (1−λ)·r̄'·∂F/∂q      ℓ̄ += (1−λ)·r̄'·∂F/∂ℓ      r̄ = λ·r̄' − q̄      total̄ += q̄
//! ```
//!
//! and total̄ joins θ̄ and the r̄ of every message into the cell. Each family has its own ∂F beside its F.
//! Time: two to three forward passes. Memory: one number per message and iteration.

use super::algebra::{Algebra, Sum};
use super::graph::{FAMILIES, FactorGraph};
use super::messages::{Messages, zeros};
use super::options::{Options, Schedule};
use crate::{ArcMatrix, Error};

/// The parts of recorded iterations that an adjoint pass needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Tape {
    is_recorded: bool,
    damping: f64,
    schedule: Schedule,
    algebras: Vec<Algebra>,
    /// q of every slot, TREE's log-odds and TREE's logits, iteration by iteration.
    to_factors: Vec<f64>,
    tree_inputs: Vec<f64>,
    tree_logits: Vec<f64>,
    // Adjoints.
    r_bar: Vec<f64>,
    q_bar: Vec<f64>,
    sums_bar: Vec<f64>,
    tree_bar: Vec<f64>,
    total_bar: Vec<f64>,
    local_bar: Vec<f64>,
    family_bar: Vec<f64>,
}

impl Tape {
    pub(super) fn clear(&mut self, options: &Options) {
        self.is_recorded = options.record;
        self.damping = options.damping;
        self.schedule = options.schedule;
        self.algebras.clear();
        self.to_factors.clear();
        self.tree_inputs.clear();
        self.tree_logits.clear();
    }

    pub(super) fn push(&mut self, algebra: Algebra, q: &[f64], inputs: &[f64], logits: &[f64]) {
        self.algebras.push(algebra);
        self.to_factors.extend_from_slice(q);
        self.tree_inputs.extend_from_slice(inputs);
        self.tree_logits.extend_from_slice(logits);
    }
}

/// Derivatives of a loss by the answers of a run. Each may be left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Derivatives<'a> {
    /// By the belief of each arc.
    pub beliefs: Option<&'a ArcMatrix>,
    /// By the log-odds that TREE receives, the scores of
    /// [`tree_distribution`](FactorGraph::tree_distribution).
    pub tree_scores: Option<&'a ArcMatrix>,
    /// By the belief of each label and tag, in the order in which they were added.
    pub labels_and_tags: Option<&'a [f64]>,
}

/// Derivatives of a loss by the parameters of a graph.
#[derive(Clone, Debug, Default)]
pub struct Gradient {
    /// By the score of each arc; 0 for forbidden ones.
    pub arcs: ArcMatrix,
    /// By the score of each label and tag, in the order in which they were added.
    pub labels_and_tags: Vec<f64>,
    /// By the log-weights of all factors, at [`FactorGraph::weight_range`].
    pub weights: Vec<f64>,
}

impl FactorGraph {
    /// Computes the gradient of a loss by all scores and log-weights, through all iterations of the last
    /// run.
    ///
    /// Derivatives of messages that have saturated (probabilities beyond 1e-40) are zero.
    ///
    /// # Errors
    /// [`Error::BadParameter`] if the last run was not recorded, was of another graph or was max-product;
    /// [`Error::DifferentLengths`], [`Error::Shape`] for derivatives of another size;
    /// [`Error::BadScore`] if a derivative by an arc is not a number.
    pub fn backward(
        &self,
        messages: &mut Messages,
        derivatives: Derivatives<'_>,
        gradient: &mut Gradient,
    ) -> Result<(), Error> {
        self.check_recorded(messages)?;
        let cells = self.scores.len();
        let arcs = self.arcs.len();
        messages.start_adjoints(self);
        zeros(&mut gradient.weights, self.weight_count());
        let by_arc = |matrix: Option<&ArcMatrix>, out: &mut [f64]| -> Result<(), Error> {
            let Some(matrix) = matrix else { return Ok(()) };
            if matrix.words() != self.words() {
                return Err(Error::DifferentLengths { left: self.words(), right: matrix.words() });
            }
            for (cell, out) in out[..arcs].iter_mut().enumerate() {
                let (head, modifier) = self.arc(cell);
                *out = matrix[(head, modifier)];
                if !crate::matrix::is_number(*out) {
                    return Err(Error::BadScore { head, modifier, label: None, value: *out });
                }
            }
            Ok(())
        };
        by_arc(derivatives.tree_scores, &mut messages.tape.local_bar)?;
        by_arc(derivatives.beliefs, &mut messages.tape.total_bar)?;
        if let Some(others) = derivatives.labels_and_tags {
            if others.len() != cells - arcs {
                return Err(Error::Shape {
                    expected: format!("{} derivatives of labels and tags", cells - arcs),
                    found: format!("{}", others.len()),
                });
            }
            messages.tape.total_bar[arcs..].copy_from_slice(others);
        }
        messages.beliefs_to_totals(self);
        zeros(&mut gradient.labels_and_tags, cells);
        messages.spread(self, &mut gradient.labels_and_tags);
        for iteration in (0..messages.tape.algebras.len()).rev() {
            messages.reverse(self, iteration, &mut gradient.labels_and_tags, &mut gradient.weights);
        }
        gradient.arcs.reset(self.words(), 0.0);
        for (cell, value) in gradient.labels_and_tags[..arcs].iter().enumerate() {
            gradient.arcs[self.arc(cell)] = *value;
        }
        gradient.labels_and_tags.drain(..arcs);
        Ok(())
    }

    fn check_recorded(&self, messages: &Messages) -> Result<(), Error> {
        let refuse = |found: &str| {
            Err(Error::BadParameter {
                what: "the run to differentiate",
                expected: "the last run on this graph, by sum-product and with `record`",
                found: found.into(),
            })
        };
        if !messages.tape.is_recorded {
            return refuse("not recorded");
        }
        if !messages.is_of(self) {
            return refuse("a run on another graph");
        }
        if messages.algebra.sum == Sum::Best {
            return refuse("max-product");
        }
        Ok(())
    }
}

impl Messages {
    fn start_adjoints(&mut self, graph: &FactorGraph) {
        let cells = graph.scores.len();
        let slots = self.to_cells.len();
        let tape = &mut self.tape;
        for values in [&mut tape.r_bar, &mut tape.q_bar] {
            zeros(values, slots);
        }
        zeros(&mut tape.sums_bar, FAMILIES * cells);
        zeros(&mut tape.tree_bar, graph.arcs.len());
        for values in [&mut tape.total_bar, &mut tape.local_bar] {
            zeros(values, cells);
        }
    }

    /// Turns derivatives by beliefs into derivatives by totals.
    fn beliefs_to_totals(&mut self, graph: &FactorGraph) {
        let temperature = self.algebra.temperature;
        if let Some(tags) = graph.tags {
            // Softmax: b·(b̄ − Σ b̄ b).
            for range in tags.variables(graph.words) {
                let beliefs = &self.beliefs[range.clone()];
                let bars = &mut self.tape.total_bar[range];
                let mean: f64 = bars.iter().zip(beliefs).map(|(bar, belief)| bar * belief).sum();
                for (bar, belief) in bars.iter_mut().zip(beliefs) {
                    *bar = (*bar - mean) * belief / temperature;
                }
            }
        }
        let tags =
            graph.tags.map_or(0..0, |tags| tags.start..tags.start + graph.words * tags.count);
        let is_boolean = |cell: usize| !tags.contains(&cell);
        let bars = self.tape.total_bar.iter_mut().zip(&self.beliefs).enumerate();
        for (_, (bar, &belief)) in bars.filter(|(cell, _)| is_boolean(*cell)) {
            *bar *= belief * (1.0 - belief) / temperature;
        }
    }

    /// Spreads the adjoints of totals and of TREE's inputs over scores and messages, and clears them.
    fn spread(&mut self, graph: &FactorGraph, score_bar: &mut [f64]) {
        let cells = graph.scores.len();
        let tape = &mut self.tape;
        for (tree, total) in tape.tree_bar.iter_mut().zip(&tape.total_bar) {
            *tree += total;
        }
        for (local, total) in tape.local_bar.iter_mut().zip(&tape.total_bar) {
            *local += total;
        }
        for sums in tape.sums_bar.chunks_exact_mut(cells.max(1)).chain([score_bar]) {
            sums.iter_mut().zip(&tape.local_bar).for_each(|(sum, local)| *sum += local);
        }
        tape.total_bar.fill(0.0);
        tape.local_bar.fill(0.0);
    }

    /// Follows one iteration back.
    fn reverse(
        &mut self,
        graph: &FactorGraph,
        iteration: usize,
        score_bar: &mut [f64],
        weight_bar: &mut [f64],
    ) {
        let schedule = self.tape.schedule;
        if schedule != Schedule::TreeFirst {
            self.reverse_tree(graph, iteration);
        }
        if schedule == Schedule::Serial {
            self.spread(graph, score_bar);
        }
        let families = graph.families();
        let mut end = weight_bar.len();
        for k in (0..FAMILIES).rev() {
            let start = end - families[k].weights().len();
            if !families[k].cells().is_empty() {
                self.reverse_family(graph, iteration, k, &mut weight_bar[start..end]);
                if schedule != Schedule::Flooding {
                    self.spread(graph, score_bar);
                }
            }
            end = start;
        }
        if schedule == Schedule::TreeFirst {
            self.reverse_tree(graph, iteration);
        }
        if schedule != Schedule::Serial {
            self.spread(graph, score_bar);
        }
    }

    fn reverse_tree(&mut self, graph: &FactorGraph, iteration: usize) {
        if !graph.has_tree_factor {
            return;
        }
        let arcs = graph.arcs.len();
        let range = iteration * arcs..(iteration + 1) * arcs;
        let Self { tape, tree, .. } = self;
        let algebra = tape.algebras[iteration];
        zeros(&mut tape.family_bar, arcs);
        for (fresh, bar) in tape.family_bar.iter_mut().zip(&mut tape.tree_bar) {
            *fresh = (1.0 - tape.damping) * *bar;
            *bar *= tape.damping;
        }
        let inputs = &tape.tree_inputs[range.clone()];
        let logits = &tape.tree_logits[range];
        let local_bar = &mut tape.local_bar[..arcs];
        tree.adjoint(graph, algebra, inputs, logits, &tape.family_bar, local_bar);
    }

    fn reverse_family(
        &mut self,
        graph: &FactorGraph,
        iteration: usize,
        k: usize,
        weight_bar: &mut [f64],
    ) {
        let family = graph.families()[k];
        let cells = graph.scores.len();
        let slots = self.to_cells.len();
        let range = self.offsets[k]..self.offsets[k + 1];
        let Self { tape, scratch, .. } = self;
        let algebra = tape.algebras[iteration];
        let sums_bar = &mut tape.sums_bar[k * cells..(k + 1) * cells];
        let r_bar = &mut tape.r_bar[range.clone()];
        zeros(&mut tape.family_bar, r_bar.len());
        for ((fresh, bar), &cell) in
            tape.family_bar.iter_mut().zip(r_bar.iter_mut()).zip(family.cells())
        {
            let whole = *bar + sums_bar[cell as usize];
            *fresh = (1.0 - tape.damping) * whole;
            *bar = tape.damping * whole;
        }
        sums_bar.fill(0.0);
        let q_bar = &mut tape.q_bar[range.clone()];
        q_bar.fill(0.0);
        let q = &tape.to_factors[iteration * slots..(iteration + 1) * slots][range];
        family.adjoint(algebra, q, &tape.family_bar, q_bar, weight_bar, scratch);
        for ((q_bar, r_bar), &cell) in q_bar.iter().zip(r_bar).zip(family.cells()) {
            *r_bar -= q_bar;
            tape.total_bar[cell as usize] += q_bar;
        }
    }
}
