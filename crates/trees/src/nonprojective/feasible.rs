//! Existence of a tree, and the words that prevent one. O(n²).
//!
//! Several roots: a tree exists iff every word can be reached from the root over allowed arcs.
//!
//! One root: its only child must reach every other word over arcs between words. Among the
//! strongly connected groups of words (Kosaraju & Sharir 1981), consider those that no word outside
//! enters. The child must lie in such a group, and there must be only one. If every word can be
//! reached from the root and there is one such group, the root has an arc into it, and a tree exists.
//! If there are two or more, each needs its own root arc, and there is no tree.

use crate::ArcMatrix;
use crate::tree_set::Roots;

/// Returns the words that cannot be attached, increasing; empty iff a tree exists.
///
/// These are the words that the root cannot reach. It may reach all words while a single-root tree
/// would need several root arcs. Then they are the words of the groups that only the root enters.
pub(crate) fn unattachable(scores: &ArcMatrix, roots: Roots) -> Vec<usize> {
    let n = scores.words();
    let mut reached = vec![false; n + 1];
    let mut order = Vec::with_capacity(n + 1);
    search(0, &mut reached, &mut order, |head, m| m > 0 && allowed(scores, head, m));
    let unreached: Vec<usize> = (1..=n).filter(|&word| !reached[word]).collect();
    if !unreached.is_empty() || roots == Roots::Multi {
        return unreached;
    }

    // Words in the order in which a depth-first search leaves them.
    let mut seen = vec![false; n + 1];
    order.clear();
    for word in 1..=n {
        if !seen[word] {
            search(word, &mut seen, &mut order, |head, m| m > 0 && allowed(scores, head, m));
        }
    }
    // In the reverse of that order, each search against the arcs collects one group.
    seen.fill(false);
    let mut group = Vec::with_capacity(n);
    let mut entered_from_root = Vec::new();
    let mut groups = 0;
    for &word in order.iter().rev() {
        if seen[word] {
            continue;
        }
        group.clear();
        search(word, &mut seen, &mut group, |m, head| head > 0 && allowed(scores, head, m));
        let mut inside = vec![false; n + 1];
        for &member in &group {
            inside[member] = true;
        }
        let from_outside = |&m: &usize| (1..=n).any(|h| !inside[h] && allowed(scores, h, m));
        if !group.iter().any(from_outside) {
            groups += 1;
            entered_from_root.extend_from_slice(&group);
        }
    }
    if groups == 1 || n == 0 {
        return Vec::new();
    }
    entered_from_root.sort_unstable();
    entered_from_root
}

/// Marks the words that are the root word of some single-root tree; entry 0 is unused. There must be
/// such a tree.
pub(crate) fn possible_root_words(scores: &ArcMatrix) -> Vec<bool> {
    let n = scores.words();
    let mut order = Vec::with_capacity(n + 1);
    // Some word reaches all others, so the last word from which a search had to start does.
    let mut seen = vec![false; n + 1];
    let mut reaches_all = 0;
    for word in 1..=n {
        if !seen[word] {
            search(word, &mut seen, &mut order, |head, m| m > 0 && allowed(scores, head, m));
            reaches_all = word;
        }
    }
    // So do the words that reach it.
    seen.fill(false);
    search(reaches_all, &mut seen, &mut order, |m, head| {
        m > 0 && head > 0 && allowed(scores, head, m)
    });
    for (word, possible) in seen.iter_mut().enumerate() {
        *possible &= word > 0 && allowed(scores, 0, word);
    }
    seen
}

fn allowed(scores: &ArcMatrix, head: usize, modifier: usize) -> bool {
    head != modifier && scores[(head, modifier)] > f64::NEG_INFINITY
}

/// Depth-first search from `start`; nodes are appended to `left` when the search leaves them.
fn search(
    start: usize,
    seen: &mut [bool],
    left: &mut Vec<usize>,
    is_arc: impl Fn(usize, usize) -> bool,
) {
    seen[start] = true;
    // Each node on the path, with the next neighbour to try.
    let mut way = vec![(start, 0)];
    while let Some((node, next)) = way.last_mut() {
        if *next == seen.len() {
            left.push(*node);
            way.pop();
            continue;
        }
        let (from, to) = (*node, *next);
        *next += 1;
        if !seen[to] && is_arc(from, to) {
            seen[to] = true;
            way.push((to, 0));
        }
    }
}

#[cfg(test)]
mod tests;
