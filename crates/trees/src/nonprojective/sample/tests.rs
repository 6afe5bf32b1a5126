#[path = "../../../tests/support/stuck.rs"]
mod stuck;

use std::collections::HashMap;

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::nonprojective::decode::tests::{BOTH, gaussian_scores, tree_set};
use crate::{Tree, oracle};
use stuck::Stuck;

const DRAWS: usize = 40_000;
/// 99.9 % quantiles of χ² with 15 and 8 degrees of freedom: 16 and 9 trees of three words.
const QUANTILE: [(Roots, f64); 2] = [(Roots::Multi, 37.697), (Roots::Single, 26.124)];

fn wilson(scores: &ArcMatrix, roots: Roots) -> WilsonSampler {
    let marginals = oracle::marginals(scores, tree_set(roots));
    WilsonSampler::new(scores, roots, marginals.row(0))
}

fn oracle_marginals(roots: Roots) -> impl FnMut(&ArcMatrix, &mut ArcMatrix) {
    move |scores, out| *out = oracle::marginals(scores, tree_set(roots))
}

/// Returns χ² of `DRAWS` trees against the enumerated distribution.
fn chi_squared(
    scores: &ArcMatrix,
    roots: Roots,
    mut draw: impl FnMut(&mut Pcg64Mcg, &mut Vec<usize>),
) -> f64 {
    let mut rng = Pcg64Mcg::seed_from_u64(7);
    let mut counts: HashMap<Vec<usize>, f64> = HashMap::new();
    let mut heads = Vec::new();
    for _ in 0..DRAWS {
        draw(&mut rng, &mut heads);
        *counts.entry(heads.clone()).or_default() += 1.0;
    }
    let mut chi_squared = 0.0;
    for (p, tree) in oracle::distribution(scores, tree_set(roots)) {
        let expected = p * DRAWS as f64;
        let found = counts.remove(tree.heads()).unwrap_or(0.0);
        chi_squared += (found - expected).powi(2) / expected;
    }
    assert!(counts.is_empty(), "drew heads that are not a tree: {counts:?}");
    chi_squared
}

#[test]
fn wilson_draws_the_distribution() {
    let scores = gaussian_scores(3, 1.0, 1);
    for (roots, quantile) in QUANTILE {
        let sampler = wilson(&scores, roots);
        let found = chi_squared(&scores, roots, |rng, heads| sampler.sample(rng, heads).unwrap());
        assert!(found < quantile, "{roots:?} {found}");
    }
}

#[test]
fn ancestral_draws_the_distribution() {
    let scores = gaussian_scores(3, 1.0, 1);
    for (roots, quantile) in QUANTILE {
        let mut marginals = oracle_marginals(roots);
        let found = chi_squared(&scores, roots, |rng, heads| {
            ancestral(&scores, roots, rng, &mut marginals, heads);
        });
        assert!(found < quantile, "{roots:?} {found}");
    }
}

/// Scores on which most walks of a few steps are abandoned, more often for some root words.
fn slow_scores() -> ArcMatrix {
    let mut scores = gaussian_scores(3, 0.5, 3);
    scores[(1, 2)] += 1.5;
    scores[(2, 1)] += 1.5;
    scores
}

#[test]
fn giving_up_does_not_bias() {
    let scores = slow_scores();
    for (roots, quantile) in QUANTILE {
        let mut sampler = wilson(&scores, roots);
        sampler.budget = 3;
        let mut marginals = oracle_marginals(roots);
        let mut given_up = 0;
        let found = chi_squared(&scores, roots, |rng, heads| {
            if let Err(gave_up) = sampler.sample(rng, heads) {
                given_up += 1;
                let mut kept = scores.clone();
                gave_up.keep_root_word(&mut kept);
                ancestral(&kept, roots, rng, &mut marginals, heads);
            }
        });
        assert!((DRAWS / 5..DRAWS * 4 / 5).contains(&given_up), "{roots:?} {given_up}");
        assert!(found < quantile, "{roots:?} {found}");
    }
}

#[test]
fn walks_that_end_in_time_are_not_biased_given_the_root() {
    // Several roots: condition on success and compare directly.
    let scores = slow_scores();
    let mut sampler = wilson(&scores, Roots::Multi);
    sampler.budget = 3;
    let found = chi_squared(
        &scores,
        Roots::Multi,
        |rng, heads| {
            while sampler.sample(rng, heads).is_err() {}
        },
    );
    assert!(found < QUANTILE[0].1, "{found}");
    // One root: the same would be wrong, because the number of steps depends on the root word.
    let mut sampler = wilson(&scores, Roots::Single);
    sampler.budget = 3;
    let found = chi_squared(
        &scores,
        Roots::Single,
        |rng, heads| {
            while sampler.sample(rng, heads).is_err() {}
        },
    );
    assert!(found > 2.0 * QUANTILE[1].1, "{found}");
}

