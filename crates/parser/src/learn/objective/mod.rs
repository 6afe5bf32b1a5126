//! Training signals: from the scores of a sentence's arcs and what is known about it to a value,
//! and the derivative of that value by every score.
//!
//! All signals are losses: less is better. They add, so that an objective is written as it is in a
//! paper:
//!
//! ```
//! use tutte::learn::objective::{likelihood, entropy, risk};
//!
//! let objective = 2.0 * likelihood() + 0.1 * entropy();
//! let annealed = risk(1.0) + -0.5 * entropy(); // R − T·H at T = ½
//! # let _ = (objective, annealed);
//! ```
//!
//! Every term comes down to one coefficient an arc; spreading the coefficients over weights
//! ([`ArcModel::accumulate`](crate::ArcModel::accumulate)) is the same for all, and what is done with
//! that gradient is the learner's affair. O(n³) a term. What signals are when arcs have labels, see
//! [`Objective::evaluate_labelled`].
//!
//! Trees may be known in part. Then the likelihood is that of all trees which agree with what is
//! known, exactly, and only words whose heads are known can be wrong.

mod entropy;
pub mod expectation;
pub(crate) mod labelled;
mod likelihood;
mod notation;
mod renyi;
mod risk;
mod softmax_margin;

use std::ops::{Add, Mul};

use tutte_trees::{ArcMatrix, Error, LabelledArcMatrix, TreeSet, Workspace};

pub use labelled::LabelledScored;

/// One term of an objective.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Term {
    /// −log p(y | x) of the gold tree, or of all trees with the heads that are known.
    Likelihood,
    /// log Σ_y′ exp(θ(y′) + κ·wrong(y′)) − θ(y): trees count the more the more heads are wrong.
    SoftmaxMargin {
        /// κ, what a wrong head costs.
        cost: f64,
    },
    /// The expected number of wrong heads when probabilities are ∝ exp(γ θ(y)).
    Risk {
        /// γ: 1 is the model, ∞ its best tree.
        gamma: Anneal,
    },
    /// The entropy H(p) in nats: how unsure the model is. Needs no gold tree.
    Entropy,
    /// The Rényi entropy in nats, likewise.
    Renyi {
        /// α: 1 is the entropy, ∞ sees the best tree alone.
        order: f64,
    },
}

/// A number that changes from pass to pass, geometrically from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anneal {
    /// In the first pass.
    pub from: f64,
    /// In the last pass.
    pub to: f64,
}

impl Anneal {
    /// A number that does not change.
    pub fn constant(value: f64) -> Self {
        Self { from: value, to: value }
    }

    /// Its value when a share of the passes is done, 0 in the first and 1 in the last.
    pub fn at(self, progress: f64) -> f64 {
        if self.from == self.to {
            self.to
        } else {
            self.from * (self.to / self.from).powf(progress)
        }
    }
}

/// −log p(y | x).
pub fn likelihood() -> Objective {
    Term::Likelihood.into()
}

/// Softmax-margin with cost κ a wrong head.
pub fn softmax_margin(cost: f64) -> Objective {
    Term::SoftmaxMargin { cost }.into()
}

/// The expected number of wrong heads at scale γ.
pub fn risk(gamma: f64) -> Objective {
    annealed_risk(gamma, gamma)
}

/// The expected number of wrong heads, with γ raised from the first pass to the last.
pub fn annealed_risk(from: f64, to: f64) -> Objective {
    Term::Risk { gamma: Anneal { from, to } }.into()
}

/// How unsure the model is.
pub fn entropy() -> Objective {
    Term::Entropy.into()
}

/// How unsure the model is, in the sense of Rényi.
pub fn renyi(order: f64) -> Objective {
    Term::Renyi { order }.into()
}

/// A weighted sum of signals, to be made small.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    terms: Vec<(f64, Term)>,
}

