//! The arc-factored distribution with given marginals.
//!
//! For any distribution p over trees (a mixture, a second-order model, a pool of annotators), the
//! arc-factored q that minimises KL(p‖q) has the same arc marginals μ as p. It maximises
//!
//! ```text
//! D(s) = s·μ − log Z(s) − ε/2·‖s‖²        ∇D = μ − μ_q(s) − ε·s        ∇²D = −Cov_q(s) − ε·I
//! ```
//!
//! which is concave. Newton's method starts at s = log μ; conjugate gradients solve for the step, since
//! Cov_q·v is one call of [`arc_covariances_with`](crate::arc_covariances_with). O(n³) for each product.
//! A constant per word changes no probability, and the gradient is orthogonal to such changes: the null
//! space is harmless.
//!
//! A finite s exists if and only if μ lies in the relative interior of the hull of the trees whose arcs
//! all have μ > 0. At its border:
//!
//! * μ_e = 0: the arc is dropped; μ_e = 1: its rivals are dropped. What is left is fitted as before.
//! * A set of words is always entered by exactly one arc although the graph does not force it: s would
//!   diverge, and Newton's method converges only linearly. An L2 term, ε > 0, keeps s finite at the price
//!   of a small residual, about ε·|s|.
//! * μ is outside: the residual does not shrink with ε. That is an error.

use crate::workspace::{unchecked_arc_covariances, unchecked_marginals};
use crate::{ArcMatrix, Error, TreeDistribution, TreeSet, Workspace};

/// Options of [`fit_marginals`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MomentOptions {
    /// Largest difference between a marginal asked for and one reached.
    pub tolerance: f64,
    /// Largest number of Newton steps for each value of ε.
    pub max_steps: usize,
    /// Arcs with at most this marginal are dropped, and so are the rivals of an arc this near to 1.
    pub drop_below: f64,
    /// The ε of the L2 term that is used at the border only; 0 for none.
    pub l2: f64,
}

impl Default for MomentOptions {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_steps: 100, drop_below: 1e-12, l2: 1e-4 }
    }
}

/// The position of marginals in the polytope of trees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Border {
    /// Inside the hull of the trees that are left: the marginals are met.
    Inside,
    /// At its border, where scores would diverge: the fit has an L2 term.
    Regularised {
        /// Its weight ε.
        l2: f64,
    },
}

/// An arc-factored distribution fitted to marginals, and how well it fits.
#[derive(Clone, Debug)]
pub struct MomentMatch {
    /// The distribution.
    pub distribution: TreeDistribution,
    /// Largest difference between a marginal asked for and one reached.
    pub residual: f64,
    /// Number of Newton steps.
    pub steps: usize,
    /// Position of the marginals.
    pub border: Border,
    /// Number of arcs dropped because their marginal is 0.
    pub dropped_arcs: usize,
    /// Number of arcs of positive marginal dropped because a rival has marginal 1.
    pub dropped_rivals: usize,
}

impl MomentMatch {
    /// Makes the match of a distribution with its own marginals.
    pub fn exact(distribution: TreeDistribution) -> Self {
        Self {
            distribution,
            residual: 0.0,
            steps: 0,
            border: Border::Inside,
            dropped_arcs: 0,
            dropped_rivals: 0,
        }
    }
}

/// Largest deviation of a word's marginals from the sum 1 that is taken for rounding.
const ROUNDING: f64 = 1e-6;
/// Scores farther apart than this mean that the fit diverges.
const LARGEST_SPREAD: f64 = 60.0;
/// Number of successive full steps that gain little, after which convergence counts as linear.
const SLOW_STEPS: usize = 6;
/// Convergence may be linear far from the solution, but near it only at the border.
const SLOW_BELOW: f64 = 1e-6;
/// At the border scores move by about log 2 in each step. Shorter steps that gain little are rounding.
const LEAST_DIVERGING_STEP: f64 = 0.02;

