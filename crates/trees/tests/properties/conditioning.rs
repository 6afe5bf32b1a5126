//! Conditioning on constraints.

use proptest::prelude::*;
use tutte_trees::{ArcMatrix, Constraints, Error, Tree, TreeDistribution, TreeSet};

use super::support::*;

/// A few arcs to require and to forbid.
struct Known {
    required: Vec<(usize, usize)>,
    forbidden: Vec<(usize, usize)>,
}

impl Known {
    fn random(random: &mut Random, words: usize) -> Self {
        let require = random.below(3);
        let forbid = random.below(4);
        let mut arcs = |count| (0..count).map(|_| random.arc(words)).collect();
        Known { required: arcs(require), forbidden: arcs(forbid) }
    }

    fn constraints(&self) -> Constraints {
        let mut known = Constraints::new();
        for &(head, modifier) in &self.required {
            known = match head {
                0 => known.require_root(modifier),
                _ => known.require_arc(head, modifier),
            };
        }
        for &(head, modifier) in &self.forbidden {
            known = match head {
                0 => known.forbid_root(modifier),
                _ => known.forbid_arc(head, modifier),
            };
        }
        known
    }

    fn allows(&self, tree: &Tree) -> bool {
        let has = |&(head, modifier): &(usize, usize)| tree.head(modifier) == Some(head);
        self.required.iter().all(has) && !self.forbidden.iter().any(has)
    }
}

proptest! {
    #![proptest_config(runs(400))]

    #[test]
    fn posteriors_are_enumerations_renormalised(case in cases(1..=4)) {
        let known = Known::random(&mut case.random(), case.scores.words());
        let constraints = known.constraints();
        for (set, d) in case.distributions() {
            let prior = Enumerated::trees(&case.scores, set);
            let log_p = d.log_prob_of(&constraints).unwrap();
            let left: Vec<_> = prior.outcomes.iter().filter(|outcome| known.allows(&outcome.what)).collect();
            let scored = left.iter().map(|outcome| (outcome.score, outcome.what.clone())).collect();
            let expected = Enumerated::new(scored);
            match d.condition(&constraints) {
                Err(Error::NoTree { tree_set, words }) => {
                    assert!(left.is_empty() && tree_set == set, "{set}");
                    assert!(!words.is_empty() && words.iter().all(|w| (1..=d.words()).contains(w)));
                    assert_eq!(log_p, FORBIDDEN, "{set}");
                }
                Err(other) => panic!("{set}: {other}"),
                Ok(posterior) => {
                    assert!(!left.is_empty(), "{set}");
                    assert_eq!(posterior.tree_set(), set);
                    let slack = 1e-12 * expected.log_partition.abs().max(1.0).max(case.scale);
                    assert_close(posterior.log_partition(), expected.log_partition, slack, set);
                    for (head, modifier, p) in posterior.marginals().arcs() {
                        let expected = expected.marginal(&[(head, modifier)]);
                        let what = format!("{set} {head} → {modifier}");
                        assert_close(p, expected, case.tolerance(), what);
                    }
                    let total = expected.log_partition - prior.log_partition;
                    assert_close(log_p, total.min(0.0), 10.0 * slack, set);
                    let p: f64 = left.iter().map(|outcome| outcome.p()).sum();
                    assert_close(log_p.exp(), p, 10.0 * case.tolerance(), set);
                }
            }
        }
    }

    /// The chain rule, word by word in a random order.
    #[test]
    fn a_tree_is_the_product_of_its_arcs(case in cases(1..=12)) {
        let mut random = case.random();
        for (set, d) in case.distributions() {
            for tree in [d.argmax().tree.clone(), d.sample(&mut random.0)] {
                let mut arcs: Vec<_> = tree.arcs().collect();
                for last in (1..arcs.len()).rev() {
                    arcs.swap(last, random.below(last + 1));
                }
                let mut left = d.clone();
                let mut log_p = 0.0;
                for (head, modifier) in arcs {
                    let arc = Constraints::new().require_arc(head, modifier);
                    log_p += left.log_prob_of(&arc).unwrap();
                    left = left.condition(&arc).unwrap();
                }
                assert_eq!(left.argmax().tree, tree);
                assert_eq!(left.tree_count(), Some(1));
                let slack = 1e-10f64.max(1e-13 * case.scale * d.words() as f64);
                assert_close(log_p, d.log_prob(&tree).unwrap(), slack, set);

                let heads: Vec<_> = tree.heads().iter().map(|&head| Some(head)).collect();
                let whole = Constraints::new().partial_tree(&heads);
                let at_once = d.log_prob_of(&whole).unwrap();
                assert_close(at_once, d.log_prob(&tree).unwrap(), slack, set);
            }
        }
    }

    /// Empty constraints change nothing, and one required arc has the probability of that arc.
    #[test]
    fn the_probability_of_an_arc_is_that_of_requiring_it(case in cases(1..=12)) {
        let n = case.scores.words();
        let mut random = case.random();
        for (set, d) in case.distributions() {
            let certain = d.log_prob_of(&Constraints::new()).unwrap();
            assert_close(certain, 0.0, 1e-12f64.max(1e-14 * case.scale), set);
            let unknown = Constraints::new().partial_tree(&vec![None; n]);
            assert_eq!(d.condition(&unknown).unwrap().argmax(), d.argmax());
            let (head, modifier) = random.arc(n);
            let p = d.marginal(head, modifier).unwrap();
            let tolerance = 1e-11f64.max(1e-13 * case.scale * n as f64);
            let required = Constraints::new().require_arc(head, modifier);
            assert_close(d.log_prob_of(&required).unwrap().exp(), p, tolerance, set);
            let forbidden = Constraints::new().forbid_arc(head, modifier);
            assert_close(d.log_prob_of(&forbidden).unwrap().exp(), 1.0 - p, tolerance, set);
        }
    }
}

