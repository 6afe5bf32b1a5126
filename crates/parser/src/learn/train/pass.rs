//! What a watcher of training sees, and what it may answer.

use std::ops::ControlFlow;

use super::Corpus;
use crate::ParserModel;
use crate::learn::optimizer::Report;

/// What a pass was like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Its number, from 1.
    pub number: usize,
    /// Whether it was one of the second pass of parsing, whose numbers start anew.
    pub second: bool,
    /// What the learner makes small, as it was met during the pass while weights moved, for each
    /// word of the treebank: wrong heads (of joint models, heads or labels) for perceptron, passive-aggressive and MIRA, the value of
    /// the objective for the others (with its prior, for L-BFGS; for exponentiated gradient, the
    /// dual bound of that value).
    pub loss: f64,
    /// Of exponentiated gradient, if it was asked for: how far the loss may be above its least
    /// possible value, for each word.
    pub gap: Option<f64>,
    /// Whether the learner of arcs has nothing more to do, however many passes are left.
    pub converged: bool,
}

impl Pass {
    pub(super) fn new(
        number: usize,
        report: Report,
        model: &ParserModel,
        corpus: &Corpus<'_>,
    ) -> Self {
        let words = corpus.words as f64;
        Self {
            number,
            second: model.second_pass.is_some(),
            loss: report.loss / words,
            gap: report.gap.map(|gap| gap / words),
            converged: report.converged,
        }
    }
}

/// What a watcher of training returns: nothing, to go on whatever it sees, or a [`ControlFlow`], to
/// be able to stop.
pub trait Verdict {
    /// Whether training is to end.
    fn stops(&self) -> bool;
}

impl Verdict for () {
    fn stops(&self) -> bool {
        false
    }
}

impl Verdict for ControlFlow<()> {
    fn stops(&self) -> bool {
        self.is_break()
    }
}
