//! Compares the cross-entropy with the sum over all labelled trees, and its gradient with central differences.

use proptest::prelude::*;
use tutte_trees::{LabelledTree, LabelledTreeDistribution, Tree, TreeSet, oracle};

use crate::learn::objective::labelled::marginals;
use crate::learn::objective::{
    LabelledScored, Objective, Scored, Scratch, distil, entropy, likelihood, risk,
};
use crate::learn::teacher::SoftArc;
use tutte_trees::{ArcMatrix, LabelledArcMatrix, Workspace, arcs};

/// Scores of a student and of its teacher, for up to four words and three labels.
#[derive(Clone, Debug)]
struct Case {
    student: LabelledArcMatrix,
    teacher: LabelledArcMatrix,
    tree_set: TreeSet,
}

fn case() -> impl Strategy<Value = Case> {
    (1usize..=4, 1usize..=3, 0usize..4).prop_flat_map(|(words, labels, set)| {
        let cells = (words + 1) * (words + 1) * labels;
        let scores = || {
            prop::collection::vec(-3.0..3.0, cells)
                .prop_map(move |values| LabelledArcMatrix::from_vec(words, labels, values).unwrap())
        };
        (scores(), scores()).prop_map(move |(student, teacher)| Case {
            student,
            teacher,
            tree_set: TreeSet::ALL[set],
        })
    })
}

impl Case {
    /// Returns the arcs of the teacher, with their labels or summed over them.
    fn soft_arcs(&self, labelled: bool) -> Vec<SoftArc> {
        let mut found = LabelledArcMatrix::default();
        marginals(&self.teacher, self.tree_set, &mut Workspace::default(), &mut found).unwrap();
        let mut soft = Vec::new();
        for (head, modifier) in arcs(self.teacher.words()) {
            let of_labels = found.labels_of(head, modifier).unwrap();
            if labelled {
                soft.extend((0..).zip(of_labels).map(|(label, &probability)| SoftArc {
                    head,
                    modifier,
                    label: Some(label),
                    probability,
                }));
            } else {
                let probability = of_labels.iter().sum();
                soft.push(SoftArc { head, modifier, label: None, probability });
            }
        }
        soft
    }

    fn evaluate(&self, objective: &Objective, teacher: &[SoftArc]) -> (f64, LabelledArcMatrix) {
        let gold = vec![Some(0); self.student.words()];
        let labels = vec![Some(0); self.student.words()];
        let scored = LabelledScored {
            scores: &self.student,
            gold: &gold,
            labels: &labels,
            teacher,
            tree_set: self.tree_set,
        };
        let mut gradient = LabelledArcMatrix::default();
        let scratch = &mut Scratch::default();
        let value = objective.evaluate_labelled(scored, 1.0, scratch, &mut gradient);
        (value.unwrap(), gradient)
    }

