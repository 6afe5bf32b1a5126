//! Text to sentences, one at a time, from anything that can be read.
//!
//! Text is taken paragraph by paragraph (up to a blank line), and at most 2¹⁷ bytes of a paragraph at
//! once. A longer one is cut where its last sentence starts, as far as can be seen, and goes on from there;
//! if that is too far back, before its last token; if there is only one, where the block ends. What is
//! found depends on the text only, not on how it arrives. Memory: a block, and white space of any length.

use std::fmt;
use std::io::Read;

use tutte_linear::{Compact, Weights};
use tutte_treebank::Sentence;

use super::characters::ends_paragraph;
use super::conllu_output::{Layout, Written};
use super::source::{BLOCK, Source};
use super::tokenizer::{Found, Tokenizer};
use crate::Error;

/// How to take text apart, where the defaults will not do.
#[derive(Clone, Debug)]
pub struct SegmenterOptions {
    /// What messages call the input.
    pub name: String,
    /// Whether each line is one sentence.
    pub presegmented: bool,
    /// Whether to write `TokenRange=start:end`, in characters from the start of the input, to MISC.
    pub ranges: bool,
    /// The most words of a sentence. A longer one is split at its most probable inner breaks, and its
    /// parts are numbered by the comment `# tutte_split`.
    pub longest: usize,
    /// The number of the first sentence.
    pub first_id: u64,
}

impl Default for SegmenterOptions {
    fn default() -> Self {
        let name = "input".to_owned();
        Self { name, presegmented: false, ranges: false, longest: 1000, first_id: 1 }
    }
}

/// Sentences of raw text, with one block of it in memory at a time.
///
/// Sentences are CoNLL-U with ID, FORM and MISC; `SpaceAfter`, `SpacesAfter` and `SpacesBefore` hold the white
/// space, so that [`raw_text`](super::raw_text) of them all is the input again (a byte order mark is
/// dropped, and text without any word gives no sentence).
///
/// ```
/// use tutte_text::{Segmenter, Tokenizer, raw_text};
/// use tutte_treebank::Sentence;
///
/// let text = "  Tea?\nYes, tea.\n\nNow!\n";
/// let tokenizer = Tokenizer::fallback();
/// let sentences: Vec<Sentence> =
///     Segmenter::new(&tokenizer, text.as_bytes()).collect::<Result<_, _>>()?;
/// assert_eq!(sentences[0].as_str(), "\
/// ## newdoc
/// ## newpar
/// ## sent_id = 1
/// ## text = Tea?
/// 1\tTea\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|SpacesBefore=\\s\\s
/// 2\t?\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\n
///
/// ");
/// assert_eq!(sentences.len(), 3);
/// assert_eq!(raw_text(&sentences), text);
/// # Ok::<(), tutte::Error>(())
/// ```
pub struct Segmenter<'a, R, W = Compact> {
    tokenizer: &'a Tokenizer<W>,
    options: SegmenterOptions,
    source: Source<R>,
    /// The length of the block at hand, with which the source's text starts.
    block: usize,
    found: Found,
    /// The sentences of the block: the number of tokens up to the end of each, and whether it goes on.
    sentences: Vec<(usize, bool)>,
    /// How many of them were given.
    given: usize,
    /// Whether the block starts a paragraph.
    new_paragraph: bool,
    written: Written,
    finished: bool,
}

impl<'a, R: Read, W: Weights> Segmenter<'a, R, W> {
    /// Takes UTF-8 apart.
    pub fn new(tokenizer: &'a Tokenizer<W>, input: R) -> Self {
        Self::with_options(tokenizer, input, SegmenterOptions::default())
    }

    /// With options.
    pub fn with_options(tokenizer: &'a Tokenizer<W>, input: R, options: SegmenterOptions) -> Self {
        let options = SegmenterOptions { longest: options.longest.max(1), ..options };
        Self {
            source: Source::new(input, &options.name),
            written: Written::new(options.first_id, options.ranges),
            tokenizer,
            options,
            block: 0,
            found: Found::default(),
            sentences: Vec::new(),
            given: 0,
            new_paragraph: true,
            finished: false,
        }
    }

