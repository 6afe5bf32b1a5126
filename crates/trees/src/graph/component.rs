//! One component of a graph, seen as a sentence, and its solver.

use std::sync::OnceLock;

use super::arborescence::best_heads;
use super::decompose::Components;
use super::edges::Edges;
use super::sparse::{Fill, Local, Solution, solve};
use super::wilson::Walker;
use crate::weight::{log_sum_exp, shares};
use crate::{ArcMatrix, Error, TreeDistribution, TreeSet, Workspace, argmax_with};

/// Components up to this size are solved densely.
const DENSE_UP_TO: usize = 400;
/// Larger components are solved densely too if elimination would fill more than one in this many cells.
const SPARSE_FILL: usize = 10;

/// The solver of one component.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) tree_set: TreeSet,
    pub(super) dense: OnceLock<TreeDistribution>,
    /// For large components with little fill.
    pub(super) sparse: Option<SparseBlock>,
}

#[derive(Clone, Debug)]
pub(super) struct SparseBlock {
    pub(super) local: Local,
    fill: Fill,
    solution: OnceLock<Option<Solution>>,
    pub(super) walker: OnceLock<Walker>,
}

impl SparseBlock {
    pub(super) fn solution(&self) -> Option<&Solution> {
        self.solution.get_or_init(|| solve(&self.local, &self.fill)).as_ref()
    }
}

/// One component and the edges around it.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) edges: &'a Edges,
    pub(super) components: &'a Components,
    pub(super) component: usize,
}

impl<'a> Parts<'a> {
    pub(super) fn nodes(&self) -> &'a [usize] {
        &self.components.nodes[self.component]
    }

    /// The edges into a node of the component from outside it.
    pub(super) fn outside(&self, child: usize) -> impl Iterator<Item = usize> + 'a {
        let Parts { edges, components, .. } = *self;
        edges.entering(child).filter(move |&edge| !components.inside(edges.parent[edge], child))
    }

    /// Returns a function from the log-weight of an edge into `child` from outside to its share of the
    /// total weight of such edges.
    pub(super) fn outside_shares(
        &self,
        child: usize,
        log_weight: &[f64],
    ) -> impl Fn(f64) -> f64 + use<> {
        shares(&self.outside(child).map(|edge| log_weight[edge]).collect::<Vec<_>>())
    }

    /// True if an edge into the component is in any tree: always if it comes from outside, otherwise if
    /// a path from outside reaches its parent without passing the child. O(edges).
    pub(super) fn may_produce(&self, parent: usize, child: usize) -> bool {
        if !self.components.inside(parent, child) {
            return true;
        }
        let mut seen = vec![false; self.nodes().len()];
        seen[self.components.place[child]] = true;
        let mut open = vec![parent];
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut seen[self.components.place[node]], true) {
                continue;
            }
            for edge in self.edges.entering(node) {
                let above = self.edges.parent[edge];
                if !self.components.inside(above, node) {
                    return true;
                }
                open.push(above);
            }
        }
        false
    }

    /// The component as a dense score matrix; `pool` makes one score of a node's arcs from outside.
    pub(super) fn scores(&self, log_weight: &[f64], pool: impl Fn(&[f64]) -> f64) -> ArcMatrix {
        let nodes = self.nodes();
        let mut scores = ArcMatrix::forbidden(nodes.len());
        let mut outside = Vec::new();
        for (place, &child) in nodes.iter().enumerate() {
            outside.clear();
            for edge in self.edges.entering(child) {
                let parent = self.edges.parent[edge];
                if self.components.inside(parent, child) {
                    scores[(self.components.place[parent] + 1, place + 1)] = log_weight[edge];
                } else {
                    outside.push(log_weight[edge]);
                }
            }
            scores[(0, place + 1)] = pool(&outside);
        }
        scores
    }

    /// The component as a sparse list of arcs; `pool` as in [`scores`](Self::scores).
    fn local(&self, log_weight: &[f64], pool: impl Fn(&[f64]) -> f64) -> Local {
        let mut local = Local {
            start: vec![0],
            parent: Vec::new(),
            log_weight: Vec::new(),
            log_outside: Vec::new(),
        };
        let mut outside = Vec::new();
        for &child in self.nodes() {
            outside.clear();
            for edge in self.edges.entering(child) {
                let parent = self.edges.parent[edge];
                if self.components.inside(parent, child) {
                    local.parent.push(self.components.place[parent]);
                    local.log_weight.push(log_weight[edge]);
                } else {
                    outside.push(log_weight[edge]);
                }
            }
            local.start.push(local.parent.len());
            local.log_outside.push(pool(&outside));
        }
        local
    }

    /// The edge into each node of the component in its best tree.
    pub(super) fn best(
        &self,
        tree_set: TreeSet,
        workspace: &mut Workspace,
    ) -> Result<Vec<usize>, Error> {
        let mut heads = Vec::new();
        let log_weight = &self.edges.log_weight;
        if self.nodes().len() > DENSE_UP_TO && !tree_set.is_single_root() {
            heads = best_heads(&self.local(log_weight, maximum));
        } else {
            argmax_with(&self.scores(log_weight, maximum), tree_set, workspace, &mut heads)?;
        }
        Ok(self.nodes().iter().zip(heads).map(|(&child, head)| self.edge(child, head)).collect())
    }

    /// The best edge for a head within the component (0: any edge from outside).
    pub(super) fn edge(&self, child: usize, head: usize) -> usize {
        let first = self.edges.entering(child).start;
        if head > 0 {
            return self.edges.find(self.nodes()[head - 1], child).unwrap_or(first);
        }
        let log_weight = &self.edges.log_weight;
        let better = |best: Option<usize>, edge: usize| match best {
            Some(best) if log_weight[best] >= log_weight[edge] => Some(best),
            _ => Some(edge),
        };
        self.outside(child).fold(None, better).unwrap_or(first)
    }

    pub(super) fn block(&self, tree_set: TreeSet, shifted: &[f64]) -> Block {
        let k = self.nodes().len();
        let mut block = Block { tree_set, dense: OnceLock::new(), sparse: None };
        if k > DENSE_UP_TO && !tree_set.is_single_root() {
            let local = self.local(shifted, log_sum_exp);
            if let Some(fill) = Fill::new(&local, k * k / SPARSE_FILL) {
                block.sparse = Some(SparseBlock {
                    local,
                    fill,
                    solution: OnceLock::new(),
                    walker: OnceLock::new(),
                });
            }
        }
        block
    }
}

/// Returns the largest value of a list; −∞ if it is empty.
pub(super) fn maximum(values: &[f64]) -> f64 {
    values.iter().fold(f64::NEG_INFINITY, |high, &x| high.max(x))
}
