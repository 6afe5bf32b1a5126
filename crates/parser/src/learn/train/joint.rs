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
    let mut joint = scorer(&mut trained);
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

/// Returns the last pass of a model with its labels and factors, to be trained.
pub(super) fn scorer(model: &mut ParserModel) -> Joint {
    let factors = model.second_pass.as_ref().and_then(|second_pass| second_pass.factors.clone());
    let factors = factors.map(|factors| (factors, model.tree_set));
    Joint { arcs: model.last_pass().clone(), labels: model.labels.clone(), factors }
}

/// Copies weights into the model that they belong to: `kept`, or those of the scorer.
pub(super) fn copy_weights(joint: &Joint, kept: Option<Vec<f32>>, model: &mut ParserModel) {
    let Joint { arcs, labels, factors } = joint;
    let of_model = model.second_pass.as_mut().and_then(|second_pass| second_pass.factors.as_mut());
    match kept {
        Some(mut weights) => {
            let of_factors = weights.split_off(arcs.weights.len() + labels.weights.len());
            if let Some(of_model) = of_model {
                of_model.weights = of_factors;
            }
            model.labels.weights = weights.split_off(arcs.weights.len());
            model.last_pass().weights = weights;
        }
        None => {
            if let (Some(of_model), Some((factors, _))) = (of_model, factors) {
                of_model.weights.copy_from_slice(&factors.weights);
            }
            model.labels.weights.copy_from_slice(&labels.weights);
            model.last_pass().weights.copy_from_slice(&arcs.weights);
        }
    }
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
        copy_weights(&self.joint, self.optimizer.weights_to_keep(&self.joint), trained);
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
