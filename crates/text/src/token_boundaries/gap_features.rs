//! Features of gaps between characters: the kinds of gaps, their attributes and templates.

use tutte_linear::Hash;

use super::{Frequency, GapTemplates, PIECE};
use crate::characters::{CharSpan, Characters, class, is_letter};
use crate::feature_tables::{Table, tables};
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

/// Values of the attributes that templates of gaps name. The gap is between the characters `left1` and `right1`.
#[derive(Clone, Copy, Debug, Default)]
struct GapValues {
    /// Hash of the piece before the gap.
    before: u64,
    /// Hash of the piece after the gap.
    after: u64,
    /// Hash of the token so far.
    token: u64,
    left2: CharacterValues,
    left1: CharacterValues,
    right1: CharacterValues,
    right2: CharacterValues,
    /// The characters `left1` and `right1`.
    pair: u64,
    /// The two characters before `left1`.
    far_left: u64,
    /// The two characters after `right1`.
    far_right: u64,
    far_left_and_right: u64,
    /// The characters `left2` and `right2`.
    left2_and_right2: u64,
    classes: ClassValues,
    /// `right1`, and the classes of `next` and `right2`.
    right1_and_classes: u64,
    next_class_and_right1: u64,
    chunk_shape: u64,
    /// Number of characters from the start of the chunk to the gap, at most 31.
    from_chunk_start: u64,
    /// The run of characters of one class that ends at the gap.
    left_run: u64,
    next: NextChunkValues,
    /// Place of the gap in an address or an emoticon.
    address: u64,
    shapes: ShapeValues,
    stop: StopValues,
    pattern: PatternValues,
    frequencies: FrequencyValues,
}

/// Shapes: the classes of several characters, where a run of one class counts once. A measured shape also has the length
/// of each run, at most 4.
///
/// The state, a part of most of these values, tells whether the token so far is the character `left1` alone. After a
/// quotation mark, it also tells where the quotation ends. So two decisions about `24/7` agree.
#[derive(Clone, Copy, Debug, Default)]
struct ShapeValues {
    /// The chunk before the gap, and the state.
    before: u64,
    measured_before: u64,
    /// The chunk after the gap.
    after: u64,
    measured_after: u64,
    /// The token so far.
    measured_token: u64,
    token_and_after: u64,
    token_and_next: u64,
    /// The characters `left1` and `right1`, and the state.
    pair: u64,
    pair_and_next_class: u64,
    /// The classes of six characters, and the state.
    six: u64,
    /// The classes of four characters, and the state.
    four: u64,
}

/// The word before a stop, see [`GapKind::StopBeforeNumber`].
#[derive(Clone, Copy, Debug, Default)]
struct StopValues {
    /// Frequency class of the word, and its length up to 7.
    word: u64,
    /// `word`, and the shape of the word.
    word_and_shape: u64,
    /// Frequency class and shape of the word.
    frequency_and_shape: u64,
    /// Length and shape of the word.
    length_and_shape: u64,
    /// The chunk from the gap on, and the class of the first character of the next one.
    after: u64,
    /// Shape of the next chunk.
    next_shape: u64,
    /// 1 if the word has at most three letters, and 2 if the treebank does not have it without a stop.
    is_short_and_unknown: u64,
}

/// A gap in one of the patterns [`GapKind::InInitials`], [`GapKind::InNumber`] and [`GapKind::AfterQuote`].
#[derive(Clone, Copy, Debug, Default)]
struct PatternValues {
    /// Place of the gap in the pattern, with the state of [`ShapeValues`]. All dashes are one sign.
    place: u64,
    /// `place`, with the sign as written.
    place_as_written: u64,
    /// `place`, and the class of the first character of the next chunk.
    place_and_next: u64,
    /// Measured shape of the pattern.
    shape: u64,
    /// Measured shape of the run before the gap, and of the run after the sign.
    runs: u64,
    /// Shape of the chunk after the pattern.
    rest: u64,
}

