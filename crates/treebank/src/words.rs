//! Sentences of which nothing is known but their words.
//!
//! ```text
//! vertical     one word a line, a blank line after every sentence; what follows a tab is not read
//! horizontal   one sentence a line, spaces or tabs between its words; blank lines say nothing
//! ```
//!
//! They become CoNLL-U: `# sent_id`, a number; `# text`, the words with spaces between them, since nobody
//! knows where there were none; a line a word with its form as it is, and `_` in all other columns.

use std::fmt::Write as _;
use std::io::Read;
use std::sync::Arc;

use memchr::memchr_iter;

use crate::buffer::LONGEST;
use crate::parse::is_blank;
use crate::{Column, Error, Format, Id, Lines, Place, Problem, Sentence};

/// How words are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// One word a line, a blank line after every sentence.
    Vertical,
    /// One sentence a line, spaces or tabs between its words.
    Horizontal,
}

/// Reads sentences that are cut into words, one at a time, as [`Reader`](crate::Reader) reads treebanks.
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
    /// The most words of a sentence.
    longest: usize,
    /// The number of the sentence that was read last.
    number: u64,
    /// Words read, a line end after each; those from `at` on are not yet handed out, so many.
    words: String,
    at: usize,
    pending: usize,
    /// The line of the first of them.
    line: u64,
    /// Whether they are the last of their sentence, and which part of it they are; 0 if it is not split.
    complete: bool,
    part: u64,
    /// Whether the rest of the sentence at hand is passed over.
    broken: bool,
}

impl<R: Read> WordReader<R> {
    /// The most words of a sentence: no real one has as many, and what can be done with one may cost their
    /// square or cube.
    pub const LONGEST: usize = 1000;

    /// Reads words that are laid out like this.
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
            complete: false,
            part: 0,
            broken: false,
        }
    }

    /// Goes on counting sentences after this number.
    #[must_use]
    pub fn after(self, number: u64) -> Self {
        Self { number, ..self }
    }

    /// Reads the next sentence into one that exists, whose memory is used again. `false` at the end;
    /// what the sentence then holds, or after an error, is not specified. A sentence of more than
    /// [`LONGEST`](Self::LONGEST) words is split; its parts are numbered by the comment `# tutte_split`.
    ///
    /// # Errors
    /// Those of [`Lines::next_line`].
    pub fn read(&mut self, sentence: &mut Sentence) -> Result<bool, Error> {
        while self.pending <= self.longest && !self.complete {
            if let Err(error) = self.read_line() {
                // A sentence with a word that cannot be read is none.
                self.words.clear();
                (self.at, self.pending, self.part) = (0, 0, 0);
                self.broken = self.layout == Layout::Vertical;
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
            (self.at, self.complete, self.part) = (0, false, 0);
        } else if self.at > self.words.len() / 2 {
            self.words.drain(..std::mem::take(&mut self.at));
        }
        Ok(true)
    }

    /// Reads the words of a line, or that a sentence ends.
    fn read_line(&mut self) -> Result<(), Error> {
        let line = match self.lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => {
                self.complete = true;
                return Ok(());
            }
            Err(Error::Malformed { .. }) if self.broken => return Ok(()),
            Err(error) => return Err(error),
        };
        if is_blank(line.as_bytes()) {
            (self.complete, self.broken) = (self.pending > 0, false);
            return Ok(());
        }
        if self.broken {
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
                self.complete = true;
            }
            // A \r inside a line is a line end of old; no word is lost, sentences are.
            Layout::Vertical => line.split('\r').for_each(|line| {
                let word = line.split('\t').next().unwrap_or(line).trim_matches(' ');
                // A line that starts with a tab has a word that nobody wrote down.
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
    /// Makes this a CoNLL-U sentence of these words, of which nothing else is known, with the `sent_id` of
    /// its place; its text is the words with spaces between them, unless it is given.
    ///
    /// # Errors
    /// [`Error::BadValue`] if a word is empty or holds a tab or a line end, [`Error::Malformed`] if there
    /// is no word, [`Error::TooLong`] if there are too many.
    pub fn assign_words<'w>(
        &mut self,
        words: impl Iterator<Item = &'w str> + Clone,
        text: Option<&str>,
        place: &Place,
    ) -> Result<(), Error> {
        if words.clone().next().is_none() {
            let (place, line) = (Box::new(place.clone()), String::new());
            return Err(Error::Malformed { place, problem: Problem::NoWords, line });
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
        // Two comments stand above the first word, which is where messages say it is.
        let first_line = place.line.saturating_sub(2);
        self.parse_text(Some(Format::ConllU), &place.file, first_line)
    }
}

fn too_long(file: &Arc<str>, line: u64) -> Error {
    let place = Place { file: file.clone(), line, column: None, sent_id: None };
    Error::TooLong { place: Box::new(place), limit: LONGEST }
}

/// Adds words to a comment and ends it: a line end inside one would end it too early.
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
        let (mut sentence, mut all) = (Sentence::default(), String::new());
        while reader.read(&mut sentence)? {
            all.push_str(sentence.as_str());
        }
        Ok(all)
    }

    const LEAVES: &str = "\t_\t_\t_\t_\t_\t_\t_\t_\n";

    #[test]
    fn both_layouts_say_the_same() {
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
        let odd = "a\0b \u{2028}\u{b}\u{85} e\u{301} \u{feff}x 👩\u{200d}🔬 _ 1\u{a0}000 \u{202e}x";
        let written = read(odd.as_bytes(), Layout::Horizontal).unwrap();
        let sentence: Sentence = written.parse().unwrap();
        let forms: Vec<&str> = sentence.words().map(|word| word.form()).collect();
        assert_eq!(forms, odd.split(' ').collect::<Vec<_>>());
        assert_eq!(read(odd.replace(' ', "\n").as_bytes(), Layout::Vertical).unwrap(), written);
        assert!(read(b"a\rb\n", Layout::Vertical).unwrap().contains("# text = a b\n"));
        assert!(read(b"a\n\tb\n", Layout::Vertical).unwrap().contains("# text = a _\n"));
    }

    #[test]
    fn what_is_not_utf_8_is_named_and_passed_over() {
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
                let (mut part, mut found) = (Sentence::default(), Vec::new());
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
    fn words_that_are_none_are_refused() {
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
