//! Compares the soft answer with an enumeration of trees in an enumeration of trees, in all tree sets, with forbidden
//! arcs and labels, partial gold trees and extreme scores. Gradients are checked with those of all terms.

use proptest::prelude::*;
use tutte_trees::{Tree, TreeDistribution, TreeSet, oracle};

use super::*;
use crate::learn::objective::{Objective, brier, decoded_risk};

type Annotation = Vec<Option<usize>>;

/// Scores and annotation of a sentence of up to four words, with or without labels.
#[derive(Clone, Debug)]
struct Case {
    scores: LabelledArcMatrix,
    tree_set: TreeSet,
    heads: Annotation,
    labels: Annotation,
}

fn case() -> impl Strategy<Value = Case> {
    let size = (1usize..=4, 1usize..=3, 0usize..4, any::<prop::sample::Index>());
    size.prop_flat_map(|(words, labels, set, index)| {
        let tree_set = TreeSet::ALL[set];
        let tree = index.get(&oracle::all_trees(words, tree_set)).clone();
        let score = prop_oneof![7 => -3.0..3.0, 1 => Just(f64::NEG_INFINITY)];
        let values = prop::collection::vec(score, (words + 1) * (words + 1) * labels);
        let known = prop_oneof![Just([true; 8]), any::<[bool; 8]>()];
        let gold_labels = prop::collection::vec(0..labels, words);
        (values, gold_labels, known).prop_map(move |(values, gold_labels, known)| {
            let mut scores = LabelledArcMatrix::from_vec(words, labels, values).unwrap();
            for ((head, modifier), &label) in tree.arcs().zip(&gold_labels) {
                let score = &mut scores[(head, modifier, label)];
                *score = score.max(-3.0);
            }
            let some = |values: &[usize], known: &[bool]| -> Annotation {
                values.iter().zip(known).map(|(value, known)| known.then_some(*value)).collect()
            };
            let heads = some(tree.heads(), &known[..4]);
            Case { scores, tree_set, heads, labels: some(&gold_labels, &known[4..]) }
        })
    })
}

impl Case {
    fn evaluate(&self, objective: &Objective) -> (f64, LabelledArcMatrix) {
        let Self { scores, tree_set, heads: gold, labels } = self;
        let scored = LabelledScored { scores, gold, labels, teacher: &[], tree_set: *tree_set };
        let mut gradient = LabelledArcMatrix::default();
        let scratch = &mut Scratch::default();
        let value = objective.evaluate_labelled(scored, 1.0, scratch, &mut gradient);
        (value.unwrap(), gradient)
    }

    /// Returns the value and the gradient if the arcs have no labels but the sums over them.
    fn evaluate_arcs(&self, objective: &Objective) -> (f64, ArcMatrix) {
        let scored = Scored {
            scores: &self.summed(),
            gold: &self.heads,
            teacher: &[],
            tree_set: self.tree_set,
        };
        let mut gradient = ArcMatrix::default();
        let value = objective.evaluate(scored, 1.0, &mut Scratch::default(), &mut gradient);
        (value.unwrap(), gradient)
    }

    fn summed(&self) -> ArcMatrix {
        ArcMatrix::from_fn(self.scores.words(), |head, modifier| {
            let labels = self.scores.labels_of(head, modifier).unwrap();
            let best = labels.iter().copied().fold(f64::MIN, f64::max);
            best + labels.iter().map(|score| (score - best).exp()).sum::<f64>().ln()
        })
    }

    /// Returns the marginals of arcs.
    fn marginals(&self) -> ArcMatrix {
        oracle::marginals(&self.summed(), self.tree_set)
    }

    /// Returns p(ℓ | e), by definition.
    fn label_probs(&self, head: usize, modifier: usize) -> Vec<f64> {
        let labels = self.scores.labels_of(head, modifier).unwrap();
        let sum: f64 = labels.iter().map(|score| score.exp()).sum();
        labels.iter().map(|score| score.exp() / sum).collect()
    }

    /// Returns the scores of the soft answer.
    fn answer(&self, temperature: f64) -> ArcMatrix {
        let (summed, marginals) = (self.summed(), self.marginals());
        ArcMatrix::from_fn(summed.words(), |head, modifier| {
            let arc = (head, modifier);
            let is_allowed = summed[arc] > f64::NEG_INFINITY;
            if is_allowed { marginals[arc] / temperature } else { f64::NEG_INFINITY }
        })
    }

    /// Returns the number of wrong heads in a tree.
    fn wrong_heads(&self, tree: &Tree) -> f64 {
        tree.arcs().map(|(head, modifier)| cost(&self.heads, head, modifier)).sum()
    }

    fn wrong(&self, (head, modifier): (usize, usize), label: usize) -> f64 {
        labelled::cost(&self.heads, &self.labels, head, modifier, label)
    }

