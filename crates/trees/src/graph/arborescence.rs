//! The best tree of a sparse graph: Edmonds (1967) with mergeable heaps, O(m log m).
//!
//! Grow a path backwards along best incoming arcs until it meets the tree. If the path closes a
//! cycle, contract the cycle: meld the heaps of its members' incoming arcs. Each arc is lowered by
//! the weight of the arc that the member would give up (Tarjan 1977; Gabow, Galil, Spencer & Tarjan
//! 1986). Then undo the contractions from the last to the first to find the arc that each cycle gives
//! up. Heaps are skew heaps (Sleator & Tarjan 1986) with a pending amount to add at every node. Ties
//! between arcs into a node go to the arc from outside, then to the one with the smallest parent.

use super::sparse::Local;

const NONE: usize = usize::MAX;

/// Returns the head of each word: 0 for an arc from outside and h + 1 for word h. Every word must be
/// reachable from outside.
pub(super) fn best_heads(local: &Local) -> Vec<usize> {
    let k = local.words();
    let mut search = Search::new(local);
    let mut mark = vec![NONE; k]; // the start of the last walk that met a (contracted) node
    let mut done = vec![false; k];
    let mut entering = vec![NONE; k]; // the arc chosen into a (contracted) node
    let mut contractions: Vec<Contraction> = Vec::new();
    for start in 0..k {
        let mut node = search.find(start);
        let mut path: Vec<(usize, usize)> = Vec::new(); // (node, arc into it)
        while !done[node] {
            let Some(arc) = search.take_best(node) else { break };
            path.push((node, arc));
            mark[node] = start;
            if search.tail[arc] == NONE {
                break;
            }
            let from = search.find(search.tail[arc]);
            if mark[from] != start || done[from] {
                node = from;
                continue;
            }
            let at = path.iter().rposition(|&(member, _)| member == from).unwrap_or(0);
            let cycle = path.split_off(at);
            let time = search.joins.len();
            let mut heap = NONE;
            for &(member, _) in &cycle {
                heap = search.meld(heap, search.heap[member]);
            }
            node = cycle[0].0;
            for &(member, _) in &cycle[1..] {
                node = search.join(node, member);
            }
            search.heap[node] = heap;
            mark[node] = NONE;
            let arcs = cycle.iter().map(|&(_, arc)| arc).collect();
            contractions.push(Contraction { node, time, arcs });
        }
        for &(node, arc) in &path {
            entering[node] = arc;
            done[node] = true;
        }
    }
    for Contraction { node, time, arcs } in contractions.into_iter().rev() {
        let arc = entering[node];
        search.undo_joins(time);
        for inner in arcs {
            let member = search.find(search.head[inner]);
            entering[member] = inner;
        }
        let entered = search.find(search.head[arc]);
        entering[entered] = arc;
    }
    let head = |&arc: &usize| search.tail.get(arc).map_or(0, |&tail| tail.wrapping_add(1));
    entering.iter().map(head).collect()
}

/// A cycle that was contracted into one node.
struct Contraction {
    node: usize,
    /// The number of joins before it.
    time: usize,
    /// The arc into each member.
    arcs: Vec<usize>,
}

/// Heaps of incoming arcs and a disjoint-set forest whose joins can be undone.
struct Search {
    /// The ends of each arc; the tail is `NONE` if it is outside.
    tail: Vec<usize>,
    head: Vec<usize>,
    /// The value of each arc.
    value: Vec<f64>,
    /// The amount still to be added to each arc and to the arcs below it in the heap.
    pending: Vec<f64>,
    /// The children of each arc in the heap.
    left: Vec<usize>,
    right: Vec<usize>,
    /// By node: the root of its heap.
    heap: Vec<usize>,
    /// The disjoint-set forest: without path compression, so that joins can be undone; joined by size,
    /// so that paths are short.
    above: Vec<usize>,
    size: Vec<usize>,
    joins: Vec<usize>,
}

impl Search {
    fn new(local: &Local) -> Self {
        let k = local.words();
        let m = local.parent.len() + k;
        let mut search = Search {
            tail: Vec::with_capacity(m),
            head: Vec::with_capacity(m),
            value: Vec::with_capacity(m),
            pending: vec![0.0; m],
            left: vec![NONE; m],
            right: vec![NONE; m],
            heap: vec![NONE; k],
            above: (0..k).collect(),
            size: vec![1; k],
            joins: Vec::new(),
        };
        for word in 0..k {
            search.push(NONE, word, local.log_outside[word]);
            for arc in local.start[word]..local.start[word + 1] {
                search.push(local.parent[arc], word, local.log_weight[arc]);
            }
        }
        search
    }

    fn push(&mut self, tail: usize, head: usize, value: f64) {
        if value == f64::NEG_INFINITY {
            return;
        }
        let arc = self.tail.len();
        self.tail.push(tail);
        self.head.push(head);
        self.value.push(value);
        self.heap[head] = self.meld(self.heap[head], arc);
    }

    /// Adds the pending amount of an arc to its value and passes it on to its children.
    fn settle(&mut self, arc: usize) {
        let amount = std::mem::replace(&mut self.pending[arc], 0.0);
        if amount != 0.0 {
            self.value[arc] += amount;
            for child in [self.left[arc], self.right[arc]] {
                if child != NONE {
                    self.pending[child] += amount;
                }
            }
        }
    }

    /// Melds two heaps along their right spines, without recursion: spines can be long.
    fn meld(&mut self, mut a: usize, mut b: usize) -> usize {
        let mut spine = Vec::new();
        while a != NONE && b != NONE {
            self.settle(a);
            self.settle(b);
            let first = self.value[a].total_cmp(&self.value[b]).then(b.cmp(&a));
            if first.is_lt() {
                std::mem::swap(&mut a, &mut b);
            }
            spine.push(a);
            a = self.right[a];
        }
        let mut merged = if a == NONE { b } else { a };
        while let Some(top) = spine.pop() {
            self.right[top] = self.left[top];
            self.left[top] = merged;
            merged = top;
        }
        merged
    }

    /// Removes the best arc into `node` from outside it; lowers the others by its value.
    fn take_best(&mut self, node: usize) -> Option<usize> {
        loop {
            let arc = self.heap[node];
            if arc == NONE {
                return None;
            }
            self.settle(arc);
            self.heap[node] = self.meld(self.left[arc], self.right[arc]);
            if self.tail[arc] != NONE && self.find(self.tail[arc]) == node {
                continue;
            }
            if self.heap[node] != NONE {
                self.pending[self.heap[node]] -= self.value[arc];
            }
            return Some(arc);
        }
    }

    fn find(&self, mut node: usize) -> usize {
        while self.above[node] != node {
            node = self.above[node];
        }
        node
    }

    /// Joins two roots and returns the root of both.
    fn join(&mut self, a: usize, b: usize) -> usize {
        let (big, small) = if self.size[a] >= self.size[b] { (a, b) } else { (b, a) };
        self.above[small] = big;
        self.size[big] += self.size[small];
        self.joins.push(small);
        big
    }

    fn undo_joins(&mut self, time: usize) {
        while self.joins.len() > time
            && let Some(small) = self.joins.pop()
        {
            let big = self.above[small];
            self.size[big] -= self.size[small];
            self.above[small] = small;
        }
    }
}
