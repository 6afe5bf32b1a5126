//! State that accompanies a training from pass to pass: its observer, its checkpoints, and the checkpoint it
//! resumes from.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tutte_linear::Checkpointed;
use tutte_treebank::Sentence;

use super::checkpoint::{Checkpoint, CheckpointPlace, Snapshot};
use super::{Pass, PassObserver, TrainedPass, checkpoint};
use crate::features::FirstPassOutput;
use crate::learn::TrainingSet;
use crate::{Error, ParserModel, TrainingOptions};

/// Checkpoints of a training: their interval, and the function that saves them.
pub struct Checkpoints<'a> {
    /// Least time between two checkpoints. The first pass of each stage is saved in any case. So is the last
    /// pass of the first stage, since the first-pass outputs that follow take long.
    pub every: Duration,
    /// Development data of the caller. A resumed training must have the same.
    pub dev: &'a [Sentence],
    /// Called after the observer has seen the pass. It may save the snapshot.
    pub save: &'a mut dyn FnMut(&mut Snapshot<'_>) -> Result<(), Error>,
}

impl std::fmt::Debug for Checkpoints<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkpoints").field("every", &self.every).finish_non_exhaustive()
    }
}

/// A training that is under way.
pub(super) struct TrainingSession<'a> {
    /// Called after every pass; can stop the training.
    observer: &'a mut PassObserver<'a>,
    /// Checkpoints to save, and the settings that a resumed training must share.
    saving: Option<(Checkpoints<'a>, Vec<(String, String)>)>,
    last_save: Instant,
    /// The part of the checkpoint to resume from that has not been read yet.
    pub(super) resumed: Option<Checkpoint>,
    /// First-pass outputs that the second stage learns from.
    pub(super) first_pass_outputs: Vec<Arc<FirstPassOutput>>,
    place: CheckpointPlace,
    has_two_stages: bool,
    /// `true` once the observer has stopped the training.
    pub(super) is_stopped: bool,
}

impl<'a> TrainingSession<'a> {
    /// Starts a training without checkpoints.
    pub(super) fn new(observer: &'a mut PassObserver<'a>) -> Self {
        Self {
            observer,
            saving: None,
            last_save: Instant::now(),
            resumed: None,
            first_pass_outputs: Vec::new(),
            place: CheckpointPlace::default(),
            has_two_stages: false,
            is_stopped: false,
        }
    }

    /// Adds checkpoints, and resumes from one if it is given.
    pub(super) fn with_checkpoints(
        self,
        treebank: &TrainingSet<'_>,
        options: &TrainingOptions,
        resumed: Option<Checkpoint>,
        checkpoints: Checkpoints<'a>,
    ) -> Result<Self, Error> {
        let settings = checkpoint::settings(treebank, options, checkpoints.dev);
        resumed.iter().try_for_each(|checkpoint| checkpoint.check(&settings))?;
        let place = resumed.as_ref().map_or(CheckpointPlace::default(), Checkpoint::place);
        let has_two_stages = options.second_pass.is_some();
        Ok(Self { saving: Some((checkpoints, settings)), resumed, place, has_two_stages, ..self })
    }

    /// Returns the development data of the caller.
    pub(super) fn dev(&self) -> &[Sentence] {
        self.saving.as_ref().map_or(&[], |(checkpoints, _)| checkpoints.dev)
    }

    /// Returns the checkpoint to resume from, if it was saved in the second stage.
    pub(super) fn second_stage_checkpoint(&mut self) -> Option<&mut Checkpoint> {
        self.resumed.as_mut().filter(|checkpoint| checkpoint.place().is_second)
    }

    /// Restores a new trainer from the checkpoint, if there is one. Returns the number of passes done.
    pub(super) fn resume(&mut self, trainer: &mut dyn Checkpointed) -> Result<usize, Error> {
        let Some(checkpoint) = self.resumed.take() else { return Ok(0) };
        checkpoint.finish(trainer)?;
        Ok(self.place.number)
    }

    /// Reports a pass to the caller and saves a checkpoint if one is due. Returns `true` to stop. `is_last` marks
    /// the last pass of a stage.
    pub(super) fn end_pass(
        &mut self,
        pass: Pass,
        is_last: bool,
        model: &mut ParserModel,
        trainer: &mut dyn Checkpointed,
    ) -> Result<bool, Error> {
        self.is_stopped = self.observer.observe(TrainedPass { pass, model }).is_break();
        let Pass { number, is_second, .. } = pass;
        let precedes_jackknife = is_last && self.has_two_stages && !is_second;
        self.place = CheckpointPlace { passes: self.place.passes + 1, number, is_second };
        if let Some((checkpoints, settings)) = &mut self.saving
            && (number == 1 || precedes_jackknife || self.last_save.elapsed() >= checkpoints.every)
        {
            (checkpoints.save)(&mut Snapshot {
                settings,
                place: self.place,
                model,
                first_pass_outputs: &self.first_pass_outputs,
                trainer,
            })?;
            self.last_save = Instant::now();
        }
        Ok(self.is_stopped)
    }
}
