//! Features of gaps between characters: the kinds of gaps, and the walk over the gaps of a paragraph.

mod attributes;
mod templates;

use tutte_linear::Hash;

use self::attributes::{EMOTICON, Gap, emoticon, is_eye, shape};
use self::templates::{
    AfterQuote, AnyGap, BesideEmoticon, BesideOther, BetweenLetters, ChunkValues, Frequencies,
    InInitials, InNumber, NextChunkValues, PlaceInAddress, PlaceInAddressBesideOther, Shapes,
    SignAsWritten, Space, SpaceValues, StopBeforeNumber,
};
use super::{Frequency, GapTemplates, PIECE};
use crate::characters::{CharSpan, Characters, class, is_letter};
use crate::feature_tables::Table;
use crate::token_attributes::form_hash;
use crate::unicode::{self, Address};

/// Kind of a gap, which decides about its features. Kinds with few, dense features learn from few examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GapKind {
    /// No features: a token always ends here.
    BesideEmoji,
    BetweenLetters,
    /// Between a word and the stop with which its chunk ends, if a number follows: `vol. 3`.
    StopBeforeNumber,
    /// Inside letters with stops: `Ph.D.`.
    InInitials,
    /// Inside digits with signs between them: `10-20`, `24/7`.
    InNumber,
    /// Beside or inside an emoticon: `<3`.
    BesideEmoticon,
    /// After a quotation mark or apostrophe with which a chunk starts: `'cause`.
    AfterQuote,
    BesideOther,
}

impl GapKind {
    /// Numbers of the templates with the identity of a word or number.
    const WORDS: [u64; 27] = [
        1, 2, 7, 8, 18, 19, 20, 21, 22, 23, 24, 25, 28, 57, 58, 59, 60, 61, 62, 76, 77, 78, 87, 88,
        89, 95, 115,
    ];

    /// Returns the numbers of the templates of such gaps, in the order of their features.
    fn numbers(self) -> impl Iterator<Item = &'static u64> {
        let tables: [&'static [u64]; 6] = match self {
            Self::BesideEmoji => Default::default(),
            Self::BetweenLetters => {
                [AnyGap::NUMBERS, BetweenLetters::NUMBERS, PlaceInAddress::NUMBERS, &[], &[], &[]]
            }
            Self::StopBeforeNumber => {
                [StopBeforeNumber::NUMBERS, Frequencies::NUMBERS, &[], &[], &[], &[]]
            }
            Self::InInitials => [InInitials::NUMBERS, Frequencies::NUMBERS, &[], &[], &[], &[]],
            Self::InNumber => [InNumber::NUMBERS, SignAsWritten::NUMBERS, &[], &[], &[], &[]],
            Self::BesideEmoticon => [BesideEmoticon::NUMBERS, &[], &[], &[], &[], &[]],
            Self::AfterQuote => [AfterQuote::NUMBERS, &[], &[], &[], &[], &[]],
            Self::BesideOther => [
                AnyGap::NUMBERS,
                BesideOther::NUMBERS,
                PlaceInAddress::NUMBERS,
                PlaceInAddressBesideOther::NUMBERS,
                Shapes::NUMBERS,
                Frequencies::NUMBERS,
            ],
        };
        tables.into_iter().flatten()
    }

    /// Returns `true` if the frequencies of the forms beside such gaps are features.
    fn has_frequencies(self) -> bool {
        use GapKind::*;
        matches!(self, StopBeforeNumber | InInitials | BesideOther)
    }

    /// Copies all features of a gap but those with the identity of a word.
    pub(super) fn without_words(self, features: &[u32], kept: &mut Vec<u32>) {
        kept.clear();
        let is_kept = |(number, _): &(&u64, &u32)| !Self::WORDS.contains(number);
        kept.extend(self.numbers().zip(features).filter(is_kept).map(|(_, &feature)| feature));
    }
}

/// Features of the gaps of a paragraph, and memory to compute them.
#[derive(Debug, Default)]
pub(crate) struct GapFeatures {
    templates: Option<GapTemplates>,
    pub(super) chunks: Vec<CharSpan>,
    /// Hash of each chunk.
    hashes: Vec<u64>,
    /// Text of the chunk in which an address is looked for.
    form: String,
    /// For each gap of a piece, the hash of the characters before it.
    before: Vec<u64>,
    /// For each gap of a piece, the hash of the characters after it.
    after: Vec<u64>,
    features: Vec<u32>,
}

