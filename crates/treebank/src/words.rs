//! Reader for tokenised text without other annotation.
//!
//! ```text
//! vertical     one word per line, a blank line after every sentence; text after a tab is ignored
//! horizontal   one sentence per line, words separated by spaces or tabs; blank lines are ignored
//! ```
//!
//! Sentences become CoNLL-U. `# sent_id` is a number. `# text` is the words with spaces between
//! them, since the original spacing is unknown. Each word is one line with its form, and `_` in all
//! other columns.

use std::fmt::Write as _;
use std::io::Read;
use std::sync::Arc;

use memchr::memchr_iter;

use crate::buffer::LONGEST;
use crate::parse::is_blank;
use crate::{Column, Error, Format, Id, Lines, Place, Problem, Sentence};

/// Layout of words in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// One word per line, a blank line after every sentence.
    Vertical,
    /// One sentence per line, words separated by spaces or tabs.
    Horizontal,
}

/// Reads tokenised text one sentence at a time, as [`Reader`](crate::Reader) reads treebanks.
///
/// ```
/// use tutte_treebank::{Encoding, Layout, Lines, Sentence, WordReader};
/// let lines = Lines::new("Tea helps .\n".as_bytes(), "tea.txt", Encoding::UTF_8);
/// let mut reader = WordReader::new(lines, Layout::Horizontal);
/// let mut sentence = Sentence::default();
/// assert!(reader.read(&mut sentence)?);
/// assert_eq!((sentence.len(), sentence.text()), (3, Some("Tea helps .")));
/// assert!(!reader.read(&mut sentence)?);
/// # Ok::<(), tutte_treebank::Error>(())
/// ```
#[derive(Debug)]
pub struct WordReader<R> {
    lines: Lines<R>,
    layout: Layout,
    /// Maximum number of words of a sentence.
    longest: usize,
    /// Number of the last sentence that was read.
    number: u64,
    /// Words that were read, each with a line end. The `pending` words from `at` on are not yet
    /// handed out.
    words: String,
    at: usize,
    pending: usize,
    /// Line of the first pending word.
    line: u64,
    /// True if the pending words end their sentence.
    is_complete: bool,
    /// Number of the last part of a sentence that was split; 0 if it was not split.
    part: u64,
    /// True if the rest of the current sentence is skipped.
    is_broken: bool,
}

impl<R: Read> WordReader<R> {
    /// Maximum number of words of a sentence. Real sentences are shorter, and algorithms may cost
    /// the square or cube of their length.
    pub const LONGEST: usize = 1000;

    /// Reads words in this layout.
    pub fn new(lines: Lines<R>, layout: Layout) -> Self {
        Self {
            lines,
            layout,
            longest: Self::LONGEST,
            number: 0,
            words: String::new(),
            at: 0,
            pending: 0,
            line: 0,
            is_complete: false,
            part: 0,
            is_broken: false,
        }
    }

    /// Sets the number of the last sentence, so that the next one is `number + 1`.
    #[must_use]
    pub fn after(self, number: u64) -> Self {
        Self { number, ..self }
    }

    /// Reads the next sentence into an existing one, whose memory is reused. Returns `false` at the
    /// end. The content of `sentence` is then unspecified, as it is after an error. A sentence of
    /// more than [`LONGEST`](Self::LONGEST) words is split. The comment `# tutte_split` numbers its
    /// parts.
    ///
    /// # Errors
    /// The errors of [`Lines::next_line`].
    pub fn read(&mut self, sentence: &mut Sentence) -> Result<bool, Error> {
        while self.pending <= self.longest && !self.is_complete {
            if let Err(error) = self.read_line() {
                // A sentence with a word that cannot be read is dropped.
                self.words.clear();
                self.at = 0;
                self.pending = 0;
                self.part = 0;
                self.is_broken = self.layout == Layout::Vertical;
                return Err(error);
            }
        }
        let here = self.pending.min(self.longest);
        if here == 0 {
            return Ok(false);
        }
        self.number += 1;
        let place = Place {
            file: self.lines.name().clone(),
            line: self.line,
            column: None,
            sent_id: Some(self.number.to_string()),
        };
        let rest = &self.words[self.at..];
        let length =
            memchr_iter(b'\n', rest.as_bytes()).nth(here - 1).map_or(rest.len(), |at| at + 1);
        sentence.assign_words(rest[..length].split_terminator('\n'), None, &place)?;
        self.at += length;
        self.pending -= here;
        if self.pending > 0 || self.part > 0 {
            self.part += 1;
            sentence.set_comment("tutte_split", Some(&self.part.to_string()))?;
        }
        if self.pending == 0 {
            self.words.clear();
            self.at = 0;
            self.is_complete = false;
            self.part = 0;
        } else if self.at > self.words.len() / 2 {
            self.words.drain(..std::mem::take(&mut self.at));
        }
        Ok(true)
    }

