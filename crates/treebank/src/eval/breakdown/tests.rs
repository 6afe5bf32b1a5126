use proptest::prelude::*;

use super::*;
use crate::eval::Alignment;
use crate::eval::arcs::tests::{GOLD, SYSTEM, analyses, with_arcs};

/// `class gold system, UAS correct gold / system, LAS correct gold / system`
fn table(by: Grouping) -> Vec<String> {
    with_arcs(GOLD, SYSTEM, |arcs| Breakdown::new(arcs, by))
        .rows
        .iter()
        .map(|row| {
            format!(
                "{} {} {}, {}/{}, {}/{}",
                row.class,
                row.gold,
                row.system,
                row.uas.correct_gold,
                row.uas.correct_system,
                row.las.correct_gold,
                row.las.correct_system
            )
        })
        .collect()
}

#[test]
fn every_table_by_hand() {
    assert_eq!(
        table(Grouping::Deprel),
        [
            "root 3 3, 3/3, 3/3",
            "nsubj 3 2, 3/2, 2/2",
            "obj 2 3, 2/3, 2/2",
            "advmod 2 1, 0/0, 0/0",
            "case 1 1, 1/1, 1/1",
            "punct 1 1, 1/1, 1/1",
            "nmod 1 0, 0/0, 0/0",
            "amod 0 1, 0/0, 0/0",
            "obl 0 1, 0/0, 0/0",
        ]
    );
    assert_eq!(
        table(Grouping::Upos),
        [
            "NOUN 5 5, 4/4, 3/3",
            "VERB 3 3, 3/3, 3/3",
            "ADV 2 1, 0/0, 0/0",
            "ADP 1 1, 1/1, 1/1",
            "PRON 1 1, 1/1, 1/1",
            "PUNCT 1 1, 1/1, 1/1",
            "ADJ 0 1, 0/0, 0/0",
        ]
    );
    assert_eq!(
        table(Grouping::Length),
        ["to root 3 3, 3/3, 3/3", "1 6 6, 5/5, 4/4", "2 3 2, 1/1, 1/1", "3-6 1 2, 1/1, 1/1"]
    );
    assert_eq!(
        table(Grouping::LengthExact),
        [
            "to root 3 3, 3/3, 3/3",
            "1 6 6, 5/5, 4/4",
            "2 3 2, 1/1, 1/1",
            "3 0 1, 0/0, 0/0",
            "4 1 1, 1/1, 1/1"
        ]
    );
    assert_eq!(
        table(Grouping::Depth),
        ["1 3 3, 3/3, 3/3", "2 7 8, 6/6, 5/5", "3 2 2, 0/1, 0/1", "4 1 0, 1/0, 1/0"]
    );
    assert_eq!(
        table(Grouping::Direction),
        ["to root 3 3, 3/3, 3/3", "head left 5 5, 3/3, 3/3", "head right 5 5, 4/4, 3/3"]
    );
    assert_eq!(
        // In the gold standard, the arc to today; in the system, the arc from Rain to softly.
        table(Grouping::Projectivity),
        ["projective 12 12, 10/10, 9/9", "non-projective 1 1, 0/0, 0/0"]
    );
    assert_eq!(table(Grouping::SentenceLength), ["1-10 13 13, 10/10, 9/9"]);
}

#[test]
fn scores_by_hand() {
    let rows = with_arcs(GOLD, SYSTEM, |arcs| Breakdown::new(arcs, Grouping::Deprel)).rows;
    let obj = rows.iter().find(|row| row.class == "obj").unwrap();
    assert_eq!((obj.las.precision, obj.las.recall), (Some(2.0 / 3.0), Some(1.0)));
    assert!((obj.las.f1.unwrap() - 0.8).abs() < 1e-12);
    let nmod = rows.iter().find(|row| row.class == "nmod").unwrap();
    assert_eq!((nmod.las.precision, nmod.las.recall, nmod.las.f1), (None, Some(0.0), None));
    let advmod = rows.iter().find(|row| row.class == "advmod").unwrap();
    assert_eq!(advmod.las.f1, Some(0.0));
}

#[test]
fn bins_end_where_they_should() {
    // The head of word k is word k - 1; that of the last word is the first.
    let chain = |n: usize| {
        let word = |k: usize| format!("w/X/{}/d", if k == n { usize::from(n > 1) } else { k - 1 });
        (1..=n).map(word).collect::<Vec<_>>().join(" ")
    };
    let text = [1, 7, 8, 10, 11, 50, 51].map(chain).join("\n");
    let classes = |by| {
        let rows = with_arcs(&text, &text, |arcs| Breakdown::new(arcs, by)).rows;
        rows.into_iter().map(|row| format!("{} {}", row.class, row.gold)).collect::<Vec<_>>()
    };
    assert_eq!(classes(Grouping::SentenceLength), ["1-10 26", "11-20 11", "41-50 50", "51+ 51"]);
    // The last arcs are 6, 7, 9, 10, 49 and 50 long.
    assert_eq!(classes(Grouping::Length), ["to root 7", "1 125", "3-6 1", "7+ 5"]);
    assert_eq!(classes(Grouping::Depth).last().unwrap(), "10+ 82");
}

proptest! {
    #[test]
    fn rows_sum_to_the_total((gold, system) in analyses()) {
        let alignment = Alignment::new(&gold, &system).unwrap();
        let arcs = Arcs::new(&alignment);
        let correct = |heads_only: bool| {
            let correct = arcs.pairs().filter(|(gold, _)| gold.head_correct);
            correct.filter(|(gold, _)| heads_only || gold.label_correct).count()
        };
        for by in Grouping::ALL {
            let rows = Breakdown::new(&arcs, by).rows;
            let sum = |of: fn(&Row) -> usize| rows.iter().map(of).sum::<usize>();
            prop_assert_eq!(sum(|row| row.gold), alignment.words().gold);
            prop_assert_eq!(sum(|row| row.system), alignment.words().system);
            prop_assert_eq!(sum(|row| row.uas.correct_gold), correct(true));
            prop_assert_eq!(sum(|row| row.uas.correct_system), correct(true));
            prop_assert_eq!(sum(|row| row.las.correct_gold), correct(false));
            prop_assert_eq!(sum(|row| row.las.correct_system), correct(false));
            prop_assert!(rows.iter().all(|row| row.las.recall <= row.uas.recall));
        }
    }

    #[test]
    fn an_analysis_is_correct_against_itself((gold, _) in analyses()) {
        let arcs = Arcs::new(&Alignment::new(&gold, &gold).unwrap());
        for by in Grouping::ALL {
            for row in Breakdown::new(&arcs, by).rows {
                prop_assert_eq!((row.uas.f1, row.las.f1), (Some(1.0), Some(1.0)));
            }
        }
    }
}
