//! Belief propagation over trees, through its public interface: against enumeration where it is exact,
//! against enumeration on average where it is not, and its gradients against finite differences.
//!
//! | module | properties |
//! |---|---|
//! | [`exact`] | graphs without cycles: beliefs and log Z are exact |
//! | [`loopy`] | quality, convergence, local consistency, the Bethe identity |
//! | [`gradients`] | back-propagation through the iterations |
//! | [`extremes`] | any scores: no NaN, the same bits, no allocation; refused inputs |

mod exact;
mod extremes;
mod gradients;
mod loopy;
#[path = "../properties/support.rs"]
#[allow(dead_code, reason = "shared with the other properties, which use more of it")]
mod support;

use support::Random;
use tutte_trees::factors::{FactorGraph, Limit, Messages, Options, Report, Side};
use tutte_trees::{ArcMatrix, Error, Tree, TreeSet, oracle};

/// Log-weights of GRAND and SIB, by (g, h, m) and (h, m, s).
pub(crate) struct SecondOrder {
    pub(crate) grand: Vec<f64>,
    pub(crate) sib: Vec<f64>,
    side: usize,
}

impl SecondOrder {
    pub(crate) fn new(words: usize, scale: f64, random: &mut Random) -> Self {
        let side = words + 1;
        let mut list = || (0..side * side * side).map(|_| scale * random.normal()).collect();
        Self { grand: list(), sib: list(), side }
    }

    pub(crate) fn at(&self, a: usize, b: usize, c: usize) -> usize {
        (a * self.side + b) * self.side + c
    }

    pub(crate) fn add_to(&self, graph: &mut FactorGraph) {
        graph.add_grandparents(|g, h, m| self.grand[self.at(g, h, m)]).unwrap();
        graph.add_siblings(|h, m, s| self.sib[self.at(h, m, s)]).unwrap();
    }

    /// The score of a tree beyond that of its arcs.
    pub(crate) fn score(&self, tree: &Tree) -> f64 {
        let mut score = 0.0;
        for (h, m) in tree.arcs() {
            if let Some(g) = tree.head(h) {
                score += self.grand[self.at(g, h, m)];
            }
            for (other, s) in tree.arcs() {
                if other == h && m < s {
                    score += self.sib[self.at(h, m, s)];
                }
            }
        }
        score
    }
}

/// Marginals and log Z of p(y) ∝ exp(Σ θ + extra(y)), by enumeration.
pub(crate) fn enumerate(
    scores: &ArcMatrix,
    set: TreeSet,
    extra: impl Fn(&Tree) -> f64,
) -> (ArcMatrix, f64) {
    let trees: Vec<(f64, Tree)> = oracle::scored_trees(scores, set)
        .into_iter()
        .map(|(score, tree)| (score + extra(&tree), tree))
        .collect();
    let high = trees.iter().map(|(score, _)| *score).fold(f64::NEG_INFINITY, f64::max);
    let z: f64 = trees.iter().map(|(score, _)| (score - high).exp()).sum();
    let mut marginals = ArcMatrix::zeros(scores.words());
    for (score, tree) in &trees {
        for arc in tree.arcs() {
            marginals[arc] += (score - high).exp() / z;
        }
    }
    (marginals, high + z.ln())
}

pub(crate) fn run(graph: &FactorGraph, options: &Options) -> (Messages, Report) {
    let mut messages = Messages::default();
    let report = graph.run(options, &mut messages).unwrap();
    (messages, report)
}

pub(crate) fn beliefs(graph: &FactorGraph, messages: &Messages) -> ArcMatrix {
    let mut beliefs = ArcMatrix::default();
    graph.beliefs(messages, &mut beliefs);
    beliefs
}

/// How often a graph says that a word has one head.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Heads {
    /// TREE says it, and one NOCROSS factor.
    Once,
    /// So do ATMOST1 and a NOCROSS factor for every pair of words. Messages then grow.
    Often,
}

/// A graph with every family, its weights N(0, scale).
pub(crate) fn everything(
    scores: &ArcMatrix,
    set: TreeSet,
    heads: Heads,
    scale: f64,
    random: &mut Random,
) -> Result<FactorGraph, Error> {
    let mut graph = FactorGraph::new(scores, set)?;
    let words = graph.words();
    graph.add_grandparents(|_, _, _| scale * random.normal())?;
    graph.add_siblings(|_, _, _| scale * random.normal())?;
    graph.add_crossing_pairs(|_, _| scale * random.normal())?;
    if heads == Heads::Often {
        graph.add_no_crossings(|_, _| scale * random.normal())?;
        graph.add_at_most_one_head()?;
    } else if words > 2 {
        graph.add_no_crossing(1, words, scale * random.normal())?;
    }
    let arcs: Vec<(usize, usize)> = graph.arcs().collect();
    for &(head, modifier) in &arcs {
        let labels = [(0, scale * random.normal()), (1, scale * random.normal())];
        graph.add_labels(head, modifier, &labels[..1 + (head + modifier) % 2])?;
    }
    for head in 0..=words {
        for side in [Side::Left, Side::Right] {
            graph.add_child_sequence(head, side, |_, _| scale * random.normal())?;
        }
        graph.add_label_limit(head, 0, Limit::Once(scale * random.normal()))?;
        graph.add_label_limit(head, 1, Limit::PerExtra(scale * random.normal()))?;
    }
    if words > 0 {
        let mut list =
            |count: usize| -> Vec<f64> { (0..count).map(|_| scale * random.normal()).collect() };
        graph.add_tags(2, &list(2 * words))?;
        for &(head, modifier) in &arcs {
            graph.add_tag_link(head, modifier, &list(if head == 0 { 2 } else { 4 }))?;
        }
        graph.add_tag_trigrams(&list(18))?;
    }
    Ok(graph)
}
