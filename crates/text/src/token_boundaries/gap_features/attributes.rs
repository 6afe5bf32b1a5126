//! Attributes of a gap: what is computed from its context.

use tutte_linear::Hash;

use super::super::{Frequency, GapTemplates};
use super::GapKind;
use super::templates::{
    AfterQuote, AnyGap, BesideEmoticon, BesideOther, BetweenLetters, CharacterValues, ClassValues,
    Frequencies, FrequencyValues, GapValues, InInitials, InNumber, NextChunkValues, PatternValues,
    PlaceInAddress, PlaceInAddressBesideOther, ShapeValues, Shapes, SignAsWritten,
    StopBeforeNumber, StopValues,
};
use crate::characters::{CharSpan, Characters, class, is_letter};
use crate::feature_tables::Table;

/// A gap and its context.
pub(super) struct Gap<'a> {
    pub(super) text: &'a Characters,
    pub(super) chunk: CharSpan,
    /// Index of the character after the gap.
    pub(super) at: usize,
    /// Hash of the piece before the gap.
    pub(super) before: u64,
    /// Hash of the piece after the gap.
    pub(super) after: u64,
    pub(super) next: NextChunkValues,
    /// Class of the last character of the chunk.
    pub(super) last: u64,
    /// Address in the chunk, and the number of its kind.
    pub(super) address: (CharSpan, u64),
    /// Reads all dashes as `-`.
    pub(super) are_dashes_one_sign: bool,
}

