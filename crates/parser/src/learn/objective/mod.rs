//! Objectives: the loss of a sentence, and its derivative by the score of every arc.
//!
//! An objective is a weighted sum of terms. Every term is a loss: lower is better. Code writes the sum as a
//! paper does:
//!
//! ```
//! use tutte::learn::objective::{likelihood, entropy, risk};
//!
//! let objective = 2.0 * likelihood() + 0.1 * entropy();
//! let annealed = risk(1.0) + -0.5 * entropy(); // R − T·H at T = ½
//! # let _ = (objective, annealed);
//! ```
//!
//! Every term reduces to one coefficient per arc. [`ArcModel::accumulate`](crate::ArcModel::accumulate) spreads
//! the coefficients over weights, in the same way for all terms. The [optimizer](crate::learn::optimizer) decides
//! how weights follow that gradient. Cost: O(n³) per term and sentence of n words. For labelled arcs see
//! [`Objective::evaluate_labelled`]. Factors of terms may change from pass to pass, see [`Ramp`].
//!
//! Gold trees may be partial. The likelihood is then the exact probability of all trees that contain the gold
//! arcs, and only words with a gold head can be wrong.

mod brier;
mod decoded_risk;
mod distil;
mod entropy;
pub mod expectation;
pub(crate) mod labelled;
mod likelihood;
mod notation;
mod ramp;
mod renyi;
mod risk;
mod softmax;
mod softmax_margin;

use std::ops::{Add, Mul};

use tutte_trees::{ArcMatrix, Error, LabelledArcMatrix, TreeSet, Workspace};

use crate::learn::teacher::SoftArc;

pub use labelled::LabelledScored;
pub use ramp::Ramp;

/// Bounds of the temperature of a soft decoder.
const SMALLEST_TEMPERATURE: f64 = 1e-6;
const LARGEST_TEMPERATURE: f64 = 1e6;

/// One term of an objective.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Term {
    /// −log p(y | x) of the gold tree, or of all trees that agree with a partial one.
    Likelihood,
    /// Cross-entropy to the distribution of a teacher, for sentences that have one. If an objective has this term,
    /// the terms that need a gold tree do not count for these sentences.
    Distil,
    /// −log softmax of the gold head of each word over all heads, apart from all other words.
    Softmax,
    /// log Σ_y′ exp(θ(y′) + κ·wrong(y′)) − θ(y): a tree weighs more for each wrong head.
    SoftmaxMargin {
        /// κ, the cost of a wrong head.
        cost: f64,
    },
    /// Expected number of wrong heads under probabilities ∝ exp(γ θ(y)).
    Risk {
        /// γ: 1 is the model's distribution, ∞ its best tree.
        gamma: Anneal,
    },
    /// Expected number of wrong heads in the answer of a soft decoder: a tree drawn with probabilities ∝ exp of its
    /// marginals divided by T.
    DecodedRisk {
        /// T: 0 is the tree with the largest sum of marginals.
        temperature: f64,
    },
    /// Sum of the squared differences between marginals and the gold tree.
    Brier,
    /// Entropy H(p) in nats. Needs no gold tree.
    Entropy,
    /// Rényi entropy in nats. Needs no gold tree.
    Renyi {
        /// α: 1 is Shannon's entropy, ∞ depends on the best tree alone.
        order: f64,
    },
}

/// A number that changes geometrically from the first pass to the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anneal {
    /// Value in the first pass.
    pub from: f64,
    /// Value in the last pass.
    pub to: f64,
}

impl Anneal {
    /// Creates a number that is the same in every pass.
    pub fn constant(value: f64) -> Self {
        Self { from: value, to: value }
    }

    /// Returns the value at a share of the passes: 0 is the first pass, 1 the last.
    pub fn at(self, progress: f64) -> f64 {
        if self.from == self.to {
            self.to
        } else {
            self.from * (self.to / self.from).powf(progress)
        }
    }
}

/// Returns the negative log-likelihood, −log p(y | x).
pub fn likelihood() -> Objective {
    Term::Likelihood.into()
}

/// Returns the cross-entropy to the distribution of a teacher.
pub fn distil() -> Objective {
    Term::Distil.into()
}

/// Returns the sum over words of −log softmax of the gold head.
pub fn softmax() -> Objective {
    Term::Softmax.into()
}

/// Returns softmax-margin with cost κ per wrong head.
pub fn softmax_margin(cost: f64) -> Objective {
    Term::SoftmaxMargin { cost }.into()
}

/// Returns the expected number of wrong heads at scale γ.
pub fn risk(gamma: f64) -> Objective {
    annealed_risk(gamma, gamma)
}

