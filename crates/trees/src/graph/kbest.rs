//! The k best trees of a graph.
//!
//! Within a component, put trees that differ only in their arcs from outside into one group. The
//! best tree of a group takes each node's best arc from outside, so the k best trees lie in the k
//! best groups under best-arc scores. A group's trees are a product of lists: one choice for each
//! node entered from outside. A graph's trees are a product of its components' lists. Both are
//! merged two lists at a time, keeping k. Cost: the dense k-best search of every component, and
//! O(k log k) for each merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::component::{Parts, maximum};
use super::distribution::GraphDistribution;
use crate::{ScoredTree, Tree, TreeDistribution, TreeSet};

pub(super) fn kbest<N>(d: &GraphDistribution<N>, k: usize) -> Vec<ScoredTree> {
    let lists: Vec<Vec<(f64, Vec<usize>)>> = (0..d.components.len())
        .map(|component| component_kbest(d.parts(component), d.block_set(component), k))
        .collect();
    let scores: Vec<Vec<f64>> =
        lists.iter().map(|list| list.iter().map(|(score, _)| *score).collect()).collect();
    let tree = |(score, ranks): (f64, Vec<usize>)| {
        let mut heads = vec![0; d.graph().nodes()];
        for (component, (list, rank)) in lists.iter().zip(ranks).enumerate() {
            for (&child, &edge) in d.components.nodes[component].iter().zip(&list[rank].1) {
                heads[child - 1] = d.edges.parent[edge];
            }
        }
        ScoredTree { tree: Tree::from_decoder(heads), score }
    };
    product(&scores, k).into_iter().map(tree).collect()
}

/// Returns the score and the edge into each node of the k best trees, best first.
fn component_kbest(parts: Parts<'_>, tree_set: TreeSet, k: usize) -> Vec<(f64, Vec<usize>)> {
    let log_weight = &parts.edges.log_weight;
    let groups = TreeDistribution::new(parts.scores(log_weight, maximum), tree_set)
        .map_or_else(|_| Vec::new(), |best| best.kbest(k));
    let mut trees = Vec::new();
    for group in groups {
        let choices: Vec<Vec<usize>> = parts
            .nodes()
            .iter()
            .zip(group.tree.heads())
            .map(|(&child, &head)| {
                if head > 0 {
                    return vec![parts.edge(child, head)];
                }
                let mut edges: Vec<usize> = parts.outside(child).collect();
                // A stable sort: of equal edges, the one with the smaller parent comes first.
                edges.sort_by(|&a, &b| log_weight[b].total_cmp(&log_weight[a]));
                edges
            })
            .collect();
        let scores: Vec<Vec<f64>> = choices
            .iter()
            .map(|edges| edges.iter().map(|&edge| log_weight[edge]).collect())
            .collect();
        for (score, ranks) in product(&scores, k) {
            let edges = choices.iter().zip(ranks).map(|(edges, rank)| edges[rank]).collect();
            trees.push((score, edges));
        }
    }
    trees.sort_by(|a, b| b.0.total_cmp(&a.0));
    trees.truncate(k);
    trees
}

/// Returns the k best ways to take one entry from each list, as the total and the rank in each list.
/// All lists are sorted, best first.
fn product(lists: &[Vec<f64>], k: usize) -> Vec<(f64, Vec<usize>)> {
    let mut totals = vec![0.0; k.min(1)];
    let mut steps = Vec::with_capacity(lists.len());
    for list in lists {
        let best = pairs(&totals, list, k);
        totals = best.iter().map(|&(left, right)| totals[left] + list[right]).collect();
        steps.push(best);
    }
    let trace = |(rank, &total): (usize, &f64)| {
        let mut at = rank;
        let mut ranks = vec![0; lists.len()];
        for (step, rank) in steps.iter().zip(&mut ranks).rev() {
            (at, *rank) = step[at];
        }
        (total, ranks)
    };
    totals.iter().enumerate().map(trace).collect()
}

/// The k best pairs from two sorted lists.
fn pairs(left: &[f64], right: &[f64], k: usize) -> Vec<(usize, usize)> {
    let mut heap = BinaryHeap::new();
    let push = |heap: &mut BinaryHeap<_>, i: usize, j: usize| {
        if let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
            heap.push((Score(a + b), Reverse((i, j))));
        }
    };
    push(&mut heap, 0, 0);
    let mut best = Vec::new();
    while best.len() < k
        && let Some((_, Reverse((i, j)))) = heap.pop()
    {
        best.push((i, j));
        push(&mut heap, i, j + 1);
        if j == 0 {
            push(&mut heap, i + 1, 0); // so that each pair is pushed once
        }
    }
    best
}

/// A score with a total order; never NaN.
#[derive(PartialEq)]
struct Score(f64);

impl Eq for Score {}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
