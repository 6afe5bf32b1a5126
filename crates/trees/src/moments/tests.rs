//! Fitted distributions against the mixtures and models whose marginals they match.

use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::{Part, SecondOrderDistribution, SecondOrderParts, Tree, oracle};

fn normal(rng: &mut Pcg64) -> f64 {
    (0..12).map(|_| (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
}

/// A mixture of three distributions with random weights: every tree with its probability, and the
/// marginals.
fn mixture(words: usize, set: TreeSet, seed: u64) -> (Vec<f64>, Vec<TreeDistribution>, ArcMatrix) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut weights: Vec<f64> = (0..3).map(|_| normal(&mut rng).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    let mut marginals = ArcMatrix::zeros(words);
    let mut components = Vec::new();
    for weight in &weights {
        let scores = ArcMatrix::from_fn(words, |_, _| 1.5 * normal(&mut rng));
        let component = TreeDistribution::new(scores, set).unwrap();
        marginals.zip_in_place(component.marginals(), |sum, p| sum + weight * p);
        components.push(component);
    }
    (weights, components, marginals)
}

fn largest_error(found: &ArcMatrix, expected: &ArcMatrix) -> f64 {
    found.arcs().zip(expected.arcs()).fold(0.0f64, |high, (a, b)| high.max((a.2 - b.2).abs()))
}

fn match_second_order_model(words: usize, seed: u64) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let scores = SecondOrderParts::from_fn(words, |part| match part {
        Part::Arc { .. } => normal(&mut rng),
        _ => 0.5 * normal(&mut rng),
    });
    for set in [TreeSet::ProjectiveMultiRoot, TreeSet::ProjectiveSingleRoot] {
        let p = SecondOrderDistribution::new(scores.clone(), set).unwrap();
        let fit = fit_marginals(p.marginals().arcs(), set, &MomentOptions::default()).unwrap();
        assert!(fit.residual < 1e-8, "{set}: {fit:?}");
        assert_eq!(fit.border, Border::Inside, "{set}");
        assert_eq!(fit.distribution.mbr(), p.mbr());
    }
}

/// Near the solution, a step whose conjugate gradients stall is not a sign of the border.
#[test]
fn rounding_near_the_solution_is_not_the_border() {
    match_second_order_model(3, 10003229818497874298);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn mixtures_are_matched_and_nothing_near_is_nearer(words in 1usize..=4, seed in any::<u64>()) {
        for set in TreeSet::ALL {
            let (weights, components, marginals) = mixture(words, set, seed);
            let fit = fit_marginals(&marginals, set, &MomentOptions::default()).unwrap();
            prop_assert!(fit.residual < 1e-8, "{}: {:?}", set, fit.residual);
            prop_assert!(largest_error(fit.distribution.marginals(), &marginals) < 1e-8);
            prop_assert_eq!(fit.border, Border::Inside);
            prop_assert!(fit.steps <= 25, "{}: {} steps", set, fit.steps);
            // KL(p‖q) by enumeration, for q and for others around it.
            let trees = oracle::all_trees(words, set);
            let p = |tree: &Tree| -> f64 {
                let parts = weights.iter().zip(&components);
                parts.map(|(weight, c)| weight * c.log_prob(tree).unwrap().exp()).sum()
            };
            let divergence = |q: &TreeDistribution| -> f64 {
                trees.iter().map(|tree| p(tree) * (p(tree).ln() - q.log_prob(tree).unwrap())).sum()
            };
            let least = divergence(&fit.distribution);
            prop_assert!(least > -1e-9);
            let mut rng = Pcg64::seed_from_u64(!seed);
            for size in [1e-3, 1e-2, 0.1, 1.0] {
                let mut scores = fit.distribution.scores().clone();
                let noise = ArcMatrix::from_fn(words, |_, _| size * normal(&mut rng));
                scores.zip_in_place(&noise, |s, x| s + x);
                let other = TreeDistribution::new(scores, set).unwrap();
                prop_assert!(divergence(&other) >= least - 1e-9, "{}", set);
            }
        }
    }

    #[test]
    fn an_arc_factored_distribution_is_its_own_match(words in 1usize..=9, seed in any::<u64>()) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let scores = ArcMatrix::from_fn(words, |_, _| normal(&mut rng));
        for set in TreeSet::ALL {
            let d = TreeDistribution::new(scores.clone(), set).unwrap();
            let fit = fit_marginals(d.marginals(), set, &MomentOptions::default()).unwrap();
            prop_assert!(fit.residual < 1e-8);
            for ranked in d.kbest(5) {
                let expected = d.log_prob(&ranked.tree).unwrap();
                let found = fit.distribution.log_prob(&ranked.tree).unwrap();
                prop_assert!((found - expected).abs() < 1e-6, "{}: {} {}", set, found, expected);
            }
            prop_assert!((fit.distribution.entropy() - d.entropy()).abs() < 1e-6);
        }
    }

    #[test]
    fn second_order_models_are_matched(words in 2usize..=7, seed in any::<u64>()) {
        match_second_order_model(words, seed);
    }

    /// Components that lack arcs: those that no component has are dropped.
    #[test]
    fn impossible_and_certain_arcs_are_dropped(words in 2usize..=6, seed in any::<u64>()) {
        let mut rng = Pcg64::seed_from_u64(seed);
        for set in TreeSet::ALL {
            let mut scores = ArcMatrix::from_fn(words, |_, _| normal(&mut rng));
            // Word 1 hangs on the root or on 2; the last word on the one before.
            for head in (0..=words).filter(|&head| head != 0 && head != 2) {
                scores.forbid(head, 1);
            }
            for head in (0..=words).filter(|&head| head != words - 1) {
                scores.forbid(head, words);
            }
            let Ok(d) = TreeDistribution::new(scores, set) else { continue };
            let fit = fit_marginals(d.marginals(), set, &MomentOptions::default()).unwrap();
            prop_assert!(fit.residual < 1e-8, "{}: {:?}", set, fit.residual);
            prop_assert!(fit.dropped_arcs >= words - 1, "{}: {}", set, fit.dropped_arcs);
            prop_assert_eq!(fit.border, Border::Inside);
            let certain = fit.distribution.marginal(words - 1, words).unwrap();
            prop_assert!((certain - 1.0).abs() < 1e-12, "{}: {}", set, certain);
        }
    }
}

