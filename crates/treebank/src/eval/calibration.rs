//! Calibration of probabilities.
//!
//! The input is N pairs of a probability pᵢ and its outcome cᵢ ∈ {0, 1}: for a parser, the
//! probability of the predicted head, and whether that head is correct. Bin b has n_b pairs, mean
//! probability p̄_b and accuracy c̄_b:
//!
//! ```text
//! expected calibration error   ECE = Σ_b n_b/N · |c̄_b − p̄_b|
//! Brier score                  BS  = 1/N Σᵢ (pᵢ − cᵢ)²
//! its parts (Murphy 1973)      BS  = reliability − resolution + uncertainty + within bins
//!   reliability                Σ_b n_b/N · (p̄_b − c̄_b)²      error of the bins; 0 is best
//!   resolution                 Σ_b n_b/N · (c̄_b − c̄)²        separation of right from wrong
//!   uncertainty                c̄ · (1 − c̄)                    the same for every forecaster
//! log-likelihood               1/N Σᵢ ln pᵢ if cᵢ, else ln(1 − pᵢ)
//! risk at coverage k/N         errors among the k most probable, divided by k
//! AURC                         mean of that risk over k = 1 … N
//! average precision            Σ_t (R_t − R_{t−1}) · P_t over thresholds t from high to low
//! ```
//!
//! **Bins.** [`Binning::EqualMass`] (the same number of pairs in each bin) is the default, and the
//! parts of the Brier score use it. The probabilities of a parser are mostly near 1. There,
//! [`Binning::EqualWidth`] puts most of them into one bin and leaves few for the others (Nguyen &
//! O'Connor 2015; Nixon et al. 2019). The error with equal widths (Naeini et al. 2015; Guo et al.
//! 2017) is given as well, for comparison with published results. Equal probabilities always share
//! a bin.
//!
//! **Bias.** The accuracy of a finite bin varies, so even perfect probabilities have an ECE above
//! 0. [`CalibrationError::if_calibrated`] is the expected ECE of perfect probabilities in the same
//! bins, `Σ_b √(2/π · Σ_{i∈b} pᵢ(1−pᵢ)) / N`. This is the mean absolute value of a normal variable
//! with the variance of a sum of independent coin flips. An ECE near it is not evidence of
//! miscalibration.
//!
//! **Zero and one.** A probability of 0 for a true outcome (or 1 for a false one) has log-likelihood −∞. Most often the
//! reason is that a file keeps few digits. For the log-likelihood only, probabilities are therefore clamped to
//! [`LEAST_PROBABILITY`] and one minus it. [`Calibration::impossible`] counts the pairs whose log-likelihood would be
//! infinite.
//!
//! **Ties.** Pairs of equal probability have no order. Errors among them are treated as evenly
//! spread, so that results do not depend on the order of the input. Cost: one sort.
//!
//! # References
//! - A. H. Murphy (1973). A new vector partition of the probability score.
//! - E. B. Wilson (1927). Probable inference, the law of succession, and statistical inference.
//! - M. P. Naeini, G. F. Cooper, M. Hauskrecht (2015). Obtaining well calibrated probabilities using
//!   Bayesian binning.
//! - K. Nguyen, B. O'Connor (2015). Posterior calibration and exploratory analysis for natural
//!   language processing models.
//! - C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger (2017). On calibration of modern neural networks.
//! - Y. Geifman, R. El-Yaniv (2017). Selective classification for deep neural networks.
//! - J. Nixon, M. W. Dusenberry, L. Zhang, G. Jerfel, D. Tran (2019). Measuring calibration in deep
//!   learning.

use std::num::NonZeroUsize;

use super::significance::Interval;

/// The smallest likelihood used in the log-likelihood. Files with four to six digits cannot
/// distinguish smaller ones from 0.
pub const LEAST_PROBABILITY: f64 = 1e-6;

/// Probability from which a forecast is as good as certain: it is printed as 0.9999 or 1.0000.
pub const CERTAIN: f64 = 0.9999;

/// Maximum number of points of a [`Calibration::risk_coverage`] curve.
const CURVE_POINTS: usize = 100;

/// A number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Probability(f64);

