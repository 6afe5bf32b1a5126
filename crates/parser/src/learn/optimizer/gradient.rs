//! Stochastic gradients: an objective made small by steps after each sentence or few (Robbins &
//! Monro 1951; for trees Smith & Smith 2007).
//!
//! ```text
//! g = Σ_{h→m} ∂ objective / ∂θ(h → m) · f(x, h, m)        w ← step(w, g)
//! ```
//!
//! The gradients of a batch are computed with the same weights, by several threads if there are, and
//! summed in order. O(n² F + n³) a sentence, for F features an arc. What is scored may be arcs, arcs
//! with labels, or arcs of [latent kinds](crate::model::latent).

use std::io;

use tutte_linear::{AdaGrad, Average, Checkpointed, Codec, Order, SparseSum, draw_templates, join};
use tutte_trees::{Error as TreesError, TreeSet};

use super::scorer::{Differentiable, Scorer};
use super::sgd::Sgd;
use super::{Learn, Report, Schedule};
use crate::Error;
use crate::learn::objective::{Objective, Scratch};
use crate::learn::train::{Corpus, Example};

/// How weights follow a gradient.
#[derive(Clone, Debug)]
pub(super) enum Step {
    AdaGrad(AdaGrad),
    Sgd(Sgd),
}

impl Step {
    /// What the weights of the table are to be multiplied with.
    fn scale(&self) -> f64 {
        match self {
            Step::AdaGrad(_) => 1.0,
            Step::Sgd(sgd) => sgd.scale(),
        }
    }
}

impl Checkpointed for Step {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        match self {
            Step::AdaGrad(adagrad) => adagrad.checkpoint(codec),
            Step::Sgd(sgd) => sgd.checkpoint(codec),
        }
    }
}

/// A learner that follows gradients.
#[derive(Debug)]
pub(crate) struct Gradient<S: Scorer> {
    objective: Objective,
    step: Step,
    average: Average,
    sum: SparseSum,
    dropout: f64,
    batch: usize,
    passes: usize,
    /// Passes done.
    done: usize,
    order: Order,
    threads: usize,
    /// For each sentence of a batch that is computed at the same time.
    workers: Vec<Worker<S>>,
}

/// Computes the gradient of a sentence.
#[derive(Debug)]
struct Worker<S: Scorer> {
    /// The templates not left out.
    kept: Vec<bool>,
    memory: S::Memory,
    scratch: Scratch,
    gradient: S::Scores,
    /// The gradient by weights, if it has to wait to be added: cell and amount.
    found: Vec<(u32, f32)>,
}

impl<S: Scorer> Default for Worker<S> {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            memory: S::Memory::default(),
            scratch: Scratch::default(),
            gradient: S::Scores::default(),
            found: Vec::new(),
        }
    }
}

