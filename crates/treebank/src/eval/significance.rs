//! Paired significance tests of two systems, from counts per sentence.
//!
//! Every unit (a sentence) has three counts for each of two systems: `correct`, `gold` and
//! `system`, the numbers of correct items, gold items and proposed items. Summed over units,
//!
//! ```text
//! F₁ = 2 · correct / (gold + system)        Δ = F₁(second) − F₁(first)
//! ```
//!
//! which is accuracy if `gold = system`. F₁ is not a mean over sentences, so tests that assume one
//! (t, Wilcoxon) do not apply. These three do:
//!
//! - **Permutation** (Noreen 1989; for F₁, Yeh 2000). If the systems were exchangeable, swapping
//!   their outputs on any sentence would change nothing. Each sentence is swapped or not at random,
//!   R times, which gives differences Δ*. Then `p = (1 + #{|Δ*| ≥ |Δ|}) / (1 + R)`, two-sided. If
//!   the systems differ on at most [`EXACT_LIMIT`] sentences, all swaps are enumerated instead:
//!   `p = #{|Δ*| ≥ |Δ|} / 2ᵏ`.
//! - **Bootstrap** (Efron & Tibshirani 1993, §13.3). Sentences are drawn with replacement, the same
//!   for both systems. The 2.5 % and 97.5 % quantiles of Δ bound its 95 % interval, and likewise
//!   for the F₁ of each system. The interval holds for other sentences of the same domain only.
//!   Neither test covers another domain or another training run (Berg-Kirkpatrick et al. 2012).
//! - **Sign test.** Counts the sentences on which the second system is better, and those on which
//!   it is worse. Ties are left out. The counts are compared with a fair coin. It is exact, but
//!   ignores the size of the differences.
//!
//! Differences are compared as fractions of integers, so that rounding does not affect `≥`.
//!
//! Cost: O(R·n) additions for each of the first two, O(n) for the third. Results depend on the seed
//! alone ([`Pcg64`], whose stream is fixed by its definition).
//!
//! # References
//! - E. W. Noreen (1989). Computer-intensive methods for testing hypotheses.
//! - B. Efron, R. J. Tibshirani (1993). An introduction to the bootstrap.
//! - A. Yeh (2000). More accurate tests for the statistical significance of result differences.
//! - T. Berg-Kirkpatrick, D. Burkett, D. Klein (2012). An empirical investigation of statistical
//!   significance in NLP.

use std::cmp::Ordering;
use std::num::NonZeroU32;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// With at most this many differing sentences, the permutation test enumerates all swaps.
pub const EXACT_LIMIT: usize = 20;

/// Counts of one system on one unit, usually a sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct UnitCounts {
    /// Number of correct items.
    pub correct: u32,
    /// Number of gold items.
    pub gold: u32,
    /// Number of proposed items.
    pub system: u32,
}

impl UnitCounts {
    /// `2 · correct / (gold + system)`; 0 if both are 0.
    pub fn f1(self) -> f64 {
        Totals::of(self).f1()
    }
}

/// Number of resamples and seed.
#[derive(Clone, Copy, Debug)]
pub struct Resampling {
    /// R: number of random swaps of the permutation test, and of samples of the bootstrap.
    pub resamples: NonZeroU32,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Resampling {
    /// 10,000 resamples with seed 1.
    fn default() -> Self {
        Self { resamples: NonZeroU32::new(10_000).unwrap_or(NonZeroU32::MIN), seed: 1 }
    }
}

/// An interval of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Result of [`compare`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Comparison {
    /// Number of units.
    pub units: usize,
    /// F₁ of the first system.
    pub first: f64,
    /// F₁ of the second system.
    pub second: f64,
    /// Δ = second − first.
    pub difference: f64,
    /// The paired permutation test.
    pub permutation: PermutationTest,
    /// The paired bootstrap.
    pub bootstrap: Bootstrap,
    /// The sign test over units.
    pub sign: SignTest,
}

/// Result of [`permutation_test`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PermutationTest {
    /// Probability of a difference at least this large, in either direction, between exchangeable
    /// systems.
    pub p: f64,
    /// Number of units whose counts differ. Swapping the others changes nothing.
    pub discordant: usize,
    /// Number of swaps: R, or all 2ᵏ.
    pub swaps: u32,
    /// True if all swaps were enumerated.
    pub exact: bool,
}

/// Result of [`bootstrap`]: 95 % percentile intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bootstrap {
    /// Interval of Δ.
    pub difference: Interval,
    /// Interval of the first system's F₁.
    pub first: Interval,
    /// Interval of the second system's F₁.
    pub second: Interval,
    /// Number of samples.
    pub resamples: u32,
}

/// Result of [`sign_test`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SignTest {
    /// Number of units on which the second system is better.
    pub better: u64,
    /// Number of units on which it is worse.
    pub worse: u64,
    /// Number of units on which both are equal.
    pub ties: u64,
    /// Probability that a fair coin falls at least this unevenly, in either direction.
    pub p: f64,
}

