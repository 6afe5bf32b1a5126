//! Streaming reader: one sentence at a time, from any input.
//!
//! The reader looks for the blank line that ends a sentence and returns everything up to it. It
//! does not wait for more input, so a program can write a sentence and wait for the answer. Further
//! blank lines become the start of the next sentence or, at the end, the [`tail`](Reader::tail). A
//! sentence that cannot be read gives an error; the next call continues after its blank line.
//!
//! Cost: one pass for line ends, one for UTF-8, one for tabs, all vectorised; one copy of the text.

use std::fmt;
use std::io::Read;

use memchr::memchr;

use crate::buffer::Buffer;
use crate::parse::{BYTE_ORDER_MARK, is_blank};
use crate::{Encoding, Error, Format, Sentence};

/// Options of a [`Reader`].
///
/// ```
/// use tutte_treebank::{Format, Options};
///
/// let options = Options::default().with_name("farm.conllu").with_format(Format::ConllX);
/// assert_eq!(options.format, Some(Format::ConllX));
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Name of the input in messages; by default its path, or `input`.
    pub name: Option<String>,
    /// The format; by default recognised from the first sentence, see [`Format::recognise`].
    pub format: Option<Format>,
    /// The encoding; UTF-8 by default. Other encodings are converted to UTF-8.
    pub encoding: Encoding,
}

impl Options {
    /// Sets [`name`](Self::name).
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Sets [`format`](Self::format), or leaves it to be recognised.
    #[must_use]
    pub fn with_format(self, format: impl Into<Option<Format>>) -> Self {
        Self { format: format.into(), ..self }
    }

    /// Sets [`encoding`](Self::encoding).
    #[must_use]
    pub fn with_encoding(self, encoding: Encoding) -> Self {
        Self { encoding, ..self }
    }
}

/// An iterator over the sentences of an input. Only one sentence is in memory at a time.
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

/// Size of the next sentence in bytes and lines.
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

    /// The format, if it was given or a sentence has been read.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// Name of the input in messages.
    pub fn name(&self) -> &str {
        &self.buffer.name
    }

    /// Number of the next line, from 1.
    pub fn line(&self) -> u64 {
        self.buffer.line
    }

    /// Text after the last sentence, available once everything has been read: extra blank lines,
    /// usually none.
    pub fn tail(&self) -> &str {
        &self.tail
    }

    /// Returns a reader that skips sentences that cannot be read, and counts them.
    pub fn lenient(self) -> Lenient<R> {
        Lenient { reader: self, skipped: 0, errors: Vec::new() }
    }

    /// Reads the next sentence into an existing one, whose memory is reused. Returns `false` at the
    /// end. The content of `sentence` is then unspecified, as it is after an error.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a sentence that cannot be read; reading can continue with the next
    /// one. Any other error ends the reading.
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
        sentence.text.clear();
        sentence.text.push_str(text);
        if self.format.is_none() {
            self.format = Format::recognise_in(&sentence.text, &self.buffer.name);
        }
        sentence.parse_text(self.format, &self.buffer.name, line)?;
        Ok(true)
    }

    /// Reads up to the blank line that ends a sentence, or to the end of the input. Returns `None`
    /// if only blank lines are left.
    fn next_block(&mut self) -> Result<Option<Block>, Error> {
        let mut block = Block { bytes: 0, lines: 0 };
        // Length of the part of the current line that was searched for a newline.
        let mut searched = 0;
        let mut has_content = false;
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
                return Ok(has_content.then_some(block));
            }
            let at_start = self.buffer.offset == 0 && block.bytes == 0;
            block.bytes += line.len();
            block.lines += 1;
            searched = 0;
            if at_start {
                line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
            }
            if !is_blank(line.strip_suffix(b"\n").unwrap_or(line)) {
                has_content = true;
            } else if has_content {
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

/// A reader that skips sentences that cannot be read, and counts them. It still returns errors
/// after which nothing can be read.
#[derive(Debug)]
pub struct Lenient<R> {
    reader: Reader<R>,
    skipped: usize,
    errors: Vec<Error>,
}

impl<R: Read> Lenient<R> {
    /// Maximum number of errors kept.
    pub const ERRORS_KEPT: usize = 100;

    /// Number of skipped sentences.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// The errors of the first [`ERRORS_KEPT`](Self::ERRORS_KEPT) skipped sentences.
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
                "input:1: a sentence or line is longer than 1048576 bytes"
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
