//! Exponentiated gradient: max-margin and log-linear models through their duals (Bartlett, Collins,
//! Taskar & McAllester 2004; Globerson, Koo, Carreras & Collins 2007; for trees Koo, Globerson,
//! Carreras & Collins 2007, figure 2).
//!
//! Each sentence i has a distribution α_i over its trees, kept as arc scores θ_i with marginals μ_i.
//! The weights are a function of the marginals, and the dual objective is raised sentence by
//! sentence:
//!
//! ```text
//! w = C Σ_i Σ_{h→m} ([gold] − μ_i) f
//!
//! max-margin:  D = C Σ_i Σ ℓ_i μ_i − ½‖w‖²        θ_i ← θ_i + ηC (ℓ_i + w·f)
//! log-linear:  D = C Σ_i H(α_i)    − ½‖w‖²        θ_i ← θ_i + ηC (w·f − θ_i)
//! ```
//!
//! ℓ is 1 for wrong heads (or labels: arcs may have them). D is never above the primal objective C Σ loss_i + ½‖w‖² (hinge loss with
//! the number of wrong heads as margin, or −log p), and they meet at the optimum. How η is found, see
//! [`Rate`].
//!
//! One inference a sentence and pass, if its step needs no second try, and memory for two numbers an
//! arc (or labelled arc). Sentences are seen in their order. w is `f64` and re-derived from the marginals now and then, so that rounding does not add
//! up; scores are computed from its `f32` copy in the model.

use std::io;

use tutte_linear::{Checkpointed, Codec, SparseSum};
use tutte_trees::{Error as TreesError, Workspace};

use super::scorer::{PartScorer, Parts};
use super::{Learn, Report};
use crate::Error;
use crate::learn::train::{Corpus, Example};

/// Which of the two models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dual {
    /// Hinge loss: the gold tree is to beat every other by the number of its wrong heads.
    MaxMargin,
    /// −log p of the gold tree.
    LogLinear,
}

/// How the size of steps is found. It must be the smaller, the more features arcs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// One for all sentences, halved after a pass that has lowered D, as in Koo et al. (2007).
    Shared,
    /// One for each sentence, halved until its step does not lower D and raised by a twentieth
    /// when it did so at once, as in Collins, Globerson, Koo, Carreras & Bartlett (2008). D never
    /// falls.
    Own,
}

impl Dual {
    /// η₀·C.
    fn first_rate(self) -> f64 {
        match self {
            Dual::MaxMargin => 1.0,
            Dual::LogLinear => 0.5,
        }
    }

    /// The most that η·C may be.
    fn highest_rate(self) -> f64 {
        match self {
            Dual::MaxMargin => f64::INFINITY,
            // θ_i has arrived at w·f then.
            Dual::LogLinear => 1.0,
        }
    }

    /// θ + ηC·(its gradient), for an arc that scores w·f. What is forbidden stays so.
    fn step(self, theta: f64, rate: f64, cost: f64, score: f64) -> f64 {
        match self {
            _ if theta == f64::NEG_INFINITY => theta,
            // However low, it is not forbidden.
            Dual::MaxMargin => (theta + rate * (cost + score)).max(f64::MIN),
            Dual::LogLinear => theta + rate * (score - theta),
        }
    }
}

/// Scores this far below the best of their column are as good as forbidden; without a floor they
/// would sink for ever.
const FLOOR: f64 = -700.0;

/// Changes of marginals that do not matter to weights.
const NEGLIGIBLE: f64 = 1e-11;

/// A learner in the dual.
#[derive(Debug)]
pub(super) struct Exponentiated<S: PartScorer> {
    dual: Dual,
    /// C.
    c: f64,
    rate: Rate,
    /// Stop when the duality gap is this share of the primal objective; compute it at all.
    gap: Option<f64>,
    /// α_i of each example.
    blocks: Vec<Block<S::Scores>>,
    /// w.
    weights: Vec<f64>,
    /// D after the last pass.
    bound: f64,
    passes: usize,
    sum: SparseSum,
    /// What w is to change by.
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
    /// What it adds to D / C: Σ ℓ μ or H(α).
    worth: f64,
}

impl<S: PartScorer> Exponentiated<S> {
    /// Starts near the gold trees: θ_i is β for gold arcs and 0 for others.
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

    /// Computes w from the marginals; gives the length of what had to be corrected.
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

    /// Moves the block of an example.
    fn visit(&mut self, corpus: &Corpus<'_>, at: usize, model: &mut S) -> Result<(), TreesError> {
        /// After as many tries, a block is as good as it gets.
        const TRIES: usize = 12;
        let example = &corpus.examples[at];
        let scores = self.score(example, model);
        let mut rate = self.blocks[at].rate;
        for attempt in 0..TRIES {
            let new = self.moved(corpus, at, &scores, rate)?;
            self.change(at, &new, model);
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

    /// The block of an example after a step.
    fn moved(
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

    /// What w changes by, into `change`: C Σ (old marginals − new) f.
    fn change(&mut self, at: usize, new: &Block<S::Scores>, model: &S) {
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

    /// What D changes by, for a change δ of w: C (new worth − old) − w·δ − ½‖δ‖².
    fn gain(&self, at: usize, new: &Block<S::Scores>) -> f64 {
        let across = self.change.iter().map(|&(cell, d)| d * (self.weights[cell] + 0.5 * d));
        self.c * (new.worth - self.blocks[at].worth) - across.sum::<f64>()
    }

    fn score(&mut self, example: &Example, model: &S) -> S::Scores {
        model.prepare(example, |_| true, &mut self.memory);
        model.score(example, &mut self.memory)
    }

    fn squared_norm(&self) -> f64 {
        self.weights.iter().map(|weight| weight * weight).sum()
    }

    /// D.
    fn dual_objective(&self) -> f64 {
        let worth: f64 = self.blocks.iter().map(|block| block.worth).sum();
        self.c * worth - 0.5 * self.squared_norm()
    }

    /// C Σ loss_i + ½‖w‖².
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

impl<P: Parts> Block<P> {
    /// The distribution of scores. What is added to a whole column changes nothing, so its best is
    /// kept at 0.
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
        let worth = match dual {
            Dual::MaxMargin => parts.map(|part| P::cost(example, part) * marginals[part]).sum(),
            Dual::LogLinear => {
                log_partition - parts.map(|part| marginals[part] * theta[part]).sum::<f64>()
            }
        };
        Ok(Self { theta, marginals, rate, worth })
    }
}

impl<S: PartScorer> Learn<S> for Exponentiated<S> {
    fn pass(&mut self, corpus: &Corpus<'_>, model: &mut S) -> Result<Report, Error> {
        /// Rounding is undone every so many passes.
        const REDERIVE: usize = 50;
        for at in 0..corpus.examples.len() {
            self.visit(corpus, at, model)
                .map_err(|source| corpus.diverged(&corpus.examples[at], source))?;
        }
        self.passes += 1;
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

    fn learnt(&self, _: &S) -> Option<Vec<f32>> {
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

impl<P: Parts> Checkpointed for Block<P> {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        for part in self.theta.parts() {
            codec.value(&mut self.theta[part])?;
            codec.value(&mut self.marginals[part])?;
        }
        codec.value(&mut self.rate)?;
        codec.value(&mut self.worth)
    }
}

#[cfg(test)]
mod tests;
