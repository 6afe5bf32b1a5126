//! Random scores, enumerated distributions, and comparisons that say what differs.

use std::fmt;
use std::ops::RangeInclusive;

use proptest::prelude::*;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use tutte_trees::{ArcMatrix, Error, Tree, TreeDistribution, TreeSet, oracle};

pub(crate) const FORBIDDEN: f64 = f64::NEG_INFINITY;

/// A seeded source of everything random.
pub(crate) struct Random(pub(crate) Pcg64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg64::seed_from_u64(seed))
    }

    /// In [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Mean 0, variance 1, and nearly normal.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// In 0..end.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.uniform() * end as f64) as usize
    }

    /// Any arc of a sentence of `words ≥ 1` words.
    pub(crate) fn arc(&mut self, words: usize) -> (usize, usize) {
        loop {
            let (head, modifier) = (self.below(words + 1), 1 + self.below(words));
            if head != modifier {
                return (head, modifier);
            }
        }
    }

    /// N(0, sigma) on every arc.
    pub(crate) fn scores(&mut self, words: usize, sigma: f64) -> ArcMatrix {
        ArcMatrix::from_fn(words, |_, _| sigma * self.normal())
    }

    /// Each arc forbidden with probability `rate`.
    pub(crate) fn mask(&mut self, scores: &mut ArcMatrix, rate: f64) {
        let words = scores.words();
        for head in 0..=words {
            for modifier in 1..=words {
                if self.uniform() < rate {
                    scores.forbid(head, modifier);
                }
            }
        }
    }

    /// A tree, each word attached to the root or to a word of a random order before it.
    pub(crate) fn tree(&mut self, words: usize) -> Tree {
        let mut order: Vec<usize> = (1..=words).collect();
        for last in (1..words).rev() {
            order.swap(last, self.below(last + 1));
        }
        let mut heads = vec![0; words];
        for at in 1..words {
            let before = self.below(at + 1);
            heads[order[at] - 1] = if before == at { 0 } else { order[before] };
        }
        Tree::new(&heads).expect("heads come before their modifiers")
    }
}

/// The source of scores. Each is difficult in its own way.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Normal(f64),
    /// Small whole numbers: many trees tie.
    Ties,
    /// All at +1000 or −1000.
    Cliffs,
    /// N(0, 1), and the arcs of one tree at +1000.
    OneTree,
    /// Neighbours 2k−1, 2k prefer each other by 40 nats to the root and everything else.
    TwoCycles,
}

/// The arcs that are then forbidden.
#[derive(Clone, Copy, Debug)]
enum Twist {
    Mask(f64),
    /// One word may be attached to the root only.
    OnlyRootHead,
    /// Two words have no word heads but each other.
    ClosedPair,
    /// About half the words have one possible head.
    OneHead,
}

/// Scores and their order of magnitude, on which tolerances depend. Cells that are not arcs are NaN.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) scores: ArcMatrix,
    pub(crate) scale: f64,
    pub(crate) seed: u64,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scale {:e}, seed {}, {:?}", self.scale, self.seed, self.scores)
    }
}

impl Case {
    fn new(words: usize, kind: Kind, twist: Twist, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (mut scores, scale) = match kind {
            Kind::Normal(sigma) => (random.scores(words, sigma), sigma),
            Kind::Ties => (ArcMatrix::from_fn(words, |_, _| random.normal().round()), 1.0),
            Kind::Cliffs => {
                let mut cliff = || if random.uniform() < 0.5 { 1000.0 } else { -1000.0 };
                (ArcMatrix::from_fn(words, |_, _| cliff()), 1000.0)
            }
            Kind::OneTree => {
                let mut scores = random.scores(words, 1.0);
                for arc in random.tree(words).arcs() {
                    scores[arc] = 1000.0;
                }
                (scores, 1000.0)
            }
            Kind::TwoCycles => {
                let mut scores = ArcMatrix::from_fn(words, |_, _| random.normal() - 40.0);
                for odd in (1..words).step_by(2) {
                    scores[(odd, odd + 1)] += 40.0;
                    scores[(odd + 1, odd)] += 40.0;
                }
                (scores, 40.0)
            }
        };
        let keep_heads = |scores: &mut ArcMatrix, modifier: usize, keep: &[usize]| {
            for head in (0..=words).filter(|head| !keep.contains(head)) {
                scores.forbid(head, modifier);
            }
        };
        match twist {
            Twist::Mask(rate) => random.mask(&mut scores, rate),
            Twist::OnlyRootHead if words > 0 => {
                keep_heads(&mut scores, 1 + random.below(words), &[0]);
            }
            Twist::ClosedPair if words > 1 => {
                let a = 1 + random.below(words - 1);
                let b = words;
                keep_heads(&mut scores, a, &[0, b]);
                keep_heads(&mut scores, b, &[0, a]);
            }
            Twist::OneHead => {
                for modifier in 1..=words {
                    if random.uniform() < 0.5 {
                        let (head, _) = random.arc(words);
                        let head = if head == modifier { 0 } else { head };
                        keep_heads(&mut scores, modifier, &[head]);
                    }
                }
            }
            Twist::OnlyRootHead | Twist::ClosedPair => {}
        }
        for cell in 0..=words {
            scores[(cell, 0)] = f64::NAN;
            scores[(cell, cell)] = f64::NAN;
        }
        Self { scores, scale, seed }
    }

