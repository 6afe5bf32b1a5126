//! The passes of the parser: each model is evaluated, the best is kept, and the training can be
//! resumed.
//!
//! One thread trains. The caller's thread waits for passes, keeps and writes the best model, and calls
//! the observer. So the caller can stop without waiting for a pass to end.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use tutte_linear::{Compact, Rounding};
use tutte_treebank::Sentence;
use tutte_treebank::eval::Attachment;

use super::data::Data;
use super::gate::Gate;
use super::observer::{Event, PassReport, Watched};
use super::plan::Plan;
use super::stage_cache::{TextParts, best_path, remove};
use super::{Ending, Recipe, TICK, TemperatureSource};
use crate::learn::train::{
    Checkpoint, CheckpointPlace, Checkpoints, Pass, Snapshot, TrainedPass, TrainingOptions,
    train_resumable,
};
use crate::{
    About, Calibration, Calibrator, CheckpointProblem, Decoding, DevScores, Error, Labelling,
    Method, Model, ModelFile, ParserModel, Pipeline, TagSource, TextCalibration,
};

/// Least time between two checkpoints. An interruption loses at most this much work, and the pass under
/// way.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(30);

/// Temperature of models with a second pass until one is chosen on development data.
pub(super) const PROVISIONAL_TEMPERATURE: f64 = 1.5;

/// A training of the parser that is about to start.
pub(super) struct Passes<'a, 'o> {
    pub(super) recipe: &'a Recipe,
    pub(super) options: TrainingOptions,
    pub(super) text: TextParts,
    pub(super) about: About,
    pub(super) watched: &'a mut Watched<'o>,
}

/// The best model of a training.
pub(super) struct Best {
    pub(super) pass: usize,
    pub(super) dev: Option<DevScores>,
    pub(super) model: Model<Compact>,
}

/// The outcome of a training of the parser.
pub(super) struct Outcome {
    pub(super) best: Best,
    pub(super) about: About,
    pub(super) ending: Ending,
    /// Number of passes.
    pub(super) passes: usize,
    pub(super) temperature_source: Option<TemperatureSource>,
    pub(super) gold: Vec<tutte_treebank::Sentence>,
    /// File of the model.
    pub(super) file: Option<PathBuf>,
}

/// A message of the training thread.
enum Message {
    Pass(Box<Trained>),
    NotSaved(Error),
    End(Result<(), Error>),
}

/// A model, as its file will hold it, after a pass.
pub(super) struct Trained {
    pub(super) pass: Pass,
    pub(super) model: Model<Compact>,
    pub(super) dev: Option<Attachment>,
}

impl Passes<'_, '_> {
    /// Returns the file of the best model so far.
    fn best_file(&self) -> Option<PathBuf> {
        self.recipe.regular_output().map(best_path)
    }

    /// Trains to the end, until time is up or until the observer stops it. Returns the ending alone if
    /// that was before the first pass had ended.
    pub(super) fn run(
        mut self,
        data: Data,
        resumed: Option<Checkpoint>,
    ) -> Result<Result<Outcome, Ending>, Error> {
        let mut plan = Plan::new(
            &self.options,
            data.train.versions(),
            data.train.sentences().iter().map(tutte_treebank::Sentence::len).sum(),
            resumed.as_ref().map(Checkpoint::place),
        );
        let mut best = match &resumed {
            Some(checkpoint) => {
                checkpoint.suits(&data.train, &self.options, &data.dev)?;
                let CheckpointPlace { number, is_second, .. } = checkpoint.place();
                let best = self.best_before(number, is_second)?;
                let pass = self.number(number, is_second);
                self.watched.notify(Event::Resumed { pass });
                Some(best)
            }
            None => None,
        };
        let checkpoint = self.recipe.checkpoint();
        // A checkpoint of another training is useless once this one has a model.
        let mut is_stale = resumed.is_none();
        let (sender, messages) = channel();
        let started = Instant::now();
        let data = Arc::new(data);
        let gate = Arc::new(Gate::default());
        let trainer = {
            let trainer = Trainer {
                data: Arc::clone(&data),
                options: self.options.clone(),
                rounding: self.recipe.preset.rounding(),
                checkpoint: checkpoint.clone(),
                gate: Arc::clone(&gate),
                text: self.text.clone(),
                messages: sender,
            };
            thread::spawn(move || trainer.run(resumed))
        };
        let ending = loop {
            let limit = self.recipe.time;
            let left = limit.map(|limit| limit.saturating_sub(started.elapsed()));
            if left == Some(Duration::ZERO) {
                break Ending::TimeUp;
            }
            if self.watched.is_stopped() {
                break Ending::Interrupted;
            }
            // Checked before the wait, so that no message of the thread is missed.
            let is_gone = trainer.is_finished();
            match messages.recv_timeout(left.map_or(TICK, |left| left.min(TICK))) {
                Ok(Message::Pass(trained)) => {
                    let took = started.elapsed();
                    plan.end_pass(trained.pass.number, trained.pass.is_second, took);
                    if std::mem::take(&mut is_stale) {
                        checkpoint.as_deref().map_or(Ok(()), remove)?;
                    }
                    self.keep(*trained, &mut best, took)?;
                    gate.record_pass();
                }
                Ok(Message::NotSaved(error)) => self.watched.notify(Event::CheckpointFailed(error)),
                Ok(Message::End(result)) => {
                    result?;
                    break Ending::Finished;
                }
                Err(_) if is_gone => {
                    if let Err(panic) = trainer.join() {
                        std::panic::resume_unwind(panic);
                    }
                    return Err(Error::Stopped);
                }
                Err(_) => {
                    self.watched.notify(Event::Working(&plan.work(started.elapsed(), limit)));
                }
            }
        };
        gate.close();
        let Some(mut best) = best else { return Ok(Err(ending)) };
        let temperature_source = self.choose_temperature(&mut best, &data)?;
        let file = self.conclude(&best.model, ending)?;
        if ending == Ending::Finished {
            checkpoint.as_deref().map_or(Ok(()), remove)?;
        }
        let gold = match Arc::try_unwrap(data) {
            Ok(data) => data.gold,
            Err(shared) => shared.gold.clone(),
        };
        let Self { about, .. } = self;
        let passes = plan.passes;
        Ok(Ok(Outcome { best, about, ending, passes, temperature_source, gold, file }))
    }

