//! Joint probabilities of arcs, covariances, second derivatives.

use proptest::prelude::*;
use tutte_trees::{ArcMatrix, TreeDistribution, Workspace, arc_covariances_with};

use super::support::*;

proptest! {
    #![proptest_config(runs(150))]

    #[test]
    fn pairs_and_triples_are_those_of_enumeration(case in cases(1..=4)) {
        let n = case.scores.words();
        let mut random = case.random();
        for (set, d) in case.distributions() {
            let all = Enumerated::trees(&case.scores, set);
            let arcs: Vec<_> = d.scores().arcs().map(|(head, modifier, _)| (head, modifier)).collect();
            for (at, &first) in arcs.iter().enumerate() {
                for &second in &arcs[at..] {
                    let expected = all.marginal(&[first, second]);
                    let what = format!("{set} {first:?} {second:?}");
                    let found = d.pair_marginal(first, second).unwrap();
                    assert_close(found, expected, case.tolerance(), &what);
                    assert_eq!(found, d.pair_marginal(second, first).unwrap(), "{what}");
                    // Arcs that exclude each other have joint probability exactly 0.
                    if first.1 == second.1 && first != second {
                        assert_eq!(found, 0.0, "{what}");
                    }
                }
            }
            for _ in 0..20 {
                let triple = [random.arc(n), random.arc(n), random.arc(n)];
                let found = d.joint_marginal(&triple).unwrap();
                let expected = all.marginal(&triple);
                assert_close(found, expected, case.tolerance(), format!("{set} {triple:?}"));
            }
            assert_eq!(d.joint_marginal(&[]).unwrap(), 1.0);
            for outcome in &all.outcomes {
                let arcs: Vec<_> = outcome.what.arcs().collect();
                let found = d.joint_marginal(&arcs).unwrap();
                assert_close(found, outcome.p(), case.tolerance(), format!("{set} {arcs:?}"));
            }
        }
    }

    #[test]
    fn covariances_are_those_of_enumeration(case in cases(1..=4)) {
        let n = case.scores.words();
        let mut random = case.random();
        let (f, g) = (random.scores(n, 1.0), random.scores(n, 1.0));
        let mut ws = Workspace::default();
        let mut found = ArcMatrix::default();
        let tolerance = 10.0 * case.tolerance();
        for (set, d) in case.distributions() {
            let all = Enumerated::trees(&case.scores, set);
            let expected = ArcMatrix::from_fn(n, |head, modifier| {
                let arc = |tree: &tutte_trees::Tree| f64::from(tree.head(modifier) == Some(head));
                all.covariance(arc, sum_of(&g))
            });
            assert_arcs_close(&d.arc_covariances(&g).unwrap(), &expected, tolerance, set);
            let mean = arc_covariances_with(&case.scores, &g, set, &mut ws, &mut found).unwrap();
            assert_arcs_close(&found, &expected, tolerance, set);
            assert_close(mean, all.expectation(sum_of(&g)), tolerance, set);
            assert_close(d.expectation(&g).unwrap(), mean, tolerance, set);
            let expected = all.covariance(sum_of(&f), sum_of(&g));
            assert_close(d.covariance(&f, &g).unwrap(), expected, tolerance, set);
        }
    }

    #[test]
    fn covariances_are_derivatives_of_marginals(case in mild_cases(1..=10)) {
        const STEP: f64 = 1e-5;
        let g = case.random().scores(case.scores.words(), 1.0);
        for (set, d) in case.distributions() {
            let marginals = |step: f64| {
                let mut moved = case.scores.clone();
                for (head, modifier, value) in g.arcs() {
                    moved[(head, modifier)] += step * value;
                }
                TreeDistribution::new(moved, set).unwrap().marginals().clone()
            };
            let (up, down) = (marginals(STEP), marginals(-STEP));
            let expected = ArcMatrix::from_fn(g.words(), |head, modifier| {
                (up[(head, modifier)] - down[(head, modifier)]) / (2.0 * STEP)
            });
            assert_arcs_close(&d.arc_covariances(&g).unwrap(), &expected, 1e-7, set);
        }
    }
}

proptest! {
    #![proptest_config(runs(80))]

    #[test]
    fn some_head_goes_with_every_arc(case in cases(2..=20)) {
        let n = case.scores.words();
        let mut random = case.random();
        for (set, d) in case.distributions() {
            for _ in 0..3 {
                let first = random.arc(n);
                let word = 1 + random.below(n);
                let heads = (0..=n).filter(|&head| head != word);
                let sum: f64 = heads.map(|head| d.pair_marginal(first, (head, word)).unwrap()).sum();
                let tolerance = 1e-11f64.max(1e-14 * n as f64 * case.scale);
                let what = format!("{set} {first:?} and the heads of {word}");
                assert_close(sum, d.marginals()[first], tolerance, what);
            }
        }
    }

    #[test]
    fn covariances_are_symmetric(case in cases(5..=30)) {
        let n = case.scores.words();
        let mut random = case.random();
        let (f, g) = (random.scores(n, 1.0), random.scores(n, 1.0));
        let dot = |a: &ArcMatrix, b: &ArcMatrix| -> f64 {
            a.arcs().map(|(head, modifier, value)| value * b[(head, modifier)]).sum()
        };
        // A constant per word adds the same to every tree.
        let constant = ArcMatrix::from_fn(n, |_, modifier| modifier as f64);
        for (set, d) in case.distributions() {
            let tolerance = 1e-10f64.max(1e-13 * n as f64 * case.scale);
            let (cf, cg) = (d.arc_covariances(&f).unwrap(), d.arc_covariances(&g).unwrap());
            assert_close(dot(&f, &cg), dot(&g, &cf), tolerance, set);
            assert_close(d.covariance(&f, &g).unwrap(), dot(&f, &cg), tolerance, set);
            assert!(d.covariance(&f, &f).unwrap() >= -tolerance, "{set}");
            for modifier in 1..=n {
                let heads = (0..=n).filter(|&head| head != modifier);
                let sum: f64 = heads.map(|head| cg[(head, modifier)]).sum();
                assert_close(sum, 0.0, tolerance, format!("{set} heads of {modifier}"));
            }
            for (head, modifier, c) in d.arc_covariances(&constant).unwrap().arcs() {
                assert_close(c, 0.0, tolerance, format!("{set} {head} → {modifier}"));
            }
        }
    }
}

/// Products of such values are beyond `f64`; differences of two infinities would be NaN.
#[test]
fn covariances_of_the_largest_values_are_not_nan() {
    for (set, d) in distributions(&Random::new(3).scores(4, 1.0)) {
        let mut random = Random::new(4);
        let small = random.scores(4, 1.0);
        let large = ArcMatrix::from_fn(4, |head, modifier| {
            small[(head, modifier)].clamp(-1.0, 1.0) * ArcMatrix::MAX_SCORE
        });
        assert!(!d.covariance(&large, &large).unwrap().is_nan(), "{set}");
        let scaled = ArcMatrix::from_fn(4, |head, modifier| large[(head, modifier)] * 1e-300);
        let expected = d.covariance(&scaled, &small).unwrap();
        let found = d.covariance(&large, &small).unwrap() / ArcMatrix::MAX_SCORE;
        assert_close(found, expected, 1e-10, set);
    }
}
