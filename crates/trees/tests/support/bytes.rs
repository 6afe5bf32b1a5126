//! Decodes bytes into sentences, arcs and constraints.
//!
//! Any byte string decodes and a missing byte reads as 0, so a fuzzer may cut and splice at will.

use tutte_trees::{ArcMatrix, Constraints};

/// Mostly 0 to 8 words, at most 20, with scores of every sort: ties, ordinary scores, ±1000,
/// ±1e300, denormals, forbidden arcs, NaN and ±∞, and garbage in the cells that are not arcs.
#[derive(Debug)]
pub(crate) struct Sentence<'a> {
    /// (n+1)² cells, head-major, including those that are not arcs.
    pub(crate) cells: Vec<f64>,
    pub(crate) scores: ArcMatrix,
    /// One head per word, not always a tree and not always in range.
    pub(crate) heads: Vec<usize>,
    pub(super) palette: u8,
    /// The bytes that decide the questions.
    pub(super) rest: &'a [u8],
}

impl<'a> Sentence<'a> {
    pub(crate) fn decode(data: &'a [u8]) -> Self {
        let mut bytes = Bytes(data);
        let words = match bytes.next() {
            byte @ 0..240 => usize::from(byte % 9),
            byte => usize::from(byte - 240) + 5,
        };
        let palette = bytes.next();
        let forbidden_per_10 = [0, 0, 3, 6][bytes.below(4)];
        let heads = bytes.heads(words);
        let side = words + 1;
        let cells: Vec<f64> = (0..side * side)
            .map(|cell| {
                let (head, modifier) = (cell / side, cell % side);
                if modifier == 0 || head == modifier {
                    bytes.garbage()
                } else if bytes.below(10) < forbidden_per_10 {
                    f64::NEG_INFINITY
                } else {
                    bytes.score(palette)
                }
            })
            .collect();
        let scores = ArcMatrix::from_vec(words, cells.clone()).expect("(n+1)² cells");
        Self { cells, scores, heads, palette, rest: bytes.0 }
    }

    /// The first arc whose score must be refused.
    pub(crate) fn bad_arc(&self) -> Option<(usize, usize)> {
        let accepted = |x: f64| x == f64::NEG_INFINITY || x.abs() <= ArcMatrix::MAX_SCORE;
        let bad = self.scores.arcs().find(|&(.., score)| !accepted(score));
        bad.map(|(head, modifier, _)| (head, modifier))
    }

    pub(super) fn tolerance(&self) -> f64 {
        tolerance(self.scores.words(), self.scores.arcs().map(|(.., score)| score))
    }
}

/// Error allowed to a logarithm, in nats: 1e-9, and a few roundings of the largest possible sum of
/// scores. Scores of 1e15 leave no digits for the difference between two trees.
pub(super) fn tolerance(words: usize, scores: impl IntoIterator<Item = f64>) -> f64 {
    let finite = scores.into_iter().map(f64::abs).filter(|x| x.is_finite());
    1e-9 + 16.0 * f64::EPSILON * words as f64 * finite.fold(0.0, f64::max)
}

