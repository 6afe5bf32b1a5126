//! Sentences that were found, written as CoNLL-U.

use std::fmt::Write;
use std::ops::Range;

use tutte_treebank::Sentence;

use super::multiword::Rule;
use super::raw_text::push_escaped;
use super::tokenizer::FoundToken;
use crate::Error;

/// A sentence of a block.
pub(super) struct Layout<'a> {
    /// The block, with the white space before and after it, and its tokens.
    pub(super) text: &'a str,
    pub(super) tokens: &'a [FoundToken],
    /// The tokens of the sentence.
    pub(super) sentence: Range<usize>,
    /// Whether it is a part, and its sentence goes on.
    pub(super) goes_on: bool,
    pub(super) new_paragraph: bool,
    /// Whether it is the last one of the input.
    pub(super) ends_input: bool,
}

/// What was written so far, as far as it matters for what follows.
#[derive(Debug)]
pub(super) struct Written {
    next_id: u64,
    ranges: bool,
    /// Whether nothing was written.
    is_new: bool,
    /// How many parts of a sentence that goes on were written.
    parts: u64,
    /// How many characters the text had up to a byte of the block.
    characters: u64,
    byte: usize,
    words: Vec<String>,
}

impl Written {
    pub(super) fn new(next_id: u64, ranges: bool) -> Self {
        Self { next_id, ranges, is_new: true, parts: 0, characters: 0, byte: 0, words: Vec::new() }
    }

    /// The text goes on behind a block that had so many bytes.
    pub(super) fn leave(&mut self, block: &str) {
        if self.ranges {
            self.characters += block[self.byte..].chars().count() as u64;
            self.byte = 0;
        }
    }

    /// Writes a sentence. `rules` knows the rules of multiword tokens.
    pub(super) fn write<'r>(
        &mut self,
        layout: &Layout<'_>,
        rules: impl Fn(u16) -> Option<&'r Rule>,
        sentence: &mut Sentence,
    ) -> Result<(), Error> {
        sentence.rewrite_text(|out| {
            self.write_comments(layout, out);
            let mut word = 1;
            for at in layout.sentence.clone() {
                let FoundToken { start, end, rule } = layout.tokens[at];
                let form = &layout.text[start..end];
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
                self.write_misc(layout, at, out);
                match is_multiword {
                    false => word += 1,
                    true => {
                        for form in &self.words {
                            push(out, format_args!("{word}\t"));
                            out.extend([form, EMPTY, "_\n"]);
                            word += 1;
                        }
                    }
                }
            }
            out.push('\n');
        })?;
        Ok(())
    }

    fn write_comments(&mut self, layout: &Layout<'_>, out: &mut String) {
        if std::mem::take(&mut self.is_new) {
            out.push_str("# newdoc\n");
        }
        if layout.new_paragraph {
            out.push_str("# newpar\n");
        }
        push(out, format_args!("# sent_id = {}\n", self.next_id));
        self.next_id += 1;
        if layout.goes_on || self.parts > 0 {
            self.parts += 1;
            push(out, format_args!("# tutte_split = {}\n", self.parts));
            self.parts *= u64::from(layout.goes_on);
        }
        out.push_str("# text = ");
        let mut before = usize::MAX;
        for token in &layout.tokens[layout.sentence.clone()] {
            if token.start > before {
                out.push(' ');
            }
            out.push_str(&layout.text[token.start..token.end]);
            before = token.end;
        }
        out.push('\n');
    }

    fn write_misc(&mut self, layout: &Layout<'_>, at: usize, out: &mut String) {
        let FoundToken { start, end, .. } = layout.tokens[at];
        let next = layout.tokens.get(at + 1).map_or(layout.text.len(), |next| next.start);
        let before = if at == 0 { &layout.text[..start] } else { "" };
        let after = &layout.text[end..next.min(layout.text.len())];
        let is_last = layout.ends_input && at + 1 == layout.sentence.end;
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
        if self.ranges {
            let mut count = |to: usize| {
                self.characters += layout.text[self.byte..to].chars().count() as u64;
                self.byte = to;
                self.characters
            };
            let (start, end) = (count(start), count(end));
            key(out, "TokenRange=");
            push(out, format_args!("{start}:{end}"));
        }
        out.push_str(if out.len() > begin { "\n" } else { "_\n" });
    }
}

/// The columns from LEMMA to DEPS.
const EMPTY: &str = "\t_\t_\t_\t_\t_\t_\t_\t";

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}
