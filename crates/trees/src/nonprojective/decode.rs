//! The best tree when arcs may cross, in O(n²).
//!
//! **Contraction** (Chu & Liu 1965, Edmonds 1967; dense form after Tarjan 1977). Every word takes
//! its best head. A cycle v₁ … v_k of such choices is contracted to one node c. It may be entered
//! from outside at any member, at the price of that member's arc in the cycle:
//!
//! ```text
//! w(h → c) = max over k in the cycle of  w(h → k) − w(in[k])
//! ```
//!
//! The node then takes its own best head, and so on until every node descends from the root. Then
//! the nodes are opened, from the last to the first. The arc that enters a node replaces the arc of
//! the member it enters; the other members keep theirs.
//!
//! One row per node holds the arcs *into* it, by head, and heads stay words. A contraction only merges
//! the members' rows and changes the owner of each word. Every step is then one pass over contiguous
//! memory. There are at most n − 1 contractions, which merge at most 2n rows of n+1 entries in all.
//! Rows of contracted nodes are kept: they are the levels from which [`kbest`](super::kbest) reads
//! the second-best tree.
//!
//! **One root.** Order the arcs by (−[head = 0], score), lexicographically, and subtract by
//! components. The best tree then has the fewest root arcs. Among those trees, it has the highest
//! score (Stanojević & Cohen 2021 with an infinite penalty that costs no digits). No arc enters the
//! root, so no cycle holds a root arc. The subtracted arcs have first component 0, and contraction
//! does not change the first component of an arc. So the order means: *a root arc is taken only when
//! a node has no other arc left*. If two nodes must take one, there is no single-root tree.
//!
//! This always contracts down to the root word. With several roots, only the existing cycles are
//! contracted, which is cheaper. A best multi-root tree with only one root is also the best
//! single-root tree, so the multi-root search is tried first.
//!
//! **Range.** A row of a node holds differences to chosen maxima, which never exceed twice the
//! largest score. Root arcs under the order above add up at most n such differences. Scores of 1e300
//! leave room for both.

use crate::ArcMatrix;
use crate::simd::{LANES, dispatched};
use crate::tree_set::Roots;

const NONE: f64 = f64::NEG_INFINITY;

/// The state of a node in the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visit {
    Unseen,
    OnPath,
    Done,
}

/// The chosen arc into a node: its head, the word of the node that it enters, and its weight there.
#[derive(Debug, Clone, Copy)]
pub(super) struct InArc {
    pub(super) head: usize,
    pub(super) modifier: usize,
    pub(super) weight: f64,
}

/// Memory of the decoder and, after [`contract`](Self::contract), the contraction hierarchy.
///
/// Nodes 0..=n are the root and the words; n+1, n+2, … the contracted cycles in order.
#[derive(Debug, Default, Clone)]
pub(crate) struct DecodeWorkspace {
    words: usize,
    /// `rows[node·(n+1) + head]`: the best arc from `head` into `node`; −∞ for heads inside it.
    rows: Vec<f64>,
    /// For contracted nodes, the word each arc of the row enters.
    modifiers: Vec<u32>,
    /// The outermost node that holds each word.
    owner: Vec<u32>,
    /// The contracted node that each node is a member of; itself if it is outermost.
    parent: Vec<usize>,
    entering: Vec<InArc>,
    visit: Vec<Visit>,
    path: Vec<usize>,
    /// Per word the best of its word heads (row order of `scores`, so one contiguous pass).
    best_weight: Vec<f64>,
    best_head: Vec<u32>,
    /// True if the rows of the words are filled in, which the first cycle requires.
    has_word_rows: bool,
    /// Marks nodes whose entering arc is that of a node around them.
    opened: Vec<bool>,
}

/// Writes the heads of the highest-scoring tree (word m's at m − 1) and returns its score, the plain
/// sum of its arcs' scores. If there is no tree, returns −∞ and leaves `heads` empty.
pub(crate) fn argmax(
    scores: &ArcMatrix,
    roots: Roots,
    ws: &mut DecodeWorkspace,
    heads: &mut Vec<usize>,
) -> f64 {
    if solve(scores, roots, ws, heads) {
        score(scores, heads)
    } else {
        heads.clear();
        NONE
    }
}

/// The plain sum of the scores of a tree's arcs, in the order of the words.
pub(super) fn score(scores: &ArcMatrix, heads: &[usize]) -> f64 {
    heads.iter().enumerate().fold(0.0, |sum, (m, &head)| sum + scores[(head, m + 1)])
}

fn count_roots(heads: &[usize]) -> usize {
    heads.iter().filter(|&&head| head == 0).count()
}

dispatched! {
    fn solve(
        scores: &ArcMatrix,
        roots: Roots,
        ws: &mut DecodeWorkspace,
        heads: &mut Vec<usize>,
    ) -> bool {
        ws.start(scores);
        if !ws.grow(scores, Roots::Multi) {
            return false;
        }
        ws.expand(heads);
        if roots == Roots::Multi || heads.is_empty() || count_roots(heads) == 1 {
            return true;
        }
        if !ws.grow(scores, Roots::Single) {
            return false;
        }
        ws.expand(heads);
        count_roots(heads) == 1
    }
}

