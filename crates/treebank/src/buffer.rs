//! The part of an input that is in memory: bytes that were read but not yet handed out.

use std::io::Read;
use std::sync::Arc;

use memchr::memchr;

use crate::encoding::{Malformed, Transcoder};
use crate::sentence::find_sent_id;
use crate::{Column, Encoding, Error, Place, Problem};

/// Largest size of a sentence or line in bytes. Far above any real one; a guard against endless
/// input.
pub(crate) const LONGEST: usize = 1 << 28;

/// A window that moves over an input.
pub(crate) struct Buffer<R> {
    input: Transcoder<R>,
    bytes: Vec<u8>,
    /// `bytes[start..end]` was read but not yet handed out.
    start: usize,
    end: usize,
    /// Line number and offset in the input of `bytes[start]`.
    pub(crate) line: u64,
    pub(crate) offset: u64,
    pub(crate) name: Arc<str>,
    pub(crate) longest: usize,
}

impl<R: Read> Buffer<R> {
    pub(crate) fn new(input: R, name: Option<&str>, encoding: Encoding) -> Self {
        Self {
            input: Transcoder::new(input, encoding),
            bytes: Vec::new(),
            start: 0,
            end: 0,
            line: 1,
            offset: 0,
            name: name.unwrap_or("input").into(),
            longest: LONGEST,
        }
    }

    /// Returns the bytes that were read but not yet handed out.
    pub(crate) fn pending(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Hands out the next `bytes` as text. They must hold this number of lines. Bytes that are not
    /// UTF-8, and NUL bytes, are errors.
    pub(crate) fn take(&mut self, bytes: usize, lines: u64) -> Result<&str, Error> {
        let line = self.line;
        let offset = self.offset;
        let taken = &self.bytes[self.start..self.start + bytes];
        self.start += bytes;
        self.line += lines;
        self.offset += bytes as u64;
        let malformed = |bad| malformed(taken, bad, &self.name, line, offset);
        let text = str::from_utf8(taken).map_err(|error| malformed(error.valid_up_to()))?;
        match memchr(0, taken) {
            Some(nul) => Err(malformed(nul)),
            None => Ok(text),
        }
    }

    /// Reads more bytes after the pending ones. Returns `false` at the end of the input.
    pub(crate) fn fill(&mut self) -> Result<bool, Error> {
        const ROOM: usize = 1 << 16;
        if self.bytes.len() - self.end < ROOM && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end - self.start > self.longest {
            return Err(Error::TooLong {
                place: Box::new(self.place(self.line)),
                limit: self.longest,
            });
        }
        if self.bytes.len() - self.end < ROOM {
            self.bytes.resize((2 * self.bytes.len()).max(4 * ROOM), 0);
        }
        match self.input.read(&mut self.bytes[self.end..]) {
            Ok(read) => {
                self.end += read;
                Ok(read > 0)
            }
            Err(source) => {
                let place = Box::new(self.place(self.line + newlines(self.pending())));
                let malformed = source.get_ref().and_then(|e| e.downcast_ref::<Malformed>());
                Err(match malformed {
                    Some(&Malformed { encoding, offset }) => {
                        Error::Undecodable { place, encoding, offset }
                    }
                    None => Error::Read { place, source },
                })
            }
        }
    }

    fn place(&self, line: u64) -> Place {
        Place { file: self.name.clone(), line, column: None, sent_id: None }
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Returns the error of bytes of which `bytes[bad]` is not text.
pub(crate) fn malformed(
    bytes: &[u8],
    bad: usize,
    name: &Arc<str>,
    line: u64,
    offset: u64,
) -> Error {
    let line_start = memchr::memrchr(b'\n', &bytes[..bad]).map_or(0, |at| at + 1);
    let line_end = memchr(b'\n', &bytes[bad..]).map_or(bytes.len(), |at| bad + at);
    let tabs = memchr::memchr_iter(b'\t', &bytes[line_start..bad]).count();
    let comment = bytes[line_start] == b'#';
    let lossy = String::from_utf8_lossy(bytes);
    Error::Malformed {
        place: Box::new(Place {
            file: name.clone(),
            line: line + newlines(&bytes[..bad]),
            column: Column::ALL.get(tabs).copied().filter(|_| !comment),
            sent_id: find_sent_id(lossy.lines()).map(str::to_owned),
        }),
        problem: match bytes[bad] {
            0 => Problem::Nul { in_line: bad - line_start, offset: offset + bad as u64 },
            byte => {
                Problem::NotUtf8 { byte, in_line: bad - line_start, offset: offset + bad as u64 }
            }
        },
        line: String::from_utf8_lossy(&bytes[line_start..line_end]).trim_end().to_owned(),
    }
}
