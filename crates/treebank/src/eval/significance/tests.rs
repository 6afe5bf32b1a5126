use std::num::NonZeroU32;

use proptest::prelude::*;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::*;

fn counts(correct: u32, gold: u32, system: u32) -> UnitCounts {
    UnitCounts { correct, gold, system }
}

fn resampling(resamples: u32, seed: u64) -> Resampling {
    Resampling { resamples: NonZeroU32::new(resamples).unwrap(), seed }
}

fn uniform(rng: &mut Pcg64) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn hits(n: u32, probability: f64, rng: &mut Pcg64) -> u32 {
    (0..n).filter(|_| uniform(rng) < probability).count() as u32
}

/// Simulates sentences of 5 to 35 words, some easy and some hard for both systems. Each system
/// splits a few words differently. The second one gets `edge` more words right.
fn simulate(sentences: usize, edge: f64, rng: &mut Pcg64) -> Vec<[UnitCounts; 2]> {
    (0..sentences)
        .map(|_| {
            let gold = 5 + below(31, rng) as u32;
            let ease = 0.6 + 0.3 * uniform(rng);
            [ease, ease + edge].map(|accuracy| {
                counts(hits(gold, accuracy, rng), gold, gold + below(3, rng) as u32)
            })
        })
        .collect()
}

/// The slow twin: every swap explicitly, F₁ by definition, compared with a tolerance.
fn enumerate_swaps(units: &[[UnitCounts; 2]]) -> f64 {
    let f1 = |of: &dyn Fn(usize) -> UnitCounts| {
        let mut correct = 0.0;
        let mut total = 0.0;
        for unit in 0..units.len() {
            correct += f64::from(of(unit).correct);
            total += f64::from(of(unit).gold + of(unit).system);
        }
        if total == 0.0 { 0.0 } else { 2.0 * correct / total }
    };
    let delta = |swapped: usize| {
        let side = |unit: usize, system: usize| units[unit][system ^ (swapped >> unit & 1)];
        (f1(&|unit| side(unit, 1)) - f1(&|unit| side(unit, 0))).abs()
    };
    let all = 1 << units.len();
    (0..all).filter(|&swapped| delta(swapped) >= delta(0) - 1e-12).count() as f64 / all as f64
}

fn arbitrary_counts() -> impl Strategy<Value = UnitCounts> {
    (0u32..6, 0u32..4, 0u32..4)
        .prop_map(|(correct, missed, wrong)| counts(correct, correct + missed, correct + wrong))
}

proptest! {
    #[test]
    fn exact_permutations_are_all_swaps(
        units in prop::collection::vec([arbitrary_counts(), arbitrary_counts()], 0..9)
    ) {
        let test = permutation_test(&units, &Resampling::default());
        prop_assert!(test.exact);
        prop_assert!((test.p - enumerate_swaps(&units)).abs() < 1e-12);
    }

    #[test]
    fn the_order_of_systems_does_not_matter(
        units in prop::collection::vec([arbitrary_counts(), arbitrary_counts()], 1..60)
    ) {
        let swapped: Vec<_> = units.iter().map(|&[first, second]| [second, first]).collect();
        let resampling = resampling(99, 3);
        let one = compare(&units, &resampling);
        let other = compare(&swapped, &resampling);
        prop_assert_eq!(one.difference, -other.difference);
        prop_assert_eq!(one.permutation, other.permutation);
        prop_assert_eq!(one.sign.p, other.sign.p);
        prop_assert_eq!(one.bootstrap.difference.low, -other.bootstrap.difference.high);
        prop_assert_eq!(one.bootstrap.first, other.bootstrap.second);
    }

    #[test]
    fn a_system_does_not_differ_from_itself(
        units in prop::collection::vec(arbitrary_counts(), 0..60)
    ) {
        let units: Vec<_> = units.into_iter().map(|unit| [unit, unit]).collect();
        let comparison = compare(&units, &resampling(50, 1));
        prop_assert_eq!(comparison.difference, 0.0);
        prop_assert_eq!(comparison.permutation.p, 1.0);
        prop_assert_eq!(comparison.sign.p, 1.0);
        prop_assert_eq!(comparison.bootstrap.difference, Interval { low: 0.0, high: 0.0 });
    }
}

#[test]
fn random_swaps_agree_with_all_swaps() {
    let mut rng = Pcg64::seed_from_u64(5);
    for edge in [0.0, 0.03, 0.1] {
        let units = simulate(18, edge, &mut rng);
        let exact = exact_permutations(&units).p;
        let random = random_permutations(&units, &resampling(40_000, 2)).p;
        // Four standard errors of 40,000 coin flips are at most 0.01.
        assert!((exact - random).abs() < 0.01, "{exact} {random}");
    }
}

