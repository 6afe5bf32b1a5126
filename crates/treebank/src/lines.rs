//! Lines of a text, read one at a time in bounded memory.

use std::fmt;
use std::io::Read;
use std::sync::Arc;

use memchr::memchr;

use crate::buffer::Buffer;
use crate::parse::BYTE_ORDER_MARK;
use crate::{Encoding, Error};

/// The lines of an input, without their ends (`\n` or `\r\n`). A byte order mark at the start is
/// removed.
///
/// ```
/// use tutte_treebank::{Encoding, Lines};
/// let mut lines = Lines::new("tea\r\nfor two".as_bytes(), "order.txt", Encoding::UTF_8);
/// assert_eq!(lines.next_line()?, Some("tea"));
/// assert_eq!(lines.next_line()?, Some("for two"));
/// assert_eq!(lines.number(), 2);
/// assert_eq!(lines.next_line()?, None);
/// # Ok::<(), tutte_treebank::Error>(())
/// ```
pub struct Lines<R> {
    buffer: Buffer<R>,
    /// Number of the last line that was read.
    number: u64,
    finished: bool,
}

impl<R: Read> Lines<R> {
    /// Reads the lines of an input in this encoding. Messages use the name for the input.
    pub fn new(input: R, name: &str, encoding: Encoding) -> Self {
        Self { buffer: Buffer::new(input, Some(name), encoding), number: 0, finished: false }
    }

    /// Name of the input in messages.
    pub fn name(&self) -> &Arc<str> {
        &self.buffer.name
    }

    /// Number of the last line that was read, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the next line, or `None` at the end. The last line may lack a line end.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a line that is not UTF-8; reading can continue with the next line.
    /// Any other error ends the reading, for instance a line of more than 256 MB.
    pub fn next_line(&mut self) -> Result<Option<&str>, Error> {
        if self.finished {
            return Ok(None);
        }
        let length = self.length().inspect_err(|_| self.finished = true)?;
        if length == 0 {
            self.finished = true;
            return Ok(None);
        }
        self.number = self.buffer.line;
        let at_start = self.buffer.offset == 0;
        let line = self.buffer.take(length, 1)?;
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mark = if at_start { BYTE_ORDER_MARK } else { &[] };
        Ok(Some(if line.as_bytes().starts_with(mark) { &line[mark.len()..] } else { line }))
    }

    /// Returns the length of the next line in bytes, with its end; 0 if there is none.
    fn length(&mut self) -> Result<usize, Error> {
        let mut searched = 0;
        loop {
            let pending = self.buffer.pending();
            if let Some(at) = memchr(b'\n', &pending[searched..]) {
                return Ok(searched + at + 1);
            }
            searched = pending.len();
            if !self.buffer.fill()? {
                return Ok(searched);
            }
        }
    }
}

impl<R> fmt::Debug for Lines<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Lines");
        shown.field("name", &self.buffer.name).field("number", &self.number).finish_non_exhaustive()
    }
}
