use proptest::prelude::*;

use super::*;
use crate::eval::Alignment;
use crate::eval::arcs::tests::{GOLD, SYSTEM, analyses, with_arcs};

fn table(shares: &[Share]) -> Vec<(&str, usize, usize)> {
    shares.iter().map(|share| (share.class.as_str(), share.gold, share.system)).collect()
}

#[test]
fn by_hand() {
    let druck = with_arcs(GOLD, SYSTEM, |arcs| Druck::new(arcs, 10));
    assert_eq!(table(&druck.parent_tags), [("VERB", 7, 8), ("NOUN", 3, 2), ("ROOT", 3, 3)]);
    assert_eq!(druck.parent_tags[0].recall, Some(6.0 / 7.0));
    assert_eq!(druck.parent_tags[1].recall, Some(1.0 / 3.0));
    assert_eq!(druck.parent_tags[0].gold_share, 7.0 / 13.0);
    assert_eq!(druck.parent_tags[0].system_share, 8.0 / 13.0);
    assert_eq!(table(&druck.directions), [("right", 5, 5), ("left", 5, 5), ("root", 3, 3)]);
    assert_eq!(
        table(&druck.distances),
        [("1", 6, 6), ("2", 3, 2), ("3", 0, 1), ("4", 1, 1), ("root", 3, 3)]
    );
    let texts: Vec<_> = druck.false_positives.iter().map(FalsePositive::text).collect();
    assert_eq!(texts, ["NOUN→ADJ (2)", "VERB→NOUN (3)", "VERB←ADV (1)"]);
    assert!(druck.false_positives.iter().all(|kind| kind.count == 1));
    assert_eq!(with_arcs(GOLD, SYSTEM, |arcs| Druck::new(arcs, 1)).false_positives.len(), 1);
}

#[test]
fn a_wrong_root_is_a_false_positive() {
    let druck = with_arcs("a/X/2/d b/Y/0/d", "a/X/0/d b/Y/_/d", |arcs| Druck::new(arcs, 10));
    let texts: Vec<_> = druck.false_positives.iter().map(FalsePositive::text).collect();
    assert_eq!(texts, ["ROOT→X", "_→Y"]);
}

proptest! {
    #[test]
    fn shares_sum_to_one((gold, system) in analyses()) {
        let arcs = Arcs::new(&Alignment::new(&gold, &system).unwrap());
        let druck = Druck::new(&arcs, usize::MAX);
        for shares in [&druck.parent_tags, &druck.directions, &druck.distances] {
            prop_assert!((shares.iter().map(|s| s.gold_share).sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!((shares.iter().map(|s| s.system_share).sum::<f64>() - 1.0).abs() < 1e-12);
        }
        let wrong = arcs.of(Side::System).iter().filter(|arc| !arc.head_correct).count();
        prop_assert_eq!(druck.false_positives.iter().map(|kind| kind.count).sum::<usize>(), wrong);
    }

    #[test]
    fn an_analysis_has_no_false_positives_against_itself((gold, _) in analyses()) {
        let druck = Druck::new(&Arcs::new(&Alignment::new(&gold, &gold).unwrap()), 10);
        prop_assert!(druck.false_positives.is_empty());
        prop_assert!(druck.parent_tags.iter().all(|s| s.gold == s.system && s.recall == Some(1.0)));
    }
}