/// Frequency classes of forms as tokens of their own: is `w/` a token, or `w`?
#[derive(Clone, Copy, Debug, Default)]
struct FrequencyValues {
    /// `longer`, the token so far, and the chunk after the gap.
    all: u64,
    /// The token up to the end of the chunk, with or without the punctuation at its end.
    longer: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct CharacterValues {
    form: u64,
    class: u64,
}

/// Classes of several characters.
#[derive(Clone, Copy, Debug, Default)]
struct ClassValues {
    /// Three characters on each side of the gap.
    six: u64,
    /// Two characters on each side of the gap.
    four: u64,
    left1_and_right1: u64,
    right1_and_right2: u64,
    left1_and_left2: u64,
    next_and_left1: u64,
    /// The last character of the chunk and the first of the next one.
    chunk_end_and_next: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct NextChunkValues {
    /// Hash of the chunk.
    form: u64,
    /// Class of its first character, plus 1.
    first_class: u64,
}

tables! {
    up to 2 attributes of GapValues;

    AnyGap {
        1 before after;
        2 token after;
        3 pair far_left;
        4 pair far_right;
    }

    BetweenLetters {
        5 left1.class right1.class;
        6 pair far_left_and_right;
        7 before right1.form;
        8 after left1.form;
        9 pair;
    }

    /// At least one of the two characters is not a letter.
    BesideOther {
        10 left1.class right1.class;
        11 pair;
        12 pair left2.form;
        13 pair right2.form;
        14 pair left2_and_right2;
        15 classes.six;
        16 classes.four left1.form;
        17 classes.four right1.form;
        18 before classes.right1_and_right2;
        19 after classes.left1_and_left2;
        20 before right1_and_classes;
        21 after next.form;
        22 token right1_and_classes;
        23 after classes.next_and_left1;
        24 before next.form;
        25 token next_class_and_right1;
        26 chunk_shape from_chunk_start;
        27 classes.four classes.chunk_end_and_next;
        28 left_run right1.form;
        29 pair next.first_class;
    }

    Shapes {
        33 shapes.before shapes.after;
        34 shapes.measured_before shapes.measured_after;
        35 shapes.before right1.form;
        36 shapes.after left1.form;
        37 shapes.measured_token right1_and_classes;
        38 shapes.token_and_after shapes.pair;
        39 shapes.measured_token shapes.pair_and_next_class;
        40 shapes.measured_before shapes.pair;
        41 shapes.measured_after shapes.pair;
        42 shapes.token_and_next shapes.pair;
        43 shapes.measured_token shapes.measured_after;
        44 shapes.pair;
        45 shapes.pair shapes.after;
        46 shapes.pair right2.form;
        47 shapes.six;
        48 shapes.four;
        49 shapes.four left1.form;
        50 shapes.four right1.form;
    }

    StopBeforeNumber {
        52 stop.word stop.after;
        53 stop.word_and_shape stop.after;
        54 stop.frequency_and_shape stop.after;
        55 stop.length_and_shape stop.after;
        56 stop.word stop.next_shape;
        57 pair far_left;
        58 token stop.after;
        59 token after;
        60 before after;
        61 token next.form;
        62 stop.word next.form;
        64 stop.is_short_and_unknown stop.after;
        65 stop.is_short_and_unknown stop.next_shape;
        66 stop.is_short_and_unknown right1_and_classes;
    }

    InInitials {
        70 pattern.place;
        71 pattern.place_and_next;
        72 pattern.place pattern.rest;
        73 pattern.place_and_next pattern.rest;
        74 pattern.place pattern.shape;
        75 pattern.place pair;
        76 before after;
        77 token after;
        78 pattern.place next.form;
    }

    InNumber {
        80 pattern.place;
        81 pattern.place_and_next;
        82 pattern.place pattern.rest;
        83 pattern.place_and_next pattern.shape;
        84 pattern.place pattern.shape;
        85 pattern.place pattern.runs;
        86 pattern.place shapes.before;
        87 before after;
        88 token after;
        89 pattern.place next.form;
    }

    AfterQuote {
        90 pattern.place;
        92 pattern.place left1.form;
        93 pattern.place right1.class;
        94 pattern.place shapes.after;
        95 pattern.place after;
    }

    BesideEmoticon {
        110 address;
        111 address pair;
        112 address shapes.after;
        113 address classes.four;
        114 address next.first_class;
        115 before after;
    }

    SignAsWritten {
        96 pattern.place_as_written;
        97 pattern.place_as_written pattern.shape;
    }

    Frequencies {
        120 frequencies.all;
        121 frequencies.all pair;
        122 frequencies.all classes.left1_and_right1;
        123 frequencies.longer right1_and_classes;
    }

    PlaceInAddress {
        30 address;
    }

    PlaceInAddressBesideOther {
        31 address classes.left1_and_right1;
        32 address pair;
    }
}

/// Values of the attributes that templates of spaces name. The space is between the chunks `left` and `right`.
struct SpaceValues {
    left: ChunkValues,
    right: ChunkValues,
    /// Hash of the chunk after `right`.
    next: u64,
}

struct ChunkValues {
    form: u64,
    shape: u64,
}

tables! {
    up to 2 attributes of SpaceValues;

    Space {
        100;
        101 left.form right.form;
        102 left.form right.shape;
        103 left.shape right.form;
        104 left.shape right.shape;
        105 right.form next;
        106 left.form;
        107 right.form;
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

/// A gap and its context.
struct Gap<'a> {
    text: &'a Characters,
    chunk: CharSpan,
    /// Index of the character after the gap.
    at: usize,
    /// Hash of the piece before the gap.
    before: u64,
    /// Hash of the piece after the gap.
    after: u64,
    next: NextChunkValues,
    /// Class of the last character of the chunk.
    last: u64,
    /// Address in the chunk, and the number of its kind.
    address: (CharSpan, u64),
    /// Reads all dashes as `-`.
    are_dashes_one_sign: bool,
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
    fn first_kind(&self) -> GapKind {
        let [left1, right1] = [-1, 0].map(|offset| self.near(offset).class as u8);
        if is_letter(left1) && is_letter(right1) {
            GapKind::BetweenLetters
        } else {
            GapKind::BesideOther
        }
    }

    /// Returns the kind of the gap. `token` is the token so far, `quote` see [`GapFeatures::quote`].
    fn kind(&self, token: CharSpan, quote: u64) -> GapKind {
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
    fn stop(
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
    fn pattern(
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
    fn frequencies(
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
    fn values(&self, token: u64, kind: GapKind) -> GapValues {
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
    fn shapes(&self, values: &GapValues, token: CharSpan, next: u64, quote: u64) -> ShapeValues {
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
    fn add_features(
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
fn shape(text: &Characters, span: CharSpan, longest: u64) -> u64 {
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
const EMOTICON: u64 = 3;

/// Returns `true` for a character with which an emoticon starts.
fn is_eye(c: char) -> bool {
    matches!(c, ':' | ';' | '=' | '<')
}

/// Finds the first emoticon in a lower-cased chunk: eyes, maybe a nose, and a mouth (`:-)`, `;p`), or a heart (`<3`). No
/// letter or digit stands beside it, and no other eyes.
fn emoticon(chunk: &[char]) -> Option<CharSpan> {
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

#[cfg(test)]
mod tests;
