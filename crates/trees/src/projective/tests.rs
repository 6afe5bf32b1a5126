//! Every routine against enumeration of all trees, over scales, masks and ties.

mod range;

use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::{Tree, TreeSet, oracle};

const BOTH: [(Roots, TreeSet); 2] =
    [(Roots::Multi, TreeSet::ProjectiveMultiRoot), (Roots::Single, TreeSet::ProjectiveSingleRoot)];

/// Scores of an n-word sentence: normal, or small integers for ties, and some arcs forbidden.
/// Cells that are not arcs are NaN, so that reading one is noticed.
fn random_scores(words: usize, sigma: f64, masked: f64, integers: bool, seed: u64) -> ArcMatrix {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut scores = ArcMatrix::filled(words, f64::NAN);
    for head in 0..=words {
        for modifier in (1..=words).filter(|&modifier| modifier != head) {
            let normal = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
            let value = if integers { normal.round() } else { normal * sigma };
            let forbidden = uniform() < masked;
            scores[(head, modifier)] = if forbidden { f64::NEG_INFINITY } else { value };
        }
    }
    scores
}

fn any_scores(words: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = (ArcMatrix, f64)> {
    let sigma = prop::sample::select(vec![0.0, 1.0, 30.0, 1e3, 1e5]);
    let masked = prop::sample::select(vec![0.0, 0.3, 0.6]);
    (words, sigma, masked, 0..4, any::<u64>()).prop_map(|(words, sigma, masked, kind, seed)| {
        let integers = kind == 0;
        let sigma = if integers { 1.0 } else { sigma };
        (random_scores(words, sigma, masked, integers, seed), sigma)
    })
}

fn arc_covariances(scores: &ArcMatrix, roots: Roots, g: &ArcMatrix) -> ArcMatrix {
    let mut out = ArcMatrix::default();
    super::arc_covariances(scores, roots, g, &mut ProjectiveWorkspace::default(), &mut out);
    out
}

fn log_covariances(scores: &ArcMatrix, roots: Roots, g: &ArcMatrix) -> ArcMatrix {
    let mut ws = ProjectiveWorkspace::default();
    let mut out = ArcMatrix::default();
    covariance::log_covariances(scores, roots, g, &mut ws.covariance, &mut out);
    out
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * 1f64.max(b.abs())
}

/// Returns the largest difference over arcs; infinite for NaN.
fn distance(a: &ArcMatrix, b: &ArcMatrix) -> f64 {
    a.arcs()
        .zip(b.arcs())
        .map(|((.., x), (.., y))| if (x - y).is_nan() { f64::INFINITY } else { (x - y).abs() })
        .fold(0.0, f64::max)
}

fn tolerance(sigma: f64) -> f64 {
    if sigma <= 30.0 { 1e-12 } else { 1e-15 * 1e5f64.max(100.0 * sigma) }
}

/// Computes [`marginals`] by the logarithmic path, whether or not it is needed.
fn any_range_marginals(
    scores: &ArcMatrix,
    roots: Roots,
    ws: &mut ProjectiveWorkspace,
    out: &mut ArcMatrix,
) -> f64 {
    out.reset(scores.words(), 0.0);
    let log_z = log_chart(&mut ws.log, scores, roots).0;
    if log_z > f64::NEG_INFINITY {
        log_marginals(ws, out);
    }
    log_z
}

fn arc_sum(values: &ArcMatrix) -> impl Fn(&Tree) -> f64 + '_ {
    |tree| tree.arcs().map(|arc| values[arc]).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn partition_and_marginals_are_those_of_enumeration((scores, sigma) in any_scores(0..=5)) {
        let mut ws = ProjectiveWorkspace::default();
        let mut out = ArcMatrix::default();
        for (roots, set) in BOTH {
            let expected = oracle::log_partition(&scores, set);
            let marginals_expected = oracle::marginals(&scores, set);
            let log_z = log_partition(&scores, roots, &mut ws);
            prop_assert!(close(log_z, expected, 1e-12), "{log_z} {expected}");
            // The public routine and the path for any range must agree.
            for any_range in [false, true] {
                let log_z = if any_range {
                    any_range_marginals(&scores, roots, &mut ws, &mut out)
                } else {
                    marginals(&scores, roots, &mut ws, &mut out)
                };
                prop_assert!(close(log_z, expected, 1e-12));
                let error = distance(&out, &marginals_expected);
                prop_assert!(error <= tolerance(sigma), "{error:e} at scale {sigma}");
                prop_assert!(out.as_slice().iter().all(|p| (0.0..=1.0 + 1e-12).contains(p)));
            }
            prop_assert_eq!(has_tree(&scores, roots, &mut ws), expected > f64::NEG_INFINITY);
            let trees = oracle::scored_trees(&scores, set).len();
            prop_assert_eq!(count(&scores, roots), Some(trees as u128));
        }
    }

    #[test]
    fn best_trees_are_those_of_enumeration((scores, _) in any_scores(0..=5), k in 1usize..40) {
        let mut ws = ProjectiveWorkspace::default();
        for (roots, set) in BOTH {
            let ranked = oracle::ranked(&scores, set);
            let mut heads = vec![7; 9];
            let best = argmax(&scores, roots, &mut ws, &mut heads);
            if ranked.is_empty() {
                prop_assert_eq!(best, f64::NEG_INFINITY);
            } else {
                prop_assert!(close(best, ranked[0].0, 1e-12));
                let tree = Tree::new(&heads).unwrap();
                prop_assert!(tree.check_in(set).is_ok());
                prop_assert_eq!(arc_sum(&scores)(&tree), best);
            }
            let found = kbest(&scores, roots, k);
            prop_assert_eq!(found.len(), k.min(ranked.len()));
            for (index, (score, heads)) in found.iter().enumerate() {
                prop_assert!(close(*score, ranked[index].0, 1e-12));
                let tree = Tree::new(heads).unwrap();
                prop_assert!(tree.check_in(set).is_ok());
                prop_assert_eq!(arc_sum(&scores)(&tree), *score);
                prop_assert!(index == 0 || *score <= found[index - 1].0);
                prop_assert!(!found[..index].iter().any(|(_, other)| other == heads));
            }
        }
    }

    #[test]
    fn moments_are_those_of_enumeration((scores, sigma) in any_scores(0..=4), seed: u64) {
        let f = random_scores(scores.words(), 1.0, 0.0, false, seed);
        let mut g = random_scores(scores.words(), 2.0, 0.0, false, !seed);
        for (head, modifier, score) in scores.arcs() {
            if score == f64::NEG_INFINITY {
                g[(head, modifier)] = f64::NEG_INFINITY; // must not be read
            }
        }
        for (roots, set) in BOTH {
            let tolerance = 10.0 * tolerance(sigma);
            let found = moments(&scores, roots, &f, &g);
            let mean_f = oracle::expectation(&scores, set, arc_sum(&f));
            let mean_g = oracle::expectation(&scores, set, arc_sum(&g));
            let covariance = oracle::covariance(&scores, set, arc_sum(&f), arc_sum(&g));
            prop_assert!(close(found.log_partition, oracle::log_partition(&scores, set), 1e-12));
            prop_assert!(close(found.mean_f, mean_f, tolerance));
            prop_assert!(close(found.mean_g, mean_g, tolerance));
            prop_assert!(close(found.covariance, covariance, 10.0 * tolerance));

            let c = arc_covariances(&scores, roots, &g);
            for (head, modifier, value) in c.arcs() {
                let on = |tree: &Tree| f64::from(tree.head(modifier) == Some(head));
                let expected = oracle::covariance(&scores, set, on, arc_sum(&g));
                prop_assert!(close(value, expected, 10.0 * tolerance), "{value} {expected}");
            }
        }
    }

    #[test]
    fn long_sentences_are_consistent((scores, sigma) in any_scores(6..=30)) {
        let mut ws = ProjectiveWorkspace::default();
        let mut fast = ArcMatrix::default();
        let mut any_range = ArcMatrix::default();
        for (roots, _) in BOTH {
            let log_z = marginals(&scores, roots, &mut ws, &mut fast);
            let log_z_again = any_range_marginals(&scores, roots, &mut ws, &mut any_range);
            prop_assert!(close(log_z, log_z_again, 1e-12));
            prop_assert!(close(log_z, log_partition(&scores, roots, &mut ws), 1e-12));
            prop_assert_eq!(log_z > f64::NEG_INFINITY, has_tree(&scores, roots, &mut ws));
            prop_assert!(distance(&fast, &any_range) <= 20.0 * tolerance(sigma));
            if log_z == f64::NEG_INFINITY {
                prop_assert!(fast.as_slice().iter().all(|&p| p == 0.0));
                continue;
            }
            for out in [&fast, &any_range] {
                for modifier in 1..=scores.words() {
                    let sum: f64 = (0..=scores.words()).map(|head| out[(head, modifier)]).sum();
                    prop_assert!((sum - 1.0).abs() <= 1e-11);
                }
                let root_words: f64 = out.row(0).iter().sum();
                prop_assert!(root_words > 1.0 - 1e-11);
                prop_assert!(roots == Roots::Multi || root_words < 1.0 + 1e-11);
            }
            let mut heads = Vec::new();
            let best = argmax(&scores, roots, &mut ws, &mut heads);
            prop_assert!(best <= log_z + 1e-12 * log_z.abs().max(1.0));
        }
    }

    #[test]
    fn covariances_of_long_sentences((scores, sigma) in any_scores(5..=14), seed: u64) {
        let n = scores.words();
        let f = random_scores(n, 1.0, 0.0, false, seed);
        let g = random_scores(n, 3.0, 0.0, false, !seed);
        let mut ws = ProjectiveWorkspace::default();
        for (roots, _) in BOTH {
            if !has_tree(&scores, roots, &mut ws) {
                continue;
            }
            let tolerance = 1000.0 * tolerance(sigma);
            let c_f = arc_covariances(&scores, roots, &f);
            let c_g = arc_covariances(&scores, roots, &g);
            let any_range = log_covariances(&scores, roots, &g);
            prop_assert!(distance(&c_g, &any_range) <= tolerance);
            let product = |f: &ArcMatrix, c: &ArcMatrix| -> f64 {
                c.arcs().map(|(head, modifier, value)| value * f[(head, modifier)]).sum()
            };
            prop_assert!(close(product(&f, &c_g), product(&g, &c_f), tolerance));
            let together = moments(&scores, roots, &f, &g).covariance;
            prop_assert!(close(product(&f, &c_g), together, tolerance));
        }
    }

    /// Compares derivatives with finite differences.
    #[test]
    fn marginals_and_covariances_are_derivatives(words in 2usize..9, seed: u64) {
        let scores = random_scores(words, 1.0, 0.2, false, seed);
        let g = random_scores(words, 1.0, 0.0, false, !seed);
        let mut ws = ProjectiveWorkspace::default();
        let step = 1e-5;
        let moved = |t: f64| ArcMatrix::from_fn(words, |head, modifier| {
            scores[(head, modifier)] + t * g[(head, modifier)]
        });
        for (roots, _) in BOTH {
            if !has_tree(&scores, roots, &mut ws) {
                continue;
            }
            let mut up = ArcMatrix::default();
            let mut down = ArcMatrix::default();
            let mut mu = ArcMatrix::default();
            let log_up = marginals(&moved(step), roots, &mut ws, &mut up);
            let log_down = marginals(&moved(-step), roots, &mut ws, &mut down);
            marginals(&scores, roots, &mut ws, &mut mu);
            let mean: f64 = mu.arcs().map(|(h, m, p)| p * g[(h, m)]).sum();
            prop_assert!((mean - (log_up - log_down) / (2.0 * step)).abs() < 1e-7);
            for (head, modifier, c) in arc_covariances(&scores, roots, &g).arcs() {
                let arc = (head, modifier);
                prop_assert!((c - (up[arc] - down[arc]) / (2.0 * step)).abs() < 1e-7);
            }
        }
    }

    /// More words than bits in a block: the arcs of one tree, most of them, and a few others.
    #[test]
    fn feasibility_of_long_sentences(words in 60usize..=140, seed: u64, lost in 0usize..3) {
        let trees = Sampler::new(&ArcMatrix::zeros(words), Roots::Single).unwrap();
        let mut heads = Vec::new();
        trees.sample(&mut Pcg64::seed_from_u64(seed), &mut heads);
        let mut scores = random_scores(words, 1.0, 0.97, false, seed);
        for (index, &head) in heads.iter().enumerate().skip(lost) {
            scores[(head, index + 1)] = 0.0;
        }
        let mut ws = ProjectiveWorkspace::default();
        for (roots, set) in BOTH {
            let best = argmax(&scores, roots, &mut ws, &mut heads);
            prop_assert!(lost > 0 || best > f64::NEG_INFINITY);
            prop_assert_eq!(has_tree(&scores, roots, &mut ws), best > f64::NEG_INFINITY);
            if best > f64::NEG_INFINITY {
                prop_assert!(Tree::new(&heads).unwrap().check_in(set).is_ok());
            }
        }
    }

    /// Reading the sentence backwards gives the same trees read backwards.
    #[test]
    fn mirroring_the_words_mirrors_the_marginals((scores, sigma) in any_scores(1..=15)) {
        let n = scores.words();
        let place = |word: usize| if word == 0 { 0 } else { n + 1 - word };
        let mirrored = ArcMatrix::from_fn(n, |head, modifier| scores[(place(head), place(modifier))]);
        let mut ws = ProjectiveWorkspace::default();
        let mut out = ArcMatrix::default();
        let mut back = ArcMatrix::default();
        for (roots, _) in BOTH {
            let log_z = marginals(&scores, roots, &mut ws, &mut out);
            let log_z_back = marginals(&mirrored, roots, &mut ws, &mut back);
            prop_assert!(close(log_z, log_z_back, 1e-12));
            let unmirrored = ArcMatrix::from_fn(n, |head, modifier| back[(place(head), place(modifier))]);
            prop_assert!(distance(&out, &unmirrored) <= 20.0 * tolerance(sigma));
        }
    }

    #[test]
    fn column_and_root_shifts_only_move_the_total(seed: u64, words in 1usize..12) {
        let scores = random_scores(words, 3.0, 0.2, false, seed);
        let shift = |modifier: usize| (modifier as f64 * 1.7).sin() * 50.0;
        let total: f64 = (1..=words).map(shift).sum();
        let mut ws = ProjectiveWorkspace::default();
        for (roots, _) in BOTH {
            let root = if roots == Roots::Single { 12.5 } else { 0.0 };
            let shifted = ArcMatrix::from_fn(words, |head, modifier| {
                let own = if head == 0 { root } else { 0.0 };
                scores[(head, modifier)] - shift(modifier) - own
            });
            let expected = log_partition(&scores, roots, &mut ws) - total - root;
            prop_assert!(close(log_partition(&shifted, roots, &mut ws), expected, 1e-11));
        }
    }

    #[test]
    fn projectivised_trees_are_the_closest(heads in prop::collection::vec(0usize..6, 0..=5)) {
        let Ok(tree) = Tree::new(&heads.iter().map(|h| h % (heads.len() + 1)).collect::<Vec<_>>())
        else { return Ok(()) };
        for (roots, set) in BOTH {
            let kept = |other: &Tree| tree.arcs().filter(|a| other.head(a.1) == Some(a.0)).count();
            // Levels climbed above the old head; heads that are not ancestors count as n levels.
            let climbed = |other: &Tree| -> usize {
                other.arcs().map(|(head, modifier)| {
                    std::iter::successors(tree.head(modifier), |&at| tree.head(at))
                        .position(|ancestor| ancestor == head)
                        .unwrap_or(tree.words())
                }).sum()
            };
            let found = projectivise::closest(&tree, roots);
            prop_assert!(found.check_in(set).is_ok());
            let order = |other: &Tree| (tree.words() - kept(other), climbed(other));
            let best = oracle::all_trees(tree.words(), set).iter().map(order).min();
            prop_assert_eq!(Some(order(&found)), best);
            if tree.check_in(set).is_ok() {
                prop_assert_eq!(&found, &tree);
            }
        }
    }
}

