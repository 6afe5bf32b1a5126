//! Second-order projective inference beside the first-order chart, measured in the same run.
//!
//! N(0,1) scores of arcs, N(0,½) of siblings and grandparents, one thread. The first-order times are of
//! the arc scores alone.
//!
//! `cargo bench -p tutte-trees --bench second_order`
#![allow(clippy::print_stdout, missing_docs)]

mod support;

use std::hint::black_box;

use support::{Stopwatch, gaussian, sentences};
use tutte_trees::{
    ArcMatrix, Part, SecondOrderParts, TreeSet, Workspace, argmax_with, second_order_argmax_with,
    second_order_log_partition_with, second_order_marginals_with,
};

const SET: TreeSet = TreeSet::ProjectiveSingleRoot;
const SIZES: [usize; 3] = [10, 20, 40];

fn main() {
    let mut watch = Stopwatch::new();
    let mut lines = Vec::new();
    for words in SIZES {
        let arcs = sentences(words, gaussian);
        let first = [
            watch.time_log_partition("first order inside", SET, &arcs),
            watch.time_marginals("first order", SET, &arcs),
            time_best(&mut watch, &arcs),
        ];
        for has_grandparents in [false, true] {
            let model = if has_grandparents { "grandparents" } else { "siblings" };
            let inputs: Vec<_> = arcs.iter().map(|arcs| second(arcs, has_grandparents)).collect();
            let times = time_second_order(&mut watch, model, &inputs);
            let row: String = times
                .iter()
                .zip(&first)
                .map(|(time, first)| format!("{time:>12.1}{:>8.1}", time / first))
                .collect();
            lines.push(format!("{model:<14}{words:>5}{row}"));
        }
    }
    watch.finish();
    println!("{SET}, one thread, µs, and ratios to the first-order chart");
    println!(
        "{:<14}{:>5}{:>12}{:>8}{:>12}{:>8}{:>12}{:>8}",
        "model", "n", "inside", "ratio", "marginals", "ratio", "MAP", "ratio"
    );
    lines.iter().for_each(|line| println!("{line}"));
}

/// The arc scores with scores of all other parts, half as large as other arc scores.
fn second(arcs: &ArcMatrix, has_grandparents: bool) -> SecondOrderParts {
    let words = arcs.words();
    let other = gaussian(words, 1000 + words as u64);
    let mut scores = SecondOrderParts::new(arcs.clone());
    for (index, part) in Part::all(words).into_iter().enumerate() {
        let is_used = match part {
            Part::Arc { .. } => false,
            Part::Grandparent { .. } => has_grandparents,
            _ => true,
        };
        if is_used {
            let cell = other.as_slice()[index % other.as_slice().len()];
            scores.set(part, 0.5 * cell).expect("a part of this sentence");
        }
    }
    scores
}

fn time_best(watch: &mut Stopwatch, inputs: &[ArcMatrix]) -> f64 {
    let mut workspace = Workspace::default();
    let mut heads = Vec::new();
    watch.time(&format!("first order best/{SET}/{}", inputs[0].words()), inputs, |scores| {
        black_box(argmax_with(black_box(scores), SET, &mut workspace, &mut heads)).ok();
    })
}

/// Measures the sum, the marginals and the best tree.
fn time_second_order(watch: &mut Stopwatch, model: &str, inputs: &[SecondOrderParts]) -> [f64; 3] {
    let mut workspace = Workspace::default();
    let mut marginals = SecondOrderParts::default();
    let mut heads = Vec::new();
    let words = inputs[0].words();
    let name = |what: &str| format!("{model} {what}/{SET}/{words}");
    [
        watch.time(&name("inside"), inputs, |scores| {
            let scores = black_box(scores);
            black_box(second_order_log_partition_with(scores, SET, &mut workspace)).ok();
        }),
        watch.time(&name("marginals"), inputs, |scores| {
            let scores = black_box(scores);
            black_box(second_order_marginals_with(scores, SET, &mut workspace, &mut marginals))
                .ok();
        }),
        watch.time(&name("best"), inputs, |scores| {
            let scores = black_box(scores);
            black_box(second_order_argmax_with(scores, SET, &mut workspace, &mut heads)).ok();
        }),
    ]
}
