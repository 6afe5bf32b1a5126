//! The k best trees when arcs may cross, exactly, in O(k·n²).
//!
//! **Partition** (Camerini, Fratta & Maffioli 1980; Hamacher & Queyranne 1985; Zmigrod, Vieira &
//! Cotterell 2021). The trees are partitioned into regions, each given by required and forbidden
//! arcs. A region S holds exactly one listed tree T. Choose an arc e of T that the best other tree T₂
//! of S lacks. The region with the best T₂ is next: list T₂, and split S into
//!
//! ```text
//! S and e required:  holds T          S and e forbidden:  holds T₂
//! ```
//!
//! which are again such regions. The splits alone ensure that each tree is listed once. Rounding may
//! affect the order, so the list is sorted at the end.
//!
//! **Second best.** Contract S as [`decode`](super::decode) does. If the tree found is not T (two
//! trees tie), it is T₂, and any arc of T that it lacks is e. Otherwise T₂ differs from T by one
//! swap at one level of the contraction: for every node v that T enters by the arc in\[v\] chosen
//! for it, and every other arc f into v whose head does not descend from v in T,
//!
//! ```text
//! loss(v, f) = w_v(in[v]) − w_v(f)           w_v: weights at the level of v
//! ```
//!
//! The least loss gives e = in\[v\], and opening the nodes with f in its place gives T₂. The arcs
//! into v with other heads than in\[v\]'s are v's row. An arc with the same head and another modifier
//! m is not in the row, because in\[v\] replaced it there. Its weight is θ minus the chosen weights of
//! the nodes between m and v.
//!
//! **One root.** In the lexicographic order of [`decode`](super::decode), all single-root trees
//! come before all others. So the k best of that order are the k best single-root trees as long as
//! there are any. A swap that puts a root arc in the place of another arc would leave the set.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::decode::{DecodeWorkspace, InArc, score};
use crate::ArcMatrix;
use crate::tree_set::Roots;

/// Returns the `k` highest-scoring trees with their scores (plain sums over their arcs), best first;
/// all of them if there are fewer. Trees of score −∞ do not count.
pub(crate) fn kbest(scores: &ArcMatrix, roots: Roots, k: usize) -> Vec<(f64, Vec<usize>)> {
    if k == 0 {
        return Vec::new();
    }
    if scores.words() == 0 {
        return vec![(0.0, Vec::new())];
    }
    let mut search = Search::new(scores, roots);
    let Some(best) = search.best() else { return Vec::new() };
    let mut listed = vec![(score(scores, &best), best)];
    if k > 1 {
        search.push(0, &listed[0].1, 0);
    }
    while listed.len() < k {
        let Some(region) = search.queue.pop() else { break };
        listed.push((region.score, region.second));
        if listed.len() == k {
            break;
        }
        let without = search.constrain(region.constraints, region.arc, false);
        search.push(without, &listed[listed.len() - 1].1, listed.len() - 1);
        let with = search.constrain(region.constraints, region.arc, true);
        search.push(with, &listed[region.holds].1, region.holds);
    }
    // Contracted weights round differently from plain sums: trees that nearly tie may have been found
    // in the wrong order.
    listed.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    listed
}

/// One constraint on the trees of a region. The constraints of a region are a chain in a shared tree.
struct Constraint {
    before: usize,
    /// (head, modifier)
    arc: (usize, usize),
    required: bool,
}

/// Trees that satisfy a chain of constraints, one of them listed.
struct Region {
    /// The score of `second`.
    score: f64,
    /// Later regions come after earlier ones on ties.
    number: usize,
    constraints: usize,
    /// The index of the listed tree that the region holds.
    holds: usize,
    /// An arc of the listed tree that `second` lacks.
    arc: (usize, usize),
    /// The heads of the best other tree.
    second: Vec<usize>,
}

impl Ord for Region {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.number.cmp(&self.number))
    }
}

impl PartialOrd for Region {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Region {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Region {}

struct Search<'a> {
    scores: &'a ArcMatrix,
    roots: Roots,
    queue: BinaryHeap<Region>,
    /// Constraint i is number i + 1; 0 is the empty chain.
    constraints: Vec<Constraint>,
    regions: usize,
    /// The scores of the current region, with excluded arcs at −∞.
    masked: ArcMatrix,
    ws: DecodeWorkspace,
    found: Vec<usize>,
    descent: Descent,
    parallel: Vec<(f64, usize)>,
}

impl<'a> Search<'a> {
    fn new(scores: &'a ArcMatrix, roots: Roots) -> Self {
        Search {
            scores,
            roots,
            queue: BinaryHeap::new(),
            constraints: Vec::new(),
            regions: 0,
            masked: scores.clone(),
            ws: DecodeWorkspace::default(),
            found: Vec::new(),
            descent: Descent::default(),
            parallel: Vec::new(),
        }
    }

    fn best(&mut self) -> Option<Vec<usize>> {
        self.ws.contract(self.scores, self.roots, &mut self.found).then(|| self.found.clone())
    }

    /// Adds one constraint to the chain `before`.
    fn constrain(&mut self, before: usize, arc: (usize, usize), required: bool) -> usize {
        self.constraints.push(Constraint { before, arc, required });
        self.constraints.len()
    }

