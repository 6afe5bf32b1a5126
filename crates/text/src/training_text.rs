//! Treebanks as tokenizers learn from them: paragraphs of characters, and what is known of each.

use std::ops::Range;

use tutte_treebank::{Sentence, Token};

use super::characters::{Characters, ends_paragraph, lower};
use super::multiword::kind;
use super::raw_text::{RawText, RawToken};
use super::token_attributes::{self, Facts};
use super::token_boundaries::Stretch;

/// A paragraph and its tokens.
#[derive(Debug)]
pub(super) struct Paragraph<'a> {
    pub(super) characters: Characters,
    /// Its tokens, and after which of them a sentence ends.
    pub(super) tokens: Vec<Stretch>,
    pub(super) sentence_ends: Vec<bool>,
    /// Of multiword tokens: the token, its form, its words.
    pub(super) multiword: Vec<(usize, String, Vec<&'a str>)>,
    /// Whether a token starts at a character.
    pub(super) starts: Vec<bool>,
    /// All words, in their order.
    pub(super) words: Vec<Word>,
}

/// What is looked at in a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    /// The token that it is, or is in.
    token: usize,
    /// Hashes of its form and its lemma.
    pub(super) form: u64,
    pub(super) lemma: u64,
    /// Its part of speech, see [`kind`].
    pub(super) kind: Option<u8>,
}

impl Word {
    fn new(token: usize, word: Token<'_>) -> Self {
        let hash = |text: &str| token_attributes::form(text.chars().map(lower));
        Self { token, form: hash(word.form()), lemma: hash(word.lemma()), kind: kind(word.upos()) }
    }
}

impl<'a> Paragraph<'a> {
    /// The paragraphs of a treebank's text.
    pub(super) fn of(sentences: &'a [Sentence]) -> Vec<Self> {
        let RawText { text, tokens } = RawText::new(sentences);
        let mut paragraphs = Vec::new();
        let mut rest = &tokens[..];
        while let Some(first) = rest.first() {
            let mut end = first.span.end;
            let goes_on = |token: &&RawToken<'_>| {
                let same = !ends_paragraph(&text[end..token.span.start]);
                end = token.span.end;
                same
            };
            let count = 1 + rest[1..].iter().take_while(goes_on).count();
            let (paragraph, others) = rest.split_at(count);
            paragraphs.push(Self::new(&text, paragraph));
            rest = others;
        }
        paragraphs
    }

    fn new(text: &str, raw: &[RawToken<'a>]) -> Self {
        let bytes = raw[0].span.start..raw[raw.len() - 1].span.end;
        let start = bytes.start;
        let mut characters = Characters::default();
        characters.read(&text[bytes]);
        let mut starts = vec![false; characters.len()];
        let (mut tokens, mut multiword) = (Vec::with_capacity(raw.len()), Vec::new());
        let mut words = Vec::with_capacity(raw.len());
        let mut at = 0;
        for token in raw {
            let Range { start: first, end: last } = token.span;
            let mut find = |byte: usize| {
                while (characters.offsets[at] as usize) < byte - start {
                    at += 1;
                }
                at
            };
            let stretch = Stretch { start: find(first), end: find(last) };
            if let Some(starts) = starts.get_mut(stretch.start) {
                *starts = true;
            }
            if token.words.len() > 1 {
                let forms = token.words.iter().map(|word| word.form()).collect();
                multiword.push((tokens.len(), text[token.span.clone()].to_owned(), forms));
                words.extend(token.words.iter().map(|&word| Word::new(tokens.len(), word)));
            } else {
                words.push(Word::new(tokens.len(), token.token));
            }
            tokens.push(stretch);
        }
        let sentence_ends = raw.iter().map(|token| token.ends_sentence).collect();
        Self { characters, tokens, sentence_ends, multiword, starts, words }
    }

    /// The words of a token.
    pub(super) fn words_of(&self, token: usize) -> &[Word] {
        let start = self.words.partition_point(|word| word.token < token);
        let end = self.words.partition_point(|word| word.token <= token);
        &self.words[start..end]
    }

    /// The form of a token, lower-cased.
    pub(super) fn form(&self, token: usize) -> &[char] {
        let Stretch { start, end } = self.tokens[token];
        &self.characters.lower[start..end]
    }

    /// The forms of all tokens.
    pub(super) fn forms(&self) -> impl Iterator<Item = &[char]> {
        (0..self.tokens.len()).map(|token| self.form(token))
    }

    /// What is seen of its tokens.
    pub(super) fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.read(&self.characters, &self.tokens);
        facts
    }

    pub(super) fn has_spaces_in_tokens(&self) -> bool {
        let has = |token: &Stretch| (token.start..token.end).any(|at| self.characters.is_space(at));
        self.tokens.iter().any(has)
    }
}
