//! Tests of suggested rules: counts by hand, and comparison with an enumeration of all possible rules.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::suggest::{Order, Selection, Suggest, TagColumn};

fn suggested(suggest: Suggest) -> Vec<(String, Target)> {
    let rules = suggest.rules("counted", &treebank()).unwrap();
    rules.rules().iter().map(|rule| (rule.name.clone(), rule.target)).collect()
}

fn named(rules: &[(&str, f64)]) -> Vec<(String, Target)> {
    rules.iter().map(|&(name, target)| (name.to_owned(), Target::Exactly(target))).collect()
}

#[test]
fn pairs_with_the_largest_share_come_first() {
    let top = Suggest { selection: Selection::Top, least: Some(3), ..Suggest::default() };
    let certain =
        [("VERB-ROOT", 1.0), ("DET-NOUN-right", 0.5), ("NOUN-DET-left", 0.0), ("DET-ROOT", 0.0)];
    assert_eq!(suggested(Suggest { top: 4, ..top }), named(&certain)); // 3 of 3, 3 of 5, 0 of 5, 0 of 4
    let exact = [("VERB-ROOT", 1.0), ("DET-NOUN-right", 0.6)];
    assert_eq!(suggested(Suggest { top: 2, binned: false, ..top }), named(&exact));
    // Two of two is the larger share, three of five are more arcs.
    let arcs = Suggest { top: 3, least: Some(2), order: Order::Arcs, ..top };
    let most = [("VERB-ROOT", 1.0), ("DET-NOUN-right", 0.5), ("NOUN-VERB-left", 1.0)];
    assert_eq!(suggested(arcs), named(&most));
    assert_eq!(suggested(Suggest { least: None, ..top }), []);
}

#[test]
fn nearest_rules_count_words() {
    let nearest =
        Suggest { selection: Selection::Nearest, least: Some(3), top: 3, ..Suggest::default() };
    let counted = [("VERB-ROOT", 1.0), ("DET-NOUN-right", 0.75), ("DET-ROOT", 0.0)];
    assert_eq!(suggested(nearest), named(&counted));
    let rules = nearest.rules("counted", &treebank()).unwrap();
    assert_eq!(
        rules.to_string(),
        "\
VERB-ROOT:       VERB  <- ROOT                      100% of words
DET-NOUN-right:  DET   <- nearest NOUN  head right  75%
DET-ROOT:        DET   <- ROOT                      0% of words
"
    );
}

#[test]
fn parents_are_all_predicates_with_arcs() {
    let parents = Suggest { least: Some(0), ..Suggest::default() };
    assert_eq!(
        suggested(parents),
        named(&[
            ("VERB-ROOT", 1.0),
            ("NOUN-VERB-left-2", 1.0),
            ("NOUN-VERB-right-1", 1.0),
            ("DET-NOUN-right-1", 0.75), // 2 of 3
            ("ADJ-NOUN-right-1", 1.0),
            ("DET-NOUN-right-2", 1.0),
            ("DET-VERB-left-1", 0.5),
        ])
    );
    assert_eq!(suggested(Suggest { least: Some(2), ..parents }), named(&[("VERB-ROOT", 1.0)]));
}

#[test]
fn a_clause_may_make_an_arc_probable() {
    // A noun after a verb depends on it once, with a determiner between, and four times it does not.
    let with = "a/VERB/_/_/0 b/DET/_/_/3 c/NOUN/_/_/1";
    let without = "a/VERB/_/_/0 b/X/_/_/1 c/NOUN/_/_/2";
    let bank: Vec<Sentence> =
        [with, without, without, without, without].into_iter().map(sentence).collect();
    let suggest =
        Suggest { selection: Selection::ParentsSequence, least: Some(4), ..Suggest::default() };
    let rules = suggest.rules("counted", &bank).unwrap();
    let [root, clause] = rules.rules() else { panic!("{rules}") };
    assert_eq!(root.to_string(), "VERB-ROOT:  VERB  <- ROOT  100% of pairs");
    assert_eq!(
        clause.to_string(),
        "NOUN-VERB-left-2+between-DET:  NOUN  <- VERB  head left  distance 2  some DET between  100% of pairs"
    );
    assert_eq!(Suggest { sequence: 0, ..suggest }.rules("counted", &bank).unwrap().len(), 1);
}

#[test]
fn tags_may_be_xpos_with_upos_as_fallback() {
    let bank = [sentence("a/DET/D,:/_/2 b/NOUN/_/_/3 c/VERB/NOUN/_/0")];
    let suggest = Suggest { tags: TagColumn::Xpos, least: Some(0), ..Suggest::default() };
    let rules = suggest.rules("counted", &bank).unwrap();
    assert_eq!(
        rules.to_string(),
        "\
D__-NOUN-right-1:   xpos=\"D,:\"    <- NOUN[xpos=_]  head right  distance 1  100% of pairs
NOUN-ROOT:          xpos=NOUN     <- ROOT                                  100% of pairs
NOUN-NOUN-right-1:  NOUN[xpos=_]  <- xpos=NOUN     head right  distance 1  100% of pairs
"
    );
    assert_eq!(RuleSet::parse("counted", &rules.to_string()).unwrap(), rules);
}

