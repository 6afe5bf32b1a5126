//! The solver's paths against each other, against exact arithmetic and against their guarantees.

use num_bigint::BigUint;
use proptest::prelude::*;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use super::eliminate::{Eliminate, Elimination, PivotRule};
use super::shift::Shift;
use super::solve::{self, Path, SolveWorkspace};
use super::sweep::{self, SweepWorkspace};
use crate::tree_set::Roots;
use crate::uniform::uniform;
use crate::weight::{Graded, Log, Weight};
use crate::{ArcMatrix, TreeSet, oracle};

/// Approximately N(0, 1): the sum of twelve uniform numbers.
fn normal(rng: &mut Pcg64) -> f64 {
    (0..12).map(|_| uniform(rng)).sum::<f64>() - 6.0
}

fn random_scores(words: usize, sigma: f64, masked: f64, seed: u64) -> ArcMatrix {
    let mut rng = Pcg64::seed_from_u64(seed);
    ArcMatrix::from_fn(words, |_, _| {
        let score = sigma * normal(&mut rng);
        if uniform(&mut rng) < masked { f64::NEG_INFINITY } else { score }
    })
}

/// Scores as a trained model gives: N(0, 5), and each word's head in a random single-root tree 8
/// nats ahead of all others.
fn trained_like(words: usize, seed: u64) -> ArcMatrix {
    let mut scores = random_scores(words, 5.0, 0.0, seed);
    let mut rng = Pcg64::seed_from_u64(seed ^ 0x5eed);
    for modifier in 1..=words {
        let head = if modifier == 1 {
            0
        } else {
            1 + (uniform(&mut rng) * (modifier - 1) as f64) as usize
        };
        let best = (0..=words)
            .filter(|&other| other != modifier)
            .map(|other| scores[(other, modifier)])
            .fold(f64::NEG_INFINITY, f64::max);
        scores[(head, modifier)] = best + 8.0;
    }
    scores
}

fn set_of(roots: Roots) -> TreeSet {
    match roots {
        Roots::Multi => TreeSet::NonProjectiveMultiRoot,
        Roots::Single => TreeSet::NonProjectiveSingleRoot,
    }
}

const BOTH: [Roots; 2] = [Roots::Multi, Roots::Single];

/// ln Z and marginals by elimination in one number type; `None` where that type declines.
fn eliminated<W: Eliminate>(
    scores: &ArcMatrix,
    roots: Roots,
    rule: PivotRule,
    root_weight: impl Fn(f64) -> W,
    usable: impl Fn(W) -> bool,
) -> Option<(f64, ArcMatrix)> {
    let mut shift = Shift::default();
    let mut elimination = Elimination::default();
    shift.measure(scores, roots).then_some(())?;
    solve::load(scores, &shift, root_weight, &mut elimination);
    elimination.solve(rule, &usable)?;
    let total = elimination.total(rule, &usable)?;
    let mut marginals = ArcMatrix::zeros(scores.words());
    solve::read_marginals(&mut elimination, &mut Vec::new(), &mut marginals);
    Some((total.log + shift.total, marginals))
}

fn linear(scores: &ArcMatrix, roots: Roots) -> Option<(f64, ArcMatrix)> {
    let rule = match roots {
        Roots::Multi => PivotRule::WithRoot,
        Roots::Single => PivotRule::WordsOnly,
    };
    eliminated(scores, roots, rule, f64::from_log, |d| d >= 1e-60)
}

/// The path for any scores: logarithms, graded for single-root sets.
fn extended(scores: &ArcMatrix, roots: Roots) -> Option<(f64, ArcMatrix)> {
    let rule = PivotRule::WithRoot;
    match roots {
        Roots::Multi => eliminated(scores, roots, rule, Log, |d| !d.is_zero()),
        Roots::Single => {
            let graded = |log| Graded { order: 1, log };
            eliminated(scores, roots, rule, graded, |d| !d.is_zero())
        }
    }
}

fn swept(scores: &ArcMatrix, roots: Roots) -> Option<(f64, ArcMatrix, f64)> {
    let mut shift = Shift::default();
    shift.measure(scores, roots).then_some(())?;
    let mut marginals = ArcMatrix::default();
    let mut ws = SweepWorkspace::default();
    let swept = sweep::marginals(scores, roots, &shift, f64::INFINITY, &mut ws, &mut marginals)?;
    Some((swept.log_partition, marginals, swept.certificate))
}

fn largest_difference(a: &ArcMatrix, b: &ArcMatrix) -> f64 {
    a.arcs().map(|(h, m, p)| (p - b[(h, m)]).abs()).fold(0.0, f64::max)
}

