//! Token boundaries: a decision at every gap between two characters.
//!
//! A paragraph is a sequence of chunks with white space between them. Inside a chunk, a token ends at the gap before
//! character i with probability σ(w·f(i)). It is taken to end there if that is above ½. Decisions are made from left
//! to right, and the features see where the current token began. The other features are the characters around the
//! gap, their classes, the chunk before and after the gap, its shape, and the next chunk. Gaps between two letters
//! have fewer features: nearly all gaps are such, and few tokens end there.
//!
//! Between chunks a token always ends, unless the treebank has tokens with spaces inside (`1 000`). Then a single space
//! is a gap like others. Marks and joiners are never separated from the character before them.
//!
//! Training is logistic regression. Cost: linear in the text; a gap sees at most 2⁸ characters.

use tutte_linear::{BinaryLearner, Compact, Hash, Order, Weights, score, sigmoid};

use crate::Error;
use crate::characters::{CharSpan, Characters, class, is_letter};
use crate::feature_tables::{Table, tables};
use crate::progress::PassCounter;
use crate::training_text::GoldParagraph;
use crate::unicode::{self, Address};

/// Length of the pieces in which longer chunks are read.
const PIECE: usize = 1 << 8;

/// A model of token boundaries.
#[derive(Clone, Debug)]
pub(crate) struct TokenBoundaries<W> {
    pub(crate) weights: W,
    /// Allows spaces inside tokens.
    pub(crate) has_spaces_in_tokens: bool,
}

impl<W: Weights> TokenBoundaries<W> {
    /// Finds the tokens of a paragraph. Chunks in a foreign script are divided by Unicode's rules.
    pub(crate) fn tokens(
        &self,
        text: &Characters,
        is_foreign: impl Fn(&[char]) -> bool,
        gaps: &mut GapFeatures,
        tokens: &mut Vec<CharSpan>,
    ) {
        tokens.clear();
        gaps.read(text);
        for chunk in 0..gaps.chunks.len() {
            let CharSpan { start, end } = gaps.chunks[chunk];
            if is_foreign(&text.lower[start..end]) {
                let written: String = text.lower[start..end].iter().collect();
                let mut at = start;
                unicode::each_token(&written, |_, token| {
                    let end = at + token.chars().count();
                    tokens.push(CharSpan { start: at, end });
                    at = end;
                });
                continue;
            }
            let mut token_start = start;
            if self.has_spaces_in_tokens
                && let Some(features) = gaps.space_features(text, chunk)
                && score(&self.weights, features) <= 0.0
                && let Some(joined) = tokens.pop()
            {
                token_start = joined.start;
            }
            gaps.each_gap(text, chunk, |gap, features| {
                let is_end = score(&self.weights, features) > 0.0;
                if is_end {
                    tokens.push(CharSpan { start: token_start, end: gap });
                    token_start = gap;
                }
                is_end
            });
            tokens.push(CharSpan { start: token_start, end });
        }
    }
}

impl TokenBoundaries<Vec<f32>> {
    const RATE: f32 = 0.5;
    /// Examples with a smaller gradient move no weights.
    const MIN_GRADIENT: f32 = 0.005;