/// Finds the arc-factored distribution over the trees of a set whose marginals are the given ones.
///
/// It is the nearest one, in KL(p‖q), to every distribution p with these marginals.
///
/// ```
/// use tutte_trees::{ArcMatrix, MomentOptions, TreeDistribution, TreeSet, fit_marginals};
/// let set = TreeSet::NonProjectiveSingleRoot;
/// let one = TreeDistribution::new(ArcMatrix::zeros(3), set)?;
/// let mut scores = ArcMatrix::zeros(3);
/// scores[(2, 1)] = 3.0;
/// let other = TreeDistribution::new(scores, set)?;
/// let mut mean = one.marginals().clone();
/// mean.zip_in_place(other.marginals(), |a, b| 0.5 * (a + b));
/// let fit = fit_marginals(&mean, set, &MomentOptions::default())?;
/// assert!(fit.residual < 1e-9);
/// assert!((fit.distribution.marginal(2, 1)? - mean[(2, 1)]).abs() < 1e-9);
/// assert!(fit.distribution.entropy() > 0.0); // and k-best, samples, conditioning …
/// # Ok::<(), tutte_trees::Error>(())
/// ```
///
/// # Errors
/// [`Error::BadMarginal`] if a marginal is not a probability; [`Error::HeadsDoNotSumToOne`] if those of a
/// word do not; [`Error::OutsidePolytope`] if no distribution over these trees has such marginals.
pub fn fit_marginals(
    marginals: &ArcMatrix,
    tree_set: TreeSet,
    options: &MomentOptions,
) -> Result<MomentMatch, Error> {
    let target = Target::new(marginals, options.drop_below)?;
    let mut newton = Newton::start(&target.marginals, tree_set)?;
    let mut outcome = newton.run(options, 0.0);
    let mut steps = outcome.steps;
    let mut border = Border::Inside;
    if outcome.is_border && options.l2 > 0.0 {
        // The fit with a smaller ε shows whether the residual vanishes with it.
        newton = Newton::start(&target.marginals, tree_set)?;
        outcome = newton.run(options, options.l2);
        let mut probe = newton.clone();
        let smaller = probe.run(options, options.l2 / 10.0);
        steps += outcome.steps + smaller.steps;
        border = Border::Regularised { l2: options.l2 };
        if smaller.residual > 0.5 * outcome.residual && smaller.residual > options.l2 {
            return Err(Error::OutsidePolytope { tree_set, residual: smaller.residual });
        }
    } else if outcome.is_border && outcome.residual > options.tolerance.max(1e-3) {
        return Err(Error::OutsidePolytope { tree_set, residual: outcome.residual });
    }
    Ok(MomentMatch {
        distribution: TreeDistribution::new(newton.scores, tree_set)?,
        residual: outcome.residual,
        steps,
        border,
        dropped_arcs: target.dropped_arcs,
        dropped_rivals: target.dropped_rivals,
    })
}

/// Marginals that were checked; dropped arcs are 0 and columns sum to 1.
struct Target {
    marginals: ArcMatrix,
    dropped_arcs: usize,
    dropped_rivals: usize,
}

impl Target {
    fn new(marginals: &ArcMatrix, drop_below: f64) -> Result<Self, Error> {
        let words = marginals.words();
        let mut kept = ArcMatrix::zeros(words);
        let mut dropped_arcs = 0;
        let mut dropped_rivals = 0;
        for (head, modifier, value) in marginals.arcs() {
            if !(-ROUNDING..=1.0 + ROUNDING).contains(&value) {
                return Err(Error::BadMarginal { head, modifier, value });
            }
            kept[(head, modifier)] = value.max(0.0);
        }
        for modifier in 1..=words {
            let heads = || (0..=words).filter(move |&head| head != modifier);
            let sum: f64 = heads().map(|head| kept[(head, modifier)]).sum();
            if (sum - 1.0).abs() > ROUNDING {
                return Err(Error::HeadsDoNotSumToOne { modifier, sum });
            }
            let certain = heads().find(|&head| kept[(head, modifier)] >= 1.0 - drop_below);
            for head in heads() {
                let value = &mut kept[(head, modifier)];
                let is_rival = certain.is_some_and(|certain| certain != head);
                if *value > drop_below && !is_rival {
                    continue;
                }
                if *value > 0.0 && is_rival {
                    dropped_rivals += 1;
                } else {
                    dropped_arcs += 1;
                }
                *value = 0.0;
            }
        }
        kept.normalise_columns(&mut Vec::new());
        Ok(Self { marginals: kept, dropped_arcs, dropped_rivals })
    }
}

/// The end of a run.
struct Outcome {
    residual: f64,
    steps: usize,
    /// True if the run diverged or converged linearly only.
    is_border: bool,
}

/// The state of Newton's method. Matrices are 0 at arcs that were dropped, except the scores.
#[derive(Clone)]
struct Newton<'a> {
    target: &'a ArcMatrix,
    tree_set: TreeSet,
    workspace: Workspace,
    scores: ArcMatrix,
    marginals: ArcMatrix,
    gradient: ArcMatrix,
    step: ArcMatrix,
    trial: ArcMatrix,
}

