//! Compares every value with enumeration of labelled trees and every gradient with central differences, in all tree
//! sets, with some labelled arcs forbidden.

use proptest::prelude::*;
use tutte_trees::{LabelledTree, LabelledTreeDistribution, Tree, oracle};

use super::*;
use crate::learn::objective::{
    Scored, brier, decoded_risk, entropy, likelihood, renyi, risk, softmax, softmax_margin,
};

/// Scores and gold tree of a sentence.
#[derive(Clone, Debug)]
struct Case {
    scores: LabelledArcMatrix,
    tree_set: TreeSet,
    gold: LabelledTree,
    /// Annotated part of the gold tree.
    heads: Vec<Option<usize>>,
    labels: Vec<Option<usize>>,
}

fn case() -> impl Strategy<Value = Case> {
    let size = (1usize..=4, 1usize..=3, 0usize..4);
    (size, any::<prop::sample::Index>()).prop_flat_map(|((words, labels, set), index)| {
        let tree_set = TreeSet::ALL[set];
        let tree = index.get(&oracle::all_trees(words, tree_set)).clone();
        let cells = (words + 1) * (words + 1) * labels;
        // One labelled arc in ten is forbidden.
        let score = prop_oneof![9 => -3.0..3.0, 1 => Just(f64::NEG_INFINITY)];
        let values = prop::collection::vec(score, cells);
        (values, prop::collection::vec(0..labels, words)).prop_map(move |(values, gold_labels)| {
            let mut scores = LabelledArcMatrix::from_vec(words, labels, values).unwrap();
            let gold = LabelledTree::new(tree.clone(), gold_labels).unwrap();
            gold.arcs().for_each(|arc| scores[arc] = scores[arc].max(-3.0));
            Case::new(scores, tree_set, gold)
        })
    })
}

/// Generates a case with some heads and labels unannotated.
fn partial_case() -> impl Strategy<Value = Case> {
    (case(), any::<[bool; 4]>(), any::<[bool; 4]>()).prop_map(|(mut case, heads, labels)| {
        let keep_only = |all: &mut [Option<usize>], kept: [bool; 4]| {
            all.iter_mut().zip(kept).for_each(|(one, kept)| *one = one.filter(|_| kept));
        };
        keep_only(&mut case.heads, heads);
        keep_only(&mut case.labels, labels);
        case
    })
}

impl Case {
    /// Creates a case with a complete gold tree.
    fn new(scores: LabelledArcMatrix, tree_set: TreeSet, gold: LabelledTree) -> Self {
        let heads = gold.tree().heads().iter().copied().map(Some).collect();
        let labels = gold.labels().iter().copied().map(Some).collect();
        Self { scores, tree_set, gold, heads, labels }
    }

    fn scored(&self) -> LabelledScored<'_> {
        LabelledScored {
            scores: &self.scores,
            gold: &self.heads,
            labels: &self.labels,
            teacher: &[],
            tree_set: self.tree_set,
        }
    }

    fn evaluate(&self, objective: &Objective) -> (f64, LabelledArcMatrix) {
        let mut gradient = LabelledArcMatrix::default();
        let scratch = &mut Scratch::default();
        let value = objective.evaluate_labelled(self.scored(), 1.0, scratch, &mut gradient);
        (value.unwrap(), gradient)
    }

    /// Returns all labelled trees that the scores allow, with their scores.
    fn all(&self) -> Vec<(f64, LabelledTree)> {
        let words = self.scores.words();
        let labels = self.scores.labels();
        let mut all = Vec::new();
        for tree in oracle::all_trees(words, self.tree_set) {
            for number in 0..labels.pow(words as u32) {
                let digit = |word: usize| number / labels.pow(word as u32) % labels;
                let tree = LabelledTree::new(Tree::clone(&tree), (0..words).map(digit).collect());
                let tree = tree.unwrap();
                let score = self.scores.sum_over(&tree).unwrap();
                if score > f64::NEG_INFINITY {
                    all.push((score, tree));
                }
            }
        }
        all
    }

    /// True if the head or the label of a word is annotated.
    fn is_known(&self, word: usize) -> bool {
        self.heads[word - 1].is_some() || self.labels[word - 1].is_some()
    }

    /// Returns the number of words whose head or label is wrong.
    fn wrong(&self, tree: &LabelledTree) -> f64 {
        let known = self.heads.iter().zip(&self.labels);
        let wrong =
            |((head, _, label), gold): &((usize, usize, usize), (&Option<_>, &Option<_>))| {
                gold.0.is_some_and(|gold| gold != *head)
                    || gold.1.is_some_and(|gold| gold != *label)
            };
        tree.arcs().zip(known).filter(wrong).count() as f64
    }
}

