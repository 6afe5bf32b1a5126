//! The order in which a training writes files.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Orders the writing of checkpoints. A checkpoint is written after the best model so far is in its
/// file, and never after the call of the training has returned.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Number of passes whose models were evaluated and, if they were the best, written.
    evaluated: usize,
    is_closed: bool,
}

impl Gate {
    /// Counts one more pass as evaluated.
    pub(super) fn record_pass(&self) {
        self.lock().evaluated += 1;
        self.changed.notify_all();
    }

    /// Forbids checkpoints from now on; waits for one that is being written.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Waits until this many passes have been evaluated, then writes a checkpoint, unless the gate is
    /// closed.
    pub(super) fn write<T>(&self, passes: usize, write: impl FnOnce() -> T) -> Option<T> {
        let waits = |state: &mut State| state.evaluated < passes && !state.is_closed;
        let state = self.changed.wait_while(self.lock(), waits);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        (!state.is_closed).then(write)
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
    fn nothing_is_written_before_models_are_kept_nor_after_the_end() {
        let gate = Gate::default();
        let kept = AtomicUsize::new(0);
        thread::scope(|scope| {
            let writer = scope.spawn(|| gate.write(2, || kept.load(Ordering::SeqCst)));
            for _ in 0..2 {
                kept.fetch_add(1, Ordering::SeqCst);
                gate.record_pass();
            }
            assert_eq!(writer.join().unwrap(), Some(2));
            let late = scope.spawn(|| gate.write(3, || ()));
            gate.close();
            assert_eq!(late.join().unwrap(), None);
        });
        assert_eq!(gate.write(1, || ()), None);
    }
}
