//! Graphs with cycles: quality, convergence, consistency.

use tutte_trees::factors::{FactorGraph, Inference, Messages, Options, Schedule, Side};
use tutte_trees::{ArcMatrix, Tree, TreeDistribution, TreeSet};

use super::support::*;
use super::{Heads, SecondOrder, beliefs, enumerate, everything, run};

const PATIENT: Options = Options {
    iterations: 500,
    tolerance: 1e-12,
    damping: 0.3,
    schedule: Schedule::Serial,
    inference: Inference::SumProduct,
    record: false,
};

/// With second-order weights of scale 0.5, beliefs are much nearer to the truth than without them.
#[test]
fn quality_at_moderate_weights() {
    for set in TreeSet::ALL {
        for schedule in [Schedule::Serial, Schedule::Flooding, Schedule::TreeFirst] {
            // The same models for every schedule.
            let mut random = Random::new(5);
            let (mut error, mut ignored) = (0.0, 0.0);
            let rounds = 30;
            for _ in 0..rounds {
                let scores = random.scores(4, 1.0);
                let weights = SecondOrder::new(4, 0.5, &mut random);
                let (exact, _) = enumerate(&scores, set, |tree| weights.score(tree));
                let first = TreeDistribution::new(scores.clone(), set).unwrap();
                let mut graph = FactorGraph::new(&scores, set).unwrap();
                weights.add_to(&mut graph);
                let (messages, report) = run(&graph, &Options { schedule, ..PATIENT });
                assert!(report.converged, "{set}: {report:?}");
                let found = beliefs(&graph, &messages);
                for (head, modifier, p) in exact.arcs() {
                    error += (found[(head, modifier)] - p).abs() / (16 * rounds) as f64;
                    ignored +=
                        (first.marginals()[(head, modifier)] - p).abs() / (16 * rounds) as f64;
                }
            }
            assert!(error < 0.04 && error < 0.45 * ignored, "{set}: {error} {ignored}");
        }
    }
}

/// Strong weights may prevent convergence; the answer says so, and is finite.
#[test]
fn no_convergence_is_an_answer() {
    let mut random = Random::new(6);
    let mut diverged = 0;
    for _ in 0..60 {
        let scores = random.scores(4, 1.0);
        let mut graph = FactorGraph::new(&scores, TreeSet::NonProjectiveMultiRoot).unwrap();
        SecondOrder::new(4, 3.0, &mut random).add_to(&mut graph);
        let (mut messages, report) = run(&graph, &Options { tolerance: 1e-8, ..PATIENT });
        diverged += usize::from(!report.converged);
        assert!(beliefs(&graph, &messages).arcs().all(|(.., b)| (0.0..=1.0).contains(&b)));
        assert!(graph.log_partition(&mut messages).is_finite());
        assert!(report.residual.is_finite());
    }
    assert!((1..=40).contains(&diverged), "{diverged} of 60 did not converge");
}

/// After convergence, the beliefs are the marginals of TREE's own distribution.
#[test]
fn local_consistency() {
    let mut random = Random::new(7);
    for set in TreeSet::ALL {
        for _ in 0..3 {
            let scores = random.scores(4, 1.0);
            let graph = everything(&scores, set, Heads::Once, 0.2, &mut random).unwrap();
            let options = Options { iterations: 3000, tolerance: 1e-9, damping: 0.5, ..PATIENT };
            let (messages, report) = run(&graph, &options);
            assert!(report.converged, "{set}: {report:?}");
            let own = graph.tree_distribution(&messages).unwrap();
            assert_arcs_close(&beliefs(&graph, &messages), own.marginals(), 1e-6, set);
            for modifier in 1..=4 {
                for head in graph.heads_of(modifier) {
                    let labels: f64 =
                        graph.label_beliefs(&messages, head, modifier).map(|l| l.1).sum();
                    assert_close(labels, graph.belief(&messages, head, modifier), 1e-6, "labels");
                }
                let tags: f64 = graph.tag_beliefs(&messages, modifier).iter().sum();
                assert_close(tags, 1.0, 1e-12, "tags");
            }
        }
    }
}

/// At a fixed point, ∂ log Z_B/∂θ = belief and ∂ log Z_B/∂ℓ = expectation, for every family.
#[test]
fn the_bethe_identity() {
    let mut random = Random::new(9);
    for set in TreeSet::ALL {
        let scores = random.scores(3, 1.0);
        let mut graph = everything(&scores, set, Heads::Often, 0.3, &mut random).unwrap();
        let (mut messages, report) = run(&graph, &PATIENT);
        assert!(report.converged, "{report:?}");
        let found = beliefs(&graph, &messages);
        let mut expectations = Vec::new();
        graph.expectations(&mut messages, &mut expectations);
        let mut log_z = |graph: &FactorGraph| {
            graph.run(&PATIENT, &mut messages).unwrap();
            graph.log_partition(&mut messages)
        };
        let step = 1e-4;
        for (head, modifier) in graph.arcs().collect::<Vec<_>>() {
            let score = scores[(head, modifier)];
            let mut at = |step: f64| {
                graph.set_score(head, modifier, score + step).unwrap();
                log_z(&graph)
            };
            let slope = (at(step) - at(-step)) / (2.0 * step);
            graph.set_score(head, modifier, score).unwrap();
            assert_close(
                slope,
                found[(head, modifier)],
                1e-6,
                format!("{set} {head} → {modifier}"),
            );
        }
        for factor in graph.factors().collect::<Vec<_>>() {
            let weights = graph.weights(factor).to_vec();
            let range = graph.weight_range(factor);
            for at_weight in 0..weights.len() {
                let mut at = |step: f64| {
                    let mut moved = weights.clone();
                    moved[at_weight] += step;
                    graph.set_weights(factor, &moved).unwrap();
                    log_z(&graph)
                };
                let slope = (at(step) - at(-step)) / (2.0 * step);
                let expected = expectations[range.start + at_weight];
                assert_close(
                    slope,
                    expected,
                    1e-6,
                    format!("{set} {factor:?}, weight {at_weight}"),
                );
            }
            graph.set_weights(factor, &weights).unwrap();
        }
    }
}

