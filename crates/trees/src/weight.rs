//! The number types that inference is written over.
//!
//! Every recurrence of this crate adds, multiplies and divides *positive* numbers and never
//! subtracts, so one routine serves every type below:
//!
//! | type | value it represents | used for |
//! |---|---|---|
//! | `f64` | x | the fast path |
//! | [`Log`] | x as ln x | any range of scores |
//! | [`Graded`] | the leading term c·εᵒʳᵈᵉʳ of a series in ε → 0 | single-root trees with forbidden arcs |
//! | [`Tangent`]`<W>` | x(t) and d ln x/dt | derivatives of everything along one direction |

use crate::exp::exp;

/// Addition and multiplication, as a dynamic program over trees needs them.
pub(crate) trait Semiring: Clone {
    fn zero() -> Self;
    fn one() -> Self;
    fn plus(&self, other: &Self) -> Self;
    fn times(&self, other: &Self) -> Self;

    /// Σ a·b over two equally long slices.
    #[inline(always)]
    fn dot(a: &[Self], b: &[Self]) -> Self {
        a.iter().zip(b).fold(Self::zero(), |sum, (x, y)| sum.plus(&x.times(y)))
    }
}

/// A positive number that can also be divided, as elimination needs it.
pub(crate) trait Weight: Semiring + Copy {
    /// The weight exp(`score`).
    fn from_log(score: f64) -> Self;
    fn over(self, divisor: Self) -> Self;
    fn is_zero(self) -> bool;
    /// ln x as an ordinary number (−∞ for zero).
    fn ln(self) -> f64;
    /// x as an ordinary number, where it is known to be of ordinary size.
    fn value(self) -> f64;
    /// The power of ε in front; 0 for every type without one.
    #[inline(always)]
    fn order(self) -> i32 {
        0
    }
    /// `sums[j] += factor · terms[j]`.
    #[inline(always)]
    fn add_scaled(sums: &mut [Self], factor: Self, terms: &[Self]) {
        for (sum, term) in sums.iter_mut().zip(terms) {
            *sum = sum.plus(&factor.times(term));
        }
    }
    /// `sums[j] += Σ_i factors[i] · rows[i][j]`, the rows `stride` apart.
    #[inline(always)]
    fn add_products(sums: &mut [Self], factors: &[Self], rows: &[Self], stride: usize) {
        let width = sums.len();
        for (i, &factor) in factors.iter().enumerate() {
            Self::add_scaled(sums, factor, &rows[i * stride..i * stride + width]);
        }
    }
}

impl Semiring for f64 {
    #[inline(always)]
    fn zero() -> Self {
        0.0
    }
    #[inline(always)]
    fn one() -> Self {
        1.0
    }
    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn times(&self, other: &Self) -> Self {
        self * other
    }
    #[inline(always)]
    fn dot(a: &[Self], b: &[Self]) -> Self {
        crate::simd::dot(a, b)
    }
}

impl Weight for f64 {
    #[inline(always)]
    fn from_log(score: f64) -> Self {
        exp(score)
    }
    #[inline(always)]
    fn over(self, divisor: Self) -> Self {
        self / divisor
    }
    /// Four rows per pass over the sums.
    #[inline(always)]
    fn add_products(sums: &mut [f64], factors: &[f64], rows: &[f64], stride: usize) {
        let width = sums.len();
        let row = |i: usize| &rows[i * stride..i * stride + width];
        let (fours, rest) = factors.as_chunks::<4>();
        for (i, f) in fours.iter().enumerate() {
            let x = [row(4 * i), row(4 * i + 1), row(4 * i + 2), row(4 * i + 3)];
            for c in 0..width {
                sums[c] =
                    sums[c] + f[0] * x[0][c] + f[1] * x[1][c] + f[2] * x[2][c] + f[3] * x[3][c];
            }
        }
        for (i, &factor) in rest.iter().enumerate() {
            Self::add_scaled(sums, factor, row(4 * fours.len() + i));
        }
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        self == 0.0
    }
    #[inline(always)]
    fn ln(self) -> f64 {
        f64::ln(self)
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self
    }
}

/// A positive number stored as its logarithm.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Log(pub(crate) f64);

/// ln(e^a + e^b) without overflow; −∞ if both arguments are.
#[inline(always)]
pub(crate) fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a >= b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + exp(low - high).ln_1p() }
}

/// ln Σ e^x without overflow; −∞ for an empty or all-−∞ list.
pub(crate) fn log_sum_exp(values: &[f64]) -> f64 {
    let high = values.iter().fold(f64::NEG_INFINITY, |high, &x| high.max(x));
    if high == f64::NEG_INFINITY {
        return high;
    }
    high + values.iter().map(|&x| exp(x - high)).sum::<f64>().ln()
}

/// Returns the function x ↦ e^x / Σ e^x for x in the list; at most 1, whatever the range. Shares are
/// not computed from ln Σ e^x: next to 1e300 it loses the digits that separate ties.
pub(crate) fn shares(values: &[f64]) -> impl Fn(f64) -> f64 + use<> {
    let high = values.iter().fold(f64::NEG_INFINITY, |high, &x| high.max(x));
    let sum: f64 = values.iter().map(|&x| exp(x - high)).sum();
    move |x| exp(x - high) / sum
}

