//! Means and covariances of sums over arcs.
//!
//! F(y) = Σ f and G(y) = Σ g are functions over the arcs of a tree. For them this is the
//! second-order expectation semiring (Li & Eisner 2009), in a form that neither overflows nor mixes
//! scales. An item carries the logarithm of its weight, the means of F and G over its derivations
//! and their covariance.
//!
//! ```text
//! a · b = (a + b, F̄ₐ + F̄ᵦ, Ḡₐ + Ḡᵦ, κₐ + κᵦ)            parts are independent given the item
//! Σ     : ω ∝ weights;  F̄ = Σ ω F̄ₖ;  Ḡ = Σ ω Ḡₖ;  κ = Σ ω (κₖ + (F̄ₖ − F̄)(Ḡₖ − Ḡ))
//! arc   : (θ, f, g, 0)
//! ```
//!
//! One inside pass, O(n³). For one G against every arc at once, see
//! [`arc_covariances`](super::arc_covariances).

use super::chart::Chart;
use crate::ArcMatrix;
use crate::exp::exp;
use crate::tree_set::Roots;
use crate::weight::Semiring;

/// ln Z, the means of two sums over arcs, and their covariance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moments {
    pub(crate) log_partition: f64,
    pub(crate) mean_f: f64,
    pub(crate) mean_g: f64,
    pub(crate) covariance: f64,
}

impl Semiring for Moments {
    fn zero() -> Self {
        Moments { log_partition: f64::NEG_INFINITY, ..Self::one() }
    }
    fn one() -> Self {
        Moments { log_partition: 0.0, mean_f: 0.0, mean_g: 0.0, covariance: 0.0 }
    }
    fn plus(&self, other: &Self) -> Self {
        Self::dot(&[*self, *other], &[Self::one(), Self::one()])
    }
    #[inline(always)]
    fn times(&self, other: &Self) -> Self {
        Moments {
            log_partition: self.log_partition + other.log_partition,
            mean_f: self.mean_f + other.mean_f,
            mean_g: self.mean_g + other.mean_g,
            covariance: self.covariance + other.covariance,
        }
    }
    #[inline(always)]
    fn dot(a: &[Self], b: &[Self]) -> Self {
        let terms = || a.iter().zip(b).map(|(x, y)| x.times(y));
        let high = terms().fold(f64::NEG_INFINITY, |high, x| high.max(x.log_partition));
        if high == f64::NEG_INFINITY {
            return Self::zero();
        }
        let mut sum = 0.0;
        let mut f = 0.0;
        let mut g = 0.0;
        for term in terms() {
            let weight = exp(term.log_partition - high);
            sum += weight;
            f += weight * term.mean_f;
            g += weight * term.mean_g;
        }
        let (mean_f, mean_g) = (f / sum, g / sum);
        let mut spread = 0.0;
        for term in terms() {
            let weight = exp(term.log_partition - high);
            let between = (term.mean_f - mean_f) * (term.mean_g - mean_g);
            spread += weight * (term.covariance + between);
        }
        Moments { log_partition: high + sum.ln(), mean_f, mean_g, covariance: spread / sum }
    }
}

/// Returns ln Z, E\[F\], E\[G\] and Cov(F, G). Forbidden arcs contribute nothing, whatever their f and
/// g. If there is no tree, ln Z is −∞ and the rest 0.
pub(crate) fn moments(scores: &ArcMatrix, roots: Roots, f: &ArcMatrix, g: &ArcMatrix) -> Moments {
    Chart::default().inside(scores.words(), roots, |head, modifier| {
        let arc = (head, modifier);
        if scores[arc] == f64::NEG_INFINITY {
            return Moments::zero();
        }
        Moments { log_partition: scores[arc], mean_f: f[arc], mean_g: g[arc], covariance: 0.0 }
    })
}
