//! Input of a segmenter: decodes bytes to text and divides the text into blocks.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};
use tutte_treebank::{Place, Problem};

use crate::Error;
use crate::characters::{class, class_of, ends_paragraph};

/// Maximal number of bytes of a paragraph that are segmented together.
pub(crate) const MAX_BLOCK_BYTES: usize = 1 << 17;
/// Number of bytes that are read at once.
const READ_BYTES: usize = 1 << 16;

/// Text that was read from an input and not yet consumed.
pub(crate) struct Source<R> {
    input: R,
    name: Arc<str>,
    pub(crate) text: String,
    /// Bytes that are not yet text: the start of a character whose rest was not yet read.
    undecoded: Vec<u8>,
    /// Number of bytes that became text.
    decoded_bytes: u64,
    /// Number of line ends in them.
    line_ends: u64,
    /// Byte of the input at which the last line starts.
    line_start: u64,
    /// Bytes that are not UTF-8: their place in the text, where U+FFFD stands for them, and the error. At most one per
    /// line.
    invalid: VecDeque<(usize, Error)>,
    /// The error that follows the text: the input cannot be read.
    pub(crate) failure: Option<Error>,
    has_ended: bool,
}

impl<R: Read> Source<R> {
    pub(crate) fn new(input: R, name: &str) -> Self {
        Self {
            input,
            name: Arc::from(name),
            text: String::new(),
            undecoded: Vec::new(),
            decoded_bytes: 0,
            line_ends: 0,
            line_start: 0,
            invalid: VecDeque::new(),
            failure: None,
            has_ended: false,
        }
    }

    /// Returns `true` if the input ends without an error at this byte of the text.
    pub(crate) fn is_at_end(&self, byte: usize) -> bool {
        self.has_ended && self.failure.is_none() && byte == self.text.len()
    }