impl Semiring for Log {
    #[inline(always)]
    fn zero() -> Self {
        Log(f64::NEG_INFINITY)
    }
    #[inline(always)]
    fn one() -> Self {
        Log(0.0)
    }
    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        Log(log_add(self.0, other.0))
    }
    #[inline(always)]
    fn times(&self, other: &Self) -> Self {
        Log(self.0 + other.0)
    }
    /// One maximum, then one sum: a single logarithm instead of one per term.
    #[inline(always)]
    fn dot(a: &[Self], b: &[Self]) -> Self {
        let high = a.iter().zip(b).fold(f64::NEG_INFINITY, |high, (x, y)| high.max(x.0 + y.0));
        if high == f64::NEG_INFINITY {
            return Self::zero();
        }
        let sum: f64 = a.iter().zip(b).map(|(x, y)| exp(x.0 + y.0 - high)).sum();
        Log(high + sum.ln())
    }
}

impl Weight for Log {
    #[inline(always)]
    fn from_log(score: f64) -> Self {
        Log(score)
    }
    #[inline(always)]
    fn over(self, divisor: Self) -> Self {
        // Callers divide by zero only if the dividend is zero too: −∞ − −∞ would be NaN.
        if self.is_zero() { self } else { Log(self.0 - divisor.0) }
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0 == f64::NEG_INFINITY
    }
    #[inline(always)]
    fn ln(self) -> f64 {
        self.0
    }
    #[inline(always)]
    fn value(self) -> f64 {
        exp(self.0)
    }
}

/// The leading term c·ε^order of a power series in ε → 0, with c as ln c.
///
/// If the root's arcs are scaled by ε, a tree with q root words is scaled by ε^q. The leading term of
/// the partition function is therefore the sum over the trees with the fewest root words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Graded {
    pub(crate) order: i32,
    pub(crate) log: f64,
}

impl Semiring for Graded {
    #[inline(always)]
    fn zero() -> Self {
        Graded { order: 0, log: f64::NEG_INFINITY }
    }
    #[inline(always)]
    fn one() -> Self {
        Graded { order: 0, log: 0.0 }
    }
    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        if other.is_zero() {
            *self
        } else if self.is_zero() || other.order < self.order {
            *other
        } else if self.order < other.order {
            *self
        } else {
            Graded { order: self.order, log: log_add(self.log, other.log) }
        }
    }
    #[inline(always)]
    fn times(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::zero();
        }
        Graded { order: self.order + other.order, log: self.log + other.log }
    }
}

impl Weight for Graded {
    #[inline(always)]
    fn from_log(score: f64) -> Self {
        Graded { order: 0, log: score }
    }
    #[inline(always)]
    fn over(self, divisor: Self) -> Self {
        if self.is_zero() {
            return self;
        }
        Graded { order: self.order - divisor.order, log: self.log - divisor.log }
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        self.log == f64::NEG_INFINITY
    }
    #[inline(always)]
    fn ln(self) -> f64 {
        self.log
    }
    #[inline(always)]
    fn order(self) -> i32 {
        self.order
    }
    /// The limit for ε → 0 of a quantity that stays bounded.
    #[inline(always)]
    fn value(self) -> f64 {
        if self.order > 0 { 0.0 } else { exp(self.log) }
    }
}

/// A weight x(t) that depends on a parameter t, with its logarithmic derivative d ln x/dt.
///
/// For weights exp(θ + t·g) this derivative is a *mean of g*: it averages under addition and adds
/// under multiplication. It does not overflow, and its scale does not depend on the weight. This is
/// the first-order expectation semiring of Li & Eisner (2009), with r/p stored instead of r.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tangent<W> {
    pub(crate) weight: W,
    pub(crate) slope: f64,
}

impl<W: Weight> Semiring for Tangent<W> {
    #[inline(always)]
    fn zero() -> Self {
        Tangent { weight: W::zero(), slope: 0.0 }
    }
    #[inline(always)]
    fn one() -> Self {
        Tangent { weight: W::one(), slope: 0.0 }
    }
    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        if other.weight.is_zero() {
            return *self;
        }
        if self.weight.is_zero() {
            return *other;
        }
        let weight = self.weight.plus(&other.weight);
        let share = other.weight.over(weight).value();
        Tangent { weight, slope: self.slope + share * (other.slope - self.slope) }
    }
    #[inline(always)]
    fn times(&self, other: &Self) -> Self {
        Tangent { weight: self.weight.times(&other.weight), slope: self.slope + other.slope }
    }
}

impl<W: Weight> Weight for Tangent<W> {
    fn from_log(score: f64) -> Self {
        Tangent { weight: W::from_log(score), slope: 0.0 }
    }
    #[inline(always)]
    fn over(self, divisor: Self) -> Self {
        if self.is_zero() {
            return self;
        }
        Tangent { weight: self.weight.over(divisor.weight), slope: self.slope - divisor.slope }
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        self.weight.is_zero()
    }
    #[inline(always)]
    fn ln(self) -> f64 {
        self.weight.ln()
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self.weight.value()
    }
    #[inline(always)]
    fn order(self) -> i32 {
        self.weight.order()
    }
}
