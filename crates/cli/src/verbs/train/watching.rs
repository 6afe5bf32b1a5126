//! Learning what comes before the parser, while this thread says how far it is.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use tutte::Error;
use tutte::text::{Observer, Progress};

use super::plan::pace;
use super::progress::TICK;
use crate::interrupt::Interrupt;
use crate::session::Status;

/// Learns something from so many words in each pass; Ctrl-C ends it with [`Error::Stopped`] after the passes
/// that are under way.
pub(super) fn watched<T: Send>(
    what: &str,
    words: usize,
    status: &Status,
    interrupt: &Interrupt,
    learn: impl FnOnce(&Observer<'_>) -> Result<T, tutte::text::Error> + Send,
) -> Result<T, Error> {
    let started = Instant::now();
    let (sender, laps) = channel();
    thread::scope(|scope| {
        let learner = scope.spawn(move || {
            learn(&|lap| {
                // Whoever waited may have left.
                let _ = sender.send(lap);
                match interrupt.is_requested() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })
        });
        let mut last = (Progress { done: 0, of: 1 }, Duration::ZERO);
        loop {
            match laps.recv_timeout(TICK) {
                // Threads may tell of passes out of order.
                Ok(lap) if lap.done > last.0.done => last = (lap, started.elapsed()),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            status.show(|| match interrupt.is_requested() {
                true => {
                    format!("{what}, to be stopped after this pass; Ctrl-C again stops at once")
                }
                false => {
                    let (Progress { done, of }, took) = last;
                    let elapsed = started.elapsed();
                    let whole = took.mul_f64(of as f64 / done.max(1) as f64);
                    let left = whole.saturating_sub(elapsed);
                    format!("{what}, {}", pace(elapsed, done as f64 * words as f64, took, left))
                }
            });
        }
        Ok(learner.join().unwrap_or_else(|panic| resume_unwind(panic))?)
    })
}
