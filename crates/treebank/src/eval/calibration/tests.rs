use proptest::prelude::*;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::*;

fn forecast((probability, correct): (f64, u8)) -> Forecast {
    Forecast { probability: Probability::new(probability).unwrap(), correct: correct == 1 }
}

fn report(forecasts: &[(f64, u8)], bins: usize) -> Calibration {
    let forecasts: Vec<_> = forecasts.iter().copied().map(forecast).collect();
    Calibration::new(&forecasts, forecasts.len(), NonZeroUsize::new(bins).unwrap()).unwrap()
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
}

#[test]
fn by_hand() {
    let c = report(&[(0.9, 1), (0.8, 0), (0.7, 1), (0.2, 0)], 2);
    assert_close(c.accuracy, 0.5);
    assert_close(c.mean_probability, 0.65);

    // Two bins of two: {0.2, 0.7}, half of them correct, and {0.8, 0.9}, half of them correct.
    assert_eq!(c.ece.bins.len(), 2);
    assert_eq!((c.ece.bins[0].low, c.ece.bins[0].high, c.ece.bins[0].count), (0.2, 0.7, 2));
    assert_close(c.ece.bins[0].mean_probability, 0.45);
    assert_close(c.ece.value, 0.5 * 0.05 + 0.5 * 0.35);
    let variances = [0.2 * 0.8 + 0.7 * 0.3, 0.8 * 0.2 + 0.9 * 0.1];
    let chance = variances.map(|v: f64| (2.0 / std::f64::consts::PI * v).sqrt() / 4.0);
    assert_close(c.ece.if_calibrated, chance[0] + chance[1]);

    // [0, ½): {0.2}, none correct; [½, 1]: {0.7, 0.8, 0.9}, two correct.
    let wide = &c.equal_width_ece.bins;
    assert_eq!((wide[0].low, wide[0].high, wide[0].count), (0.0, 0.5, 1));
    assert_eq!((wide[1].low, wide[1].high, wide[1].count), (0.5, 1.0, 3));
    assert_close(c.equal_width_ece.value, 0.25 * 0.2 + 0.75 * (0.8 - 2.0 / 3.0));

    assert_close(c.brier.score, (0.01 + 0.64 + 0.09 + 0.04) / 4.0);
    assert_close(c.brier.uncertainty, 0.25);
    assert_close(c.brier.reliability, 0.5 * 0.05f64.powi(2) + 0.5 * 0.35f64.powi(2));
    assert_close(c.brier.resolution, 0.0);

    assert_close(c.log_likelihood, (0.9f64.ln() + 0.2f64.ln() + 0.7f64.ln() + 0.8f64.ln()) / 4.0);
    assert_eq!(c.impossible, 0);

    // Right, wrong, right, wrong, from the most probable down.
    let risks: Vec<f64> = c.risk_coverage.iter().map(|point| point.risk).collect();
    assert_eq!(risks, [0.0, 0.5, 1.0 / 3.0, 0.5]);
    assert_eq!(c.risk_coverage[1].threshold, 0.8);
    assert_close(c.area_under_risk_coverage, (0.0 + 0.5 + 1.0 / 3.0 + 0.5) / 4.0);
    assert_close(c.average_precision, (1.0 + 2.0 / 3.0) / 4.0);
}

#[test]
fn recall_is_over_all_gold_arcs() {
    let forecasts = [(0.9, 1), (0.5, 1)].map(forecast);
    let bins = NonZeroUsize::MIN;
    assert_eq!(Calibration::new(&forecasts, 4, bins).unwrap().average_precision, 0.5);
    assert_eq!(Calibration::new(&forecasts, 0, bins).unwrap().average_precision, 0.0);
    assert_eq!(Calibration::new(&[], 4, bins), None);
}

#[test]
fn zero_and_one_are_not_infinitely_bad() {
    let c = report(&[(1.0, 0), (0.0, 1), (1.0, 1), (0.0, 0)], 10);
    assert_eq!(c.impossible, 2);
    let bad = LEAST_PROBABILITY.ln();
    let good = (1.0 - LEAST_PROBABILITY).ln();
    assert_close(c.log_likelihood, (bad + good) / 2.0);
    assert_close(c.equal_width_ece.value, 0.5);
}

#[test]
fn probabilities_are_from_zero_to_one() {
    for bad in [f64::NAN, f64::INFINITY, -0.01, 1.01] {
        assert_eq!(Probability::new(bad), None);
    }
    assert!(Probability::new(-0.0).unwrap().get().is_sign_positive());
    assert_eq!(Probability::new(1.0).unwrap().get(), 1.0);
}

#[test]
fn wilson_by_hand() {
    // 8 of 10, from the formula with z = 1.96.
    let interval = wilson(8, 10);
    assert!((interval.low - 0.4902).abs() < 1e-4 && (interval.high - 0.9433).abs() < 1e-4);
    assert_eq!(wilson(0, 10).low, 0.0);
    assert_eq!(wilson(10, 10).high, 1.0);
    assert_eq!(wilson(0, 0), Interval { low: 0.0, high: 1.0 });
}

/// Simulates forecasts of probability p that come true with probability `truth(p)`.
fn simulate(n: usize, seed: u64, truth: impl Fn(f64) -> f64) -> Vec<Forecast> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    (0..n)
        .map(|_| {
            let p = 1.0 - uniform().powi(3); // mostly near 1, like those of a parser
            Forecast { probability: Probability::new(p).unwrap(), correct: uniform() < truth(p) }
        })
        .collect()
}