#[test]
fn product_of_conditionals_is_the_probability() {
    let mut rng = Pcg64Mcg::seed_from_u64(11);
    let mut heads = Vec::new();
    for seed in 0..40 {
        for roots in BOTH {
            let mut scores = gaussian_scores(4, if seed % 2 == 0 { 1.0 } else { 5.0 }, seed);
            if seed % 3 == 0 {
                scores.forbid(1, 2);
                scores.forbid(0, 3);
            }
            let log_p =
                ancestral(&scores, roots, &mut rng, &mut oracle_marginals(roots), &mut heads);
            let tree = Tree::new(&heads).unwrap();
            assert!(tree.check_in(tree_set(roots)).is_ok());
            let log_z = oracle::log_partition(&scores, tree_set(roots));
            let expected = scores.sum_over(&tree).unwrap() - log_z;
            assert!((log_p - expected).abs() < 1e-10, "{log_p} {expected}");
        }
    }
}

/// Gauss–Jordan with row pivoting.
fn inverse(mut a: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = a.len();
    for (i, row) in a.iter_mut().enumerate() {
        row.extend((0..n).map(|j| f64::from(u8::from(i == j))));
    }
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        let row: Vec<f64> = a[k].iter().map(|x| x / a[k][k]).collect();
        for (i, other) in a.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = other[k];
            assert!(i != k);
            other.iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
        }
        a[k] = row;
    }
    a.into_iter().map(|row| row[n..].to_vec()).collect()
}

/// The textbook formulas, for scores of ordinary size: Smith & Smith 2007 for several roots, Koo
/// et al. 2007 for one (the first word's row replaced by the root's).
fn textbook_marginals(scores: &ArcMatrix, roots: Roots, out: &mut ArcMatrix) {
    let n = scores.words();
    let weight = |h: usize, m: usize| if h == m { 0.0 } else { scores[(h, m)].exp() };
    let single = roots == Roots::Single;
    let first = usize::from(single);
    let laplacian = (1..=n)
        .map(|i| {
            (1..=n)
                .map(|m| match (i, m) {
                    (1, m) if single => weight(0, m),
                    (i, m) if i == m => (first..=n).map(|h| weight(h, m)).sum::<f64>(),
                    (i, m) => -weight(i, m),
                })
                .collect()
        })
        .collect();
    let b = inverse(laplacian);
    for m in 1..=n {
        let diagonal = if single && m == 1 { 0.0 } else { b[m - 1][m - 1] };
        out[(0, m)] = weight(0, m) * if single { b[m - 1][0] } else { diagonal };
        for h in (1..=n).filter(|&h| h != m) {
            let off = if single && h == 1 { 0.0 } else { b[m - 1][h - 1] };
            out[(h, m)] = weight(h, m) * (diagonal - off);
        }
    }
}

#[test]
fn both_samplers_have_the_same_marginals_at_thirty_words() {
    const WALKS: usize = 40_000;
    const CHAINS: usize = 800;
    let n = 30;
    let scores = gaussian_scores(n, 1.0, 5);
    for roots in BOTH {
        let mut exact = ArcMatrix::zeros(n);
        textbook_marginals(&scores, roots, &mut exact);
        let sampler = WilsonSampler::new(&scores, roots, exact.row(0));
        let mut solver = |s: &ArcMatrix, out: &mut ArcMatrix| textbook_marginals(s, roots, out);
        let mut rng = Pcg64Mcg::seed_from_u64(13);
        let mut walks = ArcMatrix::zeros(n);
        let mut chains = ArcMatrix::zeros(n);
        let mut heads = Vec::new();
        for _ in 0..WALKS {
            sampler.sample(&mut rng, &mut heads).unwrap();
            heads.iter().enumerate().for_each(|(m, &h)| walks[(h, m + 1)] += 1.0 / WALKS as f64);
        }
        for _ in 0..CHAINS {
            ancestral(&scores, roots, &mut rng, &mut solver, &mut heads);
            heads.iter().enumerate().for_each(|(m, &h)| chains[(h, m + 1)] += 1.0 / CHAINS as f64);
        }
        for (h, m, p) in exact.arcs() {
            let error = |draws: usize| (p * (1.0 - p) / draws as f64).sqrt() + 1.0 / draws as f64;
            assert!((walks[(h, m)] - p).abs() < 4.0 * error(WALKS), "{roots:?} {h} → {m}");
            assert!((chains[(h, m)] - p).abs() < 4.0 * error(CHAINS), "{roots:?} {h} → {m}");
        }
    }
}

