//! Training arcs and labels together; what that is, see [`Labelling::Joint`](crate::Labelling).

use std::io;

use tutte_linear::{Checkpointed, Codec};

use super::{Corpus, Pass, TrainingSession};
use crate::learn::optimizer::{Joint, Learn, Optimizer, Report, Schedule};
use crate::{Error, ParserModel};

/// Trains the last pass of a model and its labels together.
pub(super) fn fit(
    mut learnt: ParserModel,
    corpus: &Corpus<'_>,
    optimizer: &Optimizer,
    schedule: Schedule,
    session: &mut TrainingSession<'_>,
) -> Result<ParserModel, Error> {
    let mut joint = Joint { arcs: learnt.last_pass().clone(), labels: learnt.labels.clone() };
    let optimizer = optimizer.start(corpus, &mut joint, schedule)?;
    let mut work = Work { joint, optimizer, report: Report::default() };
    let done = session.resume(&mut work)?;
    if done > 0 {
        work.hand_over(&mut learnt);
    }
    for number in done + 1..=schedule.passes {
        if work.report.converged {
            break;
        }
        work.report = work.optimizer.pass(corpus, &mut work.joint)?;
        work.hand_over(&mut learnt);
        let pass = Pass::new(number, work.report, &learnt, corpus);
        if session.after(pass, number == schedule.passes, &mut learnt, &mut work)? {
            break;
        }
    }
    Ok(learnt)
}

/// Arcs and labels that are being learnt.
struct Work {
    joint: Joint,
    optimizer: Box<dyn Learn<Joint>>,
    /// Of the last pass.
    report: Report,
}

impl Work {
    /// The weights to keep.
    fn hand_over(&self, learnt: &mut ParserModel) {
        let Joint { arcs, labels } = &self.joint;
        match self.optimizer.learnt(&self.joint) {
            Some(mut weights) => {
                learnt.labels.weights = weights.split_off(arcs.weights.len());
                learnt.last_pass().weights = weights;
            }
            None => {
                learnt.labels.weights.copy_from_slice(&labels.weights);
                learnt.last_pass().weights.copy_from_slice(&arcs.weights);
            }
        }
    }
}

impl Checkpointed for Work {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        codec.table(&mut self.joint.arcs.weights)?;
        codec.table(&mut self.joint.labels.weights)?;
        self.optimizer.checkpoint(codec)?;
        self.report.checkpoint(codec)
    }
}

#[cfg(test)]
mod tests;
