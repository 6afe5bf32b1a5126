//! Ctrl-C. The program has one handler, installed by the first verb that needs it.
//!
//! A verb that can stop early calls [`Interrupt::watch`] and asks [`Interrupt::is_requested`] between two
//! steps. A verb that cannot registers its outputs with [`remove_temporary_files`]. The program then exits at the
//! first Ctrl-C, and their temporary files are removed. A second Ctrl-C always exits.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Result, anyhow};

use crate::leftovers;

/// Exit code that shells give to interrupted programs.
const EXIT_CODE: i32 = 130;

/// `true` once the first Ctrl-C of a verb that stops by itself has arrived.
static IS_REQUESTED: AtomicBool = AtomicBool::new(false);
/// `true` if the verb stops by itself, so that only a second Ctrl-C exits.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);
/// Outputs whose temporary files are removed before the program exits.
static OUTPUTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Handle of a verb that stops by itself after Ctrl-C.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interrupt(());

impl Interrupt {
    /// Makes the first Ctrl-C a request to stop, and the second one exit.
    ///
    /// # Errors
    /// If the handler cannot be installed. Ctrl-C then kills the program.
    pub(crate) fn watch() -> Result<Self> {
        install()?;
        Ok(Self::watched())
    }

    /// Like [`Interrupt::watch`], for verbs that can be resumed after a kill.
    pub(crate) fn watch_if_possible() -> Self {
        let _ = install();
        Self::watched()
    }

    fn watched() -> Self {
        IS_WATCHED.store(true, Ordering::Relaxed);
        Self(())
    }

    /// Returns `true` after the first Ctrl-C. Costs one relaxed load.
    pub(crate) fn is_requested(self) -> bool {
        IS_REQUESTED.load(Ordering::Relaxed)
    }
}

/// Removes the temporary files of these outputs when Ctrl-C ends the program. Standard output (`-`) has none.
pub(crate) fn remove_temporary_files(mut outputs: Vec<PathBuf>) {
    outputs.retain(|output| output != Path::new("-"));
    // If the handler cannot be installed, Ctrl-C leaves the files behind.
    if !outputs.is_empty() && install().is_ok() {
        OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner).append(&mut outputs);
    }
}

/// Installs the handler, once.
fn install() -> Result<()> {
    static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
    let set = || ctrlc::set_handler(handle).map_err(|error| error.to_string());
    match INSTALLED.get_or_init(set) {
        Ok(()) => Ok(()),
        Err(error) => Err(anyhow!("cannot watch for Ctrl-C: {error}")),
    }
}

fn handle() {
    if IS_WATCHED.load(Ordering::Relaxed) && !IS_REQUESTED.swap(true, Ordering::Relaxed) {
        return;
    }
    let outputs = OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    leftovers::remove(outputs.iter().map(PathBuf::as_path), Some(process::id()));
    process::exit(EXIT_CODE);
}
