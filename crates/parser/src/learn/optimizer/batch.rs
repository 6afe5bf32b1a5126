//! Full-batch training: minimises an objective over the whole treebank, with a Gaussian prior, by
//! [L-BFGS](super::lbfgs).
//!
//! ```text
//! L(w) = C Σ_i objective_i(w) + ½‖w‖²        ∇L = C Σ_i Σ_{h→m} ∂objective_i/∂θ(h → m) · f + w
//! ```
//!
//! C is the variance of the prior. For the likelihood, L is convex and its minimum is the log-linear model of Koo et
//! al. (2007). A pass is one step: one evaluation, rarely more. Sums are `f64`. Sentences are scored with `f32`
//! weights, so ‖∇L‖ cannot fall much below 1e−6.
//!
//! The treebank is split into [`SHARDS`] shards, and their sums are added in order. The result does not depend on
//! the number of threads. Cost per evaluation: O(n² F + n³) per sentence, for F features per arc.

use std::io;
use std::ops::Range;

use tutte_linear::{Checkpointed, Codec, for_each_part};

use super::lbfgs::Minimiser;
use super::scorer::{Differentiable, PartScorer, PartTable, Term};
use super::{OptimizerRun, Report};
use crate::Error;
use crate::learn::corpus::Corpus;
use crate::learn::objective::{Objective, Scratch};

/// Number of shards of the treebank. Each has its own gradient, and can run on its own thread.
const SHARDS: usize = 4;

/// Training has converged when ‖∇L‖∞ is below this times max(1, ‖w‖).
const TOLERANCE: f64 = 1e-4;

/// A run of L-BFGS on the whole treebank.
#[derive(Debug)]
pub(super) struct Batch<S: PartScorer> {
    problem: Problem<S>,
    minimiser: Minimiser,
    converged: bool,
}

/// The function L and its variables.
#[derive(Debug)]
struct Problem<S: PartScorer> {
    objective: Objective,
    /// C.
    c: f64,
    /// Cells used by features of the treebank. These are the variables.
    cells: Vec<u32>,
    /// For each cell, the number of its variable.
    variable: Vec<u32>,
    threads: usize,
    shards: Vec<Shard<S>>,
}

/// A part of the treebank with its sums.
#[derive(Debug)]
struct Shard<S: PartScorer> {
    examples: Range<usize>,
    /// Σ objective.
    value: f64,
    /// Gradient of `value` by each variable.
    gradient: Vec<f64>,
    memory: S::Memory,
    scratch: Scratch,
    coefficients: S::Scores,
}

impl<S: PartScorer> Batch<S> {
    /// Starts from the current weights of the model.
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

    /// Returns L(x), writes ∇L into `gradient`, and leaves the weights of the model at x.
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
    /// Computes the value and the gradient of the shard.
    fn run(
        &mut self,
        objective: &Objective,
        corpus: &Corpus<'_>,
        model: &S,
        variable: &[u32],
    ) -> Result<(), Error> {
        /// Derivatives by arc scores up to this are treated as 0.
        const NEGLIGIBLE: f64 = 1e-8;
        let Self { examples, value, gradient, memory, scratch, coefficients } = self;
        *value = 0.0;
        gradient.fill(0.0);
        for example in &corpus.examples[examples.clone()] {
            let term = Term { objective, example, tree_set: corpus.tree_set, progress: 1.0 };
            model.prepare(example, |_| true, memory);
            *value += model
                .score(example, 1.0, memory)
                .evaluate(term, scratch, coefficients)
                .map_err(|source| corpus.diverged(example, source))?;
            model.accumulate(memory, coefficients, NEGLIGIBLE, |cell, amount| {
                gradient[variable[cell] as usize] += f64::from(amount);
            });
        }
        Ok(())
    }
}

impl<S: PartScorer> OptimizerRun<S> for Batch<S> {
    fn pass(&mut self, corpus: &Corpus<'_>, model: &mut S) -> Result<Report, Error> {
        let Self { problem, minimiser, converged } = self;
        let moved = minimiser.step(&mut |x: &[f64], gradient: &mut [f64]| {
            problem.evaluate(corpus, model, x, gradient)
        })?;
        // The last evaluation of the line search may not be at the accepted point.
        for (&cell, &x) in problem.cells.iter().zip(&minimiser.x) {
            *model.weight_mut(cell as usize) = x as f32;
        }
        *converged |= !moved || minimiser.is_at_rest(TOLERANCE);
        Ok(Report { loss: minimiser.value, gap: None, converged: *converged })
    }

    fn weights_to_keep(&self, _: &S) -> Option<Vec<f32>> {
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

    /// Compares ∇L with central differences.
    #[test]
    fn gradients_are_derivatives() {
        let treebank = &treebank()[..4];
        for (at, tree_set) in TreeSet::ALL.into_iter().enumerate() {
            for objective in [likelihood(), softmax_margin(1.0), risk(0.5)] {
                let mut model = small_model(treebank, SMALL, tree_set);
                let corpus = corpus(treebank, &model);
                let mut problem = Problem::new(objective, 0.7, 1, &corpus, &model.arcs);
                // Weights and steps are exact in `f32`.
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
                    // Two differences cancel the error in h² (Richardson extrapolation).
                    let slope = |d: f64, value: &mut dyn FnMut(f64) -> f64| {
                        (value(d) - value(-d)) / (2.0 * d)
                    };
                    let near = slope(h, &mut value);
                    let far = slope(2.0 * h, &mut value);
                    let expected = near + (near - far) / 3.0;
                    assert!((gradient[i] - expected).abs() < 1e-5, "{} {expected}", gradient[i]);
                }
            }
        }
    }

    #[test]
    fn steps_converge_to_a_zero_gradient() {
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
        // L is strictly convex, so every change of a weight raises it.
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