/// The Kolmogorov–Smirnov statistic: largest distance of an empirical distribution from the uniform
/// one.
fn distance_from_uniform(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len() as f64;
    let steps = values.iter().enumerate();
    steps.map(|(i, &v)| (v - i as f64 / n).max((i + 1) as f64 / n - v)).fold(0.0, f64::max)
}

#[test]
fn p_values_are_uniform_under_the_null() {
    let mut rng = Pcg64::seed_from_u64(21);
    let simulations = 1000;
    let p: Vec<f64> = (0..simulations)
        .map(|i| permutation_test(&simulate(60, 0.0, &mut rng), &resampling(499, i)).p)
        .collect();
    // A test at the 1 % level rejects uniformity above 1.63/√n.
    let distance = distance_from_uniform(p);
    assert!(distance < 1.63 / (simulations as f64).sqrt(), "{distance}");
}

#[test]
fn larger_edges_are_found_more_often() {
    let mut rng = Pcg64::seed_from_u64(12);
    let mut found = |edge| {
        (0..100)
            .filter(|&i| {
                permutation_test(&simulate(100, edge, &mut rng), &resampling(499, i)).p <= 0.05
            })
            .count()
    };
    let none = found(0.0);
    let small = found(0.02);
    let large = found(0.06);
    // 5 are expected; 13 or more have probability below 0.2 %.
    assert!(none < 13 && none < small && small < large && large > 95, "{none} {small} {large}");
}

#[test]
fn bootstrap_intervals_cover_what_they_should() {
    let mut rng = Pcg64::seed_from_u64(13);
    // All sentences are equally easy and no words are split, so the expected difference is the
    // edge.
    let covered = (0..300)
        .filter(|&i| {
            let units: Vec<_> = (0..80)
                .map(|_| {
                    let n = 5 + below(31, &mut rng) as u32;
                    [0.8, 0.83].map(|accuracy| counts(hits(n, accuracy, &mut rng), n, n))
                })
                .collect();
            let bootstrap = bootstrap(&units, &resampling(400, i));
            let contains =
                |interval: Interval, value| (interval.low..=interval.high).contains(&value);
            contains(bootstrap.difference, 0.83 - 0.8) && contains(bootstrap.first, 0.8)
        })
        .count();
    // Two dependent intervals of 95 %: between 90.25 % and 95 %, that is 271 to 285 of 300, plus or
    // minus three standard errors, which are 16.
    assert!((255..=297).contains(&covered), "{covered}");
}

#[test]
fn sign_tests_by_hand() {
    let half = |n: u32| [counts(0, n, n), counts(n, n, n)];
    let won = half(2);
    let lost = [won[1], won[0]];
    // 2 · (1 + 5) / 32, not counting ties.
    let test = sign_test(&[won, won, lost, won, [won[0]; 2], won, [lost[0]; 2]]);
    assert_eq!(test, SignTest { better: 4, worse: 1, ties: 2, p: test.p });
    assert_eq!(test.p, 12.0 / 32.0);

    // 2 · (C(10,0) + C(10,1) + C(10,2)) / 1024 = 112 / 1024.
    assert_eq!(binomial_p(8, 2), 0.109375);
    assert_eq!(binomial_p(3, 3), 1.0);
    assert_eq!(binomial_p(0, 0), 1.0);
    assert_eq!(binomial_p(0, 1), 1.0);
    // Both methods, on either side of the limit.
    assert!((binomial_p(480, 520) / binomial_p(480, 521) - 1.0).abs() < 0.06);
    // 2ⁿ overflows; the value was computed with integers.
    assert!((binomial_p(5223, 4902) / 0.0014705960893140475 - 1.0).abs() < 1e-10);
}

#[test]
fn units_are_compared_as_fractions() {
    // 1/3 and 2/6 are the same, despite rounding.
    let test = sign_test(&[[counts(1, 3, 3), counts(2, 6, 6)], [counts(0, 0, 0), counts(0, 1, 0)]]);
    assert_eq!((test.better, test.worse, test.ties), (0, 0, 2));
}

#[test]
fn percentiles_are_order_statistics() {
    let mut values: Vec<f64> = (1..=999).rev().map(f64::from).collect();
    assert_eq!(percentiles(&mut values), Interval { low: 25.0, high: 975.0 });
    assert_eq!(percentiles(&mut [2.0, 1.0, 3.0]), Interval { low: 1.0, high: 3.0 });
}

#[test]
fn results_depend_on_the_seed_alone() {
    let units = simulate(40, 0.01, &mut Pcg64::seed_from_u64(14));
    let one = compare(&units, &resampling(500, 1));
    let again = compare(&units, &resampling(500, 1));
    assert_eq!(one, again);
    assert_ne!(one.bootstrap, compare(&units, &resampling(500, 2)).bootstrap);
    // The stream of the generator must never change.
    assert_eq!(Pcg64::seed_from_u64(1).next_u64(), 15_492_934_433_077_865_799);
}