impl Probability {
    /// Returns `None` unless `0 ≤ value ≤ 1`.
    pub fn new(value: f64) -> Option<Self> {
        // Adding zero turns −0 into +0, so that equal probabilities sort as equal.
        (0.0..=1.0).contains(&value).then_some(Self(value + 0.0))
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// A probability and its outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// The probability.
    pub probability: Probability,
    /// True if the event happened: for a parser, if the head is correct.
    pub correct: bool,
}

/// Division of forecasts into bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Binning {
    /// Each bin has the same number of forecasts, as far as equal probabilities allow.
    #[default]
    EqualMass,
    /// Each bin has the same range of probabilities. A border belongs to the bin above it, 1 to the
    /// last bin. Empty bins are left out.
    EqualWidth,
}

/// A bin: one row of the reliability table.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bin {
    /// The smallest probability in the bin (equal mass), or the lower end of its range (equal
    /// width).
    pub low: f64,
    /// The largest probability in the bin, or the upper end of its range.
    pub high: f64,
    /// Number of forecasts, n_b.
    pub count: usize,
    /// Mean probability, p̄_b.
    pub mean_probability: f64,
    /// Accuracy, c̄_b.
    pub accuracy: f64,
    /// Wilson's 95 % interval of the accuracy.
    pub interval: Interval,
}

/// The expected calibration error and its bins.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CalibrationError {
    /// The type of bins.
    pub binning: Binning,
    /// The ECE.
    pub value: f64,
    /// Expected ECE of perfect probabilities in these bins.
    pub if_calibrated: f64,
    /// The reliability table.
    pub bins: Vec<Bin>,
}

/// The Brier score and its parts: `score = reliability − resolution + uncertainty + within_bins`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Brier {
    /// BS: mean squared difference of probability and outcome.
    pub score: f64,
    /// Calibration error of the bins.
    pub reliability: f64,
    /// Ability of the bins to separate right from wrong.
    pub resolution: f64,
    /// Variance of the outcomes.
    pub uncertainty: f64,
    /// The remainder, since probabilities vary inside bins. Near 0.
    pub within_bins: f64,
}

/// A point of the risk–coverage curve.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RiskAtCoverage {
    /// Share of forecasts kept, the most probable ones.
    pub coverage: f64,
    /// Error rate among them.
    pub risk: f64,
    /// Smallest probability kept.
    pub threshold: f64,
}

/// All measures of a set of forecasts.
///
/// ```
/// use tutte_treebank::eval::calibration::{Calibration, Forecast, Probability};
///
/// let forecast = |probability, correct| {
///     Some(Forecast { probability: Probability::new(probability)?, correct })
/// };
/// let forecasts: Vec<_> =
///     [(0.9, true), (0.9, true), (0.6, true), (0.6, false)].map(|(p, c)| forecast(p, c).unwrap()).into();
/// let report = Calibration::new(&forecasts, forecasts.len(), 10.try_into()?).unwrap();
///
/// assert_eq!(report.accuracy, 0.75);
/// // Half of them have 0.9 and are all correct, half have 0.6 and half of these are correct.
/// assert!((report.ece.value - 0.1).abs() < 1e-12);
/// assert_eq!(report.ece.bins.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Calibration {
    /// Number of forecasts, N.
    pub forecasts: usize,
    /// Accuracy, c̄.
    pub accuracy: f64,
    /// Mean probability: the accuracy that the forecaster expects.
    pub mean_probability: f64,
    /// ECE with [`Binning::EqualMass`].
    pub ece: CalibrationError,
    /// ECE with [`Binning::EqualWidth`], for comparison with published results.
    pub equal_width_ece: CalibrationError,
    /// The forecasts that are as good as certain, from [`CERTAIN`] on; `None` if there are none.
    pub certain: Option<Bin>,
    /// The Brier score.
    pub brier: Brier,
    /// Mean log-likelihood in nats; larger is better, 0 is best.
    pub log_likelihood: f64,
    /// Number of forecasts of 0 for a true outcome, and of 1 for a false one. Without
    /// [`LEAST_PROBABILITY`], each would make the log-likelihood infinite.
    pub impossible: usize,
    /// Risk at coverages of 1 %, 2 %, …, 100 % (each forecast, if there are fewer).
    pub risk_coverage: Vec<RiskAtCoverage>,
    /// AURC: area under that curve; smaller is better.
    pub area_under_risk_coverage: f64,
    /// Area under the precision–recall curve of arcs, with recall over all gold arcs. At most the
    /// recall of all forecasts.
    pub average_precision: f64,
}

