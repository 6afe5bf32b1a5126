//! Stochastic gradients: an objective made small by steps after each sentence or few (Robbins &
//! Monro 1951; for trees Smith & Smith 2007).
//!
//! ```text
//! g = Σ_{h→m} ∂ objective / ∂θ(h → m) · f(x, h, m)        w ← step(w, g)
//! ```
//!
//! The gradients of a batch are computed with the same weights, by several threads if there are, and
//! summed in order. O(n² F + n³) a sentence, for F features an arc. Arcs may be of several kinds, each with weights of its own
//! ([latent clusters](crate::signal::latent)); mostly there is one.

use tutte_trees::{ArcMatrix, Error as TreesError, TreeSet};

use super::sgd::Sgd;
use super::sparse::SparseSum;
use super::{AdaGrad, Learn, Order, Report, Schedule, draw_templates, join};
use crate::features::Prepared;
use crate::signal::{Objective, Scored, Scratch, arcs, latent};
use crate::train::{Average, Corpus, Example};
use crate::{ArcModel, Error};

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

/// A learner that follows gradients.
#[derive(Debug)]
pub(crate) struct Gradient {
    objective: Objective,
    /// For each kind of arcs.
    kinds: Vec<Kind>,
    dropout: f64,
    batch: usize,
    passes: usize,
    /// Passes done.
    done: usize,
    order: Order,
    threads: usize,
    /// For each sentence of a batch that is computed at the same time.
    workers: Vec<Worker>,
}

/// Computes the gradient of a sentence.
#[derive(Debug, Default)]
struct Worker {
    /// The templates not left out.
    kept: Vec<bool>,
    prepared: Prepared,
    scratch: Scratch,
    gradient: ArcMatrix,
    /// The gradient by weights, if it has to wait to be added: kind, cell and amount.
    found: Vec<(u32, u32, f32)>,
}

/// What moves the weights of one kind of arcs.
#[derive(Debug)]
struct Kind {
    step: Step,
    average: Average,
    sum: SparseSum,
}

impl Kind {
    /// Moves weights by the gradients of a batch.
    fn descend(&mut self, weights: &mut [f32], sentences: usize) {
        match &mut self.step {
            Step::AdaGrad(step) => {
                self.sum.drain(|cell, amount| step.descend(&mut weights[cell], cell, amount));
            }
            Step::Sgd(sgd) => {
                let factor = sgd.step(sentences);
                self.sum.drain(|cell, amount| {
                    weights[cell] += (factor * f64::from(amount)) as f32;
                });
            }
        }
    }

    /// After a pass.
    fn settle(&mut self, weights: &mut [f32]) {
        if let Step::Sgd(sgd) = &mut self.step {
            sgd.settle(weights);
        }
        self.average.add(weights);
    }
}

impl Gradient {
    /// With a step for each kind of arcs, and the cells of its table.
    pub(super) fn new(
        objective: Objective,
        steps: Vec<(Step, usize)>,
        dropout: f64,
        batch: usize,
        schedule: Schedule,
    ) -> Self {
        let kind = |(step, cells)| Kind {
            step,
            average: Average::of_second_half(schedule.passes),
            sum: SparseSum::new(cells),
        };
        Self {
            objective,
            kinds: steps.into_iter().map(kind).collect(),
            dropout,
            batch,
            passes: schedule.passes,
            done: 0,
            order: Order::new(schedule.seed, 0),
            threads: schedule.threads,
            workers: Vec::new(),
        }
    }

    /// Goes once through the corpus and moves the weights of all kinds.
    pub(crate) fn pass_over(
        &mut self,
        corpus: &Corpus<'_>,
        models: &mut [ArcModel],
    ) -> Result<Report, Error> {
        let mut loss = 0.0;
        for batch in self.order.shuffled(corpus.examples.len()).chunks(self.batch) {
            for at_once in batch.chunks(self.threads) {
                self.add(corpus, at_once, models, &mut loss)?;
            }
            for (kind, model) in self.kinds.iter_mut().zip(&mut *models) {
                kind.descend(&mut model.weights, batch.len());
            }
        }
        for (kind, model) in self.kinds.iter_mut().zip(models) {
            kind.settle(&mut model.weights);
        }
        self.done += 1;
        Ok(Report { loss, ..Report::default() })
    }

    /// The mean weights of a kind, if there are any yet.
    pub(crate) fn mean(&self, kind: usize) -> Option<Vec<f32>> {
        self.kinds.get(kind).and_then(|kind| kind.average.mean())
    }

