//! Belief propagation by family and by iteration, dense and pruned.
//!
//! Dense: every arc is a variable, n = 20 … 80. Pruned: about 2.6 heads a word, as a parser's first pass
//! leaves them. Times are of one iteration, as a fifth of five serial ones.
//!
//! `cargo bench -p tutte-trees --bench factors`
#![allow(clippy::print_stdout, missing_docs)]

mod support;

use std::hint::black_box;

use support::{Stopwatch, exponent, gaussian, sentences};
use tutte_trees::factors::{Derivatives, FactorGraph, Gradient, Messages, Options, Side};
use tutte_trees::{ArcMatrix, TreeSet};

const ITERATIONS: usize = 5;
const SIZES: [usize; 4] = [20, 40, 60, 80];
const FAMILIES: [&str; 8] =
    ["TREE", "GRAND", "SIB", "CHILDSEQ", "NOCROSS", "LABEL", "all", "all, backward"];

fn main() {
    let mut watch = Stopwatch::new();
    let set = TreeSet::NonProjectiveSingleRoot;
    let mut lines = Vec::new();
    for (name, make) in [("dense", gaussian as fn(usize, u64) -> ArcMatrix), ("pruned", pruned)] {
        for family in FAMILIES {
            let times = SIZES.map(|words| {
                // Two sentences of the largest dense graphs are enough.
                let inputs = sentences(words, make);
                let graphs: Vec<_> = inputs[..2].iter().map(|s| graph(s, set, family)).collect();
                let time = time(&mut watch, &format!("{name}/{family}/{words}"), &graphs, family);
                (words, time / ITERATIONS as f64)
            });
            let columns: String = times.iter().map(|(_, time)| format!("{time:>12.1}")).collect();
            lines.push(format!("{name:<8}{family:<16}{columns}{:>10.2}", exponent(&times)));
        }
    }
    watch.finish();
    println!("{set}, one thread, µs for one iteration, and the exponent e of nᵉ");
    let sizes: String = SIZES.iter().map(|words| format!("{words:>12}")).collect();
    println!("{:<24}{sizes}{:>10}", "", "exponent");
    lines.iter().for_each(|line| println!("{line}"));
}

/// The arcs of one tree, and 1.6 others for each word.
fn pruned(words: usize, seed: u64) -> ArcMatrix {
    let all = gaussian(words, seed);
    let mut scores = ArcMatrix::forbidden(words);
    for modifier in 1..=words {
        let near = |distance: usize| modifier.saturating_sub(distance);
        scores[(near(1), modifier)] = all[(near(1), modifier)];
        let after = if modifier < words { modifier + 1 } else { 0 };
        scores[(after, modifier)] = all[(after, modifier)];
        if modifier % 5 < 3 {
            scores[(near(3), modifier)] = all[(near(3), modifier)];
        }
    }
    scores
}

fn graph(scores: &ArcMatrix, set: TreeSet, family: &str) -> FactorGraph {
    let mut graph = FactorGraph::new(scores, set).expect("a chain from the root is a tree");
    let is = |name: &str| family == name || family.starts_with("all");
    let weight = |a: usize, b: usize, c: usize| 0.3 * ((a * 7 + b * 3 + c) % 5) as f64 - 0.6;
    if is("GRAND") {
        graph.add_grandparents(weight).expect("weights are numbers");
    }
    if is("SIB") {
        graph.add_siblings(weight).expect("weights are numbers");
    }
    if is("CHILDSEQ") {
        for head in 0..=graph.words() {
            for side in [Side::Left, Side::Right] {
                let weight = |a: Option<usize>, b: Option<usize>| {
                    weight(head, a.unwrap_or(0), b.unwrap_or(0))
                };
                graph.add_child_sequence(head, side, weight).expect("weights are numbers");
            }
        }
    }
    if is("NOCROSS") {
        graph.add_no_crossings(|j, l| weight(j, l, 0)).expect("weights are numbers");
    }
    if is("LABEL") {
        for (head, modifier) in graph.arcs().collect::<Vec<_>>() {
            graph.add_labels(head, modifier, &[(0, 0.5), (1, -0.5)]).expect("scores are numbers");
        }
    }
    graph
}

fn time(watch: &mut Stopwatch, name: &str, graphs: &[FactorGraph], family: &str) -> f64 {
    let is_backward = family.ends_with("backward");
    let options = Options { iterations: ITERATIONS, record: is_backward, ..Options::default() };
    let mut messages = Messages::default();
    let mut gradient = Gradient::default();
    let mut beliefs = ArcMatrix::default();
    watch.time(name, graphs, |graph| {
        graph.run(&options, &mut messages).ok();
        if is_backward {
            graph.beliefs(&messages, &mut beliefs);
            let derivatives = Derivatives { beliefs: Some(&beliefs), ..Derivatives::default() };
            graph.backward(&mut messages, derivatives, &mut gradient).ok();
        }
        black_box(&messages);
    })
}
