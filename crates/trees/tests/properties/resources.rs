//! Memory, threads, and the same bits every time.

use allocation_counter::measure;
use proptest::prelude::*;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use tutte_trees::{
    ArcMatrix, AtMostOne, ConstrainedOptions, ConstrainedTree, ConstrainedWorkspace, Constraints,
    CrossingPenalty, Error, Estimate, Graph, GraphDistribution, LabelledArcMatrix, LabelledTree,
    LabelledTreeDistribution, MomentMatch, NotATree, Part, ScoredLabelledTree, ScoredTree,
    SecondOrderDistribution, SecondOrderParts, Tree, TreeDistribution, TreeSet, Workspace,
    arc_covariances_with, argmax_with, constrained_argmax_with, log_partition_with, marginals_with,
    mbr_with, second_order_argmax_with, second_order_marginals_with,
};

use super::support::*;

const fn assert_shared_by_threads<T: Send + Sync + 'static>() {}

const _: () = {
    assert_shared_by_threads::<ArcMatrix>();
    assert_shared_by_threads::<ConstrainedTree>();
    assert_shared_by_threads::<ConstrainedWorkspace>();
    assert_shared_by_threads::<Constraints>();
    assert_shared_by_threads::<Error>();
    assert_shared_by_threads::<Estimate>();
    assert_shared_by_threads::<Graph<String>>();
    assert_shared_by_threads::<GraphDistribution<String>>();
    assert_shared_by_threads::<LabelledArcMatrix>();
    assert_shared_by_threads::<LabelledTree>();
    assert_shared_by_threads::<LabelledTreeDistribution>();
    assert_shared_by_threads::<MomentMatch>();
    assert_shared_by_threads::<NotATree>();
    assert_shared_by_threads::<ScoredLabelledTree>();
    assert_shared_by_threads::<ScoredTree>();
    assert_shared_by_threads::<SecondOrderDistribution>();
    assert_shared_by_threads::<SecondOrderParts>();
    assert_shared_by_threads::<Tree>();
    assert_shared_by_threads::<TreeDistribution>();
    assert_shared_by_threads::<TreeSet>();
    assert_shared_by_threads::<Workspace>();
};

/// Scores of 20 words for the fast paths, and scores that need the paths for any range.
fn inputs() -> Vec<(&'static str, ArcMatrix)> {
    let mut random = Random::new(4);
    let mut masked = random.scores(20, 1.0);
    random.mask(&mut masked, 0.3);
    let mut two_cycles = random.scores(20, 1.0);
    for odd in (1..20).step_by(2) {
        two_cycles[(odd, odd + 1)] += 60.0;
        two_cycles[(odd + 1, odd)] += 60.0;
    }
    // One word may hang on the root only, so single-root sets meet a zero pivot.
    let mut only_root = random.scores(20, 1.0);
    for word in 1..20 {
        only_root.forbid(word, 20);
    }
    vec![
        ("N(0, 1)", random.scores(20, 1.0)),
        ("masked", masked),
        ("two-cycles", two_cycles),
        ("only the root heads 20", only_root),
        ("N(0, 1000)", random.scores(20, 1000.0)),
    ]
}

/// Counts the allocations of the second call of `ask`, once its memory is warm.
fn allocations(mut ask: impl FnMut()) -> u64 {
    ask();
    measure(&mut ask).count_total
}

#[test]
fn no_allocation_once_the_workspace_is_warm() {
    for (name, scores) in inputs() {
        for set in TreeSet::ALL {
            let mut ws = Workspace::default();
            let mut out = ArcMatrix::default();
            let mut heads = Vec::new();
            let marginals = TreeDistribution::new(scores.clone(), set).unwrap().marginals().clone();
            let counts = [
                allocations(|| {
                    log_partition_with(&scores, set, &mut ws).unwrap();
                }),
                allocations(|| {
                    marginals_with(&scores, set, &mut ws, &mut out).unwrap();
                }),
                allocations(|| {
                    argmax_with(&scores, set, &mut ws, &mut heads).unwrap();
                }),
                allocations(|| {
                    mbr_with(&scores, &marginals, set, &mut ws, &mut heads).unwrap();
                }),
            ];
            assert_eq!(counts, [0; 4], "{set}, {name}: log_partition, marginals, argmax, mbr");
        }
    }
}

#[test]
fn no_allocation_in_covariances() {
    let g = Random::new(1).scores(20, 1.0);
    for (name, scores) in inputs() {
        let ordinary = name == "N(0, 1)";
        for set in TreeSet::ALL.into_iter().filter(|set| ordinary || set.is_projective()) {
            let mut ws = Workspace::default();
            let mut out = ArcMatrix::default();
            let count = allocations(|| {
                arc_covariances_with(&scores, &g, set, &mut ws, &mut out).unwrap();
            });
            assert_eq!(count, 0, "{set}, {name}");
        }
    }
}