    /// Adds the gradients of a few sentences, computed at the same time, to the sums, and the value
    /// of the objective to `loss`.
    fn add(
        &mut self,
        corpus: &Corpus<'_>,
        batch: &[usize],
        models: &[ArcModel],
        loss: &mut f64,
    ) -> Result<(), Error> {
        let Some(templates) = models.first().map(|model| model.features.templates().len()) else {
            return Ok(());
        };
        self.workers.resize_with(self.workers.len().max(batch.len()), Worker::default);
        let progress = self.done as f64 / self.passes.saturating_sub(1).max(1) as f64;
        let Self { objective, kinds, dropout, order, workers, .. } = self;
        let workers = &mut workers[..batch.len()];
        let mut scale = 1.0;
        for worker in &mut *workers {
            scale = draw_templates(order.rng(), templates, *dropout, &mut worker.kept);
        }
        // The factor that dropout puts before the gradient is left to the rate.
        let scales: Vec<f64> = kinds.iter().map(|kind| scale * kind.step.scale()).collect();
        let sentence = |at: usize| Sentence {
            objective,
            progress,
            tree_set: corpus.tree_set,
            example: &corpus.examples[at],
            models,
            scales: &scales,
        };
        let diverged = |at: usize, error| corpus.diverged(&corpus.examples[at], error);
        if let ([worker], &[at]) = (&mut *workers, batch) {
            let add = |kind: usize, cell, amount| kinds[kind].sum.add(cell, amount);
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
        for &(kind, cell, amount) in workers.iter().flat_map(|worker| &worker.found) {
            kinds[kind as usize].sum.add(cell as usize, amount);
        }
        Ok(())
    }
}

/// What a worker needs to know.
struct Sentence<'a> {
    objective: &'a Objective,
    progress: f64,
    tree_set: TreeSet,
    example: &'a Example,
    models: &'a [ArcModel],
    /// What the weights of each kind are to be multiplied with.
    scales: &'a [f64],
}

impl Worker {
    /// The value of the objective for a sentence; its gradient by weights is kept.
    fn run_and_keep(&mut self, sentence: Sentence<'_>) -> Result<f64, TreesError> {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let value = self.run(sentence, |kind, cell, amount| {
            found.push((kind as u32, cell as u32, amount));
        });
        self.found = found;
        value
    }

    /// The value of the objective for a sentence; its gradient by weights is added by
    /// `add(kind, cell, amount)`.
    fn run(
        &mut self,
        sentence: Sentence<'_>,
        mut add: impl FnMut(usize, usize, f32),
    ) -> Result<f64, TreesError> {
        /// Below this, an arc's part in the gradient does not matter.
        const NEGLIGIBLE: f64 = 1e-3;
        let Sentence { objective, progress, tree_set, example, models, scales } = sentence;
        let Self { kept, prepared, scratch, gradient, .. } = self;
        let words = example.gold.len();
        let mut by_kind = Vec::with_capacity(models.len());
        for (model, scale) in models.iter().zip(scales) {
            if by_kind.is_empty() {
                prepared.fill(&model.features, &example.arcs, |template| kept[template]);
            }
            let mut scores = ArcMatrix::zeros(words);
            model.score(prepared, |h, m| example.candidates.allows(h, m), &mut scores);
            for arc in arcs(words) {
                scores[arc] *= scale;
            }
            by_kind.push(scores);
        }
        let summed = match &by_kind[..] {
            [_] => None,
            kinds => Some(latent::summed(kinds)),
        };
        let scores = summed.as_ref().unwrap_or(&by_kind[0]);
        let scored = Scored { scores, gold: &example.gold, tree_set };
        let value = objective.evaluate(scored, progress, scratch, gradient)?;
        for (kind, (model, mut scores)) in models.iter().zip(by_kind).enumerate() {
            let gradient = match &summed {
                None => &*gradient,
                Some(summed) => {
                    latent::split(gradient, summed, &mut scores);
                    &scores
                }
            };
            model.accumulate(prepared, gradient, NEGLIGIBLE, |cell, amount| {
                add(kind, cell, amount);
            });
        }
        Ok(value)
    }
}

impl Learn for Gradient {
    fn pass(&mut self, corpus: &Corpus<'_>, arcs: &mut ArcModel) -> Result<Report, Error> {
        self.pass_over(corpus, std::slice::from_mut(arcs))
    }

    fn learnt(&self, _: &ArcModel) -> Option<Vec<f32>> {
        self.mean(0)
    }
}
