//! Training as it goes on: passes come in, the best is kept in the file.

use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use tutte::{About, Compact, Decoding, DevScores, Error, Model, Options, Pass};
use tutte_treebank::eval::Attachment;
use tutte_trees::TreeSet;

use super::material::Material;
use crate::failure::advise;
use crate::session::{Session, Status};

/// A training that is about to start.
pub(super) struct Run<'a> {
    pub(super) session: &'a Session,
    pub(super) output: &'a Path,
    pub(super) about: About,
    pub(super) options: Options,
    pub(super) time: Option<Duration>,
}

/// What came of it.
pub(super) struct Outcome {
    pub(super) ending: Ending,
    pub(super) passes: usize,
    pub(super) best_pass: usize,
    pub(super) dev: Option<DevScores>,
    pub(super) labels: usize,
    pub(super) tree_set: TreeSet,
    pub(super) seconds: f64,
}

/// Why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Finished,
    TimeUp,
    Interrupted,
}

/// What the thread that waits is told.
enum Event {
    Pass(Box<Learnt>),
    End(Result<(), Error>),
    Interrupt,
}

/// A model, as its file will hold it, after a pass.
struct Learnt {
    pass: Pass,
    model: Model<Compact>,
    dev: Option<Attachment>,
}

impl Run<'_> {
    /// Trains to the end, or until time is up or somebody interrupts.
    pub(super) fn watch(mut self, material: Material, threads: usize) -> Result<Outcome> {
        let (sender, events) = channel();
        let interrupt = sender.clone();
        ctrlc::set_handler(move || drop(interrupt.send(Event::Interrupt)))
            .context("cannot watch for Ctrl-C")?;
        let started = Instant::now();
        let options = self.options.clone();
        let learner = thread::spawn(move || learn(&material, &options, threads, &sender));

        let mut best: Option<Best> = None;
        // The passes that are over, and the time they took.
        let (mut passes, mut took) = (0, Duration::ZERO);
        let status = self.session.status();
        let ending = loop {
            let left = self.time.map(|time| time.saturating_sub(started.elapsed()));
            if left == Some(Duration::ZERO) {
                break Ending::TimeUp;
            }
            // Asked before the wait: what it said before its end is then seen.
            let gone = learner.is_finished();
            match events.recv_timeout(left.map_or(TICK, |left| left.min(TICK))) {
                Ok(Event::Pass(learnt)) => {
                    passes = learnt.pass.number;
                    took = started.elapsed();
                    status.aside(|| self.keep(&learnt, &mut best, took))?;
                }
                Ok(Event::End(result)) => {
                    result?;
                    break Ending::Finished;
                }
                Ok(Event::Interrupt) => break Ending::Interrupted,
                Err(_) if gone => match learner.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => return Err(anyhow!("training ended without a word")),
                },
                Err(_) => self.show(&status, passes, took, started.elapsed()),
            }
        };
        drop(status);
        let Some(best) = best else {
            let output = self.output.display();
            let error = anyhow!("stopped before the first pass was over; {output} was not written");
            return Err(advise(error, "give it more time, or fewer sentences"));
        };
        match ending {
            Ending::Finished => {}
            Ending::TimeUp => self.session.note("time is up"),
            Ending::Interrupted => self.session.note("interrupted; the best model so far is kept"),
        }
        Ok(Outcome {
            ending,
            passes,
            best_pass: best.pass,
            dev: best.dev,
            labels: best.labels,
            tree_set: self.options.tree_set,
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    /// Tells of a pass, and writes its model if it is the best so far.
    fn keep(&mut self, learnt: &Learnt, best: &mut Option<Best>, took: Duration) -> Result<()> {
        let Learnt { pass, model, dev } = learnt;
        let scores = dev.map(|dev| DevScores {
            pass: pass.number,
            words: dev.words,
            heads: dev.heads,
            both: dev.both,
        });
        let better = best.as_ref().is_none_or(|best| match (&scores, &best.dev) {
            // Of two that are as good, the later: its probabilities are the better ones.
            (Some(new), Some(old)) => (new.both, new.heads) >= (old.both, old.heads),
            _ => true,
        });
        if pass.number == 1 {
            let columns = if dev.is_some() { "     UAS     LAS" } else { "" };
            self.session.note(format!("pass     loss{columns}     time"));
        }
        let columns = scores.map_or_else(String::new, |scores| {
            format!("  {:6.2}  {:6.2}", 100.0 * scores.uas(), 100.0 * scores.las())
        });
        let mark = if better && dev.is_some() { "  best so far" } else { "" };
        let (number, loss, time) = (pass.number, pass.loss, clock(took));
        self.session.note(format!("{number:4}  {loss:7.4}{columns}  {time:>7}{mark}"));
        if better {
            self.about.dev = scores;
            model.save(self.output, &self.about)?;
            let labels = model.labels.labels().len();
            *best = Some(Best { pass: pass.number, dev: scores, labels });
        }
        Ok(())
    }

    fn show(&self, status: &Status, passes: usize, took: Duration, elapsed: Duration) {
        status.show(|| {
            let all = self.options.passes;
            let now = format!("pass {} of {all}, {}", passes + 1, clock(elapsed));
            if passes == 0 {
                return now;
            }
            let whole = took.mul_f64(all as f64 / passes as f64);
            let whole = self.time.map_or(whole, |time| time.min(whole));
            format!("{now}, about {} left", clock(whole.saturating_sub(elapsed)))
        });
    }
}

/// How often the status is renewed.
const TICK: Duration = Duration::from_millis(200);

/// The model in the file.
struct Best {
    pass: usize,
    dev: Option<DevScores>,
    labels: usize,
}

/// Trains; after each pass judges the model as its file will hold it, and sends it.
fn learn(material: &Material, options: &Options, threads: usize, events: &Sender<Event>) {
    let mut failure = None;
    let result = tutte::train(&material.train, options, |pass, model| {
        let model = model.compact();
        let dev = match material.dev.is_empty() {
            true => Ok(None),
            false => model.evaluate(&material.dev, Decoding::Mbr, threads).map(Some),
        };
        match dev {
            // Whoever waited may have left.
            Ok(dev) => drop(events.send(Event::Pass(Box::new(Learnt { pass, model, dev })))),
            Err(error) => failure = failure.take().or(Some(error)),
        }
    });
    let result = failure.map_or(result.map(|_| ()), Err);
    drop(events.send(Event::End(result)));
}

/// A time as people read it: `7 s`, `2:05`, `1:00:09`.
fn clock(time: Duration) -> String {
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
    fn times_are_written_for_people() {
        let shown = [0, 59, 60, 125, 3609].map(|seconds| clock(Duration::from_secs(seconds)));
        assert_eq!(shown, ["0 s", "59 s", "1:00", "2:05", "1:00:09"]);
    }
}