impl<'a> Newton<'a> {
    /// Starts at s = log μ.
    fn start(target: &'a ArcMatrix, tree_set: TreeSet) -> Result<Self, Error> {
        let words = target.words();
        let score = |head, modifier| {
            let p: f64 = target[(head, modifier)];
            if p > 0.0 { p.ln() } else { f64::NEG_INFINITY }
        };
        let scores = ArcMatrix::from_fn(words, score);
        let mut newton = Self {
            target,
            tree_set,
            workspace: Workspace::default(),
            scores,
            marginals: ArcMatrix::default(),
            gradient: ArcMatrix::zeros(words),
            step: ArcMatrix::zeros(words),
            trial: ArcMatrix::zeros(words),
        };
        let scores = newton.scores.clone();
        if newton.evaluate(&scores, 0.0).is_none() {
            // No tree has only arcs of positive marginal.
            return Err(Error::OutsidePolytope { tree_set, residual: largest(target) });
        }
        // An arc of positive marginal must be in some tree of such arcs.
        let unreached = target
            .arcs()
            .find(|&(head, modifier, p)| p > 0.0 && newton.marginals[(head, modifier)] == 0.0);
        match unreached {
            Some((.., residual)) => Err(Error::OutsidePolytope { tree_set, residual }),
            None => Ok(newton),
        }
    }

    /// Returns D(s), and writes the marginals at s; `None` if there is no tree.
    fn evaluate(&mut self, scores: &ArcMatrix, l2: f64) -> Option<f64> {
        let Self { workspace, marginals, .. } = self;
        let log_z = unchecked_marginals(scores, self.tree_set, workspace, marginals)?;
        let kept = self.target.arcs().filter(|&(.., p)| p > 0.0);
        let terms = kept.map(|(head, modifier, p)| {
            let s = scores[(head, modifier)];
            p * s - 0.5 * l2 * s * s
        });
        Some(terms.sum::<f64>() - log_z)
    }

    /// Writes ∇D and returns its largest entry, and the largest error of a marginal.
    fn differentiate(&mut self, l2: f64) -> (f64, f64) {
        let mut size = 0.0f64;
        let mut residual = 0.0f64;
        for (head, modifier, p) in self.target.arcs() {
            if p > 0.0 {
                let error = p - self.marginals[(head, modifier)];
                let slope = error - l2 * self.scores[(head, modifier)];
                self.gradient[(head, modifier)] = slope;
                size = size.max(slope.abs());
                residual = residual.max(error.abs());
            }
        }
        (size, residual)
    }

    /// Climbs until the gradient is below the tolerance, or the run shows that it diverges.
    fn run(&mut self, options: &MomentOptions, l2: f64) -> Outcome {
        let scores = self.scores.clone();
        let Some(mut value) = self.evaluate(&scores, l2) else {
            return Outcome { residual: f64::INFINITY, steps: 0, is_border: true };
        };
        let (mut size, mut residual) = self.differentiate(l2);
        let mut slow = 0;
        let mut stalled = 0;
        for steps in 0..options.max_steps {
            if size <= options.tolerance {
                return Outcome { residual, steps, is_border: false };
            }
            // Without an L2 term to stop it, a fit at the border would go on for ever.
            let is_slow = slow >= SLOW_STEPS && size < SLOW_BELOW;
            if l2 == 0.0 && options.l2 > 0.0 && (is_slow || self.spread() > LARGEST_SPREAD) {
                return Outcome { residual, steps, is_border: true };
            }
            if stalled >= SLOW_STEPS && size < SLOW_BELOW {
                return Outcome { residual, steps, is_border: false };
            }
            self.solve(l2, size);
            let Some((reached, length)) = self.search_line(value, l2, size) else {
                // No step is better: the rest is rounding, or the fit cannot be trusted.
                return Outcome { residual, steps, is_border: size > SLOW_BELOW };
            };
            value = reached;
            let before = size;
            (size, residual) = self.differentiate(l2);
            let gains_little = length == 1.0 && size > 0.25 * before;
            let diverges = largest(&self.step) > LEAST_DIVERGING_STEP;
            slow = if gains_little && diverges { slow + 1 } else { 0 };
            stalled = if gains_little && !diverges { stalled + 1 } else { 0 };
        }
        Outcome { residual, steps: options.max_steps, is_border: size > options.tolerance }
    }

