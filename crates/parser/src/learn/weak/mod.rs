//! Learning without a treebank: from what is known of a language, from a few trees, from sureness.
//!
//! Raw sentences are learnt from by [expectations](crate::learn::objective::expectation) that somebody has of their
//! arcs; trees, whole or partial, by their likelihood; and raw sentences again by their
//! [entropy](crate::learn::objective::renyi), if the model is to make up its mind. All of it is one objective,
//!
//! ```text
//! F(w) = C_G Σ_q S(t_q, E_q)  −  C_L Σ_{trees} log p(y)  +  γ Σ_raw R_α(p)  +  ‖w‖² / 2σ²
//! ```
//!
//! made small by L-BFGS, not convex, from w = 0 where all trees are alike. Its value and gradient take two
//! passes over the sentences, O(n³) each: the first sums up the expectations, the second sends back what
//! each of them is off by. Entropy comes last: what it decides, it decides where trees and expectations
//! have led to. Sums are of [`SHARDS`] parts in their order, so the result is the same for any
//! number of threads.

mod evidence;
mod problem;
mod rows;
mod variance;

use tutte_linear::gaussian;
use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

use self::problem::Problem;
use crate::features::FeatureSet;
use crate::learn::objective::expectation::{Criterion, Wanted};
use crate::learn::optimizer::lbfgs::Minimiser;
use crate::learn::train::Verdict;
use crate::{Candidates, Error, LabelModel, ParserModel};
pub use variance::{Chosen, VARIANCES, choose_variance};

/// The parts of a corpus whose sums are computed apart, each by one thread.
pub const SHARDS: usize = 16;

/// What is known of a corpus.
#[derive(Clone, Debug, Default)]
pub struct Evidence<'a> {
    /// Sentences whose heads nobody looks at.
    pub raw: &'a [Sentence],
    /// What is expected of them.
    pub constraints: Vec<Constraint>,
    /// By sentence, the arcs that constraints are about: head, dependent, number of the constraint.
    pub arcs: Vec<Vec<(usize, usize, usize)>>,
    /// By sentence, the arcs that are possible; all, if there are no such lists. Sentences which these
    /// leave without a tree are not learnt from.
    pub candidates: Vec<Candidates>,
    /// Trees, which may be known in part.
    pub trees: &'a [Sentence],
}

/// An expectation: the sum of the probabilities of some arcs, as a share of something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constraint {
    /// What it is a share of: the number of candidate pairs, of words, of words with a candidate.
    pub of: f64,
    /// What it should be.
    pub wanted: Wanted,
    /// Whether it is one of a group that shares out all heads of a kind of word among them, so that
    /// [`Criterion::Kl`] says something; those that are not are compared as a yes-or-no.
    pub grouped: bool,
}

/// How to learn.
#[derive(Clone, Debug)]
pub struct WeakOptions {
    /// How expectations are compared with their targets.
    pub criterion: Criterion,
    /// Whether gradients of expectations are approximated as in the paper, for comparison.
    pub approximate: bool,
    /// σ², the variance of the prior on weights.
    pub prior_variance: f64,
    /// C_G, how much expectations count together.
    pub rules_weight: f64,
    /// C_L, how much a tree counts.
    pub trees_weight: f64,
    /// The order α and the weight γ of the entropy of raw sentences, if that is to be made small.
    pub entropy: Option<(f64, f64)>,
    /// What arcs are looked at by.
    pub templates: FeatureSet,
    /// On how many arcs a feature must have been seen, right or wrong, to have a weight.
    pub least: u32,
    /// The trees that are possible.
    pub tree_set: TreeSet,
    /// Steps of L-BFGS at most, and as many again where entropy comes last.
    pub steps: usize,
    /// It ends when a step gains less than this share of the objective.
    pub tolerance: f64,
    /// From how many random points to start besides 0; the best objective counts, never an accuracy.
    pub restarts: usize,
    /// Of the random points.
    pub seed: u64,
    /// How many threads may work at once; the result is the same for any number.
    pub threads: usize,
}