/// Compares two systems on the same units, each `[first, second]`.
///
/// ```
/// use tutte_treebank::eval::significance::{UnitCounts, compare};
///
/// let of_ten = |correct| UnitCounts { correct, gold: 10, system: 10 };
/// // The second system gets one word more right in each of seven sentences.
/// let units = [[of_ten(7), of_ten(8)]; 7];
/// let comparison = compare(&units, &Default::default());
/// assert!((comparison.difference - 0.1).abs() < 1e-12);
/// assert!(comparison.permutation.exact);
/// assert_eq!(comparison.permutation.p, 2.0 / 128.0); // all swapped or none
/// assert_eq!(comparison.sign.p, 2.0 / 128.0);
/// ```
pub fn compare(units: &[[UnitCounts; 2]], resampling: &Resampling) -> Comparison {
    let [first, second] = sums(units);
    Comparison {
        units: units.len(),
        first: first.f1(),
        second: second.f1(),
        difference: second.f1() - first.f1(),
        permutation: permutation_test(units, resampling),
        bootstrap: bootstrap(units, resampling),
        sign: sign_test(units),
    }
}

/// Runs the paired permutation test: exact for few differing units, otherwise with R random swaps.
pub fn permutation_test(units: &[[UnitCounts; 2]], resampling: &Resampling) -> PermutationTest {
    let discordant = units.iter().filter(|[first, second]| first != second).count();
    if discordant <= EXACT_LIMIT {
        exact_permutations(units)
    } else {
        random_permutations(units, resampling)
    }
}

/// Δ and the effect of swapping single units.
struct Swaps {
    observed: Difference,
    /// Sums of the two systems before any swap.
    sums: [Totals; 2],
    /// Counts that a swap moves from the second system to the first; only for units that differ.
    moves: Vec<Move>,
}

#[derive(Clone, Copy)]
struct Move {
    correct: i64,
    total: i64,
}

impl Swaps {
    fn new(units: &[[UnitCounts; 2]]) -> Self {
        let sums = sums(units);
        let moves = units
            .iter()
            .filter(|[first, second]| first != second)
            .map(|&[first, second]| {
                let first = Totals::of(first);
                let second = Totals::of(second);
                Move { correct: second.correct - first.correct, total: second.total - first.total }
            })
            .collect();
        Self { observed: Difference::between(sums), sums, moves }
    }

    /// True if |Δ*| ≥ |Δ| after the counts `moved` went from the second system to the first.
    fn at_least_observed(&self, moved: Move) -> bool {
        let [mut first, mut second] = self.sums;
        first.correct += moved.correct;
        first.total += moved.total;
        second.correct -= moved.correct;
        second.total -= moved.total;
        Difference::between([first, second]).cmp_size(&self.observed) != Ordering::Less
    }
}

/// Enumerates all 2ᵏ swaps of k units in the order of a Gray code: each step swaps one unit.
fn exact_permutations(units: &[[UnitCounts; 2]]) -> PermutationTest {
    let swaps = Swaps::new(units);
    let k = swaps.moves.len();
    let all = 1u32 << k;
    let mut swapped = vec![false; k];
    let mut moved = Move { correct: 0, total: 0 };
    let mut as_large = u32::from(swaps.at_least_observed(moved));
    for step in 1..all {
        let unit = step.trailing_zeros() as usize;
        let sign = if swapped[unit] { -1 } else { 1 };
        swapped[unit] = !swapped[unit];
        moved.correct += sign * swaps.moves[unit].correct;
        moved.total += sign * swaps.moves[unit].total;
        as_large += u32::from(swaps.at_least_observed(moved));
    }
    let p = f64::from(as_large) / f64::from(all);
    PermutationTest { p, discordant: k, swaps: all, exact: true }
}

/// Draws R random swaps: one bit of the generator per unit.
fn random_permutations(units: &[[UnitCounts; 2]], resampling: &Resampling) -> PermutationTest {
    let swaps = Swaps::new(units);
    let mut rng = Pcg64::seed_from_u64(resampling.seed);
    let r = resampling.resamples.get();
    let mut as_large = 0u32;
    for _ in 0..r {
        let mut moved = Move { correct: 0, total: 0 };
        for chunk in swaps.moves.chunks(64) {
            let mut bits = rng.next_u64();
            for unit in chunk {
                // All ones or zero: a swap without an unpredictable branch.
                let mask = -((bits & 1) as i64);
                moved.correct += unit.correct & mask;
                moved.total += unit.total & mask;
                bits >>= 1;
            }
        }
        as_large += u32::from(swaps.at_least_observed(moved));
    }
    let p = (1.0 + f64::from(as_large)) / (1.0 + f64::from(r));
    PermutationTest { p, discordant: swaps.moves.len(), swaps: r, exact: false }
}

