//! Stochastic gradient methods: minimise an objective by a step after each sentence or batch (Robbins & Monro 1951;
//! for trees Smith & Smith 2007).
//!
//! ```text
//! g = Σ_{h→m} ∂ objective / ∂θ(h → m) · f(x, h, m)        w ← step(w, g)
//! ```
//!
//! The gradients of a batch are computed with the same weights, on several threads if allowed, and summed in order.
//! Cost: O(n² F + n³) per sentence, for F features per arc. The model may score arcs, labelled arcs, or arcs with
//! [latent clusters](crate::model::latent).

use std::io;

use tutte_linear::{
    AdaGrad, Average, Checkpointed, Codec, Order, SparseSum, draw_templates, invalid, join,
};
use tutte_trees::Error as TreesError;

use super::scorer::{Differentiable, Scorer, Term};
use super::sgd::Sgd;
use super::{OptimizerRun, Report, Schedule};
use crate::Error;
use crate::learn::objective::{Objective, Scratch};
use crate::learn::train::Corpus;

/// Rule by which weights follow a gradient.
#[derive(Clone, Debug)]
pub(super) enum StepRule {
    AdaGrad(AdaGrad),
    Sgd(Sgd),
}

impl StepRule {
    /// Returns the factor between the table and the weights.
    fn scale(&self) -> f64 {
        match self {
            StepRule::AdaGrad(_) => 1.0,
            StepRule::Sgd(sgd) => sgd.scale(),
        }
    }
}

impl Checkpointed for StepRule {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        match self {
            StepRule::AdaGrad(adagrad) => adagrad.checkpoint(codec),
            StepRule::Sgd(sgd) => sgd.checkpoint(codec),
        }
    }
}

/// A run of AdaGrad or SGD.
#[derive(Debug)]
pub(crate) struct Gradient<S: Scorer> {
    objective: Objective,
    step: StepRule,
    average: Average,
    sum: SparseSum,
    dropout: f64,
    batch: usize,
    passes: usize,
    passes_done: usize,
    order: Order,
    threads: usize,
    /// One for each sentence that is computed at the same time.
    workers: Vec<Worker<S>>,
}

/// Computes the gradient of a sentence.
#[derive(Debug)]
struct Worker<S: Scorer> {
    /// For each template, `false` if dropout leaves it out.
    kept: Vec<bool>,
    memory: S::Memory,
    scratch: Scratch,
    gradient: S::Scores,
    /// Gradient by weights, cell and amount, until it is added to the sum.
    weight_gradient: Vec<(u32, f32)>,
}

impl<S: Scorer> Default for Worker<S> {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            memory: S::Memory::default(),
            scratch: Scratch::default(),
            gradient: S::Scores::default(),
            weight_gradient: Vec::new(),
        }
    }
}

impl<S: Scorer> Gradient<S> {
    /// Creates a run. `step` must fit the number of weights of the model.
    pub(super) fn new(
        objective: Objective,
        step: StepRule,
        dropout: f64,
        batch: usize,
        schedule: Schedule,
    ) -> Self {
        Self {
            objective,
            step,
            average: Average::of_second_half(schedule.passes),
            sum: SparseSum::default(),
            dropout,
            batch,
            passes: schedule.passes,
            passes_done: 0,
            order: Order::new(schedule.seed, 0),
            threads: schedule.threads,
            workers: Vec::new(),
        }
    }

