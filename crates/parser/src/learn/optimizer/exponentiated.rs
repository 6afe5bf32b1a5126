//! Exponentiated gradient: trains max-margin and log-linear models in the dual (Bartlett, Collins, Taskar &
//! McAllester 2004; Globerson, Koo, Carreras & Collins 2007; for trees Koo, Globerson, Carreras & Collins 2007,
//! figure 2).
//!
//! Each sentence i has a distribution α_i over its trees, stored as arc scores θ_i with marginals μ_i. The weights are
//! a function of the marginals. Each step raises the dual objective D for one sentence:
//!
//! ```text
//! w = C Σ_i Σ_{h→m} ([gold] − μ_i) f
//!
//! max-margin:  D = C Σ_i Σ ℓ_i μ_i − ½‖w‖²        θ_i ← θ_i + ηC (ℓ_i + w·f)
//! log-linear:  D = C Σ_i H(α_i)    − ½‖w‖²        θ_i ← θ_i + ηC (w·f − θ_i)
//! ```
//!
//! ℓ is 1 for wrong heads, or with labels for wrong heads and labels. D is never above the primal objective
//! C Σ loss_i + ½‖w‖², and they are equal at the optimum. The loss is the hinge loss with the number of wrong words as
//! margin, or −log p. [`Rate`] says how η is chosen.
//!
//! Cost: one inference per sentence and pass if the first step size is accepted, and two numbers of memory per part.
//! Sentences are visited in order. w is `f64` and recomputed from the marginals at intervals, so that rounding errors
//! do not grow. Scores are computed from its `f32` copy in the model.

use std::io;

use tutte_linear::{Checkpointed, Codec, SparseSum};
use tutte_trees::{Error as TreesError, Workspace};

use super::scorer::{PartScorer, PartTable};
use super::{OptimizerRun, Report};
use crate::Error;
use crate::learn::train::{Corpus, Example};

/// Model that is trained in the dual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dual {
    /// Hinge loss: the gold tree should beat every other tree by the number of that tree's wrong heads.
    MaxMargin,
    /// −log p of the gold tree.
    LogLinear,
}

/// Choice of the step size η. The more features arcs have, the smaller it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// One for all sentences, halved after a pass that lowers D, as in Koo et al. (2007).
    Shared,
    /// One for each sentence, as in Collins, Globerson, Koo, Carreras & Bartlett (2008). It is halved until the step
    /// does not lower D, and raised by a twentieth if the first try succeeds. D never falls.
    Own,
}

impl Dual {
    /// Returns η₀·C.
    fn first_rate(self) -> f64 {
        match self {
            Dual::MaxMargin => 1.0,
            Dual::LogLinear => 0.5,
        }
    }

    /// Returns the upper bound on η·C.
    fn highest_rate(self) -> f64 {
        match self {
            Dual::MaxMargin => f64::INFINITY,
            // A step of 1 sets θ_i to w·f.
            Dual::LogLinear => 1.0,
        }
    }

    /// Returns θ + ηC·(its gradient), for an arc of score w·f. A forbidden arc stays forbidden.
    fn step(self, theta: f64, rate: f64, cost: f64, score: f64) -> f64 {
        match self {
            _ if theta == f64::NEG_INFINITY => theta,
            // An allowed arc must not underflow to −∞, which means forbidden.
            Dual::MaxMargin => (theta + rate * (cost + score)).max(f64::MIN),
            Dual::LogLinear => theta + rate * (score - theta),
        }
    }
}

/// Lowest score relative to the best head of the same word. At this score an arc has almost no probability; without a
/// floor, scores would sink without end.
const FLOOR: f64 = -700.0;

/// Changes of marginals up to this do not change weights.
const NEGLIGIBLE: f64 = 1e-11;

/// A run of exponentiated gradient.
#[derive(Debug)]
pub(super) struct Exponentiated<S: PartScorer> {
    dual: Dual,
    /// C.
    c: f64,
    rate: Rate,
    /// Share of the primal objective at which the duality gap ends training; `None` skips the gap.
    gap: Option<f64>,
    /// α_i of each example.
    blocks: Vec<Block<S::Scores>>,
    /// w.
    weights: Vec<f64>,
    /// D after the last pass.
    bound: f64,
    passes: usize,
    sum: SparseSum,
    /// δ, the change of w by the current step: cell and amount.
    change: Vec<(usize, f64)>,
    memory: S::Memory,
    workspace: Workspace,
}

/// A distribution over the trees of a sentence.
#[derive(Clone, Debug)]
struct Block<P> {
    theta: P,
    marginals: P,
    /// η·C.
    rate: f64,
    /// Its term of D / C: Σ ℓ μ or H(α).
    dual_term: f64,
}

