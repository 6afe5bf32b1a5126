//! Sums in logarithms: of all assignments, or of the best one.
//!
//! A factor's messages are quotients of sums of products of positive numbers. All of them are kept as
//! logarithms, so a product is `+` and a sum is ⊕:
//!
//! ```text
//! sum-product   a ⊕ b = ln(eᵃ + eᵇ)
//! max-product   a ⊕ b = max(a, b)
//! ```
//!
//! With temperature τ, every log-factor is divided by τ. Messages are stored in units of the scores:
//! r = τ·F(q/τ, ℓ/τ). As τ → 0, sum-product becomes max-product (Smith & Eisner 2008, footnote on
//! annealing). Nothing is ever subtracted, except in the quotient at the end.

use crate::exp::exp;
use crate::weight::log_add;

/// Largest size of a message. Sums of as many messages as fit into memory stay finite.
pub(super) const LARGEST: f64 = 1e300;

/// Returns a message within ±[`LARGEST`]; ±∞ becomes the bound.
#[inline(always)]
pub(super) fn bounded(message: f64) -> f64 {
    message.clamp(-LARGEST, LARGEST)
}

/// Returns ln(eˣ + 1).
#[inline(always)]
pub(super) fn softplus(x: f64) -> f64 {
    if x > 0.0 { x + exp(-x).ln_1p() } else { exp(x).ln_1p() }
}

/// Returns 1/(1 + e⁻ˣ), with all digits on both sides.
#[inline(always)]
pub(super) fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + exp(-x))
    } else {
        let odds = exp(x);
        odds / (1.0 + odds)
    }
}

/// Log-odds of an outcome that a hard factor forces. Any other evidence is far smaller, and sums of these
/// still keep eight digits behind the point.
pub(super) const FORCED: f64 = 1e5;

/// Returns the log-odds of two log-weights, ±[`FORCED`] if only one outcome is possible. They are 0 if
/// neither is, which only contradictory hard factors cause.
#[inline(always)]
pub(super) fn log_odds(yes: f64, no: f64) -> f64 {
    match (yes == f64::NEG_INFINITY, no == f64::NEG_INFINITY) {
        (false, false) => bounded(yes - no),
        (false, true) => FORCED,
        (true, false) => -FORCED,
        (true, true) => 0.0,
    }
}

/// Returns the share e^(term − total) of a term in a sum; 0 of an empty sum.
#[inline(always)]
pub(super) fn share(term: f64, total: f64) -> f64 {
    if term == f64::NEG_INFINITY { 0.0 } else { exp(term - total).min(1.0) }
}

/// The two meanings of ⊕.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sum {
    All,
    Best,
}

/// How factors sum their assignments in one iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Algebra {
    pub(super) sum: Sum,
    /// τ; 1 for plain sum-product and for max-product.
    pub(super) temperature: f64,
}

impl Default for Algebra {
    fn default() -> Self {
        Self::PLAIN
    }
}

impl Algebra {
    pub(super) const PLAIN: Self = Self { sum: Sum::All, temperature: 1.0 };

    /// Returns a score or log-weight at this temperature.
    #[inline(always)]
    pub(super) fn cooled(self, score: f64) -> f64 {
        if self.temperature == 1.0 { score } else { bounded_weight(score / self.temperature) }
    }

    /// Returns a ⊕ b.
    #[inline(always)]
    pub(super) fn add(self, a: f64, b: f64) -> f64 {
        match self.sum {
            Sum::All => log_add(a, b),
            Sum::Best => a.max(b),
        }
    }

    /// Returns x ⊕ 0, the total weight of a variable with log-odds x.
    #[inline(always)]
    pub(super) fn add_one(self, x: f64) -> f64 {
        match self.sum {
            Sum::All => softplus(x),
            Sum::Best => x.max(0.0),
        }
    }

    /// Returns ⊕ of the values that an index gives; −∞ for none.
    #[inline(always)]
    pub(super) fn sum_of(self, count: usize, term: impl Fn(usize) -> f64) -> f64 {
        let mut high = f64::NEG_INFINITY;
        for index in 0..count {
            let value = term(index);
            high = if value > high { value } else { high };
        }
        if high == f64::NEG_INFINITY || self.sum == Sum::Best {
            return high;
        }
        let mut sum = 0.0;
        for index in 0..count {
            sum += exp(term(index) - high);
        }
        high + sum.ln()
    }
}

/// Keeps a log-weight in range; −∞ stays.
fn bounded_weight(weight: f64) -> f64 {
    if weight == f64::NEG_INFINITY { weight } else { bounded(weight) }
}
