//! Best-first branching: nodes, their trees, and the loop.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::lagrangian::Lagrangian;
use super::{
    Bound, Branches, ConstrainedOptions, ConstrainedTree, Decision, LabelledHeads, Settled,
    TreeConstraint,
};
use crate::workspace::unchecked_argmax;
use crate::{
    ArcMatrix, Error, LabelledArcMatrix, LabelledTree, Tree, TreeSet, Workspace, feasible,
};

/// Scratch memory of constrained searches; one per thread. Nothing allocates after warm-up but the
/// nodes of a search larger than those before, and the answer.
#[derive(Clone, Debug, Default)]
pub struct ConstrainedWorkspace {
    pub(super) decoder: Decoder,
    pub(super) nodes: Nodes,
    pub(super) lagrangian: Lagrangian,
    branches: Branches,
    open: BinaryHeap<Open>,
    best_heads: Vec<usize>,
    best_labels: Vec<usize>,
}

/// All nodes of a search: a tree of decisions, and for each node its best dependency tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    decisions: Vec<Decision>,
    /// Heads and labels of each node's tree.
    heads: Vec<usize>,
    labels: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Node {
    /// The node that was split; the first node is its own parent.
    parent: usize,
    /// Its own decisions. Those of its ancestors hold too.
    decisions: Range<usize>,
    /// Σ of the costs paid, ancestors included.
    paid: f64,
}

impl Nodes {
    fn clear(&mut self) {
        self.nodes.clear();
        self.decisions.clear();
        self.heads.clear();
        self.labels.clear();
    }

    /// Adds a node and returns its number. The tree is added later. Charges on arcs that the scores forbid
    /// are left out.
    fn push(&mut self, parent: usize, decisions: &[Decision], arcs: &ArcMatrix) -> usize {
        let start = self.decisions.len();
        self.decisions.extend(decisions.iter().filter(|decision| match **decision {
            Decision::Charge { head, modifier, .. } => {
                arcs.get(head, modifier).is_some_and(|score| score > f64::NEG_INFINITY)
            }
            _ => true,
        }));
        let cost = |decision: &Decision| match decision {
            Decision::Pay { cost, .. } => *cost,
            _ => 0.0,
        };
        let above = self.nodes.get(parent).map_or(0.0, |node| node.paid);
        let paid = above + decisions.iter().map(cost).sum::<f64>();
        self.nodes.push(Node { parent, decisions: start..self.decisions.len(), paid });
        self.nodes.len() - 1
    }

    pub(super) fn paid(&self, node: usize) -> f64 {
        self.nodes[node].paid
    }

    /// The decisions of a node and its ancestors.
    pub(super) fn decisions(&self, node: usize) -> impl Iterator<Item = Decision> + '_ {
        let mut at = Some(node);
        std::iter::from_fn(move || {
            let node = at?;
            let Node { parent, decisions, .. } = &self.nodes[node];
            at = (*parent != node).then_some(*parent);
            Some(&self.decisions[decisions.clone()])
        })
        .flatten()
        .copied()
    }

    pub(super) fn has_paid(&self, node: usize, constraint: usize, key: u64) -> bool {
        self.decisions(node).any(|decision| {
            matches!(decision, Decision::Pay { constraint: c, key: k, .. } if (c, k) == (constraint, key))
        })
    }

    fn tree(&self, node: usize, words: usize) -> LabelledHeads<'_> {
        let range = node * words..(node + 1) * words;
        LabelledHeads { heads: &self.heads[range.clone()], labels: &self.labels[range] }
    }
}

/// A node that waits, by its bound.
#[derive(Clone, Copy, Debug)]
struct Open {
    bound: f64,
    node: usize,
}

impl Ord for Open {
    /// The largest bound is first, then the oldest node.
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then_with(|| other.node.cmp(&self.node))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

/// Decodes labelled trees under restrictions and prices.
#[derive(Clone, Debug, Default)]
pub(super) struct Decoder {
    workspace: Workspace,
    /// The score and the number of every arc's best label, without restrictions.
    base: ArcMatrix,
    base_labels: Vec<usize>,
    arcs: ArcMatrix,
    arc_labels: Vec<usize>,
    /// (head, modifier, label, amount to subtract).
    pub(super) prices: Vec<(usize, usize, usize, f64)>,
    pub(super) heads: Vec<usize>,
    pub(super) labels: Vec<usize>,
    pub(super) decodes: usize,
}

impl Decoder {
    /// Finds the best label of every arc.
    fn start(&mut self, scores: &LabelledArcMatrix) {
        let words = scores.words();
        self.base.reset(words, f64::NEG_INFINITY);
        self.base_labels.clear();
        self.base_labels.resize((words + 1) * (words + 1), 0);
        self.decodes = 0;
        for (head, modifier) in crate::arcs(words) {
            if !scores.is_absent(head, modifier) {
                let (label, score) = best_label(scores.cell(head, modifier), |_| 0.0);
                self.base[(head, modifier)] = score;
                self.base_labels[head * (words + 1) + modifier] = label;
            }
        }
    }