impl<S: Scorer> Gradient<S> {
    /// With a step for the table of a model.
    pub(super) fn new(
        objective: Objective,
        step: Step,
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
            done: 0,
            order: Order::new(schedule.seed, 0),
            threads: schedule.threads,
            workers: Vec::new(),
        }
    }

    /// Adds the gradients of a few sentences, computed at the same time, to the sum, and the value
    /// of the objective to `loss`.
    fn add(
        &mut self,
        corpus: &Corpus<'_>,
        batch: &[usize],
        model: &S,
        loss: &mut f64,
    ) -> Result<(), Error> {
        self.workers.resize_with(self.workers.len().max(batch.len()), Worker::default);
        let progress = self.done as f64 / self.passes.saturating_sub(1).max(1) as f64;
        let Self { objective, step, sum, dropout, order, workers, .. } = self;
        let workers = &mut workers[..batch.len()];
        let mut scale = 1.0;
        for worker in &mut *workers {
            scale = draw_templates(order.stream(), model.templates(), *dropout, &mut worker.kept);
        }
        // The factor that dropout puts before the gradient is left to the rate.
        let scale = scale * step.scale();
        let (objective, tree_set) = (&*objective, corpus.tree_set);
        let sentence = |at: usize| {
            let example = &corpus.examples[at];
            Sentence { objective, progress, tree_set, example, model, scale }
        };
        let diverged = |at: usize, error| corpus.diverged(&corpus.examples[at], error);
        if let ([worker], &[at]) = (&mut *workers, batch) {
            let add = |cell, amount| sum.add(cell, amount);
            *loss += worker.run(sentence(at), add).map_err(|error| diverged(at, error))?;
            return Ok(());
        }
        let values: Vec<Result<f64, TreesError>> = std::thread::scope(|scope| {
            let work = workers.iter_mut().zip(batch);
            let threads: Vec<_> = work
                .map(|(worker, &at)| (worker, sentence(at)))
                .map(|(worker, sentence)| scope.spawn(move || worker.run_and_keep(sentence)))
                .collect();
            threads.into_iter().map(join).collect()
        });
        for (value, &at) in values.into_iter().zip(batch) {
            *loss += value.map_err(|error| diverged(at, error))?;
        }
        for &(cell, amount) in workers.iter().flat_map(|worker| &worker.found) {
            sum.add(cell as usize, amount);
        }
        Ok(())
    }

    /// Moves weights by the gradients of a batch.
    fn descend(&mut self, model: &mut S, sentences: usize) {
        let Self { step, sum, .. } = self;
        match step {
            Step::AdaGrad(step) => {
                sum.drain(|cell, amount| step.descend(model.weight_mut(cell), cell, amount));
            }
            Step::Sgd(sgd) => {
                let factor = sgd.step(sentences);
                sum.drain(|cell, amount| {
                    *model.weight_mut(cell) += (factor * f64::from(amount)) as f32;
                });
            }
        }
    }
}

/// What a worker needs to know.
struct Sentence<'a, S> {
    objective: &'a Objective,
    progress: f64,
    tree_set: TreeSet,
    example: &'a Example,
    model: &'a S,
    /// What weights are to be multiplied with.
    scale: f64,
}

impl<S: Scorer> Worker<S> {
    /// The value of the objective for a sentence; its gradient by weights is kept.
    fn run_and_keep(&mut self, sentence: Sentence<'_, S>) -> Result<f64, TreesError> {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let value = self.run(sentence, |cell, amount| found.push((cell as u32, amount)));
        self.found = found;
        value
    }

    /// The value of the objective for a sentence; its gradient by weights is added by
    /// `add(cell, amount)`.
    fn run(
        &mut self,
        sentence: Sentence<'_, S>,
        add: impl FnMut(usize, f32),
    ) -> Result<f64, TreesError> {
        /// Below this, an arc's part in the gradient does not matter.
        const NEGLIGIBLE: f64 = 1e-3;
        let Sentence { objective, progress, tree_set, example, model, scale } = sentence;
        let Self { kept, memory, scratch, gradient, .. } = self;
        model.prepare(example, |template| kept[template], memory);
        let mut scores = model.score(example, memory);
        scores.scale(scale);
        let value = scores.evaluate(objective, example, tree_set, progress, scratch, gradient)?;
        model.accumulate(memory, gradient, NEGLIGIBLE, add);
        Ok(value)
    }
}

impl<S: Scorer> Learn<S> for Gradient<S> {
    fn pass(&mut self, corpus: &Corpus<'_>, model: &mut S) -> Result<Report, Error> {
        let mut loss = 0.0;
        for batch in self.order.shuffled(corpus.examples.len()).chunks(self.batch) {
            for at_once in batch.chunks(self.threads) {
                self.add(corpus, at_once, model, &mut loss)?;
            }
            self.descend(model, batch.len());
        }
        if let Step::Sgd(sgd) = &mut self.step {
            sgd.settle(model.weights_mut());
        }
        self.average.add(model.weights());
        self.done += 1;
        Ok(Report { loss, ..Report::default() })
    }

    fn learnt(&self, _: &S) -> Option<Vec<f32>> {
        self.average.mean()
    }
}

impl<S: Scorer> Checkpointed for Gradient<S> {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        self.step.checkpoint(codec)?;
        self.average.checkpoint(codec)?;
        self.order.checkpoint(codec)?;
        codec.value(&mut self.done)
    }
}
