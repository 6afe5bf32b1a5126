//! Log-partition functions and marginals.

use proptest::prelude::*;
use tutte_trees::{
    ArcMatrix, Error, TreeDistribution, TreeSet, Workspace, arc_covariances_with, argmax_with,
    log_partition_with, marginals_with, mbr_with, oracle,
};

use super::support::*;

/// The size of the scores that are added up in log Z, to which rounding is relative.
fn log_slack(case: &Case, log_z: f64) -> f64 {
    1f64.max(log_z.abs()).max(case.scale)
}

#[test]
fn equal_scores_count_trees() {
    #[rustfmt::skip]
    let table: [[u128; 6]; 4] = [
        [1, 1, 3, 16, 125, 1296],
        [1, 1, 2, 9, 64, 625],
        [1, 1, 3, 12, 55, 273],
        [1, 1, 2, 7, 30, 143],
    ];
    for (set, row) in TreeSet::ALL.into_iter().zip(table) {
        for words in 0..=12 {
            let d = TreeDistribution::new(ArcMatrix::zeros(words), set).unwrap();
            let count = set.tree_count(words).unwrap();
            if let Some(&expected) = row.get(words) {
                assert_eq!(count, expected, "{set} {words}");
            }
            assert_eq!(d.tree_count(), Some(count), "{set} {words}");
            let exact = count as f64;
            assert_close(d.log_partition().exp(), exact, 1e-12 * exact, set);
            assert_close(d.log_tree_count().exp(), exact, 1e-12 * exact, set);
        }
    }
}

#[test]
fn no_words_and_one_word() {
    for set in TreeSet::ALL {
        let d = TreeDistribution::new(ArcMatrix::zeros(0), set).unwrap();
        assert_eq!((d.log_partition(), d.entropy(), d.renyi(2.0).unwrap()), (0.0, 0.0, 0.0));
        assert_eq!(d.argmax().tree.words(), 0);
        assert_eq!((d.mbr().words(), d.kbest(3).len()), (0, 1));
        assert_eq!(d.tree_count(), Some(1));
        assert_eq!(d.marginals().arcs().count(), 0);
        let d = TreeDistribution::new(ArcMatrix::default(), set).unwrap();
        assert_eq!((d.log_partition(), d.marginals().words()), (0.0, 0));

        let d = TreeDistribution::new(ArcMatrix::filled(1, -7.5), set).unwrap();
        assert_eq!((d.log_partition(), d.marginal(0, 1).unwrap(), d.entropy()), (-7.5, 1.0, 0.0));
        assert_eq!(d.kbest(3).len(), 1);
        let error = TreeDistribution::new(ArcMatrix::forbidden(1), set).unwrap_err();
        assert_eq!(error, Error::NoTree { tree_set: set, words: vec![1] });
    }
}

proptest! {
    #![proptest_config(runs(600))]

    #[test]
    fn sums_are_those_of_enumeration(case in cases(0..=4)) {
        let mut ws = Workspace::default();
        let mut marginals = ArcMatrix::default();
        for (set, d) in case.distributions() {
            let expected = oracle::log_partition(&case.scores, set);
            let slack = 1e-12 * log_slack(&case, expected);
            assert_close(d.log_partition(), expected, slack, set);
            let log_z = log_partition_with(&case.scores, set, &mut ws).unwrap();
            assert_close(log_z, expected, slack, set);
            let log_z = marginals_with(&case.scores, set, &mut ws, &mut marginals).unwrap();
            assert_close(log_z, expected, slack, set);

            let expected = oracle::marginals(&case.scores, set);
            assert_arcs_close(&marginals, &expected, case.tolerance(), set);
            assert_arcs_close(d.marginals(), &expected, case.tolerance(), set);
        }
    }

    /// Scores are feasible exactly if enumeration finds a tree; if not, every function returns an error.
    #[test]
    fn infeasible_scores_are_an_error_everywhere(case in cases(0..=5)) {
        let mut ws = Workspace::default();
        let mut out = ArcMatrix::default();
        let mut heads = Vec::new();
        let ones = ArcMatrix::filled(case.scores.words(), 1.0);
        for set in TreeSet::ALL {
            let possible = !oracle::scored_trees(&case.scores, set).is_empty();
            let answers = [
                TreeDistribution::new(case.scores.clone(), set).map(|_| 0.0),
                marginals_with(&case.scores, set, &mut ws, &mut out),
                argmax_with(&case.scores, set, &mut ws, &mut heads),
                mbr_with(&case.scores, &ones, set, &mut ws, &mut heads),
                arc_covariances_with(&case.scores, &ones, set, &mut ws, &mut out),
            ];
            for answer in answers {
                match answer {
                    Ok(value) => assert!(possible && !value.is_nan(), "{set}"),
                    Err(Error::NoTree { tree_set, words }) => {
                        assert!(!possible && tree_set == set, "{set}");
                        assert!(!words.is_empty() && words.is_sorted(), "{words:?}");
                        assert!(words.iter().all(|word| (1..=case.scores.words()).contains(word)));
                    }
                    Err(other) => panic!("{set}: {other}"),
                }
            }
            let log_z = log_partition_with(&case.scores, set, &mut ws).unwrap();
            assert_eq!(log_z > FORBIDDEN, possible, "{set} {log_z}");
            assert!(!log_z.is_nan());
        }
    }
}