    /// Chooses the temperature and measures the precision on development data.
    pub(super) fn choose_temperature(
        &self,
        best: &mut Best,
        data: &Data,
    ) -> Result<Option<TemperatureSource>, Error> {
        if data.dev.is_empty() {
            let second_pass = best.model.require_parser()?.second_pass.as_ref();
            return Ok(second_pass.map(|_| TemperatureSource::Treebank));
        }
        // A parser that was trained on predicted tags is calibrated on predicted tags.
        let tags = if data.train.versions() > 1 { TagSource::Model } else { TagSource::Given };
        let name = self.recipe.dev_name.clone();
        calibrate(&mut best.model, &data.gold, tags, name, self.recipe.threads)?;
        Ok(Some(TemperatureSource::Dev))
    }

    /// Writes the model of a training that has ended, and returns its file. The output is replaced unless the
    /// training was interrupted.
    pub(super) fn conclude(
        &self,
        model: &Model<Compact>,
        ending: Ending,
    ) -> Result<Option<PathBuf>, Error> {
        let best = self.best_file();
        if ending == Ending::Interrupted && best.is_some() {
            self.keep_best(model)?;
            return Ok(best);
        }
        let output = self.recipe.output.clone();
        if let Some(output) = &output {
            model.save(output, &self.about)?;
        }
        best.as_deref().map_or(Ok(()), remove)?;
        Ok(output)
    }

    /// Writes the best model so far beside the output.
    fn keep_best(&self, model: &Model<Compact>) -> Result<(), Error> {
        self.best_file().map_or(Ok(()), |path| model.save(path, &self.about))
    }

    /// Reads the best model of a training that is resumed. It may be newer than the checkpoint: then the
    /// same model will be found again.
    pub(super) fn best_before(&mut self, number: usize, second: bool) -> Result<Best, Error> {
        // The best model is the output if time was up, or if the user has renamed it.
        let output = self.best_file().filter(|best| best.is_file());
        let output = output.or_else(|| self.recipe.output.clone()).unwrap_or_default();
        let ModelFile { mut model, about, .. } = ModelFile::open(&output)?;
        if (about.seed, &about.training) != (self.about.seed, &self.about.training) {
            let problem = CheckpointProblem::OtherModel;
            return Err(Error::Checkpoint { path: output, problem });
        }
        if about.dev.is_some()
            && let Some(parser) = &mut model.parser
        {
            // As it was before a temperature was chosen on development data.
            parser.temperature =
                parser.second_pass.as_ref().map_or(1.0, |_| PROVISIONAL_TEMPERATURE);
            parser.calibration = None;
            parser.text_calibration = None;
        }
        self.about.dev = about.dev;
        let pass = about.dev.map_or(self.number(number, second), |dev| dev.pass);
        Ok(Best { pass, dev: about.dev, model })
    }