dispatched! {
    fn solve_with_levels(
        scores: &ArcMatrix,
        roots: Roots,
        ws: &mut DecodeWorkspace,
        heads: &mut Vec<usize>,
    ) -> bool {
        ws.start(scores);
        ws.transpose(scores);
        if !ws.grow(scores, roots) {
            return false;
        }
        ws.expand(heads);
        roots == Roots::Multi || heads.is_empty() || count_roots(heads) == 1
    }
}

impl DecodeWorkspace {
    /// Finds the best tree as [`argmax`] does, but without short cuts. Every level of the contraction,
    /// in the order of `roots`, can be read afterwards. Returns false if there is no tree.
    pub(super) fn contract(
        &mut self,
        scores: &ArcMatrix,
        roots: Roots,
        heads: &mut Vec<usize>,
    ) -> bool {
        solve_with_levels(scores, roots, self, heads)
    }

    /// All nodes of the hierarchy but the root.
    pub(super) fn nodes(&self) -> std::ops::Range<usize> {
        1..self.parent.len()
    }

    /// The contracted node that `node` is a member of, if any.
    pub(super) fn parent(&self, node: usize) -> Option<usize> {
        Some(self.parent[node]).filter(|&parent| parent != node)
    }

    /// The chosen arc into a node.
    pub(super) fn entering(&self, node: usize) -> InArc {
        self.entering[node]
    }

    /// Chooses another arc into a node, for the next [`expand`](Self::expand).
    pub(super) fn set_entering(&mut self, node: usize, arc: InArc) {
        self.entering[node] = arc;
    }

    /// True if the last tree enters `node` by the arc chosen for it, not for a node around it.
    /// Each arc of the tree was chosen for exactly one such node.
    pub(super) fn keeps_its_arc(&self, node: usize) -> bool {
        !self.opened[node]
    }

    /// The best arc into `node` from each head, at the node's level.
    pub(super) fn row(&self, node: usize) -> &[f64] {
        let side = self.words + 1;
        &self.rows[node * side..(node + 1) * side]
    }

    /// The word that the best arc from `head` into `node` enters.
    pub(super) fn modifier(&self, node: usize, head: usize) -> usize {
        let side = self.words + 1;
        if node < side { node } else { self.modifiers[(node - side) * side + head] as usize }
    }

    /// Makes room and finds every word's best word head.
    #[inline(always)]
    fn start(&mut self, scores: &ArcMatrix) {
        let n = scores.words();
        let side = n + 1;
        self.words = n;
        self.has_word_rows = false;
        // Rows are written before they are read, so that memory of an earlier sentence can stay.
        if self.rows.len() < 2 * side * side {
            self.rows.resize(2 * side * side, NONE);
            self.modifiers.resize(side * side, 0);
        }
        self.best_weight.clear();
        self.best_weight.resize(side, NONE);
        self.best_head.clear();
        self.best_head.resize(side, 0);
        for head in 1..=n {
            let row = &scores.row(head)[..side];
            let weights = &mut self.best_weight[..side];
            let heads = &mut self.best_head[..side];
            // The diagonal is not an arc: let the pass run over it, then restore the old values.
            let before = (weights[head], heads[head]);
            for m in 0..side {
                let better = row[m] > weights[m];
                weights[m] = if better { row[m] } else { weights[m] };
                heads[m] = if better { head as u32 } else { heads[m] };
            }
            (weights[head], heads[head]) = before;
        }
    }

    /// Fills in the rows of the words: arcs by modifier, the diagonal at −∞.
    #[inline(always)]
    fn transpose(&mut self, scores: &ArcMatrix) {
        let side = self.words + 1;
        self.has_word_rows = true;
        let mut head = 0;
        // Eight heads at a time: reads and writes are both runs of a cache line.
        while head + LANES <= side {
            let from: [&[f64]; LANES] = std::array::from_fn(|i| scores.row(head + i));
            for (m, row) in self.rows[..side * side].chunks_exact_mut(side).enumerate() {
                let row = &mut row[head..head + LANES];
                for i in 0..LANES {
                    row[i] = from[i][m];
                }
            }
            head += LANES;
        }
        for head in head..side {
            let from = scores.row(head);
            for m in 0..side {
                self.rows[m * side + head] = from[m];
            }
        }
        for m in 0..side {
            self.rows[m * side + m] = NONE;
        }
    }

    /// Chooses an arc into every node, contracting the cycles, until all hang from the root.
    /// Returns false if some node has no arc left.
    #[inline(always)]
    fn grow(&mut self, scores: &ArcMatrix, roots: Roots) -> bool {
        let side = self.words + 1;
        self.owner.clear();
        self.owner.extend(0..side as u32);
        self.parent.clear();
        self.parent.extend(0..side);
        self.visit.clear();
        self.visit.resize(side, Visit::Unseen);
        self.visit[0] = Visit::Done;
        self.entering.clear();
        self.entering.resize(side, InArc { head: 0, modifier: 0, weight: NONE });

        for word in 1..side {
            let mut node = self.owner[word] as usize;
            if self.visit[node] == Visit::Done {
                continue;
            }
            self.path.clear();
            loop {
                // `node` is not on the path yet.
                self.path.push(node);
                self.visit[node] = Visit::OnPath;
                let arc = self.best_arc(scores, roots, node);
                if arc.weight == NONE {
                    return false;
                }
                self.entering[node] = arc;
                let from = self.owner[arc.head] as usize;
                node = match self.visit[from] {
                    Visit::Done => break,
                    Visit::Unseen => from,
                    Visit::OnPath => self.contract_cycle(scores, from),
                };
            }
            for &node in &self.path {
                self.visit[node] = Visit::Done;
            }
        }
        true
    }

