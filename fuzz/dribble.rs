//! A reader of small pieces, for the tests and the fuzz targets.

use std::io::{self, Read};

/// Bytes that are read a few at a time.
pub(crate) struct Dribble<'a> {
    pub(crate) bytes: &'a [u8],
    /// Largest number of bytes of one read.
    pub(crate) at_once: usize,
}

impl Read for Dribble<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.at_once.min(self.bytes.len()).min(out.len());
        let (first, rest) = self.bytes.split_at(count);
        out[..count].copy_from_slice(first);
        self.bytes = rest;
        Ok(count)
    }
}
