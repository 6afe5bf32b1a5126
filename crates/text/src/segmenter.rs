//! Reads raw text from any input and gives its sentences one at a time.
//!
//! Text is segmented paragraph by paragraph (up to a blank line), and at most 2¹⁷ bytes of a paragraph at once. A
//! longer paragraph is cut before the last sentence of the block, and the next block starts there. If that sentence
//! starts too far back, the cut is before the last token. If the block is one token, the cut is at its end. Sentences
//! depend on the text only, not on the sizes of the reads. Memory: one block, and white space of any length.

use std::fmt;
use std::io::Read;

use tutte_linear::{Compact, Weights};
use tutte_treebank::Sentence;

use crate::Error;
use crate::characters::ends_paragraph;
use crate::conllu_output::{ConlluWriter, SentenceInBlock};
use crate::segmentation::Segmentation;
use crate::source::{MAX_BLOCK_BYTES, Source};
use crate::tokenizer::{Tokenizer, Workspace};

/// Options of a [`Segmenter`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SegmenterOptions {
    /// Name of the input in error messages.
    pub name: String,
    /// Takes each line as one sentence.
    pub presegmented: bool,
    /// Writes `TokenRange=start:end` to MISC, in characters from the start of the input.
    pub ranges: bool,
    /// Maximal number of words of a sentence. A longer one is split at its most probable inner breaks, and the
    /// comment `# tutte_split` numbers its parts.
    pub longest: usize,
    /// `sent_id` of the first sentence; the others count on from it.
    pub first_id: u64,
}

tutte_linear::setters! {
    SegmenterOptions {
        with_name => name: String,
        with_presegmented => presegmented: bool,
        with_ranges => ranges: bool,
        with_longest => longest: usize,
        with_first_id => first_id: u64,
    }
}

impl Default for SegmenterOptions {
    fn default() -> Self {
        let name = "input".to_owned();
        Self { name, presegmented: false, ranges: false, longest: 1000, first_id: 1 }
    }
}

/// Iterator over the sentences of raw text, with one block of text in memory at a time.
///
/// Sentences are CoNLL-U with ID, FORM and MISC. `SpaceAfter`, `SpacesAfter` and `SpacesBefore` hold the white space,
/// so [`raw_text`](crate::raw_text()) of all sentences is the input again. Only a byte order mark is dropped, and white
/// space that stands alone: a text without words, and what follows the last blank line (the last line end if the text
/// is presegmented). NUL becomes U+FFFD.
///
/// A sentence is given as soon as the end of its paragraph was read, or the end of its line.
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
/// # Ok::<(), tutte_text::Error>(())
/// ```
pub struct Segmenter<'a, R, W = Compact> {
    tokenizer: &'a Tokenizer<W>,
    options: SegmenterOptions,
    source: Source<R>,
    /// Length of the current block, with which the text of `source` starts.
    block: usize,
    workspace: Workspace,
    /// Sentences of the block.
    sentences: Vec<SentenceEnd>,
    /// Index of the next sentence to give.
    next: usize,
    /// `true` if the block starts a paragraph.
    starts_paragraph: bool,
    writer: ConlluWriter,
    is_finished: bool,
}

/// End of a sentence, or of a part of one, in a block.
#[derive(Clone, Copy, Debug)]
struct SentenceEnd {
    /// Number of tokens of the block before it.
    tokens: usize,
    /// `true` if another part of the same sentence follows.
    is_continued: bool,
}

impl<'a, R: Read, W: Weights> Segmenter<'a, R, W> {
    /// Creates a segmenter of UTF-8 text, with the default options.
    pub fn new(tokenizer: &'a Tokenizer<W>, input: R) -> Self {
        Self::with_options(tokenizer, input, SegmenterOptions::default())
    }

    /// Creates a segmenter with options.
    pub fn with_options(tokenizer: &'a Tokenizer<W>, input: R, options: SegmenterOptions) -> Self {
        let options = SegmenterOptions { longest: options.longest.max(1), ..options };
        Self {
            source: Source::new(input, &options.name),
            writer: ConlluWriter::new(options.first_id, options.ranges),
            tokenizer,
            options,
            block: 0,
            workspace: Workspace::default(),
            sentences: Vec::new(),
            next: 0,
            starts_paragraph: true,
            is_finished: false,
        }
    }

