//! All questions about siblings and grandparents, constraints that are not arc-factored, and fitted
//! marginals.

use super::bytes::{Bytes, Sentence};
use tutte_trees::{
    ArcMatrix, AtMostOne, Bound, ConstrainedOptions, ConstrainedWorkspace, CrossingPenalty, Error,
    LabelledArcMatrix, MomentMatch, MomentOptions, Part, SecondOrderDistribution, SecondOrderParts,
    Tree, TreeDistribution, TreeSet, Workspace, constrained_argmax_with, fit_marginals,
    second_order_argmax_with, second_order_log_partition_with, second_order_marginals_with,
};

/// Asks about a sentence of at most 8 words.
pub(super) fn ask(sentence: &Sentence<'_>, tree: Option<&Tree>) {
    if sentence.scores.words() > 8 {
        return;
    }
    let mut bytes = Bytes(sentence.rest);
    let tree_set = TreeSet::ALL[bytes.below(4)];
    ask_second_order(sentence, tree_set, tree, &mut bytes);
    ask_constraints(sentence, tree_set, &mut bytes);
    ask_moments(sentence, tree_set);
}

fn ask_second_order(
    sentence: &Sentence<'_>,
    tree_set: TreeSet,
    tree: Option<&Tree>,
    bytes: &mut Bytes<'_>,
) {
    let words = sentence.scores.words();
    let mut scores = SecondOrderParts::new(sentence.scores.clone());
    let has_grandparents = bytes.below(2) == 0;
    for part in Part::all(words) {
        let is_arc = matches!(part, Part::Arc { .. });
        let is_skipped = matches!(part, Part::Grandparent { .. }) && !has_grandparents;
        if !is_arc && !is_skipped && bytes.below(3) == 0 {
            scores.set(part, bytes.score(sentence.palette)).expect("a part of this sentence");
        }
    }
    let [head, inner, outer] = [(); 3].map(|()| bytes.below(words + 3));
    for part in [
        Part::NextSibling { head, inner, outer },
        Part::Grandparent { grandparent: head, head: inner, modifier: outer },
        Part::FirstChild { head: usize::MAX, modifier: inner },
    ] {
        assert!(!part.to_string().is_empty());
        let exists = Part::all(words).contains(&part);
        assert_eq!(scores.get(part).is_some(), exists, "{part}");
        assert_eq!(scores.clone().set(part, 0.0).is_ok(), exists, "{part}");
    }
    let workspace = &mut Workspace::default();
    let mut marginals = SecondOrderParts::default();
    let mut heads = Vec::new();
    let log_z = second_order_log_partition_with(&scores, tree_set, workspace);
    let with_marginals = second_order_marginals_with(&scores, tree_set, workspace, &mut marginals);
    let best = second_order_argmax_with(&scores, tree_set, workspace, &mut heads);
    let d = match SecondOrderDistribution::new(scores.clone(), tree_set) {
        Ok(d) => d,
        Err(error) => {
            // By their text: a score in an error may be NaN.
            for answer in [with_marginals, best] {
                assert_eq!(answer.map_err(|other| other.to_string()), Err(error.to_string()));
            }
            match error {
                Error::NoTree { .. } => assert_eq!(log_z, Ok(f64::NEG_INFINITY)),
                Error::BadParameter { .. } => assert!(!tree_set.is_projective()),
                Error::BadScore { .. } | Error::BadPart { .. } => {}
                other => panic!("{other}"),
            }
            return;
        }
    };
    assert_eq!(log_z, Ok(d.log_partition()));
    assert_eq!(with_marginals, log_z);
    assert_eq!(best, Ok(d.argmax().score));
    assert!(!d.log_partition().is_nan() && d.argmax().tree.check_in(tree_set).is_ok());
    assert!(d.mbr().check_in(tree_set).is_ok());
    for part in Part::all(words) {
        let p = d.marginals().get(part).expect("a part of this sentence");
        assert!((0.0..=1.0 + 1e-9).contains(&p), "P({part}) = {p}");
    }
    if let Some(tree) = tree {
        assert!(!d.log_prob(tree).expect("of this length").is_nan());
    }
}

fn ask_constraints(sentence: &Sentence<'_>, tree_set: TreeSet, bytes: &mut Bytes<'_>) {
    let words = sentence.scores.words();
    let labels = 1 + bytes.below(3);
    let scores = LabelledArcMatrix::from_fn(words, labels, |head, modifier, _| {
        if bytes.below(4) == 0 {
            bytes.score(sentence.palette)
        } else {
            sentence.scores[(head, modifier)]
        }
    });
    let one = AtMostOne::of_each(&[bytes.below(4), bytes.below(4)]);
    let penalty = [0.0, 0.5, 1e300, f64::INFINITY][bytes.below(4)];
    let crossing = CrossingPenalty::new(penalty).expect("not negative");
    let workspace = &mut ConstrainedWorkspace::default();
    let mut values = Vec::new();
    for bound in [Bound::Tree, Bound::Lagrangian { rounds: 5 }] {
        let options = ConstrainedOptions { max_nodes: 30, bound };
        match constrained_argmax_with(&scores, tree_set, &[&one, &crossing], &options, workspace) {
            Ok(found) => {
                assert!(found.tree.tree().check_in(tree_set).is_ok());
                assert!(found.cost >= 0.0 && found.cost < f64::INFINITY);
                assert!(found.gap() >= 0.0 && !found.gap().is_nan());
                assert_eq!(scores.sum_over(&found.tree), Ok(found.score));
                if found.is_optimal() {
                    values.push(found.objective());
                }
            }
            Err(
                Error::BadScore { .. } | Error::NoTree { .. } | Error::NoConstrainedTree { .. },
            ) => {}
            Err(other) => panic!("{other}"),
        }
    }
    if let [one, other] = values[..] {
        let size = one.abs().max(other.abs()).max(penalty.min(1e300)).max(1.0);
        assert!((one - other).abs() <= 1e-9 * size, "{one} {other}");
    }
}

fn ask_moments(sentence: &Sentence<'_>, tree_set: TreeSet) {
    // Few steps: what is asked is that every answer is a number.
    let options = MomentOptions { max_steps: 3, ..MomentOptions::default() };
    // Scores are mostly not marginals.
    if let Ok(fit) = fit_marginals(&sentence.scores, tree_set, &options) {
        assert!(!fit.residual.is_nan());
    }
    let Ok(d) = TreeDistribution::new(sentence.scores.clone(), tree_set) else { return };
    match fit_marginals(d.marginals(), tree_set, &options) {
        Ok(MomentMatch { distribution, residual, .. }) => {
            assert!((0.0..=1.0 + 1e-9).contains(&residual), "{residual}");
            assert!(distribution.marginals().arcs().all(|(.., p)| !p.is_nan()));
        }
        // Scores so large that the marginals themselves have lost their digits.
        Err(Error::OutsidePolytope { .. } | Error::HeadsDoNotSumToOne { .. }) => {}
        Err(other) => panic!("{other}"),
    }
    assert_eq!(MomentMatch::exact(d).residual, 0.0);
    assert!(fit_marginals(&ArcMatrix::filled(2, 2.0), tree_set, &options).is_err());
}
