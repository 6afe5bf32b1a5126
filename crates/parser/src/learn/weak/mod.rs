//! Weak supervision: trains a parser from constraints on raw text, a few trees, and entropy (Druck, Mann & McCallum
//! 2009; Smith & Eisner 2007).
//!
//! The objective has three sources: [expectations](crate::learn::objective::expectation) of arcs in raw sentences, the
//! likelihood of complete or partial trees, and the [entropy](crate::learn::objective::renyi) of raw sentences,
//!
//! ```text
//! F(w) = C_G Σ_q S(t_q, E_q)  −  C_L Σ_{trees} log p(y)  +  γ Σ_raw R_α(p)  +  ‖w‖² / 2σ²
//! ```
//!
//! L-BFGS minimises F from w = 0, where all trees have the same probability. F is not convex. Its value and gradient
//! take two passes over the sentences, O(n³) per sentence: the first sums the expectations, the second propagates
//! their losses back to weights. The entropy term joins after the others have converged, so that it sharpens a
//! distribution they have shaped. Sums over a fixed number of shards are added in order, so the result is the same for any
//! number of threads.

mod data;
mod feature_cells;
mod problem;
mod variance;

use std::sync::Arc;

use tutte_linear::{Observer, gaussian, seed_of_stream};
use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

use self::problem::Problem;
use crate::features::FeatureSet;
use crate::learn::objective::expectation::{Criterion, Wanted};
use crate::learn::optimizer::lbfgs::Minimiser;
use crate::rules::RuleSet;
use crate::{Candidates, Error, LabelModel, ParserModel};
pub use variance::{Chosen, TriedVariance, VARIANCES, choose_variance};

/// Greatest number of [restarts](WeakOptions::restarts).
pub const MOST_RESTARTS: usize = 10_000;

/// Number of shards of a corpus. Each is summed by one thread.
const SHARDS: usize = 16;

/// The training data: raw sentences with constraints, and trees.
#[derive(Clone, Debug, Default)]
pub struct WeakData<'a> {
    /// Raw sentences. Their heads are ignored.
    pub raw: &'a [Sentence],
    /// Constraints on the raw sentences.
    pub constraints: Vec<ExpectationConstraint>,
    /// For each raw sentence, the arcs that constraints match: head, dependent, index of the constraint.
    pub arcs: Vec<Vec<(usize, usize, usize)>>,
    /// Candidate arcs of each raw sentence. If this is empty, all arcs are candidates. Sentences without a tree of
    /// candidates are left out.
    pub candidates: Vec<Candidates>,
    /// Sentences with gold trees, which may be partial.
    pub trees: &'a [Sentence],
    /// Rules that every tree must satisfy, also in the parser that is learnt. Candidates must agree with them.
    pub rules: Option<Arc<RuleSet>>,
}

/// A constraint on an expectation: the sum of the probabilities of some arcs, divided by a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectationConstraint {
    /// c_q, the count that the sum is divided by: candidate pairs, words, or words with a candidate.
    pub of: f64,
    /// Target range of the share.
    pub wanted: Wanted,
    /// True if it is one of a group that together covers all heads of some words. [`Criterion::Kl`] applies only to
    /// groups; for other constraints [`Criterion::KlBernoulli`] takes its place.
    pub grouped: bool,
}

impl ExpectationConstraint {
    /// Returns the weighted loss of an expectation and its derivative, see [`Wanted::loss`].
    pub(crate) fn loss(&self, expectation: f64, criterion: Criterion) -> (f64, f64) {
        let criterion = match criterion {
            Criterion::Kl if !self.grouped => Criterion::KlBernoulli,
            criterion => criterion,
        };
        self.wanted.loss(expectation, criterion)
    }
}

