//! Answers are read as they were written, and wrong ones are refused.

use super::*;

fn numbers() -> HashMap<&'static str, usize> {
    HashMap::from([("root", 0), ("nsubj", 1), ("a,b%", 2)])
}

fn sentence(first: &str, second: &str) -> Sentence {
    let text = format!(
        "1\tTea\ttea\tNOUN\t_\t_\t2\tnsubj\t_\t{first}\n2\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t{second}\n"
    );
    text.parse().unwrap()
}

#[test]
fn answers_are_scaled_to_a_sum_of_one() {
    let sentence = sentence("Teacher=2:nsubj:0.6,0:root:0.2|SpaceAfter=No", "Teacher=0:root:0.9");
    let arcs = read_answers(&sentence, &numbers()).unwrap();
    let found: Vec<_> = arcs.iter().map(|arc| (arc.head, arc.modifier, arc.label)).collect();
    assert_eq!(found, [(2, 1, Some(1)), (0, 1, Some(0)), (0, 2, Some(0))]);
    let probabilities: Vec<f64> = arcs.iter().map(|arc| arc.probability).collect();
    for (found, expected) in probabilities.into_iter().zip([0.75, 0.25, 1.0]) {
        assert!((found - expected).abs() < 1e-12);
    }
}

#[test]
fn labels_that_the_student_lacks_are_left_out() {
    let sentence = sentence("Teacher=2:vocative:0.5,2:a%2Cb%25:0.5", "Teacher=0:root:1");
    let arcs = read_answers(&sentence, &numbers()).unwrap();
    assert_eq!((arcs[0].label, arcs[0].probability), (Some(2), 1.0));
    let unlabelled = read_answers(&sentence, &HashMap::new()).unwrap();
    assert_eq!(unlabelled.len(), 3);
    assert!(unlabelled.iter().all(|arc| arc.label.is_none()));
}

#[test]
fn a_sentence_with_an_unanswered_word_has_no_teacher() {
    for second in ["_", "Teacher=0:vocative:1", "Teacher=0:root:0"] {
        let sentence = sentence("Teacher=2:nsubj:1", second);
        assert!(read_answers(&sentence, &numbers()).unwrap().is_empty(), "{second}");
        assert!(has_answers(&sentence));
    }
    assert!(!has_answers(&sentence("_", "Other=Teacher")));
}

#[test]
fn what_is_not_an_answer_is_named() {
    for wrong in ["2", "2:nsubj", "3:nsubj:1", "1:nsubj:1", "x:nsubj:1", "2:nsubj:2", "2:nsubj:nan"]
    {
        let error = read_answers(&sentence(&format!("Teacher={wrong}"), "_"), &numbers());
        let said = error.unwrap_err().to_string();
        assert!(said.contains(&format!("Teacher={wrong}")), "{said}");
    }
}

#[test]
fn commas_in_labels_survive() {
    for label in ["a,b%", "%2C", "obl:arg"] {
        assert_eq!(unescaped(&escaped(label)), label);
        assert!(!escaped(label).contains(','));
    }
}
