use proptest::prelude::*;

use super::*;
use crate::nonprojective::decode::argmax;
use crate::nonprojective::decode::tests::{BOTH, gaussian_scores, masked_scores, tree_set};
use crate::{Tree, oracle};

/// Lawler's algorithm (1972): list the best tree of the best region. Then, for each of its words, make
/// a region where the words before keep their heads and this one does not. n MAP calls per tree.
fn lawler(scores: &ArcMatrix, roots: Roots, k: usize) -> Vec<(f64, Vec<usize>)> {
    let solve = |masked: &ArcMatrix| {
        let mut heads = Vec::new();
        let best = argmax(masked, roots, &mut DecodeWorkspace::default(), &mut heads);
        (best, heads)
    };
    let mut regions = vec![(solve(scores), scores.clone())];
    let mut listed = Vec::new();
    while listed.len() < k {
        regions.retain(|((best, _), _)| *best > f64::NEG_INFINITY);
        let Some(next) =
            (0..regions.len()).max_by(|&i, &j| regions[i].0.0.total_cmp(&regions[j].0.0))
        else {
            break;
        };
        let ((best, heads), mut masked) = regions.swap_remove(next);
        for m in 1..=heads.len() {
            let mut without = masked.clone();
            without.forbid(heads[m - 1], m);
            regions.push((solve(&without), without));
            for head in (0..=heads.len()).filter(|&head| head != heads[m - 1]) {
                masked.forbid(head, m);
            }
        }
        listed.push((best, heads));
    }
    listed
}

fn magnitude(scores: &ArcMatrix) -> f64 {
    scores.arcs().map(|(_, _, x)| x).filter(|x| x.is_finite()).fold(1.0, |a, x| a.max(x.abs()))
}

/// Checks that these are distinct trees of the set, by non-increasing plain score.
fn check_list(
    list: &[(f64, Vec<usize>)],
    scores: &ArcMatrix,
    roots: Roots,
) -> Result<(), TestCaseError> {
    prop_assert!(list.windows(2).all(|pair| pair[0].0 >= pair[1].0));
    let mut trees: Vec<&[usize]> = list.iter().map(|(_, heads)| heads.as_slice()).collect();
    trees.sort_unstable();
    trees.dedup();
    prop_assert_eq!(trees.len(), list.len());
    for (value, heads) in list {
        prop_assert_eq!(*value, score(scores, heads));
        prop_assert!(Tree::new(heads).unwrap().check_in(tree_set(roots)).is_ok());
    }
    Ok(())
}

fn any_roots() -> impl Strategy<Value = Roots> {
    prop_oneof![Just(Roots::Multi), Just(Roots::Single)]
}

#[test]
fn small_cases() {
    for roots in BOTH {
        assert_eq!(kbest(&ArcMatrix::zeros(0), roots, 5), [(0.0, vec![])]);
        assert_eq!(kbest(&ArcMatrix::zeros(1), roots, 5), [(0.0, vec![0])]);
        assert_eq!(kbest(&ArcMatrix::zeros(3), roots, 0), []);
        assert_eq!(kbest(&ArcMatrix::forbidden(3), roots, 5), []);
    }
    assert_eq!(kbest(&ArcMatrix::zeros(4), Roots::Multi, usize::MAX).len(), 125);
    assert_eq!(kbest(&ArcMatrix::zeros(4), Roots::Single, usize::MAX).len(), 64);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn is_the_sorted_enumeration(
        scores in masked_scores(0..=4, 0.6),
        roots in any_roots(),
        k in prop_oneof![0usize..20, Just(200)],
    ) {
        let list = kbest(&scores, roots, k);
        check_list(&list, &scores, roots)?;
        let all = oracle::ranked(&scores, tree_set(roots));
        prop_assert_eq!(list.len(), k.min(all.len()));
        for ((found, _), (expected, _)) in list.iter().zip(&all) {
            prop_assert!((found - expected).abs() <= 1e-9 * magnitude(&scores));
        }
    }

    #[test]
    fn is_the_sorted_enumeration_of_five_words(
        scores in masked_scores(5..=5, 0.3),
        roots in any_roots(),
    ) {
        let list = kbest(&scores, roots, 40);
        check_list(&list, &scores, roots)?;
        let all = oracle::ranked(&scores, tree_set(roots));
        prop_assert_eq!(list.len(), all.len().min(40));
        for ((found, _), (expected, _)) in list.iter().zip(&all) {
            prop_assert!((found - expected).abs() <= 1e-9 * magnitude(&scores));
        }
    }

    #[test]
    fn agrees_with_lawler(scores in masked_scores(6..=14, 0.6), roots in any_roots()) {
        let list = kbest(&scores, roots, 12);
        check_list(&list, &scores, roots)?;
        let slow = lawler(&scores, roots, 12);
        prop_assert_eq!(list.len(), slow.len());
        for ((found, _), (expected, _)) in list.iter().zip(&slow) {
            prop_assert!((found - expected).abs() <= 1e-9 * magnitude(&scores));
        }
    }
}

#[test]
fn long_sentences() {
    for (n, roots) in [(40, Roots::Multi), (40, Roots::Single), (60, Roots::Single)] {
        let scores = gaussian_scores(n, 1.0, n as u64);
        let list = kbest(&scores, roots, 15);
        check_list(&list, &scores, roots).unwrap();
        for ((found, _), (expected, _)) in list.iter().zip(lawler(&scores, roots, 15)) {
            assert!((found - expected).abs() < 1e-9);
        }
    }
}
