//! Tests of matching, statistics, survey and baseline, counted by hand.

use tutte_trees::{TreeDistribution, TreeSet};

use super::*;

fn arcs(rule: &str, words: &str) -> (Vec<(u32, u32)>, f64) {
    let matches = read(rule).matches(&sentence(words));
    assert_eq!(matches.units.len(), 1);
    (matches.arcs.iter().map(|&(head, modifier, _)| (head, modifier)).collect(), matches.units[0])
}

#[test]
fn units_are_pairs_words_or_words_with_a_candidate() {
    let words = "a/DET b/NOUN c/NOUN d/DET"; // the last has no noun to its right
    let all = vec![(2, 1), (3, 1)];
    assert_eq!(arcs("r: DET <- NOUN head right 50% of pairs", words), (all.clone(), 2.0));
    assert_eq!(arcs("r: DET <- NOUN head right 50% of words", words), (all, 2.0));
    assert_eq!(arcs("r: DET <- nearest NOUN head right 50%", words), (vec![(2, 1)], 1.0));
    assert_eq!(arcs("r: DET <- nearest NOUN head right 50% of words", words), (vec![(2, 1)], 2.0));
    // Without a direction: the nearest on each side.
    assert_eq!(arcs("r: DET <- nearest NOUN 50%", words), (vec![(2, 1), (3, 4)], 2.0));
    assert_eq!(arcs("r: NOUN <- nearest DET 50% of pairs", words).1, 4.0);
    assert_eq!(arcs("r: ADJ <- NOUN 50%", words), (vec![], 0.0));
}

#[test]
fn the_nearest_word_hides_farther_ones_even_if_its_clauses_fail() {
    let words = "a/DET b/NOUN c/NOUN";
    assert_eq!(arcs("r: DET <- nearest NOUN distance 2.. 50%", words), (vec![], 0.0));
    assert_eq!(arcs("r: NOUN <- nearest NOUN 50%", words), (vec![(2, 3), (3, 2)], 2.0));
}

#[test]
fn place_clauses_are_checked() {
    let words = "a/NOUN b/PUNCT c/VERB d/DET e/NOUN";
    let found = |clause: &str| arcs(&format!("r: NOUN <- VERB {clause} 50% of pairs"), words).0;
    assert_eq!(found(""), [(3, 1), (3, 5)]);
    assert_eq!(found("head left"), [(3, 5)]);
    assert_eq!(found("head right"), [(3, 1)]);
    assert_eq!(found("adjacent"), []);
    assert_eq!(found("distance 2..3"), [(3, 1), (3, 5)]);
    assert_eq!(found("no PUNCT between"), [(3, 5)]);
    assert_eq!(found("some PUNCT between"), [(3, 1)]);
    assert_eq!(found("no VERB|NOUN between"), [(3, 1), (3, 5)]); // neither end is between
    assert_eq!(found("head just after PUNCT"), [(3, 1), (3, 5)]);
    assert_eq!(found("head just before PUNCT"), []);
    assert_eq!(found("dependent just after DET"), [(3, 5)]);
    assert_eq!(found("dependent just after *"), [(3, 5)]); // there is no word before the first
    assert_eq!(found("dependent just before *"), [(3, 1)]);
}

#[test]
fn the_root_is_not_a_word_and_stands_before_all_words() {
    let words = "a/VERB b/NOUN c/VERB";
    assert_eq!(arcs("r: VERB <- ROOT 50%", words), (vec![(0, 1), (0, 3)], 2.0));
    assert_eq!(arcs("r: VERB <- ROOT head left 50%", words), (vec![(0, 1), (0, 3)], 2.0));
    assert_eq!(arcs("r: VERB <- ROOT no VERB between 50%", words), (vec![(0, 1)], 2.0));
    assert_eq!(arcs("r: NOUN <- * 50%", words).0, [(1, 2), (3, 2)]);
    assert_eq!(arcs("r: * <- * 50% of pairs", "a/X"), (vec![], 0.0));
    assert_eq!(read("r: * <- * 50%").matches(&Sentence::default()).units, [0.0]);
}

#[test]
fn statistics_agree_with_counts_by_hand() {
    let rules = read(
        "pairs:  DET <- NOUN head right 75% of pairs
words:  NOUN <- VERB 75% of words
near:   DET <- nearest NOUN head right 75%
label:  NOUN <- VERB as nsubj 75% of words
root:   VERB <- ROOT 75% of words
noun:   NOUN <- NOUN 10% of pairs
none:   INTJ <- VERB 75%
",
    );
    let statistics = rules.statistics(&treebank());
    let counted = |pairs, arcs, words, candidates, nearest| RuleStatistics {
        pairs,
        arcs,
        words,
        candidates,
        nearest,
    };
    assert_eq!(
        statistics,
        [
            // the → cat; a → dog, a → cat, the → cat; that → today: five pairs, three of them arcs.
            counted(5, 3, 4, 4, 3),
            counted(4, 4, 4, 4, 4),
            // a → cat is hidden by dog.
            counted(4, 3, 4, 4, 3),
            counted(4, 2, 4, 4, 2),
            counted(3, 3, 3, 3, 3),
            counted(2, 0, 4, 2, 0),
            counted(0, 0, 0, 0, 0),
        ]
    );
    let targets: Vec<Option<f64>> = (rules.rules().iter().zip(&statistics))
        .map(|(rule, statistics)| statistics.target(rule.counting))
        .collect();
    assert_eq!(targets, [Some(0.6), Some(1.0), Some(0.75), Some(0.5), Some(1.0), Some(0.0), None]);
    assert_eq!(targets[0].map(bin), Some(0.5));
}