    /// Reads the next sentence into `sentence`, whose memory is reused. Returns `false` at the end of the input.
    ///
    /// # Errors
    /// If the input cannot be read or is not UTF-8. Sentences of all paragraphs before the error are given first (of
    /// all lines if the text is presegmented). The paragraph or line with bytes that are not UTF-8 gives none, and the
    /// next call continues after it. An input that cannot be read ends there.
    pub fn read(&mut self, sentence: &mut Sentence) -> Result<bool, Error> {
        while self.next == self.sentences.len() {
            if self.is_finished {
                return Ok(false);
            }
            self.next_block()?;
        }
        let start = self.next.checked_sub(1).map_or(0, |before| self.sentences[before].tokens);
        let SentenceEnd { tokens: end, is_continued } = self.sentences[self.next];
        self.next += 1;
        let is_last_of_block = self.next == self.sentences.len();
        let block = SentenceInBlock {
            text: &self.source.text[..self.block],
            tokens: &self.workspace.segmentation.tokens,
            sentence: start..end,
            is_continued,
            starts_paragraph: start == 0 && self.starts_paragraph,
            ends_input: is_last_of_block && self.source.is_at_end(self.block),
        };
        self.writer.write(&block, |rule| self.tokenizer.rule(rule), sentence)?;
        Ok(true)
    }

    /// Reads the next block and divides it into sentences.
    fn next_block(&mut self) -> Result<(), Error> {
        self.sentences.clear();
        self.next = 0;
        let before = &self.source.text[..self.block];
        let mut spaces = before[before.trim_end_matches(char::is_whitespace).len()..].to_owned();
        let is_first = before.is_empty();
        self.writer.finish_block(before);
        self.source.consume(self.block);
        let (end, is_whole) = self.source.next_block(self.options.presegmented);
        let block = &self.source.text[..end];
        spaces.push_str(&block[..end - block.trim_start().len()]);
        self.starts_paragraph = is_first || ends_paragraph(&spaces);
        self.block = end;
        if end == 0 {
            self.is_finished = true;
            return self.source.failure.take().map_or(Ok(()), Err);
        }
        if let Some(error) = self.source.take_invalid(end) {
            return Err(error);
        }
        let is_one_sentence = self.options.presegmented && is_whole;
        self.tokenizer.segment(&self.source.text[..end], is_one_sentence, &mut self.workspace);
        self.split_long_sentences();
        if !is_whole {
            self.defer_incomplete();
        }
        Ok(())
    }

    /// Collects the sentences of the block, and splits those with too many words.
    fn split_long_sentences(&mut self) {
        let Segmentation { tokens, sentence_ends, break_probs } = &self.workspace.segmentation;
        let words = |token: usize| {
            let rule = tokens[token].rule.and_then(|rule| self.tokenizer.rule(rule));
            rule.map_or(1, |rule| rule.words())
        };
        let mut start = 0;
        for &end in sentence_ends {
            let mut count = 0;
            let mut at = start;
            while at < end {
                count += words(at);
                if count > self.options.longest && at > start {
                    // In the second half, so that parts are not too short.
                    let half = start + 1 + (at - start - 1) / 2;
                    let by_prob =
                        |a: &usize, b: &usize| break_probs[a - 1].total_cmp(&break_probs[b - 1]);
                    let split = (half..=at).max_by(by_prob).unwrap_or(at);
                    self.sentences.push(SentenceEnd { tokens: split, is_continued: true });
                    (start, at, count) = (split, split, 0);
                } else {
                    at += 1;
                }
            }
            self.sentences.push(SentenceEnd { tokens: end, is_continued: false });
            start = end;
        }
    }

    /// Shortens the block by its last sentence, which may be incomplete, or by its last token if that sentence is
    /// long. The next block starts with it.
    fn defer_incomplete(&mut self) {
        let tokens = &self.workspace.segmentation.tokens;
        let count = self.sentences.len();
        let last_start = count.checked_sub(2).map_or(0, |before| self.sentences[before].tokens);
        if last_start > 0 && tokens[last_start].start > MAX_BLOCK_BYTES / 2 {
            self.sentences.pop();
            self.block = tokens[last_start].start;
        } else if let Some(end) = self.sentences.last_mut() {
            end.is_continued = true;
            if end.tokens - last_start > 1 {
                end.tokens -= 1;
                self.block = tokens[end.tokens].start;
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
