//! Where tokens end: a decision at every gap between two characters.
//!
//! A paragraph is a row of chunks with white space in between. Inside a chunk, a token ends at the gap
//! before character i with probability σ(w·f(i)), and does if that is above ½; decisions are made from left
//! to right, and features see where the token began. They are the characters around the gap, their
//! classes, the chunk before and behind the gap, its shape, and the chunk that follows. Between two letters,
//! where nearly all gaps are and hardly any token ends, fewer are looked at. Between chunks a token always
//! ends, unless the treebank has tokens with spaces inside (`1 000`): a single space is then a gap like
//! others. Marks, joiners and the like are never separated from what they belong to.
//!
//! Learnt by logistic regression. Cost: linear in the text; what a gap sees is at most 2⁸ characters.

use tutte_linear::{BinaryLearner, Hash, Order, Weights, score, sigmoid};

use super::characters::{Characters, class, is_letter};
use super::progress::PassCounter;
use super::training_text::Paragraph;
use super::unicode::{self, Address};
use crate::Error;

/// A stretch of characters (by their number in the paragraph): a token, or characters without space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Chunks longer than this are looked at in pieces.
const PIECE: usize = 1 << 8;

/// A model of the ends of tokens.
#[derive(Clone, Debug)]
pub(super) struct Gaps<W> {
    pub(super) weights: W,
    /// Whether tokens may have spaces inside.
    pub(super) spaces: bool,
}

impl<W: Weights> Gaps<W> {
    /// Finds the tokens of a paragraph; those of chunks of which nothing was learnt, since they are of a
    /// foreign script, by Unicode's rules.
    pub(super) fn tokens(
        &self,
        text: &Characters,
        is_foreign: impl Fn(&[char]) -> bool,
        view: &mut View,
        tokens: &mut Vec<Stretch>,
    ) {
        tokens.clear();
        view.read(text);
        for chunk in 0..view.chunks.len() {
            let Stretch { start, end } = view.chunks[chunk];
            if is_foreign(&text.lower[start..end]) {
                let written: String = text.lower[start..end].iter().collect();
                let mut at = start;
                unicode::each_token(&written, |_, token| {
                    let end = at + token.chars().count();
                    tokens.push(Stretch { start: at, end });
                    at = end;
                });
                continue;
            }
            let mut token_start = start;
            if self.spaces
                && let Some(features) = view.space_features(text, chunk)
                && score(&self.weights, features) <= 0.0
                && let Some(joined) = tokens.pop()
            {
                token_start = joined.start;
            }
            view.each_gap(text, chunk, |gap, features| {
                let ends = score(&self.weights, features) > 0.0;
                if ends {
                    tokens.push(Stretch { start: token_start, end: gap });
                    token_start = gap;
                }
                ends
            });
            tokens.push(Stretch { start: token_start, end });
        }
    }
}

impl Gaps<Vec<f32>> {
    const RATE: f32 = 0.5;
    /// Gaps that are as sure as this teach nothing more.
    const SURE: f32 = 0.005;