impl<S: PartScorer> Exponentiated<S> {
    /// Starts near the gold trees, with θ_i = β for gold arcs and 0 for others.
    pub(super) fn new(
        dual: Dual,
        c: f64,
        beta: f64,
        rate: Rate,
        gap: Option<f64>,
        corpus: &Corpus<'_>,
        model: &mut S,
    ) -> Result<Self, Error> {
        let mut workspace = Workspace::default();
        let mut blocks = Vec::with_capacity(corpus.examples.len());
        for example in &corpus.examples {
            let mut theta = model.possible(example);
            for part in S::Scores::gold(example) {
                theta[part] += beta;
            }
            let block = Block::new(theta, dual, dual.first_rate(), corpus, example, &mut workspace)
                .map_err(|source| corpus.diverged(example, source))?;
            blocks.push(block);
        }
        let mut optimizer = Self {
            dual,
            c,
            rate,
            gap,
            blocks,
            weights: Vec::new(),
            bound: f64::NEG_INFINITY,
            passes: 0,
            sum: SparseSum::default(),
            change: Vec::new(),
            memory: S::Memory::default(),
            workspace,
        };
        optimizer.rederive(corpus, model);
        Ok(optimizer)
    }

    /// Computes w from the marginals. Returns the norm of the correction.
    fn rederive(&mut self, corpus: &Corpus<'_>, model: &mut S) -> f64 {
        let before = std::mem::replace(&mut self.weights, vec![0.0; model.cells()]);
        let Self { c, blocks, weights, memory, .. } = self;
        for (example, block) in corpus.examples.iter().zip(&*blocks) {
            let mut coefficients = block.marginals.zeros();
            for part in coefficients.parts() {
                let gold = 1.0 - S::Scores::cost(example, part);
                coefficients[part] = *c * (gold - block.marginals[part]);
            }
            model.prepare(example, |_| true, memory);
            model.accumulate(memory, &coefficients, *c * NEGLIGIBLE, |cell, amount| {
                weights[cell] += f64::from(amount);
            });
        }
        for (copy, weight) in model.weights_mut().zip(&*weights) {
            *copy = *weight as f32;
        }
        let drift = before.iter().zip(&*weights).map(|(old, new)| (old - new).powi(2));
        drift.sum::<f64>().sqrt()
    }

    /// Makes a step on the block of an example.
    fn update_block(
        &mut self,
        corpus: &Corpus<'_>,
        at: usize,
        model: &mut S,
    ) -> Result<(), TreesError> {
        /// Number of step sizes to try before the block is left as it is.
        const TRIES: usize = 12;
        let example = &corpus.examples[at];
        let scores = self.score(example, model);
        let mut rate = self.blocks[at].rate;
        for attempt in 0..TRIES {
            let new = self.block_after_step(corpus, at, &scores, rate)?;
            self.compute_change(at, &new, model);
            if self.rate == Rate::Own && self.gain(at, &new) < 0.0 {
                rate *= 0.5;
                continue;
            }
            for &(cell, amount) in &self.change {
                self.weights[cell] += amount;
                *model.weight_mut(cell) = self.weights[cell] as f32;
            }
            self.blocks[at] = new;
            if self.rate == Rate::Own && attempt == 0 {
                rate = (rate * 1.05).min(self.dual.highest_rate());
            }
            break;
        }
        self.blocks[at].rate = rate;
        Ok(())
    }

    /// Returns the block of an example after a step.
    fn block_after_step(
        &mut self,
        corpus: &Corpus<'_>,
        at: usize,
        scores: &S::Scores,
        rate: f64,
    ) -> Result<Block<S::Scores>, TreesError> {
        let example = &corpus.examples[at];
        let old = &self.blocks[at].theta;
        let mut theta = old.zeros();
        for part in theta.parts() {
            let cost = S::Scores::cost(example, part);
            theta[part] = self.dual.step(old[part], rate, cost, scores[part]);
        }
        Block::new(theta, self.dual, rate, corpus, example, &mut self.workspace)
    }

    /// Writes the change of w into `self.change`: C Σ (old marginals − new) f.
    fn compute_change(&mut self, at: usize, new: &Block<S::Scores>, model: &S) {
        let old = &self.blocks[at].marginals;
        let mut coefficients = old.zeros();
        for part in coefficients.parts() {
            coefficients[part] = self.c * (old[part] - new.marginals[part]);
        }
        let Self { c, sum, change, memory, .. } = self;
        model.accumulate(memory, &coefficients, *c * NEGLIGIBLE, |cell, amount| {
            sum.add(cell, amount);
        });
        change.clear();
        sum.drain(|cell, amount| change.push((cell, f64::from(amount))));
    }

    /// Returns the change of D for a change δ of w: C (new dual term − old) − w·δ − ½‖δ‖².
    fn gain(&self, at: usize, new: &Block<S::Scores>) -> f64 {
        let across = self.change.iter().map(|&(cell, d)| d * (self.weights[cell] + 0.5 * d));
        self.c * (new.dual_term - self.blocks[at].dual_term) - across.sum::<f64>()
    }