/// Scores and a function of arcs for three words, with no arc forbidden.
fn fixture() -> (ArcMatrix, ArcMatrix) {
    let scores = ArcMatrix::from_rows(&[
        [f64::NAN, 1.0, 0.5, -1.0],
        [f64::NAN, f64::NAN, 2.0, 0.0],
        [f64::NAN, 1.5, f64::NAN, 1.0],
        [f64::NAN, -0.5, 0.25, f64::NAN],
    ])
    .unwrap();
    let mut g = ArcMatrix::zeros(3);
    g[(1, 2)] = 1.0;
    g[(2, 3)] = 1.0;
    g[(0, 1)] = -0.5;
    (scores, g)
}

#[test]
fn fixture_of_three_words() {
    let (scores, g) = fixture();
    let expected = [
        (4.848385908634, 1.755723739924, 0.334978819742, -0.001379609210),
        (4.628024944135, 1.252825271050, 0.273904643791, -0.004578315288),
    ];
    let mut ws = ProjectiveWorkspace::default();
    let mut mu = ArcMatrix::default();
    for ((roots, _), (log_z, entropy, variance, covariance)) in BOTH.into_iter().zip(expected) {
        assert!((marginals(&scores, roots, &mut ws, &mut mu) - log_z).abs() < 1e-11);
        let mean: f64 = mu.arcs().map(|(h, m, p)| p * scores[(h, m)]).sum();
        assert!((log_z - mean - entropy).abs() < 1e-11);
        let found = moments(&scores, roots, &g, &g);
        assert!((found.log_partition - log_z).abs() < 1e-11);
        assert!((found.covariance - variance).abs() < 1e-11);
        assert!((arc_covariances(&scores, roots, &g)[(3, 1)] - covariance).abs() < 1e-11);
        let mut heads = Vec::new();
        assert_eq!(argmax(&scores, roots, &mut ws, &mut heads), 4.0);
        assert_eq!(heads, [0, 1, 2]);
    }
}

