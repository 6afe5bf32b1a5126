//! Precision of partial analyses, over lists of candidates (Smith & Eisner 2006, §5).
//!
//! Candidates may leave words open. C and A are the numbers of correct and of given heads of all sentences, which are
//! decoded independently. Their precision C / A does not add up over sentences, so its logarithm is expanded:
//!
//! ```text
//! E[−log P] = E log A − E log C        E log X ≈ log μ − σ² / 2μ²        μ = Σ μ_i,  σ² = Σ σ_i²
//! ∂μ_i/∂θ = γ Cov(x, f)                ∂σ_i²/∂θ = γ Cov((x − μ_i)², f)
//! ```
//!
//! The expansion is good if σ is small beside μ, that is, for many sentences or a large γ.

use super::lists::{Candidate, Lists, probabilities};
use super::{Combined, Criterion, Data, LineSearch, fit};
use crate::Error;
use crate::learn::annealing::Annealing;

/// Added to C, so that its logarithm is finite.
const GUARD: f64 = 1e-3;

/// A partial analysis of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct PartialCandidate {
    /// Features of the analysis.
    pub features: Vec<f64>,
    /// Number of words whose head is right.
    pub correct: usize,
    /// Number of words that have a head.
    pub attempted: usize,
}

/// Fits weights by annealed −log precision on lists of partial analyses. Lists without a head do not count.
///
/// ```
/// use tutte::learn::Annealing;
/// use tutte::learn::experts::{PartialCandidate, fit_precision};
///
/// let candidate = |feature, correct| PartialCandidate { features: vec![feature], correct, attempted: 4 };
/// let list = vec![candidate(0.5, 1), candidate(1.5, 4)];
/// let fitted = fit_precision(vec![list; 20], &Annealing::default())?;
/// assert!(fitted.weights[0] > 0.0 && fitted.errors < 1e-3); // −log 1
/// # Ok::<(), tutte::Error>(())
/// ```
///
/// # Errors
/// [`Error::Setting`] if candidates differ in their number of features, or if a schedule is not monotone;
/// [`Error::NothingToJudge`] without candidates.
pub fn fit_precision(
    lists: Vec<Vec<PartialCandidate>>,
    annealing: &Annealing,
) -> Result<Combined, Error> {
    let lists = PrecisionLists::new(lists)?;
    let start = vec![0.0; lists.experts()];
    fit(&lists, &Lists::default(), &Criterion::AnnealedRisk(*annealing), &start)
}

/// Lists with the counts of each candidate.
pub(super) struct PrecisionLists {
    lists: Lists,
    /// Correct and attempted heads, by list and candidate.
    counts: Vec<Vec<[f64; 2]>>,
}

/// Mean and variance of a sum over sentences, with their derivatives.
#[derive(Clone, Debug)]
struct Moments {
    mean: f64,
    variance: f64,
    of_mean: Vec<f64>,
    of_variance: Vec<f64>,
}

impl PrecisionLists {
    pub(super) fn new(lists: Vec<Vec<PartialCandidate>>) -> Result<Self, Error> {
        let lists: Vec<Vec<PartialCandidate>> =
            lists.into_iter().filter(|list| !list.is_empty()).collect();
        let count = |one: &PartialCandidate| [one.correct as f64, one.attempted as f64];
        let counts = lists.iter().map(|list| list.iter().map(count).collect()).collect();
        let candidate = |one: PartialCandidate| {
            let wrong = one.attempted.saturating_sub(one.correct) as f64;
            Candidate { features: one.features, loss: wrong / one.attempted.max(1) as f64 }
        };
        let lists = lists.into_iter().map(|list| list.into_iter().map(candidate).collect());
        Ok(Self { lists: Lists::new(lists.collect())?, counts })
    }

    /// Returns the moments of the number of correct (0) or attempted (1) heads.
    fn moments(&self, which: usize, weights: &[f64], gamma: f64) -> Moments {
        let zeros = || vec![0.0; weights.len()];
        let mut sum = Moments { mean: 0.0, variance: 0.0, of_mean: zeros(), of_variance: zeros() };
        let mut probs = Vec::new();
        for (list, counts) in self.lists.candidates().zip(&self.counts) {
            probabilities(&list, weights, gamma, &mut probs);
            let value = |at: usize| counts[at][which];
            let each = || probs.iter().enumerate();
            let mean: f64 = each().map(|(at, prob)| prob * value(at)).sum();
            let variance: f64 = each().map(|(at, prob)| prob * (value(at) - mean).powi(2)).sum();
            sum.mean += mean;
            sum.variance += variance;
            for (at, prob) in each() {
                let by_mean = gamma * prob * (value(at) - mean);
                let by_variance = gamma * prob * ((value(at) - mean).powi(2) - variance);
                let slopes = sum.of_mean.iter_mut().zip(&mut sum.of_variance);
                for ((of_mean, of_variance), feature) in slopes.zip(&list[at].features) {
                    *of_mean += by_mean * feature;
                    *of_variance += by_variance * feature;
                }
            }
        }
        sum
    }

    /// Returns E[−log P] and writes its derivatives.
    pub(super) fn expectation(&self, weights: &[f64], gamma: f64, slopes: &mut [f64]) -> f64 {
        slopes.fill(0.0);
        let mut value = 0.0;
        for (which, sign) in [(0, -1.0), (1, 1.0)] {
            let Moments { mean, variance, of_mean, of_variance } =
                self.moments(which, weights, gamma);
            let mean = mean + GUARD;
            value += sign * (mean.ln() - variance / (2.0 * mean * mean));
            let by_mean = sign * (1.0 / mean + variance / mean.powi(3));
            let by_variance = -sign / (2.0 * mean * mean);
            let of = of_mean.iter().zip(&of_variance);
            for (slope, (of_mean, of_variance)) in slopes.iter_mut().zip(of) {
                *slope += by_mean * of_mean + by_variance * of_variance;
            }
        }
        value
    }
}