proptest! {
    #![proptest_config(runs(200))]

    #[test]
    fn every_word_has_one_head(case in cases(5..=40)) {
        let n = case.scores.words();
        for (set, d) in case.distributions() {
            assert!(d.log_partition().is_finite());
            let mu = d.marginals();
            for (head, modifier, p) in mu.arcs() {
                assert!((0.0..=1.0 + 1e-10).contains(&p), "{set} {head} → {modifier}: {p}");
                let allowed = case.scores[(head, modifier)] > FORBIDDEN;
                assert!(allowed || p == 0.0, "{set} {head} → {modifier} is forbidden: {p}");
            }
            for modifier in 1..=n {
                let sum: f64 = (0..=n).filter(|&h| h != modifier).map(|h| mu[(h, modifier)]).sum();
                assert_close(sum, 1.0, 1e-10, format!("{set} heads of {modifier}"));
            }
            let roots: f64 = mu.row(0)[1..].iter().sum();
            assert!(roots >= 1.0 - 1e-10, "{set} {roots}");
            if set.is_single_root() {
                assert_close(roots, 1.0, 1e-10, format!("{set} roots"));
            }
        }
    }

    #[test]
    fn shifts_of_columns_and_of_the_root_change_no_probability(case in cases(1..=40)) {
        let n = case.scores.words();
        let mut random = case.random();
        let columns: Vec<f64> = (0..n).map(|_| case.scale * random.normal()).collect();
        let root = case.scale * random.normal();
        for (set, d) in case.distributions() {
            let own = if set.is_single_root() { root } else { 0.0 };
            let mut shifted = case.scores.clone();
            for (head, modifier, score) in case.scores.arcs() {
                let at_root = if head == 0 { own } else { 0.0 };
                shifted[(head, modifier)] = score - columns[modifier - 1] - at_root;
            }
            let moved = TreeDistribution::new(shifted, set).unwrap();
            let expected = d.log_partition() - columns.iter().sum::<f64>() - own;
            let slack = 1e-11 * log_slack(&case, d.log_partition().abs().max(expected.abs()));
            assert_close(moved.log_partition(), expected, slack, set);
            // Subtracting rounds each score, and a tree adds up to n of them.
            let tolerance = 1e-11f64.max(1e-14 * n as f64 * case.scale);
            assert_arcs_close(moved.marginals(), d.marginals(), tolerance, set);
        }
    }

    #[test]
    fn marginals_are_derivatives(case in mild_cases(1..=7)) {
        for (set, d) in case.distributions() {
            let log_z = |scores: &ArcMatrix| {
                log_partition_with(scores, set, &mut Workspace::default()).unwrap()
            };
            let expected = central_differences(&case.scores, log_z);
            assert_arcs_close(d.marginals(), &expected, 1e-7, set);
        }
    }

    #[test]
    fn larger_sets_weigh_more(case in cases(1..=30)) {
        let found = case.distributions();
        for (set, d) in &found {
            let slack = 1e-12 * log_slack(&case, d.log_partition());
            assert!(d.log_partition() >= d.argmax().score - slack, "{set}");
            for (larger, e) in found.iter().filter(|(larger, _)| larger.contains(*set)) {
                assert!(d.log_partition() <= e.log_partition() + slack, "{set} in {larger}");
                assert!(d.argmax().score <= e.argmax().score + slack, "{set} in {larger}");
            }
        }
        // A tree of a set is a tree of every larger one.
        for set in TreeSet::ALL.into_iter().filter(|set| !found.iter().any(|(s, _)| s == set)) {
            assert!(found.iter().all(|(smaller, _)| !set.contains(*smaller)), "{set}");
        }
    }

    #[test]
    fn log_partition_is_convex(case in cases(1..=20), seed in any::<u64>()) {
        let n = case.scores.words();
        let mut random = Random::new(seed);
        let other = random.scores(n, case.scale.max(1.0));
        let share = random.uniform();
        let between = ArcMatrix::from_fn(n, |head, modifier| {
            let (a, b) = (case.scores[(head, modifier)], other[(head, modifier)]);
            share * a + (1.0 - share) * b
        });
        // Forbid the same arcs in the other scores: the segment must stay in one domain.
        let other = ArcMatrix::from_fn(n, |head, modifier| {
            let allowed = case.scores[(head, modifier)] > FORBIDDEN;
            if allowed { other[(head, modifier)] } else { FORBIDDEN }
        });
        let mut ws = Workspace::default();
        for set in TreeSet::ALL {
            let mut log_z = |scores: &ArcMatrix| log_partition_with(scores, set, &mut ws).unwrap();
            let (left, right, middle) = (log_z(&case.scores), log_z(&other), log_z(&between));
            if left > FORBIDDEN {
                let chord = share * left + (1.0 - share) * right;
                let slack = 1e-12 * log_slack(&case, left.abs().max(right.abs()));
                assert!(middle <= chord + slack, "{set}: {middle} above {chord}");
            }
        }
    }

    /// Marginals of projective sets do not change if the sentence is mirrored; those of non-projective
    /// sets do not change under any permutation of words.
    #[test]
    fn renaming_words_renames_marginals(case in cases(1..=25)) {
        let n = case.scores.words();
        let mut random = case.random();
        let mut shuffled: Vec<usize> = (0..=n).collect();
        for last in (2..=n).rev() {
            shuffled.swap(last, 1 + random.below(last));
        }
        let mirrored: Vec<usize> = std::iter::once(0).chain((1..=n).rev()).collect();
        for (set, d) in case.distributions() {
            let name = if set.is_projective() { &mirrored } else { &shuffled };
            let rename = |values: &ArcMatrix| {
                let mut renamed = ArcMatrix::zeros(n);
                for (head, modifier, value) in values.arcs() {
                    renamed[(name[head], name[modifier])] = value;
                }
                renamed
            };
            let renamed = TreeDistribution::new(rename(&case.scores), set).unwrap();
            let slack = 1e-11 * log_slack(&case, d.log_partition());
            assert_close(renamed.log_partition(), d.log_partition(), slack, set);
            // Scores are added in another order, each sum rounded.
            let tolerance = 1e-11f64.max(1e-14 * n as f64 * case.scale);
            assert_arcs_close(renamed.marginals(), &rename(d.marginals()), tolerance, set);
        }
    }
}

