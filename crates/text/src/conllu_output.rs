//! Writes the sentences of a segmenter as CoNLL-U.

use std::fmt::Write;
use std::ops::Range;

use tutte_treebank::Sentence;

use crate::Error;
use crate::multiword::Rule;
use crate::raw_text::push_escaped;
use crate::segmentation::SegmentedToken;

/// A sentence in its block of text.
pub(crate) struct SentenceInBlock<'a> {
    /// Text of the block, with the white space before and after it.
    pub(crate) text: &'a str,
    /// Tokens of the block.
    pub(crate) tokens: &'a [SegmentedToken],
    /// Tokens of the sentence.
    pub(crate) sentence: Range<usize>,
    /// `true` if this is only a part of a sentence, and another part follows.
    pub(crate) is_continued: bool,
    pub(crate) starts_paragraph: bool,
    /// `true` for the last sentence of the input.
    pub(crate) ends_input: bool,
}

/// Writes sentences one after the other, with their numbers and the ranges of their tokens.
#[derive(Debug)]
pub(crate) struct ConlluWriter {
    next_id: u64,
    /// `true` if `TokenRange` is written.
    has_ranges: bool,
    /// `true` until the first sentence is written.
    is_new: bool,
    /// Number of parts already written of a sentence that is continued.
    parts: u64,
    /// Number of characters of the input before `byte` of the block.
    characters: u64,
    byte: usize,
    words: Vec<String>,
}

impl ConlluWriter {
    pub(crate) fn new(next_id: u64, has_ranges: bool) -> Self {
        Self {
            next_id,
            has_ranges,
            is_new: true,
            parts: 0,
            characters: 0,
            byte: 0,
            words: Vec::new(),
        }
    }

    /// Counts the rest of a block; the next sentence is in the block after it.
    pub(crate) fn finish_block(&mut self, block: &str) {
        if self.has_ranges {
            self.characters += block[self.byte..].chars().count() as u64;
            self.byte = 0;
        }
    }

    /// Writes a sentence. `rules` returns the rule of a multiword token by its index.
    pub(crate) fn write<'r>(
        &mut self,
        block: &SentenceInBlock<'_>,
        rules: impl Fn(u16) -> Option<&'r Rule>,
        sentence: &mut Sentence,
    ) -> Result<(), Error> {
        sentence.rewrite_text(|out| {
            self.write_comments(block, out);
            let mut word = 1;
            for at in block.sentence.clone() {
                let SegmentedToken { start, end, rule } = block.tokens[at];
                let form = &block.text[start..end];
                let rule = rule.and_then(&rules);
                let is_multiword = rule.is_some_and(|rule| rule.apply(form, &mut self.words));
                if is_multiword {
                    push(out, format_args!("{word}-{}", word + self.words.len() - 1));
                } else {
                    push(out, format_args!("{word}"));
                }
                out.push('\t');
                out.push_str(form);
                out.push_str(EMPTY);
                self.write_misc(block, at, out);
                if is_multiword {
                    for form in &self.words {
                        push(out, format_args!("{word}\t"));
                        out.extend([form, EMPTY, "_\n"]);
                        word += 1;
                    }
                } else {
                    word += 1;
                }
            }
            out.push('\n');
        })?;
        Ok(())
    }

    fn write_comments(&mut self, block: &SentenceInBlock<'_>, out: &mut String) {
        if std::mem::take(&mut self.is_new) {
            out.push_str("# newdoc\n");
        }
        if block.starts_paragraph {
            out.push_str("# newpar\n");
        }
        push(out, format_args!("# sent_id = {}\n", self.next_id));
        self.next_id += 1;
        if block.is_continued || self.parts > 0 {
            self.parts += 1;
            push(out, format_args!("# tutte_split = {}\n", self.parts));
            self.parts *= u64::from(block.is_continued);
        }
        out.push_str("# text = ");
        let mut before = usize::MAX;
        for token in &block.tokens[block.sentence.clone()] {
            if token.start > before {
                out.push(' ');
            }
            out.push_str(&block.text[token.start..token.end]);
            before = token.end;
        }
        out.push('\n');
    }

    fn write_misc(&mut self, block: &SentenceInBlock<'_>, at: usize, out: &mut String) {
        let SegmentedToken { start, end, .. } = block.tokens[at];
        let next = block.tokens.get(at + 1).map_or(block.text.len(), |next| next.start);
        let before = if at == 0 { &block.text[..start] } else { "" };
        let after = &block.text[end..next.min(block.text.len())];
        let is_last = block.ends_input && at + 1 == block.sentence.end;
        let begin = out.len();
        let key = |out: &mut String, key: &str| {
            out.push_str(if out.len() > begin { "|" } else { "" });
            out.push_str(key);
        };
        if after.is_empty() {
            key(out, "SpaceAfter=No");
        } else if after != " " || is_last {
            key(out, "SpacesAfter=");
            push_escaped(out, after);
        }
        if !before.is_empty() {
            key(out, "SpacesBefore=");
            push_escaped(out, before);
        }
        if self.has_ranges {
            let mut count = |to: usize| {
                self.characters += block.text[self.byte..to].chars().count() as u64;
                self.byte = to;
                self.characters
            };
            let start = count(start);
            let end = count(end);
            key(out, "TokenRange=");
            push(out, format_args!("{start}:{end}"));
        }
        out.push_str(if out.len() > begin { "\n" } else { "_\n" });
    }
}

/// Empty columns from LEMMA to DEPS.
const EMPTY: &str = "\t_\t_\t_\t_\t_\t_\t_\t";

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}
