//! Joint training of arcs and labels, see [`Labelling::Joint`](crate::Labelling).

use std::io;

use tutte_linear::{Checkpointed, Codec};

use super::staged::check_average;
use super::{Corpus, Pass, TrainingSession};
use crate::learn::optimizer::{Joint, Optimizer, OptimizerRun, Report, Schedule, Scorer};
use crate::{Error, ParserModel};

/// Trains the last pass of a model and its labels together.
pub(super) fn fit(
    mut trained: ParserModel,
    corpus: &Corpus<'_>,
    optimizer: &Optimizer,
    schedule: Schedule,
    session: &mut TrainingSession<'_>,
) -> Result<ParserModel, Error> {
    let factors = trained.second_pass.as_ref().and_then(|second_pass| second_pass.factors.clone());
    let factors = factors.map(|factors| (factors, trained.tree_set));
    let mut joint =
        Joint { arcs: trained.last_pass().clone(), labels: trained.labels.clone(), factors };
    let optimizer = optimizer.start(corpus, &mut joint, schedule)?;
    let mut trainer = JointTrainer { joint, optimizer, report: Report::default() };
    let done = session.resume(&mut trainer)?;
    if done > 0 {
        trainer.copy_weights_to(&mut trained);
    }
    for number in done + 1..=schedule.passes {
        if trainer.report.converged {
            break;
        }
        trainer.report = trainer.optimizer.pass(corpus, &mut trainer.joint)?;
        trainer.copy_weights_to(&mut trained);
        let pass = Pass::new(number, trainer.report, &trained, corpus);
        if session.end_pass(pass, number == schedule.passes, &mut trained, &mut trainer)? {
            break;
        }
    }
    Ok(trained)
}

/// Arcs and labels that are being learnt together.
struct JointTrainer {
    joint: Joint,
    optimizer: Box<dyn OptimizerRun<Joint>>,
    /// Report of the last pass.
    report: Report,
}

impl JointTrainer {
    /// Copies the weights to keep, averaged if the optimizer does so.
    fn copy_weights_to(&self, trained: &mut ParserModel) {
        let Joint { arcs, labels, factors } = &self.joint;
        let trained_factors =
            trained.second_pass.as_mut().and_then(|second_pass| second_pass.factors.as_mut());
        match self.optimizer.weights_to_keep(&self.joint) {
            Some(mut weights) => {
                let of_factors = weights.split_off(arcs.weights.len() + labels.weights.len());
                if let Some(factors) = trained_factors {
                    factors.weights = of_factors;
                }
                trained.labels.weights = weights.split_off(arcs.weights.len());
                trained.last_pass().weights = weights;
            }
            None => {
                if let (Some(trained), Some((factors, _))) = (trained_factors, factors) {
                    trained.weights.copy_from_slice(&factors.weights);
                }
                trained.labels.weights.copy_from_slice(&labels.weights);
                trained.last_pass().weights.copy_from_slice(&arcs.weights);
            }
        }
    }
}

impl Checkpointed for JointTrainer {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        codec.table(&mut self.joint.arcs.weights)?;
        codec.table(&mut self.joint.labels.weights)?;
        self.joint
            .factors
            .iter_mut()
            .try_for_each(|(factors, _)| codec.table(&mut factors.weights))?;
        self.optimizer.checkpoint(codec)?;
        self.report.checkpoint(codec)?;
        if let Codec::Read(_) = codec {
            let weights = self.joint.cells();
            check_average(self.optimizer.weights_to_keep(&self.joint), weights)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
