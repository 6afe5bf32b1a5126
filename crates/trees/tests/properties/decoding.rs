//! Best trees: most probable, k best, minimum risk, and greedy heads.

use std::collections::HashSet;

use proptest::prelude::*;
use tutte_trees::{ArcMatrix, Error, TreeSet, Workspace, argmax_with, mbr_with, oracle};

use super::support::*;

/// The rounding allowed to a sum of scores.
fn slack(case: &Case, score: f64) -> f64 {
    1e-9 * score.abs().max(1.0).max(1e-3 * case.scale)
}

proptest! {
    #![proptest_config(runs(400))]

    #[test]
    fn the_best_tree_is_the_best_of_all(case in cases(0..=5)) {
        let mut ws = Workspace::default();
        for (set, d) in case.distributions() {
            let best = d.argmax();
            let expected = Enumerated::trees(&case.scores, set).best_score();
            assert_close(best.score, expected, slack(&case, expected), set);
            assert_eq!(best.tree.check_in(set), Ok(()));
            let sum = d.scores().sum_over(&best.tree).unwrap();
            assert_close(best.score, sum, slack(&case, sum), set);

            let mut heads = vec![9; 3];
            let score = argmax_with(&case.scores, set, &mut ws, &mut heads).unwrap();
            assert_eq!((score, &heads[..]), (best.score, best.tree.heads()));
        }
    }

    #[test]
    fn the_k_best_are_the_first_of_all(case in cases(0..=4)) {
        for (set, d) in case.distributions() {
            let expected = Enumerated::trees(&case.scores, set).ranked_scores();
            assert!(d.kbest(0).is_empty());
            for k in [1, 5, 1000] {
                let found = d.kbest(k);
                assert_eq!(found.len(), k.min(expected.len()), "{set}");
                for (item, &score) in found.iter().zip(&expected) {
                    assert_close(item.score, score, slack(&case, score), set);
                    assert_eq!(item.tree.check_in(set), Ok(()));
                    let sum = d.scores().sum_over(&item.tree).unwrap();
                    assert_close(item.score, sum, slack(&case, sum), set);
                }
                assert_ranked(&found);
            }
        }
    }

    /// Over all sixteen pairs of the set of the marginals and the set of the decoder.
    #[test]
    fn minimum_risk_trees_have_the_most_expected_arcs(case in cases(1..=4)) {
        let mut ws = Workspace::default();
        let mut heads = Vec::new();
        for (set, d) in case.distributions() {
            let gain = sum_of(d.marginals());
            assert_close(gain(&d.mbr()), gain(&d.mbr_in(set).unwrap()), 0.0, set);
            for other in TreeSet::ALL {
                let trees = oracle::scored_trees(&case.scores, other);
                let best = trees.iter().map(|(_, tree)| gain(tree)).reduce(f64::max);
                let found = d.mbr_in(other);
                let value = mbr_with(&case.scores, d.marginals(), other, &mut ws, &mut heads);
                let Some(best) = best else {
                    assert!(matches!(found, Err(Error::NoTree { tree_set, .. }) if tree_set == other));
                    assert!(matches!(value, Err(Error::NoTree { tree_set, .. }) if tree_set == other));
                    continue;
                };
                let tree = found.unwrap();
                assert_eq!(tree.check_in(other), Ok(()));
                assert!(tree.arcs().all(|arc| case.scores[arc] > FORBIDDEN));
                assert_close(gain(&tree), best, 1e-12, format!("{set} in {other}"));
                assert_close(value.unwrap(), best, 1e-12, format!("{set} in {other}"));
                assert_eq!(tree.heads(), heads);
            }
        }
    }

    #[test]
    fn greedy_heads_and_arcs_above(case in cases(0..=12), threshold in 0.0f64..1.0) {
        let n = case.scores.words();
        let first_best = |values: &ArcMatrix| -> Vec<usize> {
            let column = |modifier| {
                let heads = (0..=n).filter(move |&head| head != modifier);
                let best = heads.clone().map(|head| values[(head, modifier)]).fold(FORBIDDEN, f64::max);
                heads.clone().find(|&head| values[(head, modifier)] == best).unwrap()
            };
            (1..=n).map(column).collect()
        };
        for (_, d) in case.distributions() {
            assert_eq!(d.greedy_heads(), first_best(d.marginals()));
            assert_eq!(d.greedy_heads_by_score(), first_best(d.scores()));
            let above = d.arcs_above(threshold);
            let expected: Vec<_> = d.marginals().arcs().filter(|arc| arc.2 >= threshold).collect();
            assert_eq!(above, expected);
            assert!(threshold <= 0.5 || above.len() <= n);
        }
    }
}

proptest! {
    #![proptest_config(runs(60))]

    #[test]
    fn the_best_tree_beats_all_others_that_can_be_found(case in cases(6..=30)) {
        let mut random = case.random();
        for (set, d) in case.distributions() {
            let best = d.argmax();
            assert_eq!(best.tree.check_in(set), Ok(()));
            let found = d.kbest(20);
            assert_close(found[0].score, best.score, slack(&case, best.score), set);
            assert_ranked(&found);
            for item in &found {
                assert_eq!(item.tree.check_in(set), Ok(()));
                let log_p = d.log_prob(&item.tree).unwrap();
                let expected = item.score - d.log_partition();
                // Both sides round a sum of n scores.
                assert_close(log_p, expected, slack(&case, d.log_partition()), set);
            }
            for _ in 0..5 {
                let drawn = d.scores().sum_over(&d.sample(&mut random.0)).unwrap();
                assert!(drawn <= best.score + slack(&case, best.score), "{set}");
            }
        }
    }
}

/// Checks that trees are listed best first and only once.
#[track_caller]
fn assert_ranked(found: &[tutte_trees::ScoredTree]) {
    assert!(
        found
            .windows(2)
            .all(|pair| { pair[0].score >= pair[1].score - 1e-12 * pair[0].score.abs().max(1.0) })
    );
    let distinct: HashSet<_> = found.iter().map(|item| &item.tree).collect();
    assert_eq!(distinct.len(), found.len());
}
