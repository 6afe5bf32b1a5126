//! The k best trees, lazily (Huang & Chiang 2005, *Better k-best Parsing*, algorithm 3).
//!
//! The (max, +) chart gives the best derivation of every item. The next best of an item is found
//! only when needed. Its candidates are triples (split, rank of the left part, rank of the right part)
//! in a heap; popping one pushes the triples directly after it. A tree has one derivation, so the k
//! best derivations of the top are the k best trees. O(n³) for the chart, then for each tree
//! O(n log k) steps and the O(n) splits of each item that is visited for the first time.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::argmax::{Best, best_chart};
use super::chart::{Chart, Item};
use crate::ArcMatrix;
use crate::tree_set::Roots;
use crate::weight::Semiring;

/// Returns the `k` best trees with their scores, best first; fewer if there are fewer trees.
pub(crate) fn kbest(scores: &ArcMatrix, roots: Roots, k: usize) -> Vec<(f64, Vec<usize>)> {
    let mut chart = Chart::default();
    if best_chart(&mut chart, scores, roots) == Best::zero() {
        return Vec::new();
    }
    let side = scores.words() + 1;
    let lists = vec![Ranked::default(); 2 * side * side];
    let mut lazy = Lazy { chart: &chart, scores, lists };
    let mut trees = Vec::new();
    while trees.len() < k && lazy.score(chart.top(), trees.len()).is_some() {
        let heads = lazy.heads(trees.len());
        let score = heads.iter().enumerate().map(|(index, &head)| scores[(head, index + 1)]).sum();
        trees.push((score, heads));
    }
    // Sums in the chart are taken in another order: equal scores may differ by an ulp.
    trees.sort_by(|(a, _): &(f64, _), (b, _)| b.total_cmp(a));
    trees
}

/// A way to build an item: a split, and the rank of the derivation of each part.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Derivation {
    score: f64,
    split: usize,
    ranks: (usize, usize),
}

impl Eq for Derivation {}

impl Ord for Derivation {
    /// Orders by score; among equals, the first split and the first ranks are greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |d: &Self| Reverse((d.split, d.ranks));
        self.score.total_cmp(&other.score).then_with(|| place(self).cmp(&place(other)))
    }
}

impl PartialOrd for Derivation {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best derivations of one item found so far, and the candidates for the next.
#[derive(Clone, Debug, Default)]
struct Ranked {
    started: bool,
    found: Vec<Derivation>,
    candidates: BinaryHeap<Derivation>,
}

struct Lazy<'a> {
    chart: &'a Chart<Best>,
    scores: &'a ArcMatrix,
    lists: Vec<Ranked>,
}

impl Lazy<'_> {
    fn list(&mut self, item: Item) -> &mut Ranked {
        let side = self.scores.words() + 1;
        let index = match item {
            Item::Complete { head, end } => head * side + end,
            Item::Incomplete { head, modifier } => (side + head) * side + modifier,
        };
        &mut self.lists[index]
    }

    /// The score of an item's derivation number `rank`, counted from 0; `None` if it has fewer.
    fn score(&mut self, item: Item, rank: usize) -> Option<f64> {
        if !self.list(item).started {
            self.start(item);
        }
        while self.list(item).found.len() <= rank {
            self.advance(item)?;
        }
        Some(self.list(item).found[rank].score)
    }

    /// Puts the best derivation of every split among the candidates.
    fn start(&mut self, item: Item) {
        let arc = self.arc_score(item);
        let (a, b) = self.chart.splits(item);
        let candidates = a.iter().zip(b).enumerate().filter_map(|(split, (x, y))| {
            let score = x.0 + y.0 + arc;
            (score > f64::NEG_INFINITY).then_some(Derivation { score, split, ranks: (0, 0) })
        });
        let leaf = a.is_empty().then_some(Derivation { score: 0.0, split: 0, ranks: (0, 0) });
        *self.list(item) = Ranked {
            started: true,
            candidates: candidates.collect(),
            found: leaf.into_iter().collect(),
        };
    }

    /// Moves the best candidate to the list, after adding those that follow the previous one.
    fn advance(&mut self, item: Item) -> Option<()> {
        if let Some(&Derivation { split, ranks: (left, right), .. }) = self.list(item).found.last()
            && !self.chart.splits(item).0.is_empty()
        {
            // Right ranks grow freely, left ranks only from right rank 0: each pair comes once.
            self.propose(item, split, (left, right + 1));
            if right == 0 {
                self.propose(item, split, (left + 1, 0));
            }
        }
        let list = self.list(item);
        let best = list.candidates.pop()?;
        list.found.push(best);
        Some(())
    }

    fn propose(&mut self, item: Item, split: usize, ranks: (usize, usize)) {
        let (first, second) = item.parts(split);
        if let Some(left) = self.score(first, ranks.0)
            && let Some(right) = self.score(second, ranks.1)
        {
            let score = left + right + self.arc_score(item);
            self.list(item).candidates.push(Derivation { score, split, ranks });
        }
    }

    fn arc_score(&self, item: Item) -> f64 {
        match item {
            Item::Complete { .. } => 0.0,
            Item::Incomplete { head, modifier } => self.scores[(head, modifier)],
        }
    }

    /// The heads of the whole sentence's derivation number `rank`, which has been found.
    fn heads(&mut self, rank: usize) -> Vec<usize> {
        let mut heads = vec![0; self.scores.words()];
        let mut stack = vec![(self.chart.top(), rank)];
        while let Some((item, rank)) = stack.pop() {
            if let Item::Incomplete { head, modifier } = item {
                heads[modifier - 1] = head;
            }
            if self.chart.splits(item).0.is_empty() {
                continue;
            }
            // Makes sure that the derivation is listed: rank 0 may come from the chart alone.
            self.score(item, rank);
            let Derivation { split, ranks, .. } = self.list(item).found[rank];
            let (first, second) = item.parts(split);
            stack.push((second, ranks.1));
            stack.push((first, ranks.0));
        }
        heads
    }
}