#[test]
fn no_allocation_in_second_order_charts() {
    let mut random = Random::new(6);
    for has_grandparents in [false, true] {
        let mut scores = SecondOrderParts::new(random.scores(10, 1.0));
        for part in Part::all(10) {
            if has_grandparents || !matches!(part, Part::Grandparent { .. }) {
                scores.set(part, random.normal()).unwrap();
            }
        }
        for set in [TreeSet::ProjectiveMultiRoot, TreeSet::ProjectiveSingleRoot] {
            let mut ws = Workspace::default();
            let mut out = SecondOrderParts::default();
            let mut heads = Vec::new();
            let counts = [
                allocations(|| {
                    second_order_marginals_with(&scores, set, &mut ws, &mut out).unwrap();
                }),
                allocations(|| {
                    second_order_argmax_with(&scores, set, &mut ws, &mut heads).unwrap();
                }),
            ];
            assert_eq!(counts, [0; 2], "{set}: marginals, argmax");
        }
    }
}

/// A constrained search allocates its answer only: heads and labels.
#[test]
fn no_allocation_in_constrained_searches() {
    let mut random = Random::new(7);
    let scores = LabelledArcMatrix::from_fn(12, 3, |_, _, _| random.normal());
    let one = AtMostOne::of_each(&[0, 1]);
    let crossing = CrossingPenalty::new(0.2).unwrap();
    for set in TreeSet::ALL {
        let mut ws = ConstrainedWorkspace::default();
        let options = ConstrainedOptions { max_nodes: 100, ..Default::default() };
        let count = allocations(|| {
            let found =
                constrained_argmax_with(&scores, set, &[&one, &crossing], &options, &mut ws);
            assert!(found.is_ok_and(|found| found.nodes > 1));
        });
        // Debug builds check the heads of the answer, in memory of their own.
        let expected = if cfg!(debug_assertions) { 3 } else { 2 };
        assert_eq!(count, expected, "{set}");
    }
}

/// Projective draws keep their open items in the caller's list.
#[test]
fn no_allocation_in_draws_from_ordinary_scores() {
    let (_, scores) = inputs().swap_remove(0);
    for (set, d) in distributions(&scores) {
        let mut rng = Pcg64::seed_from_u64(1);
        let mut heads = Vec::new();
        let count = allocations(|| d.sample_into(&mut rng, &mut heads));
        assert_eq!(count, 0, "{set}");
    }
}

/// A used workspace gives the same answers as a new one.
#[test]
fn workspaces_remember_nothing() {
    let mut random = Random::new(12);
    let mut used = Workspace::default();
    let mut out = ArcMatrix::default();
    let mut other = ArcMatrix::default();
    let mut heads = Vec::new();
    let mut other_heads = Vec::new();
    for round in 0..60 {
        let words = random.below(25);
        let sigma = [1.0, 30.0, 1000.0][round % 3];
        let mut scores = random.scores(words, sigma);
        random.mask(&mut scores, [0.0, 0.2][round % 2]);
        let g = random.scores(words, 1.0);
        for set in TreeSet::ALL {
            let new = &mut Workspace::default();
            assert_eq!(
                marginals_with(&scores, set, &mut used, &mut out),
                marginals_with(&scores, set, new, &mut other)
            );
            assert!(out.arcs().eq(other.arcs()));
            assert_eq!(
                argmax_with(&scores, set, &mut used, &mut heads),
                argmax_with(&scores, set, new, &mut other_heads)
            );
            assert_eq!(
                log_partition_with(&scores, set, &mut used),
                log_partition_with(&scores, set, &mut Workspace::default())
            );
            let covariances = arc_covariances_with(&scores, &g, set, &mut used, &mut out);
            assert_eq!(covariances, arc_covariances_with(&scores, &g, set, new, &mut other));
            if covariances.is_ok() {
                assert_eq!(heads, other_heads);
                assert!(out.arcs().eq(other.arcs()));
            }
        }
    }
}

proptest! {
    #![proptest_config(runs(200))]

    #[test]
    fn the_same_question_has_the_same_bits(case in cases(0..=30)) {
        let bits = |values: &ArcMatrix| -> Vec<u64> {
            values.arcs().map(|(.., value)| value.to_bits()).collect()
        };
        let mut ws = Workspace::default();
        let mut out = ArcMatrix::default();
        for (set, d) in case.distributions() {
            let again = TreeDistribution::new(case.scores.clone(), set).unwrap();
            assert_eq!(d.log_partition().to_bits(), again.log_partition().to_bits());
            assert_eq!(bits(d.marginals()), bits(again.marginals()));
            assert_eq!(d.entropy().to_bits(), again.entropy().to_bits());
            assert_eq!(d.argmax(), again.argmax());

            let log_z = log_partition_with(&case.scores, set, &mut ws).unwrap();
            let with_marginals = marginals_with(&case.scores, set, &mut ws, &mut out).unwrap();
            assert_eq!(log_z.to_bits(), with_marginals.to_bits(), "{set}");
        }
    }
}

#[test]
fn threads_share_a_distribution() {
    let d = TreeDistribution::new(Random::new(2).scores(12, 1.0), TreeSet::ProjectiveSingleRoot);
    let d = d.unwrap();
    let answers: Vec<(u64, ArcMatrix)> = std::thread::scope(|scope| {
        let ask = || (d.log_partition().to_bits(), d.marginals().clone());
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
}
