use proptest::prelude::*;

use super::*;
use crate::eval::Alignment;
use crate::eval::arcs::tests::{GOLD, SYSTEM, analyses, with_arcs};

fn errors(confusion: &Confusion) -> Vec<String> {
    confusion.errors().map(|cell| format!("{}→{} {}", cell.gold, cell.system, cell.count)).collect()
}

#[test]
fn by_hand() {
    let confusions = with_arcs(GOLD, SYSTEM, Confusions::new);
    let correct_heads = &confusions.labels_of_correct_heads;
    assert_eq!((correct_heads.words, correct_heads.agreed), (10, 9));
    assert_eq!(errors(correct_heads), ["nsubj→obj 1"]);
    assert_eq!((confusions.labels.words, confusions.labels.agreed), (13, 10));
    assert_eq!(errors(&confusions.labels), ["advmod→amod 1", "nmod→obl 1", "nsubj→obj 1"]);
    assert_eq!(errors(&confusions.upos), ["ADV→ADJ 1"]);
    assert_eq!(confusions.labels.gold_count("nsubj"), 3);
    assert_eq!(confusions.labels.count("nsubj", "nsubj"), 2);
    assert_eq!(confusions.labels.count("obj", "nsubj"), 0);
    assert_eq!(confusions.labels.gold_values()[..3], ["nsubj", "root", "advmod"]);
}

proptest! {
    #[test]
    fn cells_sum_to_the_total((gold, system) in analyses()) {
        let alignment = Alignment::new(&gold, &system).unwrap();
        let confusions = Confusions::new(&Arcs::new(&alignment));
        for confusion in [&confusions.labels, &confusions.upos] {
            prop_assert_eq!(confusion.words, alignment.pairs().len());
            let values = confusion.gold_values();
            let sum: usize = values.iter().map(|value| confusion.gold_count(value)).sum();
            prop_assert_eq!(sum, confusion.words);
        }
        let right_labels = alignment.pairs().iter().filter(|pair| pair.label_correct).count();
        prop_assert_eq!(confusions.labels.agreed, right_labels);
        let correct = alignment.pairs().iter().filter(|p| p.head_correct && p.label_correct).count();
        prop_assert_eq!(confusions.labels_of_correct_heads.agreed, correct);
    }

    #[test]
    fn an_analysis_has_no_confusions_with_itself((gold, _) in analyses()) {
        let confusions = Confusions::new(&Arcs::new(&Alignment::new(&gold, &gold).unwrap()));
        for c in [&confusions.labels, &confusions.labels_of_correct_heads, &confusions.upos] {
            prop_assert_eq!(c.errors().count(), 0);
        }
    }
}