/// Options of weak supervision.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WeakOptions {
    /// Loss of an expectation that misses its target.
    pub criterion: Criterion,
    /// Approximates the gradients of expectations as in the paper, for comparison.
    pub approximate: bool,
    /// σ², the variance of the prior on weights.
    pub prior_variance: f64,
    /// C_G, the weight of all expectations.
    pub rules_weight: f64,
    /// C_L, the weight of each tree.
    pub trees_weight: f64,
    /// Order α and weight γ of the entropy of raw sentences; `None` leaves the term out.
    pub entropy: Option<(f64, f64)>,
    /// Feature templates of arcs.
    pub templates: FeatureSet,
    /// Number of arcs, right or wrong, on which a feature must occur to have a weight.
    pub least: u32,
    /// Set of trees that the model is over.
    pub tree_set: TreeSet,
    /// Limit on steps of L-BFGS. The stage with entropy has the same limit again.
    pub steps: usize,
    /// Relative decrease of the objective below which training ends.
    pub tolerance: f64,
    /// Number of random starting points besides 0. The result is the one with the lowest objective.
    pub restarts: usize,
    /// Seed of the random starting points.
    pub seed: u64,
    /// Number of threads; the result is the same for any number.
    pub threads: usize,
}

tutte_linear::setters! {
    WeakOptions {
        with_criterion => criterion: Criterion,
        with_approximate => approximate: bool,
        with_prior_variance => prior_variance: f64,
        with_rules_weight => rules_weight: f64,
        with_trees_weight => trees_weight: f64,
        with_entropy => entropy: Option<(f64, f64)>,
        with_templates => templates: FeatureSet,
        with_least => least: u32,
        with_tree_set => tree_set: TreeSet,
        with_steps => steps: usize,
        with_tolerance => tolerance: f64,
        with_restarts => restarts: usize,
        with_seed => seed: u64,
        with_threads => threads: usize,
    }
}

impl Default for WeakOptions {
    /// Returns the options of the paper, except for trees with a single root, and for features and a prior that
    /// `docs/results/weak-supervision.md` compares.
    fn default() -> Self {
        Self {
            criterion: Criterion::Squared,
            approximate: false,
            prior_variance: 300.0,
            rules_weight: 1.0,
            trees_weight: 1.0,
            entropy: None,
            templates: FeatureSet::tags(),
            least: 10,
            tree_set: TreeSet::NonProjectiveSingleRoot,
            steps: 200,
            tolerance: 1e-5,
            restarts: 0,
            seed: 1,
            threads: 1,
        }
    }
}

/// State of the training after a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Number of steps since the last start.
    pub step: usize,
    /// Index of the starting point; 0 is w = 0.
    pub start: usize,
    /// F.
    pub objective: f64,
    /// Terms of F: expectations, trees, entropy, prior.
    pub terms: [f64; 4],
    /// E_q of each constraint.
    pub expectations: Vec<f64>,
}

/// A completed step, for the observer.
pub struct WeakStep<'a> {
    /// State after the step.
    pub progress: &'a Progress,
    problem: &'a Problem<'a>,
}

impl WeakStep<'_> {
    /// Returns the parser after the step.
    pub fn model(&self) -> ParserModel {
        let problem = self.problem;
        let model =
            ParserModel::new(problem.arcs_now(), LabelModel::none(), problem.options().tree_set);
        ParserModel { rules: problem.rules(), ..model }
    }
}

impl std::fmt::Debug for WeakStep<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WeakStep").field("progress", self.progress).finish_non_exhaustive()
    }
}

/// Result of the training.
#[derive(Clone, Debug)]
pub struct WeakOutcome {
    /// The parser, without labels.
    pub model: ParserModel,
    /// E_q of each constraint at w = 0, where all trees have the same probability.
    pub before: Vec<f64>,
    /// State at the end.
    pub after: Progress,
    /// Indices of raw sentences that were left out because their candidates allow no tree.
    pub impossible: Vec<usize>,
}

