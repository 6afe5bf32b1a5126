//! The training of a network in a recipe: epochs instead of passes, with the same care for the best model.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::data::Data;
use super::observer::{Event, Stage, Work};
use super::passes::{Best, Outcome, Passes, Trained};
use super::stage_cache::remove;
use super::{Ending, Recipe};
use crate::learn::network::{
    EncoderSource, NetworkEvent, NetworkTraining, train_network_resumable,
};
use crate::learn::teacher::has_answers;
use crate::learn::train::{Checkpoint, Checkpoints, Pass, Snapshot};
use crate::{Error, Model};

impl Recipe {
    /// Returns the settings of a network over this encoder.
    pub(super) fn network_training(&self, encoder: &EncoderSource) -> NetworkTraining {
        let training = self.network_training.clone();
        let training = training.unwrap_or_else(|| NetworkTraining::of_encoder(encoder));
        let mut training = training.with_seed(self.seed).with_threads(self.threads);
        if let Some(epochs) = self.passes {
            training = training.with_epochs(epochs);
        }
        training
    }
}

impl Passes<'_, '_> {
    /// Trains a network to the end, until time is up or until the observer stops it. Returns the ending alone if that
    /// was before the first epoch had ended.
    pub(super) fn run_network(
        mut self,
        encoder: &EncoderSource,
        data: Data,
        resumed: Option<Checkpoint>,
    ) -> Result<Result<Outcome, Ending>, Error> {
        let mut training = self.recipe.network_training(encoder);
        if data.train.sentences().iter().any(has_answers) {
            training = training.learning_from_teachers();
        }
        let epochs = training.epochs();
        let checkpoint = self.recipe.checkpoint();
        // A checkpoint of another training is useless once this one has a model.
        let mut is_stale = resumed.is_none();
        let started = Instant::now();
        let mut best: Option<Best> = None;
        let mut failure = None;
        let mut ending = Ending::Finished;
        let mut passes = 0;
        // Number of steps before this run.
        let mut before = None;
        let not_saved = RefCell::new(None);
        let mut observer = |event: NetworkEvent<'_>| {
            if let Some(error) = not_saved.take() {
                self.watched.notify(Event::CheckpointFailed(error));
            }
            let result = match event {
                NetworkEvent::Resumed { epoch } => {
                    passes = epoch;
                    self.best_before(epoch, false).map(|found| {
                        best = Some(found);
                        self.watched.notify(Event::Resumed { pass: epoch });
                    })
                }
                NetworkEvent::Step { step, of, .. } => {
                    let took = started.elapsed();
                    let before = *before.get_or_insert(step - 1);
                    let done = (step - before) as f64;
                    let work = Work {
                        stage: Stage::Epoch { epoch: passes + 1, of: epochs },
                        elapsed: took,
                        words: done / of as f64 * (epochs * data.words) as f64,
                        took,
                        left: took.mul_f64((of - step) as f64 / done),
                        is_stopping: false,
                    };
                    self.watched.notify(Event::Working(&work));
                    Ok(())
                }
                NetworkEvent::Epoch { epoch, loss, model, dev } => {
                    passes = epoch;
                    let pass = Pass::epoch(epoch, loss);
                    let mut model = model.compact();
                    data.add_single_labels(&mut model);
                    let mut model = Model::from(model);
                    self.text.put_into(&mut model);
                    let stale = checkpoint.as_deref().filter(|_| std::mem::take(&mut is_stale));
                    let trained = Trained { pass, model, dev };
                    let took = started.elapsed();
                    stale.map_or(Ok(()), remove).and_then(|()| self.keep(trained, &mut best, took))
                }
            };
            if let Err(error) = result {
                failure = Some(error);
                return ControlFlow::Break(());
            }
            if self.watched.is_stopped() {
                ending = Ending::Interrupted;
            } else if self.recipe.time.is_some_and(|limit| started.elapsed() >= limit) {
                ending = Ending::TimeUp;
            }
            if ending == Ending::Finished {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        let mut save = |snapshot: &mut Snapshot<'_>| {
            if let Some(path) = &checkpoint
                && let Err(error) = snapshot.save(path)
            {
                // Training continues without the checkpoint.
                not_saved.replace(Some(error));
            }
            Ok(())
        };
        // One per epoch: an epoch takes much longer than writing the weights.
        let checkpoints = Checkpoints { every: Duration::ZERO, dev: &data.dev, save: &mut save };
        let result = train_network_resumable(
            data.train.sentences(),
            data.tree_set,
            encoder,
            &training,
            resumed,
            checkpoints,
            &mut observer,
        );
        match (failure, result) {
            (Some(error), _) => return Err(error),
            (None, Err(Error::Stopped)) if ending != Ending::Finished => {}
            (None, result) => drop(result?),
        }
        if let Some(error) = not_saved.into_inner() {
            self.watched.notify(Event::CheckpointFailed(error));
        }
        let Some(mut best) = best else { return Ok(Err(ending)) };
        let temperature_source = self.choose_temperature(&mut best, &data)?;
        let file = self.conclude(&best.model, ending)?;
        if ending == Ending::Finished {
            checkpoint.as_deref().map_or(Ok(()), remove)?;
        }
        let Self { about, .. } = self;
        let gold = data.gold;
        Ok(Ok(Outcome { best, about, ending, passes, temperature_source, gold, file }))
    }
}