impl Data for PrecisionLists {
    fn experts(&self) -> usize {
        self.lists.experts()
    }

    fn likelihood(&self, weights: &[f64], gradient: &mut [f64]) -> Result<f64, Error> {
        self.lists.likelihood(weights, gradient)
    }

    /// R is −log P times the number of lists, so that it grows with the data as H does.
    fn risk_and_entropy(
        &self,
        weights: &[f64],
        gamma: f64,
        [of_risk, of_entropy]: [&mut [f64]; 2],
    ) -> Result<[f64; 2], Error> {
        let [_, entropy] = self.lists.risk_and_entropy(weights, gamma, [of_risk, of_entropy])?;
        let count = self.counts.len() as f64;
        let risk = count * self.expectation(weights, gamma, of_risk);
        of_risk.iter_mut().for_each(|slope| *slope *= count);
        Ok([risk, entropy])
    }

    /// The errors are −log P of the best candidates.
    fn best(&self, weights: &[f64]) -> Result<(f64, Vec<usize>), Error> {
        let (_, numbers) = self.lists.best(weights)?;
        let best = || numbers.iter().zip(&self.counts).map(|(&at, counts)| counts[at]);
        let correct: f64 = best().map(|[correct, _]| correct).sum();
        let attempted: f64 = best().map(|[_, attempted]| attempted).sum();
        Ok(((attempted + GUARD).ln() - (correct + GUARD).ln(), numbers))
    }
}

impl LineSearch for PrecisionLists {
    fn minimum_error(&self, start: &[f64], restarts: usize, seed: u64) -> Result<Vec<f64>, Error> {
        self.lists.fewest_errors(start, restarts, seed)
    }
}

#[cfg(test)]
mod tests {
    use tutte_linear::gaussian;

    use super::*;

    /// Lists whose first feature is higher for more correct heads.
    fn toy(sentences: usize) -> Vec<Vec<PartialCandidate>> {
        let mut draw = gaussian(11);
        let mut candidate = || {
            let attempted = (6.0 + 2.0 * draw()).clamp(1.0, 12.0) as usize;
            let correct = (attempted as f64 * (0.6 + 0.2 * draw())).clamp(0.0, attempted as f64);
            let features = vec![correct / attempted as f64 + 0.5 * draw(), draw()];
            PartialCandidate { features, correct: correct as usize, attempted }
        };
        (0..sentences).map(|_| (0..5).map(|_| candidate()).collect()).collect()
    }

    /// Returns E log (X + GUARD) from the exact distribution of the sum X, by convolution.
    fn exact(lists: &PrecisionLists, which: usize, weights: &[f64], gamma: f64) -> f64 {
        let mut sums = vec![1.0];
        let mut probs = Vec::new();
        for (list, counts) in lists.lists.candidates().zip(&lists.counts) {
            probabilities(&list, weights, gamma, &mut probs);
            let mut next = vec![0.0; sums.len() + 12];
            for (at, prob) in probs.iter().enumerate() {
                let shift = counts[at][which] as usize;
                sums.iter().enumerate().for_each(|(sum, p)| next[sum + shift] += p * prob);
            }
            sums = next;
        }
        sums.iter().enumerate().map(|(sum, p)| p * (sum as f64 + GUARD).ln()).sum()
    }

    #[test]
    fn the_expansion_is_close_to_the_convolution() {
        let lists = PrecisionLists::new(toy(60)).unwrap();
        let weights = [1.0, -0.3];
        let mut errors = Vec::new();
        for gamma in [0.0, 1.0, 5.0, 30.0] {
            let found = lists.expectation(&weights, gamma, &mut [0.0; 2]);
            let expected = exact(&lists, 1, &weights, gamma) - exact(&lists, 0, &weights, gamma);
            errors.push((found - expected).abs());
            // Without the second order, the error is larger.
            let first = |which| (lists.moments(which, &weights, gamma).mean + GUARD).ln();
            let rough = (first(1) - first(0) - expected).abs();
            assert!(errors[errors.len() - 1] <= 0.2 * rough + 1e-9, "{gamma}: {errors:?} {rough}");
        }
        assert!(errors[0] < 1e-4 && errors[3] < errors[0], "{errors:?}");
    }

    #[test]
    fn the_gradient_is_the_derivative_and_fitting_raises_precision() {
        let lists = PrecisionLists::new(toy(30)).unwrap();
        let weights = [0.5, 0.8];
        let h = 1e-5;
        for gamma in [0.7, 2.0] {
            let mut slopes = [0.0; 2];
            lists.expectation(&weights, gamma, &mut slopes);
            for k in 0..2 {
                let at = |by: f64| {
                    let mut moved = weights;
                    moved[k] += by;
                    lists.expectation(&moved, gamma, &mut [0.0; 2])
                };
                let slope = (at(h) - at(-h)) / (2.0 * h);
                assert!(
                    (slopes[k] - slope).abs() < 1e-6 * (1.0 + slope.abs()),
                    "{slopes:?} {slope}"
                );
            }
        }
        let fitted = fit_precision(toy(30), &Annealing::default()).unwrap();
        assert!(fitted.errors < lists.best(&[0.0, 0.0]).unwrap().0, "{fitted:?}");
    }
}