#[test]
fn names_are_unique() {
    let bank = [sentence("a/A,/_/_/2 b/B/_/_/0 c/A:/_/_/4 d/B/_/_/2")];
    let rules = Suggest { least: Some(0), ..Suggest::default() }.rules("counted", &bank).unwrap();
    let names: Vec<&str> = rules.rules().iter().map(|rule| &*rule.name).collect();
    assert_eq!(names, ["A_-B-right-1", "A_-B-right-1.2", "B-B-left-2", "B-ROOT"]);
}

/// Short sentences over two tags, some words without heads.
fn any_treebank() -> impl Strategy<Value = Vec<Sentence>> {
    let word = ("[AB]", "[AB_]", option::weighted(0.9, 0..8usize));
    let words = vec(word, 1..8).prop_map(|words| {
        let n = words.len();
        let column = |(at, (upos, xpos, head)): (usize, &(String, String, Option<usize>))| {
            let head = head.map(|head| head % (n + 1)).filter(|&head| head != at);
            let head = head.map_or("_".to_owned(), |head| head.to_string());
            format!("{upos}/{upos}/{xpos}/_/{head}")
        };
        sentence(&(1..).zip(&words).map(column).collect::<Vec<_>>().join(" "))
    });
    vec(words, 1..6)
}

fn any_suggest() -> impl Strategy<Value = Suggest> {
    let selections = vec![
        Selection::Top,
        Selection::Nearest,
        Selection::Parents,
        Selection::ParentsSequence,
        Selection::Curve,
    ];
    let of = |all: Vec<TagColumn>| prop::sample::select(all);
    let order = prop::sample::select(vec![Order::Share, Order::Arcs]);
    let top = prop::sample::select(vec![0, 1, 2, 5, 8, usize::MAX]);
    let tags = of(vec![TagColumn::Upos, TagColumn::Xpos]);
    (prop::sample::select(selections), top, 0..3u64, tags, order, any::<bool>()).prop_map(
        |(selection, top, least, tags, order, binned)| Suggest {
            selection,
            top,
            least: Some(least),
            tags,
            order,
            binned,
            sequence: top,
        },
    )
}

fn without_clauses(rule: &Rule) -> Rule {
    let place = Place { between: vec![], beside: vec![], ..rule.place.clone() };
    Rule { place, ..rule.clone() }
}

fn counted(rule: &Rule, bank: &[Sentence]) -> RuleStatistics {
    RuleSet::new("one", vec![Rule { name: "r".to_owned(), ..rule.clone() }])
        .unwrap()
        .statistics(bank)[0]
}

/// Enumerates the rules over two tags: without clauses, or with exactly one.
fn possible(distances: bool, clauses: bool) -> Vec<Rule> {
    let mut places = vec![Place::default()];
    if distances {
        let ends = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 10), (11, 0)];
        places = ends
            .map(|(least, most)| {
                let distance = Distance { least, most: Some(most).filter(|&most| most > 0) };
                Place { distance: Some(distance), ..Place::default() }
            })
            .to_vec();
    }
    let mut rules = Vec::new();
    for dependent in ["A", "B"] {
        let plain = Rule {
            name: String::new(),
            line: 1,
            dependent: Test::upos(dependent),
            head: Head::Root,
            nearest: false,
            as_label: None,
            place: Place::default(),
            counting: Counting::Pairs,
            target: Target::Exactly(0.0),
            weight: 1.0,
            group: None,
        };
        rules.push(plain.clone());
        for head in ["A", "B"] {
            for direction in [Direction::Left, Direction::Right] {
                for place in &places {
                    let place = Place { direction, ..place.clone() };
                    let head = Head::Word(Test::upos(head));
                    rules.push(Rule { head, place, ..plain.clone() });
                }
            }
        }
    }
    if !clauses {
        return rules;
    }
    let mut with = Vec::new();
    for rule in &rules {
        for tag in ["A", "B"] {
            let mut between = rule.clone();
            between.place.between = vec![Between { some: true, test: Test::upos(tag) }];
            with.push(between);
            use Neighbour::*;
            for neighbour in [BeforeHead, AfterHead, BeforeDependent, AfterDependent] {
                let of_head = matches!(neighbour, BeforeHead | AfterHead);
                let after = matches!(neighbour, AfterHead | AfterDependent);
                let inward = (rule.place.direction == Direction::Left) == (of_head == after);
                // This neighbour is the only word between, and counted there.
                let only = inward && rule.place.distance.is_some_and(|d| d.least == 2);
                if only || (of_head && rule.head == Head::Root) {
                    continue;
                }
                let mut beside = rule.clone();
                beside.place.beside = vec![(neighbour, Test::upos(tag))];
                with.push(beside);
            }
        }
    }
    with
}