    /// Computes the gradients of some sentences at the same time. Adds them to the sum, and the values of the
    /// objective to `loss`.
    fn add_gradients(
        &mut self,
        corpus: &Corpus<'_>,
        batch: &[usize],
        model: &S,
        loss: &mut f64,
    ) -> Result<(), Error> {
        self.workers.resize_with(self.workers.len().max(batch.len()), Worker::default);
        let progress = self.passes_done as f64 / self.passes.saturating_sub(1).max(1) as f64;
        let Self { objective, step, sum, dropout, order, workers, .. } = self;
        let workers = &mut workers[..batch.len()];
        let mut scale = 1.0;
        for worker in &mut *workers {
            scale = draw_templates(order.stream(), model.templates(), *dropout, &mut worker.kept);
        }
        // Dropout also scales the gradient; the rate absorbs that factor.
        let scale = scale * step.scale();
        let objective = &*objective;
        let tree_set = corpus.tree_set;
        let task = |at: usize| {
            let example = &corpus.examples[at];
            Task { term: Term { objective, example, tree_set, progress }, model, scale }
        };
        let diverged = |at: usize, error| corpus.diverged(&corpus.examples[at], error);
        if let ([worker], &[at]) = (&mut *workers, batch) {
            let add = |cell, amount| sum.add(cell, amount);
            *loss += worker.run(task(at), add).map_err(|error| diverged(at, error))?;
            return Ok(());
        }
        let values: Vec<Result<f64, TreesError>> = std::thread::scope(|scope| {
            let work = workers.iter_mut().zip(batch);
            let threads: Vec<_> = work
                .map(|(worker, &at)| (worker, task(at)))
                .map(|(worker, task)| scope.spawn(move || worker.run_and_keep(task)))
                .collect();
            threads.into_iter().map(join).collect()
        });
        for (value, &at) in values.into_iter().zip(batch) {
            *loss += value.map_err(|error| diverged(at, error))?;
        }
        for &(cell, amount) in workers.iter().flat_map(|worker| &worker.weight_gradient) {
            sum.add(cell as usize, amount);
        }
        Ok(())
    }

    /// Moves weights by the summed gradients of a batch.
    fn descend(&mut self, model: &mut S, sentences: usize) {
        let Self { step, sum, .. } = self;
        match step {
            StepRule::AdaGrad(adagrad) => {
                sum.drain(|cell, amount| adagrad.descend(model.weight_mut(cell), cell, amount));
            }
            StepRule::Sgd(sgd) => {
                let factor = sgd.step(sentences);
                sum.drain(|cell, amount| {
                    *model.weight_mut(cell) += (factor * f64::from(amount)) as f32;
                });
            }
        }
    }
}

/// A sentence whose gradient a worker computes.
struct Task<'a, S> {
    term: Term<'a>,
    model: &'a S,
    /// Factor between the table and the weights, with that of dropout.
    scale: f64,
}

impl<S: Scorer> Worker<S> {
    /// Returns the value of the objective, and stores its gradient in `weight_gradient`.
    fn run_and_keep(&mut self, task: Task<'_, S>) -> Result<f64, TreesError> {
        let mut gradient = std::mem::take(&mut self.weight_gradient);
        gradient.clear();
        let value = self.run(task, |cell, amount| gradient.push((cell as u32, amount)));
        self.weight_gradient = gradient;
        value
    }

    /// Returns the value of the objective, and passes its gradient by weights to `add(cell, amount)`.
    fn run(&mut self, task: Task<'_, S>, add: impl FnMut(usize, f32)) -> Result<f64, TreesError> {
        /// Derivatives by arc scores up to this are treated as 0.
        const NEGLIGIBLE: f64 = 1e-3;
        let Task { term, model, scale } = task;
        let Self { kept, memory, scratch, gradient, .. } = self;
        model.prepare(term.example, |template| kept[template], memory);
        let scores = model.score(term.example, scale, memory);
        let value = scores.evaluate(term, scratch, gradient)?;
        model.accumulate(memory, gradient, NEGLIGIBLE, add);
        Ok(value)
    }
}

impl<S: Scorer> OptimizerRun<S> for Gradient<S> {
    fn pass(&mut self, corpus: &Corpus<'_>, model: &mut S) -> Result<Report, Error> {
        let mut loss = 0.0;
        for batch in self.order.shuffled(corpus.examples.len()).chunks(self.batch) {
            for at_once in batch.chunks(self.threads) {
                self.add_gradients(corpus, at_once, model, &mut loss)?;
            }
            self.descend(model, batch.len());
        }
        if let StepRule::Sgd(sgd) = &mut self.step {
            sgd.settle(model.weights_mut());
        }
        self.average.add(model.weights());
        self.passes_done += 1;
        Ok(Report { loss, ..Report::default() })
    }

    fn weights_to_keep(&self, _: &S) -> Option<Vec<f32>> {
        self.average.mean()
    }
}

impl<S: Scorer> Checkpointed for Gradient<S> {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        self.step.checkpoint(codec)?;
        self.average.checkpoint(codec)?;
        self.order.checkpoint(codec)?;
        codec.value(&mut self.passes_done)?;
        if self.passes_done > self.passes {
            let Self { passes_done, passes, .. } = self;
            return Err(invalid(format!("{passes_done} passes of a training of {passes}")));
        }
        Ok(())
    }
}