    /// Learns from paragraphs whose tokens are known.
    pub(super) fn train(
        paragraphs: &[Paragraph<'_>],
        bits: u32,
        passes: usize,
        seed: u64,
        laps: &PassCounter<'_>,
    ) -> Result<Self, Error> {
        let mut learner = BinaryLearner::new(bits, Self::RATE);
        let mut learn = |features: &[u32], ends: bool| {
            learner.tick();
            let gradient = sigmoid(learner.score(features)) - if ends { 1.0 } else { 0.0 };
            if gradient.abs() > Self::SURE {
                learner.update(features, gradient);
            }
            ends
        };
        let spaces = paragraphs.iter().any(Paragraph::has_spaces_in_tokens);
        let mut view = View::default();
        let mut order = Order::new(seed, 0);
        for _ in 0..passes {
            for paragraph in order.shuffled(paragraphs.len()) {
                let Paragraph { characters: text, starts, .. } = &paragraphs[paragraph];
                view.read(text);
                for chunk in 0..view.chunks.len() {
                    let start = view.chunks[chunk].start;
                    if spaces && let Some(features) = view.space_features(text, chunk) {
                        learn(features, starts[start]);
                    }
                    view.each_gap(text, chunk, |gap, features| learn(features, starts[gap]));
                }
            }
            laps.lap()?;
        }
        Ok(Self { weights: learner.averaged(), spaces })
    }
}

/// What gaps look at, and memory for it.
#[derive(Debug, Default)]
pub(super) struct View {
    chunks: Vec<Stretch>,
    /// A hash of each chunk.
    hashes: Vec<u64>,
    /// The text of the chunk, and the address in it.
    form: String,
    /// Of the piece of a chunk: what is before each of its gaps, what is behind.
    before: Vec<u64>,
    behind: Vec<u64>,
    features: Vec<u32>,
}

impl View {
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
            self.chunks.push(Stretch { start, end: at });
            let seen = &text.lower[start..at.min(start + PIECE)];
            self.hashes.push(seen.iter().fold(Hash::of(0), |hash, &c| hash.and(c.into())).value());
        }
    }

    /// A hash of a chunk and the class of its first character; zeros after the last one.
    fn chunk(&self, text: &Characters, chunk: usize) -> (u64, u64) {
        match self.chunks.get(chunk) {
            Some(stretch) => (self.hashes[chunk], u64::from(text.class(stretch.start)) + 1),
            None => (0, 0),
        }
    }

    /// What is seen of the space before a chunk, if a token could go on over it.
    fn space_features(&mut self, text: &Characters, chunk: usize) -> Option<&[u32]> {
        let (start, before) = (self.chunks[chunk].start, self.chunks[chunk.checked_sub(1)?]);
        let single = before.end + 1 == start
            && matches!(text.lower[before.end], ' ' | '\u{a0}' | '\u{202f}');
        if !single {
            return None;
        }
        let shape = |stretch: Stretch| {
            let classes =
                (stretch.start..stretch.end.min(stretch.start + PIECE)).map(|at| text.class(at));
            classes.fold(Hash::of(1), |hash, class| hash.and(class.into())).value()
        };
        let (left, right) = (self.hashes[chunk - 1], self.hashes[chunk]);
        let (left_shape, right_shape) = (shape(before), shape(self.chunks[chunk]));
        let next = self.chunk(text, chunk + 1);
        self.features.clear();
        let seen = [
            [100, 0, 0],
            [101, left, right],
            [102, left, right_shape],
            [103, left_shape, right],
            [104, left_shape, right_shape],
            [105, right, next.0],
            [106, left, 0],
            [107, right, 0],
        ];
        self.features.extend(seen.map(|[t, a, b]| Hash::of(t).and(a).and(b).feature()));
        Some(&self.features)
    }

    /// Gives every gap of a chunk at which a token may end, and its features, to `decide`, which says
    /// whether one does.
    fn each_gap(
        &mut self,
        text: &Characters,
        chunk: usize,
        mut decide: impl FnMut(usize, &[u32]) -> bool,
    ) {
        let Stretch { start, end } = self.chunks[chunk];
        let next = self.chunk(text, chunk + 1);
        let last = text.class(end - 1).into();
        let address = self.address(text, chunk);
        let mut token = Hash::of(0);
        for piece in (start..end).step_by(PIECE) {
            self.read_piece(text, Stretch { start: piece, end: end.min(piece + PIECE) });
            for gap in piece..end.min(piece + PIECE) {
                let c = text.lower[gap].into();
                if gap > start && !text.is_joined(gap) {
                    let (before, behind) = (self.before[gap - piece], self.behind[gap - piece]);
                    let seen = Seen {
                        text,
                        chunk: self.chunks[chunk],
                        gap,
                        before,
                        behind,
                        next,
                        last,
                        address,
                    };
                    seen.features(token.value(), &mut self.features);
                    if decide(gap, &self.features) {
                        token = Hash::of(0);
                    }
                }
                token = token.and(c);
            }
        }
    }

    /// The address in a chunk, by its characters, and what it is; 0 without one.
    fn address(&mut self, text: &Characters, chunk: usize) -> (Stretch, u64) {
        let Stretch { start, end } = self.chunks[chunk];
        let none = (Stretch { start, end: start }, 0);
        let characters = &text.lower[start..end];
        if !characters.iter().any(|c| matches!(c, '@' | '/' | '.')) {
            return none;
        }
        self.form.clear();
        self.form.extend(characters);
        let Some((address, kind)) = unicode::address(&self.form) else { return none };
        let count = |bytes: usize| self.form[..bytes].chars().count();
        let stretch =
            Stretch { start: start + count(address.start), end: start + count(address.end) };
        (
            stretch,
            match kind {
                Address::Page => 1,
                Address::Mail => 2,
            },
        )
    }

    fn read_piece(&mut self, text: &Characters, piece: Stretch) {
        let characters = &text.lower[piece.start..piece.end];
        let mut hash = Hash::of(1);
        self.before.clear();
        self.before.extend(characters.iter().map(|&c| {
            let before = hash.value();
            hash = hash.and(c.into());
            before
        }));
        hash = Hash::of(2);
        self.behind.clear();
        self.behind.resize(characters.len(), 0);
        for (at, &c) in characters.iter().enumerate().rev() {
            hash = hash.and(c.into());
            self.behind[at] = hash.value();
        }
    }
}

