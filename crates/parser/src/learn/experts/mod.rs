//! Combining experts: weights for the log-probabilities of several trained models (Smith & Eisner 2006, §6).
//!
//! ```text
//! s(e) = Σ_k θ_k s_k(e)        p(y) ∝ exp γ Σ_{e ∈ y} s(e)        ∂F/∂θ_k = Σ_e s_k(e) ∂F/∂s(e)
//! ```
//!
//! A product of arc-factored experts is arc-factored, so sums over all trees are exact, in O(n³) per sentence: the
//! *forest*. [Lists](lists) of candidates are the way of the paper, and the only one for the minimum error, which has no
//! gradient. The log Z of an expert is the same for all trees of a sentence, and is left out.
//!
//! Three criteria: the likelihood of gold trees; the number of errors of the best trees; and [annealed
//! risk](crate::learn::annealing). The weights of experts are few, so each optimum is found by L-BFGS, or by exact line
//! searches.
//!
//! ```
//! # let text = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\t_\tVERB\t_\t_\t0\troot\t_\t_\n";
//! # let treebank: Vec<tutte_treebank::Sentence> = vec![text.parse()?, text.parse()?];
//! use tutte::learn::experts::{Criterion, ExpertSentence, combine, product};
//! use tutte::{TrainingOptions, train};
//!
//! let options = TrainingOptions::plain().with_bits(12).with_label_bits(6);
//! let expert = |seed| train(&treebank, &options.clone().with_passes(2).with_seed(seed), &mut ());
//! let experts = [expert(1)?.compact(), expert(2)?.compact()];
//! let scored = ExpertSentence::of_treebank(&experts, &treebank, 1)?;
//! let combined = combine(&scored, &[], options.tree_set, &Criterion::Likelihood)?;
//! assert_eq!(combined.weights.len(), 2);
//! let model = product(&experts, &combined.weights)?; // one model, as fast as one expert
//! # let _ = model;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`fit_precision`] fits weights by the precision of partial analyses.
//!
//! - D. A. Smith & J. Eisner (2006). Minimum risk annealing for training log-linear models.
//! - F. J. Och (2003). Minimum error rate training in statistical machine translation.

mod forest;
pub mod lists;
mod precision;
mod product;

use tutte_trees::TreeSet;

pub use self::forest::ExpertSentence;
use self::forest::Forest;
use self::lists::{Candidate, Lists, merge};
pub use self::precision::{PartialCandidate, fit_precision};
pub use self::product::product;
use crate::Error;
use crate::learn::annealing::{AnnealedStage, Annealing, StageSettings};
use crate::learn::optimizer::lbfgs::Minimiser;

/// Largest number of steps of L-BFGS in a stage.
const STEPS: usize = 200;
/// Number of past steps that L-BFGS keeps.
const MEMORY: usize = 10;
/// A stage has converged when the largest slope is below this, times max(1, ‖θ‖).
const TOLERANCE: f64 = 1e-7;

/// Quantity that weights are fitted by.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Criterion {
    /// Highest probability of the gold trees; in lists, of the candidates with the fewest errors.
    Likelihood,
    /// Fewest errors of the best trees, by exact line searches from several starts (Och 2003). Only for lists.
    MinimumError {
        /// Number of random starts besides the first.
        restarts: usize,
        /// Seed of these starts.
        seed: u64,
    },
    /// Annealed risk.
    AnnealedRisk(Annealing),
}

/// Weights of experts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Combined {
    /// θ, one weight for each expert; of the best stage on held-out data, if there are any.
    pub weights: Vec<f64>,
    /// Stages of annealing.
    pub stages: Vec<AnnealedStage>,
    /// Number of errors of the best trees of the data that the weights were fitted on.
    pub errors: f64,
    /// Number of rounds of decoding; 0 without lists.
    pub rounds: usize,
}

/// Data that weights are fitted on.
pub(super) trait Data {
    /// Returns the number of experts.
    fn experts(&self) -> usize;

