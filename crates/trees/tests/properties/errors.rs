//! Refused inputs and their error messages.

use tutte_trees::{
    ArcMatrix, Error, LabelledArcMatrix, LabelledTreeDistribution, NotATree, Tree,
    TreeDistribution, TreeSet, Workspace, arc_covariances_with, argmax_with, log_partition_with,
    marginals_with, mbr_with,
};

const SET: TreeSet = TreeSet::NonProjectiveMultiRoot;

#[track_caller]
fn assert_says<T: std::fmt::Debug>(result: Result<T, Error>, message: &str) {
    assert_eq!(result.unwrap_err().to_string(), message);
}

#[test]
fn scores_that_are_no_scores() {
    let mut ws = Workspace::default();
    let mut out = ArcMatrix::default();
    let mut heads = Vec::new();
    for bad in [f64::NAN, f64::INFINITY, 1e301, -1e301, f64::MAX] {
        for set in TreeSet::ALL {
            let mut scores = ArcMatrix::zeros(3);
            scores[(2, 1)] = bad;
            scores[(3, 1)] = bad; // only the first is named
            let refused = [
                TreeDistribution::new(scores.clone(), set).map(|_| 0.0),
                log_partition_with(&scores, set, &mut ws),
                marginals_with(&scores, set, &mut ws, &mut out),
                argmax_with(&scores, set, &mut ws, &mut heads),
                arc_covariances_with(&scores, &ArcMatrix::zeros(3), set, &mut ws, &mut out),
            ];
            for result in refused {
                match result {
                    Err(Error::BadScore { head: 2, modifier: 1, label: None, value }) => {
                        assert_eq!(value.to_bits(), bad.to_bits());
                    }
                    other => panic!("{set} {bad}: {other:?}"),
                }
            }
        }
    }
    let mut scores = ArcMatrix::zeros(2);
    scores[(0, 2)] = f64::NAN;
    assert_says(
        TreeDistribution::new(scores.clone(), SET),
        "the score of arc 0 → 2 is NaN; scores must be finite and at most 1e300 in size, or −∞ for \
         a forbidden arc",
    );
    scores[(0, 2)] = f64::INFINITY;
    assert_says(
        TreeDistribution::new(scores, SET),
        "the score of arc 0 → 2 is inf; scores must be finite and at most 1e300 in size, or −∞ for \
         a forbidden arc",
    );
}

#[test]
fn labelled_scores_that_are_no_scores() {
    for bad in [f64::NAN, f64::INFINITY, 1e301] {
        let mut scores = LabelledArcMatrix::zeros(2, 3);
        scores[(2, 1, 1)] = bad;
        match LabelledTreeDistribution::new(scores, SET) {
            Err(Error::BadScore { head: 2, modifier: 1, label: Some(1), value }) => {
                assert_eq!(value.to_bits(), bad.to_bits());
            }
            other => panic!("{bad}: {other:?}"),
        }
    }
    let mut scores = LabelledArcMatrix::zeros(2, 3);
    scores[(0, 1, 2)] = f64::NAN;
    assert_says(
        LabelledTreeDistribution::new(scores, SET),
        "the score of arc 0 → 1 with label 2 is NaN; scores must be finite and at most 1e300 in \
         size, or −∞ for a forbidden arc",
    );
}

/// Functions of arcs must be numbers where an arc is allowed, and only there.
#[test]
fn functions_with_values_that_are_not_numbers() {
    let mut scores = ArcMatrix::zeros(2);
    scores.forbid(1, 2);
    let d = TreeDistribution::new(scores, SET).unwrap();
    let mut g = ArcMatrix::zeros(2);
    g[(1, 2)] = f64::NAN;
    assert!(d.arc_covariances(&g).unwrap().arcs().all(|(.., c)| c.is_finite()));
    assert!(d.covariance(&g, &g).unwrap().is_finite());
    assert_eq!(d.expectation(&g), Ok(0.0));
    g[(0, 2)] = f64::NEG_INFINITY;
    for result in [d.expectation(&g), d.covariance(&g, &g), d.arc_covariances(&g).map(|_| 0.0)] {
        let value = f64::NEG_INFINITY;
        assert_eq!(result, Err(Error::BadScore { head: 0, modifier: 2, label: None, value }));
    }
}

