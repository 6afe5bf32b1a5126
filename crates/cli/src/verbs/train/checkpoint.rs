//! Training in several sittings: the file beside the model that it goes on from.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Result, anyhow};
use tutte::{Checkpoint, CheckpointProblem, Error};

use super::Train;
use super::shelf;
use crate::failure::advise;
use crate::session::Session;

/// The least time between two checkpoints: what an interruption may cost, and a pass.
pub(super) const EVERY: Duration = Duration::from_secs(30);

/// Where a training with this output is saved: `en.tutte.resume`.
pub(super) fn path(output: &Path) -> PathBuf {
    shelf::beside(output, ".resume")
}

/// What to go on from, if that was asked for.
pub(super) fn open(arguments: &Train, session: &Session) -> Result<Option<Checkpoint>> {
    let path = path(&arguments.output);
    let shown = path.display();
    if !arguments.resume {
        if path.is_file() || shelf::is_there(&arguments.output) {
            session.note(format!(
                "starting afresh; --resume would go on with the training of {shown}"
            ));
        }
        return Ok(None);
    }
    match Checkpoint::open(&path) {
        Ok(checkpoint) => Ok(Some(checkpoint)),
        Err(Error::Checkpoint { problem: CheckpointProblem::Unreadable(error), .. })
            if error.kind() == ErrorKind::NotFound =>
        {
            if shelf::is_there(&arguments.output) {
                // The parser has not got that far.
                return Ok(None);
            }
            let error = anyhow!("nothing to resume at {shown}");
            let hint = "a training that was interrupted after its first pass leaves such a file \
                        beside its model; start one without --resume";
            Err(advise(error, hint))
        }
        Err(error) => Err(error.into()),
    }
}

/// Lets a checkpoint be written only when the best model so far is in its file, and none once
/// training is over for whoever waits for it.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Passes whose models have been looked at and, if they were the best, written.
    kept: usize,
    closed: bool,
}

impl Gate {
    /// One more pass is dealt with.
    pub(super) fn kept(&self) {
        self.lock().kept += 1;
        self.changed.notify_all();
    }

    /// No checkpoint is written from now on; waits for one that is.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Writes a checkpoint when this many passes have been dealt with, if there still is need.
    pub(super) fn write<T>(&self, passes: usize, write: impl FnOnce() -> T) -> Option<T> {
        let waits = |state: &mut State| state.kept < passes && !state.closed;
        let state = self.changed.wait_while(self.lock(), waits);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        (!state.closed).then(write)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Two plain fields are never left half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn checkpoints_lie_beside_models() {
        assert_eq!(path(Path::new("models/en.tutte")), Path::new("models/en.tutte.resume"));
    }

    #[test]
    fn nothing_is_written_before_models_are_kept_nor_after_the_end() {
        let (gate, kept) = (Gate::default(), AtomicUsize::new(0));
        thread::scope(|scope| {
            let writer = scope.spawn(|| gate.write(2, || kept.load(Ordering::SeqCst)));
            for _ in 0..2 {
                kept.fetch_add(1, Ordering::SeqCst);
                gate.kept();
            }
            assert_eq!(writer.join().unwrap(), Some(2));
            let late = scope.spawn(|| gate.write(3, || ()));
            gate.close();
            assert_eq!(late.join().unwrap(), None);
        });
        assert_eq!(gate.write(1, || ()), None);
    }
}