impl GapFeatures {
    /// Divides a paragraph into chunks.
    pub(super) fn read(&mut self, text: &Characters, templates: GapTemplates) {
        self.templates = Some(templates);
        self.chunks.clear();
        self.hashes.clear();
        let mut at = 0;
        while at < text.len() {
            if text.is_space(at) {
                at += 1;
                continue;
            }
            let start = at;
            while at < text.len() && !text.is_space(at) {
                at += 1;
            }
            self.chunks.push(CharSpan { start, end: at });
            let hashed = &text.lower[start..at.min(start + PIECE)];
            self.hashes
                .push(hashed.iter().fold(Hash::of(0), |hash, &c| hash.and(c.into())).value());
        }
    }

    /// Returns what a gap sees of the chunk after this one; zeros after the last chunk.
    fn next_chunk(&self, text: &Characters, chunk: usize) -> NextChunkValues {
        let next = chunk + 1;
        self.chunks.get(next).map_or(NextChunkValues::default(), |span| NextChunkValues {
            form: self.hashes[next],
            first_class: u64::from(text.class(span.start)) + 1,
        })
    }

    /// Returns the features of the space before a chunk, if it is a single one that a token could include.
    pub(super) fn space_features(&mut self, text: &Characters, chunk: usize) -> Option<&[u32]> {
        let start = self.chunks[chunk].start;
        let before = self.chunks[chunk.checked_sub(1)?];
        let is_single = before.end + 1 == start
            && matches!(text.lower[before.end], ' ' | '\u{a0}' | '\u{202f}');
        if !is_single {
            return None;
        }
        let shape = |span: CharSpan| {
            let classes = (span.start..span.end.min(span.start + PIECE)).map(|at| text.class(at));
            classes.fold(Hash::of(1), |hash, class| hash.and(class.into())).value()
        };
        let values = SpaceValues {
            left: ChunkValues { form: self.hashes[chunk - 1], shape: shape(before) },
            right: ChunkValues { form: self.hashes[chunk], shape: shape(self.chunks[chunk]) },
            next: self.next_chunk(text, chunk).form,
        };
        self.features.clear();
        Space::add(&values, Hash::of, &mut self.features);
        Some(&self.features)
    }

    /// Calls `is_end` with every gap of a chunk at which a token may end, its kind, and its features. It returns `true`
    /// if a token ends there. `frequency` is called with the hash of a form, and its place.
    pub(super) fn each_gap(
        &mut self,
        text: &Characters,
        chunk: usize,
        frequency: impl Fn(u64, CharSpan) -> Frequency,
        mut is_end: impl FnMut(usize, GapKind, &[u32]) -> bool,
    ) {
        let CharSpan { start, end } = self.chunks[chunk];
        let has_shapes = self.templates >= Some(GapTemplates::WithShapes);
        let has_frequencies = self.templates >= Some(GapTemplates::WithFrequencies);
        let frequency = |span: CharSpan| {
            let form = &text.lower[span.start..span.end];
            frequency(form_hash(form.iter().copied()), span)
        };
        let next = self.next_chunk(text, chunk);
        let next_shape = match self.chunks.get(chunk + 1) {
            Some(&span) if has_shapes => shape(text, span, 1),
            _ => 0,
        };
        let last = text.class(end - 1).into();
        let address = self.address(text, chunk);
        let quote = if has_shapes { self.quote(text, chunk) } else { 0 };
        let mut token = Hash::of(0);
        let mut token_start = start;
        let mut is_after_emoji = false;
        for piece in (start..end).step_by(PIECE) {
            self.read_piece(text, CharSpan { start: piece, end: end.min(piece + PIECE) });
            for gap in piece..end.min(piece + PIECE) {
                let is_joined = text.is_joined(gap);
                let is_emoji = text.is_emoji(gap);
                if gap > start && !is_joined {
                    let context = Gap {
                        text,
                        chunk: self.chunks[chunk],
                        at: gap,
                        before: self.before[gap - piece],
                        after: self.after[gap - piece],
                        next,
                        last,
                        address,
                        are_dashes_one_sign: has_frequencies,
                    };
                    self.features.clear();
                    let kind = if is_emoji || is_after_emoji {
                        GapKind::BesideEmoji
                    } else {
                        let token_span = CharSpan { start: token_start, end: gap };
                        let kind = if has_shapes {
                            context.kind(token_span, quote)
                        } else {
                            context.first_kind()
                        };
                        let mut values = context.values(token.value(), kind);
                        if has_shapes && kind != GapKind::BetweenLetters {
                            values.shapes = context.shapes(&values, token_span, next_shape, quote);
                        }
                        match kind {
                            GapKind::StopBeforeNumber => {
                                let frequency = frequency(token_span);
                                values.stop =
                                    context.stop(&values, token_span, frequency, next_shape);
                            }
                            GapKind::InInitials | GapKind::InNumber | GapKind::AfterQuote => {
                                values.pattern = context.pattern(&values, token_span, kind, quote);
                            }
                            _ => {}
                        }
                        if has_frequencies && kind.has_frequencies() {
                            values.frequencies = context.frequencies(token_span, frequency);
                        }
                        values.add_features(kind, self.templates, &mut self.features);
                        kind
                    };
                    if is_end(gap, kind, &self.features) {
                        token = Hash::of(0);
                        token_start = gap;
                    }
                }
                token = token.and(text.lower[gap].into());
                is_after_emoji = is_emoji || (is_joined && is_after_emoji);
            }
        }
    }

