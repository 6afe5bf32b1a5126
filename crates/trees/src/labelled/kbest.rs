//! The k best labelled trees.
//!
//! Group labelled trees by their bare tree. The best of a group takes every arc's best label, so the
//! k best labelled trees lie in the k best groups under best-label scores. Within a group, the next
//! best trees come one label change at a time, and a heap merges the groups. This is the lazy
//! enumeration of a product of sorted lists of Huang & Chiang (2005), which reaches each tree once.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::LabelledArcMatrix;
use crate::ScoredTree;

/// Returns the score, the group and the labels by word of the k best labelled trees. `groups` are the
/// k best trees under best-label scores, best first.
pub(super) fn kbest(
    scores: &LabelledArcMatrix,
    groups: &[ScoredTree],
    k: usize,
) -> Vec<(f64, usize, Vec<usize>)> {
    // Per group and word: the labels of its arc, best first (ties: smaller label first).
    let ranked: Vec<Vec<Vec<usize>>> = groups
        .iter()
        .map(|group| {
            group
                .tree
                .arcs()
                .map(|(head, modifier)| {
                    let cell = scores.cell(head, modifier);
                    let mut labels: Vec<usize> =
                        (0..cell.len()).filter(|&l| cell[l] > f64::NEG_INFINITY).collect();
                    labels.sort_by(|&a, &b| cell[b].total_cmp(&cell[a]).then(a.cmp(&b)));
                    labels
                })
                .collect()
        })
        .collect();
    let score = |group: usize, ranks: &[usize]| {
        let arcs = groups[group].tree.arcs();
        let labels = arcs.zip(&ranked[group]).zip(ranks);
        labels
            .map(|(((head, modifier), ranked), &rank)| scores[(head, modifier, ranked[rank])])
            .sum()
    };

    let mut heap = BinaryHeap::new();
    for (group, tree) in groups.iter().enumerate() {
        let ranks = vec![0; tree.tree.words()];
        heap.push(Candidate { score: score(group, &ranks), group, ranks, last: 0 });
    }
    let mut results = Vec::with_capacity(k.min(heap.len()));
    while results.len() < k
        && let Some(Candidate { score: total, group, ranks, last }) = heap.pop()
    {
        // Raise one word's rank at or after the last word raised, so that every combination is pushed once.
        for word in last..ranks.len() {
            if ranks[word] + 1 < ranked[group][word].len() {
                let mut next = ranks.clone();
                next[word] += 1;
                heap.push(Candidate { score: score(group, &next), group, ranks: next, last: word });
            }
        }
        let labels = ranks.iter().zip(&ranked[group]).map(|(&rank, ranked)| ranked[rank]).collect();
        results.push((total, group, labels));
    }
    results
}

/// One labelled tree waiting to be emitted.
struct Candidate {
    score: f64,
    group: usize,
    ranks: Vec<usize>,
    /// The last word whose rank was raised.
    last: usize,
}

impl Ord for Candidate {
    /// Orders by score. Of ties, the earlier group, then the smaller ranks leave the heap first.
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then_with(|| other.group.cmp(&self.group))
            .then_with(|| other.ranks.cmp(&self.ranks))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}