/// A pair's belief has the arcs' beliefs as marginals, and its last entry is the expectation.
#[test]
fn beliefs_of_pairs() {
    let mut random = Random::new(10);
    let scores = random.scores(4, 1.0);
    let mut graph = FactorGraph::new(&scores, TreeSet::NonProjectiveSingleRoot).unwrap();
    let pair = graph.add_sibling(2, 1, 3, 1.5).unwrap();
    graph.add_grandparent(0, 2, 4, -1.0).unwrap();
    let (mut messages, _) = run(&graph, &PATIENT);
    let joint = graph.pair_belief(&messages, pair).unwrap();
    assert_close(joint.iter().sum(), 1.0, 1e-12, "sum");
    assert_close(joint[2] + joint[3], graph.belief(&messages, 2, 1), 1e-6, "first");
    assert_close(joint[1] + joint[3], graph.belief(&messages, 2, 3), 1e-6, "second");
    let mut expectations = Vec::new();
    graph.expectations(&mut messages, &mut expectations);
    assert_close(joint[3], expectations[graph.weight_range(pair).start], 1e-12, "both");
}

/// A low last temperature approaches max-product, and its decoded tree is the best one.
#[test]
fn annealing_approaches_the_best_tree() {
    let mut random = Random::new(12);
    let mut right = 0;
    for _ in 0..30 {
        let scores = random.scores(4, 1.0);
        let weights = SecondOrder::new(4, 0.3, &mut random);
        let set = TreeSet::ProjectiveSingleRoot;
        let best = tutte_trees::oracle::scored_trees(&scores, set)
            .into_iter()
            .max_by(|(a, s), (b, t)| (a + weights.score(s)).total_cmp(&(b + weights.score(t))));
        let best = best.unwrap().1;
        let mut graph = FactorGraph::new(&scores, set).unwrap();
        weights.add_to(&mut graph);
        let mut found = Vec::new();
        for inference in [Inference::Annealed { first: 1.0, last: 0.02 }, Inference::MaxProduct] {
            let options = Options { iterations: 60, tolerance: 0.0, inference, ..PATIENT };
            let (mut messages, _) = run(&graph, &options);
            found.push(graph.decode(&mut messages, Default::default()).unwrap());
        }
        right += found.iter().filter(|tree| **tree == best).count();
    }
    assert!(right >= 50, "{right} of 60 trees are the best");
}

/// Without iterations, beliefs come from the scores alone, and the report says so.
#[test]
fn no_iterations() {
    let scores = ArcMatrix::filled(3, 0.7);
    let graph = FactorGraph::new(&scores, TreeSet::NonProjectiveMultiRoot).unwrap();
    let mut messages = Messages::default();
    let report = graph.run(&Options { iterations: 0, ..PATIENT }, &mut messages).unwrap();
    assert_eq!((report.iterations, report.converged), (0, false));
    assert_close(graph.belief(&messages, 0, 1), 1.0 / (1.0 + (-0.7f64).exp()), 1e-15, "LINK");
}

/// A decoded tree may violate hard factors; the violations are named.
#[test]
fn violations_are_named() {
    let scores = ArcMatrix::zeros(4);
    let mut graph = FactorGraph::new(&scores, TreeSet::NonProjectiveMultiRoot).unwrap();
    let pair = graph.add_sibling(0, 1, 2, FORBIDDEN).unwrap();
    graph.add_sibling(0, 1, 3, -1.0).unwrap();
    let crossing = graph.add_no_crossing(3, 4, FORBIDDEN).unwrap();
    let forbid = |a: Option<usize>, b: Option<usize>| match (a, b) {
        (Some(1), Some(2)) => FORBIDDEN,
        _ => 0.0,
    };
    let sequence = graph.add_child_sequence(0, Side::Right, forbid).unwrap();
    let violated = |heads: &[usize]| graph.violations(&Tree::new(heads).unwrap()).unwrap();
    assert_eq!(violated(&[0, 0, 1, 2]), [pair, sequence, crossing]);
    assert_eq!(violated(&[0, 1, 2, 3]), []);
    assert_eq!(violated(&[0, 3, 0, 3]), []);
    assert!(graph.violations(&Tree::new(&[0]).unwrap()).is_err());
}