    /// Reads the words of a line, or the end of a sentence.
    fn read_line(&mut self) -> Result<(), Error> {
        let line = match self.lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => {
                self.is_complete = true;
                return Ok(());
            }
            Err(Error::Malformed { .. }) if self.is_broken => return Ok(()),
            Err(error) => return Err(error),
        };
        if is_blank(line.as_bytes()) {
            self.is_complete = self.pending > 0;
            self.is_broken = false;
            return Ok(());
        }
        if self.is_broken {
            return Ok(());
        }
        let mut pending = self.pending;
        let mut push = |word: &str| {
            self.words.push_str(word);
            self.words.push('\n');
            pending += 1;
        };
        match self.layout {
            Layout::Horizontal => {
                let words = line.split([' ', '\t', '\r']);
                words.filter(|word| !word.is_empty()).for_each(&mut push);
                self.is_complete = true;
            }
            // A \r inside a line is an old line end. It ends a word; it cannot end a sentence.
            Layout::Vertical => line.split('\r').for_each(|line| {
                let word = line.split('\t').next().unwrap_or(line).trim_matches(' ');
                // A line that starts with a tab has an unknown form.
                push(if word.is_empty() { "_" } else { word });
            }),
        }
        if self.pending == 0 {
            self.line = self.lines.number();
        }
        self.pending = pending;
        Ok(())
    }
}

impl Sentence {
    /// Makes this a CoNLL-U sentence of these words without other annotation. The `sent_id` is that
    /// of the place. The text is the words with spaces between them, unless it is given.
    ///
    /// # Errors
    /// [`Error::BadValue`] if a word is empty or contains a tab or a line end, [`Error::Malformed`]
    /// if there are no words, [`Error::TooLong`] if there are too many.
    pub fn assign_words<'w>(
        &mut self,
        words: impl Iterator<Item = &'w str> + Clone,
        text: Option<&str>,
        place: &Place,
    ) -> Result<(), Error> {
        if words.clone().next().is_none() {
            return Err(Error::Malformed {
                place: Box::new(place.clone()),
                problem: Problem::NoWords,
                line: String::new(),
            });
        }
        self.format = Format::ConllU;
        self.text.clear();
        if let Some(id) = &place.sent_id {
            self.text.push_str("# sent_id = ");
            push_line(&mut self.text, [id.as_str()].into_iter());
        }
        self.text.push_str("# text = ");
        match text {
            Some(text) => push_line(&mut self.text, text.split_whitespace()),
            None => push_line(&mut self.text, words.clone()),
        }
        for (number, word) in (1..).zip(words) {
            if self.text.len() > LONGEST {
                return Err(too_long(&place.file, place.line));
            }
            self.check_value(Id::Word(number), Column::Form, word)?;
            let _ = writeln!(self.text, "{number}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_");
        }
        self.text.push('\n');
        // Two comments stand above the first word, which has the line of `place`.
        let first_line = place.line.saturating_sub(2);
        self.parse_text(Some(Format::ConllU), &place.file, first_line)
    }
}

fn too_long(file: &Arc<str>, line: u64) -> Error {
    let place = Place { file: file.clone(), line, column: None, sent_id: None };
    Error::TooLong { place: Box::new(place), limit: LONGEST }
}

