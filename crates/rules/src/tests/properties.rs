//! Property tests: rules are read back, matches agree with a slow twin, and any file gives rules or errors.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;

fn any_value() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[A-E]",
        1 => prop::sample::select(vec!["ROOT", "nearest", "*", "#", ",", ":", "a b", "\"", "\\", "/", "<-", "_", "é|x", "of"]).prop_map(str::to_owned),
    ]
}

fn any_condition() -> impl Strategy<Value = Condition> {
    let attribute = prop_oneof![
        Just(Attribute::Upos),
        Just(Attribute::Xpos),
        Just(Attribute::Lemma),
        Just(Attribute::Form),
        Just(Attribute::Feature("Case".to_owned())),
        Just(Attribute::Feature("Number[psor]".to_owned())),
    ];
    let patterns = vec!["^[AB]", "C|D", "a/b", r"\\", r"\d /", "", "#", "^.$"];
    let value = prop_oneof![
        any_value().prop_map(Value::Is),
        prop::sample::select(patterns).prop_map(|pattern| Value::Like(pattern.to_owned())),
    ];
    (attribute, value).prop_map(|(attribute, value)| Condition { attribute, value })
}

fn any_test() -> impl Strategy<Value = Test> {
    let tag = any_value().prop_map(|tag| Test::upos(&tag).alternatives[0].clone());
    let some = vec(any_condition(), 0..3).prop_map(|conditions| Alternative { conditions });
    vec(prop_oneof![3 => tag, 1 => some], 1..3).prop_map(|alternatives| Test { alternatives })
}

fn any_place() -> impl Strategy<Value = Place> {
    let direction = prop::sample::select(vec![Direction::Any, Direction::Left, Direction::Right]);
    let distance = (1..4usize, option::of(0..3usize))
        .prop_map(|(least, more)| Distance { least, most: more.map(|more| least + more) });
    let between = (any::<bool>(), any_test()).prop_map(|(some, test)| Between { some, test });
    let neighbour = prop::sample::select(vec![
        Neighbour::BeforeHead,
        Neighbour::AfterHead,
        Neighbour::BeforeDependent,
        Neighbour::AfterDependent,
    ]);
    (
        direction,
        option::weighted(0.3, distance),
        vec(between, 0..2),
        vec((neighbour, any_test()), 0..2),
    )
        .prop_map(|(direction, distance, between, beside)| Place {
            direction,
            distance,
            between,
            beside,
        })
}

fn any_target() -> impl Strategy<Value = Target> {
    let share = || prop_oneof![(0..=100u32).prop_map(|p| f64::from(p) / 100.0), 0.0..=1.0f64];
    prop_oneof![
        share().prop_map(Target::Exactly),
        (share(), share()).prop_map(|(a, b)| Target::Range(a.min(b), a.max(b))),
        share().prop_map(Target::AtLeast),
        share().prop_map(Target::AtMost),
        Just(Target::Always),
        Just(Target::Never),
    ]
}

pub(super) fn any_rule() -> impl Strategy<Value = Rule> {
    let head = prop_oneof![1 => Just(Head::Root), 4 => any_test().prop_map(Head::Word)];
    let counting = prop::sample::select(vec![Counting::Pairs, Counting::Words, Counting::Nearest]);
    let rest = (any_target(), 0.01..5.0f64, option::weighted(0.3, any_value()));
    (
        any_test(),
        head,
        any::<bool>(),
        option::weighted(0.3, any_value()),
        any_place(),
        counting,
        rest,
    )
        .prop_map(
            |(dependent, head, nearest, as_label, mut place, counting, (target, weight, group))| {
                let root = head == Head::Root;
                if root {
                    place.direction = Direction::Any;
                    place.distance = None;
                    place.beside.retain(|(neighbour, _)| {
                        !matches!(neighbour, Neighbour::BeforeHead | Neighbour::AfterHead)
                    });
                }
                let nearest = (nearest || counting == Counting::Nearest) && !root;
                let counting = match counting {
                    Counting::Nearest if root => Counting::Words,
                    counting => counting,
                };
                let name = "r".to_owned();
                Rule {
                    name,
                    line: 1,
                    dependent,
                    head,
                    nearest,
                    as_label,
                    place,
                    counting,
                    target,
                    weight,
                    group,
                }
            },
        )
}

pub(super) fn any_sentence() -> impl Strategy<Value = Sentence> {
    let feats = prop::sample::select(vec!["_", "Case=A", "Case=A,B|Number[psor]=C"]);
    let word = ("[A-E]", "[A-E]", "[A-E]", feats)
        .prop_map(|(form, upos, xpos, feats)| format!("{form}/{upos}/{xpos}/{feats}"));
    vec(word, 1..8).prop_map(|words| sentence(&words.join(" ")))
}

