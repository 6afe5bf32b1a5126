//! The errors of this crate.

use std::fmt;

use crate::{Part, TreeSet};

/// Every error of this crate. Words are numbered from 1; 0 is the artificial root.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A score is NaN, +∞, or so large that sums of scores would overflow.
    #[error(
        "the score of arc {head} → {modifier}{} is {value}; scores must be finite and at most 1e300 \
         in size, or −∞ for a forbidden arc",
        .label.map(|l| format!(" with label {l}")).unwrap_or_default()
    )]
    BadScore {
        /// Head of the offending arc (0 is the root).
        head: usize,
        /// Modifier of the offending arc.
        modifier: usize,
        /// Label of the offending arc, for labelled scores.
        label: Option<usize>,
        /// The score found.
        value: f64,
    },

    /// An array does not have the shape that was expected.
    #[error("expected {expected}, found {found}")]
    Shape {
        /// The layout that was expected, in words.
        expected: String,
        /// The layout that was found, in words.
        found: String,
    },

    /// No tree of the set has a finite score.
    #[error("{}", describe_no_tree(*.tree_set, .words))]
    NoTree {
        /// The tree set in which nothing is possible.
        tree_set: TreeSet,
        /// The words that cannot be attached, in increasing order.
        words: Vec<usize>,
    },

    /// No tree satisfies constraints that are not arc-factored, or none was found.
    #[error("{}", describe_no_constrained_tree(*.tree_set, *.nodes, *.is_proven))]
    NoConstrainedTree {
        /// The tree set that was searched.
        tree_set: TreeSet,
        /// Number of nodes that were decoded.
        nodes: usize,
        /// True if there is no such tree; false if the search reached its cap.
        is_proven: bool,
    },

    /// A list of heads is not a tree.
    #[error(transparent)]
    NotATree(#[from] NotATree),

    /// An arc that does not exist in a sentence of this length.
    #[error(
        "there is no arc {head} → {modifier} in a sentence of {words} words: heads are 0..={words} \
         (0 is the root), modifiers 1..={words}, and a word cannot head itself"
    )]
    NoSuchArc {
        /// Head asked for.
        head: usize,
        /// Modifier asked for.
        modifier: usize,
        /// Number of words of the sentence.
        words: usize,
    },

    /// The score of a part of a second-order model is NaN, +∞, or so large that sums would overflow.
    #[error(
        "the score of the part '{part}' is {value}; scores must be finite and at most 1e300 in size, \
         or −∞ for a forbidden part"
    )]
    BadPart {
        /// The part.
        part: Part,
        /// The score found.
        value: f64,
    },

    /// A part that no tree over a sentence of this length has.
    #[error(
        "there is no part '{part}' in a sentence of {words} words: siblings are on one side of their \
         head, the inner one nearer, and the words of a chain differ"
    )]
    NoSuchPart {
        /// Part asked for.
        part: Part,
        /// Number of words of the sentence.
        words: usize,
    },

    /// A marginal that is not a probability.
    #[error(
        "the marginal of arc {head} → {modifier} is {value}; marginals are numbers from 0 to 1"
    )]
    BadMarginal {
        /// Head of the arc (0 is the root).
        head: usize,
        /// Modifier of the arc.
        modifier: usize,
        /// The value found.
        value: f64,
    },

    /// The marginals of a word's heads do not sum to 1.
    #[error(
        "the marginals of the heads of word {modifier} sum to {sum}; every word has one head, so they \
         must sum to 1: divide them by their sum, or compute them from a distribution over trees"
    )]
    HeadsDoNotSumToOne {
        /// The word.
        modifier: usize,
        /// The sum found.
        sum: f64,
    },

    /// Marginals that no distribution over the trees of a set has.
    #[error(
        "no distribution over {tree_set} trees has these marginals: one of them remains {residual:.2e} \
         away; take marginals of a distribution over trees, or another tree set"
    )]
    OutsidePolytope {
        /// The tree set.
        tree_set: TreeSet,
        /// Largest difference that remains.
        residual: f64,
    },

    /// A label beyond the label set.
    #[error("there is no label {label}: {}", describe_labels(*.labels))]
    NoSuchLabel {
        /// Label asked for.
        label: usize,
        /// Size of the label set; 0 where arcs carry no labels.
        labels: usize,
    },

    /// Two arguments that must belong to one sentence have different numbers of words.
    #[error("one side has {left} words and the other {right}: they must be of the same sentence")]
    DifferentLengths {
        /// Words on the left.
        left: usize,
        /// Words on the right.
        right: usize,
    },

    /// A parameter outside its range.
    #[error("{what} is {found}; it must be {expected}")]
    BadParameter {
        /// The parameter's name.
        what: &'static str,
        /// The values that are allowed, in words.
        expected: &'static str,
        /// The value given.
        found: String,
    },

    /// Two nodes of a graph with the same name.
    #[error("there are two nodes called {node:?}; names must differ")]
    DuplicateNode {
        /// The name.
        node: String,
    },

    /// A node that a graph does not have.
    #[error("the graph has no node {node:?}")]
    UnknownNode {
        /// The name or number asked for.
        node: String,
    },

    /// A weight in a graph is NaN, +∞, or so large that sums would overflow.
    #[error(
        "the log-weight of arc {parent:?} → {child:?} is {value}; log-weights must be finite and at \
         most 1e300 in size, or −∞ for a forbidden arc"
    )]
    BadWeight {
        /// Name of the parent.
        parent: String,
        /// Name of the child.
        child: String,
        /// The log-weight found.
        value: f64,
    },

    /// Nodes of a graph that no path from the root reaches, so that there is no tree.
    #[error("no allowed path leads from the root to {}", join_names(.nodes))]
    Unreachable {
        /// Their names, in the order of the graph.
        nodes: Vec<String>,
    },

    /// Two arcs into one node are required, but a node of a tree has one parent.
    #[error(
        "both {} → {child:?} are required, but a node has one parent; require one of them",
        parents.iter().map(|parent| format!("{parent:?}")).collect::<Vec<_>>().join(" and ")
    )]
    SeveralParentsRequired {
        /// Name of the node.
        child: String,
        /// Names of the two parents. They are the same for parallel arcs.
        parents: [String; 2],
    },

    /// An arc is required that no tree can contain: it is forbidden, enters the root or is a loop.
    #[error("the arc {parent:?} → {child:?} is required, but no tree can contain it")]
    ImpossibleArcRequired {
        /// Name of the parent.
        parent: String,
        /// Name of the child.
        child: String,
    },

    /// Exactly one child of the root was asked for, but several are needed to reach all nodes.
    #[error(
        "one child of the root cannot reach all nodes: {} can only be reached through separate \
         children of the root; allow several children of the root, or add arcs",
        join_names(.nodes)
    )]
    SeveralChildrenNeeded {
        /// A node of each part that only the root leads to.
        nodes: Vec<String>,
    },

    /// An arc number that a graph does not have.
    #[error("there is no arc {arc}: the graph has {arcs} arcs, numbered from 0")]
    NoSuchGraphArc {
        /// Number asked for.
        arc: usize,
        /// Number of arcs of the graph.
        arcs: usize,
    },

    /// A factor refers to an arc that is forbidden, so that there is no variable for it.
    #[error(
        "a {factor} factor refers to the arc {head} → {modifier}, which is forbidden; leave the factor \
         out, or give the arc a finite score"
    )]
    FactorOnForbiddenArc {
        /// Family of the factor.
        factor: &'static str,
        /// Head of the arc (0 is the root).
        head: usize,
        /// Modifier of the arc.
        modifier: usize,
    },

    /// A log-weight of a factor is NaN, +∞, or so large that sums would overflow.
    #[error(
        "a log-weight of a {factor} factor is {value}; log-weights must be finite and at most 1e300 in \
         size, or −∞ to forbid"
    )]
    BadFactorWeight {
        /// Family of the factor.
        factor: &'static str,
        /// The log-weight found.
        value: f64,
    },

    /// A tree-set name that is none of the four.
    #[error(
        "no tree set is called {found:?}; there are nonprojective-multi-root, \
         nonprojective-single-root, projective-multi-root and projective-single-root"
    )]
    UnknownTreeSet {
        /// The name given.
        found: String,
    },
}

