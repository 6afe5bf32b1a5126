//! Generalized expectation: constraints on a corpus without trees (Mann & McCallum 2007; for dependency trees Druck,
//! Mann & McCallum 2009).
//!
//! An example of a constraint: *three in four pairs of a determiner and a noun to its right are arcs.* A constraint q
//! selects arcs of the corpus, g_q(x, h, m). It states a target t_q for their expected share
//!
//! ```text
//! E_q = 1/c_q Σ_x Σ_{h→m} μ_x(h → m) g_q(x, h, m)
//! ```
//!
//! where c_q is the number of candidate pairs, of words, or of words with a candidate. All three are linear in the
//! marginals. The loss of all constraints is Σ_q w_q S(t_q, E_q). Covariances are linear in g, so its gradient is
//!
//! ```text
//! ∂/∂θ_x(e) = Cov_x([e ∈ y], ĝ(y))        ĝ(h, m) = Σ_{q: g_q(x, h, m) = 1} w_q κ_q / c_q        κ_q = ∂S/∂E_q
//! ```
//!
//! one covariance vector per sentence: O(n³) for any number of constraints. The paper conditioned on every arc in
//! turn, O(n⁵); the determinantal kernel avoids that. An evaluation takes two passes, because κ_q depends on E_q of
//! the whole corpus.

use tutte_trees::{ArcMatrix, arcs};

/// Distance between an expectation and its target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Criterion {
    /// (t − E)², as in the paper.
    #[default]
    Squared,
    /// t log(t/E): the part of a Kullback–Leibler divergence that depends on E. It only pulls E up, so it is meant
    /// for groups of constraints that together cover all heads of some words.
    Kl,
    /// t log(t/E) + (1 − t) log((1 − t)/(1 − E)): the divergence of two Bernoulli distributions.
    KlBernoulli,
}

/// Target range of an expectation; both bounds may be equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Weight of its loss in the sum over constraints.
    pub weight: f64,
}

/// Expectations are clamped to at least this, and to at most 1 minus this, before a logarithm.
const SMALLEST: f64 = 1e-12;

impl Wanted {
    /// Creates a target of exactly this share, with weight 1.
    pub fn exactly(target: f64) -> Self {
        Self { low: target, high: target, weight: 1.0 }
    }

    /// Returns the point of the range nearest to an expectation.
    pub fn nearest(&self, expectation: f64) -> f64 {
        expectation.max(self.low).min(self.high)
    }

    /// Returns the distance of an expectation from the range.
    pub fn residual(&self, expectation: f64) -> f64 {
        (expectation - self.nearest(expectation)).abs()
    }

    /// Returns the loss w S(t, E) and its derivative by E. Both are 0 inside the range.
    ///
    /// ```
    /// use tutte::learn::objective::expectation::{Criterion, Wanted};
    ///
    /// let (loss, slope) = Wanted::exactly(0.75).loss(0.5, Criterion::Squared);
    /// assert_eq!((loss, slope), (0.0625, -0.5));
    /// let range = Wanted { low: 0.6, high: 0.8, weight: 2.0 };
    /// assert_eq!(range.loss(0.7, Criterion::Squared), (0.0, 0.0));
    /// ```
    pub fn loss(&self, expectation: f64, criterion: Criterion) -> (f64, f64) {
        let t = self.nearest(expectation);
        if t == expectation && self.low < self.high {
            return (0.0, 0.0);
        }
        let e = expectation.clamp(SMALLEST, 1.0 - SMALLEST);
        // 0 log 0 = 0.
        let part = |t: f64, e: f64| if t > 0.0 { t * (t / e).ln() } else { 0.0 };
        let (loss, slope) = match criterion {
            Criterion::Squared => ((t - expectation).powi(2), 2.0 * (expectation - t)),
            // This criterion only pulls up, so it has no effect above the range.
            Criterion::Kl if expectation > self.high && self.low < self.high => (0.0, 0.0),
            Criterion::Kl => (part(t, e), -t / e),
            Criterion::KlBernoulli => {
                let loss = part(t, e) + part(1.0 - t, 1.0 - e);
                (loss, (1.0 - t) / (1.0 - e) - t / e)
            }
        };
        (self.weight * loss, self.weight * slope)
    }
}

