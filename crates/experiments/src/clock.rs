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

/// A running clock for all threads of the program together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Processor {
    wall: Instant,
    program: Option<Duration>,
}

impl Processor {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), program: program_time() }
    }

    /// Since the start: processor time, or wall time where that is not told.
    pub(crate) fn seconds(&self) -> f64 {
        let time = match (self.program, program_time()) {
            (Some(start), Some(now)) => now.saturating_sub(start),
            _ => self.wall.elapsed(),
        };
        time.as_secs_f64()
    }
}

/// The processor time that all threads have had (Linux, `stat`), to a hundredth of a second.
fn program_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may hold anything.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11).map(str::parse::<u64>);
    let (user, system) = (fields.next()?.ok()?, fields.next()?.ok()?);
    Some(Duration::from_millis(10 * (user + system)))
}

/// The processor time that this thread has had (Linux, `schedstat`).
fn thread_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