/// Matches one arc in the plainest way: the slow twin of `RuleSet::matches`.
fn matches_slowly(rule: &Rule, sentence: &Sentence, head: usize, modifier: usize) -> bool {
    let holds = |test: &Test, word: usize| {
        word > 0 && sentence.word(word).is_some_and(|word| test.holds(word).unwrap())
    };
    let (first, last) = (head.min(modifier), head.max(modifier));
    let between = first + 1..last;
    let is_head = match &rule.head {
        Head::Root => head == 0,
        Head::Word(test) => {
            holds(test, head) && (!rule.nearest || !between.clone().any(|word| holds(test, word)))
        }
    };
    let place = &rule.place;
    is_head
        && holds(&rule.dependent, modifier)
        && match place.direction {
            Direction::Any => true,
            Direction::Left => head < modifier,
            Direction::Right => modifier < head,
        }
        && place.distance.is_none_or(|d| {
            head > 0 && last - first >= d.least && d.most.is_none_or(|most| last - first <= most)
        })
        && place.between.iter().all(|b| between.clone().any(|word| holds(&b.test, word)) == b.some)
        && place.beside.iter().all(|(neighbour, test)| match neighbour {
            Neighbour::BeforeHead => head > 0 && holds(test, head - 1),
            Neighbour::AfterHead => head > 0 && holds(test, head + 1),
            Neighbour::BeforeDependent => holds(test, modifier - 1),
            Neighbour::AfterDependent => holds(test, modifier + 1),
        })
}

/// Gives rules distinct names and lines. Returns `None` if they contradict or repeat each other.
pub(super) fn together(rules: Vec<Rule>) -> Option<RuleSet> {
    let named =
        (1..).zip(rules).map(|(line, rule)| Rule { name: format!("r{line}"), line, ..rule });
    RuleSet::new("any", named.collect()).ok().filter(|rules| rules.warnings().is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_written_rule_is_read_back(rule in any_rule()) {
        let text = rule.to_string();
        let read = RuleSet::parse("any", &text).map_err(|error| TestCaseError::fail(format!("{text}\n{error}")))?;
        prop_assert_eq!(&read.rules()[0], &rule, "{}", text);
        let made = RuleSet::new("any", vec![rule]);
        prop_assert_eq!(made.unwrap(), read);
    }

    #[test]
    fn a_written_file_is_read_back(rules in vec(any_rule(), 0..6)) {
        let Some(rules) = together(rules) else { return Ok(()) };
        prop_assert_eq!(RuleSet::parse("any", &rules.to_string()).unwrap(), rules);
    }

    #[test]
    fn matches_agree_with_the_slow_twin(rules in vec(any_rule(), 1..6), sentence in any_sentence()) {
        let Some(rules) = together(rules) else { return Ok(()) };
        let n = sentence.len();
        let mut arcs = Vec::new();
        let mut units = Vec::new();
        for (q, rule) in rules.rules().iter().enumerate() {
            let mut own = Vec::new();
            for head in 0..=n {
                let matching = |&modifier: &usize| modifier != head && matches_slowly(rule, &sentence, head, modifier);
                own.extend((1..=n).filter(matching).map(|m| (head as u32, m as u32, q as u32)));
            }
            let words = sentence.words().filter(|&word| rule.dependent.holds(word).unwrap()).count();
            let candidates: std::collections::BTreeSet<u32> = own.iter().map(|arc| arc.1).collect();
            units.push(match rule.counting {
                Counting::Pairs => own.len(),
                Counting::Words => words,
                Counting::Nearest => candidates.len(),
            } as f64);
            arcs.append(&mut own);
        }
        arcs.sort_unstable();
        prop_assert_eq!(rules.matches(&sentence), Matches { arcs, units });
    }

    #[test]
    fn any_bytes_give_rules_or_errors(bytes in vec(any::<u8>(), 0..80)) {
        let _ = RuleSet::from_bytes("any", &bytes);
    }

    #[test]
    fn any_pieces_give_rules_or_errors(pieces in vec(prop::sample::select(vec![
        "r:", "NOUN", "<-", "->", "ROOT", "nearest", "|", "[", "]", "Case=", "form~/", "/", "\"", "\\", "é",
        "head", "left", "just", "after", "distance", "1..", "..", "no", "some", "between", "50%", ">=", "≥",
        "of", "pairs", "weight", "99999999999999999999", "as", "#", "#tags=", "\t", "\n", " ", "edge", "*", ",",
        "surround", "p-1=", "c+1=", "bin:", "?", "%", "\u{a0}", "\u{feff}", ">18446744073709551615",
    ]), 0..16), spaces in any::<bool>()) {
        let text = pieces.join(if spaces { " " } else { "" });
        match RuleSet::parse("any", &text) {
            Ok(rules) => {
                rules.matches(&sentence("a/NOUN b/VERB"));
                rules.baseline_scores(&sentence("a/NOUN b/VERB"));
            }
            Err(invalid) => prop_assert!(!invalid.problems.is_empty()),
        }
    }
}