    /// Largest distance between two scores.
    fn spread(&self) -> f64 {
        let finite = self.scores.arcs().filter(|&(.., s)| s > f64::NEG_INFINITY);
        let (low, high) = finite
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (.., s)| {
                (low.min(s), high.max(s))
            });
        high - low
    }

    /// Writes the step (Cov + ε·I + diag|∇D|)⁻¹·∇D by conjugate gradients, preconditioned by the diagonal.
    ///
    /// The last term is a damping (Levenberg 1944). Without it, an arc whose marginal is far below the one
    /// asked for would get a step of thousands. It vanishes with the gradient, so convergence stays quadratic.
    /// The system is solved the more exactly the nearer the solution is (Dembo, Eisenstat & Steihaug
    /// 1982).
    fn solve(&mut self, l2: f64, size: f64) {
        let Self { target, tree_set, workspace, scores, marginals, gradient, step, .. } = self;
        let words = target.words();
        let diagonal = ArcMatrix::from_fn(words, |head, modifier| {
            let p = marginals[(head, modifier)];
            let variance = p * (1.0 - p) + l2 + gradient[(head, modifier)].abs();
            if target[(head, modifier)] > 0.0 { variance.max(1e-12) } else { 1.0 }
        });
        step.reset(words, 0.0);
        let mut rest = gradient.clone();
        let mut scaled = rest.clone();
        scaled.zip_in_place(&diagonal, |r, d| if d == 0.0 { 0.0 } else { r / d });
        let mut along = scaled.clone();
        let mut product = ArcMatrix::zeros(words);
        let mut norm = dot(&rest, &scaled);
        let goal = size * size.sqrt().clamp(1e-3, 0.05);
        let mut least = size;
        let mut best = step.clone();
        let arcs = target.arcs().filter(|&(.., p)| p > 0.0).count();
        for _ in 0..(4 * arcs).min(500) {
            unchecked_arc_covariances(
                scores,
                &along,
                *tree_set,
                marginals,
                workspace,
                &mut product,
            );
            product.zip_in_place(target, |c, p| if p > 0.0 { c } else { 0.0 });
            product.zip_in_place(&along, |c, x| c + l2 * x);
            scaled.zip_in_place(&along, |_, x| x);
            scaled.zip_in_place(gradient, |x, slope| slope.abs() * x);
            product.zip_in_place(&scaled, |c, x| c + x);
            let curvature = dot(&along, &product);
            let weighted = along.as_slice().iter().zip(diagonal.as_slice());
            let scale: f64 = weighted.map(|(x, d)| x * x * d).sum();
            // Less is rounding: what is left of the gradient lies in the null space.
            if curvature.is_nan() || curvature <= 1e-13 * scale {
                break;
            }
            let length = norm / curvature;
            step.zip_in_place(&along, |s, x| s + length * x);
            rest.zip_in_place(&product, |r, c| r - length * c);
            scaled.zip_in_place(&rest, |_, r| r);
            scaled.zip_in_place(&diagonal, |r, d| if d == 0.0 { 0.0 } else { r / d });
            let next = dot(&rest, &scaled);
            let left = largest(&rest);
            if left < least {
                least = left;
                best.zip_in_place(step, |_, x| x);
            }
            // The rest may grow for a while. In a singular system, rounding makes it grow without end.
            if left <= goal || left > 1e6 * least {
                break;
            }
            let ratio = next / norm;
            along.zip_in_place(&scaled, |x, r| r + ratio * x);
            norm = next;
        }
        step.zip_in_place(if least < size { &best } else { &*gradient }, |_, x| x);
    }

    /// Moves along the step by backtracking; returns D there and the part of the step that was taken.
    fn search_line(&mut self, value: f64, l2: f64, size: f64) -> Option<(f64, f64)> {
        let slope = dot(&self.gradient, &self.step);
        let longest = largest(&self.step);
        let mut length = if longest > 10.0 { 10.0 / longest } else { 1.0 };
        while length > 1e-8 {
            let mut trial = self.trial.lend();
            trial.reset(self.target.words(), 0.0);
            trial.zip_in_place(&self.scores, |_, s| s);
            trial.zip_in_place(&self.step, |s, x| s + length * x);
            let reached = self.evaluate(&trial, l2).unwrap_or(f64::NEG_INFINITY);
            std::mem::swap(&mut self.scores, &mut trial);
            // Near the top, gains are below rounding: there the gradient decides.
            let is_better = reached >= value + 1e-4 * length * slope
                || (reached >= value - 1e-13 * value.abs().max(1.0)
                    && self.differentiate(l2).0 < size);
            if is_better {
                self.trial = trial;
                return Some((reached, length));
            }
            std::mem::swap(&mut self.scores, &mut trial);
            self.trial = trial;
            length *= 0.5;
        }
        // Back to where the line began.
        let scores = self.scores.clone();
        self.evaluate(&scores, l2);
        self.differentiate(l2);
        None
    }
}

/// The largest absolute value.
fn largest(values: &ArcMatrix) -> f64 {
    values.as_slice().iter().fold(0.0f64, |high, x| high.max(x.abs()))
}

fn dot(a: &ArcMatrix, b: &ArcMatrix) -> f64 {
    crate::simd::dot(a.as_slice(), b.as_slice())
}

#[cfg(test)]
mod tests;
