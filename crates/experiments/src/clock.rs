//! How long a thread has worked. On a machine that others use, the clock on the wall tells how busy
//! they are; Linux tells what this thread has had.

use std::time::{Duration, Instant};

/// A running clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    wall: Instant,
    thread: Option<Duration>,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), thread: thread_time() }
    }

    /// Since the start: processor time of this thread, or wall time where that is not told.
    pub(crate) fn seconds(&self) -> f64 {
        let time = match (self.thread, thread_time()) {
            (Some(start), Some(now)) => now.saturating_sub(start),
            _ => self.wall.elapsed(),
        };
        time.as_secs_f64()
    }
}

/// The processor time that this thread has had (Linux, `schedstat`).
fn thread_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
