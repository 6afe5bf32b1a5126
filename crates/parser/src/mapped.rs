//! The bytes of a model: a file mapped into memory, which is the only `unsafe` of this crate, bytes that are
//! part of the program, or what was unpacked.

use std::fs::File;
use std::io;
use std::ops::Deref;

use memmap2::Mmap;

/// The bytes of a model file.
#[derive(Debug)]
pub(crate) enum Content {
    /// In a file.
    Mapped(Mmap),
    /// In the program.
    Embedded(&'static [u8]),
    /// In memory, from a packed file.
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

/// Maps a whole file, to be read as bytes.
///
/// Nothing but tables of weights is ever used through the map; headers, which decide what is read
/// where, and the tables of a dictionary are copied before they are checked.
#[allow(unsafe_code, reason = "a file can only be mapped by promising what no program can check")]
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: `Mmap::map` asks that nobody changes the file as long as it is mapped.
    // - This program does not: models are written beside their place and renamed into it
    //   (`AtomicFile`), which leaves the mapped file as it was.
    // - Should another program write into it nevertheless, the bytes seen change. They are 8-bit
    //   weights, for which every pattern of bits is a value, and no length, offset, text or
    //   reference is made from them: scores would be wrong, no access would be out of bounds.
    // - Should another program cut it short, the operating system ends this one (SIGBUS).
    unsafe { Mmap::map(file) }
}
