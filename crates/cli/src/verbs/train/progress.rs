//! Training as it goes on: passes come in, the best is kept in the file.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use serde::Serialize;
use tutte::{
    About, Calibration, Calibrator, Checkpoint, Compact, DevScores, Labelling, Method, Model,
    ModelFile, Pipeline, Place, Tags, TrainingOptions,
};
use tutte_treebank::Sentence;

use super::checkpoint::Gate;
use super::learning::{Event, Learning, Learnt};
use super::material::Material;
use super::plan::{Plan, clock};
use super::text::Text;
use super::{Scores, UNTIL_CHOSEN, command};
use crate::failure::advise;
use crate::interrupt::Interrupt;
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
    pub(super) options: TrainingOptions,
    pub(super) time: Option<Duration>,
    pub(super) interrupt: Interrupt,
    /// Whether the columns of what is said after passes have been named.
    pub(super) headed: bool,
}

/// What came of it.
pub(super) struct Outcome {
    pub(super) ending: Ending,
    pub(super) passes: usize,
    pub(super) best_pass: usize,
    pub(super) dev: Option<Scores>,
    /// The best model, as it is in the file.
    pub(super) model: Model<Compact>,
    pub(super) chosen_on: Option<ChosenOn>,
    /// Development data as it was given.
    pub(super) gold: Vec<Sentence>,
    pub(super) seconds: f64,
}

/// Why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ending {
    Finished,
    #[serde(rename = "time")]
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

impl Run<'_> {
    /// Trains to the end, or until time is up or somebody interrupts; gives nothing if that was before the
    /// first pass was over.
    pub(super) fn watch(
        mut self,
        material: Material,
        resumed: Option<Checkpoint>,
        threads: usize,
    ) -> Result<Option<Outcome>> {
        let mut plan = Plan::new(
            &self.options,
            material.versions * material.words,
            resumed.as_ref().map(Checkpoint::place),
        );
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
            if self.interrupt.is_requested() {
                break Ending::Interrupted;
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
                Err(_) if gone => match learner.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => return Err(anyhow!("training ended without a word")),
                },
                Err(_) => status.show(|| plan.status(started.elapsed(), self.time)),
            }
        };
        drop(status);
        gate.close();
        let kept = if best.is_some() { "; the best model so far is kept" } else { "" };
        match ending {
            Ending::Finished => {}
            Ending::TimeUp => self.session.note("time is up"),
            Ending::Interrupted => self.session.note(format!("interrupted{kept}")),
        }
        let Some(mut best) = best else { return Ok(None) };
        if ending != Ending::Finished && self.checkpoint.is_file() {
            self.session.note(format!("go on with: {}", command::to_go_on()));
        }
        let mut chosen_on = best.model.trees()?.second_pass.as_ref().map(|_| ChosenOn::Folds);
        if !material.dev.is_empty() {
            // As `tutte parse` will have them, if that is what the parser learnt to expect.
            let tags = if material.versions > 1 { Tags::Model } else { Tags::Given };
            let pipeline = Pipeline::new(&best.model).with_tags(tags);
            let calibrator = Calibrator::of(&pipeline, &material.gold, threads)?;
            let (temperature, calibration) = calibrator.fit(Method::Temperature)?;
            let data = Some(self.dev.clone());
            if let Some(parser) = &mut best.model.parser {
                parser.temperature = temperature;
                parser.calibration = Some(Calibration { data, ..calibration });
            }
            best.model.save(self.output, &self.about)?;
            chosen_on = Some(ChosenOn::Dev);
        }
        if ending == Ending::Finished {
            discard(&self.checkpoint)?;
        }
        let gold = Arc::try_unwrap(material).map(|material| material.gold);
        Ok(Some(Outcome {
            ending,
            passes: plan.passes,
            best_pass: best.pass,
            dev: best.dev.map(|dev| Scores::new(&dev, self.options.labelling)),
            model: best.model,
            chosen_on,
            gold: gold.unwrap_or_else(|shared| shared.gold.clone()),
            seconds: started.elapsed().as_secs_f64(),
        }))
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
            if let Some(parser) = &mut model.parser {
                parser.temperature = parser.second_pass.as_ref().map_or(1.0, |_| UNTIL_CHOSEN);
                parser.calibration = None;
            }
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
        number + if second { self.options.first_passes() } else { 0 }
    }
}

/// Removes a file, if there is one.
pub(super) fn discard(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{}: cannot remove", path.display()))
        }
        _ => Ok(()),
    }
}

/// How often the status is renewed.
pub(super) const TICK: Duration = Duration::from_millis(200);

/// The model in the file.
struct Best {
    pass: usize,
    dev: Option<DevScores>,
    model: Model<Compact>,
}
