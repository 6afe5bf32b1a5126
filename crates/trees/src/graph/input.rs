//! The directed graph with a root that a caller builds.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;

use crate::matrix::is_score;
use crate::{ArcMatrix, Error};

/// A directed graph with a root and weighted arcs parent → child, for
/// [`GraphDistribution`](super::GraphDistribution).
///
/// Nodes may be named by anything that can be compared, hashed and printed. Inside trees and
/// results they are numbers: 0 is the root, the others are 1..=n in the order given. Arcs are
/// numbered from 0 in the order in which they are added. Weights are logarithms in nats of any
/// finite size; −∞ forbids an arc.
///
/// Arcs between the same two nodes may be added several times: their weights add up, and each arc has
/// its share of the probability. No tree can contain a self-loop or an arc into the root: these keep
/// their numbers, with probability 0, and [`ignored_arcs`](Self::ignored_arcs) lists them.
///
/// ```
/// use tutte_trees::Graph;
/// let mut graph = Graph::new("◇", ["Bill", "William", "Will"])?;
/// graph.add_arc("◇", "William", -1.0)?;
/// graph.add_arc("William", "Will", -0.5)?;
/// let arc = graph.add_arc("Will", "Bill", -0.7)?;
/// assert_eq!(arc, 2);
/// assert_eq!(graph.node("Will"), Some(3));
/// assert_eq!(graph.arc_between(2, 3), Some(1));
/// # Ok::<(), tutte_trees::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Graph<N> {
    /// Entry 0 is the root.
    names: Vec<N>,
    numbers: HashMap<N, usize>,
    pub(super) arcs: Vec<Arc>,
}

/// An arc by the numbers of its nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arc {
    pub(super) parent: usize,
    pub(super) child: usize,
    pub(super) log_weight: f64,
}

impl Arc {
    /// True if the arc is not forbidden, a self-loop or an arc into the root.
    pub(super) fn is_possible(&self) -> bool {
        self.child != 0 && self.parent != self.child && self.log_weight > f64::NEG_INFINITY
    }
}

impl<N: Eq + Hash + Clone + Display> Graph<N> {
    /// Makes a graph without arcs from the root's name and the names of the other nodes.
    ///
    /// # Errors
    /// [`Error::DuplicateNode`].
    pub fn new(root: N, nodes: impl IntoIterator<Item = N>) -> Result<Self, Error> {
        let names: Vec<N> = std::iter::once(root).chain(nodes).collect();
        let mut numbers = HashMap::with_capacity(names.len());
        for (number, name) in names.iter().enumerate() {
            if numbers.insert(name.clone(), number).is_some() {
                return Err(Error::DuplicateNode { node: name.to_string() });
            }
        }
        Ok(Self { names, numbers, arcs: Vec::new() })
    }

    /// Makes the graph of a dense matrix of log-weights: row = parent, column = child, row 0 the root.
    /// Names come in the order of rows, the root's first. Arcs at −∞ are left out; the others are
    /// numbered row by row.
    ///
    /// # Errors
    /// [`Error::DuplicateNode`], [`Error::BadWeight`], and [`Error::Shape`] unless there is one name
    /// for each row.
    pub fn from_matrix(
        names: impl IntoIterator<Item = N>,
        log_weights: &ArcMatrix,
    ) -> Result<Self, Error> {
        let mut names = names.into_iter();
        let side = log_weights.words() + 1;
        let wrong = |found: usize| Error::Shape {
            expected: format!("{side} node names, one for each row of the matrix"),
            found: format!("{found} names"),
        };
        let root = names.next().ok_or_else(|| wrong(0))?;
        let mut graph = Self::new(root, names)?;
        if graph.names.len() != side {
            return Err(wrong(graph.names.len()));
        }
        for (parent, child, log_weight) in log_weights.arcs() {
            if log_weight != f64::NEG_INFINITY {
                graph.add_arc_between(parent, child, log_weight)?;
            }
        }
        Ok(graph)
    }

    /// Adds an arc between two named nodes and returns its number. Nodes named by a `String` are
    /// found by a `&str`, as in a [`HashMap`].
    ///
    /// # Errors
    /// [`Error::UnknownNode`]; [`Error::BadWeight`] naming the arc whose weight is NaN, +∞ or beyond
    /// 1e300.
    pub fn add_arc<Q>(&mut self, parent: &Q, child: &Q, log_weight: f64) -> Result<usize, Error>
    where
        N: Borrow<Q>,
        Q: Eq + Hash + Display + ?Sized,
    {
        let number =
            |node: &Q| self.node(node).ok_or_else(|| Error::UnknownNode { node: node.to_string() });
        let parent = number(parent)?;
        let child = number(child)?;
        self.add_arc_between(parent, child, log_weight)
    }

    /// Adds an arc between two nodes by number (0 is the root) and returns its number.
    ///
    /// # Errors
    /// As [`add_arc`](Self::add_arc).
    pub fn add_arc_between(
        &mut self,
        parent: usize,
        child: usize,
        log_weight: f64,
    ) -> Result<usize, Error> {
        for node in [parent, child] {
            if node >= self.names.len() {
                return Err(Error::UnknownNode { node: format!("number {node}") });
            }
        }
        if !is_score(log_weight) {
            return Err(Error::BadWeight {
                parent: self.names[parent].to_string(),
                child: self.names[child].to_string(),
                value: log_weight,
            });
        }
        self.arcs.push(Arc { parent, child, log_weight });
        Ok(self.arcs.len() - 1)
    }

    /// A node's number, 0 for the root.
    pub fn node<Q>(&self, name: &Q) -> Option<usize>
    where
        N: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.numbers.get(name).copied()
    }

    pub(super) fn name_all(&self, nodes: impl IntoIterator<Item = usize>) -> Vec<String> {
        nodes.into_iter().map(|node| self.names[node].to_string()).collect()
    }
}

impl<N> Graph<N> {
    /// All names by number; entry 0 is the root's.
    pub fn names(&self) -> &[N] {
        &self.names
    }

    /// The number of nodes without the root.
    pub fn nodes(&self) -> usize {
        self.names.len() - 1
    }

    /// The arcs as (parent, child, log-weight), in the order in which they were added.
    pub fn arcs(&self) -> impl ExactSizeIterator<Item = (usize, usize, f64)> + '_ {
        self.arcs.iter().map(|arc| (arc.parent, arc.child, arc.log_weight))
    }

    /// The first arc from one node to another. O(arcs).
    pub fn arc_between(&self, parent: usize, child: usize) -> Option<usize> {
        self.arcs.iter().position(|arc| (arc.parent, arc.child) == (parent, child))
    }

    /// The arcs that no tree can contain because they are self-loops or enter the root.
    pub fn ignored_arcs(&self) -> impl Iterator<Item = usize> + '_ {
        let ignored = |arc: &Arc| arc.child == 0 || arc.parent == arc.child;
        self.arcs.iter().enumerate().filter(move |(_, arc)| ignored(arc)).map(|(index, _)| index)
    }
}
