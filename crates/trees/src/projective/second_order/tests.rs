//! Sums, best trees and marginals against enumeration of all projective trees.

use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::projective::{self, ProjectiveWorkspace};
use crate::{ArcMatrix, Part, Tree, TreeSet, oracle};

const BOTH: [(Roots, TreeSet); 2] =
    [(Roots::Multi, TreeSet::ProjectiveMultiRoot), (Roots::Single, TreeSet::ProjectiveSingleRoot)];

/// Random scores of all parts. Arcs are forbidden at one rate, other parts at another.
fn random_scores(
    words: usize,
    sigma: f64,
    masked: (f64, f64),
    grandparents: bool,
    seed: u64,
) -> SecondOrderParts {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut scores = SecondOrderParts::new(ArcMatrix::filled(words, f64::NAN));
    for part in Part::all(words) {
        let normal = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let rate = if matches!(part, Part::Arc { .. }) { masked.0 } else { masked.1 };
        let value = if uniform() < rate { f64::NEG_INFINITY } else { sigma * normal };
        if grandparents || !matches!(part, Part::Grandparent { .. }) {
            scores.set(part, value).unwrap();
        }
    }
    scores
}

fn any_scores(
    words: std::ops::RangeInclusive<usize>,
) -> impl Strategy<Value = (SecondOrderParts, f64)> {
    let sigma = prop::sample::select(vec![0.0, 1.0, 30.0, 1e3, 1e5]);
    let masked = prop::sample::select(vec![(0.0, 0.0), (0.3, 0.0), (0.6, 0.0), (0.2, 0.1)]);
    (words, sigma, masked, any::<bool>(), any::<u64>()).prop_map(
        |(words, sigma, masked, grandparents, seed)| {
            (random_scores(words, sigma, masked, grandparents, seed), sigma)
        },
    )
}

fn tolerance(sigma: f64) -> f64 {
    if sigma <= 30.0 { 1e-11 } else { 1e-14 * 1e5f64.max(100.0 * sigma) }
}