/// Returns the expected number of wrong heads, with γ annealed from the first pass to the last.
pub fn annealed_risk(from: f64, to: f64) -> Objective {
    Term::Risk { gamma: Anneal { from, to } }.into()
}

/// Returns the expected number of wrong heads in the answer of a soft decoder at a temperature.
///
/// ```
/// use tutte::learn::objective::{Scored, Scratch, decoded_risk, risk};
/// use tutte_trees::{ArcMatrix, TreeSet};
///
/// let mut scores = ArcMatrix::zeros(2);
/// scores[(0, 2)] = 1.0; // word 2 is the root, with probability e / (1 + e) = 0.73
/// let sentence = Scored {
///     scores: &scores,
///     gold: &[Some(2), Some(0)],
///     teacher: &[],
///     tree_set: TreeSet::NonProjectiveSingleRoot,
/// };
/// let mut gradient = ArcMatrix::default();
/// let mut of = |objective: tutte::learn::objective::Objective| {
///     objective.evaluate(sentence, 0.0, &mut Scratch::default(), &mut gradient)
/// };
/// assert!(of(risk(1.0))? > 0.5); // two heads are wrong with probability 0.27
/// assert!(of(decoded_risk(0.1))? < 0.001); // the answer is right
/// # Ok::<(), tutte_trees::Error>(())
/// ```
pub fn decoded_risk(temperature: f64) -> Objective {
    Term::DecodedRisk { temperature }.into()
}

/// Returns the Brier score of the heads of words.
pub fn brier() -> Objective {
    Term::Brier.into()
}

/// Returns the entropy of the distribution over trees.
pub fn entropy() -> Objective {
    Term::Entropy.into()
}

/// Returns the Rényi entropy of the given order.
pub fn renyi(order: f64) -> Objective {
    Term::Renyi { order }.into()
}

/// A weighted sum of terms, to be minimised.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    terms: Vec<(Ramp, Term)>,
}

/// Scores and gold heads of a sentence: the input of an objective.
#[derive(Clone, Copy, Debug)]
pub struct Scored<'a> {
    /// θ, the score of every arc.
    pub scores: &'a ArcMatrix,
    /// Gold head of every word, `None` if unannotated.
    pub gold: &'a [Option<usize>],
    /// Arcs of a teacher's distribution; empty if the sentence has no teacher. The probabilities of each word sum to 1.
    pub teacher: &'a [SoftArc],
    /// Set of trees that the distribution is over.
    pub tree_set: TreeSet,
}

/// Memory that evaluations reuse.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    workspace: Workspace,
    scores: ArcMatrix,
    function: ArcMatrix,
    result: ArcMatrix,
    /// p(ℓ | h → m), for labelled sentences.
    given: LabelledArcMatrix,
    /// Marginals of unlabelled arcs, for labelled sentences.
    marginals: ArcMatrix,
    /// Scores of the soft answer, for labelled sentences.
    answer: ArcMatrix,
}

impl Objective {
    /// Returns the terms with their factors.
    pub fn terms(&self) -> &[(Ramp, Term)] {
        &self.terms
    }

    /// Returns the value for a sentence, and writes its derivative by every score into `gradient`. `progress` is
    /// 0 in the first pass and 1 in the last; annealed parameters depend on it.
    ///
    /// # Errors
    /// [`Error::BadScore`] if a score is NaN or +∞, [`Error::NoTree`] if the scores allow no tree.
    pub fn evaluate(
        &self,
        sentence: Scored<'_>,
        progress: f64,
        scratch: &mut Scratch,
        gradient: &mut ArcMatrix,
    ) -> Result<f64, Error> {
        *gradient = ArcMatrix::zeros(sentence.scores.words());
        let mut value = 0.0;
        for (factor, term) in self.at(progress) {
            value += factor
                * match term {
                    _ if self.ignores(term, sentence.teacher) => 0.0,
                    Term::Distil => distil::add(sentence, factor, scratch, gradient)?,
                    Term::Likelihood => likelihood::add(sentence, factor, scratch, gradient)?,
                    Term::Softmax => softmax::add(sentence, factor, gradient)?,
                    Term::SoftmaxMargin { cost } => {
                        softmax_margin::add(sentence, cost, factor, scratch, gradient)?
                    }
                    Term::Risk { gamma } => {
                        risk::add(sentence, gamma.at(progress), factor, scratch, gradient)?
                    }
                    Term::DecodedRisk { temperature } => {
                        decoded_risk::add(sentence, temperature, factor, scratch, gradient)?
                    }
                    Term::Brier => brier::add(sentence, factor, scratch, gradient)?,
                    Term::Entropy => entropy::add(sentence, factor, scratch, gradient)?,
                    Term::Renyi { order } => renyi::add(sentence, order, factor, gradient)?,
                };
        }
        Ok(value)
    }