impl Calibration {
    /// Computes all measures. `gold` is the number of gold arcs, the denominator of recall. Returns
    /// `None` if there are no forecasts.
    pub fn new(forecasts: &[Forecast], gold: usize, bins: NonZeroUsize) -> Option<Self> {
        if forecasts.is_empty() {
            return None;
        }
        let mut falling = forecasts.to_vec();
        falling.sort_unstable_by(|a, b| b.probability.get().total_cmp(&a.probability.get()));
        let n = falling.len() as f64;
        let accuracy = falling.iter().filter(|forecast| forecast.correct).count() as f64 / n;
        let groups = tie_groups(&falling);
        let ece = calibration_error(Binning::EqualMass, &groups, falling.len(), bins);
        let (risk_coverage, area_under_risk_coverage) = risk_coverage(&groups, falling.len());
        Some(Self {
            forecasts: falling.len(),
            accuracy,
            mean_probability: falling.iter().map(|f| f.probability.get()).sum::<f64>() / n,
            certain: certain(&falling),
            brier: brier(&falling, accuracy, &ece.bins),
            ece,
            equal_width_ece: calibration_error(Binning::EqualWidth, &groups, falling.len(), bins),
            log_likelihood: falling.iter().map(log_likelihood).sum::<f64>() / n,
            impossible: falling.iter().filter(|f| likelihood(f) == 0.0).count(),
            risk_coverage,
            area_under_risk_coverage,
            average_precision: average_precision(&groups, gold),
        })
    }
}

/// Returns the bin of forecasts from [`CERTAIN`] on.
fn certain(falling: &[Forecast]) -> Option<Bin> {
    let count = falling.partition_point(|forecast| forecast.probability.get() >= CERTAIN);
    let bin = &falling[..count];
    let correct = bin.iter().filter(|forecast| forecast.correct).count();
    let sum: f64 = bin.iter().map(|forecast| forecast.probability.get()).sum();
    (count > 0).then(|| Bin {
        low: CERTAIN,
        high: 1.0,
        count,
        mean_probability: sum / count as f64,
        accuracy: correct as f64 / count as f64,
        interval: wilson(correct, count),
    })
}

/// Forecasts with the same probability.
struct TieGroup {
    probability: f64,
    count: usize,
    correct: usize,
}

/// Groups forecasts by probability, from the largest to the smallest.
fn tie_groups(falling: &[Forecast]) -> Vec<TieGroup> {
    falling
        .chunk_by(|a, b| a.probability == b.probability)
        .map(|ties| TieGroup {
            probability: ties[0].probability.get(),
            count: ties.len(),
            correct: ties.iter().filter(|forecast| forecast.correct).count(),
        })
        .collect()
}

fn calibration_error(
    binning: Binning,
    falling: &[TieGroup],
    n: usize,
    bins: NonZeroUsize,
) -> CalibrationError {
    let bins = bins.get();
    // Returns the bin of a group, given the number of forecasts with smaller probabilities. With
    // equal mass, it is the bin of the middle of the group. Bins never decrease.
    let bin_of = |before: usize, group: &TieGroup| match binning {
        Binning::EqualWidth => ((group.probability * bins as f64) as usize).min(bins - 1),
        Binning::EqualMass => {
            let middle = before as f64 + group.count as f64 / 2.0;
            ((middle * bins as f64 / n as f64) as usize).min(bins - 1)
        }
    };
    let mut before = 0;
    let rising: Vec<(usize, &TieGroup)> = falling
        .iter()
        .rev()
        .map(|group| {
            let bin = bin_of(before, group);
            before += group.count;
            (bin, group)
        })
        .collect();
    let mut table = Vec::new();
    let mut value = 0.0;
    let mut if_calibrated = 0.0;
    for groups in rising.chunk_by(|(a, _), (b, _)| a == b) {
        let bin = groups[0].0;
        let (low, high) = match binning {
            Binning::EqualWidth => (bin as f64 / bins as f64, (bin + 1) as f64 / bins as f64),
            Binning::EqualMass => (groups[0].1.probability, groups[groups.len() - 1].1.probability),
        };
        let mut count = 0;
        let mut correct = 0;
        let mut sum = 0.0;
        let mut variance = 0.0;
        for (_, group) in groups {
            count += group.count;
            correct += group.correct;
            sum += group.count as f64 * group.probability;
            variance += group.count as f64 * group.probability * (1.0 - group.probability);
        }
        value += (correct as f64 - sum).abs() / n as f64;
        if_calibrated += (std::f64::consts::FRAC_2_PI * variance).sqrt() / n as f64;
        table.push(Bin {
            low,
            high,
            count,
            mean_probability: sum / count as f64,
            accuracy: correct as f64 / count as f64,
            interval: wilson(correct, count),
        });
    }
    CalibrationError { binning, value, if_calibrated, bins: table }
}

