//! What accompanies a training from pass to pass: who watches it, what it is saved to, and what it
//! goes on from.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tutte_linear::Checkpointed;
use tutte_treebank::Sentence;

use super::checkpoint::{Checkpoint, Place, Snapshot};
use super::{Pass, checkpoint};
use crate::features::FirstPassOutput;
use crate::learn::TrainingSet;
use crate::{Error, ParserModel, TrainingOptions};

/// When and how a training is saved, so that it can go on later.
pub struct Checkpoints<'a> {
    /// The least time between two. The first pass of a stage is saved in any case, and the last of
    /// the first stage, since guides take long.
    pub every: Duration,
    /// Sentences that the watcher judges by; they must be the same when the training goes on.
    pub dev: &'a [Sentence],
    /// Called after the watcher has seen the pass; it may or may not save the snapshot.
    pub save: &'a mut dyn FnMut(&mut Snapshot<'_>) -> Result<(), Error>,
}

impl std::fmt::Debug for Checkpoints<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkpoints").field("every", &self.every).finish_non_exhaustive()
    }
}

/// A training on its way.
pub(super) struct TrainingSession<'a> {
    watch: &'a mut dyn FnMut(Pass, &ParserModel) -> bool,
    /// How to save, and what must be the same when the training goes on.
    saving: Option<(Checkpoints<'a>, Vec<(String, String)>)>,
    saved: Instant,
    /// What to go on from, as far as it has not been used.
    pub(super) resumed: Option<Checkpoint>,
    /// Of the second stage.
    pub(super) first_pass_outputs: Vec<Arc<FirstPassOutput>>,
    place: Place,
    /// Whether a second stage is asked for.
    two_stages: bool,
    /// Whether the watcher has seen enough.
    pub(super) stopped: bool,
}

impl<'a> TrainingSession<'a> {
    /// `watch` says whether to stop.
    pub(super) fn new(watch: &'a mut dyn FnMut(Pass, &ParserModel) -> bool) -> Self {
        Self {
            watch,
            saving: None,
            saved: Instant::now(),
            resumed: None,
            first_pass_outputs: Vec::new(),
            place: Place::default(),
            two_stages: false,
            stopped: false,
        }
    }

    /// The same with checkpoints.
    pub(super) fn saved(
        self,
        treebank: &TrainingSet<'_>,
        options: &TrainingOptions,
        resumed: Option<Checkpoint>,
        checkpoints: Checkpoints<'a>,
    ) -> Result<Self, Error> {
        let settings = checkpoint::settings(treebank, options, checkpoints.dev);
        resumed.iter().try_for_each(|checkpoint| checkpoint.check(&settings))?;
        let place = resumed.as_ref().map_or(Place::default(), Checkpoint::place);
        let two_stages = options.second_pass.is_some();
        Ok(Self { saving: Some((checkpoints, settings)), resumed, place, two_stages, ..self })
    }

    /// What to go on from, if that is in the second stage.
    pub(super) fn in_second(&mut self) -> Option<&mut Checkpoint> {
        self.resumed.as_mut().filter(|checkpoint| checkpoint.place().second)
    }

    /// Brings what has just been made to where it was, if there is anything to go on from; gives the
    /// number of passes done.
    pub(super) fn resume(&mut self, work: &mut dyn Checkpointed) -> Result<usize, Error> {
        let Some(checkpoint) = self.resumed.take() else { return Ok(0) };
        checkpoint.finish(work)?;
        Ok(self.place.number)
    }

    /// After a pass: has it watched and perhaps saved; tells whether to stop. `last` is the last
    /// that a stage has.
    pub(super) fn after(
        &mut self,
        pass: Pass,
        last: bool,
        learnt: &mut ParserModel,
        work: &mut dyn Checkpointed,
    ) -> Result<bool, Error> {
        self.stopped = (self.watch)(pass, learnt);
        let Pass { number, second, .. } = pass;
        let before_guides = self.two_stages && !second;
        self.place = Place { passes: self.place.passes + 1, number, second };
        if let Some((checkpoints, settings)) = &mut self.saving
            && (number == 1 || last && before_guides || self.saved.elapsed() >= checkpoints.every)
        {
            let (first_pass_outputs, place) = (&self.first_pass_outputs[..], self.place);
            (checkpoints.save)(&mut Snapshot {
                settings,
                place,
                learnt,
                first_pass_outputs,
                work,
            })?;
            self.saved = Instant::now();
        }
        Ok(self.stopped)
    }
}