impl Gap<'_> {
    /// Returns the character at an offset from the gap: −1, −2, … to the left, 0, 1, … to the right. Outside the chunk
    /// it is a space.
    #[inline]
    fn near(&self, offset: isize) -> CharacterValues {
        match self.at.checked_add_signed(offset) {
            Some(at) if at >= self.chunk.start && at < self.chunk.end => CharacterValues {
                form: self.text.lower[at].into(),
                class: self.text.class(at).into(),
            },
            _ => CharacterValues { form: b' '.into(), class: class::SPACE.into() },
        }
    }

    /// Returns the place of the gap in the address, with the number of its kind; 0 outside of it.
    #[inline]
    fn place_in_address(&self) -> u64 {
        let (span, kind) = self.address;
        match self.at {
            _ if kind == 0 => 0,
            at if at < span.start || at > span.end => 0,
            at if at == span.start => kind << 2 | 1,
            at if at == span.end => kind << 2 | 2,
            _ => kind << 2 | 3,
        }
    }

    /// Returns the kind of the gap for the first models, which have two.
    pub(super) fn first_kind(&self) -> GapKind {
        let [left1, right1] = [-1, 0].map(|offset| self.near(offset).class as u8);
        if is_letter(left1) && is_letter(right1) {
            GapKind::BetweenLetters
        } else {
            GapKind::BesideOther
        }
    }

    /// Returns the kind of the gap. `token` is the token so far, `quote` see [`GapFeatures::quote`].
    pub(super) fn kind(&self, token: CharSpan, quote: u64) -> GapKind {
        let class = |at: usize| self.text.class(at);
        let is_letter_at = |at: usize| is_letter(class(at));
        let is_word = |at: usize| is_letter_at(at) || class(at) == class::DIGIT;
        let first = self.first_kind();
        if first == GapKind::BetweenLetters {
            return first;
        }
        if self.address.1 == EMOTICON && self.place_in_address() != 0 {
            return GapKind::BesideEmoticon;
        }
        let is_stop = class(self.at) == class::STOP;
        if self.initials().is_some() {
            return GapKind::InInitials;
        }
        if is_stop
            && self.next.first_class == u64::from(class::DIGIT) + 1
            && (token.start..token.end).all(is_letter_at)
            && !(self.at..self.chunk.end).any(is_word)
        {
            return GapKind::StopBeforeNumber;
        }
        if self.number().is_some() {
            return GapKind::InNumber;
        }
        if quote != 0 && self.at == self.chunk.start + 1 && is_word(self.at) {
            return GapKind::AfterQuote;
        }
        GapKind::BesideOther
    }

    /// Returns the initials in which the gap is: groups of one to three letters, each before a stop, two or more, one
    /// with a single letter. The stop after the last group may be missing.
    fn initials(&self) -> Option<CharSpan> {
        let is_stop = |at: usize| at < self.chunk.end && self.text.lower[at] == '.';
        let is_letter = |at: usize| at < self.chunk.end && is_letter(self.text.class(at));
        if !is_stop(self.at) && !is_stop(self.at - 1) {
            return None;
        }
        let mut start = self.at;
        while start > self.chunk.start && (is_letter(start - 1) || is_stop(start - 1)) {
            start -= 1;
            if self.at - start > 24 {
                return None;
            }
        }
        let mut at = start;
        let mut groups = 0;
        let mut has_single = false;
        while is_letter(at) {
            let letters = (at..at + 4).take_while(|&at| is_letter(at)).count();
            if letters > 3 {
                return None;
            }
            has_single |= letters == 1;
            groups += 1;
            at += letters;
            if !is_stop(at) {
                break;
            }
            at += 1;
        }
        (groups > 1 && has_single && start < self.at && self.at < at)
            .then_some(CharSpan { start, end: at })
    }

    /// Returns the number in which the gap is: digits, with single signs between them.
    fn number(&self) -> Option<CharSpan> {
        let is_digit = |at: usize| {
            at >= self.chunk.start && at < self.chunk.end && self.text.class(at) == class::DIGIT
        };
        let is_sign = |at: usize| {
            let class = if at < self.chunk.end { self.text.class(at) } else { class::SPACE };
            !matches!(class, class::SPACE | class::DIGIT | class::OTHER) && !is_letter(class)
        };
        let sign = if is_digit(self.at) { self.at - 1 } else { self.at };
        let is_between_digits = |sign: usize| {
            sign > self.chunk.start && is_sign(sign) && is_digit(sign - 1) && is_digit(sign + 1)
        };
        if !is_between_digits(sign) {
            return None;
        }
        let limit = 16;
        let is_part = |at: usize| is_digit(at) || is_between_digits(at);
        let before = (self.chunk.start..sign).rev().take(limit).take_while(|&at| is_part(at));
        let after = (sign..self.chunk.end).take(limit).take_while(|&at| is_part(at));
        Some(CharSpan { start: sign - before.count(), end: sign + after.count() })
    }

    /// Returns the values of a word before a stop.
    pub(super) fn stop(
        &self,
        values: &GapValues,
        token: CharSpan,
        frequency: Frequency,
        next_shape: u64,
    ) -> StopValues {
        let frequency = u64::from(frequency);
        let length = (token.end - token.start).min(7) as u64;
        let word = frequency << 3 | length;
        // A capital alone and a word in capitals are different things.
        let shape = shape(self.text, token, 2).rotate_left(9);
        StopValues {
            word,
            word_and_shape: shape ^ word,
            frequency_and_shape: shape ^ frequency,
            length_and_shape: shape ^ length,
            after: values.shapes.after.rotate_left(9) ^ values.next.first_class,
            next_shape,
            is_short_and_unknown: u64::from(frequency == 0) << 1 | u64::from(length <= 3),
        }
    }

    /// Returns the values of a gap in a pattern.
    pub(super) fn pattern(
        &self,
        values: &GapValues,
        token: CharSpan,
        kind: GapKind,
        quote: u64,
    ) -> PatternValues {
        let nowhere = CharSpan { start: self.at, end: self.at };
        let span = match kind {
            GapKind::InInitials => self.initials(),
            GapKind::InNumber => self.number(),
            _ => None,
        }
        .unwrap_or(nowhere);
        let is_alone = u64::from(token.start + 1 == token.end);
        let is_after_sign = u64::from(matches!(
            self.text.class(self.at),
            class::DIGIT | class::LOWER | class::UPPER | class::LETTER
        ));
        let is_last = u64::from(self.at + 1 == span.end);
        let sign = if is_after_sign == 1 { values.left1 } else { values.right1 };
        let is_dash = sign.class == u64::from(class::DASH) && sign.form != u64::from(b'_');
        let sign_form = if self.are_dashes_one_sign && is_dash { b'-'.into() } else { sign.form };
        let place_of = |sign: u64| match kind {
            GapKind::AfterQuote => quote,
            _ => sign << 3 | is_last << 2 | is_after_sign << 1 | is_alone,
        };
        let place = place_of(sign_form);
        let rest = CharSpan { start: span.end, end: self.chunk.end };
        let sign_at = self.at - is_after_sign as usize;
        let left = CharSpan { start: span.start.min(sign_at), end: sign_at };
        let right = CharSpan { start: (sign_at + 1).min(span.end), end: span.end };
        // Long enough for postcodes.
        let measured = |span: CharSpan| shape(self.text, span, 6);
        PatternValues {
            place,
            place_and_next: place << 5 | values.next.first_class,
            shape: measured(span),
            runs: measured(left).rotate_left(9) ^ measured(right),
            rest: shape(self.text, rest, 1),
            place_as_written: place_of(sign.form),
        }
    }

    /// Returns the frequencies of the forms beside the gap and across it.
    pub(super) fn frequencies(
        &self,
        token: CharSpan,
        frequency: impl Fn(CharSpan) -> Frequency,
    ) -> FrequencyValues {
        /// Number of characters at the end of a chunk that may be no part of the token.
        const ENDS: usize = 3;
        let is_punctuation = |at: usize| {
            let class = self.text.class(at);
            !is_letter(class) && !matches!(class, class::DIGIT | class::MARK | class::OTHER)
        };
        let CharSpan { start, .. } = token;
        let mut longer = 0;
        for end in (self.at + 1..=self.chunk.end).rev().take(ENDS) {
            longer = frequency(CharSpan { start, end });
            if longer != 0 || !is_punctuation(end - 1) {
                break;
            }
        }
        let left = u64::from(frequency(token));
        let right = u64::from(frequency(CharSpan { start: self.at, end: self.chunk.end }));
        let longer = u64::from(longer);
        FrequencyValues { all: longer << 6 | left << 3 | right, longer }
    }

    /// Returns the values of the gap. `token` is the hash of the token so far.
    #[inline]
    pub(super) fn values(&self, token: u64, kind: GapKind) -> GapValues {
        let near = [-3, -2, -1, 0, 1, 2].map(|offset| self.near(offset));
        let [left3, left2, left1, right1, right2, right3] = near;
        let far_left = left3.form << 21 | left2.form;
        let far_right = right2.form << 21 | right3.form;
        let &Self { before, after, next, .. } = self;
        let mut values = GapValues {
            before,
            after,
            token,
            left2,
            left1,
            right1,
            right2,
            pair: left1.form << 21 | right1.form,
            far_left,
            far_right,
            next,
            address: self.place_in_address(),
            ..GapValues::default()
        };
        if kind == GapKind::BetweenLetters {
            values.far_left_and_right = far_left ^ far_right.rotate_left(11);
            return values;
        }
        let six = near.iter().fold(0, |classes, character| classes << 5 | character.class);
        values.left2_and_right2 = left2.form << 21 | right2.form;
        values.classes = ClassValues {
            six,
            four: six >> 5 & 0xf_ffff,
            left1_and_right1: left1.class << 5 | right1.class,
            right1_and_right2: right1.class << 5 | right2.class,
            left1_and_left2: left1.class << 5 | left2.class,
            next_and_left1: next.first_class << 5 | left1.class,
            chunk_end_and_next: self.last << 5 | next.first_class,
        };
        values.right1_and_classes = right1.form << 10 | next.first_class << 5 | right2.class;
        values.next_class_and_right1 = next.first_class << 21 | right1.form;
        values.chunk_shape = self.shape();
        values.from_chunk_start = (self.at - self.chunk.start).min(31) as u64;
        values.left_run = self.left_run();
        values
    }

    /// Returns the shapes around a gap. `next` is the shape of the next chunk.
    pub(super) fn shapes(
        &self,
        values: &GapValues,
        token: CharSpan,
        next: u64,
        quote: u64,
    ) -> ShapeValues {
        let before = CharSpan { start: self.chunk.start, end: self.at };
        let after = CharSpan { start: self.at, end: self.chunk.end };
        let shape = |span: CharSpan, longest: u64| shape(self.text, span, longest);
        let token_shape = shape(token, 1);
        let after_shape = shape(after, 1);
        let is_alone = token.start + 1 == token.end;
        let quote = if self.at == self.chunk.start + 1 { quote } else { 0 };
        let state = quote << 1 | u64::from(is_alone);
        let pair = values.pair << 3 | state;
        ShapeValues {
            before: shape(before, 1) ^ state,
            measured_before: shape(before, 4) ^ state,
            after: after_shape,
            measured_after: shape(after, 4),
            measured_token: shape(token, 4),
            token_and_after: token_shape.rotate_left(9) ^ after_shape,
            token_and_next: token_shape.rotate_left(9) ^ next,
            pair,
            pair_and_next_class: pair << 5 | values.next.first_class,
            six: values.classes.six << 3 | state,
            four: values.classes.four << 3 | state,
        }
    }

    /// Returns the hash of the classes of the chunk; a run of one class counts once.
    fn shape(&self) -> u64 {
        let mut hash = Hash::of(3);
        let mut before = u8::MAX;
        for at in self.chunk.start..self.chunk.end.min(self.chunk.start + 32) {
            let class = self.text.class(at);
            if class != before {
                hash = hash.and(class.into());
                before = class;
            }
        }
        hash.value()
    }

    /// Returns the hash of the run of characters of one class that ends at the gap.
    fn left_run(&self) -> u64 {
        let class = self.text.class(self.at - 1);
        let mut hash = Hash::of(4);
        for at in (self.chunk.start.max(self.at.saturating_sub(32))..self.at).rev() {
            if self.text.class(at) != class {
                break;
            }
            hash = hash.and(self.text.lower[at].into());
        }
        hash.value()
    }
}