    /// Absolute error allowed to a probability: 1e−12 for σ ≤ 30, 1e−10 for σ = 1000 and in
    /// proportion beyond, where a tree's score alone is rounded that much.
    pub(crate) fn tolerance(&self) -> f64 {
        if self.scale <= 30.0 { 1e-12 } else { 1e-12f64.max(1e-13 * self.scale) }
    }

    /// A generator for further random choices of this case.
    pub(crate) fn random(&self) -> Random {
        Random::new(!self.seed)
    }

    /// The sets in which there is a tree, with the distributions over them.
    pub(crate) fn distributions(&self) -> Vec<(TreeSet, TreeDistribution)> {
        distributions(&self.scores)
    }
}

/// The distributions over all tree sets in which these scores allow a tree.
pub(crate) fn distributions(scores: &ArcMatrix) -> Vec<(TreeSet, TreeDistribution)> {
    let distribution = |set| match TreeDistribution::new(scores.clone(), set) {
        Ok(distribution) => Some((set, distribution)),
        Err(Error::NoTree { tree_set, .. }) if tree_set == set => None,
        Err(other) => panic!("{set}: {other}"),
    };
    TreeSet::ALL.into_iter().filter_map(distribution).collect()
}

/// Scores from every source for sentences of these lengths.
pub(crate) fn cases(words: RangeInclusive<usize>) -> impl Strategy<Value = Case> {
    let kinds = vec![
        Kind::Normal(0.0),
        Kind::Normal(1.0),
        Kind::Normal(30.0),
        Kind::Normal(200.0),
        Kind::Normal(1e3),
        Kind::Normal(1e5),
        Kind::Ties,
        Kind::Cliffs,
        Kind::OneTree,
        Kind::TwoCycles,
    ];
    let twists = vec![
        Twist::Mask(0.0),
        Twist::Mask(0.3),
        Twist::Mask(0.6),
        Twist::OnlyRootHead,
        Twist::ClosedPair,
        Twist::OneHead,
    ];
    (words, prop::sample::select(kinds), prop::sample::select(twists), any::<u64>())
        .prop_map(|(words, kind, twist, seed)| Case::new(words, kind, twist, seed))
}

/// N(0, 1) scores, some arcs forbidden: smooth enough for finite differences.
pub(crate) fn mild_cases(words: RangeInclusive<usize>) -> impl Strategy<Value = Case> {
    let rates = prop::sample::select(vec![0.0, 0.0, 0.3]);
    (words, rates, any::<u64>()).prop_map(|(words, rate, seed)| {
        Case::new(words, Kind::Normal(1.0), Twist::Mask(rate), seed)
    })
}

pub(crate) fn runs(cases: u32) -> ProptestConfig {
    ProptestConfig::with_cases(cases)
}

/// An enumerated distribution: every outcome with its score and log-probability.
pub(crate) struct Enumerated<T> {
    pub(crate) outcomes: Vec<Outcome<T>>,
    pub(crate) log_partition: f64,
}

pub(crate) struct Outcome<T> {
    pub(crate) what: T,
    pub(crate) score: f64,
    pub(crate) log_p: f64,
}

impl<T> Outcome<T> {
    pub(crate) fn p(&self) -> f64 {
        self.log_p.exp()
    }
}

impl Enumerated<Tree> {
    pub(crate) fn trees(scores: &ArcMatrix, tree_set: TreeSet) -> Self {
        Self::new(oracle::scored_trees(scores, tree_set))
    }

    pub(crate) fn marginal(&self, arcs: &[(usize, usize)]) -> f64 {
        self.expectation(|tree| {
            f64::from(arcs.iter().all(|&(head, modifier)| tree.head(modifier) == Some(head)))
        })
    }
}

impl<T> Enumerated<T> {
    pub(crate) fn new(scored: Vec<(f64, T)>) -> Self {
        let best = scored.iter().fold(FORBIDDEN, |best, (score, _)| best.max(*score));
        let log_excess = scored.iter().map(|(score, _)| (score - best).exp()).sum::<f64>().ln();
        let outcome = |(score, what)| Outcome { what, score, log_p: (score - best) - log_excess };
        let outcomes: Vec<_> = scored.into_iter().map(outcome).collect();
        let log_partition = if outcomes.is_empty() { FORBIDDEN } else { best + log_excess };
        Self { outcomes, log_partition }
    }

    pub(crate) fn best_score(&self) -> f64 {
        self.outcomes.iter().fold(FORBIDDEN, |best, outcome| best.max(outcome.score))
    }

    /// All scores, best first.
    pub(crate) fn ranked_scores(&self) -> Vec<f64> {
        let mut scores: Vec<f64> = self.outcomes.iter().map(|outcome| outcome.score).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        scores
    }

    pub(crate) fn expectation(&self, f: impl Fn(&T) -> f64) -> f64 {
        self.outcomes.iter().map(|outcome| outcome.p() * f(&outcome.what)).sum()
    }

