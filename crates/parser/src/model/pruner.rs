//! The pruner, which leaves out improbable arcs before they are scored.
//!
//! A small model of tags, lemmas and distances computes the marginals of all arcs. An arc much less
//! probable than the best head of the same word is left out. Only the rest is scored by the full
//! model, whose many templates dominate the cost of parsing (coarse to fine with marginals: Charniak et
//! al. 2006; with a learnt first pass: Rush & Petrov 2012). Probabilities are then those of the
//! remaining trees.
//!
//! Neighbours always stay candidates of each other, and the most probable root word stays a candidate of
//! the root. So every tree set has a tree.

use tutte_trees::{ArcMatrix, Error, TreeSet, Workspace, arcs, marginals_with, mbr_with};

use crate::features::Prepared;
use crate::{ArcModel, Candidates, Weights};

/// A small model that selects candidate arcs.
#[derive(Clone, Debug)]
pub struct Pruner<W = Vec<f32>> {
    /// The arc scorer.
    pub arcs: ArcModel<W>,
    /// Smallest marginal of a candidate arc, as a share of the marginal of the word's best head.
    pub threshold: f64,
}

/// Scratch memory of a pruner.
#[derive(Debug, Default)]
pub(crate) struct PrunerMemory {
    scores: ArcMatrix,
    marginals: ArcMatrix,
    workspace: Workspace,
}

impl PrunerMemory {
    /// Returns the marginals of all arcs of the last sentence.
    pub(crate) fn marginals(&self) -> &ArcMatrix {
        &self.marginals
    }
}

impl<W: Weights> Pruner<W> {
    /// Selects the candidate arcs of a sentence that was prepared with the pruner's features.
    ///
    /// # Errors
    /// If its scores are not finite.
    pub(crate) fn candidates(
        &self,
        sentence: &Prepared,
        tree_set: TreeSet,
        memory: &mut PrunerMemory,
    ) -> Result<Candidates, Error> {
        let PrunerMemory { scores, marginals, workspace } = memory;
        scores.reset(sentence.words(), f64::NEG_INFINITY);
        self.arcs.score(sentence, |_, _| true, scores);
        marginals_with(scores, tree_set, workspace, marginals)?;
        Ok(choose(marginals, self.threshold))
    }

    /// Selects the candidate arcs among those that are allowed. The pruner's distribution is conditioned on them. Its
    /// best tree stays, so that the candidates contain a tree.
    ///
    /// # Errors
    /// If the allowed arcs contain no tree.
    pub(crate) fn candidates_within(
        &self,
        sentence: &Prepared,
        allowed: &Candidates,
        tree_set: TreeSet,
        memory: &mut PrunerMemory,
    ) -> Result<Candidates, Error> {
        let PrunerMemory { scores, marginals, workspace } = memory;
        scores.reset(sentence.words(), f64::NEG_INFINITY);
        self.arcs.score(sentence, |head, word| allowed.allows(head, word), scores);
        marginals_with(scores, tree_set, workspace, marginals)?;
        let mut heads = Vec::with_capacity(sentence.words());
        mbr_with(scores, marginals, tree_set, workspace, &mut heads)?;
        let mut candidates = choose(marginals, self.threshold);
        candidates.restrict(allowed);
        for (word, &head) in (1..).zip(&heads) {
            candidates.allow(head, word);
        }
        Ok(candidates)
    }
}

/// Selects the candidate arcs from the marginals of all arcs.
pub(crate) fn choose(marginals: &ArcMatrix, threshold: f64) -> Candidates {
    let words = marginals.words();
    let mut least = vec![0f64; words + 1];
    for (head, modifier) in arcs(words) {
        least[modifier] = least[modifier].max(threshold * marginals[(head, modifier)]);
    }
    let mut candidates = Candidates::of(words, |head, modifier| {
        head.abs_diff(modifier) == 1 && head != 0 || marginals[(head, modifier)] >= least[modifier]
    });
    let as_root = |word: &usize| marginals[(0, *word)];
    if let Some(root) = (1..=words).max_by(|a, b| as_root(a).total_cmp(&as_root(b))) {
        candidates.allow(0, root);
    }
    candidates
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tutte_trees::TreeDistribution;

    use super::*;

    #[test]
    fn improbable_arcs_are_left_out() {
        let mut marginals = ArcMatrix::zeros(4);
        for (arc, marginal) in [
            ((0, 2), 0.9),
            ((0, 4), 0.004),
            ((2, 1), 1.0),
            ((2, 3), 1.0),
            ((2, 4), 0.8),
            ((1, 4), 0.1),
        ] {
            marginals[arc] = marginal;
        }
        let candidates = choose(&marginals, 0.01);
        let kept = |head, modifier| candidates.allows(head, modifier);
        assert!(kept(0, 2) && kept(2, 4) && kept(1, 4), "probable ones");
        assert!(kept(3, 4) && kept(4, 3) && kept(3, 2), "neighbours");
        assert!(!kept(0, 4) && !kept(4, 1) && !kept(1, 3), "{candidates:?}");
    }

    proptest! {
        #[test]
        fn there_is_always_a_tree(
            words in 1usize..9,
            scores in proptest::collection::vec(-30.0..30.0f64, 90),
            threshold in 0.0..1.0f64,
        ) {
            let scores = ArcMatrix::from_fn(words, |head, modifier| scores[head * 9 + modifier]);
            for tree_set in TreeSet::ALL {
                let distribution = TreeDistribution::new(scores.clone(), tree_set).unwrap();
                let candidates = choose(distribution.marginals(), threshold);
                let left = ArcMatrix::from_fn(words, |head, modifier| {
                    if candidates.allows(head, modifier) {
                        scores[(head, modifier)]
                    } else {
                        f64::NEG_INFINITY
                    }
                });
                prop_assert!(TreeDistribution::new(left, tree_set).is_ok());
            }
        }
    }
}