impl Default for WeakOptions {
    /// As in the paper, with what it leaves open chosen; but with features and a prior that have shown to
    /// be better (docs/results/weak-supervision.md), and trees with one root.
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

/// How far learning is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Steps done, from the last start.
    pub step: usize,
    /// From which point, 0 for w = 0.
    pub start: usize,
    /// F.
    pub objective: f64,
    /// The part of it that is about expectations, trees, entropy, the prior.
    pub terms: [f64; 4],
    /// E_q now.
    pub expectations: Vec<f64>,
}

/// A step that was done.
pub struct Step<'a> {
    /// How far it has led.
    pub progress: &'a Progress,
    problem: &'a Problem<'a>,
}

impl Step<'_> {
    /// The parser as it is now.
    pub fn model(&self) -> ParserModel {
        let problem = self.problem;
        ParserModel::new(problem.arcs_now(), LabelModel::none(), problem.options().tree_set)
    }
}

impl std::fmt::Debug for Step<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Step").field("progress", self.progress).finish_non_exhaustive()
    }
}

/// What was learnt.
#[derive(Clone, Debug)]
pub struct Learnt {
    /// The parser, without labels.
    pub model: ParserModel,
    /// The expectations of a model that knows nothing: all trees alike.
    pub before: Vec<f64>,
    /// How it ended.
    pub after: Progress,
    /// Raw sentences that were left without a tree, by their numbers.
    pub impossible: Vec<usize>,
}