#[test]
fn shapes_that_do_not_fit() {
    assert_says(
        ArcMatrix::from_vec(2, vec![0.0; 8]),
        "expected (n+1)·(n+1) values for n = 2 words, head-major (row = head, row 0 the root, \
         column = modifier, column 0 unused), found 8 values",
    );
    assert!(ArcMatrix::from_vec(usize::MAX, vec![]).is_err());
    assert_says(
        ArcMatrix::from_rows(&[vec![0.0; 2], vec![0.0; 3]]),
        "expected 2 columns in each of the 2 rows (rows are heads with row 0 the root, columns \
         modifiers with column 0 unused), found 3 columns in row 1",
    );
    assert_says(
        ArcMatrix::from_rows::<Vec<f64>>(&[]),
        "expected n+1 rows, one for each head, row 0 the root, found no rows",
    );
    assert_says(
        LabelledArcMatrix::from_vec(1, 2, vec![0.0; 4]),
        "expected (n+1)·(n+1)·L values for n = 1 words and L = 2 labels, head-major, labels \
         innermost (row 0 the root, column 0 unused), found 4 values",
    );
    let matrix = ArcMatrix::from_vec(1, vec![0.0, 5.0, 0.0, 0.0]).unwrap();
    assert_eq!(matrix.get(0, 1), Some(5.0));
    assert_eq!(ArcMatrix::from_rows(&[[0.0, 5.0], [0.0, 0.0]]), Ok(matrix));
}

#[test]
fn arcs_out_of_range() {
    let d = TreeDistribution::new(ArcMatrix::zeros(3), SET).unwrap();
    assert_says(
        d.marginal(4, 1),
        "there is no arc 4 → 1 in a sentence of 3 words: heads are 0..=3 (0 is the root), \
         modifiers 1..=3, and a word cannot head itself",
    );
    for (head, modifier) in [(4, 1), (1, 4), (2, 2), (1, 0), (0, 0), (usize::MAX, 1)] {
        let error = Error::NoSuchArc { head, modifier, words: 3 };
        assert_eq!(d.marginal(head, modifier), Err(error.clone()));
        assert_eq!(d.pair_marginal((0, 1), (head, modifier)), Err(error.clone()));
        assert_eq!(d.joint_marginal(&[(head, modifier)]), Err(error));
        assert_eq!(d.scores().get(head, modifier), None);
        assert!(!d.scores().has_arc(head, modifier));
    }
    assert!(d.head_entropy(0).is_err() && d.head_entropy(4).is_err());
    let mut scores = ArcMatrix::zeros(3);
    scores.forbid(9, 9); // no such arc: nothing to forbid
    assert_eq!(scores, ArcMatrix::zeros(3));
}

#[test]
fn sentences_of_other_lengths() {
    let d = TreeDistribution::new(ArcMatrix::zeros(3), SET).unwrap();
    let other = TreeDistribution::new(ArcMatrix::zeros(2), SET).unwrap();
    let tree = Tree::new(&[0, 1]).unwrap();
    let error = Error::DifferentLengths { left: 3, right: 2 };
    let short = ArcMatrix::zeros(2);
    let mut ws = Workspace::default();
    let mut out = ArcMatrix::default();
    let mut heads = Vec::new();
    let refused = [
        d.log_prob(&tree),
        d.scores().sum_over(&tree),
        d.kl(&other),
        d.cross_entropy(&other),
        d.expectation(&short),
        d.covariance(d.scores(), &short),
        d.arc_covariances(&short).map(|_| 0.0),
        mbr_with(d.scores(), &short, SET, &mut ws, &mut heads),
        arc_covariances_with(d.scores(), &short, SET, &mut ws, &mut out),
    ];
    for result in refused {
        assert_eq!(result, Err(error.clone()));
    }
    assert_eq!(
        error.to_string(),
        "one side has 3 words and the other 2: they must be of the same sentence"
    );
}

