//! Progress of a parser's training, and an estimate of the time left.

use std::time::Duration;

use super::observer::{Stage, Work};
use crate::learn::train::{CheckpointPlace, TrainingOptions};

/// The work of a training, in units of a pass over the treebank, and how much of it is done.
#[derive(Debug)]
pub(super) struct Plan {
    /// Costs of training the first pass of parsing, of parsing for the second, and of training the second.
    first: f64,
    first_pass_outputs: f64,
    second: f64,
    /// Number of words of the treebank.
    words: usize,
    /// Number of passes over the treebank that have ended.
    pub(super) passes: usize,
    /// Work that is done, and the time it took.
    done: f64,
    took: Duration,
    /// Work that was done before the training resumed.
    before: f64,
    stage: Stage,
}

impl Plan {
    pub(super) fn new(
        options: &TrainingOptions,
        versions: usize,
        words: usize,
        resumed: Option<CheckpointPlace>,
    ) -> Self {
        let passes = options.last_passes() as f64;
        let (first_pass_outputs, second) = options.second_pass.as_ref().map_or((0.0, 0.0), |it| {
            let folds = it.folds as f64;
            let at_once = (options.threads as f64).clamp(1.0, folds);
            let rounds = (folds / at_once).ceil();
            // A fold sees one version of each sentence.
            let pass = (folds - 1.0) / folds / versions as f64;
            // Without development data, the second pass is first trained on four fifths of the treebank.
            let probe = if it.temperature.is_none() { 0.8 * passes } else { 0.0 };
            (rounds * pass * it.fold_passes as f64 + probe, passes)
        });
        let stage = if options.pruning.is_some() { Stage::Pruner } else { Stage::Preparing };
        let mut plan = Self {
            first: if options.second_pass.is_some() {
                options.first_passes() as f64
            } else {
                passes
            },
            first_pass_outputs,
            second,
            words,
            passes: 0,
            done: 0.0,
            took: Duration::ZERO,
            before: 0.0,
            stage,
        };
        if let Some(CheckpointPlace { passes, number, is_second }) = resumed {
            plan.end_pass(number, is_second, Duration::ZERO);
            plan.before = plan.done;
            plan.passes = passes;
        }
        plan
    }

    /// Records the end of a pass.
    pub(super) fn end_pass(&mut self, number: usize, is_second: bool, took: Duration) {
        let before = if is_second { self.first + self.first_pass_outputs } else { 0.0 };
        self.done = before + number as f64;
        self.took = took;
        self.passes += 1;
        let of = if is_second { self.second } else { self.first };
        let is_last = number as f64 >= of;
        let pass = number + 1;
        let of = of as usize;
        self.stage = match (is_second, is_last) {
            (false, true) if self.first_pass_outputs > 0.0 => Stage::FirstPassOutputs,
            (_, true) => Stage::Finishing,
            (false, false) => Stage::FirstPass { pass, of },
            (true, false) => Stage::SecondPass { pass, of },
        };
    }

    /// Returns the progress of the training.
    pub(super) fn work(&self, elapsed: Duration, limit: Option<Duration>) -> Work {
        let done = (self.done - self.before).max(0.0);
        let all = self.first + self.first_pass_outputs + self.second - self.before;
        let whole = if done > 0.0 { self.took.mul_f64(all / done) } else { Duration::ZERO };
        let whole = limit.map_or(whole, |limit| limit.min(whole));
        Work {
            stage: self.stage,
            elapsed,
            words: done * self.words as f64,
            took: self.took,
            left: whole.saturating_sub(elapsed),
            is_stopping: false,
        }
    }
}
