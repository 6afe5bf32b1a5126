//! Arcs in compressed columns, parallel ones pooled.

use std::ops::Range;

use super::input::Arc;
use crate::weight::{log_sum_exp, shares};

/// The distinct pairs parent → child, grouped by child, parents increasing.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    /// Edges into node y are `start[y]..start[y + 1]`; none enter node 0, the root.
    pub(super) start: Vec<usize>,
    pub(super) parent: Vec<usize>,
    /// ln Σ of the weights of the parallel arcs.
    pub(super) log_weight: Vec<f64>,
}

/// The edge that an arc is pooled into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) edge: usize,
    /// The arc's part of its edge's weight.
    pub(super) share: f64,
}

impl Edges {
    /// Pools parallel arcs. The place of an arc that is not possible is `None`.
    pub(super) fn new(nodes: usize, arcs: &[Arc]) -> (Self, Vec<Option<Place>>) {
        let possible = |&index: &usize| arcs[index].is_possible();
        let mut sorted: Vec<usize> = (0..arcs.len()).filter(possible).collect();
        sorted.sort_by_key(|&index| (arcs[index].child, arcs[index].parent));
        let mut edges = Edges { start: vec![0; nodes + 2], ..Edges::default() };
        let mut places = vec![None; arcs.len()];
        for parallel in sorted.chunk_by(|&a, &b| ends(&arcs[a]) == ends(&arcs[b])) {
            let Arc { parent, child, .. } = arcs[parallel[0]];
            let weights: Vec<f64> = parallel.iter().map(|&index| arcs[index].log_weight).collect();
            let share = shares(&weights);
            for (&index, &weight) in parallel.iter().zip(&weights) {
                places[index] = Some(Place { edge: edges.parent.len(), share: share(weight) });
            }
            edges.parent.push(parent);
            edges.log_weight.push(log_sum_exp(&weights));
            edges.start[child + 1] += 1;
        }
        for node in 0..=nodes {
            edges.start[node + 1] += edges.start[node];
        }
        (edges, places)
    }

    /// The number of nodes without the root.
    pub(super) fn nodes(&self) -> usize {
        self.start.len() - 2
    }

    /// The edges into a node.
    pub(super) fn entering(&self, child: usize) -> Range<usize> {
        self.start[child]..self.start[child + 1]
    }

    pub(super) fn find(&self, parent: usize, child: usize) -> Option<usize> {
        let range = self.entering(child);
        let found = self.parent[range.clone()].binary_search(&parent).ok()?;
        Some(range.start + found)
    }
}

fn ends(arc: &Arc) -> (usize, usize) {
    (arc.parent, arc.child)
}
