//! The covariance of one sum over arcs with every arc, in one inside and one outside pass.
//!
//! For G(y) = Σ g over the arcs of a tree and weights exp(θ + t·g),
//!
//! ```text
//! c(h,m) = Cov(1_{h→m}, G) = dμ(h,m)/dt    at t = 0
//! ```
//!
//! which is also the Hessian of ln Z times g. So the passes that give μ run on numbers that carry a
//! derivative, O(n³): [`Dual`] where plain `f64` is enough for μ, [`Tangent`] over logarithms where it
//! is not (the first-order expectation semiring of Li & Eisner 2009, in two forms).
//!
//! Each word has one head, so a constant added to a column of g changes nothing. Dual numbers are
//! run on g minus its mean under the head distribution of each word. G then has mean zero, so the
//! derivative of Z, which is subtracted in the end, is zero from the start.

use super::chart::Chart;
use super::outside::Outside;
use super::posterior::Posterior;
use super::{Filled, ProjectiveWorkspace, inside};
use crate::ArcMatrix;
use crate::simd::{LANES, dispatched};
use crate::tree_set::Roots;
use crate::weight::{Log, Semiring, Tangent};

/// Scratch memory of both forms.
#[derive(Clone, Debug, Default)]
pub(super) struct CovarianceWorkspace {
    marginals: ArcMatrix,
    centred: ArcMatrix,
    means: Vec<f64>,
    dual: Chart<Dual>,
    dual_outside: Outside<Dual>,
    tangent: Chart<Tangent<Log>>,
    tangent_posterior: Posterior<Tangent<f64>>,
}

/// Writes Cov(1_arc, G) for every arc; 0 for forbidden arcs, whatever their g, and if there is no tree.
pub(crate) fn arc_covariances(
    scores: &ArcMatrix,
    roots: Roots,
    g: &ArcMatrix,
    ws: &mut ProjectiveWorkspace,
    out: &mut ArcMatrix,
) {
    let filled = inside(scores, roots, ws).1;
    if filled == Filled::Neither {
        out.reset(scores.words(), 0.0);
        return;
    }
    let ProjectiveWorkspace { linear, covariance, .. } = ws;
    if filled == Filled::Linear && linear.marginals(roots, &mut covariance.marginals) {
        covariance.centre(g, linear.weights());
        dual_covariances(linear.weights(), roots, covariance, out);
        // Underflow changes μ by at most 10⁻¹⁰⁰, and a covariance by at most that times g.
        let moderate = |values: &ArcMatrix| values.arcs().all(|(.., x)| x.abs() <= 1e50);
        if moderate(&covariance.centred) && moderate(out) {
            return;
        }
    }
    log_covariances(scores, roots, g, covariance, out);
}

impl CovarianceWorkspace {
    /// Subtracts from g the mean of each column under the marginals; 0 where the arc has no weight.
    fn centre(&mut self, g: &ArcMatrix, weights: &ArcMatrix) {
        let words = g.words();
        self.means.clear();
        self.means.resize(words + 1, 0.0);
        for (head, modifier, p) in self.marginals.arcs().filter(|&(.., p)| p > 0.0) {
            self.means[modifier] += p * g[(head, modifier)];
        }
        self.centred.reset(words, 0.0);
        for (head, modifier, _) in weights.arcs().filter(|&(.., weight)| weight > 0.0) {
            self.centred[(head, modifier)] = g[(head, modifier)] - self.means[modifier];
        }
    }
}

/// A number x(t) with its derivative.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dual {
    value: f64,
    slope: f64,
}

impl Semiring for Dual {
    #[inline(always)]
    fn zero() -> Self {
        Dual { value: 0.0, slope: 0.0 }
    }
    #[inline(always)]
    fn one() -> Self {
        Dual { value: 1.0, slope: 0.0 }
    }
    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        Dual { value: self.value + other.value, slope: self.slope + other.slope }
    }
    #[inline(always)]
    fn times(&self, other: &Self) -> Self {
        Dual {
            value: self.value * other.value,
            slope: self.slope * other.value + self.value * other.slope,
        }
    }
    #[inline(always)]
    fn dot(a: &[Self], b: &[Self]) -> Self {
        let mut sums = [Self::zero(); LANES];
        let (a_chunks, a_rest) = a.as_chunks::<LANES>();
        let (b_chunks, b_rest) = b.as_chunks::<LANES>();
        for (x, y) in a_chunks.iter().zip(b_chunks) {
            for lane in 0..LANES {
                sums[lane] = sums[lane].plus(&x[lane].times(&y[lane]));
            }
        }
        let rest = a_rest.iter().zip(b_rest);
        let rest = rest.fold(Self::zero(), |sum, (x, y)| sum.plus(&x.times(y)));
        sums.iter().fold(rest, |sum, x| sum.plus(x))
    }
}

dispatched! {
    /// Writes the derivative of I·Î/Z along the centred g for every arc, by the quotient rule.
    fn dual_covariances(
        weights: &ArcMatrix,
        roots: Roots,
        ws: &mut CovarianceWorkspace,
        out: &mut ArcMatrix,
    ) {
        let words = weights.words();
        let CovarianceWorkspace { centred, dual: chart, dual_outside, .. } = ws;
        let arc = |head, modifier| {
            let value = weights[(head, modifier)];
            Dual { value, slope: value * centred[(head, modifier)] }
        };
        let total = chart.inside(words, roots, arc);
        let log_slope = total.slope / total.value;
        out.reset(words, 0.0);
        dual_outside.run(chart, words, roots, arc, |head, modifier, product: Dual| {
            out[(head, modifier)] = (product.slope - product.value * log_slope) / total.value;
        });
    }
}

/// Writes the covariances for any range of scores; there must be a tree.
pub(super) fn log_covariances(
    scores: &ArcMatrix,
    roots: Roots,
    g: &ArcMatrix,
    ws: &mut CovarianceWorkspace,
    out: &mut ArcMatrix,
) {
    let words = scores.words();
    let CovarianceWorkspace { tangent: chart, tangent_posterior: posterior, .. } = ws;
    chart.inside(words, roots, |head, modifier| {
        let arc = (head, modifier);
        if scores[arc] == f64::NEG_INFINITY {
            return Tangent::zero();
        }
        Tangent { weight: Log(scores[arc]), slope: g[arc] }
    });
    posterior.outside(chart, words);
    out.reset(words, 0.0);
    for head in 0..=words {
        for modifier in (1..=words).filter(|&modifier| modifier != head) {
            let marginal = posterior.arc(head, modifier);
            out[(head, modifier)] = marginal.weight * marginal.slope;
        }
    }
}
