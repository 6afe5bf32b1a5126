//! Paths taken at each range of scores, and their accuracy.

use rand_core::SeedableRng;
use rand_pcg::Pcg64;

use super::*;

/// 6.75ⁿ leaves the range of `f64` at n ≈ 370.
#[test]
fn overflow_falls_back() {
    let mut ws = ProjectiveWorkspace::default();
    let mut mu = ArcMatrix::default();
    for (words, fast) in [(340, true), (400, false)] {
        let flat = ArcMatrix::zeros(words);
        let n = words as f64;
        // ln C(3n, n) / (2n+1), term by term.
        let expected = (1..=words).map(|i| ((2.0 * n + i as f64) / i as f64).ln()).sum::<f64>()
            - (2.0 * n + 1.0).ln();
        assert_eq!(inside(&flat, Roots::Multi, &mut ws).1 == Filled::Linear, fast);
        let log_z = marginals(&flat, Roots::Multi, &mut ws, &mut mu);
        assert!(close(log_z, expected, 1e-12), "{log_z} {expected}");
        let sum: f64 = (0..=words).map(|head| mu[(head, words / 2)]).sum();
        assert!((sum - 1.0).abs() < 1e-10);
    }
}

/// The fast path must handle ordinary scores, and decline scores on which it would be inaccurate.
#[test]
fn the_fast_path_takes_what_it_should() {
    // Number of sentences out of ten; a random tree is `lead` nats ahead, as in a trained model.
    let accepted = |words: usize, sigma: f64, lead: f64| {
        let mut ws = ProjectiveWorkspace::default();
        let mut out = ArcMatrix::default();
        let trees = Sampler::new(&ArcMatrix::zeros(words), Roots::Multi).unwrap();
        let taken = (0..10).filter(|&seed| {
            let mut scores = random_scores(words, sigma, 0.0, false, seed);
            let mut heads = Vec::new();
            trees.sample(&mut Pcg64::seed_from_u64(seed), &mut heads);
            for (index, &head) in heads.iter().enumerate() {
                scores[(head, index + 1)] += lead;
            }
            let roots = BOTH[seed as usize % 2].0;
            inside(&scores, roots, &mut ws).1 == Filled::Linear
                && ws.linear.marginals(roots, &mut out)
        });
        taken.count()
    };
    for words in [5, 10, 40, 160] {
        for (sigma, lead) in [(0.0, 0.0), (1.0, 0.0), (3.0, 0.0), (5.0, 8.0)] {
            assert_eq!(accepted(words, sigma, lead), 10, "{words} words, {sigma} + {lead}");
        }
    }
    assert_eq!(accepted(320, 1.0, 0.0), 10);
    assert_eq!(accepted(20, 20.0, 0.0), 10);
    assert_eq!(accepted(20, 1e5, 0.0), 0);
}

/// Long sentences whose column maxima underflow: scaled by the best tree, the fast path is accurate.
#[test]
fn long_peaked_sentences_agree_with_the_log_chart() {
    let mut ws = ProjectiveWorkspace::default();
    let mut fast = ArcMatrix::default();
    let mut any_range = ArcMatrix::default();
    for (seed, sigma) in [1.0, 3.0, 5.0, 10.0].into_iter().enumerate() {
        let scores = random_scores(120, sigma, 0.05, false, seed as u64);
        for (roots, _) in BOTH {
            assert_eq!(inside(&scores, roots, &mut ws).1, Filled::Linear);
            let log_z = marginals(&scores, roots, &mut ws, &mut fast);
            let log_z_again = any_range_marginals(&scores, roots, &mut ws, &mut any_range);
            assert!(close(log_z, log_z_again, 1e-13));
            assert!(distance(&fast, &any_range) < 1e-11);
        }
    }
}

/// Weights that are powers of two, of deviation 60 bits, against integer arithmetic: small
/// probabilities have as many correct digits as large ones.
#[test]
fn marginals_are_accurate_relative_to_themselves() {
    use num_bigint::BigUint;
    // Both as a 64-bit integer times a power of two.
    let quotient = |a: &BigUint, b: &BigUint| {
        let split = |x: &BigUint| {
            let shift = x.bits().saturating_sub(64);
            ((x >> shift).iter_u64_digits().next().unwrap_or(0) as f64, shift as i32)
        };
        let ((a, a_shift), (b, b_shift)) = (split(a), split(b));
        a / b * 2f64.powi(a_shift - b_shift)
    };
    let mut ws = ProjectiveWorkspace::default();
    let mut mu = ArcMatrix::default();
    for seed in 0..60 {
        let mut bits = random_scores(4, 60.0, 0.1, false, seed);
        bits = ArcMatrix::from_fn(4, |head, modifier| bits[(head, modifier)].round());
        let scores =
            ArcMatrix::from_fn(4, |head, modifier| bits[(head, modifier)] * std::f64::consts::LN_2);
        for (roots, set) in BOTH {
            if marginals(&scores, roots, &mut ws, &mut mu) == f64::NEG_INFINITY {
                continue;
            }
            let weigh = |arc: Option<(usize, usize)>| -> BigUint {
                oracle::scored_trees(&bits, set)
                    .iter()
                    .filter(|(_, tree)| arc.is_none_or(|(head, m)| tree.head(m) == Some(head)))
                    .map(|(sum, _)| BigUint::from(1u8) << (sum + 2000.0) as u64)
                    .sum()
            };
            let total = weigh(None);
            for (head, modifier, p) in mu.arcs() {
                let expected = quotient(&weigh(Some((head, modifier))), &total);
                let enough = expected < 1e-200 || (p / expected - 1.0).abs() < 1e-12;
                assert!(enough, "{p:e} {expected:e}");
            }
        }
    }
}

#[test]
fn the_largest_scores_give_numbers() {
    let signs = random_scores(12, 1.0, 0.3, false, 11);
    let scores = ArcMatrix::from_fn(12, |head, modifier| {
        let sign = signs[(head, modifier)];
        if sign == f64::NEG_INFINITY { sign } else { sign.signum() * ArcMatrix::MAX_SCORE }
    });
    let mut ws = ProjectiveWorkspace::default();
    let mut mu = ArcMatrix::default();
    for (roots, _) in BOTH {
        let log_z = marginals(&scores, roots, &mut ws, &mut mu);
        assert!(log_z.is_finite());
        for modifier in 1..=12 {
            let sum: f64 = (0..=12).map(|head| mu[(head, modifier)]).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
        assert_eq!(kbest(&scores, roots, 5).len(), 5);
        assert!(arc_covariances(&scores, roots, &mu).arcs().all(|(.., c)| c.is_finite()));
        assert!(moments(&scores, roots, &mu, &mu).covariance.is_finite());
    }
}