    fn score(&mut self, example: &Example, model: &S) -> S::Scores {
        model.prepare(example, |_| true, &mut self.memory);
        model.score(example, 1.0, &mut self.memory)
    }

    fn squared_norm(&self) -> f64 {
        self.weights.iter().map(|weight| weight * weight).sum()
    }

    /// Returns D.
    fn dual_objective(&self) -> f64 {
        let terms: f64 = self.blocks.iter().map(|block| block.dual_term).sum();
        self.c * terms - 0.5 * self.squared_norm()
    }

    /// Returns C Σ loss_i + ½‖w‖².
    fn primal_objective(&mut self, corpus: &Corpus<'_>, model: &S) -> Result<f64, Error> {
        let mut sum = 0.0;
        for example in &corpus.examples {
            let scores = self.score(example, model);
            let loss = self
                .loss(corpus, example, scores)
                .map_err(|source| corpus.diverged(example, source))?;
            sum += loss;
        }
        Ok(self.c * sum + 0.5 * self.squared_norm())
    }

    fn loss(
        &mut self,
        corpus: &Corpus<'_>,
        example: &Example,
        mut scores: S::Scores,
    ) -> Result<f64, TreesError> {
        let gold: f64 = S::Scores::gold(example).into_iter().map(|part| scores[part]).sum();
        let best = match self.dual {
            Dual::LogLinear => scores.log_partition(corpus.tree_set, &mut self.workspace)?,
            Dual::MaxMargin => {
                for part in scores.parts() {
                    scores[part] += S::Scores::cost(example, part);
                }
                scores.argmax(corpus.tree_set, &mut self.workspace)?.0
            }
        };
        Ok(best - gold)
    }
}

impl<P: PartTable> Block<P> {
    /// Creates the distribution of some scores. Adding a constant to all heads of a word does not change it, so the
    /// best score of each word is set to 0.
    fn new(
        mut theta: P,
        dual: Dual,
        rate: f64,
        corpus: &Corpus<'_>,
        example: &Example,
        workspace: &mut Workspace,
    ) -> Result<Self, TreesError> {
        let mut best = vec![f64::NEG_INFINITY; example.gold.len() + 1];
        for part in theta.parts() {
            let best = &mut best[P::modifier(part)];
            *best = best.max(theta[part]);
        }
        for part in theta.parts() {
            let score = &mut theta[part];
            if *score != f64::NEG_INFINITY {
                *score = (*score - best[P::modifier(part)]).max(FLOOR);
            }
        }
        let mut marginals = theta.zeros();
        let log_partition = theta.marginals(corpus.tree_set, workspace, &mut marginals)?;
        let parts = theta.parts().filter(|part| theta[*part] != f64::NEG_INFINITY);
        let dual_term = match dual {
            Dual::MaxMargin => parts.map(|part| P::cost(example, part) * marginals[part]).sum(),
            Dual::LogLinear => {
                log_partition - parts.map(|part| marginals[part] * theta[part]).sum::<f64>()
            }
        };
        Ok(Self { theta, marginals, rate, dual_term })
    }
}

impl<S: PartScorer> OptimizerRun<S> for Exponentiated<S> {
    fn pass(&mut self, corpus: &Corpus<'_>, model: &mut S) -> Result<Report, Error> {
        /// Number of passes after which w is recomputed, to undo rounding errors.
        const REDERIVE: usize = 50;
        for at in 0..corpus.examples.len() {
            self.update_block(corpus, at, model)
                .map_err(|source| corpus.diverged(&corpus.examples[at], source))?;
        }
        self.passes = self.passes.wrapping_add(1);
        if self.passes.is_multiple_of(REDERIVE) {
            self.rederive(corpus, model);
        }
        let bound = self.dual_objective();
        if bound < self.bound && self.rate == Rate::Shared {
            self.blocks.iter_mut().for_each(|block| block.rate *= 0.5);
        }
        self.bound = bound;
        let mut report = Report { loss: bound, gap: None, converged: false };
        if let Some(tolerance) = self.gap {
            let primal = self.primal_objective(corpus, model)?;
            report.gap = Some(primal - bound);
            report.converged = primal - bound < tolerance * primal.abs();
        }
        Ok(report)
    }

    fn weights_to_keep(&self, _: &S) -> Option<Vec<f32>> {
        None
    }
}

impl<S: PartScorer> Checkpointed for Exponentiated<S> {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        self.blocks.iter_mut().try_for_each(|block| block.checkpoint(codec))?;
        codec.table(&mut self.weights)?;
        codec.value(&mut self.bound)?;
        codec.value(&mut self.passes)
    }
}

impl<P: PartTable> Checkpointed for Block<P> {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        for part in self.theta.parts() {
            codec.value(&mut self.theta[part])?;
            codec.value(&mut self.marginals[part])?;
        }
        codec.value(&mut self.rate)?;
        codec.value(&mut self.dual_term)
    }
}

#[cfg(test)]
mod tests;
