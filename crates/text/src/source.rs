//! Bytes to text, and text to blocks.

use std::io::{ErrorKind, Read};
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};
use tutte_treebank::{Place, Problem};

use super::characters::{class, class_of, ends_paragraph};
use crate::Error;

/// The most bytes of a paragraph that are looked at together.
pub(super) const BLOCK: usize = 1 << 17;
/// How much is read at once.
const READ: usize = 1 << 16;

/// The text of an input that was read and not yet consumed.
pub(super) struct Source<R> {
    input: R,
    name: Arc<str>,
    pub(super) text: String,
    /// Bytes of a character whose rest was not yet read.
    rest: Vec<u8>,
    /// How many bytes became text, how many line ends they have, and where the last line starts.
    read: u64,
    lines: u64,
    line_start: u64,
    /// What is wrong with what follows the text.
    pub(super) failure: Option<Error>,
    at_end: bool,
}

impl<R: Read> Source<R> {
    pub(super) fn new(input: R, name: &str) -> Self {
        Self {
            input,
            name: Arc::from(name),
            text: String::new(),
            rest: Vec::new(),
            read: 0,
            lines: 0,
            line_start: 0,
            failure: None,
            at_end: false,
        }
    }

    /// Whether the input ends at a byte of the text, and nothing is wrong with it there.
    pub(super) fn is_at_end(&self, byte: usize) -> bool {
        self.at_end && self.failure.is_none() && byte == self.text.len()
    }

    /// Forgets text.
    pub(super) fn consume(&mut self, bytes: usize) {
        self.text.drain(..bytes);
    }

    /// The length of the next block, with the white space after it, and whether it is a whole paragraph, or
    /// a line if lines are sentences. 0 if there is no more text, or no more before what is wrong with the
    /// input that is whole: nobody wants half a sentence.
    pub(super) fn next_block(&mut self, lines: bool) -> (usize, bool) {
        // Up to here there is no end.
        let mut searched = self.skip_spaces(0);
        if self.is_at_end(searched) {
            return (0, true);
        }
        let limit = searched + BLOCK;
        loop {
            let known = self.text.len().min(limit);
            match memchr(b'\n', &self.text.as_bytes()[searched..known]) {
                Some(newline) => {
                    let newline = searched + newline;
                    searched = self.skip_spaces(newline);
                    if lines
                        || ends_paragraph(&self.text[newline..searched])
                        || self.is_at_end(searched)
                    {
                        return (searched, true);
                    }
                }
                None if self.text.len() >= limit => return (self.cut(limit), false),
                None => {
                    searched = known;
                    if !self.fill() {
                        let end = if self.failure.is_some() { 0 } else { known };
                        return (end, true);
                    }
                }
            }
        }
    }

    /// The next place at or before a byte where no character belongs to the one before, and behind white
    /// space.
    fn cut(&mut self, limit: usize) -> usize {
        const MARKS: usize = 64;
        let mut cut = self.text.floor_char_boundary(limit);
        for _ in 0..MARKS {
            let joins = |c: char| class_of(c) == class::MARK || c == '\u{200D}';
            let (before, behind) = self.text.split_at(cut);
            if !behind.starts_with(joins) && !before.ends_with('\u{200D}') {
                break;
            }
            cut = self.text.floor_char_boundary(cut - 1);
        }
        self.skip_spaces(cut)
    }

    /// The first byte that is not white space, from a byte on.
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

    /// Reads more; `false` at the end of the input, or before what is wrong with it.
    fn fill(&mut self) -> bool {
        if self.at_end {
            return false;
        }
        let kept = self.rest.len();
        self.rest.resize(kept + READ, 0);
        let result = loop {
            match self.input.read(&mut self.rest[kept..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        let count = *result.as_ref().unwrap_or(&0);
        self.rest.truncate(kept + count);
        let (valid, is_wrong) = match str::from_utf8(&self.rest) {
            Ok(text) => (text.len(), false),
            Err(error) => (error.valid_up_to(), error.error_len().is_some() || count == 0),
        };
        self.accept(valid);
        if let Err(source) = result {
            let place = Box::new(self.place());
            self.failure = Some(tutte_treebank::Error::Read { place, source }.into());
        } else if is_wrong {
            self.failure = Some(self.not_utf8().into());
        }
        self.at_end = count == 0 || self.failure.is_some();
        valid > 0 || !self.at_end
    }

    /// Makes bytes text that are known to be some.
    fn accept(&mut self, valid: usize) {
        let text = str::from_utf8(&self.rest[..valid]).unwrap_or_default();
        let is_start = self.read == 0;
        self.text.push_str(text.strip_prefix('\u{feff}').filter(|_| is_start).unwrap_or(text));
        self.lines += memchr_iter(b'\n', text.as_bytes()).count() as u64;
        if let Some(newline) = memrchr(b'\n', text.as_bytes()) {
            self.line_start = self.read + newline as u64 + 1;
        }
        self.read += valid as u64;
        self.rest.drain(..valid);
    }

    fn not_utf8(&self) -> tutte_treebank::Error {
        let before = self.text.rsplit('\n').next().unwrap_or_default();
        let behind = self.rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let shown = &behind[..behind.len().min(80)];
        tutte_treebank::Error::Malformed {
            place: Box::new(self.place()),
            problem: Problem::NotUtf8 {
                byte: self.rest.first().copied().unwrap_or_default(),
                in_line: (self.read - self.line_start) as usize,
                offset: self.read,
            },
            line: format!("{before}{}", String::from_utf8_lossy(shown)),
        }
    }

    fn place(&self) -> Place {
        Place { file: self.name.clone(), line: self.lines + 1, column: None, sent_id: None }
    }
}