/// 2^exponent with whole exponents, so that sums over trees are exact in big integers.
fn powers_of_two(words: usize, bits: f64, seed: u64) -> (ArcMatrix, Vec<i64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let side = words + 1;
    let exponents: Vec<i64> =
        (0..side * side).map(|_| (bits * normal(&mut rng)).round() as i64).collect();
    let scores =
        ArcMatrix::from_fn(words, |h, m| exponents[h * side + m] as f64 * std::f64::consts::LN_2);
    (scores, exponents)
}

/// Returns ln of a ratio of big integers, to 60 bits.
fn ln_ratio(numerator: &BigUint, denominator: &BigUint) -> f64 {
    let shift = 120 + denominator.bits() as i64 - numerator.bits() as i64;
    let quotient = if shift >= 0 {
        (numerator << shift as u64) / denominator
    } else {
        numerator / (denominator << (-shift) as u64)
    };
    let drop = quotient.bits() - 60;
    let top = u64::try_from(quotient >> drop).expect("sixty bits");
    (top as f64).ln() + (drop as i64 - shift) as f64 * std::f64::consts::LN_2
}

/// Exact ln μ of every arc for weights 2^exponent.
fn exact_log_marginals(words: usize, exponents: &[i64], set: TreeSet) -> ArcMatrix {
    let side = words + 1;
    let lowest = exponents.iter().min().copied().unwrap_or(0);
    let mut total = BigUint::ZERO;
    let mut with_arc = vec![BigUint::ZERO; side * side];
    for tree in oracle::all_trees(words, set) {
        let power: i64 = tree.arcs().map(|(h, m)| exponents[h * side + m] - lowest).sum();
        let weight = BigUint::from(1u8) << power as u64;
        for (h, m) in tree.arcs() {
            with_arc[h * side + m] += &weight;
        }
        total += weight;
    }
    ArcMatrix::from_fn(words, |h, m| {
        let sum = &with_arc[h * side + m];
        if *sum == BigUint::ZERO { f64::NEG_INFINITY } else { ln_ratio(sum, &total) }
    })
}