impl GapValues {
    /// Adds the features of a gap of some kind.
    #[inline]
    pub(super) fn add_features(
        &self,
        kind: GapKind,
        templates: Option<GapTemplates>,
        features: &mut Vec<u32>,
    ) {
        match kind {
            GapKind::BesideEmoji => {}
            GapKind::BetweenLetters => {
                AnyGap::add(self, Hash::of, features);
                BetweenLetters::add(self, Hash::of, features);
                PlaceInAddress::add(self, Hash::of, features);
            }
            GapKind::StopBeforeNumber => StopBeforeNumber::add(self, Hash::of, features),
            GapKind::InInitials => InInitials::add(self, Hash::of, features),
            GapKind::InNumber => InNumber::add(self, Hash::of, features),
            GapKind::BesideEmoticon => BesideEmoticon::add(self, Hash::of, features),
            GapKind::AfterQuote => AfterQuote::add(self, Hash::of, features),
            GapKind::BesideOther => {
                AnyGap::add(self, Hash::of, features);
                BesideOther::add(self, Hash::of, features);
                PlaceInAddress::add(self, Hash::of, features);
                PlaceInAddressBesideOther::add(self, Hash::of, features);
                if templates >= Some(GapTemplates::WithShapes) {
                    Shapes::add(self, Hash::of, features);
                }
            }
        }
        if templates >= Some(GapTemplates::WithFrequencies) {
            if kind.has_frequencies() {
                Frequencies::add(self, Hash::of, features);
            } else if kind == GapKind::InNumber {
                SignAsWritten::add(self, Hash::of, features);
            }
        }
    }
}