/// A gap and what is around it.
struct Seen<'a> {
    text: &'a Characters,
    chunk: Stretch,
    gap: usize,
    /// Hashes of the chunk before and behind the gap.
    before: u64,
    behind: u64,
    /// The next chunk and the class of its first character.
    next: (u64, u64),
    /// The class of the chunk's last character.
    last: u64,
    /// The chunk's address.
    address: (Stretch, u64),
}

impl Seen<'_> {
    /// The k-th character to the left (−1, −2, …) or right (0, 1, …); a space outside of the chunk.
    #[inline]
    fn at(&self, k: isize) -> (u64, u64) {
        match self.gap.checked_add_signed(k) {
            Some(at) if at >= self.chunk.start && at < self.chunk.end => {
                (self.text.lower[at].into(), self.text.class(at).into())
            }
            _ => (b' '.into(), class::SPACE.into()),
        }
    }

    /// `token` is a hash of the token so far.
    #[inline]
    fn features(&self, token: u64, features: &mut Vec<u32>) {
        let [l3, l2, l1, r1, r2, r3] = [-3, -2, -1, 0, 1, 2].map(|k| self.at(k));
        let pair = l1.0 << 21 | r1.0;
        let left = l3.0 << 21 | l2.0;
        let right = r2.0 << 21 | r3.0;
        let (before, behind, next) = (self.before, self.behind, self.next);
        let (address, kind) = self.address;
        let address = match self.gap {
            _ if kind == 0 => 0,
            gap if gap < address.start || gap > address.end => 0,
            gap if gap == address.start => kind << 2 | 1,
            gap if gap == address.end => kind << 2 | 2,
            _ => kind << 2 | 3,
        };
        features.clear();
        let mut add = |t: u64, a: u64, b: u64| features.push(Hash::of(t).and(a).and(b).feature());
        add(1, before, behind);
        add(2, token, behind);
        add(3, pair, left);
        add(4, pair, right);
        if is_letter(l1.1 as u8) && is_letter(r1.1 as u8) {
            add(5, l1.1, r1.1);
            add(6, pair, left ^ right.rotate_left(11));
            add(7, before, r1.0);
            add(8, behind, l1.0);
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
        add(19, behind, l1.1 << 5 | l2.1);
        add(20, before, r1.0 << 10 | next.1 << 5 | r2.1);
        add(21, behind, next.0);
        add(22, token, r1.0 << 10 | next.1 << 5 | r2.1);
        add(23, behind, next.1 << 5 | l1.1);
        add(24, before, next.0);
        add(25, token, next.1 << 21 | r1.0);
        add(26, self.shape(), (self.gap - self.chunk.start).min(31) as u64);
        add(27, inner, self.last << 5 | next.1);
        add(28, self.left_run(), r1.0);
        add(29, pair, next.1);
        add(30, address, 0);
        add(31, address, l1.1 << 5 | r1.1);
        add(32, address, pair);
    }

    /// The classes of the chunk, each run of one class once.
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

    /// The run of characters of one class that ends at the gap.
    fn left_run(&self) -> u64 {
        let class = self.text.class(self.gap - 1);
        let mut hash = Hash::of(4);
        for at in (self.chunk.start.max(self.gap.saturating_sub(32))..self.gap).rev() {
            if self.text.class(at) != class {
                break;
            }
            hash = hash.and(self.text.lower[at].into());
        }
        hash.value()
    }
}