/// Runs the paired bootstrap: 95 % percentile intervals of Δ and of both systems.
pub fn bootstrap(units: &[[UnitCounts; 2]], resampling: &Resampling) -> Bootstrap {
    let mut rng = Pcg64::seed_from_u64(resampling.seed);
    let totals: Vec<[Totals; 2]> =
        units.iter().map(|&[first, second]| [Totals::of(first), Totals::of(second)]).collect();
    let r = resampling.resamples.get() as usize;
    let mut firsts = Vec::with_capacity(r);
    let mut seconds = Vec::with_capacity(r);
    let mut differences = Vec::with_capacity(r);
    for _ in 0..r {
        let mut sums = [Totals::default(); 2];
        for _ in 0..units.len() {
            let [first, second] = &totals[below(units.len(), &mut rng)];
            sums[0].add(first);
            sums[1].add(second);
        }
        let [first, second] = sums.map(|sum| sum.f1());
        firsts.push(first);
        seconds.push(second);
        differences.push(second - first);
    }
    Bootstrap {
        difference: percentiles(&mut differences),
        first: percentiles(&mut firsts),
        second: percentiles(&mut seconds),
        resamples: resampling.resamples.get(),
    }
}

/// Returns the k-th smallest and k-th largest of R values, with `k = ⌊0.025·(R + 1)⌋`, at least 1.
fn percentiles(values: &mut [f64]) -> Interval {
    values.sort_unstable_by(f64::total_cmp);
    let k = ((values.len() + 1) / 40).max(1);
    Interval { low: values[k - 1], high: values[values.len() - k] }
}

/// Returns a uniform integer in `0..n`. Its bias is below n/2⁶⁴, which cannot be observed.
fn below(n: usize, rng: &mut Pcg64) -> usize {
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}

/// Runs the two-sided exact binomial test of better against worse units.
pub fn sign_test(units: &[[UnitCounts; 2]]) -> SignTest {
    let (mut better, mut worse, mut ties) = (0, 0, 0);
    for &[first, second] in units {
        match Difference::between([Totals::of(first), Totals::of(second)]).numerator.cmp(&0) {
            Ordering::Greater => better += 1,
            Ordering::Less => worse += 1,
            Ordering::Equal => ties += 1,
        }
    }
    SignTest { better, worse, ties, p: binomial_p(better, worse) }
}

/// Two-sided probability `min(1, 2 · Σ_{i ≤ min(a, b)} C(a + b, i) / 2^{a+b})`.
fn binomial_p(a: u64, b: u64) -> f64 {
    let n = a + b;
    let factors = (1..=a.min(b)).map(|i| ((n - i + 1) as f64, i as f64));
    let tail = if n <= 1000 {
        // C(1000, 500) and 2⁻¹⁰⁰⁰ are representable; for small n the sum is exact.
        let mut term = 1.0;
        let mut sum = 1.0;
        for (above, below) in factors {
            term = term * above / below;
            sum += term;
        }
        sum * 0.5f64.powi(n as i32)
    } else {
        let mut log_term = -(n as f64) * std::f64::consts::LN_2;
        let mut sum = log_term.exp();
        for (above, below) in factors {
            log_term += (above / below).ln();
            sum += log_term.exp();
        }
        sum
    };
    (2.0 * tail).min(1.0)
}

/// Sums of counts. `total` is gold plus system, which is all that F₁ needs.
#[derive(Clone, Copy, Default)]
struct Totals {
    correct: i64,
    total: i64,
}

impl Totals {
    fn of(unit: UnitCounts) -> Self {
        Self {
            correct: i64::from(unit.correct),
            total: i64::from(unit.gold) + i64::from(unit.system),
        }
    }

    fn add(&mut self, other: &Totals) {
        self.correct += other.correct;
        self.total += other.total;
    }

    fn f1(self) -> f64 {
        if self.total == 0 { 0.0 } else { 2.0 * self.correct as f64 / self.total as f64 }
    }
}

fn sums(units: &[[UnitCounts; 2]]) -> [Totals; 2] {
    let mut sums = [Totals::default(); 2];
    for &[first, second] in units {
        sums[0].add(&Totals::of(first));
        sums[1].add(&Totals::of(second));
    }
    sums
}

/// Half of Δ as a fraction: `c₂/t₂ − c₁/t₁ = (c₂·t₁ − c₁·t₂) / (t₁·t₂)`.
struct Difference {
    numerator: i128,
    denominator: i128,
}

impl Difference {
    fn between([first, second]: [Totals; 2]) -> Self {
        // If a total is 0, F₁ is 0, not a division by 0.
        let t1 = first.total.max(1);
        let t2 = second.total.max(1);
        Self {
            numerator: i128::from(second.correct) * i128::from(t1)
                - i128::from(first.correct) * i128::from(t2),
            denominator: i128::from(t1) * i128::from(t2),
        }
    }

    /// Compares absolute values. Products saturate beyond 2³¹ words and then count as equal, so
    /// p-values can become too large, but never too small.
    fn cmp_size(&self, other: &Self) -> Ordering {
        let ours = self.numerator.abs().saturating_mul(other.denominator);
        let theirs = other.numerator.abs().saturating_mul(self.denominator);
        ours.cmp(&theirs)
    }
}

#[cfg(test)]
mod tests;
