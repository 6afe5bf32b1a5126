//! Progress of a job, and Ctrl-C.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::manifest::Fingerprint;
use crate::input::ByteCounter;
use crate::interrupt::Interrupt;
use crate::numbers::clock;
use crate::report::count;
use crate::session::Status;
use crate::verbs::parse::Watcher;

/// Fingerprints of inputs before they were opened, by index. An input that changes while it is read does not match its
/// entry in the manifest, and is parsed again.
#[derive(Debug, Default)]
pub(super) struct Fingerprints(Mutex<BTreeMap<usize, io::Result<Fingerprint>>>);

impl Fingerprints {
    /// Takes the fingerprint of an input, and keeps it.
    fn take(&self, input: usize, path: &Path) {
        let fingerprint = Fingerprint::of(path);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(input, fingerprint);
    }

    /// Returns the fingerprint of an input, which is then forgotten.
    pub(super) fn remove(&self, input: usize) -> Option<io::Result<Fingerprint>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&input)
    }
}

/// Observer of the inputs that are read.
pub(super) struct Watch<'a> {
    interrupt: Interrupt,
    paths: &'a [&'a Path],
    counter: &'a ByteCounter,
    fingerprints: &'a Fingerprints,
    status: &'a Status,
    opened: usize,
    /// Total size of all inputs.
    bytes: u64,
    started: Instant,
    shown: Instant,
}

impl<'a> Watch<'a> {
    /// Starts to watch inputs and Ctrl-C. A job that is killed can be resumed too.
    pub(super) fn new(
        paths: &'a [&'a Path],
        counter: &'a ByteCounter,
        fingerprints: &'a Fingerprints,
        status: &'a Status,
    ) -> Self {
        let bytes = paths.iter().filter_map(|path| Some(path.metadata().ok()?.len())).sum();
        let now = Instant::now();
        Self {
            interrupt: Interrupt::watch_if_possible(),
            paths,
            counter,
            fingerprints,
            status,
            opened: 0,
            bytes,
            started: now,
            shown: now,
        }
    }

    /// Returns `true` after Ctrl-C.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.is_requested()
    }

    fn show(&self) {
        let read = self.counter.bytes();
        let elapsed = self.started.elapsed();
        self.status.show(|| {
            let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
            let rate = read as f64 / elapsed.as_secs_f64();
            let left = self.bytes.saturating_sub(read) as f64 / rate.max(1.0);
            format!(
                "file {} of {}, {} of {} MB, {:.2} MB per second, {} left",
                count(self.opened),
                count(self.paths.len()),
                megabytes(read),
                megabytes(self.bytes),
                rate / 1e6,
                clock(Duration::from_secs_f64(left.min(1e9)))
            )
        });
    }
}

impl Watcher for Watch<'_> {
    fn opens(&mut self, input: usize) {
        self.opened = input + 1;
        self.fingerprints.take(input, self.paths[input]);
    }

    fn reads(&mut self) -> bool {
        const OFTEN: Duration = Duration::from_millis(200);
        if self.shown.elapsed() > OFTEN {
            self.shown = Instant::now();
            self.show();
        }
        !self.is_interrupted()
    }
}