/// Appends words to a comment and ends its line. Line ends and tabs inside a word become spaces.
fn push_line<'w>(text: &mut String, words: impl Iterator<Item = &'w str>) {
    for (at, word) in words.enumerate() {
        text.push_str(if at > 0 { " " } else { "" });
        text.extend(word.chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c }));
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Encoding;

    fn read(text: &[u8], layout: Layout) -> Result<String, Error> {
        let mut reader = WordReader::new(Lines::new(text, "words.txt", Encoding::UTF_8), layout);
        let mut sentence = Sentence::default();
        let mut all = String::new();
        while reader.read(&mut sentence)? {
            all.push_str(sentence.as_str());
        }
        Ok(all)
    }

    const LEAVES: &str = "\t_\t_\t_\t_\t_\t_\t_\t_\n";

    #[test]
    fn both_layouts_give_the_same_sentences() {
        let expected = format!(
            "# sent_id = 1\n# text = # Tea !\n1\t#{LEAVES}2\tTea{LEAVES}3\t!{LEAVES}\n\
             # sent_id = 2\n# text = Ah\n1\tAh{LEAVES}\n"
        );
        for vertical in
            ["#\nTea\n!\n\nAh", "\u{feff}\r\n#\r\nTea\tNOUN\r\n!\r\n \r\n\r\nAh\r\n\r\n"]
        {
            assert_eq!(read(vertical.as_bytes(), Layout::Vertical).unwrap(), expected);
        }
        for horizontal in ["# Tea !\nAh\n", "\r\n#  Tea\t! \r\n\r\nAh"] {
            assert_eq!(read(horizontal.as_bytes(), Layout::Horizontal).unwrap(), expected);
        }
        assert_eq!(read(b" \r\n\n", Layout::Vertical).unwrap(), "");
    }

    #[test]
    fn odd_characters_are_characters() {
        let odd =
            "a\u{1}b \u{2028}\u{b}\u{85} e\u{301} \u{feff}x 👩\u{200d}🔬 _ 1\u{a0}000 \u{202e}x";
        let written = read(odd.as_bytes(), Layout::Horizontal).unwrap();
        let sentence: Sentence = written.parse().unwrap();
        let forms: Vec<&str> = sentence.words().map(|word| word.form()).collect();
        assert_eq!(forms, odd.split(' ').collect::<Vec<_>>());
        assert_eq!(read(odd.replace(' ', "\n").as_bytes(), Layout::Vertical).unwrap(), written);
        assert!(read(b"a\rb\n", Layout::Vertical).unwrap().contains("# text = a b\n"));
        assert!(read(b"a\n\tb\n", Layout::Vertical).unwrap().contains("# text = a _\n"));
    }

    #[test]
    fn invalid_utf_8_is_reported_and_skipped() {
        let lines = Lines::new(&b"Tea\ncaf\xe9 ol\xe9\nAh\n"[..], "words.txt", Encoding::UTF_8);
        let mut reader = WordReader::new(lines, Layout::Horizontal).after(7);
        let mut sentence = Sentence::default();
        assert!(reader.read(&mut sentence).unwrap());
        assert_eq!((sentence.sent_id(), sentence.text()), (Some("8"), Some("Tea")));
        let error = reader.read(&mut sentence).unwrap_err().to_string();
        assert!(error.starts_with("words.txt:2:1: byte 0xE9 is not UTF-8 (byte 3"), "{error}");
        assert!(reader.read(&mut sentence).unwrap());
        assert_eq!(sentence.place().line, 3);
        let words = &b"She\ncaf\xe9\nol\xe9\nthere\n\nAh\n"[..];
        let lines = Lines::new(words, "words.txt", Encoding::UTF_8);
        let mut reader = WordReader::new(lines, Layout::Vertical);
        assert!(reader.read(&mut sentence).is_err());
        assert!(reader.read(&mut sentence).unwrap());
        assert_eq!((sentence.sent_id(), sentence.text()), (Some("1"), Some("Ah")));
        assert!(!reader.read(&mut sentence).unwrap());
        let lines = Lines::new(&b"caf\xe9"[..], "words.txt", "latin1".parse().unwrap());
        assert!(WordReader::new(lines, Layout::Vertical).read(&mut sentence).unwrap());
        assert_eq!(sentence.text(), Some("café"));
    }

    #[test]
    fn long_sentences_are_split_and_flagged() {
        for (layout, between) in [(Layout::Vertical, "\n"), (Layout::Horizontal, " ")] {
            for words in [1, 4, 5, 6, 10, 11] {
                let sentence: Vec<String> = (1..=words).map(|word| word.to_string()).collect();
                let text = format!("{}\n\nAh\n", sentence.join(between));
                let lines = Lines::new(text.as_bytes(), "words.txt", Encoding::UTF_8);
                let mut reader = WordReader::new(lines, layout);
                reader.longest = 5;
                let mut part = Sentence::default();
                let mut found = Vec::new();
                let parts = usize::div_ceil(words, 5);
                for number in 1..=parts {
                    assert!(reader.read(&mut part).unwrap());
                    found.extend(part.words().map(|word| word.form().to_owned()));
                    let flag = (parts > 1).then(|| number.to_string());
                    assert_eq!(part.comment("tutte_split"), flag.as_deref());
                    assert_eq!(part.sent_id(), Some(number.to_string().as_str()));
                }
                assert_eq!(found, sentence, "{layout:?}");
                assert!(reader.read(&mut part).unwrap());
                assert_eq!((part.text(), part.comment("tutte_split")), (Some("Ah"), None));
                assert!(!reader.read(&mut part).unwrap());
            }
        }
    }

    #[test]
    fn invalid_words_are_refused() {
        let place = Place { file: "x".into(), line: 1, column: None, sent_id: None };
        let mut sentence = Sentence::default();
        for (words, expected) in [
            (&["a", "b\tc"][..], "FORM of line 2 cannot be \"b\\tc\""),
            (&["a\t_\n2\tb"], "FORM of line 1 cannot be"),
            (&[""], "FORM of line 1 cannot be"),
            (&[], "x:1: a sentence without words"),
        ] {
            let error = sentence.assign_words(words.iter().copied(), None, &place).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
        }
        let words = ["don't", "stop"].into_iter();
        sentence.assign_words(words, Some("don't\nstop "), &place).unwrap();
        assert_eq!((sentence.text(), sentence.sent_id()), (Some("don't stop"), None));
    }
}
