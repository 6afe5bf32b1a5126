//! The best labelled tree under constraints that are not arc-factored.
//!
//! ```text
//! maximise  Σ_{(h,m,ℓ) ∈ y} s[h][m][ℓ]  −  Σ_c cost_c(y)      over the labelled trees y of a set
//! ```
//!
//! A cost of +∞ is a hard constraint. The problem is NP-hard in general, but a good parser seldom
//! breaks a constraint, so the first decode is usually the answer. Otherwise the search branches:
//!
//! 1. Decode without constraints: each arc takes its best label. The value is an upper bound.
//! 2. If the tree pays no cost that is not counted yet, it is the best one of its node.
//! 3. Otherwise a constraint *splits* the node: every tree of the node is in some branch, and each branch
//!    excludes the violation or pays for it. Each branch is decoded, which gives its bound.
//! 4. The node with the best bound is next. When the best tree found reaches that bound, it is optimal.
//!
//! A Lagrangian bound is an alternative (Rush & Collins 2012). A *row* says that at most c arcs of a set
//! may be in the tree, or that each one more costs ρ. With a price 0 ≤ λ ≤ ρ on its arcs, the value of the
//! best tree plus λ·c is an upper bound; prices follow the subgradient.
//!
//! [`AtMostOne`] and [`CrossingPenalty`] are ready to use. [`TreeConstraint`] is the door for others.

mod lagrangian;
mod rules;
mod search;
#[cfg(test)]
mod tests;

pub use rules::{AtMostOne, CrossingPenalty};
pub use search::{ConstrainedWorkspace, constrained_argmax_with};

use crate::LabelledTree;

/// A labelled tree under examination: one head and one label for each word.
#[derive(Clone, Copy, Debug)]
pub struct LabelledHeads<'a> {
    heads: &'a [usize],
    labels: &'a [usize],
}

impl<'a> LabelledHeads<'a> {
    /// The number of words.
    pub fn words(self) -> usize {
        self.heads.len()
    }

    /// All heads; entry 0 is the head of word 1.
    pub fn heads(self) -> &'a [usize] {
        self.heads
    }

    /// All labels; entry 0 is the label of the arc into word 1.
    pub fn labels(self) -> &'a [usize] {
        self.labels
    }

    /// The labelled arcs as (head, modifier, label), by modifier.
    pub fn arcs(self) -> impl Iterator<Item = (usize, usize, usize)> + 'a {
        let labelled = self.heads.iter().zip(self.labels).enumerate();
        labelled.map(|(index, (&head, &label))| (head, index + 1, label))
    }
}

/// A constraint on labelled trees that is not a sum over arcs.
///
/// For an exact search, [`split`](Self::split) must *cover*: every tree of the node that has a finite
/// cost belongs to at least one branch. Each branch must also exclude the tree at hand, or pay for a
/// violation of it; otherwise the search does not end before its cap.
///
/// ```
/// use tutte_trees::{
///     Branches, ConstrainedOptions, ConstrainedWorkspace, LabelledArcMatrix, LabelledHeads, Settled,
///     TreeConstraint, TreeSet, constrained_argmax_with,
/// };
///
/// /// Words attached with label 1 (say, `case`) have no children.
/// struct Leaves;
///
/// impl Leaves {
///     fn violation(&self, tree: LabelledHeads<'_>) -> Option<[(usize, usize, usize); 2]> {
///         let parent = |word: usize| tree.arcs().find(|arc| arc.1 == word);
///         tree.arcs().find_map(|arc| Some([parent(arc.0).filter(|up| up.2 == 1)?, arc]))
///     }
/// }
///
/// impl TreeConstraint for Leaves {
///     fn cost(&self, tree: LabelledHeads<'_>) -> f64 {
///         if self.violation(tree).is_some() { f64::INFINITY } else { 0.0 }
///     }
///
///     fn split(&self, tree: LabelledHeads<'_>, _: Settled<'_>, branches: &mut Branches) {
///         if let Some([(h, m, label), (head, child, _)]) = self.violation(tree) {
///             branches.add().forbid_label(h, m, label); // either the word is no leaf,
///             branches.add().forbid_arc(head, child);   // or it has no such child
///         }
///     }
/// }
///
/// let mut scores = LabelledArcMatrix::zeros(2, 2);
/// scores[(0, 1, 1)] = 2.0;
/// scores[(1, 2, 0)] = 1.5;
/// let best = constrained_argmax_with(
///     &scores,
///     TreeSet::NonProjectiveSingleRoot,
///     &[&Leaves],
///     &ConstrainedOptions::default(),
///     &mut ConstrainedWorkspace::default(),
/// )?;
/// assert!(best.is_optimal());
/// assert_eq!(best.tree.arcs().next(), Some((0, 1, 0))); // another label for word 1
/// # Ok::<(), tutte_trees::Error>(())
/// ```
pub trait TreeConstraint {
    /// Returns the cost of a tree: 0 if it satisfies the constraint, +∞ if it must not be answered. Negative
    /// costs count as 0.
    fn cost(&self, tree: LabelledHeads<'_>) -> f64;

    /// Adds the branches for one violation of the tree that is not settled; none if there is none.
    fn split(&self, tree: LabelledHeads<'_>, settled: Settled<'_>, branches: &mut Branches);

    /// Adds the rows that the tree violates, for the Lagrangian bound. There are none by default.
    /// Rows of settled violations must be left out.
    fn violated_rows(&self, _tree: LabelledHeads<'_>, _settled: Settled<'_>, _rows: &mut Vec<Row>) {
    }

    /// Calls `visit(head, modifier, label)` for every labelled arc of a row.
    fn visit_row(
        &self,
        _row: &Row,
        _words: usize,
        _labels: usize,
        _visit: &mut dyn FnMut(usize, usize, usize),
    ) {
    }
}

/// A linear constraint: at most `capacity` labelled arcs of a set, each one more at the cost `penalty`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Name of the row, unique within its constraint.
    pub key: u64,
    /// The number of arcs that are free.
    pub capacity: f64,
    /// Cost of each further arc; +∞ forbids them.
    pub penalty: f64,
}

