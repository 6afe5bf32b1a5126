//! Questions that need no inference: names, matrices, trees.

use super::assert_same_bits;
use super::bytes::Sentence;
use tutte_trees::{ArcMatrix, Error, NotATree, Tree, TreeSet, clusters};

pub(super) fn ask_names(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        match text.parse::<TreeSet>() {
            Ok(tree_set) => assert_eq!(tree_set.to_string(), text),
            Err(error) => assert!(matches!(error, Error::UnknownTreeSet { .. })),
        }
    }
    let words = data.iter().fold(0usize, |number, &byte| (number << 8) | usize::from(byte));
    for tree_set in TreeSet::ALL {
        assert_eq!(tree_set.to_string().parse(), Ok(tree_set));
        assert_ne!(tree_set.tree_count(words % 200), Some(0));
        for other in TreeSet::ALL {
            let counts = (tree_set.tree_count(words % 20), other.tree_count(words % 20));
            assert!(!tree_set.contains(other) || counts.0 >= counts.1);
        }
    }
}

pub(super) fn ask_matrix(sentence: &Sentence<'_>) {
    let scores = &sentence.scores;
    let words = sentence.heads.len();
    let side = words + 1;
    assert_eq!(scores.words(), words);
    assert_same_bits(scores.as_slice(), &sentence.cells);
    assert!(!format!("{scores:?}").is_empty());

    let rows: Vec<&[f64]> = (0..=words).map(|head| scores.row(head)).collect();
    let from_rows = ArcMatrix::from_rows(&rows).expect("a square");
    assert_same_bits(from_rows.as_slice(), &sentence.cells);
    // A row or a cell too many or too few, and a number of words whose square overflows, are refused.
    assert!(matches!(ArcMatrix::from_rows(&rows[1..]), Err(Error::Shape { .. })));
    for (claimed, cells) in [
        (words, side * side - 1),
        (words, side * side + 1),
        (words + 1, side * side),
        (usize::MAX, side * side),
    ] {
        assert!(matches!(ArcMatrix::from_vec(claimed, vec![0.0; cells]), Err(Error::Shape { .. })));
    }

    let from_fn = ArcMatrix::from_fn(words, |head, modifier| {
        assert!(scores.has_arc(head, modifier));
        scores[(head, modifier)]
    });
    assert_eq!(scores.arcs().count(), words * words);
    for head in 0..=side {
        for modifier in 0..=side {
            let arc = scores.get(head, modifier);
            assert_eq!(arc.is_some(), scores.has_arc(head, modifier));
            assert_eq!(arc.map(f64::to_bits), from_fn.get(head, modifier).map(f64::to_bits));
            let mut without = scores.clone();
            without.forbid(head, modifier);
            assert_eq!(without.get(head, modifier), arc.map(|_| f64::NEG_INFINITY));
        }
    }
}

/// Asks all questions about the tree of these heads and returns it; `None` if they are not a tree.
pub(super) fn ask_heads(heads: &[usize]) -> Option<Tree> {
    let words = heads.len();
    let tree = match Tree::new(heads) {
        Ok(tree) => tree,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            match error {
                Error::NotATree(NotATree::HeadOutOfRange { modifier, head, .. }) => {
                    assert_eq!(heads[modifier - 1], head);
                    assert!(head > words);
                }
                Error::NotATree(NotATree::Cycle { words: cycle }) => {
                    let next = cycle.iter().cycle().skip(1);
                    assert!(!cycle.is_empty());
                    assert!(cycle.iter().zip(next).all(|(head, &word)| heads[word - 1] == *head));
                }
                other => panic!("{heads:?} are refused because {other}"),
            }
            return None;
        }
    };
    assert_eq!((tree.words(), tree.heads()), (words, heads));
    assert_eq!((tree.head(0), tree.head(words + 1)), (None, None));
    assert!((1..=words).all(|word| tree.head(word) == Some(heads[word - 1])));
    assert!((1..=words).all(|word| tree.descends(word, 0) && tree.descends(word, word)));
    assert!(tree.arcs().all(|(head, word)| tree.descends(word, head)));
    assert!(tree.arcs().all(|(head, word)| head == 0 || !tree.descends(head, word)));

    let roots = tree.root_words().count();
    assert!(roots >= usize::from(words > 0));
    assert_eq!(tree.is_projective(), tree.nonprojective_arcs().is_empty());
    assert_eq!(tree.is_projective(), tree.gap_degree() == 0);
    for tree_set in TreeSet::ALL {
        let belongs = (tree.is_projective() || !tree_set.is_projective())
            && (roots <= 1 || !tree_set.is_single_root());
        match tree.check_in(tree_set) {
            Ok(()) => assert!(belongs),
            Err(error) => assert!(!belongs && !error.to_string().is_empty()),
        }
    }
    let projective = tree.projectivise();
    assert!(projective.is_projective());
    assert!(!tree.is_projective() || projective == tree, "{heads:?} became {projective:?}");
    assert!(roots != 1 || projective.root_words().count() == 1);
    let clusters = clusters(&tree);
    assert_eq!(clusters.len(), roots);
    assert_eq!(clusters.iter().map(Vec::len).sum::<usize>(), words);

    let shorter = ArcMatrix::zeros(words.saturating_sub(1));
    assert_eq!(shorter.sum_over(&tree).is_err(), words > 0);
    Some(tree)
}