    pub(crate) fn covariance(&self, f: impl Fn(&T) -> f64, g: impl Fn(&T) -> f64) -> f64 {
        let mean_f = self.expectation(&f);
        let mean_g = self.expectation(&g);
        self.expectation(|what| (f(what) - mean_f) * (g(what) - mean_g))
    }

    pub(crate) fn entropy(&self) -> f64 {
        self.outcomes.iter().map(|outcome| -outcome.p() * outcome.log_p).sum()
    }

    pub(crate) fn renyi(&self, order: f64) -> f64 {
        if order == 1.0 {
            return self.entropy();
        }
        if order == f64::INFINITY {
            return -self.outcomes.iter().fold(FORBIDDEN, |best, outcome| best.max(outcome.log_p));
        }
        if order == 0.0 {
            return (self.outcomes.len() as f64).ln();
        }
        let powers = self.outcomes.iter().map(|outcome| (order * outcome.log_p).exp());
        powers.sum::<f64>().ln() / (1.0 - order)
    }
}

impl<T: PartialEq> Enumerated<T> {
    /// −Σ p log q and Σ p log(p/q); infinite if q lacks an outcome of p.
    pub(crate) fn divergences(&self, other: &Self) -> (f64, f64) {
        let mut cross = 0.0;
        let mut kl = 0.0;
        for outcome in &self.outcomes {
            let Some(same) = other.outcomes.iter().find(|other| other.what == outcome.what) else {
                return (f64::INFINITY, f64::INFINITY);
            };
            cross -= outcome.p() * same.log_p;
            kl += outcome.p() * (outcome.log_p - same.log_p);
        }
        (cross, kl)
    }
}

/// Σ over a tree's arcs, for [`Enumerated::expectation`].
pub(crate) fn sum_of(values: &ArcMatrix) -> impl Fn(&Tree) -> f64 + '_ {
    |tree| tree.arcs().map(|arc| values[arc]).sum()
}

/// Checks that two numbers are equal or differ by at most `tolerance`; NaN is not close to anything.
#[track_caller]
pub(crate) fn assert_close(found: f64, expected: f64, tolerance: f64, what: impl fmt::Display) {
    assert!(
        found == expected || (found - expected).abs() <= tolerance,
        "{what}: found {found}, expected {expected}, apart by {:e} > {tolerance:e}",
        (found - expected).abs()
    );
}

/// Checks the values of every arc as [`assert_close`] does.
#[track_caller]
pub(crate) fn assert_arcs_close(
    found: &ArcMatrix,
    expected: &ArcMatrix,
    tolerance: f64,
    what: impl fmt::Display,
) {
    assert_eq!(found.words(), expected.words());
    for (head, modifier, value) in expected.arcs() {
        let what = format!("{what}, {head} → {modifier}");
        assert_close(found[(head, modifier)], value, tolerance, what);
    }
}

/// ∂f/∂θ of every allowed arc by central differences; 0 for forbidden ones.
pub(crate) fn central_differences(scores: &ArcMatrix, f: impl Fn(&ArcMatrix) -> f64) -> ArcMatrix {
    const STEP: f64 = 1e-5;
    ArcMatrix::from_fn(scores.words(), |head, modifier| {
        let at = |step: f64| {
            let mut moved = scores.clone();
            moved[(head, modifier)] += step;
            f(&moved)
        };
        let allowed = scores[(head, modifier)] > FORBIDDEN;
        if allowed { (at(STEP) - at(-STEP)) / (2.0 * STEP) } else { 0.0 }
    })
}

/// Checks that counts could have been drawn with these probabilities: Pearson's χ² is below its 99.9 %
/// quantile (Wilson & Hilferty 1931). Outcomes expected less than 5 times are taken together.
#[track_caller]
pub(crate) fn assert_drawn_from(counts: &[usize], probabilities: &[f64], what: impl fmt::Display) {
    let draws = counts.iter().sum::<usize>() as f64;
    let mut statistic = 0.0;
    let mut cells = 0.0f64;
    let mut rare_count = 0.0;
    let mut rare_expected = 0.0;
    for (&count, &p) in counts.iter().zip(probabilities) {
        let expected = draws * p;
        if expected < 5.0 {
            assert!(p > 0.0 || count == 0, "{what}: an impossible outcome was drawn");
            rare_count += count as f64;
            rare_expected += expected;
        } else {
            statistic += (count as f64 - expected).powi(2) / expected;
            cells += 1.0;
        }
    }
    if rare_expected >= 5.0 {
        statistic += (rare_count - rare_expected).powi(2) / rare_expected;
        cells += 1.0;
    } else {
        assert!(
            rare_count <= 20.0,
            "{what}: {rare_count} draws where {rare_expected} are expected"
        );
    }
    let freedom = cells - 1.0;
    if freedom < 1.0 {
        return;
    }
    let width = 2.0 / (9.0 * freedom);
    let quantile = freedom * (1.0 - width + 3.0902 * width.sqrt()).powi(3);
    assert!(statistic <= quantile, "{what}: χ² = {statistic}, 99.9 % quantile {quantile}");
}