/// 1 and 2 are entered by one arc, although the graph has a tree with two.
fn at_the_border() -> ArcMatrix {
    ArcMatrix::filled(2, 0.5)
}

#[test]
fn at_the_border_the_scores_stay_finite() {
    let set = TreeSet::NonProjectiveMultiRoot;
    let fit = fit_marginals(&at_the_border(), set, &MomentOptions::default()).unwrap();
    assert_eq!(fit.border, Border::Regularised { l2: 1e-4 });
    assert!(fit.residual > 1e-6 && fit.residual < 5e-3, "{}", fit.residual);
    assert!(fit.distribution.scores().arcs().all(|(.., s)| s.abs() < 20.0));
    // A larger term leaves a larger error; without one, Newton's method stops at the tolerance.
    let large = MomentOptions { l2: 1e-2, ..MomentOptions::default() };
    let large = fit_marginals(&at_the_border(), set, &large).unwrap();
    assert!(large.residual > 5.0 * fit.residual, "{} {}", large.residual, fit.residual);
    let none = MomentOptions { l2: 0.0, ..MomentOptions::default() };
    let none = fit_marginals(&at_the_border(), set, &none).unwrap();
    assert!(none.residual < 1e-8 && none.border == Border::Inside, "{}", none.residual);
    // Trees with one root word have that property: the same marginals lie inside.
    let single = TreeSet::NonProjectiveSingleRoot;
    let fit = fit_marginals(&at_the_border(), single, &MomentOptions::default()).unwrap();
    assert!(fit.residual < 1e-10 && fit.border == Border::Inside);
}

#[test]
fn one_tree_leaves_nothing_to_fit() {
    let tree = Tree::new(&[2, 0, 2, 3]).unwrap();
    let mut marginals = ArcMatrix::zeros(4);
    tree.arcs().for_each(|arc| marginals[arc] = 1.0);
    marginals[(1, 4)] = 1e-13; // rounding of another program
    marginals[(3, 4)] = 1.0 - 1e-13;
    for set in TreeSet::ALL {
        let fit = fit_marginals(&marginals, set, &MomentOptions::default()).unwrap();
        assert_eq!(fit.distribution.argmax().tree, tree);
        assert_eq!(fit.distribution.entropy(), 0.0);
        assert_eq!((fit.dropped_arcs, fit.dropped_rivals), (11, 1));
        assert_eq!(fit.steps, 0);
    }
}

#[test]
fn marginals_outside_the_polytope_are_refused() {
    let refused = |marginals: &ArcMatrix, set: TreeSet| match fit_marginals(
        marginals,
        set,
        &MomentOptions::default(),
    ) {
        Err(Error::OutsidePolytope { residual, .. }) => assert!(residual > 0.01, "{residual}"),
        other => panic!("{set}: {other:?}"),
    };
    // The words are entered by 0.8 arcs on average.
    let few = ArcMatrix::from_fn(2, |head, _| if head == 0 { 0.4 } else { 0.6 });
    for set in TreeSet::ALL {
        refused(&few, set);
    }
    // By none at all.
    let mut cycle = ArcMatrix::zeros(2);
    cycle[(1, 2)] = 1.0;
    cycle[(2, 1)] = 1.0;
    for set in TreeSet::ALL {
        refused(&cycle, set);
    }
    // By 1.2: possible with several root words only.
    let many = ArcMatrix::from_fn(2, |head, _| if head == 0 { 0.6 } else { 0.4 });
    refused(&many, TreeSet::NonProjectiveSingleRoot);
    let fit = fit_marginals(&many, TreeSet::NonProjectiveMultiRoot, &MomentOptions::default());
    assert!(fit.unwrap().residual < 1e-8);
    // Crossing arcs in a projective set.
    let crossing = Tree::new(&[3, 4, 0, 3]).unwrap();
    let mut marginals = ArcMatrix::zeros(4);
    crossing.arcs().for_each(|arc| marginals[arc] = 1.0);
    refused(&marginals, TreeSet::ProjectiveSingleRoot);
}

#[test]
fn numbers_that_are_not_marginals_are_refused() {
    let set = TreeSet::NonProjectiveSingleRoot;
    let options = MomentOptions::default();
    let mut marginals = ArcMatrix::filled(2, 0.5);
    marginals[(2, 1)] = f64::NAN;
    let error = fit_marginals(&marginals, set, &options).unwrap_err();
    assert!(matches!(error, Error::BadMarginal { head: 2, modifier: 1, .. }), "{error}");
    marginals[(2, 1)] = 0.3;
    let error = fit_marginals(&marginals, set, &options).unwrap_err();
    assert_eq!(error, Error::HeadsDoNotSumToOne { modifier: 1, sum: 0.8 });
    assert!(fit_marginals(&ArcMatrix::zeros(0), set, &options).is_ok());
}