    /// Returns the best arc into an outermost node; the smallest head on ties.
    #[inline(always)]
    fn best_arc(&self, scores: &ArcMatrix, roots: Roots, node: usize) -> InArc {
        let (head, weight, root) = if node <= self.words {
            (self.best_head[node] as usize, self.best_weight[node], scores[(0, node)])
        } else {
            let row = self.row(node);
            let (head, weight) = first_max(&row[1..]);
            (head + 1, weight, row[0])
        };
        let take_root = match roots {
            Roots::Multi => root >= weight,
            Roots::Single => weight == NONE,
        };
        let (head, weight) = if take_root { (0, root) } else { (head, weight) };
        InArc { head, modifier: self.modifier(node, head), weight }
    }

    /// Contracts the end of the path, starting at `first`, to a new node, and removes it from the path.
    #[inline(always)]
    fn contract_cycle(&mut self, scores: &ArcMatrix, first: usize) -> usize {
        if !self.has_word_rows {
            self.transpose(scores);
        }
        let side = self.words + 1;
        let cycle = self.parent.len();
        let (rows, new_row) = self.rows.split_at_mut(cycle * side);
        let (modifiers, new_modifiers) = self.modifiers.split_at_mut((cycle - side) * side);
        let new_row = &mut new_row[..side];
        let new_modifiers = &mut new_modifiers[..side];
        let owner = &mut self.owner[..side];
        new_row.fill(NONE);
        while let Some(member) = self.path.pop() {
            let price = self.entering[member].weight;
            let row = &rows[member * side..][..side];
            if member < side {
                let word = member as u32;
                for h in 0..side {
                    let weight = row[h] - price;
                    let better = weight > new_row[h];
                    new_row[h] = if better { weight } else { new_row[h] };
                    new_modifiers[h] = if better { word } else { new_modifiers[h] };
                }
                owner[member] = cycle as u32;
            } else {
                let entered = &modifiers[(member - side) * side..][..side];
                for h in 0..side {
                    let weight = row[h] - price;
                    let better = weight > new_row[h];
                    new_row[h] = if better { weight } else { new_row[h] };
                    new_modifiers[h] = if better { entered[h] } else { new_modifiers[h] };
                }
                for h in 0..side {
                    owner[h] = if owner[h] == member as u32 { cycle as u32 } else { owner[h] };
                }
            }
            self.parent[member] = cycle;
            if member == first {
                break;
            }
        }
        for h in 0..side {
            new_row[h] = if owner[h] == cycle as u32 { NONE } else { new_row[h] };
        }
        self.parent.push(cycle);
        self.visit.push(Visit::Unseen);
        self.entering.push(InArc { head: 0, modifier: 0, weight: NONE });
        cycle
    }

    /// Opens the nodes from the last to the first and writes the heads. O(n): every node is opened at
    /// most once.
    #[inline(always)]
    pub(super) fn expand(&mut self, heads: &mut Vec<usize>) {
        heads.clear();
        heads.resize(self.words, 0);
        self.opened.clear();
        self.opened.resize(self.parent.len(), false);
        for node in self.nodes().rev() {
            if self.opened[node] {
                continue;
            }
            let arc = self.entering[node];
            heads[arc.modifier - 1] = arc.head;
            let mut inner = arc.modifier;
            while inner != node {
                self.opened[inner] = true;
                inner = self.parent[inner];
            }
        }
    }
}

/// Returns the index of the first maximum and its value; (0, −∞) if nothing is above −∞.
#[inline(always)]
fn first_max(values: &[f64]) -> (usize, f64) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lane_max = [NONE; LANES];
    let mut lane_chunk = [0u64; LANES];
    for (index, chunk) in chunks.iter().enumerate() {
        for lane in 0..LANES {
            let better = chunk[lane] > lane_max[lane];
            lane_max[lane] = if better { chunk[lane] } else { lane_max[lane] };
            lane_chunk[lane] = if better { index as u64 } else { lane_chunk[lane] };
        }
    }
    let mut at = 0;
    let mut max = NONE;
    for lane in 0..LANES {
        let index = lane_chunk[lane] as usize * LANES + lane;
        if lane_max[lane] > max || (lane_max[lane] == max && max > NONE && index < at) {
            (at, max) = (index, lane_max[lane]);
        }
    }
    for (index, &value) in rest.iter().enumerate() {
        if value > max {
            (at, max) = (chunks.len() * LANES + index, value);
        }
    }
    (at, max)
}

#[cfg(test)]
pub(super) mod tests;