/// Returns the rule as text, without its name, line and target.
fn predicate(rule: &Rule) -> String {
    let target = Target::Exactly(0.0);
    Rule { name: "r".to_owned(), line: 1, target, ..rule.clone() }.to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn targets_agree_with_statistics(suggest in any_suggest(), bank in any_treebank()) {
        let rules = suggest.rules("counted", &bank).unwrap();
        prop_assert!(rules.warnings().is_empty());
        let sequence = if suggest.selection == Selection::ParentsSequence { suggest.sequence } else { 0 };
        prop_assert!(rules.len() <= suggest.top.saturating_add(sequence));
        for (rule, statistics) in rules.rules().iter().zip(rules.statistics(&bank)) {
            let share = statistics.target(rule.counting).unwrap();
            let share = if suggest.binned { bin(share) } else { share };
            prop_assert_eq!(rule.target, Target::Exactly(share), "{}", rule);
        }
        prop_assert_eq!(RuleSet::parse("counted", &rules.to_string()).unwrap(), rules);
    }

    #[test]
    fn no_frequent_rule_is_missing(bank in any_treebank(), distances in any::<bool>(), least in 0..4u64) {
        let selection = if distances { Selection::Parents } else { Selection::Top };
        let suggest = Suggest { selection, least: Some(least), ..Suggest::default() };
        let rules = suggest.rules("counted", &bank).unwrap();
        let found: BTreeSet<String> = rules.rules().iter().map(predicate).collect();
        let enough = |rule: &&Rule| {
            let counted = counted(rule, &bank);
            if distances { counted.arcs > least } else { counted.pairs >= least.max(1) }
        };
        let expected = possible(distances, false).iter().filter(enough).map(predicate).collect();
        prop_assert_eq!(found, expected);
        let key = |rule: &Rule| {
            let c = counted(rule, &bank);
            let share = c.arcs as f64 / c.pairs as f64;
            if distances { (c.arcs as f64, share) } else { (share, c.pairs as f64) }
        };
        prop_assert!(rules.rules().is_sorted_by(|a, b| key(a) >= key(b)));
    }

    #[test]
    fn clauses_make_arcs_probable(bank in any_treebank()) {
        let suggest = Suggest {
            selection: Selection::ParentsSequence,
            top: 0,
            sequence: usize::MAX,
            ..Suggest::default()
        };
        let rules = suggest.rules("counted", &bank).unwrap();
        let share = |rule: &Rule| counted(rule, &bank).target(Counting::Pairs).unwrap_or(0.5);
        let difference = |rule: &Rule| share(rule) >= 0.75 && share(&without_clauses(rule)) <= 0.25;
        for rule in rules.rules() {
            prop_assert!(difference(rule), "{}", rule);
        }
        let pairs: Vec<u64> = rules.rules().iter().map(|rule| counted(rule, &bank).pairs).collect();
        prop_assert!(pairs.is_sorted_by(|a, b| a >= b));
        let single = |rule: &&Rule| rule.place.between.len() + rule.place.beside.len() == 1;
        let found: BTreeSet<String> = rules.rules().iter().filter(single).map(predicate).collect();
        let expected: BTreeSet<String> = possible(true, true)
            .iter()
            .filter(|rule| difference(rule))
            .map(predicate)
            .collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_curve_is_half_with_clauses(bank in any_treebank(), top in 0..9usize, least in 0..3u64) {
        let suggest = Suggest { selection: Selection::Curve, top, least: Some(least), ..Suggest::default() };
        let rules = suggest.rules("counted", &bank).unwrap();
        let is_plain = |rule: &Rule| *rule == without_clauses(rule);
        let (plain, with): (Vec<&Rule>, Vec<&Rule>) = rules.rules().iter().partition(|r| is_plain(r));
        prop_assert!(plain.len() <= top - top / 2 && with.len() <= top / 2);
        let share = |rule: &Rule| counted(rule, &bank).target(Counting::Pairs).unwrap();
        for half in [&plain, &with] {
            prop_assert!(half.is_sorted_by(|a, b| share(a) >= share(b)));
            prop_assert!(half.iter().all(|rule| counted(rule, &bank).pairs > least));
        }
        prop_assert!(with.iter().all(|rule| share(rule) > share(&without_clauses(rule))));
        let often = possible(true, false).iter().filter(|r| counted(r, &bank).pairs > least).count();
        prop_assert_eq!(plain.len(), often.min(top - top / 2));
    }
}
