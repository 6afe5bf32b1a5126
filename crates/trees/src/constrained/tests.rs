//! Constrained decoding against enumeration of all labelled trees.

use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::{Error, LabelledArcMatrix, TreeSet, oracle};

const BOUNDS: [Bound; 2] = [Bound::Tree, Bound::Lagrangian { rounds: 40 }];

fn uniform(rng: &mut Pcg64) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Normal scores, or small integers for ties, some labelled arcs forbidden.
fn random_scores(
    words: usize,
    labels: usize,
    masked: f64,
    integers: bool,
    seed: u64,
) -> LabelledArcMatrix {
    let mut rng = Pcg64::seed_from_u64(seed);
    LabelledArcMatrix::from_fn(words, labels, |_, _, _| {
        let normal = (0..12).map(|_| uniform(&mut rng)).sum::<f64>() - 6.0;
        let value = if integers { normal.round() } else { normal };
        if uniform(&mut rng) < masked { f64::NEG_INFINITY } else { value }
    })
}

/// The largest score − cost of all labelled trees; −∞ if no tree has a finite one.
fn best_by_enumeration(
    scores: &LabelledArcMatrix,
    set: TreeSet,
    constraints: &[&dyn TreeConstraint],
) -> f64 {
    let (words, labels) = (scores.words(), scores.labels());
    let mut best = f64::NEG_INFINITY;
    for tree in oracle::all_trees(words, set) {
        let mut chosen = vec![0; words];
        'labels: loop {
            let labelled = LabelledHeads { heads: tree.heads(), labels: &chosen };
            let score: f64 = labelled.arcs().map(|arc| scores[arc]).sum();
            if score > best {
                let cost: f64 = constraints.iter().map(|c| c.cost(labelled)).sum();
                best = best.max(score - cost);
            }
            for label in chosen.iter_mut().rev() {
                *label += 1;
                if *label < labels {
                    continue 'labels;
                }
                *label = 0;
            }
            break;
        }
    }
    best
}

