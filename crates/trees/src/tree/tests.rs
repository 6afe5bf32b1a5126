use super::*;
use crate::oracle::all_trees;

/// Finds the arcs by the definition: every word between the ends of an arc descends from its head.
fn nonprojective_arcs(tree: &Tree) -> Vec<(usize, usize)> {
    let escapes = |&(head, modifier): &(usize, usize)| {
        let (low, high) = (head.min(modifier), head.max(modifier));
        (low + 1..high).any(|between| !tree.descends(between, head))
    };
    tree.arcs().filter(escapes).collect()
}

/// Computes the degree by the definition: blocks of consecutive words in a word's yield, less one.
fn gap_degree(tree: &Tree) -> usize {
    let gaps = |word: usize| {
        let below: Vec<usize> =
            (1..=tree.words()).filter(|&other| tree.descends(other, word)).collect();
        below.windows(2).filter(|pair| pair[1] > pair[0] + 1).count()
    };
    (1..=tree.words()).map(gaps).max().unwrap_or(0)
}

#[test]
fn projectivity_and_gaps_are_as_defined() {
    for words in 0..=6 {
        for tree in all_trees(words, TreeSet::NonProjectiveMultiRoot) {
            let slow = nonprojective_arcs(&tree);
            assert_eq!(tree.nonprojective_arcs(), slow, "{tree:?}");
            assert_eq!(tree.is_projective(), slow.is_empty(), "{tree:?}");
            assert_eq!(tree.gap_degree(), gap_degree(&tree), "{tree:?}");
            if slow.is_empty() {
                assert_eq!(tree.projectivise(), tree);
            }
        }
    }
}

/// Long arcs over many words: visiting every word under every arc would take 10¹⁰ steps.
#[test]
fn trees_of_a_hundred_thousand_words_are_checked_at_once() {
    let n = 100_000;
    let star: Vec<usize> = (1..=n).map(|word| if word == n { 0 } else { n }).collect();
    let chain: Vec<usize> = (0..n).collect();
    for heads in [star, chain] {
        let tree = Tree::new(&heads).unwrap();
        assert!(tree.is_projective());
        assert_eq!(tree.check_in(TreeSet::ProjectiveSingleRoot), Ok(()));
        assert_eq!(tree.nonprojective_arcs(), []);
        assert_eq!(tree.gap_degree(), 0);
        assert_eq!(tree.projectivise(), tree);
        assert_eq!(tree.into_heads(), heads);
    }
}

#[test]
fn words_that_are_not_there_descend_from_nothing() {
    let tree = Tree::new(&[2, 0]).unwrap();
    assert!(tree.descends(1, 2) && tree.descends(1, 0) && tree.descends(0, 0));
    assert!(!tree.descends(2, 1) && !tree.descends(0, 1));
    assert!(!tree.descends(3, 3) && !tree.descends(3, 0));
}
