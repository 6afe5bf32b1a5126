//! Standard input, read by a thread of its own, so that the program can end while it waits for input.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Standard input. Reading gives what is there and waits only if nothing is.
#[derive(Debug)]
pub(crate) struct Stdin {
    pieces: Receiver<io::Result<Vec<u8>>>,
    /// The current piece, and how much of it was given.
    piece: Vec<u8>,
    given: usize,
    is_stopped: Arc<AtomicBool>,
}

/// Ends the reading of standard input.
#[derive(Debug)]
pub(super) struct StdinStopper {
    wake: SyncSender<io::Result<Vec<u8>>>,
    is_stopped: Arc<AtomicBool>,
}

impl StdinStopper {
    /// Makes standard input end here, for a reader that waits for it too.
    pub(super) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        // If there is no room, the reader does not wait.
        let _ = self.wake.try_send(Ok(Vec::new()));
    }
}

impl Stdin {
    /// Starts to read standard input, which nothing else may read.
    pub(super) fn start() -> (Self, StdinStopper) {
        /// Number of pieces read ahead.
        const AHEAD: usize = 4;
        let (send, pieces) = sync_channel(AHEAD);
        let wake = send.clone();
        // It ends with the program if it waits for input.
        thread::spawn(move || read_all(&mut io::stdin().lock(), &send));
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stdin = Self { pieces, piece: Vec::new(), given: 0, is_stopped: is_stopped.clone() };
        (stdin, StdinStopper { wake, is_stopped })
    }
}

/// Sends all pieces of an input; an empty one is the end.
fn read_all(input: &mut impl Read, pieces: &SyncSender<io::Result<Vec<u8>>>) {
    let mut room = vec![0; 1 << 16];
    loop {
        let piece = match input.read(&mut room) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map(|read| room[..read].to_vec()),
        };
        let is_last = piece.as_ref().map_or(true, Vec::is_empty);
        if pieces.send(piece).is_err() || is_last {
            return;
        }
    }
}

impl Read for Stdin {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.given == self.piece.len() && !self.is_stopped.load(Ordering::Relaxed) {
            let piece = self.pieces.recv().unwrap_or_else(|_| Ok(Vec::new()));
            // Nothing follows an error or the end.
            if piece.as_ref().map_or(true, Vec::is_empty) {
                self.is_stopped.store(true, Ordering::Relaxed);
            }
            self.piece = piece?;
            self.given = 0;
        }
        if self.is_stopped.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let rest = &self.piece[self.given..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}
