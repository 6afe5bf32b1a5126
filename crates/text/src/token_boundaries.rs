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

    /// Returns the hash of a chunk and the class of its first character, plus 1; zeros after the last chunk.
    fn chunk(&self, text: &Characters, chunk: usize) -> (u64, u64) {
        match self.chunks.get(chunk) {
            Some(span) => (self.hashes[chunk], u64::from(text.class(span.start)) + 1),
            None => (0, 0),
        }
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
        let left = self.hashes[chunk - 1];
        let right = self.hashes[chunk];
        let left_shape = shape(before);
        let right_shape = shape(self.chunks[chunk]);
        let next = self.chunk(text, chunk + 1);
        self.features.clear();
        let templates = [
            [100, 0, 0],
            [101, left, right],
            [102, left, right_shape],
            [103, left_shape, right],
            [104, left_shape, right_shape],
            [105, right, next.0],
            [106, left, 0],
            [107, right, 0],
        ];
        self.features.extend(templates.map(|[t, a, b]| Hash::of(t).and(a).and(b).feature()));
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
        let next = self.chunk(text, chunk + 1);
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
    /// Hash of the next chunk, and the class of its first character.
    next: (u64, u64),
    /// Class of the last character of the chunk.
    last: u64,
    /// Address in the chunk, and the number of its kind.
    address: (CharSpan, u64),
}

impl Gap<'_> {
    /// Returns the character at an offset from the gap and its class: −1, −2, … to the left, 0, 1, … to the right.
    /// Outside the chunk it is a space.
    #[inline]
    fn near(&self, offset: isize) -> (u64, u64) {
        match self.at.checked_add_signed(offset) {
            Some(at) if at >= self.chunk.start && at < self.chunk.end => {
                (self.text.lower[at].into(), self.text.class(at).into())
            }
            _ => (b' '.into(), class::SPACE.into()),
        }
    }

    /// Writes the features of the gap. `token` is the hash of the token so far. The numbers and the order of the
    /// features are part of the model format.
    #[inline]
    fn features(&self, token: u64, features: &mut Vec<u32>) {
        let [l3, l2, l1, r1, r2, r3] = [-3, -2, -1, 0, 1, 2].map(|k| self.near(k));
        let pair = l1.0 << 21 | r1.0;
        let left = l3.0 << 21 | l2.0;
        let right = r2.0 << 21 | r3.0;
        let &Self { before, after, next, .. } = self;
        let (span, kind) = self.address;
        let address = match self.at {
            _ if kind == 0 => 0,
            at if at < span.start || at > span.end => 0,
            at if at == span.start => kind << 2 | 1,
            at if at == span.end => kind << 2 | 2,
            _ => kind << 2 | 3,
        };
        features.clear();
        let mut add = |t: u64, a: u64, b: u64| features.push(Hash::of(t).and(a).and(b).feature());
        add(1, before, after);
        add(2, token, after);
        add(3, pair, left);
        add(4, pair, right);
        if is_letter(l1.1 as u8) && is_letter(r1.1 as u8) {
            add(5, l1.1, r1.1);
            add(6, pair, left ^ right.rotate_left(11));
            add(7, before, r1.0);
            add(8, after, l1.0);
            add(9, pair, 0);
            add(30, address, 0);
            return;
        }
        let classes = [l3, l2, l1, r1, r2, r3].iter().fold(0, |classes, c| classes << 5 | c.1);
        let inner = classes >> 5 & 0xf_ffff;
        add(10, l1.1, r1.1);
        add(11, pair, 0);
        add(12, pair, l2.0);
        add(13, pair, r2.0);
        add(14, pair, l2.0 << 21 | r2.0);
        add(15, classes, 0);
        add(16, inner, l1.0);
        add(17, inner, r1.0);
        add(18, before, r1.1 << 5 | r2.1);
        add(19, after, l1.1 << 5 | l2.1);
        add(20, before, r1.0 << 10 | next.1 << 5 | r2.1);
        add(21, after, next.0);
        add(22, token, r1.0 << 10 | next.1 << 5 | r2.1);
        add(23, after, next.1 << 5 | l1.1);
        add(24, before, next.0);
        add(25, token, next.1 << 21 | r1.0);
        add(26, self.shape(), (self.at - self.chunk.start).min(31) as u64);
        add(27, inner, self.last << 5 | next.1);
        add(28, self.left_run(), r1.0);
        add(29, pair, next.1);
        add(30, address, 0);
        add(31, address, l1.1 << 5 | r1.1);
        add(32, address, pair);
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