#[test]
fn elimination_has_every_digit_of_every_marginal() {
    // Relative error against exact arithmetic; the exponents of the weights have a deviation of 60 bits.
    for roots in BOTH {
        for seed in 0..40 {
            let words = 2 + (seed as usize % 4);
            let (scores, exponents) = powers_of_two(words, 60.0, seed);
            let exact = exact_log_marginals(words, &exponents, set_of(roots));
            for (_, marginals) in
                [linear(&scores, roots), extended(&scores, roots)].into_iter().flatten()
            {
                for (h, m, p) in marginals.arcs() {
                    let expected = exact[(h, m)];
                    if expected > -690.0 {
                        assert!(
                            (p.ln() - expected).abs() <= 1e-12,
                            "{roots:?} {h} → {m}: ln {p} is not {expected}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn the_certificate_is_never_exceeded() {
    for roots in BOTH {
        for (index, sigma) in [1.0, 3.0, 10.0, 20.0, 40.0].into_iter().enumerate() {
            for seed in 0..60 {
                let words = [3, 5, 10, 20][seed as usize % 4];
                let scores = random_scores(words, sigma, 0.0, seed + 1000 * index as u64);
                let Some((_, fast, certificate)) = swept(&scores, roots) else { continue };
                let (_, exact) = extended(&scores, roots).expect("nothing is forbidden");
                let error = largest_difference(&fast, &exact);
                // The reference itself is accurate to about n·ε·|scores|.
                let slack = 4e-16 * sigma * words as f64;
                assert!(
                    error <= certificate + slack,
                    "{roots:?} N(0, {sigma}), {words} words: {error:e} above {certificate:e}"
                );
            }
        }
    }
}

#[test]
fn the_certificate_holds_against_exact_arithmetic() {
    for roots in BOTH {
        for seed in 0..60 {
            let words = 3 + (seed as usize % 3);
            let bits = [2.0, 5.0, 15.0, 30.0][seed as usize % 4];
            let (scores, exponents) = powers_of_two(words, bits, seed);
            let exact = exact_log_marginals(words, &exponents, set_of(roots));
            let Some((_, fast, certificate)) = swept(&scores, roots) else { continue };
            // k·ln 2 is itself rounded before the solver sees it.
            let largest = scores.arcs().map(|(_, _, score)| score.abs()).fold(0.0, f64::max);
            let allowed = certificate + f64::EPSILON * largest;
            for (h, m, p) in fast.arcs() {
                let error = (p - exact[(h, m)].exp()).abs();
                assert!(error <= allowed, "{roots:?} {h} → {m}: {error:e} > {allowed:e}");
            }
        }
    }
}

/// Returns the number of score matrices, out of `cases`, that each path answers.
fn paths(roots: Roots, cases: u64, scores: impl Fn(u64) -> ArcMatrix) -> [u64; 3] {
    let mut counts = [0; 3];
    let mut ws = SolveWorkspace::default();
    let mut out = ArcMatrix::default();
    for seed in 0..cases {
        let (_, path) = solve::marginals(&scores(seed), roots, &mut ws, &mut out).expect("a tree");
        counts[match path {
            Path::Sweep => 0,
            Path::Linear => 1,
            Path::Extended => 2,
        }] += 1;
    }
    counts
}

#[test]
fn the_fast_path_answers_ordinary_scores() {
    for roots in BOTH {
        for words in [10, 20, 40, 80] {
            let cases = if words > 40 { 100 } else { 300 };
            let [fast, ..] = paths(roots, cases, |seed| random_scores(words, 3.0, 0.0, seed));
            assert!(fast * 100 >= cases * 99, "{roots:?} {words} words: {fast} of {cases}");
            let [fast, ..] = paths(roots, cases, |seed| trained_like(words, seed));
            assert!(fast * 100 >= cases * 99, "trained {roots:?} {words}: {fast} of {cases}");
        }
    }
}

#[test]
fn plain_elimination_answers_up_to_a_spread_of_twenty() {
    for roots in BOTH {
        for (words, cases) in [(5, 200), (10, 200), (20, 200), (40, 60)] {
            for sigma in [5.0, 10.0, 20.0] {
                for seed in 0..cases {
                    let scores = random_scores(words, sigma, 0.0, seed);
                    assert!(linear(&scores, roots).is_some(), "{roots:?} {words} N(0, {sigma})");
                }
            }
        }
    }
}

#[test]
fn log_partition_and_marginals_give_the_same_bits() {
    let mut ws = SolveWorkspace::default();
    let mut out = ArcMatrix::default();
    for roots in BOTH {
        for seed in 0..300 {
            let sigma = [1.0, 10.0, 100.0, 1e4][seed as usize % 4];
            let masked = [0.0, 0.3][seed as usize / 4 % 2];
            let scores = random_scores(1 + seed as usize % 23, sigma, masked, seed);
            let alone = solve::log_partition(&scores, roots, &mut ws);
            match solve::marginals(&scores, roots, &mut ws, &mut out) {
                Some((together, _)) => assert_eq!(alone.to_bits(), together.to_bits()),
                None => assert_eq!(alone, f64::NEG_INFINITY),
            }
        }
    }
}

#[test]
fn every_last_word_gives_the_same_total() {
    // Each word left last gives ln Z once; permuting the words changes which one is left.
    for roots in BOTH {
        for seed in 0..50 {
            let words = 2 + seed as usize % 12;
            let scores = random_scores(words, 30.0, 0.0, seed);
            let place = |word: usize| if word == 0 { 0 } else { word % words + 1 };
            let mut turned = ArcMatrix::zeros(words);
            for (h, m, score) in scores.arcs() {
                turned[(place(h), place(m))] = score;
            }
            let (log_z, _) = extended(&scores, roots).expect("a tree");
            let (turned_log_z, _) = extended(&turned, roots).expect("a tree");
            assert!((log_z - turned_log_z).abs() <= 1e-10 * log_z.abs().max(1.0));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// All number types agree, and so does the sweep where its certificate accepts.
    #[test]
    fn all_paths_agree_where_accepted(
        words in 1usize..25,
        sigma in prop::sample::select(vec![0.0, 1.0, 5.0, 30.0, 200.0]),
        masked in prop::sample::select(vec![0.0, 0.3, 0.6]),
        seed in any::<u64>(),
    ) {
        let scores = random_scores(words, sigma, masked, seed);
        for roots in BOTH {
            let Some((log_z, reference)) = extended(&scores, roots) else { continue };
            let tolerance = 1e-11 * f64::max(1.0, log_z.abs());
            if let Some((other, marginals)) = linear(&scores, roots) {
                prop_assert!((log_z - other).abs() <= tolerance);
                prop_assert!(largest_difference(&reference, &marginals) <= 1e-11);
            }
            if let Some((other, marginals, certificate)) = swept(&scores, roots) {
                prop_assert!((log_z - other).abs() <= tolerance);
                if certificate <= solve::LARGEST_CERTIFICATE {
                    prop_assert!(largest_difference(&reference, &marginals) <= 2e-12);
                }
            }
        }
    }

    /// Elimination and graph search agree on the existence of a tree.
    #[test]
    fn elimination_knows_what_is_possible(
        words in 1usize..9,
        masked in prop::sample::select(vec![0.3, 0.6, 0.8]),
        seed in any::<u64>(),
    ) {
        let scores = random_scores(words, 10.0, masked, seed);
        let mut ws = SolveWorkspace::default();
        for roots in BOTH {
            let possible = super::feasible::unattachable(&scores, roots).is_empty();
            let log_z = solve::log_partition(&scores, roots, &mut ws);
            prop_assert_eq!(possible, log_z > f64::NEG_INFINITY);
            let solved = solve::marginals(&scores, roots, &mut ws, &mut ArcMatrix::default());
            prop_assert_eq!(possible, solved.is_some());
        }
    }
}