#[test]
fn fixture_of_a_heavy_cycle() {
    let mut scores = ArcMatrix::zeros(2);
    scores[(0, 1)] = -1000.0;
    scores[(0, 2)] = -1001.0;
    let mut ws = ProjectiveWorkspace::default();
    let mut mu = ArcMatrix::default();
    for (roots, _) in BOTH {
        let log_z = marginals(&scores, roots, &mut ws, &mut mu);
        assert!((log_z + 999.686738312482).abs() < 1e-9);
        assert!((mu[(0, 1)] - 0.731058578630).abs() < 1e-11);
        assert!((mu[(2, 1)] - 0.268941421370).abs() < 1e-11);
    }
}

#[test]
fn fixture_without_a_single_root_tree() {
    let mut scores = ArcMatrix::forbidden(3);
    scores[(0, 1)] = 0.0;
    scores[(0, 2)] = 2.0;
    scores[(1, 3)] = 0.0;
    scores[(2, 3)] = -1.0;
    let mut ws = ProjectiveWorkspace::default();
    // 1 → 3 would cover the root word 2: only 2 → 3 is projective.
    assert!((log_partition(&scores, Roots::Multi, &mut ws) - 1.0).abs() < 1e-12);
    assert_eq!(log_partition(&scores, Roots::Single, &mut ws), f64::NEG_INFINITY);
    assert!(kbest(&scores, Roots::Single, 3).is_empty());
    assert!(Sampler::new(&scores, Roots::Single).is_none());
    assert_eq!(count(&scores, Roots::Single), Some(0));
    assert_eq!(arc_covariances(&scores, Roots::Single, &scores), ArcMatrix::zeros(3));
}