/// A reader of bytes that never runs out.
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl Bytes<'_> {
    pub(super) fn next(&mut self) -> u8 {
        match self.0 {
            [first, rest @ ..] => {
                self.0 = rest;
                *first
            }
            [] => 0,
        }
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.next()) % bound
    }

    /// Half of the time, heads that precede their modifiers and so form a tree; otherwise any numbers
    /// up to one beyond the sentence.
    fn heads(&mut self, words: usize) -> Vec<usize> {
        let forward = self.below(2) == 0;
        (1..=words).map(|modifier| self.below(if forward { modifier } else { words + 2 })).collect()
    }

    /// A score. One palette per sentence, since a single NaN or 1e300 hides everything else.
    pub(super) fn score(&mut self, palette: u8) -> f64 {
        let sign = if self.below(2) == 0 { 1.0 } else { -1.0 };
        sign * match palette % 8 {
            0 => 0.0,
            1 => self.below(3) as f64,
            2 | 3 => f64::from(self.next()) / 64.0,
            4 => f64::from(self.next()) * 4.0,
            5 => [0.0, 1.0, 40.0, 1000.0, 1e5][self.below(5)],
            6 => [0.0, 5e-324, 1e-310, 1.0, 1e15, 1e300][self.below(6)],
            _ => [1.0, 1000.0, 1e300, 1.1e300, f64::MAX, f64::INFINITY, f64::NAN][self.below(7)],
        }
    }

    fn garbage(&mut self) -> f64 {
        [0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, f64::MAX][self.below(6)]
    }

    /// A value of a function of arcs, with a palette of its own; values of the last palette are refused.
    pub(super) fn value(&mut self, palette: u8) -> f64 {
        let sign = if self.below(2) == 0 { 1.0 } else { -1.0 };
        sign * match palette % 8 {
            0 => 1.0,
            1..5 => f64::from(self.next()) / 64.0,
            5 => [0.0, 1e-300, 1.0, 1e100][self.below(4)],
            6 => [0.0, 1.0, 1e300][self.below(3)],
            _ => [1.0, 1.0, 1e300, 1.1e300, f64::INFINITY, f64::NAN][self.below(6)],
        }
    }

    /// An arc, mostly one of the sentence.
    pub(super) fn arc(&mut self, words: usize) -> (usize, usize) {
        match self.next() {
            255 => (usize::MAX, words),
            254 => (0, usize::MAX),
            head => (usize::from(head) % (words + 2), self.below(words + 2)),
        }
    }

    /// Up to four arcs.
    pub(super) fn arcs(&mut self, words: usize) -> Vec<(usize, usize)> {
        (0..self.below(5)).map(|_| self.arc(words)).collect()
    }

    /// Up to three constraints, possibly contradictory; constraints on labels only if there are labels.
    pub(super) fn constraints(&mut self, words: usize, labels: usize) -> Known {
        let mut known = Known::default();
        for _ in 0..self.below(4) {
            match self.below(if labels == 0 { 3 } else { 5 }) {
                0 => known.required.push(self.arc(words)),
                1 => known.forbidden.push(self.arc(words)),
                2 => {
                    let heads =
                        |bytes: &mut Self| (bytes.below(3) == 0).then(|| bytes.below(words + 1));
                    known.partial = (0..words).map(|_| heads(self)).collect();
                }
                3 => known.labels.push((self.below(words + 2), self.below(labels + 1))),
                _ => known.no_labels.push((self.below(words + 2), self.below(labels + 1))),
            }
        }
        known
    }
}

/// The lists of constraints, to check answers against.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) required: Vec<(usize, usize)>,
    pub(super) forbidden: Vec<(usize, usize)>,
    pub(super) partial: Vec<Option<usize>>,
    pub(super) labels: Vec<(usize, usize)>,
    pub(super) no_labels: Vec<(usize, usize)>,
}

impl Known {
    pub(super) fn constraints(&self) -> Constraints {
        let mut all = Constraints::new().partial_tree(&self.partial);
        for &(head, modifier) in &self.required {
            all = if head == 0 {
                all.require_root(modifier)
            } else {
                all.require_arc(head, modifier)
            };
        }
        for &(head, modifier) in &self.forbidden {
            all =
                if head == 0 { all.forbid_root(modifier) } else { all.forbid_arc(head, modifier) };
        }
        for &(modifier, label) in &self.labels {
            all = all.require_label(modifier, label);
        }
        for &(modifier, label) in &self.no_labels {
            all = all.forbid_label(modifier, label);
        }
        all
    }

    /// Every arc that is required.
    pub(super) fn all_required(&self) -> Vec<(usize, usize)> {
        let partial = self.partial.iter().enumerate();
        let known = partial.filter_map(|(index, head)| Some(((*head)?, index + 1)));
        self.required.iter().copied().chain(known).collect()
    }

    /// True if all constraints are on arcs of the sentence.
    pub(super) fn is_in_range(&self, scores: &ArcMatrix) -> bool {
        let arcs = self.all_required();
        arcs.iter().chain(&self.forbidden).all(|&(head, modifier)| scores.has_arc(head, modifier))
    }

    /// True if heads satisfy the constraints on arcs.
    pub(super) fn holds(&self, heads: &[usize]) -> bool {
        let has = |&(head, modifier): &(usize, usize)| heads[modifier - 1] == head;
        self.all_required().iter().all(has) && !self.forbidden.iter().any(has)
    }
}
