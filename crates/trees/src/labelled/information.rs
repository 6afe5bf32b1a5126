//! Entropies and divergences of labelled trees: those of the bare trees, plus those of each arc's
//! labels, weighted by the probability of the arc.

use super::{LabelledTree, LabelledTreeDistribution};
use crate::information::{NEAR_INFINITY, NEAR_ONE, check_order, within_bounds};
use crate::weight::log_sum_exp;
use crate::workspace::expectation;
use crate::{ArcMatrix, Error};

impl LabelledTreeDistribution {
    /// The Shannon entropy in nats: H(tree) + Σ_e μ_e·H(label | e).
    pub fn entropy(&self) -> f64 {
        let of_labels = self.scores().label_entropies();
        self.arcs().entropy() + expectation(self.arcs().marginals(), &of_labels)
    }

    /// The Rényi entropy of order α ≥ 0 over labelled trees, in nats.
    ///
    /// # Errors
    /// [`Error::BadParameter`] if the order is negative or NaN.
    pub fn renyi(&self, order: f64) -> Result<f64, Error> {
        check_order(order)?;
        if order == 1.0 {
            return Ok(self.entropy());
        }
        let best = self.argmax().tree;
        let least = -self.log_prob(&best)?;
        if order >= NEAR_INFINITY {
            return Ok(least);
        }
        let entropy = if (order - 1.0).abs() < NEAR_ONE {
            let variance = self.covariance_of(self.scores(), self.scores());
            self.entropy() - 0.5 * (order - 1.0) * variance.max(0.0)
        } else {
            (self.log_partition_tempered(order, &best) - order * least) / (1.0 - order)
        };
        // The best tree alone gives 0; a little less is a rounding error.
        let log_tree_count = || self.log_partition_tempered(0.0, &best).max(0.0);
        Ok(within_bounds(order, entropy, least, log_tree_count))
    }

    /// log Z(αθ), θ shifted so that the best labelled tree scores 0.
    fn log_partition_tempered(&self, order: f64, best: &LabelledTree) -> f64 {
        let shifts: Vec<f64> = best.arcs().map(|arc| self.scores()[arc]).collect();
        let tempered = ArcMatrix::from_fn(self.words(), |head, modifier| {
            let cell = self.scores().cell(head, modifier).iter();
            let allowed = cell.filter(|&&score| score > f64::NEG_INFINITY);
            let scaled: Vec<f64> = allowed
                .map(|score| {
                    let scaled = order * (score - shifts[modifier - 1]);
                    scaled.clamp(-ArcMatrix::MAX_SCORE, ArcMatrix::MAX_SCORE)
                })
                .collect();
            log_sum_exp(&scaled)
        });
        self.arcs().log_partition_of(&tempered)
    }

    /// The cross-entropy −Σ p log q of this distribution and another, in nats; +∞ if this one may
    /// produce a labelled arc that the other forbids.
    ///
    /// # Errors
    /// As [`TreeDistribution::cross_entropy`], and [`Error::Shape`] if the label sets differ.
    ///
    /// [`TreeDistribution::cross_entropy`]: crate::TreeDistribution::cross_entropy
    pub fn cross_entropy(&self, other: &Self) -> Result<f64, Error> {
        self.check_labels(other)?;
        Ok(self.arcs().cross_entropy(other.arcs())? + self.label_cross_entropy(other))
    }

    /// KL(p‖q) of this distribution from another, in nats.
    ///
    /// # Errors
    /// As [`cross_entropy`](Self::cross_entropy).
    pub fn kl(&self, other: &Self) -> Result<f64, Error> {
        self.check_labels(other)?;
        let trees = self.arcs().kl(other.arcs())?;
        let labels = self.label_cross_entropy(other) - self.label_cross_entropy(self);
        Ok(if trees.is_finite() && labels.is_finite() {
            (trees + labels).max(0.0)
        } else {
            f64::INFINITY
        })
    }

    /// −Σ_e μ_e Σ_ℓ p(ℓ|e) log q(ℓ|e).
    fn label_cross_entropy(&self, other: &Self) -> f64 {
        let mut total = 0.0;
        for (head, modifier, p) in self.arcs().marginals().arcs() {
            let sum = other.arcs().scores()[(head, modifier)];
            let mine = self.scores().cell(head, modifier);
            let theirs = other.scores().cell(head, modifier);
            for ((own, &score), &their_score) in self.softmax(head, modifier).zip(mine).zip(theirs)
            {
                if their_score > f64::NEG_INFINITY {
                    total -= p * own * (their_score - sum).min(0.0);
                } else if score > f64::NEG_INFINITY && self.arcs().may_produce(head, modifier) {
                    return f64::INFINITY; // possible here, however improbable, and forbidden there
                }
            }
        }
        total
    }

    fn check_labels(&self, other: &Self) -> Result<(), Error> {
        if self.labels() == other.labels() {
            return Ok(());
        }
        Err(Error::Shape {
            expected: format!("a distribution over {} labels", self.labels()),
            found: format!("one over {} labels", other.labels()),
        })
    }
}