#[test]
fn counts_follow_the_closed_forms() {
    let choose = |n: u128, k: u128| (1..=k).fold(1, |c, i| c * (n - k + i) / i);
    for words in 1..=12 {
        let n = words as u128;
        let flat = ArcMatrix::zeros(words);
        let closed = [choose(3 * n, n) / (2 * n + 1), choose(3 * n - 2, n - 1) / n];
        for ((roots, _), closed) in BOTH.into_iter().zip(closed) {
            assert_eq!(count(&flat, roots), Some(closed));
            let z = log_partition(&flat, roots, &mut ProjectiveWorkspace::default()).exp();
            assert!((z / closed as f64 - 1.0).abs() < 1e-12);
        }
    }
    assert!(count(&ArcMatrix::zeros(45), Roots::Multi).is_some());
    assert_eq!(count(&ArcMatrix::zeros(60), Roots::Multi), None);
}

#[test]
fn samples_follow_the_distribution() {
    let (scores, _) = fixture();
    let draws = 40_000;
    // 99.9 % quantiles of χ² with 11 and 6 degrees of freedom.
    for ((roots, set), quantile) in BOTH.into_iter().zip([31.26, 22.46]) {
        let sampler = Sampler::new(&scores, roots).unwrap();
        let mut rng = Pcg64::seed_from_u64(7);
        let mut counts = std::collections::BTreeMap::<Vec<usize>, f64>::new();
        let mut heads = Vec::new();
        for _ in 0..draws {
            sampler.sample(&mut rng, &mut heads);
            *counts.entry(heads.clone()).or_default() += 1.0;
        }
        let mut drawn = 0.0;
        let mut chi2 = 0.0;
        for (p, tree) in oracle::distribution(&scores, set) {
            let expected = p * f64::from(draws);
            let observed = counts.get(tree.heads()).copied().unwrap_or(0.0);
            drawn += observed;
            chi2 += (observed - expected).powi(2) / expected;
        }
        assert_eq!(drawn, f64::from(draws), "something that is no tree of the set was drawn");
        assert!(chi2 < quantile, "χ² = {chi2}");
    }
}

