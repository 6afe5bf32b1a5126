//! Back-propagation through T iterations, against central differences.

use tutte_trees::factors::{
    Derivatives, FactorGraph, Gradient, Inference, Messages, Options, Schedule,
};
use tutte_trees::{ArcMatrix, TreeSet};

use super::support::*;
use super::{Heads, everything, run};

/// A smooth loss of all answers of a run: beliefs, TREE's scores, labels and tags.
struct Loss {
    beliefs: ArcMatrix,
    tree_scores: ArcMatrix,
    others: Vec<f64>,
}

impl Loss {
    fn value(&self, graph: &FactorGraph, messages: &Messages) -> f64 {
        let mut answers = ArcMatrix::default();
        let dot = |answers: &ArcMatrix, by: &ArcMatrix| -> f64 {
            graph.arcs().map(|arc| answers[arc] * by[arc]).sum()
        };
        graph.beliefs(messages, &mut answers);
        let mut value = dot(&answers, &self.beliefs);
        graph.tree_scores(messages, &mut answers);
        value += dot(&answers, &self.tree_scores);
        let mut others = self.others.iter();
        for (head, modifier) in graph.arcs().collect::<Vec<_>>() {
            for (_, belief) in graph.label_beliefs(messages, head, modifier) {
                value += others.next().unwrap() * belief;
            }
        }
        for word in 1..=graph.words() {
            for belief in graph.tag_beliefs(messages, word) {
                value += others.next().unwrap() * belief;
            }
        }
        assert!(others.next().is_none());
        value
    }
}

fn check(set: TreeSet, options: &Options, heads: Heads, words: usize, mask: f64, seed: u64) {
    let mut random = Random::new(seed);
    let mut scores = random.scores(words, 1.0);
    random.mask(&mut scores, mask);
    let Ok(mut graph) = everything(&scores, set, heads, 0.5, &mut random) else { return };
    let options = &Options { record: true, ..options.clone() };
    let (mut messages, _) = run(&graph, options);
    let mut others = 0;
    for (head, modifier) in graph.arcs() {
        others += graph.label_beliefs(&messages, head, modifier).count();
    }
    others += 2 * words;
    let loss = Loss {
        beliefs: random.scores(words, 1.0),
        tree_scores: random.scores(words, 0.3),
        others: (0..others).map(|_| random.normal()).collect(),
    };
    let derivatives = Derivatives {
        beliefs: Some(&loss.beliefs),
        tree_scores: Some(&loss.tree_scores),
        labels_and_tags: Some(&loss.others),
    };
    let mut gradient = Gradient::default();
    graph.backward(&mut messages, derivatives, &mut gradient).unwrap();
    let mut value = |graph: &FactorGraph| {
        graph.run(options, &mut messages).unwrap();
        loss.value(graph, &messages)
    };
    let step = 1e-5;
    let what = |detail: String| format!("{set}, {options:?}, {detail}");
    for (head, modifier) in graph.arcs().collect::<Vec<_>>() {
        let score = scores[(head, modifier)];
        let mut at = |step: f64| {
            graph.set_score(head, modifier, score + step).unwrap();
            value(&graph)
        };
        let expected = (at(step) - at(-step)) / (2.0 * step);
        graph.set_score(head, modifier, score).unwrap();
        let tolerance = 4e-6 * (1.0 + expected.abs());
        let found = gradient.arcs[(head, modifier)];
        assert_close(found, expected, tolerance, what(format!("θ of {head} → {modifier}")));
    }
    for factor in graph.factors().collect::<Vec<_>>() {
        let weights = graph.weights(factor).to_vec();
        let range = graph.weight_range(factor);
        for at_weight in 0..weights.len() {
            let mut at = |step: f64| {
                let mut moved = weights.clone();
                moved[at_weight] += step;
                graph.set_weights(factor, &moved).unwrap();
                value(&graph)
            };
            let expected = (at(step) - at(-step)) / (2.0 * step);
            let found = gradient.weights[range.start + at_weight];
            let tolerance = 4e-6 * (1.0 + expected.abs());
            assert_close(found, expected, tolerance, what(format!("{factor:?}, {at_weight}")));
        }
        graph.set_weights(factor, &weights).unwrap();
    }
}

/// All families at once, all tree sets, both schedules, with and without damping.
#[test]
fn unrolled_iterations() {
    for set in TreeSet::ALL {
        for iterations in [1, 3, 5] {
            for schedule in [Schedule::Serial, Schedule::Flooding, Schedule::TreeFirst] {
                for damping in [0.0, 0.3] {
                    let options = Options { iterations, schedule, damping, ..Options::default() };
                    // Messages that grow leave finite differences without digits.
                    let heads = if iterations == 1 { Heads::Often } else { Heads::Once };
                    check(set, &options, heads, 3, 0.0, 17 + iterations as u64);
                }
            }
        }
    }
}

#[test]
fn pruned_arcs() {
    for set in TreeSet::ALL {
        for seed in 0..4 {
            let options = Options { iterations: 3, ..Options::default() };
            check(set, &options, Heads::Once, 4, 0.3, seed);
        }
    }
}

#[test]
fn annealed() {
    let inference = Inference::Annealed { first: 2.0, last: 0.7 };
    for set in TreeSet::ALL {
        let options = Options { iterations: 3, inference, ..Options::default() };
        check(set, &options, Heads::Once, 3, 0.0, 5);
    }
}

/// A run that was not recorded, or was max-product, cannot be followed back.
#[test]
fn refused() {
    let graph = FactorGraph::new(&ArcMatrix::zeros(3), TreeSet::ProjectiveMultiRoot).unwrap();
    let other = FactorGraph::new(&ArcMatrix::zeros(4), TreeSet::ProjectiveMultiRoot).unwrap();
    let mut gradient = Gradient::default();
    let (mut messages, _) = run(&graph, &Options::default());
    let mut backward = |graph: &FactorGraph, messages: &mut Messages| {
        graph.backward(messages, Derivatives::default(), &mut gradient).unwrap_err().to_string()
    };
    assert!(backward(&graph, &mut messages).contains("not recorded"));
    let options = Options { record: true, ..Options::default() };
    let (mut messages, _) = run(&graph, &options);
    assert!(backward(&other, &mut messages).contains("another graph"));
    let (mut messages, _) = run(&graph, &Options { inference: Inference::MaxProduct, ..options });
    assert!(backward(&graph, &mut messages).contains("max-product"));
}
