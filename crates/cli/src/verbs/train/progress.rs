//! Training as it goes on: passes come in, the best is kept in the file.

use std::cell::{Cell, RefCell};
use std::fs;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use serde::Serialize;
use tutte::{
    About, Calibration, Calibrator, Checkpoint, Checkpoints, Compact, Decoding, DevScores, Error,
    Labelling, Method, Model, ModelFile, Options, Pass, Place, Snapshot,
};
use tutte_treebank::eval::Attachment;
use tutte_trees::TreeSet;

use super::checkpoint::{EVERY, Gate};
use super::material::Material;
use super::text::Text;
use super::{Scores, UNTIL_CHOSEN, command};
use crate::failure::advise;
use crate::session::Session;

/// A training that is about to start.
pub(super) struct Run<'a> {
    pub(super) session: &'a Session,
    pub(super) output: &'a Path,
    /// Where the training is saved.
    pub(super) checkpoint: PathBuf,
    /// What the files of development data are called.
    pub(super) dev: String,
    /// The parts of the model that are not its parser.
    pub(super) text: Text,
    pub(super) about: About,
    pub(super) options: Options,
    pub(super) time: Option<Duration>,
    /// Whether the columns of what is said after passes have been named.
    pub(super) headed: bool,
}

/// What came of it.
pub(super) struct Outcome {
    pub(super) ending: Ending,
    pub(super) passes: usize,
    pub(super) best_pass: usize,
    pub(super) dev: Option<Scores>,
    pub(super) labels: usize,
    pub(super) temperature: f64,
    pub(super) chosen_on: Option<ChosenOn>,
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

/// What a temperature was chosen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChosenOn {
    Dev,
    /// The folds of the treebank that guides of a second pass are made for.
    Folds,
}

