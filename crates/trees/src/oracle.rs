//! Brute force: every answer by enumerating all trees, to check the fast algorithms.
//!
//! A sentence of n words has at most (n+1)^(n−1) trees, so this is for n ≤ 6 or so. The code is kept
//! simple on purpose. Compiled for tests and behind the feature `oracle`.
//!
//! ```
//! use tutte_trees::{oracle, ArcMatrix, TreeSet};
//! assert_eq!(oracle::all_trees(4, TreeSet::ProjectiveSingleRoot).len(), 30);
//! let z = oracle::log_partition(&ArcMatrix::zeros(3), TreeSet::NonProjectiveMultiRoot);
//! assert!((z - 16f64.ln()).abs() < 1e-12);
//! ```

use crate::{ArcMatrix, Tree, TreeSet};

/// Every tree of `tree_set` over `words` words, in lexicographic order of heads.
pub fn all_trees(words: usize, tree_set: TreeSet) -> Vec<Tree> {
    let mut trees = Vec::new();
    let mut heads = vec![0; words];
    loop {
        if let Ok(tree) = Tree::new(&heads)
            && tree.check_in(tree_set).is_ok()
        {
            trees.push(tree);
        }
        // Count up in base n+1, last word fastest.
        let Some(last) = heads.iter().rposition(|&head| head < words) else { return trees };
        heads[last] += 1;
        heads[last + 1..].fill(0);
    }
}

/// Every tree with a finite score, and its score, in lexicographic order of heads.
pub fn scored_trees(scores: &ArcMatrix, tree_set: TreeSet) -> Vec<(f64, Tree)> {
    all_trees(scores.words(), tree_set)
        .into_iter()
        .map(|tree| (tree.arcs().map(|arc| scores[arc]).sum::<f64>(), tree))
        .filter(|(score, _)| *score > f64::NEG_INFINITY)
        .collect()
}

/// log Σ_y exp(score of y); −∞ if there is no tree.
pub fn log_partition(scores: &ArcMatrix, tree_set: TreeSet) -> f64 {
    let trees = scored_trees(scores, tree_set);
    let best = trees.iter().fold(f64::NEG_INFINITY, |best, (score, _)| best.max(*score));
    if best == f64::NEG_INFINITY {
        return best;
    }
    best + trees.iter().map(|(score, _)| (score - best).exp()).sum::<f64>().ln()
}

/// Every tree with its probability.
pub fn distribution(scores: &ArcMatrix, tree_set: TreeSet) -> Vec<(f64, Tree)> {
    let log_z = log_partition(scores, tree_set);
    scored_trees(scores, tree_set)
        .into_iter()
        .map(|(score, tree)| ((score - log_z).exp(), tree))
        .collect()
}

/// E[f(y)] for any function of a tree.
pub fn expectation(scores: &ArcMatrix, tree_set: TreeSet, f: impl Fn(&Tree) -> f64) -> f64 {
    distribution(scores, tree_set).iter().map(|(p, tree)| p * f(tree)).sum()
}

/// The probability of each arc; zeros if there is no tree.
pub fn marginals(scores: &ArcMatrix, tree_set: TreeSet) -> ArcMatrix {
    let mut marginals = ArcMatrix::zeros(scores.words());
    for (p, tree) in distribution(scores, tree_set) {
        for arc in tree.arcs() {
            marginals[arc] += p;
        }
    }
    marginals
}

/// Cov(F, G) of two functions of a tree, from centred values.
pub fn covariance(
    scores: &ArcMatrix,
    tree_set: TreeSet,
    f: impl Fn(&Tree) -> f64,
    g: impl Fn(&Tree) -> f64,
) -> f64 {
    let mean_f = expectation(scores, tree_set, &f);
    let mean_g = expectation(scores, tree_set, &g);
    expectation(scores, tree_set, |tree| (f(tree) - mean_f) * (g(tree) - mean_g))
}

/// −Σ p ln p, from scores so that tiny probabilities keep their digits.
pub fn entropy(scores: &ArcMatrix, tree_set: TreeSet) -> f64 {
    let log_z = log_partition(scores, tree_set);
    scored_trees(scores, tree_set)
        .iter()
        .map(|(score, _)| {
            let log_p = score - log_z;
            -log_p.exp() * log_p
        })
        .sum()
}

/// All trees by decreasing score; ties in lexicographic order of heads.
pub fn ranked(scores: &ArcMatrix, tree_set: TreeSet) -> Vec<(f64, Tree)> {
    let mut trees = scored_trees(scores, tree_set);
    trees.sort_by(|(a, s), (b, t)| b.total_cmp(a).then_with(|| s.cmp(t)));
    trees
}
