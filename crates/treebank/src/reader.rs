//! Streaming: sentences one at a time, from anything that can be read.
//!
//! The reader looks for the blank line that closes a sentence and hands out everything up to and
//! including it, at once, without waiting for what follows: a program that writes a sentence and
//! waits for an answer gets it. Further blank lines become the start of the next sentence, or, at
//! the end, the [`tail`](Reader::tail). A sentence that cannot be read is an error and is passed
//! over; the next call goes on behind its blank line.
//!
//! Cost: one pass for line ends, one for UTF-8, one for tabs, all vectorised; one copy of the text.

use std::fmt;
use std::io::Read;

use memchr::memchr;

use crate::buffer::Buffer;
use crate::parse::{BYTE_ORDER_MARK, is_blank};
use crate::{Encoding, Error, Format, Sentence};

/// How to read, where the defaults will not do.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What messages call the input; by default its path, or `input`.
    pub name: Option<String>,
    /// The format; by default the first sentence decides, see [`Format::recognise`].
    pub format: Option<Format>,
    /// The encoding; UTF-8 by default. Other encodings are turned into UTF-8, and written so.
    pub encoding: Encoding,
}

/// An iterator over the sentences of an input, with one of them in memory at a time.
///
/// ```
/// use tutte_treebank::{Reader, Writer};
/// let file = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\thelps\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n";
///
/// let mut reader = Reader::new(file.as_bytes());
/// let mut writer = Writer::new(Vec::new());
/// for sentence in &mut reader {
///     writer.write(&sentence?)?;
/// }
/// writer.write_tail(reader.tail())?;
/// assert_eq!(writer.finish()?, file.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Reader<R> {
    buffer: Buffer<R>,
    format: Option<Format>,
    tail: String,
    finished: bool,
}

/// Where the next sentence ends: its bytes and lines.
struct Block {
    bytes: usize,
    lines: u64,
}

impl<R: Read> Reader<R> {
    /// Reads UTF-8 in either format. For files, standard input and compressed input, see
    /// [`open`](crate::open) and [`decompress`](crate::decompress).
    pub fn new(input: R) -> Self {
        Self::with_options(input, &Options::default())
    }

    /// Reads with options.
    pub fn with_options(input: R, options: &Options) -> Self {
        Self {
            buffer: Buffer::new(input, options.name.as_deref(), options.encoding),
            format: options.format,
            tail: String::new(),
            finished: false,
        }
    }

    /// The format, once a sentence has been read or if it was given.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// What messages call the input.
    pub fn name(&self) -> &str {
        &self.buffer.name
    }

    /// The number of the next line, from 1.
    pub fn line(&self) -> u64 {
        self.buffer.line
    }

    /// What followed the last sentence, once everything has been read: surplus blank lines, mostly
    /// none.
    pub fn tail(&self) -> &str {
        &self.tail
    }

    /// Passes over sentences that cannot be read, and counts them.
    pub fn lenient(self) -> Lenient<R> {
        Lenient { reader: self, skipped: 0, errors: Vec::new() }
    }

    /// Reads the next sentence into one that exists, whose memory is used again. `false` at the
    /// end; what the sentence then holds, or after an error, is not specified.
    ///
    /// # Errors
    /// [`Error::Malformed`], after which reading can go on with the next sentence; any other error
    /// is the end.
    pub fn read(&mut self, sentence: &mut Sentence) -> Result<bool, Error> {
        if self.finished {
            return Ok(false);
        }
        let block = match self.next_block() {
            Ok(Some(block)) => block,
            Ok(None) => {
                self.finished = true;
                // Blank lines and a byte order mark: always UTF-8.
                self.tail.push_str(&String::from_utf8_lossy(self.buffer.pending()));
                return Ok(false);
            }
            Err(error) => {
                self.finished = true;
                return Err(error);
            }
        };
        let line = self.buffer.line;
        let text = self.buffer.take(block.bytes, block.lines)?;
        if self.format.is_none() {
            self.format = Format::recognise(text);
        }
        sentence.text.clear();
        sentence.text.push_str(text);
        sentence.parse_text(self.format, &self.buffer.name, line)?;
        Ok(true)
    }

    /// Reads until the blank line that ends a sentence, or the end of the input; `None` if only
    /// blank lines are left.
    fn next_block(&mut self) -> Result<Option<Block>, Error> {
        let mut block = Block { bytes: 0, lines: 0 };
        // Bytes of the current line known to hold no newline.
        let mut searched = 0;
        let mut content = false;
        loop {
            let rest = &self.buffer.pending()[block.bytes..];
            let mut line = match memchr(b'\n', &rest[searched..]) {
                Some(at) => &rest[..searched + at + 1],
                None => {
                    searched = rest.len();
                    if self.buffer.fill()? {
                        continue;
                    }
                    &self.buffer.pending()[block.bytes..]
                }
            };
            if line.is_empty() {
                return Ok(content.then_some(block));
            }
            let at_start = self.buffer.offset == 0 && block.bytes == 0;
            block.bytes += line.len();
            block.lines += 1;
            searched = 0;
            if at_start {
                line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
            }
            if !is_blank(line.strip_suffix(b"\n").unwrap_or(line)) {
                content = true;
            } else if content {
                return Ok(Some(block));
            }
        }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Sentence, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut sentence = Sentence::default();
        self.read(&mut sentence).map(|found| found.then_some(sentence)).transpose()
    }
}

impl<R> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("name", &self.buffer.name)
            .field("line", &self.buffer.line)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

/// A reader that passes over sentences it cannot read, and counts them. Errors it still gives are
/// those after which nothing can be read.
#[derive(Debug)]
pub struct Lenient<R> {
    reader: Reader<R>,
    skipped: usize,
    errors: Vec<Error>,
}

impl<R: Read> Lenient<R> {
    /// How many errors are kept: enough to see what is wrong with a file.
    pub const ERRORS_KEPT: usize = 100;

    /// The number of sentences passed over.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Why the first [`ERRORS_KEPT`](Self::ERRORS_KEPT) of them could not be read.
    pub fn errors(&self) -> &[Error] {
        &self.errors
    }

    /// The reader inside.
    pub fn reader(&self) -> &Reader<R> {
        &self.reader
    }
}

impl<R: Read> Iterator for Lenient<R> {
    type Item = Result<Sentence, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.reader.next()? {
                Err(error @ Error::Malformed { .. }) => {
                    self.skipped += 1;
                    if self.errors.len() < Self::ERRORS_KEPT {
                        self.errors.push(error);
                    }
                }
                result => return Some(result),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_input_is_refused_before_memory_is_full() {
        for endless in [&b"x"[..], b"1\ta\n"] {
            let mut reader = Reader::new(Endless(endless));
            reader.buffer.longest = 1 << 20;
            let error = reader.next().unwrap().unwrap_err();
            assert_eq!(
                error.to_string(),
                "input:1: a sentence starts here that is longer than 1048576 bytes"
            );
            assert!(reader.next().is_none());
        }
    }

    struct Endless<'a>(&'a [u8]);

    impl Read for Endless<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let whole = out.len() - out.len() % self.0.len();
            out[..whole].chunks_exact_mut(self.0.len()).for_each(|c| c.copy_from_slice(self.0));
            Ok(whole)
        }
    }
}