#[test]
fn perfect_probabilities_have_the_expected_error() {
    let bins = NonZeroUsize::new(10).unwrap();
    let runs = 200;
    let mut found = 0.0;
    let mut expected = 0.0;
    for seed in 0..runs {
        let c = Calibration::new(&simulate(1000, seed, |p| p), 1000, bins).unwrap();
        found += c.ece.value / runs as f64;
        expected += c.ece.if_calibrated / runs as f64;
    }
    // The standard error of the mean of 200 is below 2 %.
    assert!((found / expected - 1.0).abs() < 0.06, "{found} {expected}");

    let overconfident = simulate(1000, 1, |p| p * p);
    let c = Calibration::new(&overconfident, 1000, bins).unwrap();
    assert!(c.ece.value > 4.0 * c.ece.if_calibrated);
}

/// The slow twin of the curve: the mean over orders of ties, one error at a time.
fn expected_risk(forecasts: &[Forecast], k: usize) -> f64 {
    let p = |f: &Forecast| f.probability.get();
    let mut sorted = forecasts.to_vec();
    sorted.sort_by(|a, b| p(b).total_cmp(&p(a)));
    let last = p(&sorted[k - 1]);
    let errors = |keep: &dyn Fn(f64) -> bool| {
        forecasts.iter().filter(|f| keep(p(f)) && !f.correct).count() as f64
    };
    let above = forecasts.iter().filter(|f| p(f) > last).count();
    let ties = forecasts.iter().filter(|f| p(f) == last).count();
    let share = (k - above) as f64 / ties as f64;
    (errors(&|p| p > last) + share * errors(&|p| p == last)) / k as f64
}

proptest! {
    #[test]
    fn all_measures_are_consistent(
        forecasts in prop::collection::vec((0u32..=20, 0u8..=1), 1..150),
        bins in 1usize..20,
    ) {
        let forecasts: Vec<_> =
            forecasts.iter().map(|&(p, c)| forecast((f64::from(p) / 20.0, c))).collect();
        let n = forecasts.len();
        let bins = NonZeroUsize::new(bins).unwrap();
        let c = Calibration::new(&forecasts, n, bins).unwrap();

        for ece in [&c.ece, &c.equal_width_ece] {
            prop_assert_eq!(ece.bins.iter().map(|bin| bin.count).sum::<usize>(), n);
            prop_assert!(ece.bins.len() <= bins.get());
            prop_assert!(ece.bins.windows(2).all(|pair| pair[0].high <= pair[1].low));
            for bin in &ece.bins {
                prop_assert!(bin.low <= bin.mean_probability + 1e-12);
                prop_assert!(bin.mean_probability <= bin.high + 1e-12);
                prop_assert!(bin.interval.low <= bin.accuracy && bin.accuracy <= bin.interval.high);
            }
            // By the triangle inequality, one bin hides errors that several bins show.
            prop_assert!((c.accuracy - c.mean_probability).abs() <= ece.value + 1e-12);
            prop_assert!(ece.value <= 1.0);
        }
        let b = c.brier;
        let parts = b.reliability - b.resolution + b.uncertainty + b.within_bins;
        prop_assert!((b.score - parts).abs() < 1e-12);
        prop_assert!(b.reliability >= 0.0 && b.resolution >= 0.0);
        prop_assert!(c.average_precision <= c.accuracy + 1e-12);

        // The curve and its area, against the slow twin.
        let all: Vec<f64> = (1..=n).map(|k| expected_risk(&forecasts, k)).collect();
        prop_assert!((c.area_under_risk_coverage - all.iter().sum::<f64>() / n as f64).abs() < 1e-9);
        prop_assert_eq!(c.risk_coverage.len(), n.min(100));
        for point in &c.risk_coverage {
            let k = (point.coverage * n as f64).round() as usize;
            prop_assert!((point.risk - all[k - 1]).abs() < 1e-9);
        }
        let last = c.risk_coverage.last().unwrap();
        prop_assert!(last.coverage == 1.0 && (last.risk - (1.0 - c.accuracy)).abs() < 1e-9);

        // The order of the input does not matter.
        let reversed: Vec<_> = forecasts.iter().rev().copied().collect();
        prop_assert_eq!(&Calibration::new(&reversed, n, bins).unwrap().ece, &c.ece);
    }

    /// With one bin for every probability, Murphy's three parts are complete.
    #[test]
    fn murphys_decomposition(forecasts in prop::collection::vec((0u32..5, 0u8..=1), 1..100)) {
        let forecasts: Vec<_> =
            forecasts.iter().map(|&(p, c)| (0.1 + f64::from(p) / 5.0, c)).collect();
        let forecasts: Vec<_> = forecasts.into_iter().map(forecast).collect();
        let falling = {
            let mut falling = forecasts.clone();
            falling.sort_by(|a, b| b.probability.get().total_cmp(&a.probability.get()));
            falling
        };
        let c = Calibration::new(&forecasts, 1, NonZeroUsize::new(5).unwrap()).unwrap();
        let b = brier(&falling, c.accuracy, &c.equal_width_ece.bins);
        prop_assert!(b.within_bins.abs() < 1e-12, "{}", b.within_bins);
    }
}
