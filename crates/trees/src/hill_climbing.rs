//! Local search over trees, for scores that no chart can maximise.
//!
//! The best tree under scores of several arcs is NP-hard to find without projectivity. McDonald & Pereira (2006) take
//! the best projective tree, and then change one head at a time while that raises the score:
//!
//! ```text
//! y ← argmax { s(y′) : y′ differs from y in at most one head }        until y stays
//! ```
//!
//! The result is a local optimum. Each step evaluates fewer than n² trees.

use crate::{Error, ScoredTree, Tree, TreeSet};

/// Changes one head at a time while that raises the score of the tree, and returns the tree that no change improves.
///
/// Of several best changes, the first in the order of [`arcs`](crate::arcs) is made. Changes that leave the set are not considered;
/// so a tree of a single-root set keeps its root word. A change to a score that is NaN is not an improvement.
///
/// ```
/// use tutte_trees::{ArcMatrix, Part, SecondOrderParts, Tree, TreeSet, hill_climb, second_order_argmax_with};
/// // The best tree crosses: 3 under 1, and 2 under 4.
/// let mut arcs = ArcMatrix::zeros(4);
/// for arc in [(0, 1), (1, 3), (1, 4), (4, 2)] {
///     arcs[arc] = 2.0;
/// }
/// let mut scores = SecondOrderParts::new(arcs);
/// scores.set(Part::Grandparent { grandparent: 1, head: 4, modifier: 2 }, 1.0)?;
/// let mut heads = Vec::new();
/// let set = TreeSet::ProjectiveSingleRoot;
/// second_order_argmax_with(&scores, set, &mut Default::default(), &mut heads)?;
/// let best = hill_climb(&Tree::new(&heads)?, TreeSet::NonProjectiveSingleRoot, |tree| {
///     scores.sum_over(tree).unwrap_or(f64::NEG_INFINITY)
/// })?;
/// assert_eq!(best.tree.heads(), [0, 4, 1, 1]);
/// assert_eq!(best.score, 9.0);
/// # Ok::<(), tutte_trees::Error>(())
/// ```
///
/// # Errors
/// [`Error::NotATree`] if the start is not in the set.
pub fn hill_climb(
    start: &Tree,
    tree_set: TreeSet,
    mut score: impl FnMut(&Tree) -> f64,
) -> Result<ScoredTree, Error> {
    start.check_in(tree_set)?;
    let mut best = ScoredTree { score: score(start), tree: start.clone() };
    loop {
        let mut better: Option<ScoredTree> = None;
        for (head, modifier) in crate::arcs(start.words()) {
            let Some(tree) = with_head(&best.tree, head, modifier, tree_set) else { continue };
            let score = score(&tree);
            let highest = better.as_ref().map_or(best.score, |better| better.score);
            if score > highest {
                better = Some(ScoredTree { tree, score });
            }
        }
        match better {
            Some(better) => best = better,
            None => return Ok(best),
        }
    }
}

/// Returns the tree in which a word has another head, if that is a tree of the set.
fn with_head(tree: &Tree, head: usize, modifier: usize, tree_set: TreeSet) -> Option<Tree> {
    if tree.head(modifier) == Some(head) || tree.descends(head, modifier) {
        return None;
    }
    let mut heads = tree.heads().to_vec();
    heads[modifier - 1] = head;
    let tree = Tree::from_decoder(heads);
    tree.check_in(tree_set).is_ok().then_some(tree)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArcMatrix, Part, SecondOrderParts, oracle};

    /// Scores of all parts that look random, some of them extreme or forbidden.
    fn any_scores(words: usize, seed: usize, scale: f64) -> SecondOrderParts {
        let mut state = 0x9E37_79B9_7F4A_7C15u64.wrapping_mul(seed as u64 + 1);
        SecondOrderParts::from_fn(words, |part| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            let value = (state >> 40) as f64 / (1u64 << 24) as f64 - 0.5;
            let is_forbidden = matches!(part, Part::Arc { head: 1.., .. }) && value < -0.4;
            if is_forbidden { f64::NEG_INFINITY } else { scale * value }
        })
    }

    fn distance(a: &Tree, b: &Tree) -> usize {
        a.heads().iter().zip(b.heads()).filter(|(a, b)| a != b).count()
    }

    /// By enumeration: no neighbour of the result is better, and the result is not worse than the start.
    #[test]
    fn the_result_is_a_local_optimum() {
        for tree_set in TreeSet::ALL {
            for words in 0..=4 {
                for (seed, scale) in (0..6).flat_map(|seed| [(seed, 1.0), (seed, 1e12)]) {
                    let scores = any_scores(words, seed, scale);
                    let score = |tree: &Tree| scores.sum_over(tree).unwrap();
                    let trees = oracle::all_trees(words, tree_set);
                    for start in &trees {
                        let found = hill_climb(start, tree_set, score).unwrap();
                        assert!(found.tree.check_in(tree_set).is_ok());
                        assert_eq!(found.score, score(&found.tree));
                        assert!(found.score >= score(start));
                        let neighbours = trees.iter().filter(|t| distance(t, &found.tree) == 1);
                        for tree in neighbours {
                            assert!(score(tree) <= found.score, "{start:?} {found:?} {tree:?}");
                        }
                    }
                }
            }
        }
    }

    /// Every step takes the best change, so the first one leads to the best neighbour.
    #[test]
    fn the_best_change_comes_first() {
        let set = TreeSet::NonProjectiveMultiRoot;
        let scores = any_scores(4, 3, 1.0);
        let score = |tree: &Tree| scores.sum_over(tree).unwrap();
        let trees = oracle::all_trees(4, set);
        for start in &trees {
            let near = trees.iter().filter(|tree| distance(tree, start) <= 1);
            let best = near.map(score).fold(f64::NEG_INFINITY, f64::max);
            let mut evaluated = Vec::new();
            hill_climb(start, set, |tree| {
                evaluated.push(tree.clone());
                score(tree)
            })
            .unwrap();
            let after = evaluated.iter().skip(1).take_while(|tree| distance(tree, start) == 1);
            let first_step = after.map(score).fold(score(start), f64::max);
            assert_eq!(first_step, best);
        }
    }

    /// With arc scores and several roots, every local optimum that is reached from the best tree is that tree.
    #[test]
    fn the_best_tree_stays() {
        for tree_set in TreeSet::ALL {
            let arcs = ArcMatrix::from_fn(5, |head, word| ((7 * head + 3 * word) % 5) as f64);
            let best = crate::TreeDistribution::new(arcs.clone(), tree_set).unwrap();
            let best = best.argmax();
            let found =
                hill_climb(&best.tree, tree_set, |tree| arcs.sum_over(tree).unwrap()).unwrap();
            assert_eq!((&found.tree, found.score), (&best.tree, best.score));
        }
    }

    #[test]
    fn a_start_outside_of_the_set_is_refused() {
        let crossing = Tree::new(&[3, 4, 0, 3]).unwrap();
        let error = hill_climb(&crossing, TreeSet::ProjectiveSingleRoot, |_| 0.0).unwrap_err();
        assert!(matches!(error, Error::NotATree(_)), "{error}");
        let same = hill_climb(&crossing, TreeSet::NonProjectiveSingleRoot, |_| f64::NAN).unwrap();
        assert_eq!(same.tree, crossing);
    }
}