    /// Returns `true` if a chunk starts with a quotation mark, and the quotation ends in one of the next chunks.
    pub(super) fn is_quotation(&self, text: &Characters, chunk: usize) -> bool {
        matches!(self.quote(text, chunk), 1 | 2)
    }

    /// Returns 0 for a chunk that does not start with a quotation mark or an apostrophe, 1 if the same chunk ends with
    /// another, 2 if one of the next chunks does, and 3 if none does: `'cause`, not `'this way'`.
    fn quote(&self, text: &Characters, chunk: usize) -> u64 {
        /// Number of chunks in which the end of a quotation is looked for.
        const CHUNKS: usize = 32;
        let start = self.chunks[chunk].start;
        let mark = text.class(start);
        if !matches!(mark, class::APOSTROPHE | class::QUOTE) {
            return 0;
        }
        let ends_quotation = |span: &CharSpan| {
            let is_word = |class: u8| is_letter(class) || class == class::DIGIT;
            let classes = (span.start.max(start + 1)..span.end).rev().map(|at| text.class(at));
            classes.take_while(|&class| !is_word(class)).any(|class| class == mark)
        };
        match self.chunks[chunk..].iter().take(CHUNKS).position(ends_quotation) {
            Some(0) => 1,
            Some(_) => 2,
            None => 3,
        }
    }

    /// Returns the address or emoticon in a chunk, and the number of its kind; 0 if there is none.
    fn address(&mut self, text: &Characters, chunk: usize) -> (CharSpan, u64) {
        let CharSpan { start, end } = self.chunks[chunk];
        let none = (CharSpan { start, end: start }, 0);
        let characters = &text.lower[start..end];
        let has_shapes = self.templates >= Some(GapTemplates::WithShapes);
        let may_be_emoticon = has_shapes && characters.iter().any(|&c| is_eye(c));
        if !may_be_emoticon && !characters.iter().any(|c| matches!(c, '@' | '/' | '.')) {
            return none;
        }
        self.form.clear();
        self.form.extend(characters);
        let Some((bytes, address)) = unicode::address(&self.form) else {
            return match emoticon(characters) {
                Some(span) if may_be_emoticon => {
                    (CharSpan { start: start + span.start, end: start + span.end }, EMOTICON)
                }
                _ => none,
            };
        };
        let count = |bytes: usize| self.form[..bytes].chars().count();
        let span = CharSpan { start: start + count(bytes.start), end: start + count(bytes.end) };
        let kind = match address {
            Address::WebPage => 1,
            Address::Mailbox => 2,
        };
        (span, kind)
    }

    /// Computes the hashes before and after each gap of a piece of a chunk.
    fn read_piece(&mut self, text: &Characters, piece: CharSpan) {
        let characters = &text.lower[piece.start..piece.end];
        let mut hash = Hash::of(1);
        self.before.clear();
        self.before.extend(characters.iter().map(|&c| {
            let before = hash.value();
            hash = hash.and(c.into());
            before
        }));
        hash = Hash::of(2);
        self.after.clear();
        self.after.resize(characters.len(), 0);
        for (at, &c) in characters.iter().enumerate().rev() {
            hash = hash.and(c.into());
            self.after[at] = hash.value();
        }
    }
}

#[cfg(test)]
mod tests;