    /// Queues the region of `constraints`, if it has a tree besides the listed one it holds.
    fn push(&mut self, constraints: usize, listed: &[usize], holds: usize) {
        self.mask(constraints);
        let Some((arc, second)) = self.second(listed) else { return };
        let score = score(self.scores, &second);
        self.regions += 1;
        let number = self.regions;
        self.queue.push(Region { score, number, constraints, holds, arc, second });
    }

    fn mask(&mut self, mut constraints: usize) {
        let n = self.scores.words();
        for head in 0..=n {
            self.masked.row_mut(head).copy_from_slice(self.scores.row(head));
        }
        while constraints > 0 {
            let Constraint { before, arc: (head, modifier), required } =
                self.constraints[constraints - 1];
            if required {
                let kept = self.masked[(head, modifier)];
                for other in 0..=n {
                    self.masked[(other, modifier)] = f64::NEG_INFINITY;
                }
                self.masked[(head, modifier)] = kept;
            } else {
                self.masked[(head, modifier)] = f64::NEG_INFINITY;
            }
            constraints = before;
        }
    }

    /// Returns the best tree under the mask other than `listed`, which is a best one, and an arc of
    /// `listed` that it lacks.
    fn second(&mut self, listed: &[usize]) -> Option<((usize, usize), Vec<usize>)> {
        if !self.ws.contract(&self.masked, self.roots, &mut self.found) {
            return None;
        }
        if let Some(m) = (0..listed.len()).find(|&m| listed[m] != self.found[m]) {
            return Some(((listed[m], m + 1), self.found.clone()));
        }
        let (node, swap) = self.least_loss()?;
        let old = self.ws.entering(node);
        self.ws.set_entering(node, swap);
        self.ws.expand(&mut self.found);
        Some(((old.head, old.modifier), self.found.clone()))
    }

    /// Returns the swap of least loss, as a node and another arc into it; the first on ties.
    fn least_loss(&mut self) -> Option<(usize, InArc)> {
        self.descent.number(&self.found);
        self.find_parallel_arcs();
        let mut least = f64::INFINITY;
        let mut swap = None;
        for node in self.ws.nodes().filter(|&node| self.ws.keeps_its_arc(node)) {
            let old = self.ws.entering(node);
            let (mut weight, mut modifier) = self.parallel[node];
            let mut head = old.head;
            let first_head = usize::from(self.roots == Roots::Single && old.head > 0);
            let row = self.ws.row(node);
            let below = self.descent.below(old.modifier);
            for h in first_head..row.len() {
                if row[h] > weight && h != old.head && !below(h) {
                    (weight, head, modifier) = (row[h], h, 0);
                }
            }
            if weight > f64::NEG_INFINITY && old.weight - weight < least {
                least = old.weight - weight;
                if modifier == 0 {
                    modifier = self.ws.modifier(node, head);
                }
                swap = Some((node, InArc { head, modifier, weight }));
            }
        }
        swap
    }

    /// Finds, for every node, the best arc with the head but not the modifier of the chosen one.
    fn find_parallel_arcs(&mut self) {
        self.parallel.clear();
        self.parallel.resize(self.ws.nodes().end, (f64::NEG_INFINITY, 0));
        for m in 1..=self.masked.words() {
            let mut node = m;
            let mut price = 0.0;
            while let Some(parent) = self.ws.parent(node) {
                price += self.ws.entering(node).weight;
                node = parent;
                let chosen = self.ws.entering(node);
                let weight = self.masked[(chosen.head, m)] - price;
                if m != chosen.modifier && weight > self.parallel[node].0 {
                    self.parallel[node] = (weight, m);
                }
            }
        }
    }
}

/// Numbers of words such that the descendants of each word directly follow it.
#[derive(Default)]
struct Descent {
    number: Vec<usize>,
    size: Vec<usize>,
    first_child: Vec<usize>,
    next_sibling: Vec<usize>,
    stack: Vec<usize>,
}

impl Descent {
    fn number(&mut self, heads: &[usize]) {
        let side = heads.len() + 1;
        for list in
            [&mut self.number, &mut self.size, &mut self.first_child, &mut self.next_sibling]
        {
            list.clear();
            list.resize(side, 0);
        }
        for (m, &head) in heads.iter().enumerate() {
            self.next_sibling[m + 1] = self.first_child[head];
            self.first_child[head] = m + 1;
        }
        self.stack.clear();
        self.stack.push(0);
        let mut next = 0;
        // A word is numbered on the way down and sized on the way up.
        while let Some(&word) = self.stack.last() {
            if self.size[word] == 0 {
                self.number[word] = next;
                next += 1;
                self.size[word] = usize::MAX;
                let mut child = self.first_child[word];
                while child > 0 {
                    self.stack.push(child);
                    child = self.next_sibling[child];
                }
            } else {
                self.size[word] = next - self.number[word];
                self.stack.pop();
            }
        }
    }

    /// Returns a test that is true for `ancestor` and its descendants.
    fn below(&self, ancestor: usize) -> impl Fn(usize) -> bool {
        let (first, size) = (self.number[ancestor], self.size[ancestor]);
        move |word| self.number[word].wrapping_sub(first) < size
    }
}

#[cfg(test)]
mod tests;