#[test]
fn contradictions_name_the_words() {
    for set in TreeSet::ALL {
        let d = TreeDistribution::new(ArcMatrix::zeros(5), set).unwrap();
        let words = |constraints: Constraints| match d.condition(&constraints) {
            Err(Error::NoTree { tree_set, words }) if tree_set == set => words,
            other => panic!("{set}: {other:?}"),
        };
        // A word without heads.
        let alone = (0..=5).filter(|&h| h != 3).fold(Constraints::new(), |c, h| c.forbid_arc(h, 3));
        assert_eq!(words(alone), [3], "{set}");
        assert_eq!(words(Constraints::new().require_arc(1, 2).require_arc(4, 2)), [2], "{set}");
        assert_eq!(words(Constraints::new().require_arc(1, 2).forbid_arc(1, 2)), [2], "{set}");
        // Words that head each other.
        assert_eq!(words(Constraints::new().require_arc(4, 5).require_arc(5, 4)), [4, 5], "{set}");
        // No word at the root.
        let rootless = (1..=5).fold(Constraints::new(), Constraints::forbid_root);
        assert_eq!(words(rootless), [1, 2, 3, 4, 5], "{set}");
        // Two root words.
        let two = Constraints::new().require_root(2).require_root(4);
        if set.is_single_root() {
            assert!(!words(two).is_empty(), "{set}");
        } else {
            assert!(d.condition(&two).is_ok(), "{set}");
        }
        // Crossing arcs.
        let crossing = Constraints::new().require_arc(1, 3).require_arc(2, 4);
        if set.is_projective() {
            assert_eq!(words(crossing), [3, 4], "{set}");
        } else {
            assert!(d.condition(&crossing).is_ok(), "{set}");
        }
    }
}

#[test]
fn constraints_must_be_of_this_sentence() {
    let d = TreeDistribution::new(ArcMatrix::zeros(2), TreeSet::NonProjectiveMultiRoot).unwrap();
    let no_arc = |head, modifier| Some(Error::NoSuchArc { head, modifier, words: 2 });
    for (constraints, error) in [
        (Constraints::new().require_arc(3, 1), no_arc(3, 1)),
        (Constraints::new().require_arc(1, 1), no_arc(1, 1)),
        (Constraints::new().forbid_arc(1, 0), no_arc(1, 0)),
        (Constraints::new().forbid_root(3), no_arc(0, 3)),
        (Constraints::new().partial_tree(&[None, None, Some(0)]), no_arc(0, 3)),
        (Constraints::new().require_label(1, 4), Some(Error::NoSuchLabel { label: 4, labels: 0 })),
        (Constraints::new().forbid_label(1, 4), Some(Error::NoSuchLabel { label: 4, labels: 0 })),
    ] {
        assert_eq!(d.condition(&constraints).err(), error);
        assert_eq!(d.log_prob_of(&constraints).err(), error);
    }
}
