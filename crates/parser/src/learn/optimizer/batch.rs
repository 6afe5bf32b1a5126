//! An objective over the whole treebank, with a Gaussian prior, made small by
//! [L-BFGS](super::lbfgs):
//!
//! ```text
//! L(w) = C Σ_i objective_i(w) + ½‖w‖²        ∇L = C Σ_i Σ_{h→m} ∂objective_i/∂θ(h → m) · f + w
//! ```
//!
//! For the likelihood this is convex, and its minimum is the log-linear model of Koo et al. (2007);
//! C is the variance of the prior. A pass is one step: one evaluation, rarely more. Sums are `f64`;
//! weights are `f32` when sentences are scored, which lets ‖∇L‖ fall to about 1e−6 and no further.
//!
//! The treebank is split into [`SHARDS`] parts whose sums are added in their order: which thread has
//! computed which does not matter.

use std::io;
use std::ops::Range;

use tutte_linear::{Checkpointed, Codec, for_each_part};

use super::lbfgs::Minimiser;
use super::scorer::{Differentiable, PartScorer, Parts};
use super::{Learn, Report};
use crate::Error;
use crate::learn::corpus::Corpus;
use crate::learn::objective::{Objective, Scratch};

/// The parts of the treebank that L-BFGS computes apart. Each has a gradient of its own.
pub const SHARDS: usize = 4;

/// Steps end when no derivative is larger than this, for weights of length 1 or less.
const TOLERANCE: f64 = 1e-4;

/// A learner by batches of the size of the treebank.
#[derive(Debug)]
pub(super) struct Batch<S: PartScorer> {
    problem: Problem<S>,
    minimiser: Minimiser,
    converged: bool,
}

/// What is made small.
#[derive(Debug)]
struct Problem<S: PartScorer> {
    objective: Objective,
    /// C.
    c: f64,
    /// The cells that features of the treebank have: the variables.
    cells: Vec<u32>,
    /// For each cell, which variable it is.
    variable: Vec<u32>,
    threads: usize,
    shards: Vec<Shard<S>>,
}

/// A part of the treebank, its sums and its memory.
#[derive(Debug)]
struct Shard<S: PartScorer> {
    examples: Range<usize>,
    /// Σ objective.
    value: f64,
    /// Its gradient, by variable.
    gradient: Vec<f64>,
    memory: S::Memory,
    scratch: Scratch,
    coefficients: S::Scores,
}

impl<S: PartScorer> Batch<S> {
    /// Starts from the weights of a model.
    pub(super) fn new(
        objective: Objective,
        c: f64,
        memory: usize,
        threads: usize,
        corpus: &Corpus<'_>,
        model: &mut S,
    ) -> Result<Self, Error> {
        let mut problem = Problem::new(objective, c, threads, corpus, model);
        let start = problem.cells.iter().map(|&cell| model.weight(cell as usize).into()).collect();
        let minimiser = Minimiser::new(start, memory, &mut |x: &[f64], gradient: &mut [f64]| {
            problem.evaluate(corpus, model, x, gradient)
        })?;
        Ok(Self { problem, minimiser, converged: false })
    }
}

impl<S: PartScorer> Problem<S> {
    fn new(objective: Objective, c: f64, threads: usize, corpus: &Corpus<'_>, model: &S) -> Self {
        const NONE: u32 = u32::MAX;
        let mut memory = S::Memory::default();
        let mut variable = vec![NONE; model.cells()];
        for example in &corpus.examples {
            model.prepare(example, |_| true, &mut memory);
            let mut ones = model.possible(example);
            for part in ones.parts() {
                ones[part] = ones[part].exp();
            }
            model.accumulate(&mut memory, &ones, 0.0, |cell, _| variable[cell] = 0);
        }
        let mut cells = Vec::new();
        for (cell, variable) in variable.iter_mut().enumerate().filter(|(_, v)| **v != NONE) {
            *variable = cells.len() as u32;
            cells.push(cell as u32);
        }
        let count = corpus.examples.len();
        let shards = (0..SHARDS)
            .map(|at| Shard {
                examples: count * at / SHARDS..count * (at + 1) / SHARDS,
                gradient: vec![0.0; cells.len()],
                value: 0.0,
                memory: S::Memory::default(),
                scratch: Scratch::default(),
                coefficients: S::Scores::default(),
            })
            .collect();
        Self { objective, c, cells, variable, threads, shards }
    }