    /// Returns the expected number of wrong words in a tree with soft labels.
    fn wrong_words(&self, tree: &Tree, temperature: f64) -> f64 {
        let of_arc = |(head, modifier): (usize, usize)| {
            let probs = self.label_probs(head, modifier);
            let scores = self.scores.labels_of(head, modifier).unwrap();
            let soft = probs.iter().zip(scores).map(|(prob, score)| {
                if *score > f64::NEG_INFINITY { (prob / temperature).exp() } else { 0.0 }
            });
            let soft: Vec<f64> = soft.collect();
            let sum: f64 = soft.iter().sum();
            let shares = soft.iter().enumerate();
            shares
                .map(|(label, soft)| soft / sum * self.wrong((head, modifier), label))
                .sum::<f64>()
        };
        tree.arcs().map(of_arc).sum()
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_risk_is_that_of_all_answers(case in case(), temperature in 0.05..3.0f64) {
        let objective = decoded_risk(temperature);
        let answer = case.answer(temperature);
        let expected = oracle::expectation(&answer, case.tree_set, |tree| case.wrong_heads(tree));
        prop_assert!(close(case.evaluate_arcs(&objective).0, expected));
        let words = |tree: &Tree| case.wrong_words(tree, temperature);
        let expected = if case.heads.iter().chain(&case.labels).all(Option::is_none) {
            0.0
        } else {
            oracle::expectation(&answer, case.tree_set, words)
        };
        prop_assert!(close(case.evaluate(&objective).0, expected));
    }

    /// At a low temperature, the value is the number of errors of what the parser answers.
    #[test]
    fn cold_answers_are_those_of_the_parser(case in case()) {
        let marginals = case.marginals();
        let d = TreeDistribution::new(case.summed(), case.tree_set).unwrap();
        let tree = d.mbr();
        let gain = |tree: &Tree| tree.arcs().map(|arc| marginals[arc]).sum::<f64>();
        let rivals = oracle::scored_trees(&case.summed(), case.tree_set);
        let rivals = rivals.iter().filter(|(_, rival)| *rival != tree);
        let best_rival = rivals.map(|(_, rival)| gain(rival)).fold(f64::NEG_INFINITY, f64::max);
        prop_assume!(gain(&tree) > best_rival + 1e-3);
        let objective = decoded_risk(2e-5);
        prop_assert!((case.evaluate_arcs(&objective).0 - case.wrong_heads(&tree)).abs() < 1e-6);

        let mut errors = 0.0;
        for arc in tree.arcs() {
            let mut ranked: Vec<_> = case.label_probs(arc.0, arc.1).into_iter().zip(0..).collect();
            ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
            prop_assume!(ranked.len() == 1 || ranked[0].0 > ranked[1].0 + 1e-3);
            errors += case.wrong(arc, ranked[0].1);
        }
        prop_assert!((case.evaluate(&objective).0 - errors).abs() < 1e-6);
    }

    /// Without a choice of labels, nothing depends on labels.
    #[test]
    fn one_label_is_no_labels(mut case in case()) {
        let words = case.scores.words();
        let summed = case.summed();
        case.scores = LabelledArcMatrix::from_fn(words, 1, |head, modifier, _| summed[(head, modifier)]);
        case.labels = case.heads.iter().map(|head| head.map(|_| 0)).collect();
        for objective in [decoded_risk(0.2), brier()] {
            let (value, gradient) = case.evaluate(&objective);
            let (expected, by_arc) = case.evaluate_arcs(&objective);
            prop_assert!(close(value, expected));
            for (head, modifier, expected) in by_arc.arcs() {
                prop_assert!(close(gradient[(head, modifier, 0)], expected));
            }
        }
    }

    /// A model that is almost certain has a small gradient, and never NaN.
    #[test]
    fn certain_models_have_finite_gradients(case in case(), scale in 1.0..9.0f64) {
        let mut case = case;
        for (head, modifier) in arcs(case.scores.words()) {
            let labels = case.scores.labels_of_mut(head, modifier).unwrap();
            labels.iter_mut().for_each(|score| *score *= 10f64.powf(scale));
        }
        for temperature in [1e-6, 0.1, 10.0] {
            for objective in [decoded_risk(temperature), brier()] {
                let (value, gradient) = case.evaluate(&objective);
                prop_assert!(value >= 0.0 && value <= 2.0 * case.heads.len() as f64 + 1e-9);
                prop_assert!(gradient.arcs().all(|(_, _, _, slope)| slope.is_finite()));
                let (value, gradient) = case.evaluate_arcs(&objective);
                prop_assert!(value.is_finite());
                prop_assert!(gradient.arcs().all(|(_, _, slope)| slope.is_finite()));
            }
        }
    }
}

#[test]
fn empty_sentences_and_sentences_of_one_word() {
    for tree_set in TreeSet::ALL {
        for objective in [decoded_risk(0.1), brier()] {
            let scores = LabelledArcMatrix::zeros(0, 2);
            let empty = Case { scores, tree_set, heads: Vec::new(), labels: Vec::new() };
            assert_eq!(empty.evaluate(&objective).0, 0.0);
            assert_eq!(empty.evaluate_arcs(&objective).0, 0.0);
            let scores = LabelledArcMatrix::zeros(1, 2);
            let heads = vec![Some(0)];
            let one = Case { scores, tree_set, heads, labels: vec![Some(1)] };
            // The arc is certain, and its label is one of two.
            assert_eq!(one.evaluate(&objective).0, 0.5);
            assert_eq!(one.evaluate_arcs(&objective).0, 0.0);
            assert_eq!(one.evaluate_arcs(&objective).1[(0, 1)], 0.0);
        }
    }
}

/// Descending the gradient corrects an answer, which shows its sign.
#[test]
fn descent_corrects_the_answer() {
    let heads = vec![Some(2), Some(3), Some(0)];
    for tree_set in TreeSet::ALL {
        let scores = LabelledArcMatrix::from_fn(3, 2, |head, modifier, label| {
            f64::from(u8::from(head == 0)) - f64::from(u8::from(modifier == 3)) - label as f64
        });
        let labels = vec![Some(0), Some(1), Some(0)];
        let mut case = Case { scores, tree_set, heads: heads.clone(), labels };
        let objective = decoded_risk(0.2);
        let before = case.evaluate(&objective).0;
        for _ in 0..200 {
            let gradient = case.evaluate(&objective).1;
            for (head, modifier, label, slope) in gradient.arcs() {
                case.scores[(head, modifier, label)] -= 2.0 * slope;
            }
        }
        let after = case.evaluate(&objective).0;
        assert!(before > 1.0 && after < 0.1, "{tree_set}: from {before} to {after}");
    }
}