fn log_sum(scores: impl Iterator<Item = f64>) -> f64 {
    scores.map(f64::exp).sum::<f64>().ln()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn values_are_sums_over_labelled_trees(case in prop_oneof![case(), partial_case()]) {
        let all = case.all();
        let agree = all.iter().filter(|(_, tree)| case.wrong(tree) == 0.0);
        let of_gold = log_sum(agree.map(|(score, _)| *score));
        let log_z = log_sum(all.iter().map(|(score, _)| *score));
        prop_assert!(close(case.evaluate(&likelihood()).0, log_z - of_gold));

        let margin = log_sum(all.iter().map(|(score, tree)| score + 0.8 * case.wrong(tree)));
        prop_assert!(close(case.evaluate(&softmax_margin(0.8)).0, margin - of_gold));

        let log_scaled = log_sum(all.iter().map(|(score, _)| 1.7 * score));
        let prob = |score: f64| (1.7 * score - log_scaled).exp();
        let expected: f64 = all.iter().map(|(score, tree)| prob(*score) * case.wrong(tree)).sum();
        prop_assert!(close(case.evaluate(&risk(1.7)).0, expected));

        let mut probs = LabelledArcMatrix::zeros(case.scores.words(), case.scores.labels());
        for (score, tree) in &all {
            tree.arcs().for_each(|arc| probs[arc] += (score - log_z).exp());
        }
        let mut expected = 0.0;
        for word in (1..=case.heads.len()).filter(|word| case.is_known(*word)) {
            let mut right = 0.0;
            for (head, _, label, prob) in probs.arcs().filter(|part| part.1 == word) {
                if cost(&case.heads, &case.labels, head, word, label) == 0.0 {
                    right += prob;
                } else {
                    expected += prob * prob;
                }
            }
            expected += (1.0 - right) * (1.0 - right);
        }
        prop_assert!(close(case.evaluate(&brier()).0, expected));

        let surprise = |score: f64| (score - log_z).exp() * (log_z - score);
        let expected: f64 = all.iter().map(|(score, _)| surprise(*score)).sum();
        prop_assert!(close(case.evaluate(&entropy()).0, expected));

        for order in [0.4, 2.0] {
            let sum: f64 = all.iter().map(|(score, _)| (order * (score - log_z)).exp()).sum();
            prop_assert!(close(case.evaluate(&renyi(order)).0, sum.ln() / (1.0 - order)));
        }
        let best = all.iter().map(|(score, _)| *score).fold(f64::NEG_INFINITY, f64::max);
        prop_assert!(close(case.evaluate(&renyi(f64::INFINITY)).0, log_z - best));
    }

    #[test]
    fn marginals_are_sums_over_labelled_trees(case in case()) {
        let all = case.all();
        let log_z = log_sum(all.iter().map(|(score, _)| *score));
        let mut expected = LabelledArcMatrix::zeros(case.scores.words(), case.scores.labels());
        for (score, tree) in &all {
            tree.arcs().for_each(|arc| expected[arc] += (score - log_z).exp());
        }
        let mut found = LabelledArcMatrix::default();
        let workspace = &mut Workspace::default();
        let found_log_z = marginals(&case.scores, case.tree_set, workspace, &mut found).unwrap();
        prop_assert!(close(found_log_z, log_z));
        for (head, modifier, label, probability) in expected.arcs() {
            prop_assert!(close(found[(head, modifier, label)], probability));
        }
    }

    #[test]
    fn gradients_are_derivatives(case in prop_oneof![case(), partial_case()]) {
        for objective in [
            likelihood(),
            softmax(),
            softmax_margin(1.3),
            risk(0.7),
            decoded_risk(1.0),
            decoded_risk(0.1),
            brier(),
            entropy(),
            renyi(2.0),
            renyi(0.4),
            renyi(1.0),
            0.5 * likelihood() + 2.0 * risk(1.0) + -0.3 * entropy(),
        ] {
            let gradient = case.evaluate(&objective).1;
            for (head, modifier, label, score) in case.scores.arcs() {
                let arc = (head, modifier, label);
                if score == f64::NEG_INFINITY {
                    prop_assert_eq!(gradient[arc], 0.0, "a forbidden arc has no gradient");
                    continue;
                }
                let moved = |by: f64| {
                    let mut case = case.clone();
                    case.scores[arc] += by;
                    case.evaluate(&objective).0
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let found = gradient[arc];
                prop_assert!((found - expected).abs() < 1e-6, "{objective:?} {arc:?}: {found} {expected}");
            }
        }
    }

    /// Compares likelihood and entropy with those of [`LabelledTreeDistribution`].
    #[test]
    fn distributions_agree(case in case()) {
        let distribution = LabelledTreeDistribution::new(case.scores.clone(), case.tree_set).unwrap();
        let log_prob = distribution.log_prob(&case.gold).unwrap();
        prop_assert!(close(case.evaluate(&likelihood()).0, -log_prob));
        prop_assert!(close(case.evaluate(&entropy()).0, distribution.entropy()));
    }

    /// With a single label, values and gradients equal those of unlabelled trees, bit by bit.
    #[test]
    fn one_label_is_no_labels(case in case()) {
        let words = case.scores.words();
        let tree_set = case.tree_set;
        let arcs = ArcMatrix::from_fn(words, |head, modifier| case.scores[(head, modifier, 0)].max(-3.0));
        let scores = LabelledArcMatrix::from_fn(words, 1, |head, modifier, _| arcs[(head, modifier)]);
        let gold = LabelledTree::new(case.gold.tree().clone(), vec![0; words]).unwrap();
        let case = Case::new(scores, tree_set, gold);
        for objective in [likelihood(), softmax_margin(1.0)] {
            let (value, gradient) = case.evaluate(&objective);
            let mut expected = ArcMatrix::default();
            let scored = Scored { scores: &arcs, gold: &case.heads, teacher: &[], tree_set };
            let found = objective.evaluate(scored, 1.0, &mut Scratch::default(), &mut expected);
            prop_assert_eq!(value.to_bits(), found.unwrap().to_bits());
            for (head, modifier, expected) in expected.arcs() {
                prop_assert_eq!(gradient[(head, modifier, 0)], expected);
            }
        }
    }
}

#[test]
fn infinite_and_nan_scores_are_refused() {
    let gold = LabelledTree::new(Tree::new(&[2, 0]).unwrap(), vec![0, 1]).unwrap();
    for wrong in [f64::NAN, f64::INFINITY] {
        for all in [false, true] {
            let mut scores = LabelledArcMatrix::zeros(2, 2);
            scores[(2, 1, 0)] = wrong;
            if all {
                scores[(2, 1, 1)] = wrong;
            }
            let tree_set = TreeSet::NonProjectiveSingleRoot;
            let case = Case::new(scores, tree_set, gold.clone());
            let scratch = &mut Scratch::default();
            let gradient = &mut LabelledArcMatrix::default();
            let error = likelihood().evaluate_labelled(case.scored(), 1.0, scratch, gradient);
            assert!(matches!(error, Err(Error::BadScore { .. })), "{error:?}");
        }
    }
}