    /// Trains a model on paragraphs.
    pub(crate) fn train(
        paragraphs: &[GoldParagraph<'_>],
        bits: u32,
        passes: usize,
        seed: u64,
        counter: &PassCounter<'_>,
    ) -> Result<Self, Error> {
        let mut learner = BinaryLearner::new(bits, Self::RATE);
        let mut learn = |features: &[u32], is_end: bool| {
            learner.tick();
            let gradient = sigmoid(learner.score(features)) - if is_end { 1.0 } else { 0.0 };
            if gradient.abs() > Self::MIN_GRADIENT {
                learner.update(features, gradient);
            }
            is_end
        };
        let has_spaces_in_tokens = paragraphs.iter().any(GoldParagraph::has_spaces_in_tokens);
        let mut gaps = GapFeatures::default();
        let mut order = Order::new(seed, 0);
        for _ in 0..passes {
            for paragraph in order.shuffled(paragraphs.len()) {
                let GoldParagraph { characters: text, starts, .. } = &paragraphs[paragraph];
                gaps.read(text);
                for chunk in 0..gaps.chunks.len() {
                    let start = gaps.chunks[chunk].start;
                    if has_spaces_in_tokens && let Some(features) = gaps.space_features(text, chunk)
                    {
                        learn(features, starts[start]);
                    }
                    gaps.each_gap(text, chunk, |gap, features| learn(features, starts[gap]));
                }
            }
            counter.finish_pass()?;
        }
        Ok(Self { weights: learner.averaged(), has_spaces_in_tokens })
    }

    /// Returns this model with weights of 8 bits.
    pub(crate) fn compact(&self) -> TokenBoundaries<Compact> {
        TokenBoundaries {
            weights: Compact::new(&self.weights),
            has_spaces_in_tokens: self.has_spaces_in_tokens,
        }
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
    /// Place of the gap in an address.
    address: u64,
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
    chunks: Vec<CharSpan>,
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
    fn read(&mut self, text: &Characters) {
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
    fn space_features(&mut self, text: &Characters, chunk: usize) -> Option<&[u32]> {
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

    /// Calls `is_end` with every gap of a chunk at which a token may end, and the features of the gap. It returns
    /// `true` if a token ends there.
    fn each_gap(
        &mut self,
        text: &Characters,
        chunk: usize,
        mut is_end: impl FnMut(usize, &[u32]) -> bool,
    ) {
        let CharSpan { start, end } = self.chunks[chunk];
        let next = self.next_chunk(text, chunk);
        let last = text.class(end - 1).into();
        let address = self.address(text, chunk);
        let mut token = Hash::of(0);
        for piece in (start..end).step_by(PIECE) {
            self.read_piece(text, CharSpan { start: piece, end: end.min(piece + PIECE) });
            for gap in piece..end.min(piece + PIECE) {
                let c = text.lower[gap].into();
                if gap > start && !text.is_joined(gap) {
                    let context = Gap {
                        text,
                        chunk: self.chunks[chunk],
                        at: gap,
                        before: self.before[gap - piece],
                        after: self.after[gap - piece],
                        next,
                        last,
                        address,
                    };
                    context.features(token.value(), &mut self.features);
                    if is_end(gap, &self.features) {
                        token = Hash::of(0);
                    }
                }
                token = token.and(c);
            }
        }
    }

    /// Returns the address in a chunk, and the number of its kind; 0 if there is none.
    fn address(&mut self, text: &Characters, chunk: usize) -> (CharSpan, u64) {
        let CharSpan { start, end } = self.chunks[chunk];
        let none = (CharSpan { start, end: start }, 0);
        let characters = &text.lower[start..end];
        if !characters.iter().any(|c| matches!(c, '@' | '/' | '.')) {
            return none;
        }
        self.form.clear();
        self.form.extend(characters);
        let Some((bytes, address)) = unicode::address(&self.form) else { return none };
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

    /// Writes the features of the gap. `token` is the hash of the token so far.
    #[inline]
    fn features(&self, token: u64, features: &mut Vec<u32>) {
        let near = [-3, -2, -1, 0, 1, 2].map(|offset| self.near(offset));
        let [left3, left2, left1, right1, right2, right3] = near;
        let pair = left1.form << 21 | right1.form;
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
            pair,
            far_left,
            far_right,
            next,
            address: self.place_in_address(),
            ..GapValues::default()
        };
        features.clear();
        AnyGap::add(&values, Hash::of, features);
        if is_letter(left1.class as u8) && is_letter(right1.class as u8) {
            values.far_left_and_right = far_left ^ far_right.rotate_left(11);
            BetweenLetters::add(&values, Hash::of, features);
            PlaceInAddress::add(&values, Hash::of, features);
            return;
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
        BesideOther::add(&values, Hash::of, features);
        PlaceInAddress::add(&values, Hash::of, features);
        PlaceInAddressBesideOther::add(&values, Hash::of, features);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_tables::{are_distinct, digest};

    /// Features of all gaps and spaces of a text, recorded when the first models were trained.
    #[test]
    fn features_are_part_of_the_format() {
        let long = "ab-".repeat(PIECE);
        let recorded = [
            ("tea", (20, 1137624330091720950)),
            ("I don't mind, he said.", (230, 6946205276518097370)),
            ("(1 000 km) x=3.5%… d\u{301}e!", (366, 14854039045726863533)),
            ("see www.example.org/a?b, or me@example.org.", (622, 2781788153530473493)),
            ("我是 猫です ﬁn", (107, 11960219995426029973)),
            (&long, (16357, 2298372466060316675)),
        ];
        for (text, expected) in recorded {
            assert_eq!(digest(&all_features(text)), expected, "{text}");
        }
    }

    /// Returns the features of all gaps and spaces. A token ends at every third gap.
    fn all_features(text: &str) -> Vec<u32> {
        let mut characters = Characters::default();
        characters.read(text);
        let mut gaps = GapFeatures::default();
        gaps.read(&characters);
        let mut all = Vec::new();
        for chunk in 0..gaps.chunks.len() {
            all.extend_from_slice(gaps.space_features(&characters, chunk).unwrap_or_default());
            gaps.each_gap(&characters, chunk, |gap, features| {
                all.extend_from_slice(features);
                gap % 3 == 0
            });
        }
        all
    }

    #[test]
    fn every_template_has_its_own_number() {
        assert!(are_distinct(&[
            AnyGap::NUMBERS,
            BetweenLetters::NUMBERS,
            BesideOther::NUMBERS,
            PlaceInAddress::NUMBERS,
            PlaceInAddressBesideOther::NUMBERS,
            Space::NUMBERS,
        ]));
    }
}