    /// Reads the next sentence into `sentence`, whose memory is used again; `false` at the end.
    ///
    /// # Errors
    /// If the input cannot be read or is not UTF-8. Paragraphs (or lines, if these are sentences) that ended
    /// before that have been given; nothing of the one at hand is, and nothing follows.
    pub fn read(&mut self, sentence: &mut Sentence) -> Result<bool, Error> {
        while self.given == self.sentences.len() {
            if self.finished {
                return Ok(false);
            }
            if let Err(error) = self.next_block() {
                self.finished = true;
                return Err(error);
            }
        }
        let start = self.given.checked_sub(1).map_or(0, |before| self.sentences[before].0);
        let (end, goes_on) = self.sentences[self.given];
        self.given += 1;
        let is_last_of_block = self.given == self.sentences.len();
        let layout = Layout {
            text: &self.source.text[..self.block],
            tokens: &self.found.tokens,
            sentence: start..end,
            goes_on,
            new_paragraph: start == 0 && self.new_paragraph,
            ends_input: is_last_of_block && self.source.is_at_end(self.block),
        };
        self.written.write(&layout, |rule| self.tokenizer.rule(rule), sentence)?;
        Ok(true)
    }

    /// Takes the next block apart.
    fn next_block(&mut self) -> Result<(), Error> {
        self.sentences.clear();
        self.given = 0;
        let before = &self.source.text[..self.block];
        let spaces = &before[before.trim_end_matches(char::is_whitespace).len()..];
        self.new_paragraph = before.is_empty() || ends_paragraph(spaces);
        self.written.leave(before);
        self.source.consume(self.block);
        let (end, whole) = self.source.next_block(self.options.presegmented);
        self.block = end;
        if end == 0 {
            self.finished = true;
            return self.source.failure.take().map_or(Ok(()), Err);
        }
        let one_sentence = self.options.presegmented && whole;
        self.tokenizer.find(&self.source.text[..end], one_sentence, &mut self.found);
        self.split_long_sentences();
        if !whole {
            self.leave_the_rest();
        }
        Ok(())
    }

    /// Splits sentences with too many words.
    fn split_long_sentences(&mut self) {
        let Found { tokens, ends, probabilities, .. } = &self.found;
        let words = |token: usize| {
            let rule = tokens[token].rule.and_then(|rule| self.tokenizer.rule(rule));
            rule.map_or(1, |rule| rule.words())
        };
        let mut start = 0;
        for &end in ends {
            let mut count = 0;
            let mut at = start;
            while at < end {
                count += words(at);
                if count > self.options.longest && at > start {
                    // In the second half, so that parts are not too short.
                    let half = start + 1 + (at - start - 1) / 2;
                    let likely = |a: &usize, b: &usize| {
                        probabilities[a - 1].total_cmp(&probabilities[b - 1])
                    };
                    let split = (half..=at).max_by(likely).unwrap_or(at);
                    self.sentences.push((split, true));
                    (start, at, count) = (split, split, 0);
                } else {
                    at += 1;
                }
            }
            self.sentences.push((end, false));
            start = end;
        }
    }

    /// Keeps what may not be all of its sentence, or of its token, for the next block.
    fn leave_the_rest(&mut self) {
        let tokens = &self.found.tokens;
        let count = self.sentences.len();
        let last_start = count.checked_sub(2).map_or(0, |before| self.sentences[before].0);
        if last_start > 0 && tokens[last_start].start > BLOCK / 2 {
            self.sentences.pop();
            self.block = tokens[last_start].start;
        } else if let Some((end, goes_on)) = self.sentences.last_mut() {
            *goes_on = true;
            if *end - last_start > 1 {
                *end -= 1;
                self.block = tokens[*end].start;
            }
        }
    }
}

impl<R: Read, W: Weights> Iterator for Segmenter<'_, R, W> {
    type Item = Result<Sentence, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut sentence = Sentence::default();
        self.read(&mut sentence).map(|found| found.then_some(sentence)).transpose()
    }
}

impl<R, W> fmt::Debug for Segmenter<'_, R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segmenter").field("options", &self.options).finish_non_exhaustive()
    }
}
