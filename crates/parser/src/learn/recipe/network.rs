//! The training of a network in a recipe: epochs instead of passes, with the same care for the best model.

use std::ops::ControlFlow;
use std::time::Instant;

use super::Ending;
use super::data::Data;
use super::observer::{Event, Stage, Work};
use super::passes::{Best, Outcome, Passes, Trained};
use crate::learn::network::{EncoderSource, NetworkEvent, NetworkTraining, train_network};
use crate::learn::train::Pass;
use crate::{Error, Model};

impl Passes<'_, '_> {
    /// Trains a network to the end, until time is up or until the observer stops it. Returns the ending alone if that
    /// was before the first epoch had ended.
    pub(super) fn run_network(
        mut self,
        encoder: &EncoderSource,
        data: Data,
    ) -> Result<Result<Outcome, Ending>, Error> {
        let mut training = match encoder {
            EncoderSource::Folder(_) => NetworkTraining::new(),
            EncoderSource::Scratch => NetworkTraining::scratch(),
        }
        .with_seed(self.recipe.seed)
        .with_threads(self.recipe.threads)
        .with_frozen_encoder(self.recipe.has_frozen_encoder);
        if let Some(epochs) = self.recipe.passes {
            training = training.with_epochs(epochs);
        }
        let epochs = training.epochs();
        let started = Instant::now();
        let mut best: Option<Best> = None;
        let mut failure = None;
        let mut ending = Ending::Finished;
        let mut passes = 0;
        let mut observer = |event: NetworkEvent<'_>| {
            match event {
                NetworkEvent::Step { step, of, .. } => {
                    let took = started.elapsed();
                    let share = step as f64 / of.max(1) as f64;
                    let work = Work {
                        stage: Stage::Epoch { epoch: passes + 1, of: epochs },
                        elapsed: took,
                        words: share * (epochs * data.words) as f64,
                        took,
                        left: took.mul_f64((1.0 - share) / share.max(1e-9)),
                        is_stopping: false,
                    };
                    self.watched.notify(Event::Working(&work));
                }
                NetworkEvent::Epoch { epoch, loss, model, dev } => {
                    passes = epoch;
                    let pass = Pass::epoch(epoch, loss);
                    let mut model = Model::from(model.compact());
                    self.text.put_into(&mut model);
                    let trained = Trained { pass, model, dev };
                    if let Err(error) = self.keep(trained, &mut best, started.elapsed()) {
                        failure = Some(error);
                        return ControlFlow::Break(());
                    }
                }
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
        let train = data.train.sentences();
        let result =
            train_network(train, &data.dev, data.tree_set, encoder, &training, &mut observer);
        match (failure, result) {
            (Some(error), _) => return Err(error),
            (None, Err(Error::Stopped)) if ending != Ending::Finished => {}
            (None, result) => drop(result?),
        }
        let Some(mut best) = best else { return Ok(Err(ending)) };
        let temperature_source = self.choose_temperature(&mut best, &data)?;
        let file = self.conclude(&best.model, ending)?;
        let Self { about, .. } = self;
        let gold = data.gold;
        Ok(Ok(Outcome { best, about, ending, passes, temperature_source, gold, file }))
    }
}