    /// Returns the terms that count at a share of the passes, with their factors.
    fn at(&self, progress: f64) -> impl Iterator<Item = (f64, Term)> {
        let terms = self.terms.iter().map(move |(factor, term)| (factor.at(progress), *term));
        terms.filter(|(factor, _)| *factor != 0.0)
    }

    /// Returns the objective of the first pass, for what is trained before. It is the likelihood if no term counts then.
    pub(crate) fn of_first_pass(&self) -> Self {
        if !self.terms.iter().any(|(factor, _)| factor.changes()) {
            return self.clone();
        }
        let terms: Vec<_> = self.at(0.0).map(|(factor, term)| (factor.into(), term)).collect();
        if terms.is_empty() { likelihood() } else { Self { terms } }
    }

    /// Sets γ of all risks.
    pub(crate) fn set_gamma(&mut self, value: f64) {
        for (_, term) in &mut self.terms {
            if let Term::Risk { gamma } = term {
                *gamma = Anneal::constant(value);
            }
        }
    }

    /// True if a teacher's distribution takes the place of the gold tree that a term needs.
    pub(super) fn ignores(&self, term: Term, teacher: &[SoftArc]) -> bool {
        let needs_gold = matches!(
            term,
            Term::Likelihood
                | Term::Softmax
                | Term::SoftmaxMargin { .. }
                | Term::Risk { .. }
                | Term::DecodedRisk { .. }
                | Term::Brier
        );
        needs_gold && !teacher.is_empty() && self.has_distil()
    }

    /// True if the objective has the term [`Distil`](Term::Distil).
    pub(crate) fn has_distil(&self) -> bool {
        self.terms.iter().any(|(_, term)| *term == Term::Distil)
    }

    /// True if a parameter changes from pass to pass.
    pub(crate) fn is_annealed(&self) -> bool {
        self.terms.iter().any(|(factor, term)| {
            let has_gammas = matches!(term, Term::Risk { gamma } if gamma.from != gamma.to);
            factor.changes() || has_gammas
        })
    }

    /// Returns an error message if a parameter is out of range.
    pub(crate) fn problem(&self) -> Option<String> {
        let positive = |name: &str, value: f64| {
            let fine = value.is_finite() && value > 0.0;
            (!fine).then(|| format!("{name} is {value}; it must be a positive number"))
        };
        let infinite = |factor: &Ramp| factor.values().find(|value| !value.is_finite());
        self.terms.iter().find_map(|(factor, term)| match *term {
            _ if infinite(factor).is_some() => {
                let value = infinite(factor).unwrap_or_default();
                Some(format!("the factor of {term} is {value}; it must be a finite number"))
            }
            Term::SoftmaxMargin { cost } if !cost.is_finite() || cost < 0.0 => {
                Some(format!("the cost in softmax-margin is {cost}; it must be 0 or more"))
            }
            Term::Risk { gamma } => {
                positive("gamma", gamma.from).or_else(|| positive("gamma", gamma.to))
            }
            Term::DecodedRisk { temperature }
                if !(SMALLEST_TEMPERATURE..=LARGEST_TEMPERATURE).contains(&temperature) =>
            {
                Some(format!(
                    "the temperature in decoded-risk is {temperature}; choose a number from \
                     {SMALLEST_TEMPERATURE} to {LARGEST_TEMPERATURE}, such as 0.1"
                ))
            }
            Term::Renyi { order } if order.is_nan() || order < 0.0 => {
                Some(format!("the order in renyi is {order}; it must be 0 or more, or inf"))
            }
            _ => None,
        })
    }
}

impl From<Term> for Objective {
    fn from(term: Term) -> Self {
        Ramp::from(1.0) * term
    }
}

impl Mul<Term> for Ramp {
    type Output = Objective;

    fn mul(self, term: Term) -> Objective {
        Objective { terms: vec![(self, term)] }
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
        objective.terms.iter_mut().for_each(|(factor, _)| factor.scale(self));
        objective
    }
}

/// Returns ℓ(h → m): 1 for a wrong head, 0 for the gold head or if the word has none.
pub(crate) fn cost(gold: &[Option<usize>], head: usize, modifier: usize) -> f64 {
    if gold[modifier - 1].is_none_or(|gold| gold == head) { 0.0 } else { 1.0 }
}

#[cfg(test)]
mod tests;