    /// L, and into `gradient` ∇L. Leaves the weights at x.
    fn evaluate(
        &mut self,
        corpus: &Corpus<'_>,
        model: &mut S,
        x: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Error> {
        let Self { objective, c, cells, variable, threads, shards } = self;
        for (&cell, &x) in cells.iter().zip(x) {
            *model.weight_mut(cell as usize) = x as f32;
        }
        let model = &*model;
        for_each_part(shards, *threads, |shard| shard.run(objective, corpus, model, variable))?;
        gradient.copy_from_slice(x);
        for shard in shards.iter() {
            gradient.iter_mut().zip(&shard.gradient).for_each(|(sum, part)| *sum += *c * part);
        }
        let value: f64 = shards.iter().map(|shard| shard.value).sum();
        Ok(*c * value + 0.5 * x.iter().map(|x| x * x).sum::<f64>())
    }
}

impl<S: PartScorer> Shard<S> {
    /// Computes value and gradient.
    fn run(
        &mut self,
        objective: &Objective,
        corpus: &Corpus<'_>,
        model: &S,
        variable: &[u32],
    ) -> Result<(), Error> {
        /// Below this, an arc's part in the gradient does not matter.
        const NEGLIGIBLE: f64 = 1e-8;
        let Self { examples, value, gradient, memory, scratch, coefficients } = self;
        *value = 0.0;
        gradient.fill(0.0);
        for example in &corpus.examples[examples.clone()] {
            model.prepare(example, |_| true, memory);
            *value += model
                .score(example, memory)
                .evaluate(objective, example, corpus.tree_set, 1.0, scratch, coefficients)
                .map_err(|source| corpus.diverged(example, source))?;
            model.accumulate(memory, coefficients, NEGLIGIBLE, |cell, amount| {
                gradient[variable[cell] as usize] += f64::from(amount);
            });
        }
        Ok(())
    }
}

impl<S: PartScorer> Learn<S> for Batch<S> {
    fn pass(&mut self, corpus: &Corpus<'_>, model: &mut S) -> Result<Report, Error> {
        let Self { problem, minimiser, converged } = self;
        let went = minimiser.step(&mut |x: &[f64], gradient: &mut [f64]| {
            problem.evaluate(corpus, model, x, gradient)
        })?;
        // A search may have looked further than it went.
        for (&cell, &x) in problem.cells.iter().zip(&minimiser.x) {
            *model.weight_mut(cell as usize) = x as f32;
        }
        *converged |= !went || minimiser.is_at_rest(TOLERANCE);
        Ok(Report { loss: minimiser.value, gap: None, converged: *converged })
    }

    fn learnt(&self, _: &S) -> Option<Vec<f32>> {
        None
    }
}

impl<S: PartScorer> Checkpointed for Batch<S> {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        self.minimiser.checkpoint(codec)?;
        codec.flag(&mut self.converged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::objective::{likelihood, risk, softmax_margin};
    use crate::learn::train::tests::{SMALL, corpus, small_model, treebank};
    use tutte_trees::TreeSet;

    /// ∇L by weights, against central differences.
    #[test]
    fn gradients_are_derivatives() {
        let treebank = &treebank()[..4];
        for (at, tree_set) in TreeSet::ALL.into_iter().enumerate() {
            for objective in [likelihood(), softmax_margin(1.0), risk(0.5)] {
                let mut model = small_model(treebank, SMALL, tree_set);
                let corpus = corpus(treebank, &model);
                let mut problem = Problem::new(objective, 0.7, 1, &corpus, &model.arcs);
                // Steps that f32 holds exactly, at weights that it holds exactly.
                let h = 2f64.powi(-8);
                let x: Vec<f64> = (0..problem.cells.len())
                    .map(|i| ((i * 37 + at) % 17) as f64 / 16.0 - 0.5)
                    .collect();
                let mut gradient = vec![0.0; x.len()];
                problem.evaluate(&corpus, &mut model.arcs, &x, &mut gradient).unwrap();
                for i in (0..x.len()).step_by(x.len() / 12) {
                    let mut value = |by: f64| {
                        let mut x = x.clone();
                        x[i] += by;
                        let mut unused = vec![0.0; x.len()];
                        problem.evaluate(&corpus, &mut model.arcs, &x, &mut unused).unwrap()
                    };
                    // Two differences, to be rid of the error in h².
                    let slope = |d: f64, value: &mut dyn FnMut(f64) -> f64| {
                        (value(d) - value(-d)) / (2.0 * d)
                    };
                    let (near, far) = (slope(h, &mut value), slope(2.0 * h, &mut value));
                    let expected = near + (near - far) / 3.0;
                    assert!((gradient[i] - expected).abs() < 1e-5, "{} {expected}", gradient[i]);
                }
            }
        }
    }

    #[test]
    fn steps_lead_to_where_the_gradient_vanishes() {
        let treebank = treebank();
        let mut model = small_model(&treebank, SMALL, TreeSet::NonProjectiveSingleRoot);
        let corpus = corpus(&treebank, &model);
        let mut batch = Batch::new(likelihood(), 1.0, 10, 2, &corpus, &mut model.arcs).unwrap();
        let mut last = f64::INFINITY;
        for step in 1.. {
            let report = batch.pass(&corpus, &mut model.arcs).unwrap();
            assert!(report.loss <= last && step < 100);
            last = report.loss;
            if report.converged {
                break;
            }
        }
        assert!(batch.minimiser.is_at_rest(TOLERANCE));
        // No weight can be moved for the better: the function is strictly convex.
        let x = batch.minimiser.x.clone();
        let mut unused = vec![0.0; x.len()];
        for i in (0..x.len()).step_by(x.len() / 20) {
            for by in [-0.1, 0.1] {
                let mut x = x.clone();
                x[i] += by;
                let value = batch.problem.evaluate(&corpus, &mut model.arcs, &x, &mut unused);
                assert!(value.unwrap() > last);
            }
        }
    }
}