/// Whole multiples of a power of two add up without rounding, so enumeration is exact.
#[test]
fn scores_at_the_edge_of_the_range() {
    let edge = 2f64.powi(996);
    assert!(edge <= ArcMatrix::MAX_SCORE && 2.0 * edge > ArcMatrix::MAX_SCORE);
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let words = 1 + random.below(4);
        let choice = [edge, -edge, 0.0, FORBIDDEN];
        let scores = ArcMatrix::from_fn(words, |_, _| choice[random.below(4)]);
        for (set, d) in distributions(&scores) {
            let all = Enumerated::trees(&scores, set);
            let what = format!("{set} seed {seed}");
            assert_close(d.log_partition(), all.log_partition, 1e-12 * edge, &what);
            assert_eq!(d.argmax().score, all.best_score(), "{what}");
            // Next to 1e300 the logarithm of a small number of ties is lost.
            let best = all.outcomes.iter().filter(|outcome| outcome.score == all.best_score());
            if best.count() == 1 {
                for (head, modifier, p) in d.marginals().arcs() {
                    assert_close(p, all.marginal(&[(head, modifier)]), 1e-12, &what);
                }
                assert_eq!((d.entropy(), d.renyi(2.0), d.renyi(0.5)), (0.0, Ok(0.0), Ok(0.0)));
            }
            assert_sound(&d);
        }
    }
    // With ordinary scores among them, sums are rounded but stay numbers.
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let words = 1 + random.below(8);
        let scores = ArcMatrix::from_fn(words, |_, _| {
            [ArcMatrix::MAX_SCORE, -ArcMatrix::MAX_SCORE, random.normal()][random.below(3)]
        });
        distributions(&scores).iter().for_each(|(_, d)| assert_sound(d));
    }
    for value in [ArcMatrix::MAX_SCORE, -ArcMatrix::MAX_SCORE] {
        for (set, d) in distributions(&ArcMatrix::filled(5, value)) {
            assert_sound(&d);
            let count = set.tree_count(5).unwrap() as f64;
            assert_close(d.entropy(), count.ln(), 1e-11, set);
        }
    }
}

