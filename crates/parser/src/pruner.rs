//! Leaving out hopeless arcs before they are scored.
//!
//! A small model of tags, lemmas and distances scores all arcs; what it finds more than `margin` nats
//! worse than a word's best head is left out, and only the rest is shown to the model proper, whose
//! many templates are what parsing waits for. Nothing is promised of probabilities but this: they
//! are those of the trees that are left (vine pruning with a learnt first pass: Rush & Petrov 2012).
//!
//! Neighbours always stay candidates of each other, and the likeliest word one of the root's: so
//! every tree set has a tree.

use tutte_trees::ArcMatrix;

use crate::features::Prepared;
use crate::{ArcModel, Candidates, Weights};

/// A small model that tells which arcs are worth a look.
#[derive(Clone, Debug)]
pub struct Pruner<W = Vec<f32>> {
    /// Its scores.
    pub arcs: ArcModel<W>,
    /// How far below a word's best head another may score, in nats.
    pub margin: f64,
}

impl<W: Weights> Pruner<W> {
    /// The arcs worth a look, of a sentence made ready with the pruner's features. Leaves its scores
    /// in `scores`.
    pub fn candidates(&self, sentence: &Prepared, scores: &mut ArcMatrix) -> Candidates {
        let words = sentence.words();
        if scores.words() != words {
            *scores = ArcMatrix::zeros(words);
        }
        self.arcs.score(sentence, |_, _| true, scores);
        choose(scores, self.margin)
    }
}

fn choose(scores: &ArcMatrix, margin: f64) -> Candidates {
    let words = scores.words();
    let mut best = vec![f64::NEG_INFINITY; words + 1];
    for head in 0..=words {
        for modifier in (1..=words).filter(|&modifier| modifier != head) {
            best[modifier] = best[modifier].max(scores[(head, modifier)]);
        }
    }
    let mut candidates = Candidates::of(words, |head, modifier| {
        head.abs_diff(modifier) == 1 && head != 0
            || scores[(head, modifier)] >= best[modifier] - margin
    });
    let below = |modifier: &usize| best[*modifier] - scores[(0, *modifier)];
    if let Some(root) = (1..=words).min_by(|a, b| below(a).total_cmp(&below(b))) {
        candidates.allow(0, root);
    }
    candidates
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tutte_trees::{TreeDistribution, TreeSet};

    use super::*;

    #[test]
    fn arcs_far_below_the_best_are_left_out() {
        let scores = ArcMatrix::from_fn(4, |head, modifier| match (head, modifier) {
            (0, 2) | (2, 1) | (2, 3) | (2, 4) => 5.0,
            (1, 4) => 3.0,
            _ => 0.0,
        });
        let candidates = choose(&scores, 2.5);
        let kept = |head, modifier| candidates.allows(head, modifier);
        assert!(kept(0, 2) && kept(2, 4) && kept(1, 4), "good ones");
        assert!(kept(3, 4) && kept(4, 3) && kept(3, 2), "neighbours");
        assert!(!kept(0, 4) && !kept(4, 1) && !kept(1, 3), "{candidates:?}");
    }

    proptest! {
        #[test]
        fn there_is_always_a_tree(
            words in 1usize..9,
            scores in proptest::collection::vec(-30.0..30.0f64, 90),
            margin in 0.0..5.0f64,
        ) {
            let scores = ArcMatrix::from_fn(words, |head, modifier| scores[head * 9 + modifier]);
            let candidates = choose(&scores, margin);
            let left = ArcMatrix::from_fn(words, |head, modifier| {
                match candidates.allows(head, modifier) {
                    true => scores[(head, modifier)],
                    false => f64::NEG_INFINITY,
                }
            });
            for tree_set in TreeSet::ALL {
                prop_assert!(TreeDistribution::new(left.clone(), tree_set).is_ok());
            }
        }
    }
}