/// The reason why a list of heads is not a tree of the expected set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotATree {
    /// A head beyond the sentence.
    #[error("word {modifier} has head {head}, but the sentence has {words} words")]
    HeadOutOfRange {
        /// The word.
        modifier: usize,
        /// Its head.
        head: usize,
        /// Number of words of the sentence.
        words: usize,
    },
    /// Words that head each other in a cycle; the message repeats the first word at the end.
    #[error("the heads form a cycle: {}", CycleDisplay(.words))]
    Cycle {
        /// The words of the cycle: each is the head of the next, the last of the first.
        words: Vec<usize>,
    },
    /// More than one word attached to the root where one is allowed.
    #[error("words {} are all attached to the root, but only one may be", join(.words))]
    SeveralRoots {
        /// The words attached to the root.
        words: Vec<usize>,
    },
    /// Two arcs cross where no crossing is allowed.
    #[error(
        "arc {} → {} is not projective: word {between} lies between its ends but does not descend \
         from {}", .arc.0, .arc.1, .arc.0
    )]
    NotProjective {
        /// The non-projective arc, `(head, modifier)`.
        arc: (usize, usize),
        /// A word under the arc that does not descend from its head.
        between: usize,
    },
}

struct CycleDisplay<'a>(&'a [usize]);

impl fmt::Display for CycleDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for word in self.0 {
            write!(f, "{word} → ")?;
        }
        write!(f, "{}", self.0.first().copied().unwrap_or(0))
    }
}

fn join(words: &[usize]) -> String {
    list(words.iter().map(usize::to_string))
}

fn join_names(names: &[String]) -> String {
    list(names.iter().map(|name| format!("{name:?}")))
}

/// Joins the first ten items, and says how many more there are.
fn list(items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len().saturating_sub(10);
    let shown = items.take(10).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

fn describe_labels(labels: usize) -> String {
    match labels.checked_sub(1) {
        Some(last) => format!("labels are 0..={last}"),
        None => "these arcs carry no labels".into(),
    }
}

fn describe_no_constrained_tree(tree_set: TreeSet, nodes: usize, is_proven: bool) -> String {
    if is_proven {
        return format!(
            "no {tree_set} tree satisfies the constraints; relax one, or allow more arcs"
        );
    }
    format!(
        "no {tree_set} tree that satisfies the constraints was found in {nodes} nodes; raise max_nodes, \
         or relax a constraint"
    )
}

fn describe_no_tree(tree_set: TreeSet, words: &[usize]) -> String {
    match words {
        [] => format!("no {tree_set} tree is possible with the arcs that are allowed"),
        [word] => format!(
            "no {tree_set} tree is possible: word {word} cannot be attached with the arcs that are \
             allowed"
        ),
        _ => format!(
            "no {tree_set} tree is possible: words {} cannot all be attached with the arcs that \
             are allowed",
            join(words)
        ),
    }
}