    /// Removes bytes from the start of the text.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.text.drain(..bytes);
        self.invalid.retain(|(at, _)| *at >= bytes);
        self.invalid.iter_mut().for_each(|(at, _)| *at -= bytes);
    }

    /// Returns the first error about bytes that are not UTF-8, up to a byte of the text.
    pub(crate) fn take_invalid(&mut self, end: usize) -> Option<Error> {
        self.invalid.pop_front_if(|(at, _)| *at < end).map(|(_, error)| error)
    }

    /// Returns the length of the next block, and `true` if the block is a whole paragraph. With `by_line`, a block is a
    /// whole line instead.
    ///
    /// A paragraph ends with the line end of the blank line after it. A block is given as soon as its end was read: the
    /// program at the other end of a pipe may wait for an answer. White space after it starts the next block.
    ///
    /// The length is 0 at the end of the text. It is also 0 if the input cannot be read up to the end of the block, so
    /// that no part of a sentence is given.
    pub(crate) fn next_block(&mut self, by_line: bool) -> (usize, bool) {
        // No block ends before this byte.
        let mut searched = self.skip_spaces(0);
        if self.is_at_end(searched) {
            return (0, true);
        }
        let limit = searched + MAX_BLOCK_BYTES;
        loop {
            let available = self.text.len().min(limit);
            match memchr(b'\n', &self.text.as_bytes()[searched..available]) {
                Some(newline) => {
                    let newline = searched + newline;
                    if by_line {
                        return (newline + 1, true);
                    }
                    searched = self.skip_paragraph_end(newline);
                    if ends_paragraph(&self.text[newline..searched]) || self.is_at_end(searched) {
                        return (searched, true);
                    }
                }
                None if self.text.len() >= limit => return (self.cut(limit), false),
                None => {
                    searched = available;
                    if !self.fill() {
                        let end = if self.failure.is_some() { 0 } else { available };
                        return (end, true);
                    }
                }
            }
        }
    }

    /// Returns the last byte up to `limit` at which the text can be cut: no character after it belongs to the one
    /// before it. White space after the cut is added.
    fn cut(&mut self, limit: usize) -> usize {
        /// Number of characters after which the search gives up.
        const MAX_STEPS: usize = 64;
        let mut cut = self.text.floor_char_boundary(limit);
        for _ in 0..MAX_STEPS {
            let joins = |c: char| class_of(c) == class::MARK || c == '\u{200D}';
            let (before, after) = self.text.split_at(cut);
            if !after.starts_with(joins) && !before.ends_with('\u{200D}') {
                break;
            }
            cut = self.text.floor_char_boundary(cut - 1);
        }
        self.skip_spaces(cut)
    }

    /// Returns the first byte from `from` on that is not white space, or the end of the first blank line in it.
    fn skip_paragraph_end(&mut self, from: usize) -> usize {
        let mut at = from;
        loop {
            let rest = &self.text[at..];
            let spaces = rest.len() - rest.trim_start().len();
            // The line end at `from`, and then that of the blank line.
            let first = if at == from { 1 } else { 0 };
            if let Some(end) = memchr(b'\n', &rest.as_bytes()[first.min(spaces)..spaces]) {
                return at + first + end + 1;
            }
            at += spaces;
            if at < self.text.len() || !self.fill() {
                return at;
            }
        }
    }

    /// Returns the first byte from `from` on that is not white space.
    fn skip_spaces(&mut self, mut from: usize) -> usize {
        loop {
            let rest = &self.text[from..];
            match rest.find(|c: char| !c.is_whitespace()) {
                Some(at) => return from + at,
                None => from = self.text.len(),
            }
            if !self.fill() {
                return from;
            }
        }
    }

    /// Reads more text. Returns `false` at the end of the input or at an error.
    fn fill(&mut self) -> bool {
        if self.has_ended {
            return false;
        }
        let kept = self.undecoded.len();
        self.undecoded.resize(kept + READ_BYTES, 0);
        let result = loop {
            match self.input.read(&mut self.undecoded[kept..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        let count = *result.as_ref().unwrap_or(&0);
        self.undecoded.truncate(kept + count);
        let before = self.text.len();
        self.decode_all(result.as_ref().is_ok_and(|&count| count == 0));
        if let Err(source) = result {
            let place = Box::new(self.place());
            self.failure = Some(tutte_treebank::Error::Read { place, source }.into());
        }
        self.has_ended = count == 0;
        self.text.len() > before || !self.has_ended
    }

    /// Decodes all bytes but the start of a character, which is invalid only at the end of the input.
    fn decode_all(&mut self, is_at_end: bool) {
        while let Err(error) = str::from_utf8(&self.undecoded) {
            self.decode(error.valid_up_to());
            let invalid = match error.error_len() {
                Some(length) => length,
                None if is_at_end => self.undecoded.len(),
                None => return,
            };
            let newline = memrchr(b'\n', self.text.as_bytes()).map_or(0, |newline| newline + 1);
            if self.invalid.back().is_none_or(|(at, _)| *at < newline) {
                self.invalid.push_back((self.text.len(), self.not_utf8().into()));
            }
            self.text.push('\u{fffd}');
            self.decoded_bytes += invalid as u64;
            self.undecoded.drain(..invalid);
        }
        self.decode(self.undecoded.len());
    }

    /// Appends bytes that are valid UTF-8 to the text, without a byte order mark at the start of the input. NUL, which no
    /// column of CoNLL-U may hold, becomes U+FFFD, the replacement character.
    fn decode(&mut self, valid: usize) {
        let text = str::from_utf8(&self.undecoded[..valid]).unwrap_or_default();
        let is_start = self.decoded_bytes == 0;
        let shown = text.strip_prefix('\u{feff}').filter(|_| is_start).unwrap_or(text);
        for (number, part) in shown.split('\0').enumerate() {
            self.text.push_str(if number > 0 { "\u{fffd}" } else { "" });
            self.text.push_str(part);
        }
        self.line_ends += memchr_iter(b'\n', text.as_bytes()).count() as u64;
        if let Some(newline) = memrchr(b'\n', text.as_bytes()) {
            self.line_start = self.decoded_bytes + newline as u64 + 1;
        }
        self.decoded_bytes += valid as u64;
        self.undecoded.drain(..valid);
    }

    fn not_utf8(&self) -> tutte_treebank::Error {
        let before = self.text.rsplit('\n').next().unwrap_or_default();
        let after = self.undecoded.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let shown = &after[..after.len().min(80)];
        tutte_treebank::Error::Malformed {
            place: Box::new(self.place()),
            problem: Problem::NotUtf8 {
                byte: self.undecoded.first().copied().unwrap_or_default(),
                in_line: (self.decoded_bytes - self.line_start) as usize,
                offset: self.decoded_bytes,
            },
            line: format!("{before}{}", String::from_utf8_lossy(shown)),
        }
    }

    fn place(&self) -> Place {
        Place { file: self.name.clone(), line: self.line_ends + 1, column: None, sent_id: None }
    }
}