#[test]
fn a_strong_cycle_exhausts_the_budget() {
    let mut scores = ArcMatrix::zeros(3);
    for word in 1..=3 {
        scores[(0, word)] = -40.0;
        scores.forbid(word, 3);
        scores.forbid(3, word);
    }
    let mut heads = Vec::new();
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let sampler = wilson(&scores, Roots::Multi);
    assert_eq!(sampler.sample(&mut rng, &mut heads), Err(GaveUp { root_word: None }));
    assert!(heads.is_empty());
    // Word 3 heads word 1 only with a tiny weight, but it is the root word: the pair never reaches it.
    scores[(1, 3)] = 0.0;
    scores[(3, 1)] = -60.0;
    scores.forbid(0, 1);
    scores.forbid(0, 2);
    let sampler = wilson(&scores, Roots::Single);
    let gave_up = sampler.sample(&mut rng, &mut heads).unwrap_err();
    assert_eq!(gave_up.root_word, Some(3));
    let mut kept = scores.clone();
    gave_up.keep_root_word(&mut kept);
    ancestral(&kept, Roots::Single, &mut rng, &mut oracle_marginals(Roots::Single), &mut heads);
    assert_eq!(heads[2], 0);
}

#[test]
fn any_range_of_scores() {
    // Shifting a column by any amount leaves the draws as they are, bit for bit.
    let scores = ArcMatrix::from_fn(4, |h, m| ((h * 3 + m) % 5) as f64);
    let shifted = ArcMatrix::from_fn(4, |h, m| {
        scores[(h, m)] + [0.0, 2f64.powi(40), -(2f64.powi(30)), 4096.0, -8192.0][m]
    });
    for roots in BOTH {
        let root_marginals = oracle::marginals(&scores, tree_set(roots));
        let one = WilsonSampler::new(&scores, roots, root_marginals.row(0));
        let other = WilsonSampler::new(&shifted, roots, root_marginals.row(0));
        let mut rng = Pcg64Mcg::seed_from_u64(2);
        let mut again = Pcg64Mcg::seed_from_u64(2);
        let mut heads = Vec::new();
        let mut same = Vec::new();
        for _ in 0..100 {
            one.sample(&mut rng, &mut heads).unwrap();
            other.sample(&mut again, &mut same).unwrap();
            assert_eq!(heads, same);
        }
    }
    // The largest scores: one tree has all the probability.
    let mut peaked = ArcMatrix::filled(3, -1e300);
    for (head, modifier) in [(0, 2), (2, 1), (1, 3)] {
        peaked[(head, modifier)] = 1e300;
    }
    let mut heads = Vec::new();
    let sampler = WilsonSampler::new(&peaked, Roots::Single, &[0.0, 0.0, 1.0, 0.0]);
    sampler.sample(&mut Pcg64Mcg::seed_from_u64(3), &mut heads).unwrap();
    assert_eq!(heads, [2, 0, 1]);
}

#[test]
fn no_words_one_word_and_nothing_allowed() {
    let mut rng = Pcg64Mcg::seed_from_u64(4);
    let mut heads = vec![9];
    for roots in BOTH {
        wilson(&ArcMatrix::zeros(0), roots).sample(&mut rng, &mut heads).unwrap();
        assert!(heads.is_empty());
        wilson(&ArcMatrix::zeros(1), roots).sample(&mut rng, &mut heads).unwrap();
        assert_eq!(heads, [0]);
        assert!(wilson(&ArcMatrix::forbidden(2), roots).sample(&mut rng, &mut heads).is_err());
        let none = &ArcMatrix::forbidden(2);
        let log_p = ancestral(none, roots, &mut rng, &mut oracle_marginals(roots), &mut heads);
        assert_eq!((log_p, heads.len()), (f64::NEG_INFINITY, 0));
    }
}

#[test]
fn the_sampler_can_be_shared_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<WilsonSampler>();
}

/// An arc whose marginal is only a rounding error must not be drawn, whatever the random numbers.
#[test]
fn arcs_in_no_tree_are_never_drawn() {
    // 1 hangs on 2 only, so 1 → 2 is allowed but in no tree.
    let mut scores = ArcMatrix::forbidden(3);
    let mut rounded = ArcMatrix::zeros(3);
    for (arc, p) in [((2, 1), 1.0), ((1, 2), 1e-17), ((3, 2), 1.0), ((0, 3), 1.0)] {
        scores[arc] = 0.0;
        rounded[arc] = p;
    }
    let mut heads = Vec::new();
    for roots in BOTH {
        for same in [0, 1 << 63, u64::MAX] {
            let mut marginals = |_: &ArcMatrix, out: &mut ArcMatrix| out.clone_from(&rounded);
            ancestral(&scores, roots, &mut Stuck(same), &mut marginals, &mut heads);
            assert_eq!(heads, [2, 3, 0]);
        }
    }
}