/// Writes the paper's approximation of the covariances of arcs with g. It treats heads of different words as
/// independent, except for two words that would head each other:
///
/// ```text
/// Cov([h → m], G) ≈ μ(h → m) (g(h, m) − Σ_k μ(k → m) g(k, m)) − [h ≠ 0] μ(h → m) μ(m → h) g(m, h)
/// ```
///
/// O(n²). It is not the gradient of any function, so a line search that relies on it may fail.
pub(crate) fn approximate_covariances(
    marginals: &ArcMatrix,
    g: &ArcMatrix,
    covariances: &mut ArcMatrix,
) {
    let words = marginals.words();
    let mean = |modifier| -> f64 {
        let heads = (0..=words).filter(|&head| head != modifier);
        heads.map(|head| marginals[(head, modifier)] * g[(head, modifier)]).sum()
    };
    let means: Vec<f64> = (1..=words).map(mean).collect();
    *covariances = ArcMatrix::zeros(words);
    for arc @ (head, modifier) in arcs(words) {
        let back = match head {
            0 => 0.0,
            _ => marginals[(modifier, head)] * g[(modifier, head)],
        };
        covariances[arc] = marginals[arc] * (g[arc] - means[modifier - 1] - back);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tutte_trees::{TreeSet, Workspace, arc_covariances_with, marginals_with};

    use super::*;

    const ALL: [Criterion; 3] = [Criterion::Squared, Criterion::Kl, Criterion::KlBernoulli];

    /// Arc scores of three words.
    fn fixture() -> ArcMatrix {
        let mut scores = ArcMatrix::zeros(3);
        for (arc, score) in [
            ((0, 1), 1.0),
            ((0, 2), 0.5),
            ((0, 3), -1.0),
            ((1, 2), 2.0),
            ((1, 3), 0.0),
            ((2, 1), 1.5),
            ((2, 3), 1.0),
            ((3, 1), -0.5),
            ((3, 2), 0.25),
        ] {
            scores[arc] = score;
        }
        scores
    }

    /// One constraint on 1 → 2 and 0 → 1, t = 0.75, squared. The numbers were computed by other code.
    #[test]
    fn a_known_corpus_of_one_sentence() {
        let scores = fixture();
        let cases = [
            (
                TreeSet::NonProjectiveMultiRoot,
                [0.662782602534, 0.174434794931, 0.007606874421],
                [0.033552259037, 0.001609028294, -0.026215081585],
            ),
            (
                TreeSet::NonProjectiveSingleRoot,
                [0.687189257623, 0.125621484754, 0.003945189358],
                [0.025760578244, 0.001573743157, -0.022723143251],
            ),
        ];
        for (tree_set, [expected, slope, loss], derivatives) in cases {
            let mut workspace = Workspace::default();
            let mut marginals = ArcMatrix::default();
            marginals_with(&scores, tree_set, &mut workspace, &mut marginals).unwrap();
            let e = (marginals[(1, 2)] + marginals[(0, 1)]) / 2.0;
            assert!((e - expected).abs() < 1e-11);
            let found = Wanted::exactly(0.75).loss(e, Criterion::Squared);
            // The fixture is of −S, which is maximised, so its slope has the other sign.
            assert!((found.0 - loss).abs() < 1e-11 && (found.1 + slope).abs() < 1e-11);
            let mut g = ArcMatrix::zeros(3);
            g[(1, 2)] = found.1 / 2.0;
            g[(0, 1)] = found.1 / 2.0;
            let mut covariances = ArcMatrix::default();
            arc_covariances_with(&scores, &g, tree_set, &mut workspace, &mut covariances).unwrap();
            for (arc, derivative) in [(1, 2), (2, 3), (2, 1)].into_iter().zip(derivatives) {
                assert!((covariances[arc] + derivative).abs() < 1e-11, "{arc:?} in {tree_set}");
            }
            approximate_covariances(&marginals, &g, &mut covariances);
            assert_eq!(covariances[(2, 3)], 0.0, "the approximation ignores heads of other words");
        }
    }

    proptest! {
        #[test]
        fn slopes_are_derivatives(e in 0.01..0.99f64, low in 0.0..1.0f64, wide in 0.0..0.5f64) {
            let high = (low + wide).min(1.0);
            let wanted = Wanted { low, high, weight: 1.7 };
            // The loss has corners at the bounds of the range.
            prop_assume!((e - low).abs() > 1e-3 && (e - high).abs() > 1e-3);
            for criterion in ALL {
                let of = |e: f64| wanted.loss(e, criterion).0;
                let expected = (of(e + 1e-6) - of(e - 1e-6)) / 2e-6;
                let (loss, slope) = wanted.loss(e, criterion);
                prop_assert!((slope - expected).abs() < 1e-3 * expected.abs().max(1.0));
                prop_assert!(criterion == Criterion::Kl || loss >= 0.0);
                prop_assert!((wanted.residual(e) == 0.0) == (low..=high).contains(&e));
            }
        }

        /// Compares the approximation with its definition: pairs of arcs with the same dependent, pairs that head
        /// each other, and other pairs.
        #[test]
        fn the_approximation_is_what_it_says(
            scores in prop::collection::vec(-2.0..2.0f64, 16),
            g in prop::collection::vec(-1.0..1.0f64, 16),
        ) {
            let scores = ArcMatrix::from_vec(3, scores).unwrap();
            let g = ArcMatrix::from_vec(3, g).unwrap();
            let mut workspace = Workspace::default();
            let mut marginals = ArcMatrix::default();
            let tree_set = TreeSet::NonProjectiveMultiRoot;
            marginals_with(&scores, tree_set, &mut workspace, &mut marginals).unwrap();
            let mut found = ArcMatrix::default();
            approximate_covariances(&marginals, &g, &mut found);
            for e @ (head, modifier) in arcs(3) {
                let mut expected = 0.0;
                for f in arcs(3) {
                    let both = match f {
                        _ if f == e => marginals[e],
                        (_, other) if other == modifier => 0.0,
                        _ if f == (modifier, head) => 0.0,
                        _ => marginals[e] * marginals[f],
                    };
                    expected += g[f] * (both - marginals[e] * marginals[f]);
                }
                prop_assert!((found[e] - expected).abs() < 1e-12);
            }
        }

        /// Every word has one head, so a function that is the same for all its heads has no covariance.
        #[test]
        fn functions_that_are_equal_for_all_heads_have_no_covariance(
            scores in prop::collection::vec(-5.0..5.0f64, 25), by_word in prop::collection::vec(-2.0..2.0f64, 5),
        ) {
            let scores = ArcMatrix::from_vec(4, scores).unwrap();
            let g = ArcMatrix::from_fn(4, |_, modifier| by_word[modifier]);
            for tree_set in TreeSet::ALL {
                let mut covariances = ArcMatrix::default();
                let workspace = &mut Workspace::default();
                arc_covariances_with(&scores, &g, tree_set, workspace, &mut covariances).unwrap();
                prop_assert!(arcs(4).all(|arc| covariances[arc].abs() < 1e-11));
            }
        }
    }

    #[test]
    fn extreme_expectations_have_finite_losses() {
        for criterion in ALL {
            for target in [0.0, 0.3, 1.0] {
                for e in [0.0, 1.0, 0.5] {
                    let (loss, slope) = Wanted::exactly(target).loss(e, criterion);
                    assert!(loss.is_finite() && slope.is_finite(), "{criterion:?} {target} {e}");
                }
            }
        }
    }
}
