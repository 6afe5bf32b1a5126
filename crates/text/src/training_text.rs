//! Training data of a tokenizer: the paragraphs of a treebank's raw text, with their gold tokens and sentences.

use std::ops::Range;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use tutte_treebank::{Sentence, Token};

use crate::characters::{CharSpan, Characters, ends_paragraph, lower};
use crate::raw_text::{RawText, RawToken};
use crate::token_attributes::{TokenAttributes, form_hash};

/// Parts of speech that the model of multiword tokens tells apart, one bit each. Seven fit: a cell with 8 bits and a
/// sign holds at most 127.
pub(crate) const PARTS_OF_SPEECH: [&str; 7] =
    ["NOUN", "PROPN", "ADJ", "VERB", "ADV", "PRON", "NUM"];

/// Returns the index of a UPOS tag in [`PARTS_OF_SPEECH`].
pub(crate) fn part_of_speech(upos: &str) -> Option<u8> {
    PARTS_OF_SPEECH.iter().position(|part| *part == upos).map(|at| at as u8)
}

/// Returns the frequency class of a count: 0 for never, 1 for once, 2 for two or three times, 3 for up to seven, 4 for
/// more.
pub(crate) fn frequency(count: u32) -> u8 {
    count.checked_ilog2().map_or(0, |log| log as u8 + 1).min(4)
}

/// Decides which examples are seen in upper case.
pub(crate) struct UpperCase(Pcg64);

impl UpperCase {
    /// Part of the examples, in 256, that are seen in upper case.
    const PART: u64 = 16;

    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg64::seed_from_u64(!seed))
    }

    /// Returns `true` if the next example is seen in upper case.
    pub(crate) fn next(&mut self) -> bool {
        self.0.next_u64() & 0xff < Self::PART
    }
}

/// A paragraph of a treebank's text, with its gold tokens and sentences.
#[derive(Debug)]
pub(crate) struct GoldParagraph<'a> {
    pub(crate) characters: Characters,
    pub(crate) tokens: Vec<CharSpan>,
    /// `true` for each token after which a sentence ends.
    pub(crate) sentence_ends: Vec<bool>,
    pub(crate) multiword: Vec<GoldMultiword<'a>>,
    /// `true` for each character at which a token starts.
    pub(crate) starts: Vec<bool>,
    /// All words, in their order.
    pub(crate) words: Vec<GoldWord>,
}

/// A multiword token of a treebank.
#[derive(Debug)]
pub(crate) struct GoldMultiword<'a> {
    /// Index of the token in its paragraph.
    pub(crate) token: usize,
    pub(crate) form: String,
    /// Forms of its words.
    pub(crate) words: Vec<&'a str>,
}

/// A word of a treebank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoldWord {
    /// Index of the token that it is, or is in.
    token: usize,
    /// Hash of its form.
    pub(crate) form: u64,
    /// Hash of its lemma.
    pub(crate) lemma: u64,
    /// Its index in [`PARTS_OF_SPEECH`].
    pub(crate) part_of_speech: Option<u8>,
}

impl GoldWord {
    fn new(token: usize, word: Token<'_>) -> Self {
        let hash = |text: &str| form_hash(text.chars().map(lower));
        Self {
            token,
            form: hash(word.form()),
            lemma: hash(word.lemma()),
            part_of_speech: part_of_speech(word.upos()),
        }
    }
}

impl<'a> GoldParagraph<'a> {
    /// Returns the paragraphs of a treebank's text.
    pub(crate) fn of(sentences: &'a [Sentence]) -> Vec<Self> {
        let RawText { text, tokens } = RawText::new(sentences);
        let mut paragraphs = Vec::new();
        let mut rest = &tokens[..];
        while let Some(first) = rest.first() {
            let mut end = first.span.end;
            let is_same_paragraph = |token: &&RawToken<'_>| {
                let is_same = !ends_paragraph(&text[end..token.span.start]);
                end = token.span.end;
                is_same
            };
            let count = 1 + rest[1..].iter().take_while(is_same_paragraph).count();
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
        let mut tokens = Vec::with_capacity(raw.len());
        let mut multiword = Vec::new();
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
            let span = CharSpan { start: find(first), end: find(last) };
            if let Some(starts) = starts.get_mut(span.start) {
                *starts = true;
            }
            if token.words.len() > 1 {
                multiword.push(GoldMultiword {
                    token: tokens.len(),
                    form: text[token.span.clone()].to_owned(),
                    words: token.words.iter().map(|word| word.form()).collect(),
                });
                words.extend(token.words.iter().map(|&word| GoldWord::new(tokens.len(), word)));
            } else {
                words.push(GoldWord::new(tokens.len(), token.token));
            }
            tokens.push(span);
        }
        let sentence_ends = raw.iter().map(|token| token.ends_sentence).collect();
        Self { characters, tokens, sentence_ends, multiword, starts, words }
    }

    /// Returns the words of a token.
    pub(crate) fn words_of(&self, token: usize) -> &[GoldWord] {
        let start = self.words.partition_point(|word| word.token < token);
        let end = self.words.partition_point(|word| word.token <= token);
        &self.words[start..end]
    }

    /// Returns `true` if a token of the treebank has this place.
    pub(crate) fn is_token(&self, span: CharSpan) -> bool {
        let CharSpan { start, end } = span;
        let is_end = |at: usize| {
            self.starts.get(at).is_none_or(|starts| *starts || self.characters.is_space(at))
        };
        self.starts[start] && is_end(end) && !self.starts[start + 1..end].contains(&true)
    }

    /// Returns the lower-cased form of a token.
    pub(crate) fn form(&self, token: usize) -> &[char] {
        let CharSpan { start, end } = self.tokens[token];
        &self.characters.lower[start..end]
    }

    /// Returns the lower-cased forms of all tokens.
    pub(crate) fn forms(&self) -> impl Iterator<Item = &[char]> {
        (0..self.tokens.len()).map(|token| self.form(token))
    }

    /// Returns the lower-cased forms of all tokens that are single words.
    pub(crate) fn forms_of_single_words(&self) -> impl Iterator<Item = &[char]> {
        let mut multiword = self.multiword.iter().map(|multiword| multiword.token).peekable();
        let is_single = move |token: &usize| multiword.next_if_eq(token).is_none();
        (0..self.tokens.len()).filter(is_single).map(|token| self.form(token))
    }

    /// Returns the attributes of all tokens.
    pub(crate) fn attributes(&self) -> TokenAttributes {
        let mut attributes = TokenAttributes::default();
        attributes.read(&self.characters, &self.tokens);
        attributes
    }

    /// Returns the attributes of all tokens if the text were in upper case.
    pub(crate) fn attributes_in_upper_case(&self) -> TokenAttributes {
        let mut attributes = TokenAttributes::default();
        attributes.read(&self.characters.in_upper_case(), &self.tokens);
        attributes
    }

    pub(crate) fn has_spaces_in_tokens(&self) -> bool {
        let has_space =
            |token: &CharSpan| (token.start..token.end).any(|at| self.characters.is_space(at));
        self.tokens.iter().any(has_space)
    }
}
