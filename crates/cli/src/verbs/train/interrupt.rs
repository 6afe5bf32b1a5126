//! Ctrl-C: the first asks for an end that leaves something, the second is one.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result};

/// Whether somebody wants it to end.
#[derive(Clone, Debug, Default)]
pub(super) struct Interrupt {
    asked: Arc<AtomicBool>,
}

impl Interrupt {
    /// As shells say it of programs that were interrupted.
    const EXIT_CODE: i32 = 130;

    /// Watches from now on.
    pub(super) fn watch() -> Result<Self> {
        let interrupt = Self::default();
        let asked = Arc::clone(&interrupt.asked);
        let handler = move || {
            if asked.swap(true, Ordering::Relaxed) {
                process::exit(Self::EXIT_CODE);
            }
        };
        ctrlc::set_handler(handler).context("cannot watch for Ctrl-C")?;
        Ok(interrupt)
    }

    /// Whether it was asked for.
    pub(super) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}
