//! Information: entropies and divergences of tree distributions, and their gradients.
//!
//! All follow from log Z and the marginals μ (Smith & Eisner 2007 give O(n⁴) for the non-projective
//! Shannon entropy; the identity H = log Z − Σ μ θ makes it O(n³)). They are computed on scores
//! shifted so that the best tree scores 0, where nothing cancels.

use crate::workspace::{check_function, expectation};
use crate::{ArcMatrix, Constraints, Error, TreeDistribution, feasible, nonprojective, projective};

/// For orders closer to 1 than this, the Rényi entropy is expanded around Shannon's.
pub(crate) const NEAR_ONE: f64 = 1e-5;

/// Orders from which the Rényi entropy is equal to its limit in `f64`: the two differ by at most the
/// logarithm of the number of trees divided by the order.
pub(crate) const NEAR_INFINITY: f64 = 1e17;

impl TreeDistribution {
    /// The Shannon entropy H = −Σ p log p, in nats: H = log Z − Σ_e μ_e θ_e.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
    /// let d = TreeDistribution::new(ArcMatrix::zeros(4), TreeSet::ProjectiveMultiRoot)?;
    /// assert!((d.entropy() - 55f64.ln()).abs() < 1e-12); // 55 trees, all alike
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    pub fn entropy(&self) -> f64 {
        let entropy = self.log_excess() - expectation(self.marginals(), &self.shifted);
        // Rounding may leave a peaked distribution slightly below zero, and scores next to 1e300 leave
        // no digits. The entropy of a tree is at most the sum of the entropies of its heads.
        let most: f64 = (1..=self.words()).map(|modifier| self.entropy_of_head(modifier)).sum();
        entropy.clamp(0.0, most + 1e-9)
    }

    /// ∂H/∂θ for every arc: −Cov(1_e, Σ θ).
    pub fn entropy_gradient(&self) -> ArcMatrix {
        let mut gradient = self.unchecked_covariances(&self.shifted);
        gradient.map_in_place(|c| -c);
        gradient
    }