/// Trains a parser of unlabelled trees. `watch` is called after every step, and may stop the training.
///
/// ```
/// use tutte::Parser;
/// use tutte::learn::objective::expectation::Wanted;
/// use tutte::weak::{ExpectationConstraint, WeakData, WeakOptions, learn};
/// use tutte_treebank::Sentence;
///
/// // Three sentences "noun verb", and the rule that nine in ten nouns have a verb as their head.
/// let sentence: Sentence =
///     "1\tBirds\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\tsing\t_\tVERB\t_\t_\t_\t_\t_\t_\n".parse()?;
/// let raw = vec![sentence; 3];
/// let evidence = WeakData {
///     raw: &raw,
///     constraints: vec![ExpectationConstraint { of: 3.0, wanted: Wanted::exactly(0.9), grouped: false }],
///     arcs: vec![vec![(2, 1, 0)]; 3],
///     ..WeakData::default()
/// };
/// let options = WeakOptions::default().with_least(1).with_prior_variance(1000.0);
/// let learnt = learn(&evidence, &options, &mut ())?;
/// assert!((learnt.after.expectations[0] - 0.9).abs() < 0.01);
/// assert_eq!(Parser::new(&learnt.model).parse(&raw[0])?.tree.heads(), [2, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::NoWords`] if there are no words; [`Error::Treebank`] if a sentence has too many; [`Error::Setting`] if an option is out of range, or if an arc or a
/// constraint does not exist; [`Error::Contradiction`] if the heads of a sentence fit no tree; [`Error::Diverged`] if
/// inference fails.
pub fn learn(
    evidence: &WeakData<'_>,
    options: &WeakOptions,
    observer: &mut dyn for<'s> Observer<WeakStep<'s>>,
) -> Result<WeakOutcome, Error> {
    check(evidence, options)?;
    let mut problem = Problem::new(evidence, options)?;
    let impossible = problem.impossible.clone();
    let has_supervision = !evidence.constraints.is_empty() || !evidence.trees.is_empty();
    // For each stage, `true` if the entropy term is part of F.
    let stages: &[bool] = match options.entropy {
        Some((_, weight)) if weight > 0.0 && has_supervision => &[false, true],
        Some((_, weight)) if weight > 0.0 => &[true],
        _ => &[false],
    };
    let mut best: Option<(Vec<f64>, Progress)> = None;
    let mut before = Vec::new();
    for start in 0..=options.restarts {
        let mut x = problem.start(start, options.seed);
        if start == 0 {
            problem.move_to(&x)?;
            before = problem.expectations().to_vec();
        }
        let mut steps = 0;
        let mut stopped = false;
        for &uses_entropy in stages {
            problem.uses_entropy = uses_entropy;
            (x, steps, stopped) = descend(&mut problem, x, (start, steps), observer)?;
            if stopped {
                break;
            }
        }
        let progress = problem.progress(start, steps);
        // A stopped run does not replace a complete one.
        let is_better = |best: &(_, Progress)| !stopped && progress.objective < best.1.objective;
        if best.as_ref().is_none_or(is_better) {
            best = Some((x, progress));
        }
        if stopped {
            break;
        }
    }
    let (x, after) = match best {
        Some(best) => best,
        None => (problem.start(0, options.seed), problem.progress(0, 0)),
    };
    let model = ParserModel::new(problem.arcs(&x), LabelModel::none(), options.tree_set);
    let model = ParserModel { rules: evidence.rules.clone(), ..model };
    Ok(WeakOutcome { model, before, after, impossible })
}

/// Minimises F from a point until a step gains too little. Returns the last point, the number of steps since this start,
/// and `true` if the observer stopped the training.
fn descend(
    problem: &mut Problem<'_>,
    x: Vec<f64>,
    (start, before): (usize, usize),
    observer: &mut dyn for<'s> Observer<WeakStep<'s>>,
) -> Result<(Vec<f64>, usize, bool), Error> {
    let WeakOptions { steps, tolerance, .. } = *problem.options();
    let mut minimiser = Minimiser::new(x, MEMORY, &mut |x: &[f64], slopes: &mut [f64]| {
        problem.evaluate(x, slopes)
    })?;
    let mut step = before;
    while step < before + steps {
        step += 1;
        let last = minimiser.value;
        let moved =
            minimiser.step(&mut |x: &[f64], gradient: &mut [f64]| problem.evaluate(x, gradient))?;
        // The last evaluation of the line search may not be at the accepted point.
        problem.move_to(&minimiser.x)?;
        let progress = problem.progress(start, step);
        if observer.observe(WeakStep { progress: &progress, problem }).is_break() {
            return Ok((minimiser.x, step, true));
        }
        let gained = last - minimiser.value;
        if !moved || gained <= tolerance * last.abs().max(1e-9) {
            break;
        }
    }
    problem.move_to(&minimiser.x)?;
    Ok((minimiser.x, step, false))
}

