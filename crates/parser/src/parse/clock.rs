//! Time of each stage of parsing.
//!
//! [`Clock::lap`] at the end of a stage adds the time since the last lap to that stage. So the stages add up to the
//! total, and a stage needs one line of code where it ends. That line reads the system clock if the clock runs, and
//! costs one branch if it does not.

use std::fmt;
use std::time::{Duration, Instant};

/// A stage of parsing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Reading sentences. The caller of a parser ends this stage.
    Reading,
    /// Tagging sentences without tags. The caller of a parser ends this stage.
    Tagging,
    /// Extracting features, for all models.
    Features,
    /// Choosing candidate arcs.
    Pruning,
    /// Scores of the first pass.
    FirstPass,
    /// Marginals and tree of the first pass, if there is a second pass.
    FirstPassInference,
    /// Scores of the second pass.
    SecondPass,
    /// Scores of a network.
    Network,
    /// Factors, and the scores of arcs that they refine.
    Factors,
    /// Marginals and best tree.
    Inference,
    /// Labels of arcs, and label scores of a joint model.
    Labels,
    /// Setting heads and labels of the sentence, and writing it.
    Writing,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Self; 12] = [
        Self::Reading,
        Self::Tagging,
        Self::Features,
        Self::Pruning,
        Self::FirstPass,
        Self::FirstPassInference,
        Self::SecondPass,
        Self::Network,
        Self::Factors,
        Self::Inference,
        Self::Labels,
        Self::Writing,
    ];

    /// Returns the name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Tagging => "tagging",
            Self::Features => "features",
            Self::Pruning => "pruning",
            Self::FirstPass => "first pass",
            Self::FirstPassInference => "first-pass inference",
            Self::SecondPass => "second pass",
            Self::Network => "network",
            Self::Factors => "factors",
            Self::Inference => "inference",
            Self::Labels => "labels",
            Self::Writing => "writing",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The times that a [`Clock`] measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// By stage, in the order of [`Stage::ALL`].
    time: [Duration; Stage::ALL.len()],
    arcs: [usize; Stage::ALL.len()],
}

impl Times {
    /// Returns the time of a stage.
    pub fn of(&self, stage: Stage) -> Duration {
        self.time[stage as usize]
    }

    /// Returns the time of all stages.
    pub fn whole(&self) -> Duration {
        self.time.iter().sum()
    }

    /// Returns the number of arcs that a stage scored, 0 if it does not score arcs.
    pub fn arcs(&self, stage: Stage) -> usize {
        self.arcs[stage as usize]
    }
}

/// A clock for the stages of parsing. By default it does not run; see [`Parser::timed`](crate::Parser::timed).
///
/// ```
/// use tutte::{Clock, Stage};
///
/// let mut clock = Clock::start();
/// let text = std::fs::read_to_string("farm.conllu").unwrap_or_default();
/// clock.lap(Stage::Reading);
/// let words = text.split_whitespace().count();
/// clock.lap(Stage::Features);
/// let times = clock.restart();
/// assert_eq!(times.whole(), times.of(Stage::Reading) + times.of(Stage::Features));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Clock {
    running: Option<Running>,
}

#[derive(Clone, Debug)]
struct Running {
    last: Instant,
    times: Times,
}

impl Clock {
    /// Makes a clock that runs.
    pub fn start() -> Self {
        Self { running: Some(Running { last: Instant::now(), times: Times::default() }) }
    }

    /// Ends a stage, which gets the time since the last lap.
    #[inline]
    pub fn lap(&mut self, stage: Stage) {
        if let Some(running) = &mut self.running {
            running.lap(stage, Instant::now());
        }
    }

    /// Ends a stage that scored `arcs()` arcs. The time of counting them belongs to no stage.
    #[inline]
    pub(crate) fn lap_over(&mut self, stage: Stage, arcs: impl FnOnce() -> usize) {
        if let Some(running) = &mut self.running {
            running.lap(stage, Instant::now());
            running.times.arcs[stage as usize] += arcs();
            running.last = Instant::now();
        }
    }

    /// Returns the times since the start, and starts again. All times are 0 if the clock does not run.
    pub fn restart(&mut self) -> Times {
        let times = self.running.as_ref().map_or_else(Times::default, |running| running.times);
        if self.running.is_some() {
            *self = Self::start();
        }
        times
    }
}

impl Running {
    #[inline]
    fn lap(&mut self, stage: Stage, now: Instant) {
        self.times.time[stage as usize] += now - self.last;
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::train::tests::treebank;
    use crate::{Parser, PrunerOptions, TrainingOptions, train};

    #[test]
    fn every_moment_belongs_to_one_stage() {
        let start = Instant::now();
        let after = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut running = Running { last: start, times: Times::default() };
        running.lap(Stage::Features, after(2));
        running.lap(Stage::FirstPass, after(5));
        running.lap(Stage::Features, after(9));
        let milliseconds = |stage| running.times.of(stage).as_millis();
        assert_eq!([Stage::Features, Stage::FirstPass, Stage::Labels].map(milliseconds), [6, 3, 0]);
        assert_eq!(running.times.whole(), Duration::from_millis(9));
    }

    #[test]
    fn stages_are_numbered_in_their_order() {
        assert!(Stage::ALL.iter().enumerate().all(|(at, stage)| at == *stage as usize));
    }

    #[test]
    fn a_clock_that_does_not_run_measures_nothing() {
        let mut clock = Clock::default();
        clock.lap(Stage::Reading);
        clock.lap_over(Stage::FirstPass, || unreachable!("arcs are not counted"));
        assert_eq!(clock.restart(), Times::default());
        assert!(clock.running.is_none());
    }

    #[test]
    fn a_timed_parser_finds_the_same_and_measures_its_stages() {
        let treebank = treebank();
        let tiny = |options| TrainingOptions { passes: 2, bits: 14, label_bits: 8, ..options };
        let possible: usize = treebank.iter().map(|sentence| sentence.len().pow(2)).sum();
        // A threshold that prunes arcs even after little training.
        let pruning = Some(PrunerOptions { threshold: 0.9, ..PrunerOptions::default() });
        let fast = TrainingOptions { pruning: pruning.clone(), ..TrainingOptions::fast() };
        for options in [
            TrainingOptions::plain(),
            fast,
            TrainingOptions { pruning, ..TrainingOptions::default() },
        ] {
            let model = train(&treebank, &tiny(options), &mut ()).unwrap();
            let mut plain = Parser::new(&model);
            let mut timed = Parser::new(&model).timed();
            for sentence in &treebank {
                assert_eq!(plain.parse(sentence).unwrap(), timed.parse(sentence).unwrap());
            }
            let times = timed.clock().restart();
            assert_eq!(plain.clock().restart(), Times::default());
            let happened = |stage| !times.of(stage).is_zero();
            let always = [Stage::Features, Stage::FirstPass, Stage::Inference, Stage::Labels];
            assert!(always.into_iter().all(happened), "{times:?}");
            assert_eq!(happened(Stage::Pruning), model.pruner.is_some());
            assert_eq!(happened(Stage::FirstPassInference), model.second_pass.is_some());
            assert_eq!(happened(Stage::SecondPass), model.second_pass.is_some());
            let arcs = |stage| times.arcs(stage);
            match model.pruner {
                None => assert_eq!(arcs(Stage::FirstPass), possible),
                Some(_) => {
                    assert_eq!(arcs(Stage::Pruning), possible);
                    assert!((1..possible).contains(&arcs(Stage::FirstPass)));
                }
            }
            assert!(arcs(Stage::SecondPass) <= arcs(Stage::FirstPass));
        }
    }
}