    /// Returns −log p of the best analyses at γ = 1, and adds its derivatives by the weights to `gradient`.
    fn likelihood(&self, weights: &[f64], gradient: &mut [f64]) -> Result<f64, Error>;

    /// Returns R and H at γ, and writes their derivatives by the weights.
    fn risk_and_entropy(
        &self,
        weights: &[f64],
        gamma: f64,
        gradients: [&mut [f64]; 2],
    ) -> Result<[f64; 2], Error>;

    /// Returns the number of errors of the best analyses, and these analyses as numbers, one or more per sentence.
    fn best(&self, weights: &[f64]) -> Result<(f64, Vec<usize>), Error>;
}

/// Fits weights in the forest. Risk is that of one error per wrong word, see [`ExpertSentence::gold`]. Held-out data
/// may be empty; it ends the cooling, and chooses the stage.
///
/// # Errors
/// [`Error::Setting`] for [`Criterion::MinimumError`], or if a schedule is not monotone; [`Error::NothingToJudge`] without
/// sentences; [`Error::Trees`] if a sentence has no tree.
pub fn combine(
    sentences: &[ExpertSentence],
    held_out: &[ExpertSentence],
    tree_set: TreeSet,
    criterion: &Criterion,
) -> Result<Combined, Error> {
    if let Criterion::MinimumError { .. } = criterion {
        return Err(Error::Setting(
            "the minimum error has no gradient over all trees; use lists of candidates".to_owned(),
        ));
    }
    let data = Forest { sentences, tree_set };
    let held_out = Forest { sentences: held_out, tree_set };
    let experts = sentences.first().ok_or(Error::NothingToJudge)?.experts.len();
    fit(&data, &held_out, criterion, &vec![0.0; experts])
}

/// Fits weights on lists of the `k` best trees (Och 2003): decodes, merges the trees into the lists and fits again,
/// until no list grows, in at most `rounds` rounds. At first, the experts have equal weights.
///
/// # Errors
/// As [`combine`].
pub fn combine_lists(
    sentences: &[ExpertSentence],
    held_out: &[ExpertSentence],
    tree_set: TreeSet,
    criterion: &Criterion,
    (k, rounds): (usize, usize),
) -> Result<Combined, Error> {
    let experts = sentences.first().ok_or(Error::NothingToJudge)?.experts.len();
    let held_out = Forest { sentences: held_out, tree_set };
    let mut lists = Lists { lists: vec![Vec::new(); sentences.len()] };
    let mut weights = vec![1.0 / experts as f64; experts];
    let mut combined = None;
    for round in 1..=rounds.max(1) {
        let mut grown = 0;
        for (sentence, list) in sentences.iter().zip(&mut lists.lists) {
            grown += merge(list, sentence.kbest(&weights, k, tree_set)?);
        }
        if grown == 0 {
            break;
        }
        let found = fit(&lists, &held_out, criterion, &weights)?;
        weights.clone_from(&found.weights);
        combined = Some(Combined { rounds: round, ..found });
    }
    combined.ok_or(Error::NothingToJudge)
}

/// Fits weights on lists of candidates.
///
/// # Errors
/// [`Error::Setting`] if candidates differ in their number of features, have a loss that is negative or not a number, or
/// if a schedule is not monotone; [`Error::NothingToJudge`] without candidates.
pub fn fit_lists(lists: Vec<Vec<Candidate>>, criterion: &Criterion) -> Result<Combined, Error> {
    let lists = Lists::new(lists)?;
    let start = vec![0.0; lists.experts()];
    fit(&lists, &Lists::default(), criterion, &start)
}

/// Fits weights. Likelihood and annealed risk start from 0, minimum error from `start`.
fn fit<D: Data + LineSearch>(
    data: &D,
    held_out: &impl Data,
    criterion: &Criterion,
    start: &[f64],
) -> Result<Combined, Error> {
    let mut stages = Vec::new();
    let weights = match criterion {
        Criterion::Likelihood => {
            let mut function = |weights: &[f64], gradient: &mut [f64]| {
                gradient.fill(0.0);
                data.likelihood(weights, gradient)
            };
            minimise(&vec![0.0; start.len()], &mut function)?
        }
        Criterion::MinimumError { restarts, seed } => {
            data.minimum_error(start, *restarts, *seed)?
        }
        Criterion::AnnealedRisk(annealing) => {
            let (weights, all) = anneal(data, held_out, annealing, start.len())?;
            stages = all;
            weights
        }
    };
    let errors = data.best(&weights)?.0;
    Ok(Combined { weights, stages, errors, rounds: 0 })
}