/// Returns Wilson's 95 % interval of a share, `[0, 1]` if `count` is 0:
/// `(p̂ + z²/2n ± z √(p̂(1−p̂)/n + z²/4n²)) / (1 + z²/n)`.
pub fn wilson(correct: usize, count: usize) -> Interval {
    if count == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    const Z: f64 = 1.959_963_984_540_054;
    let n = count as f64;
    let p = correct as f64 / n;
    let centre = p + Z * Z / (2.0 * n);
    let reach = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    // Rounding must not move an end past the share itself.
    Interval {
        low: ((centre - reach) / scale).clamp(0.0, p),
        high: ((centre + reach) / scale).clamp(p, 1.0),
    }
}

fn brier(forecasts: &[Forecast], accuracy: f64, bins: &[Bin]) -> Brier {
    let n = forecasts.len() as f64;
    let outcome = |forecast: &Forecast| f64::from(u8::from(forecast.correct));
    let score =
        forecasts.iter().map(|f| (f.probability.get() - outcome(f)).powi(2)).sum::<f64>() / n;
    let over_bins =
        |term: &dyn Fn(&Bin) -> f64| bins.iter().map(|b| b.count as f64 * term(b)).sum::<f64>() / n;
    let reliability = over_bins(&|bin| (bin.mean_probability - bin.accuracy).powi(2));
    let resolution = over_bins(&|bin| (bin.accuracy - accuracy).powi(2));
    let uncertainty = accuracy * (1.0 - accuracy);
    let within_bins = score - (reliability - resolution + uncertainty);
    Brier { score, reliability, resolution, uncertainty, within_bins }
}

/// Returns the probability of the actual outcome.
fn likelihood(forecast: &Forecast) -> f64 {
    let p = forecast.probability.get();
    if forecast.correct { p } else { 1.0 - p }
}

fn log_likelihood(forecast: &Forecast) -> f64 {
    likelihood(forecast).clamp(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY).ln()
}

/// Returns the risk–coverage curve at up to `CURVE_POINTS` points, and the area under the full
/// curve.
fn risk_coverage(falling: &[TieGroup], n: usize) -> (Vec<RiskAtCoverage>, f64) {
    let points = n.min(CURVE_POINTS);
    let mut curve = Vec::with_capacity(points);
    let mut kept = 0;
    let mut errors_before = 0.0;
    let mut area = 0.0;
    for group in falling {
        let error_rate = 1.0 - group.correct as f64 / group.count as f64;
        for in_group in 1..=group.count {
            kept += 1;
            let risk = (errors_before + in_group as f64 * error_rate) / kept as f64;
            area += risk / n as f64;
            // Point i is the first k with k/n ≥ i/points.
            if kept * points >= (curve.len() + 1) * n {
                let coverage = kept as f64 / n as f64;
                curve.push(RiskAtCoverage { coverage, risk, threshold: group.probability });
            }
        }
        errors_before += (group.count - group.correct) as f64;
    }
    (curve, area)
}

fn average_precision(falling: &[TieGroup], gold: usize) -> f64 {
    let mut proposed = 0;
    let mut correct = 0;
    let mut sum = 0.0;
    for group in falling {
        proposed += group.count;
        correct += group.correct;
        sum += group.correct as f64 * correct as f64 / proposed as f64;
    }
    if gold == 0 { 0.0 } else { sum / gold as f64 }
}

#[cfg(test)]
mod tests;
