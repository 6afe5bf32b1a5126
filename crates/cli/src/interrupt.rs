//! Ctrl-C (SIGINT) and SIGTERM. The program has one handler, installed before any thread is started.
//!
//! A verb that can stop early calls [`Interrupt::watch`] and asks [`Interrupt::is_requested`] between two
//! steps. For other verbs, the program exits at the first signal, and temporary files are removed. A second signal
//! always exits. The exit code is that of a program that the signal ended: 130 or 143.
//!
//! SIGHUP is left alone, so that `nohup` works.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Result, anyhow};
use tutte_treebank::remove_own_temporary_files;

/// Exit code that shells give to programs ended by Ctrl-C.
const SIGINT_CODE: u8 = 130;

/// Exit code of the last signal; 0 before the first.
static EXIT_CODE: AtomicU8 = AtomicU8::new(0);
/// `true` if the verb stops by itself, so that only a second signal exits.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);
/// Folders whose temporary files are removed before the program exits.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Handle of a verb that stops by itself after a signal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interrupt(());

impl Interrupt {
    /// Makes the first signal a request to stop, and the second one exit.
    ///
    /// # Errors
    /// If the handler cannot be installed. A signal then ends the program.
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

    /// Returns `true` after the first signal. Costs one relaxed load.
    pub(crate) fn is_requested(self) -> bool {
        EXIT_CODE.load(Ordering::Relaxed) != 0
    }
}

/// Returns the exit code of an interrupted run.
pub(crate) fn exit_code() -> u8 {
    match EXIT_CODE.load(Ordering::Relaxed) {
        0 => SIGINT_CODE,
        code => code,
    }
}

/// Removes the temporary files of this process from these folders when a signal ends the program.
pub(crate) fn remove_temporary_files_in(mut folders: BTreeSet<PathBuf>) {
    // If the handler cannot be installed, a signal leaves the files behind.
    if !folders.is_empty() && install().is_ok() {
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).append(&mut folders);
    }
}

/// Installs the handler, once.
fn install() -> Result<()> {
    static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
    match INSTALLED.get_or_init(listen) {
        Ok(()) => Ok(()),
        Err(error) => Err(anyhow!("cannot watch for Ctrl-C: {error}")),
    }
}

/// Starts a thread that waits for signals. All threads that are started later leave signals to it.
#[cfg(unix)]
fn listen() -> Result<(), String> {
    use nix::sys::signal::{SigSet, Signal};

    let mut signals = SigSet::empty();
    signals.add(Signal::SIGINT);
    signals.add(Signal::SIGTERM);
    signals.thread_block().map_err(|error| error.to_string())?;
    let wait = move || {
        while let Ok(signal) = signals.wait() {
            // Shells add 128 to the number of the signal: 143 for SIGTERM.
            handle(if signal == Signal::SIGTERM { 143 } else { SIGINT_CODE });
        }
    };
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(wait).map(drop).map_err(|error| error.to_string())
}

#[cfg(not(unix))]
fn listen() -> Result<(), String> {
    ctrlc::set_handler(|| handle(SIGINT_CODE)).map_err(|error| error.to_string())
}

fn handle(code: u8) {
    let is_first = EXIT_CODE.swap(code, Ordering::Relaxed) == 0;
    if is_first && IS_WATCHED.load(Ordering::Relaxed) {
        return;
    }
    let folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    folders.iter().for_each(remove_own_temporary_files);
    process::exit(code.into());
}
