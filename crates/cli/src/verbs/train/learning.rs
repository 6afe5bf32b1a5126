//! The thread that trains.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use tutte::{
    Checkpoint, Checkpoints, Compact, Decoding, Error, Model, ParserModel, Pass, Snapshot,
    TrainingOptions,
};
use tutte_treebank::eval::Attachment;

use super::checkpoint::{EVERY, Gate};
use super::material::Material;
use super::text::Text;

/// What the thread that waits is told.
pub(super) enum Event {
    Pass(Box<Learnt>),
    NotSaved(Error),
    End(Result<(), Error>),
}

/// A model, as its file will hold it, after a pass.
pub(super) struct Learnt {
    pub(super) pass: Pass,
    pub(super) model: Model<Compact>,
    pub(super) dev: Option<Attachment>,
}

/// What the thread that trains works with.
pub(super) struct Learning {
    pub(super) material: Arc<Material>,
    pub(super) options: TrainingOptions,
    pub(super) checkpoint: PathBuf,
    pub(super) gate: Arc<Gate>,
    pub(super) text: Text,
    pub(super) threads: usize,
    pub(super) events: Sender<Event>,
}

impl Learning {
    /// Trains; after each pass judges the model as its file will hold it, and sends it.
    pub(super) fn run(&self, resumed: Option<Checkpoint>) {
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
        let watch = |pass: Pass, model: &ParserModel| match self.judge(pass, model) {
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

    fn judge(&self, pass: Pass, model: &ParserModel) -> Result<Learnt, Error> {
        let mut model = Model::from(model.compact());
        self.text.put_into(&mut model);
        let dev = match self.material.dev.is_empty() {
            true => None,
            false => {
                Some(model.trees()?.evaluate(&self.material.dev, Decoding::Mbr, self.threads)?)
            }
        };
        Ok(Learnt { pass, model, dev })
    }
}