/// All trees with a finite score.
fn scored_trees(scores: &SecondOrderParts, set: TreeSet) -> Vec<(f64, Tree)> {
    oracle::all_trees(scores.words(), set)
        .into_iter()
        .map(|tree| (scores.sum_over(&tree).unwrap(), tree))
        .filter(|(score, _)| *score > f64::NEG_INFINITY)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn everything_is_that_of_enumeration((scores, sigma) in any_scores(0..=5)) {
        let mut ws = SecondOrderWorkspace::default();
        let mut found = SecondOrderParts::default();
        let mut heads = Vec::new();
        for (roots, set) in BOTH {
            let trees = scored_trees(&scores, set);
            let log_z = marginals(&scores, roots, &mut ws, &mut found);
            prop_assert_eq!(log_z.to_bits(), log_partition(&scores, roots, &mut ws).to_bits());
            let high = trees.iter().fold(f64::NEG_INFINITY, |high, (score, _)| high.max(*score));
            let best = argmax(&scores, roots, &mut ws, &mut heads);
            prop_assert_eq!(best.is_some(), !trees.is_empty());
            if trees.is_empty() {
                prop_assert_eq!(log_z, f64::NEG_INFINITY);
                prop_assert!(Part::all(scores.words()).iter().all(|&part| found.get(part) == Some(0.0)));
                continue;
            }
            let tree = Tree::new(&heads).unwrap();
            prop_assert!(tree.check_in(set).is_ok());
            let reached = scores.sum_over(&tree).unwrap();
            prop_assert!((reached - best.unwrap()).abs() <= 1e-12 * sigma.max(1.0));
            prop_assert!((reached - high).abs() <= 1e-13 * sigma.max(1.0) * 20.0, "{} {}", reached, high);
            let weights: Vec<f64> = trees.iter().map(|(score, _)| (score - high).exp()).collect();
            let sum: f64 = weights.iter().sum();
            prop_assert!((log_z - (high + sum.ln())).abs() <= tolerance(sigma) * 10.0);
            let mut expected = SecondOrderParts::new(ArcMatrix::zeros(scores.words()));
            for (weight, (_, tree)) in weights.iter().zip(&trees) {
                for part in Part::of_tree(tree) {
                    let before = expected.get(part).unwrap();
                    expected.set(part, before + weight / sum).unwrap();
                }
            }
            for part in Part::all(scores.words()) {
                if matches!(part, Part::Grandparent { .. }) && !scores.has_grandparents() {
                    continue;
                }
                let found = found.get(part).unwrap();
                let expected = expected.get(part).unwrap();
                prop_assert!((found - expected).abs() <= tolerance(sigma), "{} {}: {} {}", set, part, found, expected);
            }
        }
    }

    #[test]
    fn marginals_are_derivatives_of_the_log_partition(
        words in 1usize..=5,
        masked in prop::sample::select(vec![0.0, 0.3]),
        grandparents in any::<bool>(),
        seed in any::<u64>(),
    ) {
        const STEP: f64 = 1e-5;
        let scores = random_scores(words, 1.0, (masked, 0.0), grandparents, seed);
        let mut ws = SecondOrderWorkspace::default();
        let mut found = SecondOrderParts::default();
        for (roots, set) in BOTH {
            if marginals(&scores, roots, &mut ws, &mut found) == f64::NEG_INFINITY {
                continue;
            }
            for part in Part::all(words) {
                let score = scores.get(part).unwrap();
                let has_values = grandparents || !matches!(part, Part::Grandparent { .. });
                if score == f64::NEG_INFINITY || !has_values {
                    continue;
                }
                let mut at = |step: f64| {
                    let mut moved = scores.clone();
                    moved.set(part, score + step).unwrap();
                    log_partition(&moved, roots, &mut ws)
                };
                let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
                let p = found.get(part).unwrap();
                prop_assert!((slope - p).abs() < 1e-8, "{} {}: {} {}", set, part, slope, p);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// Without second-order scores, with and without contexts, answers are those of the first-order chart.
    #[test]
    fn arcs_alone_are_the_first_order_chart(
        words in 1usize..=14,
        sigma in prop::sample::select(vec![1.0, 30.0, 1e3]),
        masked in prop::sample::select(vec![0.0, 0.3]),
        seed in any::<u64>(),
    ) {
        let random = random_scores(words, sigma, (masked, 0.0), false, seed);
        let scores = SecondOrderParts::new(random.arcs().clone());
        let mut ws = SecondOrderWorkspace::default();
        let mut first = ProjectiveWorkspace::default();
        let mut found = SecondOrderParts::default();
        let mut expected = ArcMatrix::default();
        let mut heads = Vec::new();
        for (roots, set) in BOTH {
            let log_z = projective::marginals(scores.arcs(), roots, &mut first, &mut expected);
            let best = projective::argmax(scores.arcs(), roots, &mut first, &mut heads);
            for scores in [scores.clone(), scores.clone().with_grandparents()] {
                let found_z = marginals(&scores, roots, &mut ws, &mut found);
                prop_assert!(found_z == log_z || (found_z - log_z).abs() <= tolerance(sigma) * 10.0, "{}", set);
                for (head, modifier, p) in expected.arcs() {
                    prop_assert!((found.arcs()[(head, modifier)] - p).abs() <= tolerance(sigma), "{}", set);
                }
                let score = argmax(&scores, roots, &mut ws, &mut heads).unwrap_or(f64::NEG_INFINITY);
                prop_assert!(score == best || (score - best).abs() <= 1e-12 * sigma * 20.0, "{}", set);
                if best > f64::NEG_INFINITY {
                    let reached = scores.sum_over(&Tree::new(&heads).unwrap()).unwrap();
                    prop_assert!((reached - best).abs() <= 1e-12 * sigma * 20.0, "{}", set);
                }
            }
        }
    }

    /// In sentences too long to enumerate: every word has one head, and one step from START on each side.
    #[test]
    fn marginals_add_up(
        words in 6usize..=16,
        sigma in prop::sample::select(vec![1.0, 100.0, 1e4]),
        grandparents in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let scores = random_scores(words, sigma, (0.2, 0.0), grandparents, seed);
        let mut ws = SecondOrderWorkspace::default();
        let mut found = SecondOrderParts::default();
        for (roots, set) in BOTH {
            if marginals(&scores, roots, &mut ws, &mut found) == f64::NEG_INFINITY {
                continue;
            }
            let get = |part: Part| found.get(part).unwrap();
            for word in 1..=words {
                let others = || (0..=words).filter(|&other| other != word);
                let heads: f64 = others().map(|head| get(Part::Arc { head, modifier: word })).sum();
                let left: f64 = (1..word).map(|modifier| get(Part::FirstChild { head: word, modifier })).sum();
                let right: f64 = (word + 1..=words).map(|modifier| get(Part::FirstChild { head: word, modifier })).sum();
                let left = left + get(Part::NoChildLeft { head: word });
                let right = right + get(Part::NoChildRight { head: word });
                for sum in [heads, left, right] {
                    prop_assert!((sum - 1.0).abs() < 1e-9, "{} {}: {}", set, word, sum);
                }
                if grandparents {
                    for modifier in (1..=words).filter(|&modifier| modifier != word) {
                        let chains: f64 = others()
                            .filter(|&grandparent| grandparent != modifier)
                            .map(|grandparent| get(Part::Grandparent { grandparent, head: word, modifier }))
                            .sum();
                        let arc = get(Part::Arc { head: word, modifier });
                        prop_assert!((chains - arc).abs() < 1e-9);
                    }
                }
            }
        }
    }
}

/// The largest scores do not overflow, and the workspace remembers nothing.
#[test]
fn extreme_scores_and_used_workspaces() {
    let mut used = SecondOrderWorkspace::default();
    for (round, words) in [3, 7, 0, 5, 1].into_iter().enumerate() {
        let mut scores = random_scores(words, 1.0, (0.0, 0.0), round % 2 == 0, round as u64);
        for part in Part::all(words).into_iter().step_by(2) {
            if scores.has_grandparents() || !matches!(part, Part::Grandparent { .. }) {
                let sign = scores.get(part).unwrap().signum();
                scores.set(part, sign * ArcMatrix::MAX_SCORE).unwrap();
            }
        }
        for (roots, _) in BOTH {
            let mut found = SecondOrderParts::default();
            let mut again = SecondOrderParts::default();
            let log_z = marginals(&scores, roots, &mut used, &mut found);
            let new = marginals(&scores, roots, &mut SecondOrderWorkspace::default(), &mut again);
            assert!(log_z.is_finite());
            assert_eq!(log_z, new);
            assert_eq!(found, again);
            for part in Part::all(words) {
                assert!((0.0..=1.0 + 1e-9).contains(&found.get(part).unwrap()), "{part}");
            }
        }
    }
}
