//! Reports of passes to the observer of a training.

use tutte_linear::Observer;

use super::Corpus;
use crate::ParserModel;
use crate::learn::annealing::AnnealedStage;
use crate::learn::optimizer::Report;

/// Report of a pass over the treebank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Number of the pass, from 1.
    pub number: usize,
    /// `true` in the second pass of parsing, where numbers start at 1 again.
    pub is_second: bool,
    /// Loss per word of the treebank, measured during the pass while weights moved. For perceptron,
    /// passive-aggressive and MIRA it is the number of wrong heads (for joint models, of wrong heads or
    /// labels). For the others it is the value of the objective: with its prior for L-BFGS, and its dual bound
    /// for exponentiated gradient.
    pub loss: f64,
    /// Duality gap per word: an upper bound of the distance from the loss to its minimum. Only exponentiated
    /// gradient reports it, on request.
    pub gap: Option<f64>,
    /// `true` if the optimizer of arcs has converged. It skips the passes that are left.
    pub converged: bool,
    /// The stage of annealing that has ended, if the training has such stages.
    pub stage: Option<AnnealedStage>,
}

impl Pass {
    /// Makes the report of an epoch of a network.
    #[cfg(feature = "neural")]
    pub(crate) fn epoch(number: usize, loss: f64) -> Self {
        Self { number, is_second: false, loss, gap: None, converged: false, stage: None }
    }

    pub(super) fn new(
        number: usize,
        report: Report,
        model: &ParserModel,
        corpus: &Corpus<'_>,
    ) -> Self {
        let words = corpus.words as f64;
        Self {
            number,
            is_second: model.second_pass.is_some(),
            loss: report.loss / words,
            gap: report.gap.map(|gap| gap / words),
            converged: report.converged,
            stage: None,
        }
    }

    pub(super) fn with_stage(self, stage: AnnealedStage) -> Self {
        Self { stage: Some(stage), ..self }
    }
}

/// The end of a pass: its report and its model.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TrainedPass<'a> {
    /// The report.
    pub pass: Pass,
    /// The model after the pass.
    pub model: &'a ParserModel,
}

/// Observer of a parser's training.
pub type PassObserver<'o> = dyn for<'a> Observer<TrainedPass<'a>> + 'o;
