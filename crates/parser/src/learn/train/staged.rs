//! Training arcs by any learner, and labels of gold arcs beside them.

use std::io;

use tutte_linear::{Checkpointed, Codec};

use super::labels::LabelTrainer;
use super::{Corpus, Pass, TrainingOptions, TrainingSession};
use crate::learn::optimizer::{Learn, Report, Schedule};
use crate::{Error, Labelling, ParserModel};

/// Trains the last pass of a model, and its labels.
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
    let mut learnt = model.clone();
    let mut work = Staged { model, arcs, labels, report: Report::default() };
    let done = session.resume(&mut work)?;
    if done > 0 {
        work.hand_over(&mut learnt);
    }
    let passes = options.passes.max(label_passes);
    for number in done + 1..=passes {
        let Staged { model, arcs, labels, report } = &mut work;
        let arcs_go_on = number <= options.passes && !report.converged;
        let labels_go_on = number <= label_passes;
        if !arcs_go_on && !labels_go_on {
            break;
        }
        let ParserModel { arcs: first, second_pass, labels: label_model, .. } = model;
        let arc_model = second_pass.as_mut().map_or(first, |second_pass| &mut second_pass.arcs);
        let label_pass = || {
            if labels_go_on {
                labels.pass(corpus, label_model);
            }
        };
        let arc_pass = || match arcs_go_on {
            true => arcs.pass(corpus, arc_model),
            false => Ok(*report),
        };
        *report = beside(schedule.threads > 1, label_pass, arc_pass)?;
        let pass = Pass::new(number, *report, model, corpus);
        work.hand_over(&mut learnt);
        if session.after(pass, number == passes, &mut learnt, &mut work)? {
            break;
        }
    }
    Ok(learnt)
}

/// A pass of parsing that is being learnt, with labels beside arcs.
struct Staged {
    /// With weights as they are moved.
    model: ParserModel,
    arcs: Box<dyn Learn>,
    labels: LabelTrainer,
    /// Of the last pass.
    report: Report,
}

impl Staged {
    /// The weights to keep.
    fn hand_over(&mut self, learnt: &mut ParserModel) {
        let Self { model, arcs, labels, .. } = self;
        take(&mut learnt.labels.weights, labels.learnt(), &model.labels.weights);
        let moved = model.last_pass();
        take(&mut learnt.last_pass().weights, arcs.learnt(moved), &moved.weights);
    }
}

impl Checkpointed for Staged {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        codec.table(&mut self.model.last_pass().weights)?;
        codec.table(&mut self.model.labels.weights)?;
        self.arcs.checkpoint(codec)?;
        self.labels.checkpoint(codec)?;
        self.report.checkpoint(codec)
    }
}

/// Does two things, if it may both at once.
fn beside<T>(at_once: bool, first: impl FnOnce() + Send, second: impl FnOnce() -> T) -> T {
    if !at_once {
        first();
        return second();
    }
    std::thread::scope(|scope| {
        scope.spawn(first);
        second()
    })
}

/// What was learnt, or the weights as they are.
fn take(weights: &mut Vec<f32>, learnt: Option<Vec<f32>>, current: &[f32]) {
    match learnt {
        Some(learnt) => *weights = learnt,
        None => weights.copy_from_slice(current),
    }
}
