//! Clocks of processor time. On a shared machine, wall time depends on other programs; processor time does not.

use std::time::{Duration, Instant};

/// A clock of one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    wall: Instant,
    thread: Option<Duration>,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), thread: thread_time() }
    }

    /// Returns the processor time of this thread since the start, or wall time if the system does not report it.
    pub(crate) fn seconds(&self) -> f64 {
        let time = match (self.thread, thread_time()) {
            (Some(start), Some(now)) => now.saturating_sub(start),
            _ => self.wall.elapsed(),
        };
        time.as_secs_f64()
    }
}

/// A clock of all threads of the program together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Processor {
    wall: Instant,
    program: Option<Duration>,
}

impl Processor {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), program: program_time() }
    }

    /// Returns the processor time since the start, or wall time if the system does not report it.
    pub(crate) fn seconds(&self) -> f64 {
        let time = match (self.program, program_time()) {
            (Some(start), Some(now)) => now.saturating_sub(start),
            _ => self.wall.elapsed(),
        };
        time.as_secs_f64()
    }
}

/// Returns the processor time of all threads (Linux, `stat`), to a hundredth of a second.
fn program_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may contain any character.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11).map(str::parse::<u64>);
    let user = fields.next()?.ok()?;
    let system = fields.next()?.ok()?;
    Some(Duration::from_millis(10 * (user + system)))
}

/// Returns the processor time of this thread (Linux, `schedstat`).
fn thread_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