/// Returns the hash of the classes of characters, and of the length of each run of one class, at most `longest`.
pub(super) fn shape(text: &Characters, span: CharSpan, longest: u64) -> u64 {
    /// Number of characters of a span that count.
    const LIMIT: usize = 32;
    let mut hash = Hash::of(9);
    let mut before = u8::MAX;
    let mut run = 0;
    for at in span.start..span.end.min(span.start + LIMIT) {
        let class = text.class(at);
        if class == before {
            run = longest.min(run + 1);
        } else {
            hash = hash.and(run).and(class.into());
            before = class;
            run = 1;
        }
    }
    hash.and(run).value()
}

/// Number of emoticons among the kinds of addresses.
pub(super) const EMOTICON: u64 = 3;

/// Returns `true` for a character with which an emoticon starts.
pub(super) fn is_eye(c: char) -> bool {
    matches!(c, ':' | ';' | '=' | '<')
}

/// Finds the first emoticon in a lower-cased chunk: eyes, maybe a nose, and a mouth (`:-)`, `;p`), or a heart (`<3`). No
/// letter or digit stands beside it, and no other eyes.
pub(super) fn emoticon(chunk: &[char]) -> Option<CharSpan> {
    let is_part = |at: usize| chunk.get(at).is_some_and(|&c| c.is_alphanumeric() || is_eye(c));
    let end_of_emoticon = |start: usize| {
        let has =
            |at: usize, characters: &str| chunk.get(at).is_some_and(|&c| characters.contains(c));
        let is_heart = chunk[start] == '<';
        let nose = usize::from(has(start + 1, if is_heart { "/" } else { "-^'" }));
        let mouth = start + 1 + nose;
        let mouths = if is_heart { "3" } else { ")(][}{dpo0/\\|*3@x$" };
        let run = (mouth..chunk.len()).take_while(|&at| chunk[at] == chunk[mouth]).count();
        (has(mouth, mouths) && !is_part(mouth + run)).then_some(mouth + run)
    };
    let is_start = |&at: &usize| is_eye(chunk[at]) && (at == 0 || !is_part(at - 1));
    (0..chunk.len())
        .filter(is_start)
        .find_map(|start| Some(CharSpan { start, end: end_of_emoticon(start)? }))
}
