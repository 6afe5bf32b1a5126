//! Staged training: any optimizer for arcs, and labels of gold arcs learnt separately.

use std::io;

use tutte_linear::{Checkpointed, Codec, invalid};

use super::labels::LabelTrainer;
use super::{Corpus, Pass, TrainingOptions, TrainingSession};
use crate::learn::optimizer::{OptimizerRun, Report, Schedule};
use crate::{Error, Labelling, ParserModel};

/// Trains the last pass of a model and its labels.
pub(super) fn fit(
    mut model: ParserModel,
    corpus: &Corpus<'_>,
    options: &TrainingOptions,
    schedule: Schedule,
    session: &mut TrainingSession<'_>,
) -> Result<ParserModel, Error> {
    let arcs = options.optimizer.start_arcs(corpus, model.last_pass(), schedule)?;
    let label_passes = match model.labels.labelling() {
        Labelling::None => 0,
        _ => options.labels.passes.unwrap_or(options.passes),
    };
    let labels = LabelTrainer::new(&model.labels, &options.labels, label_passes, options.seed);
    let mut trained = model.clone();
    let mut trainer = StagedTrainer { model, arcs, labels, report: Report::default() };
    let done = session.resume(&mut trainer)?;
    if done > 0 {
        trainer.copy_weights_to(&mut trained);
    }
    let passes = options.passes.max(label_passes);
    for number in done + 1..=passes {
        let StagedTrainer { model, arcs, labels, report } = &mut trainer;
        let should_train_arcs = number <= options.passes && !report.converged;
        let should_train_labels = number <= label_passes;
        if !should_train_arcs && !should_train_labels {
            break;
        }
        let ParserModel { arcs: first, second_pass, labels: label_model, .. } = model;
        let arc_model = second_pass.as_mut().map_or(first, |second_pass| &mut second_pass.arcs);
        let label_pass = || {
            if should_train_labels {
                labels.pass(corpus, label_model);
            }
        };
        let arc_pass =
            || if should_train_arcs { arcs.pass(corpus, arc_model) } else { Ok(*report) };
        *report = run_both(schedule.threads > 1, label_pass, arc_pass)?;
        let pass = Pass::new(number, *report, model, corpus);
        trainer.copy_weights_to(&mut trained);
        if session.end_pass(pass, number == passes, &mut trained, &mut trainer)? {
            break;
        }
    }
    Ok(trained)
}

/// A pass of parsing that is being learnt, its labels separately from its arcs.
struct StagedTrainer {
    /// Model with the current weights, which optimizers may average.
    model: ParserModel,
    arcs: Box<dyn OptimizerRun>,
    labels: LabelTrainer,
    /// Report of the last pass.
    report: Report,
}

impl StagedTrainer {
    /// Copies the weights to keep, averaged if the optimizer does so.
    fn copy_weights_to(&mut self, trained: &mut ParserModel) {
        let Self { model, arcs, labels, .. } = self;
        copy_weights(&mut trained.labels.weights, labels.averaged(), &model.labels.weights);
        let current = model.last_pass();
        copy_weights(
            &mut trained.last_pass().weights,
            arcs.weights_to_keep(current),
            &current.weights,
        );
    }
}

impl Checkpointed for StagedTrainer {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        codec.table(&mut self.model.last_pass().weights)?;
        codec.table(&mut self.model.labels.weights)?;
        self.arcs.checkpoint(codec)?;
        self.labels.checkpoint(codec)?;
        self.report.checkpoint(codec)?;
        if let Codec::Read(_) = codec {
            let current = self.model.last_pass();
            check_average(self.arcs.weights_to_keep(current), current.weights.len())?;
            check_average(self.labels.averaged(), self.model.labels.weights.len())?;
        }
        Ok(())
    }
}

/// Refuses averaged weights of another model.
pub(super) fn check_average(averaged: Option<Vec<f32>>, weights: usize) -> io::Result<()> {
    match averaged {
        Some(averaged) if averaged.len() != weights => {
            let found = averaged.len();
            Err(invalid(format!("averages of {found} weights, expected {weights}")))
        }
        _ => Ok(()),
    }
}

/// Runs two closures, on two threads if `at_once`. Returns the result of the second.
fn run_both<T>(at_once: bool, first: impl FnOnce() + Send, second: impl FnOnce() -> T) -> T {
    if !at_once {
        first();
        return second();
    }
    std::thread::scope(|scope| {
        scope.spawn(first);
        second()
    })
}

/// Replaces weights by averaged ones, or else by the current ones.
fn copy_weights(weights: &mut Vec<f32>, averaged: Option<Vec<f32>>, current: &[f32]) {
    match averaged {
        Some(averaged) => *weights = averaged,
        None => weights.copy_from_slice(current),
    }
}
