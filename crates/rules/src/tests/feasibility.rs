//! Tests of feasibility: small texts counted by hand, and no conflict if some parser satisfies all rules.

use proptest::collection::vec;
use proptest::prelude::*;
use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};

use super::properties::{any_rule, any_sentence, together};
use super::*;

const MULTI: TreeSet = TreeSet::NonProjectiveMultiRoot;
const SINGLE: TreeSet = TreeSet::NonProjectiveSingleRoot;

fn prospects(rules: &RuleSet, tree_set: TreeSet, sentences: &[Sentence]) -> FeasibilityReport {
    let mut feasibility = Feasibility::new(rules, tree_set);
    sentences.iter().for_each(|sentence| feasibility.add(sentence).unwrap());
    feasibility.finish()
}

#[test]
fn a_sentence_of_thousands_of_words_is_refused_before_its_arcs_are_listed() {
    let rules = read("any: * <- * 50%");
    let mut feasibility = Feasibility::new(&rules, MULTI);
    let words = (1..=20_000).map(|word| format!("{word}\tx\t_\tX\t_\t_\t_\t_\t_\t_\n"));
    let long: Sentence = words.collect::<String>().parse().unwrap();
    let error = feasibility.add(&long).unwrap_err().to_string();
    assert!(error.contains("20000 words, but matching of rules is limited to 1000"), "{error}");
    assert_eq!(feasibility.finish().without_tree, 0);
}

fn of(rules: &str, words: &str) -> FeasibilityReport {
    prospects(&read(rules), MULTI, &[sentence(words)])
}

/// Returns the conflicts: rules, reason, and excess to three digits.
fn conflicts(rules: &str, words: &str) -> Vec<([usize; 2], ConflictReason, f64)> {
    let rounded = |number: f64| (number * 1000.0).round() / 1000.0;
    let found = of(rules, words).conflicts;
    found
        .iter()
        .map(|conflict| (conflict.rules, conflict.reason, rounded(conflict.excess)))
        .collect()
}

#[test]
fn a_word_has_one_head() {
    let words = "a/VERB b/NOUN c/NOUN d/VERB";
    let both = |left: &str, right: &str| {
        conflicts(
            &format!("l: NOUN <- VERB head left {left}\nr: NOUN <- VERB head right {right}"),
            words,
        )
    };
    assert_eq!(both("80%", "60%"), [([0, 1], ConflictReason::Words, 0.8)]);
    assert_eq!(both("80%", "20%..90%"), []);
    assert_eq!(both("80%", "<= 90%"), []);
    assert_eq!(both("always", ">= 10%"), [([0, 1], ConflictReason::Words, 0.2)]);
    // 90 % of two nouns depend on the verb, and half of all three words on a noun.
    let rules = "verb: NOUN <- VERB 90%\nnoun: * <- NOUN 50%";
    assert_eq!(conflicts(rules, "a/NOUN b/NOUN c/VERB"), [([0, 1], ConflictReason::Words, 0.3)]);
    assert_eq!(conflicts(rules, "a/NOUN b/ADJ c/VERB"), []);
    // The same arcs may count for both.
    assert_eq!(conflicts("a: NOUN <- VERB 90%\nb: NOUN <- VERB|ADJ 90%", words), []);
}

#[test]
fn one_rule_may_require_arcs_that_another_forbids() {
    let words = "a/NOUN b/VERB c/NOUN";
    let near = "a: NOUN <- nearest VERB 90%\n";
    assert_eq!(
        conflicts(&format!("{near}b: NOUN <- VERB 10% of words"), words),
        [([0, 1], ConflictReason::Arcs, 1.6)]
    );
    assert_eq!(
        conflicts(&format!("{near}b: * <- VERB never"), words),
        [([0, 1], ConflictReason::Arcs, 1.8)]
    );
    // The second rule matches only one of the two words.
    assert_eq!(
        conflicts(&format!("{near}b: * <- VERB head left never"), words),
        [([0, 1], ConflictReason::Arcs, 0.8)]
    );
    assert_eq!(conflicts(&format!("{near}b: NOUN <- VERB 85%..95% of words"), words), []);
}

#[test]
fn some_targets_are_unreachable() {
    let words = "a/NOUN b/VERB c/NOUN d/VERB";
    let one = of("r: NOUN <- VERB head left 80% of words", words).rules[0];
    assert_eq!((one.units, one.reachable, one.unreachable), (2.0, Some(0.5), true));
    // Four pairs, two words.
    let pairs = of("r: NOUN <- VERB 80% of pairs", words).rules[0];
    assert_eq!((pairs.reachable, pairs.unreachable), (Some(0.5), true));
    let root = read("r: VERB <- ROOT 80%");
    let text = [sentence(words), sentence("a/NOUN")];
    assert_eq!(prospects(&root, MULTI, &text).rules[0].reachable, Some(1.0));
    assert_eq!(prospects(&root, SINGLE, &text).rules[0].reachable, Some(0.5));
    assert_eq!(of("r: VERB <- INTJ 80%", words).rules[0].reachable, Some(0.0));
    assert_eq!(of("r: INTJ <- VERB 80%", words).rules[0].reachable, None);
}