    /// Writes the best tree under a node's decisions and the [prices](Self::prices); returns its value after
    /// prices, or −∞ if there is no tree.
    pub(super) fn decode(
        &mut self,
        scores: &LabelledArcMatrix,
        tree_set: TreeSet,
        nodes: &Nodes,
        node: usize,
    ) -> f64 {
        let words = scores.words();
        let side = words + 1;
        self.decodes += 1;
        let Self { base, base_labels, arcs, arc_labels, prices, .. } = self;
        arcs.reset(words, 0.0);
        arcs.zip_in_place(base, |_, score| score);
        arc_labels.clone_from(base_labels);
        for decision in nodes.decisions(node) {
            if let Decision::ForbidLabel { head, modifier, label } = decision {
                prices.push((head, modifier, label, f64::INFINITY));
            }
        }
        let arc = |price: &(usize, usize, usize, f64)| (price.0, price.1);
        prices.sort_unstable_by_key(|&(head, modifier, label, _)| (head, modifier, label));
        for priced in prices.chunk_by(|a, b| arc(a) == arc(b)) {
            let (head, modifier) = arc(&priced[0]);
            if !arcs.has_arc(head, modifier) || scores.is_absent(head, modifier) {
                continue;
            }
            let price = |label: usize| {
                let first = priced.partition_point(|entry| entry.2 < label);
                priced[first..]
                    .iter()
                    .take_while(|entry| entry.2 == label)
                    .map(|entry| entry.3)
                    .sum()
            };
            let (label, score) = best_label(scores.cell(head, modifier), price);
            arcs[(head, modifier)] = score;
            arc_labels[head * side + modifier] = label;
        }
        for decision in nodes.decisions(node) {
            match decision {
                Decision::ForbidArc { head, modifier } => arcs.forbid(head, modifier),
                Decision::RequireArc { head, modifier } => {
                    for other in (0..=words).filter(|&other| other != head) {
                        arcs.forbid(other, modifier);
                    }
                }
                Decision::Charge { head, modifier, amount } => arcs[(head, modifier)] -= amount,
                Decision::ForbidLabel { .. } | Decision::Pay { .. } => {}
            }
        }
        prices.clear();
        let value = unchecked_argmax(arcs, tree_set, &mut self.workspace, &mut self.heads);
        self.labels.clear();
        if value > f64::NEG_INFINITY {
            let labelled = self.heads.iter().enumerate();
            self.labels.extend(labelled.map(|(index, &head)| arc_labels[head * side + index + 1]));
        }
        value
    }

    pub(super) fn tree(&self) -> LabelledHeads<'_> {
        LabelledHeads { heads: &self.heads, labels: &self.labels }
    }
}

/// The label with the largest score after prices, and that score; the first in case of a tie.
fn best_label(cell: &[f64], price: impl Fn(usize) -> f64) -> (usize, f64) {
    cell.iter().enumerate().fold((0, f64::NEG_INFINITY), |best, (label, &score)| {
        // −∞ − ∞ is −∞, so no NaN arises.
        let value = score - price(label);
        if value > best.1 { (label, value) } else { best }
    })
}

/// The best tree so far, by score − cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incumbent {
    pub(super) score: f64,
    pub(super) cost: f64,
}

impl Incumbent {
    const NONE: Self = Self { score: f64::NEG_INFINITY, cost: 0.0 };

    pub(super) fn value(self) -> f64 {
        self.score - self.cost
    }
}

/// One search: its input, and the best tree so far.
pub(super) struct Search<'a> {
    pub(super) scores: &'a LabelledArcMatrix,
    pub(super) tree_set: TreeSet,
    pub(super) constraints: &'a [&'a dyn TreeConstraint],
    pub(super) incumbent: Incumbent,
}

impl Search<'_> {
    /// Keeps the decoder's tree if it is better than the best so far; returns its score − cost.
    pub(super) fn consider(
        &mut self,
        tree: LabelledHeads<'_>,
        best_heads: &mut Vec<usize>,
        best_labels: &mut Vec<usize>,
    ) -> f64 {
        let score: f64 = tree.arcs().map(|arc| self.scores[arc]).sum();
        let costs = self.constraints.iter().map(|constraint| constraint.cost(tree).max(0.0));
        let cost: f64 = costs.sum();
        let found = Incumbent { score, cost };
        if cost < f64::INFINITY && found.value() > self.incumbent.value() {
            self.incumbent = found;
            best_heads.clear();
            best_heads.extend_from_slice(tree.heads);
            best_labels.clear();
            best_labels.extend_from_slice(tree.labels);
        }
        found.value()
    }
}