/// A sentence as signals see it.
#[derive(Clone, Copy, Debug)]
pub struct Scored<'a> {
    /// θ, the score of every arc.
    pub scores: &'a ArcMatrix,
    /// The gold head of every word, where it is known.
    pub gold: &'a [Option<usize>],
    /// The trees that are possible.
    pub tree_set: TreeSet,
}

/// Memory that evaluations share.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    workspace: Workspace,
    scores: ArcMatrix,
    function: ArcMatrix,
    result: ArcMatrix,
    /// Of labelled sentences: p(ℓ | h → m), and marginals of arcs.
    given: LabelledArcMatrix,
    marginals: ArcMatrix,
}

impl Objective {
    /// The terms, with their factors.
    pub fn terms(&self) -> &[(f64, Term)] {
        &self.terms
    }

    /// The value for a sentence, and into `gradient` its derivative by every score. `progress` is
    /// 0 in the first pass and 1 in the last, for what is annealed.
    ///
    /// # Errors
    /// [`Error::BadScore`] if a score is no number, [`Error::NoTree`] if nothing is possible.
    pub fn evaluate(
        &self,
        sentence: Scored<'_>,
        progress: f64,
        scratch: &mut Scratch,
        gradient: &mut ArcMatrix,
    ) -> Result<f64, Error> {
        *gradient = ArcMatrix::zeros(sentence.scores.words());
        let mut value = 0.0;
        for &(factor, term) in &self.terms {
            value += factor
                * match term {
                    Term::Likelihood => likelihood::add(sentence, factor, scratch, gradient)?,
                    Term::SoftmaxMargin { cost } => {
                        softmax_margin::add(sentence, cost, factor, scratch, gradient)?
                    }
                    Term::Risk { gamma } => {
                        risk::add(sentence, gamma.at(progress), factor, scratch, gradient)?
                    }
                    Term::Entropy => entropy::add(sentence, factor, scratch, gradient)?,
                    Term::Renyi { order } => renyi::add(sentence, order, factor, gradient)?,
                };
        }
        Ok(value)
    }

    /// Whether the objective is another in every pass.
    pub fn is_annealed(&self) -> bool {
        self.terms
            .iter()
            .any(|(_, term)| matches!(term, Term::Risk { gamma } if gamma.from != gamma.to))
    }

    /// What is wrong with its numbers, if anything.
    pub(crate) fn problem(&self) -> Option<String> {
        let positive = |name: &str, value: f64| {
            let fine = value.is_finite() && value > 0.0;
            (!fine).then(|| format!("{name} is {value}, but must be a positive number"))
        };
        self.terms.iter().find_map(|&(factor, term)| match term {
            _ if !factor.is_finite() => Some(format!("the factor of a signal is {factor}")),
            Term::SoftmaxMargin { cost } if !cost.is_finite() || cost < 0.0 => {
                Some(format!("the cost of a wrong head is {cost}, but must be 0 or more"))
            }
            Term::Risk { gamma } => {
                positive("gamma", gamma.from).or_else(|| positive("gamma", gamma.to))
            }
            Term::Renyi { order } if order.is_nan() || order < 0.0 => {
                Some(format!("the order of an entropy is {order}, but must be 0 or more, or inf"))
            }
            _ => None,
        })
    }
}

impl From<Term> for Objective {
    fn from(term: Term) -> Self {
        Self { terms: vec![(1.0, term)] }
    }
}

impl Add for Objective {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self.terms.extend(other.terms);
        self
    }
}

impl Mul<Objective> for f64 {
    type Output = Objective;

    fn mul(self, mut objective: Objective) -> Objective {
        objective.terms.iter_mut().for_each(|(factor, _)| *factor *= self);
        objective
    }
}

/// ℓ(h → m): 1 for a wrong head, 0 for the gold one, or for any if that is unknown.
pub(crate) fn cost(gold: &[Option<usize>], head: usize, modifier: usize) -> f64 {
    if gold[modifier - 1].is_none_or(|gold| gold == head) { 0.0 } else { 1.0 }
}

#[cfg(test)]
mod tests;
