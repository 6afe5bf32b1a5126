//! Training arcs and labels together; what that is, see [`Labelling::Joint`](crate::Labelling).

use super::{Corpus, Pass};
use crate::learner::{Joint, Learner, Schedule};
use crate::{Error, Model};

/// Trains the last pass of a model and its labels together; `watch` says whether to stop.
pub(super) fn fit(
    mut learnt: Model,
    corpus: &Corpus<'_>,
    learner: &Learner,
    schedule: Schedule,
    watch: &mut dyn FnMut(Pass, &Model) -> bool,
) -> Result<Model, Error> {
    let mut joint = Joint { arcs: learnt.last_pass().clone(), labels: learnt.labels.clone() };
    let mut learner = learner.start(corpus, &mut joint, schedule)?;
    for number in 1..=schedule.passes {
        let report = learner.pass(corpus, &mut joint)?;
        match learner.learnt(&joint) {
            Some(mut weights) => {
                learnt.labels.weights = weights.split_off(joint.arcs.weights.len());
                learnt.last_pass().weights = weights;
            }
            None => {
                learnt.labels.weights.copy_from_slice(&joint.labels.weights);
                learnt.last_pass().weights.copy_from_slice(&joint.arcs.weights);
            }
        }
        let pass = Pass::new(number, report, &learnt, corpus);
        if watch(pass, &learnt) || report.converged {
            break;
        }
    }
    Ok(learnt)
}

#[cfg(test)]
mod tests;
