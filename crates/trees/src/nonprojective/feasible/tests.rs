use proptest::prelude::*;

use super::*;
use crate::nonprojective::decode::tests::{masked_scores, tree_set};
use crate::oracle;

const NO: f64 = f64::NEG_INFINITY;

#[test]
fn names_the_words() {
    // 1 ← root; 2 and 3 only head each other.
    let mut scores = ArcMatrix::forbidden(3);
    scores[(0, 1)] = 0.0;
    scores[(2, 3)] = 0.0;
    scores[(3, 2)] = 0.0;
    assert_eq!(unattachable(&scores, Roots::Multi), [2, 3]);
    assert_eq!(unattachable(&scores, Roots::Single), [2, 3]);
    // The pair can be attached to the root too, but not in the same single-root tree as word 1.
    scores[(0, 3)] = 0.0;
    assert_eq!(unattachable(&scores, Roots::Multi), [0; 0]);
    assert_eq!(unattachable(&scores, Roots::Single), [1, 2, 3]);
    // A word below one of the groups is not named.
    let mut four = ArcMatrix::from_fn(4, |h, m| if m < 4 { scores[(h.min(3), m)] } else { NO });
    four.forbid(4, 1);
    four.forbid(4, 2);
    four.forbid(4, 3);
    four[(2, 4)] = 0.0;
    assert_eq!(unattachable(&four, Roots::Single), [1, 2, 3]);
    four[(3, 1)] = 0.0;
    assert_eq!(unattachable(&four, Roots::Single), [0; 0]);
}

#[test]
fn nobody_may_be_root() {
    let scores = ArcMatrix::from_fn(3, |h, _| if h == 0 { NO } else { 0.0 });
    assert_eq!(unattachable(&scores, Roots::Multi), [1, 2, 3]);
    assert_eq!(unattachable(&scores, Roots::Single), [1, 2, 3]);
}

#[test]
fn no_words_and_one_word() {
    for roots in [Roots::Multi, Roots::Single] {
        assert_eq!(unattachable(&ArcMatrix::zeros(0), roots), [0; 0]);
        assert_eq!(unattachable(&ArcMatrix::zeros(1), roots), [0; 0]);
        assert_eq!(unattachable(&ArcMatrix::forbidden(1), roots), [1]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn empty_iff_there_is_a_tree(
        scores in masked_scores(0..=5, 0.75),
        roots in prop_oneof![Just(Roots::Multi), Just(Roots::Single)],
    ) {
        let words = unattachable(&scores, roots);
        let has_tree = !oracle::scored_trees(&scores, tree_set(roots)).is_empty();
        prop_assert_eq!(words.is_empty(), has_tree, "{:?}", words);
        prop_assert!(words.windows(2).all(|pair| pair[0] < pair[1]));
    }
}

proptest! {
    /// Compares with enumeration.
    #[test]
    fn root_words_of_some_tree(scores in masked_scores(0..=4, 0.75)) {
        let n = scores.words();
        let trees = oracle::scored_trees(&scores, tree_set(Roots::Single));
        let has = |word| trees.iter().any(|(_, tree)| tree.head(word) == Some(0));
        if unattachable(&scores, Roots::Single).is_empty() {
            let possible = possible_root_words(&scores);
            for word in 1..=n {
                prop_assert_eq!(possible[word], has(word));
            }
        }
    }
}