/// A restriction of one branch of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Decision {
    ForbidArc { head: usize, modifier: usize },
    ForbidLabel { head: usize, modifier: usize, label: usize },
    RequireArc { head: usize, modifier: usize },
    Charge { head: usize, modifier: usize, amount: f64 },
    Pay { constraint: usize, key: u64, cost: f64 },
}

/// The branches of a split, in the order in which they are added.
///
/// [`add`](Self::add) starts a branch; the other methods restrict the branch added last.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    decisions: Vec<Decision>,
    /// The first decision of each branch.
    starts: Vec<usize>,
    /// Number of the constraint that is asked.
    constraint: usize,
}

impl Branches {
    /// Starts a new branch, without restrictions yet.
    pub fn add(&mut self) -> &mut Self {
        self.starts.push(self.decisions.len());
        self
    }

    /// Forbids an arc with all its labels.
    pub fn forbid_arc(&mut self, head: usize, modifier: usize) -> &mut Self {
        self.push(Decision::ForbidArc { head, modifier })
    }

    /// Forbids an arc with one label.
    pub fn forbid_label(&mut self, head: usize, modifier: usize, label: usize) -> &mut Self {
        self.push(Decision::ForbidLabel { head, modifier, label })
    }

    /// Requires an arc, with any label.
    pub fn require_arc(&mut self, head: usize, modifier: usize) -> &mut Self {
        self.push(Decision::RequireArc { head, modifier })
    }

    /// Subtracts an amount from the score of an arc, with any label: the part of the cost that every tree
    /// of the branch with this arc has.
    pub fn charge(&mut self, head: usize, modifier: usize, amount: f64) -> &mut Self {
        self.push(Decision::Charge { head, modifier, amount: amount.max(0.0) })
    }

    /// Pays for a violation that every tree of the branch has. It is then [settled](Settled). The cost is 0
    /// if it has been [charged](Self::charge).
    pub fn pay(&mut self, key: u64, cost: f64) -> &mut Self {
        self.push(Decision::Pay { constraint: self.constraint, key, cost: cost.max(0.0) })
    }

    fn push(&mut self, decision: Decision) -> &mut Self {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.decisions.push(decision);
        self
    }

    fn clear(&mut self, constraint: usize) {
        self.decisions.clear();
        self.starts.clear();
        self.constraint = constraint;
    }

    fn branch(&self, number: usize) -> &[Decision] {
        let end = self.starts.get(number + 1).copied().unwrap_or(self.decisions.len());
        &self.decisions[self.starts[number]..end]
    }
}

/// The violations that a node of the search has paid for, by their keys.
#[derive(Clone, Copy)]
pub struct Settled<'a> {
    search: &'a search::Nodes,
    node: usize,
    constraint: usize,
}

impl Settled<'_> {
    /// True if a branch above has [paid](Branches::pay) for this violation.
    pub fn contains(self, key: u64) -> bool {
        self.search.has_paid(self.node, self.constraint, key)
    }
}

impl std::fmt::Debug for Settled<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settled").field("node", &self.node).finish_non_exhaustive()
    }
}

/// The upper bound of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Bound {
    /// The best tree of the node without constraints.
    #[default]
    Tree,
    /// The best of at most this many Lagrangian bounds; 40 is usual. Fewer nodes, more decodes.
    Lagrangian {
        /// Largest number of decodes for one node.
        rounds: usize,
    },
}

/// Options of the constrained search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstrainedOptions {
    /// Largest number of nodes that are decoded. When it is reached, the best tree so far is returned,
    /// with its gap.
    pub max_nodes: usize,
    /// The upper bound of nodes.
    pub bound: Bound,
}

impl Default for ConstrainedOptions {
    fn default() -> Self {
        Self { max_nodes: 1000, bound: Bound::Tree }
    }
}

/// A labelled tree found by a constrained search, and what is known of its rank.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstrainedTree {
    /// The tree.
    pub tree: LabelledTree,
    /// Σ of the scores of its arcs.
    pub score: f64,
    /// Σ of the costs of all constraints; finite.
    pub cost: f64,
    /// No tree has a larger `score − cost` than this.
    pub upper_bound: f64,
    /// Number of nodes that were decoded, the first included.
    pub nodes: usize,
    /// Number of trees that were decoded: more than nodes with the Lagrangian bound.
    pub decodes: usize,
}

impl ConstrainedTree {
    /// The value that was maximised: score − cost.
    pub fn objective(&self) -> f64 {
        self.score - self.cost
    }

    /// Largest amount by which another tree may be better; 0 if this one is optimal.
    pub fn gap(&self) -> f64 {
        (self.upper_bound - self.objective()).max(0.0)
    }

    /// True if the tree is certified to be the best one.
    pub fn is_optimal(&self) -> bool {
        self.gap() == 0.0
    }
}
