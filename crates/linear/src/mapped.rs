//! The bytes of a model: a mapped file (the only `unsafe` of this crate), bytes inside the program, or bytes
//! that were unpacked.

use std::fs::File;
use std::io;
use std::ops::Deref;

use memmap2::Mmap;

/// The bytes of a model file.
#[derive(Debug)]
pub enum Content {
    /// A file mapped into memory.
    Mapped(Mmap),
    /// Bytes inside the program.
    Embedded(&'static [u8]),
    /// Bytes in memory, unpacked from a compressed file.
    Unpacked(Vec<u8>),
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Content::Mapped(map) => map,
            Content::Embedded(bytes) => bytes,
            Content::Unpacked(bytes) => bytes,
        }
    }
}

impl Content {
    /// Maps a whole file into memory.
    ///
    /// Only tables of weights are used through the map. The header, which decides what is read where, and
    /// the tables of a dictionary are copied before they are checked.
    ///
    /// # Errors
    /// If the operating system refuses.
    #[allow(unsafe_code, reason = "mapping a file needs a promise that no program can check")]
    pub fn map(file: &File) -> io::Result<Self> {
        // SAFETY: `Mmap::map` asks that the file does not change while it is mapped.
        // - This program does not change it: models are written to a new file that is renamed into place
        //   (`AtomicFile`), which leaves the mapped file as it was.
        // - If another program writes into it nevertheless, the mapped bytes change. They are 8-bit
        //   weights, for which every pattern of bits is a value. No length, offset, text or reference is
        //   made from them. Scores would then be wrong, but no access would be out of bounds.
        // - If another program truncates it, the operating system ends this program (SIGBUS).
        unsafe { Mmap::map(file) }.map(Self::Mapped)
    }
}