/// Finds the labelled tree with the largest score − cost, by best-first branching.
///
/// The answer says whether it is certified optimal. At least one tree is decoded, O(n²) or O(n³) each;
/// memory grows with the nodes, see [`ConstrainedOptions::max_nodes`].
///
/// # Errors
/// [`Error::BadScore`]; [`Error::NoTree`] if there is no tree even without constraints;
/// [`Error::NoConstrainedTree`] if no tree has a finite cost, or none was found within the cap.
pub fn constrained_argmax_with(
    scores: &LabelledArcMatrix,
    tree_set: TreeSet,
    constraints: &[&dyn TreeConstraint],
    options: &ConstrainedOptions,
    workspace: &mut ConstrainedWorkspace,
) -> Result<ConstrainedTree, Error> {
    scores.check_scores()?;
    let words = scores.words();
    let ws = workspace;
    ws.nodes.clear();
    ws.open.clear();
    ws.decoder.start(scores);
    let mut search = Search { scores, tree_set, constraints, incumbent: Incumbent::NONE };
    add_node(&mut search, options, 0, &[], ws);
    let is_solved = search.incumbent.score > f64::NEG_INFINITY;
    if ws.open.is_empty() && !is_solved {
        return Err(feasible::no_tree(&ws.decoder.base, tree_set));
    }
    // The largest bound of nodes that no constraint could split although they have unpaid costs.
    let mut unsplit = f64::NEG_INFINITY;
    let mut branches = std::mem::take(&mut ws.branches);
    while let Some(&Open { bound, node }) = ws.open.peek() {
        if bound <= search.incumbent.value() || ws.nodes.nodes.len() >= options.max_nodes.max(1) {
            break;
        }
        ws.open.pop();
        for (constraint, rule) in constraints.iter().enumerate() {
            branches.clear(constraint);
            let settled = Settled { search: &ws.nodes, node, constraint };
            rule.split(ws.nodes.tree(node, words), settled, &mut branches);
            if !branches.starts.is_empty() {
                break;
            }
        }
        if branches.starts.is_empty() {
            unsplit = unsplit.max(bound);
            continue;
        }
        for number in 0..branches.starts.len() {
            add_node(&mut search, options, node, branches.branch(number), ws);
        }
    }
    ws.branches = branches;
    let nodes = ws.nodes.nodes.len();
    if search.incumbent.score == f64::NEG_INFINITY {
        let is_proven = ws.open.is_empty() && unsplit == f64::NEG_INFINITY;
        return Err(Error::NoConstrainedTree { tree_set, nodes, is_proven });
    }
    let open = ws.open.peek().map_or(f64::NEG_INFINITY, |open| open.bound);
    Ok(ConstrainedTree {
        tree: LabelledTree::new(Tree::from_decoder(ws.best_heads.clone()), ws.best_labels.clone())?,
        score: search.incumbent.score,
        cost: search.incumbent.cost,
        upper_bound: open.max(unsplit).max(search.incumbent.value()),
        nodes,
        decodes: ws.decoder.decodes,
    })
}

/// Decodes a new node, and keeps it open if it has a tree and may hold a better one than the best.
fn add_node(
    search: &mut Search<'_>,
    options: &ConstrainedOptions,
    parent: usize,
    decisions: &[Decision],
    ws: &mut ConstrainedWorkspace,
) {
    let node = ws.nodes.push(parent, decisions, &ws.decoder.base);
    let words = search.scores.words();
    let ConstrainedWorkspace { decoder, nodes, lagrangian, best_heads, best_labels, .. } = ws;
    let value = decoder.decode(search.scores, search.tree_set, nodes, node);
    nodes.heads.resize((node + 1) * words, 0);
    nodes.labels.resize((node + 1) * words, 0);
    if value == f64::NEG_INFINITY {
        return;
    }
    nodes.heads[node * words..].copy_from_slice(&decoder.heads);
    nodes.labels[node * words..].copy_from_slice(&decoder.labels);
    let mut bound = value - nodes.paid(node);
    let reached = search.consider(decoder.tree(), best_heads, best_labels);
    // Sums in another order differ by rounding: a tree that has paid all its costs is solved.
    let has_unpaid_cost = reached < bound - rounding(bound);
    if !has_unpaid_cost {
        return;
    }
    if let Bound::Lagrangian { rounds } = options.bound {
        let best = (best_heads, best_labels);
        bound = bound.min(lagrangian.bound(search, node, nodes, decoder, rounds, bound, best));
    }
    if bound > search.incumbent.value() {
        ws.open.push(Open { bound, node });
    }
}

/// The size of rounding errors in sums of about this size.
pub(super) fn rounding(value: f64) -> f64 {
    1e-12 * value.abs().max(1.0)
}