/// Number of past steps that L-BFGS keeps.
const MEMORY: usize = 10;

fn check(evidence: &WeakData<'_>, options: &WeakOptions) -> Result<(), Error> {
    let WeakData { raw, constraints, arcs, candidates, trees, rules: _ } = evidence;
    let wrong = |why: String| Err(Error::Setting(why));
    let positive = |number: f64| number > 0.0 && number.is_finite();
    if !positive(options.prior_variance) {
        let found = options.prior_variance;
        return wrong(format!(
            "the variance of the prior is {found}; it must be a positive number"
        ));
    }
    let weights = [
        options.rules_weight,
        options.trees_weight,
        options.entropy.map_or(0.0, |(_, weight)| weight),
    ];
    if !weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0) {
        let [rules, trees, entropy] = weights;
        return wrong(format!(
            "the weights of rules, trees and entropy are {rules}, {trees} and {entropy}; each must be 0 or more"
        ));
    }
    if let Some((order, _)) = options.entropy.filter(|(order, _)| order.is_nan() || *order < 0.0) {
        return wrong(format!("the order of the entropy is {order}; it must be 0 or more, or inf"));
    }
    if options.restarts > MOST_RESTARTS {
        return wrong(format!(
            "{} restarts would take too long; choose at most {MOST_RESTARTS}",
            options.restarts
        ));
    }
    raw.iter().chain(*trees).try_for_each(|sentence| sentence.check_words("learning"))?;
    for (name, found) in [("arcs", arcs.len()), ("candidates", candidates.len())] {
        if found != 0 && found != raw.len() {
            return wrong(format!(
                "{name} has {found} lists for {} raw sentences; give one list per sentence, or none",
                raw.len()
            ));
        }
    }
    for (number, constraint) in constraints.iter().enumerate() {
        let ExpectationConstraint { of, wanted, .. } = constraint;
        let is_range =
            (0.0..=1.0).contains(&wanted.low) && (wanted.low..=1.0).contains(&wanted.high);
        if !is_range {
            return wrong(format!(
                "constraint {number} has the range {} to {}; bounds must be between 0 and 1, in order",
                wanted.low, wanted.high
            ));
        }
        if !positive(*of) {
            return wrong(format!(
                "constraint {number} is a share of {of}; `of` must be a positive number"
            ));
        }
        if !(wanted.weight.is_finite() && wanted.weight >= 0.0) {
            let weight = wanted.weight;
            return wrong(format!("constraint {number} has weight {weight}; it must be 0 or more"));
        }
    }
    for (sentence, list) in raw.iter().zip(arcs) {
        let words = sentence.len();
        for &(head, word, constraint) in list {
            let is_arc = head <= words && (1..=words).contains(&word) && head != word;
            if !is_arc {
                return wrong(format!(
                    "{}: there is no arc {head} → {word} in a sentence of {words} words",
                    sentence.place()
                ));
            }
            if constraint >= constraints.len() {
                return wrong(format!(
                    "{}: arc {head} → {word} names constraint {constraint}, but there are {} from 0 on",
                    sentence.place(),
                    constraints.len()
                ));
            }
        }
    }
    Ok(())
}

/// Returns a random point near 0.
fn noise(count: usize, seed: u64, start: usize) -> Vec<f64> {
    const DEVIATION: f64 = 0.01;
    let mut draw = gaussian(seed_of_stream(seed, start as u64));
    (0..count).map(|_| DEVIATION * draw()).collect()
}

#[cfg(test)]
mod tests;