#[test]
fn targets_are_compared_with_the_uniform_distribution() {
    // Two words have three trees: both depend on the root, or one on the other.
    let rules = read("root: * <- ROOT 65%..70%\nnoun: NOUN <- VERB 90%\nhard: VERB <- NOUN never");
    let text = [sentence("a/NOUN b/VERB")];
    let found = prospects(&rules, MULTI, &text);
    let near = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-12;
    assert!(near(found.rules[0].uniform, 2.0 / 3.0) && near(found.rules[1].uniform, 1.0 / 3.0));
    let nothing: Vec<bool> = found.rules.iter().map(|rule| rule.teaches_nothing).collect();
    assert_eq!(nothing, [true, false, false]);
    // With one root, two trees.
    let found = prospects(&rules, SINGLE, &text);
    assert!(near(found.rules[0].uniform, 0.5) && near(found.rules[1].uniform, 0.5));
}

#[test]
fn hard_constraints_may_leave_no_tree() {
    let rules = read("hard: * <- ROOT no VERB between never\nverb: NOUN <- nearest VERB always");
    // The root must not head the words up to the first verb.
    let text = ["a/VERB b/VERB", "a/NOUN b/VERB", "a/NOUN", "a/VERB"].map(sentence);
    let found = prospects(&rules, MULTI, &text);
    assert_eq!(found.without_tree, 3);
    let first = found.first_without_tree.unwrap();
    assert_eq!((first.sentence, first.sent_id), (2, None));
    assert!(first.why.contains("word"), "{}", first.why);
    assert_eq!(of("r: NOUN <- VERB 50%", "a/NOUN").without_tree, 0);
}

#[test]
fn uncovered_tags_and_undirected_rules_are_found() {
    let rules = "a: NOUN <- VERB 50%\nb: ADJ <- nearest NOUN 50%\nc: VERB <- ROOT 50%\n\
                 d: DET <- * never\ne: X <- VERB head left 0%\nf: ADP <- NOUN head right 50%";
    let found = of(rules, "a/NOUN b/VERB c/DET d/X e/DET f/ADP");
    let uncovered_tags: Vec<_> =
        found.uncovered_tags.iter().map(|tag| (&*tag.tag, tag.words)).collect();
    assert_eq!(uncovered_tags, [("DET", 2), ("ADP", 1), ("X", 1)]);
    let undirected: Vec<bool> = found.rules.iter().map(|rule| rule.undirected).collect();
    assert_eq!(undirected, [true, false, false, false, false, false]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Targets are the shares of some parser, so it satisfies all rules and there must be no conflict.
    #[test]
    fn rules_that_a_parser_satisfies_have_no_conflict(
        rules in vec(any_rule(), 1..6),
        text in vec((any_sentence(), vec(-3.0..3.0f64, 56)), 1..4),
        set in 0..4usize,
    ) {
        let Some(rules) = together(rules) else { return Ok(()) };
        let set = [
            TreeSet::NonProjectiveMultiRoot,
            TreeSet::NonProjectiveSingleRoot,
            TreeSet::ProjectiveMultiRoot,
            TreeSet::ProjectiveSingleRoot,
        ][set];
        let mut mass = vec![0.0; rules.len()];
        let mut units = vec![0.0; rules.len()];
        for (sentence, scores) in &text {
            let scores = ArcMatrix::from_fn(sentence.len(), |h, m| scores[(7 * h + m - 1) % 56]);
            let parser = TreeDistribution::new(scores, set).unwrap();
            let matches = rules.matches(sentence);
            for &(head, modifier, rule) in &matches.arcs {
                mass[rule as usize] += parser.marginals()[(head as usize, modifier as usize)];
            }
            units.iter_mut().zip(&matches.units).for_each(|(sum, units)| *sum += units);
        }
        let satisfied = rules.rules().iter().enumerate().map(|(q, rule)| {
            let share = if units[q] > 0.0 { (mass[q] / units[q]).min(1.0) } else { 0.0 };
            Rule { target: Target::Exactly(share), ..rule.clone() }
        });
        let Ok(satisfied) = RuleSet::new("satisfied", satisfied.collect()) else { return Ok(()) };
        let text: Vec<Sentence> = text.into_iter().map(|(sentence, _)| sentence).collect();
        let found = prospects(&satisfied, set, &text);
        prop_assert!(found.conflicts.is_empty(), "{:?}", found.conflicts);
        prop_assert!(found.rules.iter().all(|rule| !rule.unreachable));
        prop_assert_eq!(found.without_tree, 0);
    }
}