#[test]
fn samples_at_extreme_scores_are_the_best_tree() {
    fn shared<T: Send + Sync>(_: &T) {}
    let mut ws = ProjectiveWorkspace::default();
    let mut best = Vec::new();
    let mut heads = Vec::new();
    for (roots, _) in BOTH {
        for words in [0, 1, 2, 25] {
            let scores = random_scores(words, 1e5, 0.3, false, 3);
            let Some(sampler) = Sampler::new(&scores, roots) else { continue };
            shared(&sampler);
            argmax(&scores, roots, &mut ws, &mut best);
            sampler.sample(&mut Pcg64::seed_from_u64(1), &mut heads);
            assert_eq!(heads, best);
        }
    }
}

#[test]
fn ties_go_to_the_first_split_and_workspaces_carry_nothing_over() {
    let mut ws = ProjectiveWorkspace::default();
    let mut heads = Vec::new();
    let mut mu = ArcMatrix::default();
    let mut expected = ArcMatrix::default();
    for words in [30, 4, 0, 17] {
        for (roots, _) in BOTH {
            let scores = random_scores(words, 1.0, 0.1, true, 9);
            argmax(&scores, roots, &mut ws, &mut heads);
            let mut fresh = Vec::new();
            argmax(&scores, roots, &mut ProjectiveWorkspace::default(), &mut fresh);
            assert_eq!(heads, fresh);
            marginals(&scores, roots, &mut ws, &mut mu);
            marginals(&scores, roots, &mut ProjectiveWorkspace::default(), &mut expected);
            assert_eq!(mu, expected);
        }
    }
    argmax(&ArcMatrix::zeros(3), Roots::Multi, &mut ws, &mut heads);
    assert_eq!(heads, [0, 1, 2]);
}

#[test]
fn nothing_is_allocated_after_warm_up() {
    let mut ws = ProjectiveWorkspace::default();
    let mut heads = Vec::new();
    let mut mu = ArcMatrix::default();
    let mut run = |words: usize, sigma: f64| {
        let scores = random_scores(words, sigma, 0.0, false, 5);
        allocation_counter::measure(|| {
            for (roots, _) in BOTH {
                log_partition(&scores, roots, &mut ws);
                marginals(&scores, roots, &mut ws, &mut mu);
                argmax(&scores, roots, &mut ws, &mut heads);
                has_tree(&scores, roots, &mut ws);
            }
        })
        .count_total
    };
    for sigma in [1.0, 1e5] {
        assert!(run(30, sigma) > 0);
        assert_eq!(run(30, sigma), 0);
        assert_eq!(run(12, sigma), 0);
    }
}
