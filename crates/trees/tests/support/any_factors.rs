//! Any bytes as a factor graph: nothing may panic, no answer may be NaN, decoded trees are trees of the set.
//!
//! The bytes decode into a [`Sentence`], then into factors of every family, possibly refused, then into
//! the options of a run. Fuzzing (`fuzz/`) and `tests/no_panic.rs` share this file.

#[path = "bytes.rs"]
#[allow(
    dead_code,
    clippy::duplicate_mod,
    reason = "shared with every_question.rs, which uses more of it"
)]
mod bytes;

use bytes::{Bytes, Sentence};
use tutte_trees::factors::{
    Decoder, Derivatives, FactorGraph, Gradient, Inference, Limit, Messages, Options, Schedule,
    Side,
};
use tutte_trees::{ArcMatrix, TreeSet};

/// Longest sentence for which all pairs of arcs get factors.
const MOST_WORDS: usize = 9;

/// Decodes `data`, runs belief propagation and asks for all answers.
///
/// # Panics
/// If an answer is wrong.
pub(crate) fn ask_everything(data: &[u8]) {
    let sentence = Sentence::decode(data);
    let words = sentence.scores.words();
    let palette = sentence.palette;
    let mut bytes = Bytes(sentence.rest);
    let set = TreeSet::ALL[bytes.below(4)];
    let graph = FactorGraph::new(&sentence.scores, set);
    assert!(sentence.bad_arc().is_none() || graph.is_err());
    let Ok(mut graph) = graph else { return };
    let weight = |bytes: &mut Bytes<'_>| match bytes.below(8) {
        0 => f64::NEG_INFINITY,
        _ => bytes.score(palette),
    };
    for _ in 0..bytes.below(24) {
        // Refused factors are part of the input; they must leave the graph as it was.
        let before = (graph.weight_count(), graph.factors().count());
        let (a, b, c) = (bytes.below(words + 2), bytes.below(words + 2), bytes.below(words + 2));
        let value = weight(&mut bytes);
        let side = if bytes.below(2) == 0 { Side::Left } else { Side::Right };
        let limits = [Limit::Hard, Limit::Once(value), Limit::PerExtra(value)];
        let all_pairs = words <= MOST_WORDS;
        let is_added = match bytes.below(16) {
            0 => graph.add_pair((a, b), (b, c), value).is_ok(),
            1 => graph.add_grandparent(a, b, c, value).is_ok(),
            2 => graph.add_sibling(a, b, c, value).is_ok(),
            3 => graph.add_no_crossing(a, b, value).is_ok(),
            4 => graph.add_child_sequence(a, side, |_, _| weight(&mut bytes)).is_ok(),
            5 => graph.add_labels(a, b, &[(c, value), (c + 1, bytes.score(palette))]).is_ok(),
            6 => matches!(graph.add_label_limit(a, b, limits[c % 3]), Ok(Some(_))),
            7 => {
                let scores: Vec<f64> = (0..2 * words).map(|_| weight(&mut bytes)).collect();
                graph.add_tags(2, &scores).ok();
                false
            }
            8 => {
                let weights: Vec<f64> = (0..4).map(|_| weight(&mut bytes)).collect();
                graph.add_tag_link(a, b, &weights[..if a == 0 { 2 } else { 4 }]).is_ok()
            }
            9 => {
                let weights: Vec<f64> = (0..18).map(|_| weight(&mut bytes)).collect();
                graph.add_tag_trigrams(&weights).is_ok()
            }
            10 => graph.add_exactly_one_head().is_ok(),
            11 => graph.add_at_most_one_head().is_ok(),
            12 if all_pairs => graph.add_not_two_heads().is_ok(),
            13 => graph.add_no_two_cycles().is_ok(),
            14 => {
                graph.set_tree_factor(bytes.below(4) > 0);
                false
            }
            _ => {
                graph.set_score(a, b, value).ok();
                false
            }
        };
        let after = (graph.weight_count(), graph.factors().count());
        assert!(is_added || before == after, "a refused factor was kept: {before:?} {after:?}");
    }
    let inference = match bytes.below(4) {
        0 => Inference::MaxProduct,
        1 => Inference::Annealed { first: bytes.score(2).abs(), last: bytes.score(2).abs() },
        _ => Inference::SumProduct,
    };
    let options = Options {
        iterations: bytes.below(8),
        tolerance: [0.0, 1e-6][bytes.below(2)],
        damping: [0.0, 0.3, 0.9][bytes.below(3)],
        schedule: [Schedule::Serial, Schedule::Flooding, Schedule::TreeFirst][bytes.below(3)],
        inference,
        record: bytes.below(2) == 0,
    };
    ask(&graph, set, &options);
}

fn ask(graph: &FactorGraph, set: TreeSet, options: &Options) {
    let mut messages = Messages::default();
    let Ok(report) = graph.run(options, &mut messages) else { return };
    assert!(report.iterations <= options.iterations && report.residual >= 0.0);
    let mut values = ArcMatrix::default();
    graph.beliefs(&messages, &mut values);
    for (head, modifier, belief) in values.arcs() {
        assert!((0.0..=1.0).contains(&belief), "{head} → {modifier}: {belief}");
        let labels = graph.label_beliefs(&messages, head, modifier);
        labels.for_each(|(_, belief)| assert!((0.0..=1.0).contains(&belief)));
    }
    for word in 0..=graph.words() + 1 {
        let tags = graph.tag_beliefs(&messages, word);
        assert!(tags.iter().all(|belief| (0.0..=1.0).contains(belief)), "{tags:?}");
    }
    assert!(!graph.log_partition(&mut messages).is_nan());
    let mut expectations = Vec::new();
    graph.expectations(&mut messages, &mut expectations);
    assert!(expectations.iter().all(|expected| *expected >= 0.0 && expected.is_finite()));
    for decoder in [Decoder::SumOfBeliefs, Decoder::SumOfLogOdds, Decoder::TreeMode] {
        let tree = graph.decode(&mut messages, decoder).expect("the graph has a tree");
        assert_eq!(tree.check_in(set), Ok(()));
    }
    for factor in graph.factors() {
        if let Some(joint) = graph.pair_belief(&messages, factor) {
            assert!(joint.iter().all(|p| (0.0..=1.0).contains(p)), "{joint:?}");
        }
    }
    let own = graph.tree_distribution(&messages).expect("the graph has a tree");
    assert!(own.entropy() >= 0.0);
    let derivatives = Derivatives { beliefs: Some(&values), ..Derivatives::default() };
    let mut gradient = Gradient::default();
    if graph.backward(&mut messages, derivatives, &mut gradient).is_ok() {
        assert!(options.record);
        assert!(gradient.arcs.arcs().all(|(.., slope)| !slope.is_nan()));
        assert!(gradient.weights.iter().all(|slope| !slope.is_nan()));
        assert_eq!(gradient.weights.len(), graph.weight_count());
    }
}