/// What the thread that waits is told.
enum Event {
    Pass(Box<Learnt>),
    NotSaved(Error),
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
    pub(super) fn watch(
        mut self,
        material: Material,
        resumed: Option<Checkpoint>,
        threads: usize,
    ) -> Result<Outcome> {
        let mut plan = Plan::new(&self.options, resumed.as_ref().map(Checkpoint::place));
        let mut best = match &resumed {
            Some(checkpoint) => {
                checkpoint.suits(&material.train, &self.options, &material.dev)?;
                let Place { number, second, .. } = checkpoint.place();
                let best = self.best_before(number, second)?;
                let number = self.number(number, second);
                self.session.note(format!("going on after pass {number}"));
                Some(best)
            }
            None => None,
        };
        // What another training may have left there is of no use once this one has a model.
        let mut stale = resumed.is_none();
        let (sender, events) = channel();
        let interrupt = sender.clone();
        ctrlc::set_handler(move || drop(interrupt.send(Event::Interrupt)))
            .context("cannot watch for Ctrl-C")?;
        let started = Instant::now();
        let material = Arc::new(material);
        let gate = Arc::new(Gate::default());
        let learner = {
            let learning = Learning {
                material: Arc::clone(&material),
                options: self.options.clone(),
                checkpoint: self.checkpoint.clone(),
                gate: Arc::clone(&gate),
                text: self.text.clone(),
                threads,
                events: sender,
            };
            thread::spawn(move || learning.run(resumed))
        };
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
                    let took = started.elapsed();
                    plan.done(learnt.pass.number, learnt.pass.second, took);
                    if std::mem::take(&mut stale) {
                        discard(&self.checkpoint)?;
                    }
                    status.aside(|| self.keep(*learnt, &mut best, took))?;
                    gate.kept();
                }
                Ok(Event::NotSaved(error)) => status.aside(|| self.session.warn(&error.into())),
                Ok(Event::End(result)) => {
                    result?;
                    break Ending::Finished;
                }
                Ok(Event::Interrupt) => break Ending::Interrupted,
                Err(_) if gone => match learner.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => return Err(anyhow!("training ended without a word")),
                },
                Err(_) => status.show(|| plan.status(started.elapsed(), self.time)),
            }
        };
        drop(status);
        gate.close();
        let Some(mut best) = best else {
            let output = self.output.display();
            let error = anyhow!("stopped before the first pass was over; {output} was not written");
            return Err(advise(error, "give it more time, or fewer sentences"));
        };
        match ending {
            Ending::Finished => {}
            Ending::TimeUp => self.session.note("time is up"),
            Ending::Interrupted => self.session.note("interrupted; the best model so far is kept"),
        }
        if ending != Ending::Finished && self.checkpoint.is_file() {
            self.session.note(format!("go on with: {}", command::to_go_on()));
        }
        let mut chosen_on = best.model.guided.as_ref().map(|_| ChosenOn::Folds);
        if !material.dev.is_empty() {
            let calibrator = Calibrator::new(&best.model, &material.dev, threads)?;
            let (temperature, calibration) = calibrator.fit(Method::Temperature)?;
            best.model.temperature = temperature;
            let data = Some(self.dev.clone());
            best.model.calibration = Some(Calibration { data, ..calibration });
            best.model.save(self.output, &self.about)?;
            chosen_on = Some(ChosenOn::Dev);
        }
        if ending == Ending::Finished {
            discard(&self.checkpoint)?;
        }
        Ok(Outcome {
            ending,
            passes: plan.passes,
            best_pass: best.pass,
            dev: best.dev.map(|dev| Scores::of(&best.model, &dev)),
            labels: best.model.labels.labels().len(),
            temperature: best.model.temperature,
            chosen_on,
            tree_set: self.options.tree_set,
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    /// The best model of earlier sittings, from its file. It may be newer than the checkpoint: the
    /// same will be found again.
    fn best_before(&mut self, number: usize, second: bool) -> Result<Best> {
        let hint = "the best model so far belongs to the checkpoint; start afresh without --resume";
        let ModelFile { mut model, about, .. } =
            ModelFile::open(self.output).map_err(|error| advise(error, hint))?;
        if (about.seed, &about.training) != (self.about.seed, &self.about.training) {
            let output = self.output.display();
            return Err(advise(anyhow!("{output} is a model of another training"), hint));
        }
        if about.dev.is_some() {
            // As it was before one was chosen on development data.
            model.temperature = model.guided.as_ref().map_or(1.0, |_| UNTIL_CHOSEN);
            model.calibration = None;
        }
        self.about.dev = about.dev;
        let pass = about.dev.map_or(self.number(number, second), |dev| dev.pass);
        Ok(Best { pass, dev: about.dev, model })
    }

    /// Tells of a pass, and writes its model if it is the best so far.
    fn keep(&mut self, learnt: Learnt, best: &mut Option<Best>, took: Duration) -> Result<()> {
        let Learnt { pass, model, dev } = learnt;
        let scores = dev.map(|dev| DevScores {
            pass: self.number(pass.number, pass.second),
            words: dev.words,
            heads: dev.heads,
            both: dev.both,
        });
        let labelling = self.options.labelling;
        let better = best.as_ref().is_none_or(|best| match (&scores, &best.dev) {
            // Of two that are as good, the later: its probabilities are the better ones.
            (Some(new), Some(old)) if labelling == Labelling::None => new.heads >= old.heads,
            (Some(new), Some(old)) => (new.both, new.heads) >= (old.both, old.heads),
            _ => true,
        });
        if !std::mem::replace(&mut self.headed, true) {
            let columns = dev.map_or("", |_| Scores::head(labelling));
            self.session.note(format!("pass     loss{columns}     time"));
        }
        let columns =
            scores.map_or_else(String::new, |scores| Scores::new(&scores, labelling).columns());
        let mark = if better && dev.is_some() { "  best so far" } else { "" };
        let number = self.number(pass.number, pass.second);
        let (loss, time) = (pass.loss, clock(took));
        self.session.note(format!("{number:4}  {loss:7.4}{columns}  {time:>7}{mark}"));
        if better {
            self.about.dev = scores;
            model.save(self.output, &self.about)?;
            *best = Some(Best { pass: number, dev: scores, model });
        }
        Ok(())
    }

    /// Passes are counted on from the first pass of parsing to the second.
    fn number(&self, number: usize, second: bool) -> usize {
        number + if second { self.options.passes } else { 0 }
    }
}

/// Removes a file, if there is one.
fn discard(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{}: cannot remove", path.display()))
        }
        _ => Ok(()),
    }
}

/// What there is to do, in units of a pass over the treebank, and how far it is.
struct Plan {
    /// What passes of parsing cost: training the first, making guides for the second, training it.
    first: f64,
    guides: f64,
    second: f64,
    /// Passes over the treebank that are over.
    passes: usize,
    /// How much is over, and the time it took.
    over: f64,
    took: Duration,
    /// How much was over in earlier sittings.
    before: f64,
    /// What is being done.
    now: String,
}