    /// Returns Σ_y p_T(y) (−log p(y)) over all labelled trees.
    fn cross_entropy(&self) -> f64 {
        let words = self.student.words();
        let labels = self.student.labels();
        let of = |scores: &LabelledArcMatrix| {
            LabelledTreeDistribution::new(scores.clone(), self.tree_set).unwrap()
        };
        let (student, teacher) = (of(&self.student), of(&self.teacher));
        let mut sum = 0.0;
        for tree in oracle::all_trees(words, self.tree_set) {
            for number in 0..labels.pow(words as u32) {
                let digit = |word: usize| number / labels.pow(word as u32) % labels;
                let tree = LabelledTree::new(Tree::clone(&tree), (0..words).map(digit).collect());
                let tree = tree.unwrap();
                sum -= teacher.log_prob(&tree).unwrap().exp() * student.log_prob(&tree).unwrap();
            }
        }
        sum
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_value_is_the_cross_entropy_over_all_trees(case in case()) {
        let found = case.evaluate(&distil(), &case.soft_arcs(true)).0;
        prop_assert!((found - case.cross_entropy()).abs() < 1e-9);
    }

    #[test]
    fn a_teacher_that_equals_the_student_changes_nothing(mut case in case()) {
        case.teacher.clone_from(&case.student);
        for labelled in [true, false] {
            let (value, gradient) = case.evaluate(&distil(), &case.soft_arcs(labelled));
            for (head, modifier, label, _) in case.student.arcs() {
                prop_assert!(gradient[(head, modifier, label)].abs() < 1e-9);
            }
            if labelled {
                prop_assert!((value - case.evaluate(&entropy(), &[]).0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn gradients_are_derivatives(case in case()) {
        for labelled in [true, false] {
            let soft = case.soft_arcs(labelled);
            let objective = 0.7 * distil() + 0.2 * entropy();
            let gradient = case.evaluate(&objective, &soft).1;
            for (head, modifier, label, _) in case.student.arcs() {
                let arc = (head, modifier, label);
                let moved = |by: f64| {
                    let mut case = case.clone();
                    case.student[arc] += by;
                    case.evaluate(&objective, &soft).0
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                prop_assert!((gradient[arc] - expected).abs() < 1e-6);
            }
        }
    }

    /// The teacher takes the place of the gold tree, and only where there is a teacher.
    #[test]
    fn it_mixes_with_the_likelihood_of_gold_trees(case in case()) {
        let soft = case.soft_arcs(true);
        let both = likelihood() + distil();
        prop_assert_eq!(case.evaluate(&both, &soft).0, case.evaluate(&distil(), &soft).0);
        prop_assert_eq!(case.evaluate(&(risk(1.0) + distil()), &soft).0, case.evaluate(&distil(), &soft).0);
        let multi_root = !case.tree_set.is_single_root() || case.student.words() == 1;
        if multi_root {
            // The gold tree of `evaluate` has only roots.
            prop_assert_eq!(case.evaluate(&both, &[]).0, case.evaluate(&likelihood(), &[]).0);
            prop_assert_eq!(case.evaluate(&likelihood(), &soft).0, case.evaluate(&likelihood(), &[]).0);
        }
    }

    /// With a single label, and with a teacher of one tree, it is the likelihood of unlabelled trees.
    #[test]
    fn a_certain_teacher_is_a_gold_tree(case in case(), index in any::<prop::sample::Index>()) {
        let words = case.student.words();
        let scores = ArcMatrix::from_fn(words, |head, modifier| case.student[(head, modifier, 0)]);
        let tree = index.get(&oracle::all_trees(words, case.tree_set)).clone();
        let teacher: Vec<SoftArc> = (1..).zip(tree.heads()).map(|(modifier, &head)| SoftArc {
            head, modifier, label: None, probability: 1.0,
        }).collect();
        let gold: Vec<Option<usize>> = tree.heads().iter().copied().map(Some).collect();
        let evaluated = |objective: Objective, teacher: &[SoftArc]| {
            let scored = Scored { scores: &scores, gold: &gold, teacher, tree_set: case.tree_set };
            let mut gradient = ArcMatrix::default();
            let value = objective.evaluate(scored, 1.0, &mut Scratch::default(), &mut gradient);
            (value.unwrap(), gradient)
        };
        let (value, gradient) = evaluated(distil(), &teacher);
        let (expected, expected_gradient) = evaluated(likelihood(), &[]);
        prop_assert!((value - expected).abs() < 1e-12);
        for arc in arcs(words) {
            prop_assert!((gradient[arc] - expected_gradient[arc]).abs() < 1e-12);
        }
    }
}

/// Arcs that the student forbids cost nothing, instead of infinitely much.
#[test]
fn arcs_that_the_student_forbids_are_left_out() {
    let mut student = LabelledArcMatrix::zeros(2, 2);
    student[(1, 2, 0)] = f64::NEG_INFINITY;
    let teacher = LabelledArcMatrix::zeros(2, 2);
    let case = Case { student, teacher, tree_set: TreeSet::ProjectiveSingleRoot };
    let (value, gradient) = case.evaluate(&distil(), &case.soft_arcs(true));
    assert!(value.is_finite());
    assert_eq!(gradient[(1, 2, 0)], 0.0);
}

#[test]
fn it_has_a_name() {
    let objective: Objective = "likelihood + 0.5*distil".parse().unwrap();
    assert_eq!(objective, likelihood() + 0.5 * distil());
    assert_eq!(objective.to_string(), "likelihood + 0.5*distil");
}