    /// Keeps the model of a pass if it is the best so far, and reports the pass.
    pub(super) fn keep(
        &mut self,
        trained: Trained,
        best: &mut Option<Best>,
        took: Duration,
    ) -> Result<(), Error> {
        let Trained { pass, model, dev } = trained;
        let number = self.number(pass.number, pass.is_second);
        let dev = dev.map(|dev| DevScores {
            pass: number,
            words: dev.words,
            heads: dev.heads,
            both: dev.both,
        });
        let labelling = self.options.labelling;
        let is_best = best.as_ref().is_none_or(|best| match (&dev, &best.dev) {
            // Of two equally good models the later one has the better probabilities.
            (Some(new), Some(old)) if labelling == Labelling::None => new.heads >= old.heads,
            (Some(new), Some(old)) => (new.both, new.heads) >= (old.both, old.heads),
            _ => true,
        });
        if is_best {
            self.about.dev = dev;
            self.keep_best(&model)?;
            *best = Some(Best { pass: number, dev, model });
        }
        let report = PassReport { pass, number, dev, is_best, labelling, took };
        self.watched.notify(Event::Pass(&report));
        Ok(())
    }

    /// Returns the number of a pass, counted through the first and the second pass of parsing.
    fn number(&self, number: usize, is_second: bool) -> usize {
        number + if is_second { self.options.first_passes() } else { 0 }
    }
}

/// Calibrates a model on held-out trees: for words that are given, and for raw text if it finds words.
pub(super) fn calibrate(
    model: &mut Model<Compact>,
    gold: &[Sentence],
    tags: TagSource,
    name: Option<String>,
    threads: usize,
) -> Result<(), Error> {
    let pipeline = Pipeline::new(model).with_tags(tags);
    let calibrator = Calibrator::of(&pipeline, gold, threads)?;
    let (temperature, calibration) = calibrator.fit(Method::Temperature)?;
    let text_calibration = if model.tokenizer.is_some() {
        let calibrator = Calibrator::of_text(&pipeline, gold, threads)?;
        let method = calibrator.compare()?.better();
        let (temperature, calibration) = calibrator.fit(method)?;
        let calibration = Calibration { data: name.clone(), ..calibration };
        Some(TextCalibration { temperature, calibration })
    } else {
        None
    };
    if let Some(parser) = &mut model.parser {
        parser.temperature = temperature;
        parser.text_calibration = text_calibration;
        parser.calibration = Some(Calibration { data: name, ..calibration });
    }
    Ok(())
}

/// The thread that trains.
struct Trainer {
    data: Arc<Data>,
    options: TrainingOptions,
    rounding: Rounding,
    checkpoint: Option<PathBuf>,
    gate: Arc<Gate>,
    text: TextParts,
    messages: Sender<Message>,
}

impl Trainer {
    /// Trains. After each pass, evaluates the model with the weights of its file, and sends it.
    fn run(&self, resumed: Option<Checkpoint>) {
        let Data { train, dev, .. } = &*self.data;
        let failure = RefCell::new(None);
        // Passes since the start or the resumption.
        let passes = Cell::new(0);
        let mut save = |snapshot: &mut Snapshot<'_>| {
            if failure.borrow().is_none()
                && let Some(path) = &self.checkpoint
                && let Some(Err(error)) = self.gate.write(passes.get(), || snapshot.save(path))
            {
                // Training continues without the checkpoint.
                drop(self.messages.send(Message::NotSaved(error)));
            }
            Ok(())
        };
        let checkpoints = Checkpoints { every: BETWEEN_CHECKPOINTS, dev, save: &mut save };
        let mut watch =
            |TrainedPass { pass, model, .. }: TrainedPass<'_>| match self.evaluate(pass, model) {
                Ok(trained) => {
                    passes.set(passes.get() + 1);
                    // The receiver is gone if the caller has stopped the training.
                    if self.messages.send(Message::Pass(Box::new(trained))).is_ok() {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    }
                }
                Err(error) => {
                    failure.replace(Some(error));
                    ControlFlow::Break(())
                }
            };
        let result = train_resumable(train, &self.options, resumed, checkpoints, &mut watch);
        let result = failure.into_inner().map_or(result.map(|_| ()), Err);
        drop(self.messages.send(Message::End(result)));
    }

    fn evaluate(&self, pass: Pass, model: &ParserModel) -> Result<Trained, Error> {
        let mut model = model.rounded(self.rounding);
        self.data.add_single_labels(&mut model);
        let dev = &self.data.dev;
        let scores = if dev.is_empty() {
            None
        } else {
            Some(model.evaluate(dev, Decoding::Mbr, self.options.threads)?)
        };
        let mut model = Model::from(model);
        self.text.put_into(&mut model);
        Ok(Trained { pass, model, dev: scores })
    }
}