impl Plan {
    fn new(options: &Options, resumed: Option<Place>) -> Self {
        let passes = options.passes as f64;
        let (guides, second) = options.second.as_ref().map_or((0.0, 0.0), |second| {
            let folds = second.folds as f64;
            let at_once = (options.threads as f64).clamp(1.0, folds);
            let rounds = (folds / at_once).ceil();
            (rounds * (folds - 1.0) / folds * second.fold_passes as f64, passes)
        });
        let now = match options.pruning {
            Some(_) => "learning what to leave out",
            None => "getting ready",
        };
        let (first, took) = (passes, Duration::ZERO);
        let (over, before) = (0.0, 0.0);
        let mut plan =
            Self { first, guides, second, passes: 0, over, took, before, now: now.to_owned() };
        if let Some(Place { passes, number, second }) = resumed {
            plan.done(number, second, took);
            plan.before = plan.over;
            plan.passes = passes;
        }
        plan
    }

    /// After a pass.
    fn done(&mut self, number: usize, second: bool, took: Duration) {
        let number = number as f64;
        let before = if second { self.first + self.guides } else { 0.0 };
        (self.over, self.took) = (before + number, took);
        self.passes += 1;
        let last = number >= self.first;
        self.now = match (second, last) {
            (false, true) if self.guides > 0.0 => "parsing for the second pass".to_owned(),
            (_, true) => "finishing".to_owned(),
            (false, _) => format!("pass {} of {}", number + 1.0, self.first),
            (true, _) => format!("second pass {} of {}", number + 1.0, self.second),
        };
    }

    /// What is being done, since when, and how long it may take.
    fn status(&self, elapsed: Duration, time: Option<Duration>) -> String {
        let now = format!("{}, {}", self.now, clock(elapsed));
        let over = self.over - self.before;
        if over <= 0.0 {
            return now;
        }
        let all = self.first + self.guides + self.second - self.before;
        let whole = self.took.mul_f64(all / over);
        let whole = time.map_or(whole, |time| time.min(whole));
        format!("{now}, about {} left", clock(whole.saturating_sub(elapsed)))
    }
}

/// How often the status is renewed.
const TICK: Duration = Duration::from_millis(200);

/// The model in the file.
struct Best {
    pass: usize,
    dev: Option<DevScores>,
    model: Model<Compact>,
}

/// What the thread that trains works with.
struct Learning {
    material: Arc<Material>,
    options: Options,
    checkpoint: PathBuf,
    gate: Arc<Gate>,
    text: Text,
    threads: usize,
    events: Sender<Event>,
}

impl Learning {
    /// Trains; after each pass judges the model as its file will hold it, and sends it.
    fn run(&self, resumed: Option<Checkpoint>) {
        let Material { train, dev, .. } = &*self.material;
        let failure = RefCell::new(None);
        // Passes of this sitting.
        let passes = Cell::new(0);
        let mut save = |snapshot: &mut Snapshot<'_>| {
            if failure.borrow().is_none()
                && let Some(Err(error)) =
                    self.gate.write(passes.get(), || snapshot.save(&self.checkpoint))
            {
                // Training itself is well.
                drop(self.events.send(Event::NotSaved(error)));
            }
            Ok(())
        };
        let checkpoints = Checkpoints { every: EVERY, dev, save: &mut save };
        let watch = |pass: Pass, model: &Model| match self.judge(pass, model) {
            Ok(learnt) => {
                passes.set(passes.get() + 1);
                // Whoever waited may have left.
                drop(self.events.send(Event::Pass(Box::new(learnt))));
                ControlFlow::Continue(())
            }
            Err(error) => {
                failure.replace(Some(error));
                ControlFlow::Break(())
            }
        };
        let result = tutte::train_resumable(train, &self.options, resumed, checkpoints, watch);
        let result = failure.into_inner().map_or(result.map(|_| ()), Err);
        drop(self.events.send(Event::End(result)));
    }

    fn judge(&self, pass: Pass, model: &Model) -> Result<Learnt, Error> {
        let mut model = model.compact();
        self.text.put_into(&mut model);
        let dev = match self.material.dev.is_empty() {
            true => None,
            false => Some(model.evaluate(&self.material.dev, Decoding::Mbr, self.threads)?),
        };
        Ok(Learnt { pass, model, dev })
    }
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
    fn times_are_written_for_people() {
        let shown = [0, 59, 60, 125, 3609].map(|seconds| clock(Duration::from_secs(seconds)));
        assert_eq!(shown, ["0 s", "59 s", "1:00", "2:05", "1:00:09"]);
    }
}