#[test]
fn a_survey_counts_words_overlaps_and_unknown_tags() {
    let rules = read(
        "a: DET <- nearest NOUN 1\nb: DET <- NOUN head right 1\nc: NOUM[Case=Loc] <- xpos=D 1\nd: * <- QQQ 1\ne: * <- VERB never",
    );
    let mut survey = Survey::new(&rules);
    for sentence in &treebank() {
        survey.add(sentence);
    }
    let coverage = survey.finish();
    assert_eq!((coverage.sentences, coverage.words, coverage.covered), (3, 12, 4));
    // Both sides of the second determiner of the second sentence have a noun.
    assert_eq!(coverage.rules[0], RuleCoverage { words: 4, candidates: 4, pairs: 5 });
    assert_eq!(coverage.rules[1], RuleCoverage { words: 4, candidates: 4, pairs: 5 });
    assert_eq!(coverage.rules[3], RuleCoverage { words: 12, candidates: 0, pairs: 0 });
    assert_eq!(coverage.rules[4], RuleCoverage { words: 12, candidates: 9, pairs: 9 });
    assert_eq!(coverage.overlaps, [Overlap { rules: [0, 1], arcs: 4 }]);
    let unknown: Vec<_> =
        coverage.unknown.iter().map(|u| (u.rule, u.column, &*u.found, u.like.as_deref())).collect();
    assert_eq!(
        unknown,
        [
            (2, "UPOS", "NOUM", Some("NOUN")),
            (2, "FEATS", "Case=Loc", None),
            (3, "UPOS", "QQQ", None)
        ]
    );
}

#[test]
fn words_without_heads_are_ignored() {
    let partial = sentence("a/DET b/DET/D/_/3/det c/NOUN");
    let statistics = read("r: DET <- NOUN 50%").statistics([&partial]);
    assert_eq!((statistics[0].words, statistics[0].pairs, statistics[0].arcs), (1, 1, 1));
}

#[test]
fn bins_are_those_of_the_paper() {
    for (p, expected) in [
        (0.0, 0.0),
        (0.05, 0.0),
        (0.06, 0.1),
        (0.17, 0.1),
        (0.18, 0.25),
        (0.375, 0.25),
        (0.38, 0.5),
        (0.9, 1.0),
        (1.0, 1.0),
    ] {
        assert_eq!(bin(p), expected, "{p}");
    }
}

fn parse(rules: &str, words: &str) -> Vec<usize> {
    let scores = read(rules).baseline_scores(&sentence(words));
    let d = TreeDistribution::new(scores, TreeSet::NonProjectiveMultiRoot).unwrap();
    d.argmax().tree.heads().to_vec()
}

#[test]
fn the_baseline_adds_up_targets() {
    let rules =
        read("a: NOUN <- VERB 60%..80%\nb: NOUN <- VERB head left >= 50%\nc: VERB <- ROOT 1");
    let scores = rules.baseline_scores(&sentence("a/NOUN b/VERB c/NOUN"));
    for (arc, expected) in
        [((2, 1), 0.7), ((2, 3), 1.45), ((0, 2), 1.0), ((1, 3), 0.0), ((0, 1), 0.0)]
    {
        assert!((scores[arc] - expected).abs() < 1e-6, "{arc:?} {}", scores[arc]);
    }
    assert_eq!(
        TreeDistribution::new(scores, TreeSet::NonProjectiveMultiRoot)
            .unwrap()
            .argmax()
            .tree
            .heads(),
        [2, 0, 2]
    );
}

#[test]
fn the_baseline_breaks_ties_by_the_nearest_head_then_the_left_one() {
    let rules = "a: NOUN <- VERB 50%\nb: VERB <- ROOT 1";
    assert_eq!(parse(rules, "a/VERB b/X c/NOUN d/VERB"), [0, 1, 4, 0]);
    assert_eq!(parse(rules, "a/VERB c/NOUN d/VERB"), [0, 1, 0]);
}

#[test]
fn the_baseline_violates_as_few_hard_constraints_as_possible() {
    let soft = "a: NOUN <- PUNCT 1\nb: NOUN <- ROOT 10%\n";
    assert_eq!(parse(&format!("{soft}c: * <- PUNCT never"), "a/PUNCT b/NOUN"), [2, 0]);
    assert_eq!(parse(&format!("{soft}c: * <- ROOT never"), "a/X"), [0]);
    assert_eq!(parse("a: X <- Y 1\nb: X <- Z always\nc: * <- ROOT 1", "a/Z b/Y c/X"), [0, 0, 1]);
}