/// Data on which the number of errors along a line is known exactly.
trait LineSearch: Data {
    fn minimum_error(&self, start: &[f64], restarts: usize, seed: u64) -> Result<Vec<f64>, Error>;
}

impl LineSearch for Forest<'_> {
    fn minimum_error(&self, start: &[f64], _: usize, _: u64) -> Result<Vec<f64>, Error> {
        Ok(start.to_vec())
    }
}

impl LineSearch for Lists {
    fn minimum_error(&self, start: &[f64], restarts: usize, seed: u64) -> Result<Vec<f64>, Error> {
        self.fewest_errors(start, restarts, seed)
    }
}

/// Anneals the risk from θ = 0. Returns γθ of the best stage: on held-out data, or the last.
fn anneal(
    data: &impl Data,
    held_out: &impl Data,
    annealing: &Annealing,
    experts: usize,
) -> Result<(Vec<f64>, Vec<AnnealedStage>), Error> {
    annealing.check()?;
    let mut walk = annealing.walk(None);
    let mut weights = vec![0.0; experts];
    let mut trees = data.best(&weights)?.1;
    let mut stages = Vec::new();
    let mut best: Option<(f64, Vec<f64>)> = None;
    while let Some(settings) = walk.next() {
        weights = minimise(&weights, &mut |weights, gradient| {
            objective(data, settings, weights, gradient)
        })?;
        let StageSettings { temperature, gamma } = settings;
        let mut unused = [vec![0.0; experts], vec![0.0; experts]];
        let [risk, entropy] =
            data.risk_and_entropy(&weights, gamma, unused.each_mut().map(|g| &mut g[..]))?;
        let (errors, found) = data.best(&weights)?;
        let changed = found.iter().zip(&trees).filter(|(new, old)| new != old).count();
        trees = found;
        let held_out_errors =
            if held_out.experts() == 0 { None } else { Some(held_out.best(&weights)?.0) };
        let stage = AnnealedStage {
            temperature: Some(temperature),
            gamma,
            risk,
            entropy,
            norm: gamma * weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt(),
            errors,
            held_out_errors,
            changed,
        };
        walk.record(&stage);
        stages.push(stage);
        let score = held_out_errors.unwrap_or(0.0);
        if best.as_ref().is_none_or(|(least, _)| score <= *least) {
            best = Some((score, weights.iter().map(|weight| gamma * weight).collect()));
        }
    }
    Ok((best.map_or(weights, |(_, weights)| weights), stages))
}

/// Returns R − T · H and its derivatives.
pub(super) fn objective(
    data: &impl Data,
    StageSettings { temperature, gamma }: StageSettings,
    weights: &[f64],
    gradient: &mut [f64],
) -> Result<f64, Error> {
    let mut of_entropy = vec![0.0; weights.len()];
    let [risk, entropy] =
        data.risk_and_entropy(weights, gamma, [&mut *gradient, &mut of_entropy])?;
    gradient.iter_mut().zip(of_entropy).for_each(|(sum, slope)| *sum -= temperature * slope);
    Ok(risk - temperature * entropy)
}

fn minimise(
    start: &[f64],
    function: &mut impl FnMut(&[f64], &mut [f64]) -> Result<f64, Error>,
) -> Result<Vec<f64>, Error> {
    let mut minimiser = Minimiser::new(start.to_vec(), MEMORY, function)?;
    for _ in 0..STEPS {
        if minimiser.is_at_rest(TOLERANCE) || !minimiser.step(function)? {
            break;
        }
    }
    Ok(minimiser.x)
}

#[cfg(test)]
mod tests;