#[test]
fn parameters_out_of_range() {
    let d = TreeDistribution::new(ArcMatrix::zeros(3), SET).unwrap();
    assert_says(
        d.renyi(-1.0),
        "the order of the Rényi entropy is -1; it must be at least 0 (∞ is allowed)",
    );
    assert!(d.renyi(f64::NAN).is_err() && d.renyi_gradient(-0.1).is_err());
    let projective = TreeDistribution::new(ArcMatrix::zeros(3), TreeSet::ProjectiveSingleRoot);
    assert_says(
        d.kl(&projective.unwrap()),
        "the other distribution's tree set is projective-single-root (and this one \
         nonprojective-multi-root); it must be one that contains all trees of this distribution's \
         set",
    );
    assert_says(
        "projective".parse::<TreeSet>(),
        "no tree set is called \"projective\"; there are nonprojective-multi-root, \
         nonprojective-single-root, projective-multi-root and projective-single-root",
    );
    for set in TreeSet::ALL {
        assert_eq!(set.to_string().parse(), Ok(set));
    }
}

#[test]
fn sentences_without_a_tree() {
    let mut scores = ArcMatrix::zeros(3);
    for head in [0, 1, 3] {
        scores.forbid(head, 2);
    }
    assert_says(
        TreeDistribution::new(scores.clone(), SET),
        "no nonprojective-multi-root tree is possible: word 2 cannot be attached with the arcs \
         that are allowed",
    );
    scores[(3, 2)] = 0.0;
    scores.forbid(0, 3);
    scores.forbid(1, 3);
    assert_says(
        TreeDistribution::new(scores, SET),
        "no nonprojective-multi-root tree is possible: words 2, 3 cannot all be attached with the \
         arcs that are allowed",
    );
}

/// The only tree has crossing arcs. The error must not take one chart for each of 600 words.
#[test]
fn long_sentences_without_a_projective_tree() {
    let mut scores = ArcMatrix::forbidden(600);
    for word in 1..=600 {
        let head = if word == 3 || word == 4 { word - 2 } else { word - 1 };
        scores[(head, word)] = 0.0;
    }
    assert!(TreeDistribution::new(scores.clone(), SET).is_ok());
    let error = TreeDistribution::new(scores, TreeSet::ProjectiveMultiRoot).unwrap_err();
    assert!(matches!(&error, Error::NoTree { words, .. } if words.len() == 600));
    assert_eq!(
        error.to_string(),
        "no projective-multi-root tree is possible: words 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 590 \
         more cannot all be attached with the arcs that are allowed"
    );
}

#[test]
fn heads_that_are_no_tree() {
    assert_says(Tree::new(&[0, 4]), "word 2 has head 4, but the sentence has 2 words");
    assert_says(Tree::new(&[2, 3, 1, 0]), "the heads form a cycle: 1 → 3 → 2 → 1");
    assert_says(Tree::new(&[1]), "the heads form a cycle: 1 → 1");
    assert_eq!(Tree::new(&[0, 3, 2]), Err(Error::NotATree(NotATree::Cycle { words: vec![2, 3] })));
    let tree = Tree::new(&[0, 4, 0, 1]).unwrap();
    assert_says(
        tree.check_in(TreeSet::ProjectiveSingleRoot),
        "words 1, 3 are all attached to the root, but only one may be",
    );
    assert_says(
        tree.check_in(TreeSet::ProjectiveMultiRoot),
        "arc 4 → 2 is not projective: word 3 lies between its ends but does not descend from 4",
    );
    assert_eq!(Tree::new(&[]).unwrap().words(), 0);
    assert_eq!((tree.head(0), tree.head(4), tree.head(5)), (None, Some(1), None));
}
