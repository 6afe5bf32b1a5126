//! How far a training is, and how long the rest may take.

use std::time::Duration;

use tutte::{Place, TrainingOptions};

use crate::report::count;

/// What there is to do, in units of a pass over the treebank, and how far it is.
pub(super) struct Plan {
    /// What passes of parsing cost: training the first, making guides for the second, training it.
    first: f64,
    guides: f64,
    second: f64,
    /// Words of the treebank.
    words: usize,
    /// Passes over the treebank that are over.
    pub(super) passes: usize,
    /// How much is over, and the time it took.
    over: f64,
    took: Duration,
    /// How much was over in earlier sittings.
    before: f64,
    /// What is being done.
    now: String,
}

impl Plan {
    pub(super) fn new(options: &TrainingOptions, words: usize, resumed: Option<Place>) -> Self {
        let passes = options.passes as f64;
        let (guides, second) = options.second_pass.as_ref().map_or((0.0, 0.0), |second| {
            let folds = second.folds as f64;
            let at_once = (options.threads as f64).clamp(1.0, folds);
            let rounds = (folds / at_once).ceil();
            // Of each sentence a fold sees one version.
            let pass = (folds - 1.0) / folds / options.versions as f64;
            (rounds * pass * second.fold_passes as f64, passes)
        });
        let now = match options.pruning {
            Some(_) => "learning what to leave out",
            None => "getting ready",
        };
        let (first, took) = (options.first_passes() as f64, Duration::ZERO);
        let (over, before) = (0.0, 0.0);
        let (passes, now) = (0, now.to_owned());
        let mut plan = Self { first, guides, second, words, passes, over, took, before, now };
        if let Some(Place { passes, number, second }) = resumed {
            plan.done(number, second, took);
            plan.before = plan.over;
            plan.passes = passes;
        }
        plan
    }

    /// After a pass.
    pub(super) fn done(&mut self, number: usize, second: bool, took: Duration) {
        let number = number as f64;
        let before = if second { self.first + self.guides } else { 0.0 };
        (self.over, self.took) = (before + number, took);
        self.passes += 1;
        let last = number >= if second { self.second } else { self.first };
        self.now = match (second, last) {
            (false, true) if self.guides > 0.0 => "parsing for the second pass".to_owned(),
            (_, true) => "finishing".to_owned(),
            (false, _) => format!("pass {} of {}", number + 1.0, self.first),
            (true, _) => format!("second pass {} of {}", number + 1.0, self.second),
        };
    }

    /// What is being done, since when, and how long it may take.
    pub(super) fn status(&self, elapsed: Duration, time: Option<Duration>) -> String {
        let over = (self.over - self.before).max(0.0);
        let all = self.first + self.guides + self.second - self.before;
        let whole = if over > 0.0 { self.took.mul_f64(all / over) } else { Duration::ZERO };
        let whole = time.map_or(whole, |time| time.min(whole));
        let left = whole.saturating_sub(elapsed);
        format!("{}, {}", self.now, pace(elapsed, over * self.words as f64, self.took, left))
    }
}

/// `12 s, 45,000 words a second, about 2:05 left`: what is known of work that has so far seen so many words
/// in the time it `took`; of its beginning, the time alone.
pub(super) fn pace(elapsed: Duration, words: f64, took: Duration, left: Duration) -> String {
    let now = clock(elapsed);
    if words <= 0.0 || took.is_zero() {
        return now;
    }
    let rate = count((words / took.as_secs_f64()) as usize);
    format!("{now}, {rate} words a second, about {} left", clock(left))
}

/// A time as people read it: `7 s`, `2:05`, `1:00:09`.
pub(crate) fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_is_known_after_the_first_pass() {
        let seconds = Duration::from_secs;
        assert_eq!(pace(seconds(3), 0.0, seconds(0), seconds(0)), "3 s");
        let later = pace(seconds(70), 1.2e6, seconds(60), seconds(125));
        assert_eq!(later, "1:10, 20,000 words a second, about 2:05 left");
    }

    #[test]
    fn times_are_written_for_people() {
        let shown = [0, 59, 60, 125, 3609].map(|seconds| clock(Duration::from_secs(seconds)));
        assert_eq!(shown, ["0 s", "59 s", "1:00", "2:05", "1:00:09"]);
    }
}