/// Checks that nothing is NaN and that the probabilities of heads sum to 1.
#[track_caller]
fn assert_sound(d: &TreeDistribution) {
    let n = d.words();
    let set = d.tree_set();
    assert!(d.log_partition().is_finite() && d.argmax().score.is_finite(), "{set}");
    for modifier in 1..=n {
        let heads = (0..=n).filter(|&head| head != modifier);
        let sum: f64 = heads.map(|head| d.marginals()[(head, modifier)]).sum();
        assert_close(sum, 1.0, 1e-10, format!("{set} heads of {modifier}"));
    }
    let values = [d.entropy(), d.renyi(0.0).unwrap(), d.renyi(0.5).unwrap(), d.renyi(2.0).unwrap()];
    assert!(values.iter().all(|value| *value >= 0.0), "{set} {values:?}");
    assert!(d.marginals().arcs().all(|(.., p)| (0.0..=1.0 + 1e-10).contains(&p)), "{set}");
    let covariances = d.arc_covariances(&ArcMatrix::from_fn(n, |head, _| head as f64)).unwrap();
    for values in [covariances, d.entropy_gradient(), d.renyi_gradient(2.0).unwrap()] {
        assert!(values.arcs().all(|(.., value)| value.is_finite()), "{set} {values:?}");
    }
    let tree = d.sample(&mut Random::new(0).0);
    assert!(tree.check_in(set).is_ok() && d.log_prob(&tree).unwrap() > FORBIDDEN, "{set}");
    assert!(d.mbr().check_in(set).is_ok() && !d.kbest(3).is_empty(), "{set}");
}

#[test]
fn long_sentences() {
    for (words, sigma) in [(200, 1.0), (230, 30.0), (210, 1000.0), (300, 0.0)] {
        let mut scores = Random::new(words as u64).scores(words, sigma);
        for word in 1..words {
            scores.forbid(word, words); // one word that only the root may head
        }
        for (set, d) in distributions(&scores) {
            let log_z = d.log_partition();
            assert!(log_z.is_finite() && log_z >= d.argmax().score, "{set} {words}");
            for modifier in 1..=words {
                let heads = (0..=words).filter(|&head| head != modifier);
                let sum: f64 = heads.map(|head| d.marginals()[(head, modifier)]).sum();
                assert_close(sum, 1.0, 1e-10, format!("{set} {words} heads of {modifier}"));
            }
            assert!(d.entropy() >= 0.0);
        }
    }
}

#[test]
fn cells_that_are_no_arcs_are_not_read() {
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let words = 1 + random.below(12);
        let clean = random.scores(words, 3.0);
        for garbage in [f64::NAN, f64::INFINITY, FORBIDDEN, 1e308] {
            let mut dirty = clean.clone();
            for word in 0..=words {
                dirty[(word, 0)] = garbage;
                dirty[(word, word)] = garbage;
            }
            let mut g = clean.clone();
            for word in 0..=words {
                g[(word, 0)] = garbage;
                g[(word, word)] = garbage;
            }
            for set in TreeSet::ALL {
                let a = TreeDistribution::new(clean.clone(), set).unwrap();
                let b = TreeDistribution::new(dirty.clone(), set).unwrap();
                assert_eq!(a.log_partition().to_bits(), b.log_partition().to_bits(), "{set}");
                assert_eq!(a.argmax(), b.argmax());
                assert_eq!(a.kbest(3), b.kbest(3));
                assert_eq!((a.mbr(), a.tree_count()), (b.mbr(), b.tree_count()));
                assert!(a.marginals().arcs().eq(b.marginals().arcs()), "{set}");
                assert_eq!(a.entropy().to_bits(), b.entropy().to_bits(), "{set}");
                assert_eq!(a.renyi(2.0), b.renyi(2.0));
                assert_eq!(a.kl(&b).unwrap(), a.kl(&a).unwrap());
                let (c, e) = (a.arc_covariances(&clean).unwrap(), b.arc_covariances(&g).unwrap());
                assert!(c.arcs().eq(e.arcs()), "{set} {garbage}");
                assert_eq!(a.covariance(&clean, &clean), b.covariance(&g, &g), "{set} {garbage}");
                assert_eq!(a.expectation(&clean), b.expectation(&g));
                assert_eq!(a.greedy_heads(), b.greedy_heads());
                assert_eq!(a.greedy_heads_by_score(), b.greedy_heads_by_score());
            }
        }
    }
}