    /// The entropy of one word's head, in nats: the information about the tree that this head gives.
    ///
    /// The tree determines the head, so learning the head lowers the entropy of the whole tree, in
    /// expectation, by exactly the entropy of this marginal.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
    /// let mut scores = ArcMatrix::zeros(3);
    /// scores[(0, 1)] = 9.0; // 1 is almost certainly a root word
    /// let d = TreeDistribution::new(scores, TreeSet::NonProjectiveMultiRoot)?;
    /// assert!(d.head_entropy(1)? < 0.01 && d.head_entropy(3)? > 1.0); // so ask about 3
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchArc`] if there is no such word.
    pub fn head_entropy(&self, modifier: usize) -> Result<f64, Error> {
        crate::matrix::check_arc(self.words(), 0, modifier)?;
        Ok(self.entropy_of_head(modifier))
    }

    fn entropy_of_head(&self, modifier: usize) -> f64 {
        let heads = (0..=self.words()).filter(|&head| head != modifier);
        let probabilities = heads.map(|head| self.marginals()[(head, modifier)]);
        // Rounding may give a certain head a probability just above 1.
        probabilities.filter(|&p| p > 0.0).map(|p| -p * p.ln()).sum::<f64>().max(0.0)
    }

    /// The Rényi entropy of order α ≥ 0, in nats: \[log Z(αθ) − α log Z(θ)\] / (1 − α).
    ///
    /// Order 0 is the log of the number of possible trees. Order 1 is Shannon's entropy. Order ∞ is
    /// minus the log of the best tree's probability. The entropy does not increase with α.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
    /// let d = TreeDistribution::new(ArcMatrix::zeros(3), TreeSet::NonProjectiveMultiRoot)?;
    /// assert!((d.renyi(0.0)? - 16f64.ln()).abs() < 1e-12);
    /// assert!((d.renyi(2.0)? - 16f64.ln()).abs() < 1e-12); // uniform: all orders agree
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BadParameter`] if the order is negative or NaN.
    pub fn renyi(&self, order: f64) -> Result<f64, Error> {
        check_order(order)?;
        if order == 0.0 {
            return Ok(self.log_tree_count());
        }
        if order == 1.0 {
            return Ok(self.entropy());
        }
        if order >= NEAR_INFINITY {
            return Ok(self.log_excess());
        }
        let entropy = if (order - 1.0).abs() < NEAR_ONE {
            let variance = self.unchecked_covariance(&self.shifted, &self.shifted);
            self.entropy() - 0.5 * (order - 1.0) * variance.max(0.0)
        } else {
            let log_z = self.log_partition_of(&self.tempered(order));
            (log_z - order * self.log_excess()) / (1.0 - order)
        };
        Ok(within_bounds(order, entropy, self.log_excess(), || self.log_tree_count()))
    }

    /// The gradient of [`renyi`](Self::renyi) in every arc's score:
    /// α/(1−α)·\[μ(αθ) − μ(θ)\]; zero for order 0; for order ∞ the subgradient μ − best tree.
    ///
    /// # Errors
    /// [`Error::BadParameter`] if the order is negative or NaN.
    pub fn renyi_gradient(&self, order: f64) -> Result<ArcMatrix, Error> {
        check_order(order)?;
        if order == 0.0 {
            return Ok(ArcMatrix::zeros(self.words()));
        }
        if order == f64::INFINITY {
            let mut gradient = self.marginals().clone();
            for arc in self.argmax().tree.arcs() {
                gradient[arc] -= 1.0;
            }
            return Ok(gradient);
        }
        if (order - 1.0).abs() < NEAR_ONE {
            return Ok(self.entropy_gradient());
        }
        let tempered = self.tempered(order.min(NEAR_INFINITY));
        let tempered = TreeDistribution::new(tempered, self.tree_set())?;
        let mut gradient = tempered.marginals().clone();
        let factor = order / (1.0 - order);
        gradient.zip_in_place(self.marginals(), |hot, cold| factor * (hot - cold));
        Ok(gradient)
    }

    /// The number of trees that are not forbidden, if it (and the arithmetic) fits 128 bits.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
    /// let mut scores = ArcMatrix::zeros(3);
    /// scores.forbid(0, 2);
    /// let d = TreeDistribution::new(scores, TreeSet::ProjectiveSingleRoot)?;
    /// assert_eq!(d.tree_count(), Some(6)); // of 7: the tree rooted in 2 is out
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    pub fn tree_count(&self) -> Option<u128> {
        let roots = self.tree_set().roots();
        if self.tree_set().is_projective() {
            projective::count(self.scores(), roots)
        } else {
            nonprojective::count::count(self.scores(), roots)
        }
    }

    /// The natural logarithm of the number of trees that are not forbidden. The number may be of any size.
    pub fn log_tree_count(&self) -> f64 {
        let mut flat = self.shifted.clone();
        flat.map_in_place(|score| if score > f64::NEG_INFINITY { 0.0 } else { score });
        self.log_partition_of(&flat).max(0.0)
    }

    /// The cross-entropy H(p, q) = −Σ p log q of this distribution p and another, in nats.
    ///
    /// +∞ if p may produce an arc that q forbids.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`]; [`Error::BadParameter`] unless every tree of this distribution's
    /// set is in the other's.
    pub fn cross_entropy(&self, other: &TreeDistribution) -> Result<f64, Error> {
        self.check_comparable(other)?;
        if !self.supported_by(other) {
            return Ok(f64::INFINITY);
        }
        let expected = self.expected_within(other, |arc| other.shifted[arc]);
        Ok((other.log_excess() - expected).max(0.0))
    }

    /// The Kullback–Leibler divergence KL(p‖q) = Σ p log(p/q) of this distribution p from another,
    /// in nats.
    ///
    /// +∞ if p may produce an arc that q forbids.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, Constraints, TreeDistribution, TreeSet};
    /// let q = TreeDistribution::new(ArcMatrix::zeros(3), TreeSet::NonProjectiveMultiRoot)?;
    /// let p = q.condition(&Constraints::new().require_arc(1, 2))?;
    /// // p and q differ by one required arc.
    /// assert!((p.kl(&q)? + q.marginal(1, 2)?.ln()).abs() < 1e-12);
    /// assert_eq!(q.kl(&p)?, f64::INFINITY);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`cross_entropy`](Self::cross_entropy).
    pub fn kl(&self, other: &TreeDistribution) -> Result<f64, Error> {
        self.check_comparable(other)?;
        if !self.supported_by(other) {
            return Ok(f64::INFINITY);
        }
        // Shifting columns changes log Z and the expected score by the same amount, so the shifts of
        // both sides drop out.
        let difference = self.expected_within(other, |arc| self.shifted[arc] - other.shifted[arc]);
        Ok((other.log_excess() - self.log_excess() + difference).max(0.0))
    }

    /// E\[Σ_{e∈y} f_e\] for any function of arcs: counts, costs, features.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
    /// let d = TreeDistribution::new(ArcMatrix::zeros(3), TreeSet::NonProjectiveSingleRoot)?;
    /// // How many heads of this tree would a random tree have right?
    /// let mut right = ArcMatrix::zeros(3);
    /// for arc in d.argmax().tree.arcs() {
    ///     right[arc] = 1.0;
    /// }
    /// assert!((d.expectation(&right)? - 1.0).abs() < 1e-12);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::DifferentLengths`]; [`Error::BadScore`] if `f` is not a number on an allowed arc.
    pub fn expectation(&self, f: &ArcMatrix) -> Result<f64, Error> {
        check_function(self.scores(), f)?;
        Ok(expectation(self.marginals(), f))
    }

    fn check_comparable(&self, other: &TreeDistribution) -> Result<(), Error> {
        if self.words() != other.words() {
            return Err(Error::DifferentLengths { left: self.words(), right: other.words() });
        }
        if !other.tree_set().contains(self.tree_set()) {
            return Err(Error::BadParameter {
                what: "the other distribution's tree set",
                expected: "one that contains all trees of this distribution's set",
                found: format!("{} (and this one {})", other.tree_set(), self.tree_set()),
            });
        }
        Ok(())
    }

    /// Σ μ_e f(e) over the arcs that the other distribution allows. An arc that it forbids cannot be
    /// produced here either, but rounding may give it a tiny marginal.
    fn expected_within(&self, other: &TreeDistribution, f: impl Fn((usize, usize)) -> f64) -> f64 {
        self.marginals()
            .arcs()
            .filter(|&(head, modifier, p)| {
                p > 0.0 && other.shifted[(head, modifier)] > f64::NEG_INFINITY
            })
            .map(|(head, modifier, p)| p * f((head, modifier)))
            .sum()
    }

    /// True if the other distribution allows every arc that this one may produce.
    fn supported_by(&self, other: &TreeDistribution) -> bool {
        other.shifted.arcs().all(|(head, modifier, score)| {
            score > f64::NEG_INFINITY || !self.may_produce(head, modifier)
        })
    }

    /// True if an arc of this sentence is in any tree. A marginal near 0 cannot decide that: it may be
    /// a rounding error.
    pub(crate) fn may_produce(&self, head: usize, modifier: usize) -> bool {
        if self.shifted[(head, modifier)] == f64::NEG_INFINITY {
            return false;
        }
        self.marginals()[(head, modifier)] > 1e-9 || {
            let arc = Constraints::new().require_arc(head, modifier);
            self.masked(&arc).is_ok_and(|masked| feasible::has_tree(&masked, self.tree_set()))
        }
    }

    /// The shifted scores times α, clamped to the range of scores.
    fn tempered(&self, order: f64) -> ArcMatrix {
        let mut tempered = self.shifted.clone();
        tempered.map_in_place(|score| {
            if score == f64::NEG_INFINITY {
                score
            } else {
                (order * score).clamp(-ArcMatrix::MAX_SCORE, ArcMatrix::MAX_SCORE)
            }
        });
        tempered
    }
}

/// Clamps a Rényi entropy between those of order ∞ (`least`) and 0 and, above order 1, below
/// α/(α−1)·`least`. Scores next to 1e300 leave no digits; the result is then at least a possible one.
pub(crate) fn within_bounds(
    order: f64,
    entropy: f64,
    least: f64,
    log_tree_count: impl FnOnce() -> f64,
) -> f64 {
    let most = if order < 1.0 { log_tree_count() } else { order / (order - 1.0) * least };
    entropy.max(least).min(most)
}

pub(crate) fn check_order(order: f64) -> Result<(), Error> {
    if order >= 0.0 {
        return Ok(());
    }
    Err(Error::BadParameter {
        what: "the order of the Rényi entropy",
        expected: "at least 0 (∞ is allowed)",
        found: order.to_string(),
    })
}