/// Learns a parser of bare trees from what is known; `watch` sees every step, and may stop.
///
/// ```
/// use tutte::Parser;
/// use tutte::learn::objective::expectation::Wanted;
/// use tutte::weak::{Constraint, Evidence, WeakOptions, learn};
/// use tutte_treebank::Sentence;
///
/// // Three sentences of "noun verb", and the rule that nouns hang from verbs, nine times of ten.
/// let sentence: Sentence =
///     "1\tBirds\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\tsing\t_\tVERB\t_\t_\t_\t_\t_\t_\n".parse()?;
/// let raw = vec![sentence; 3];
/// let evidence = Evidence {
///     raw: &raw,
///     constraints: vec![Constraint { of: 3.0, wanted: Wanted::exactly(0.9), grouped: false }],
///     arcs: vec![vec![(2, 1, 0)]; 3],
///     ..Evidence::default()
/// };
/// let options = WeakOptions { least: 1, prior_variance: 1000.0, ..WeakOptions::default() };
/// let learnt = learn(&evidence, &options, |_| {})?;
/// assert!((learnt.after.expectations[0] - 0.9).abs() < 0.01);
/// assert_eq!(Parser::new(&learnt.model).parse(&raw[0])?.tree.heads(), [2, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::NoWords`] if there is nothing to learn from, [`Error::Setting`] for numbers that make no
/// sense or arcs and constraints that are not there, [`Error::Contradiction`] for trees that are none,
/// [`Error::Diverged`].
pub fn learn<V: Verdict>(
    evidence: &Evidence<'_>,
    options: &WeakOptions,
    mut watch: impl FnMut(&Step<'_>) -> V,
) -> Result<Learnt, Error> {
    check(evidence, options)?;
    let mut problem = Problem::new(evidence, options)?;
    let impossible = problem.impossible.clone();
    let told = !evidence.constraints.is_empty() || !evidence.trees.is_empty();
    let stages: &[bool] = match options.entropy {
        Some((_, weight)) if weight > 0.0 && told => &[false, true],
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
        let (mut steps, mut stopped) = (0, false);
        for &decides in stages {
            problem.decides = decides;
            (x, steps, stopped) = descend(&mut problem, x, (start, steps), &mut watch)?;
            if stopped {
                break;
            }
        }
        let progress = problem.progress(start, steps);
        // One that was stopped is not compared with those that were not.
        let better = |best: &(_, Progress)| !stopped && progress.objective < best.1.objective;
        if best.as_ref().is_none_or(better) {
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
    Ok(Learnt { model, before, after, impossible })
}

/// Goes down from a point until little is gained: where that is, after how many steps of this start, and
/// whether it was stopped.
fn descend<V: Verdict>(
    problem: &mut Problem<'_>,
    x: Vec<f64>,
    (start, before): (usize, usize),
    watch: &mut impl FnMut(&Step<'_>) -> V,
) -> Result<(Vec<f64>, usize, bool), Error> {
    let WeakOptions { steps, tolerance, .. } = *problem.options();
    let mut minimiser = Minimiser::new(x, MEMORY, &mut |x: &[f64], slopes: &mut [f64]| {
        problem.evaluate(x, slopes)
    })?;
    let mut step = before;
    while step < before + steps {
        step += 1;
        let last = minimiser.value;
        let went =
            minimiser.step(&mut |x: &[f64], gradient: &mut [f64]| problem.evaluate(x, gradient))?;
        // A search may have looked further than it went.
        problem.move_to(&minimiser.x)?;
        let progress = problem.progress(start, step);
        if watch(&Step { progress: &progress, problem }).stops() {
            return Ok((minimiser.x, step, true));
        }
        let gained = last - minimiser.value;
        if !went || gained <= tolerance * last.abs().max(1e-9) {
            break;
        }
    }
    problem.move_to(&minimiser.x)?;
    Ok((minimiser.x, step, false))
}

/// How many steps back L-BFGS remembers.
const MEMORY: usize = 10;

fn check(evidence: &Evidence<'_>, options: &WeakOptions) -> Result<(), Error> {
    let Evidence { raw, constraints, arcs, candidates, .. } = evidence;
    let wrong = |why: String| Err(Error::Setting(why));
    let positive = |number: f64| number > 0.0 && number.is_finite();
    if !positive(options.prior_variance) {
        let found = options.prior_variance;
        return wrong(format!("the prior's variance is {found}, but must be positive"));
    }
    let weights = [
        options.rules_weight,
        options.trees_weight,
        options.entropy.map_or(0.0, |(_, weight)| weight),
    ];
    if !weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0) {
        return wrong(format!("the weights of signals are {weights:?}, but must be 0 or more"));
    }
    if options.entropy.is_some_and(|(order, _)| order.is_nan() || order < 0.0) {
        return wrong("the order of an entropy must be 0 or more".to_owned());
    }
    let lists = [arcs.len(), candidates.len()];
    if lists.iter().any(|list| *list != 0 && *list != raw.len()) {
        return wrong(format!("there are {} sentences, but lists for {lists:?}", raw.len()));
    }
    for (number, constraint) in constraints.iter().enumerate() {
        let Constraint { of, wanted, .. } = constraint;
        let range = (0.0..=1.0).contains(&wanted.low) && (wanted.low..=1.0).contains(&wanted.high);
        if !(positive(*of) && range && wanted.weight.is_finite() && wanted.weight >= 0.0) {
            return wrong(format!(
                "constraint {number} is of {of}, from {} to {}, with weight {}; shares are between 0 and \
                 1, of something",
                wanted.low, wanted.high, wanted.weight
            ));
        }
    }
    for (sentence, list) in raw.iter().zip(arcs) {
        let words = sentence.len();
        for &(head, word, constraint) in list {
            let is_arc = head <= words && (1..=words).contains(&word) && head != word;
            if !is_arc || constraint >= constraints.len() {
                return wrong(format!(
                    "{}: there is no arc {head} → {word}, or no constraint {constraint}",
                    sentence.place()
                ));
            }
        }
    }
    Ok(())
}

/// A random point near 0.
fn noise(count: usize, seed: u64, start: usize) -> Vec<f64> {
    const DEVIATION: f64 = 0.01;
    let seed = seed.wrapping_add((start as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut draw = gaussian(seed);
    (0..count).map(|_| DEVIATION * draw()).collect()
}

#[cfg(test)]
mod tests;