/// Compares all bounds with enumeration; returns the nodes and decodes with the tree bound.
fn check(
    scores: &LabelledArcMatrix,
    set: TreeSet,
    constraints: &[&dyn TreeConstraint],
    ws: &mut ConstrainedWorkspace,
) -> Option<[(usize, usize); 2]> {
    let expected = best_by_enumeration(scores, set, constraints);
    let mut counts = [(0, 0); 2];
    for (bound, count) in BOUNDS.into_iter().zip(&mut counts) {
        let options = ConstrainedOptions { bound, max_nodes: 100_000 };
        match constrained_argmax_with(scores, set, constraints, &options, ws) {
            Ok(found) => {
                assert!(
                    (found.objective() - expected).abs() < 1e-9,
                    "{set} {bound:?}: {found:?}, {expected}"
                );
                assert!(found.is_optimal(), "{set} {bound:?}: {found:?}");
                assert!(found.tree.tree().check_in(set).is_ok());
                assert!((scores.sum_over(&found.tree).unwrap() - found.score).abs() < 1e-12);
                let tree =
                    LabelledHeads { heads: found.tree.tree().heads(), labels: found.tree.labels() };
                let cost: f64 = constraints.iter().map(|c| c.cost(tree)).sum();
                assert_eq!(cost, found.cost);
                *count = (found.nodes, found.decodes);
            }
            Err(Error::NoTree { .. }) => assert_eq!(expected, f64::NEG_INFINITY),
            Err(Error::NoConstrainedTree { is_proven, .. }) => {
                assert!(is_proven && expected == f64::NEG_INFINITY, "{set} {bound:?}: {expected}");
            }
            Err(other) => panic!("{other}"),
        }
    }
    (expected > f64::NEG_INFINITY).then_some(counts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn at_most_one_is_that_of_enumeration(
        (words, labels) in prop::sample::select(vec![(1, 3), (2, 3), (3, 3), (4, 3), (5, 2)]),
        masked in prop::sample::select(vec![0.0, 0.2, 0.5]),
        integers in any::<bool>(),
        together in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let scores = random_scores(words, labels, masked, integers, seed);
        let rule = if together {
            AtMostOne::of_groups([[0, 1]])
        } else {
            AtMostOne::of_each(&[0, 1])
        };
        let mut ws = ConstrainedWorkspace::default();
        for set in TreeSet::ALL {
            check(&scores, set, &[&rule], &mut ws);
        }
    }

    #[test]
    fn crossing_penalties_are_those_of_enumeration(
        words in 2usize..=5,
        labels in 1usize..=2,
        penalty in prop::sample::select(vec![0.0, 0.1, 0.5, 2.0, f64::INFINITY]),
        masked in prop::sample::select(vec![0.0, 0.3]),
        integers in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let scores = random_scores(words, labels, masked, integers, seed);
        let rule = CrossingPenalty::new(penalty).unwrap();
        let mut ws = ConstrainedWorkspace::default();
        for set in TreeSet::ALL {
            check(&scores, set, &[&rule], &mut ws);
        }
        // Without crossings, the answer is the best projective tree.
        if penalty == f64::INFINITY {
            let options = ConstrainedOptions::default();
            for (set, projective) in [
                (TreeSet::NonProjectiveMultiRoot, TreeSet::ProjectiveMultiRoot),
                (TreeSet::NonProjectiveSingleRoot, TreeSet::ProjectiveSingleRoot),
            ] {
                let found = constrained_argmax_with(&scores, set, &[&rule], &options, &mut ws);
                let plain = constrained_argmax_with(&scores, projective, &[], &options, &mut ws);
                let value = |found: Result<ConstrainedTree, _>| found.map_or(f64::NEG_INFINITY, |t| t.score);
                let (found, plain) = (value(found), value(plain));
                prop_assert!(found == plain || (found - plain).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn several_constraints_hold_together(
        words in 2usize..=4,
        penalty in prop::sample::select(vec![0.3, f64::INFINITY]),
        seed in any::<u64>(),
    ) {
        let scores = random_scores(words, 2, 0.1, false, seed);
        let one = AtMostOne::of_each(&[0]);
        let crossing = CrossingPenalty::new(penalty).unwrap();
        let mut ws = ConstrainedWorkspace::default();
        for set in TreeSet::ALL {
            check(&scores, set, &[&one, &crossing, &Leaves], &mut ws);
        }
    }
}

/// Words with label 1 have no children: a constraint with a split of its own, and no rows.
struct Leaves;

impl Leaves {
    fn violation(tree: LabelledHeads<'_>) -> Option<[(usize, usize, usize); 2]> {
        tree.arcs().find_map(|arc| {
            let up = tree.arcs().find(|up| up.1 == arc.0)?;
            (up.2 == 1).then_some([up, arc])
        })
    }
}

impl TreeConstraint for Leaves {
    fn cost(&self, tree: LabelledHeads<'_>) -> f64 {
        if Self::violation(tree).is_some() { f64::INFINITY } else { 0.0 }
    }

    fn split(&self, tree: LabelledHeads<'_>, _: Settled<'_>, branches: &mut Branches) {
        if let Some([(head, modifier, label), (parent, child, _)]) = Self::violation(tree) {
            branches.add().forbid_label(head, modifier, label);
            branches.add().forbid_arc(parent, child);
        }
    }
}

/// The searches of the literature's size are small, and multipliers alone usually close the gap.
#[test]
fn searches_are_small() {
    let mut ws = ConstrainedWorkspace::default();
    let one = AtMostOne::of_each(&[0]);
    let mut most = [0, 0];
    let mut closed = 0;
    let mut runs = 0;
    for (words, labels, cases) in [(4, 3, 60), (5, 2, 20)] {
        for seed in 0..cases {
            let scores = random_scores(words, labels, 0.0, false, 1000 + seed);
            let counts =
                check(&scores, TreeSet::NonProjectiveSingleRoot, &[&one], &mut ws).unwrap();
            most[0] = most[0].max(counts[0].0);
            runs += 1;
            closed += usize::from(counts[1].0 == 1);
        }
    }
    let crossing = CrossingPenalty::new(0.5).unwrap();
    for seed in 0..60 {
        let scores = random_scores(5, 1, 0.0, false, 2000 + seed);
        let counts =
            check(&scores, TreeSet::NonProjectiveSingleRoot, &[&crossing], &mut ws).unwrap();
        most[1] = most[1].max(counts[0].0);
    }
    assert!(most[0] <= 9 && most[1] <= 25, "{most:?}");
    assert!(most[0] > 1 && most[1] > 1, "no case needed a branch: {most:?}");
    assert!(10 * closed >= 8 * runs, "{closed} of {runs} closed without a branch");
}

/// At the cap, the best tree so far comes with a bound that holds.
#[test]
fn a_capped_search_reports_its_gap() {
    let mut ws = ConstrainedWorkspace::default();
    let crossing = CrossingPenalty::new(0.7).unwrap();
    let mut capped = 0;
    for seed in 0..40 {
        let scores = random_scores(5, 1, 0.0, false, seed);
        let set = TreeSet::NonProjectiveMultiRoot;
        let options = ConstrainedOptions { max_nodes: 1, ..Default::default() };
        let found = constrained_argmax_with(&scores, set, &[&crossing], &options, &mut ws).unwrap();
        let expected = best_by_enumeration(&scores, set, &[&crossing]);
        assert!(found.upper_bound >= expected - 1e-9 && found.objective() <= expected + 1e-9);
        assert_eq!(found.nodes, 1);
        if !found.is_optimal() {
            capped += 1;
            assert!(found.gap() > 0.0);
        }
    }
    assert!(capped > 5, "{capped}");
}

#[test]
fn impossible_constraints_are_an_error() {
    // Two words that must both hang on the root with label 0.
    let scores = LabelledArcMatrix::from_fn(
        2,
        1,
        |head, _, _| if head == 0 { 0.0 } else { f64::NEG_INFINITY },
    );
    let one = AtMostOne::of_each(&[0]);
    let mut ws = ConstrainedWorkspace::default();
    let mut search = |options: ConstrainedOptions| {
        let set = TreeSet::NonProjectiveMultiRoot;
        constrained_argmax_with(&scores, set, &[&one], &options, &mut ws).unwrap_err()
    };
    let error = search(ConstrainedOptions::default());
    assert!(matches!(error, Error::NoConstrainedTree { is_proven: true, .. }), "{error}");
    let error = search(ConstrainedOptions { max_nodes: 1, ..Default::default() });
    assert!(
        matches!(error, Error::NoConstrainedTree { is_proven: false, nodes: 1, .. }),
        "{error}"
    );
    let set = TreeSet::NonProjectiveSingleRoot;
    let error =
        constrained_argmax_with(&scores, set, &[&one], &ConstrainedOptions::default(), &mut ws);
    assert!(matches!(error.unwrap_err(), Error::NoTree { .. }));
    assert!(CrossingPenalty::new(f64::NAN).is_err() && CrossingPenalty::new(-1.0).is_err());
}

#[test]
fn degenerate_sentences() {
    let mut ws = ConstrainedWorkspace::default();
    let one = AtMostOne::of_each(&[0, 7]);
    let crossing = CrossingPenalty::new(1.0).unwrap();
    for set in TreeSet::ALL {
        let scores = LabelledArcMatrix::zeros(0, 2);
        let found = constrained_argmax_with(
            &scores,
            set,
            &[&one, &crossing],
            &ConstrainedOptions::default(),
            &mut ws,
        )
        .unwrap();
        assert_eq!((found.tree.tree().words(), found.objective(), found.gap()), (0, 0.0, 0.0));
    }
    let mut bad = LabelledArcMatrix::zeros(2, 1);
    bad[(0, 1, 0)] = f64::NAN;
    let options = ConstrainedOptions::default();
    let set = TreeSet::ProjectiveMultiRoot;
    let error = constrained_argmax_with(&bad, set, &[&one], &options, &mut ws).unwrap_err();
    assert!(matches!(error, Error::BadScore { head: 0, modifier: 1, .. }), "{error}");
}
