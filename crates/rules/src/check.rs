//! Semantic checks: rules that are well-formed but contradict themselves or each other.

use std::collections::BTreeMap;

use crate::condition::{Attribute, Test};
use crate::cursor::needs_quotes;
use crate::error::Problem;
use crate::located::{LocatedRule, Part};
use crate::read;
use crate::rule::{Counting, Direction, Head, Neighbour, Rule, Target};

/// Treatment of the open target `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenTargets {
    Allowed,
    Refused,
}

/// Returns a problem if a rule that a program has built would change when written to a file and read back.
pub(crate) fn roundtrip_problem(rule: &Rule) -> Option<Problem> {
    let text = rule.to_string();
    let read = read::rule(&text, rule.line, &Attribute::Upos);
    let is_same = matches!(&read, Ok(Some(read)) if read.rule == *rule);
    (!is_same || text.contains(['\n', '\r'])).then(|| Problem {
        line: rule.line,
        column: 1,
        message: format!(
            "the rule {text:?} cannot be written to a file and read back{}",
            read.err().map_or(String::new(), |problem| format!(": {}", problem.message))
        ),
    })
}

/// Returns the rules to keep, in order, and the warnings. Adds errors to `problems`.
pub(crate) fn check(
    rules: Vec<LocatedRule>,
    problems: &mut Vec<Problem>,
    open: OpenTargets,
) -> (Vec<Rule>, Vec<Problem>) {
    let mut kept = Vec::<Rule>::new();
    let mut warnings = Vec::new();
    let mut names = BTreeMap::new();
    let mut predicates = BTreeMap::<String, usize>::new();
    for mut located in rules {
        let before = problems.len();
        check_alone(&located, problems);
        if located.rule.target == Target::Open && open == OpenTargets::Refused {
            let message = "the target is open (?): count it in a treebank with `tutte rules suggest \
                           --fill RULES TREEBANK`";
            problems.push(located.problem(Part::Target, message.to_owned()));
        }
        if located.rule.head == Head::Root && located.rule.place.direction == Direction::Left {
            // The root is always on the left.
            located.rule.place.direction = Direction::Any;
        }
        let line = located.rule.line;
        if let Some(first) = names.insert(located.rule.name.clone(), line) {
            let message = format!(
                "the name {:?} is already used on line {first}: rename one of the two rules",
                located.rule.name
            );
            problems.push(located.problem(Part::Rule, message));
        }
        if problems.len() > before {
            continue;
        }
        match predicates.get(&predicate(&located.rule)).map(|&at| &kept[at]) {
            Some(first) if first.target == located.rule.target => {
                let message = format!("duplicate of the rule on line {}: left out", first.line);
                warnings.push(located.problem(Part::Rule, message));
            }
            Some(first) => {
                let message = format!(
                    "the target is {} here and {} on line {}, but both rules match the same arcs: \
                     remove one of them",
                    located.rule.target, first.target, first.line
                );
                problems.push(located.problem(Part::Target, message));
            }
            None => {
                predicates.insert(predicate(&located.rule), kept.len());
                kept.push(located.rule);
            }
        }
    }
    warnings.extend(overfull_groups(&kept));
    (kept, warnings)
}

/// Returns a warning for each group whose smallest shares add up to more than 100 %.
fn overfull_groups(rules: &[Rule]) -> Vec<Problem> {
    let mut sums = BTreeMap::<&str, (usize, f64)>::new();
    for rule in rules {
        if let Some(group) = &rule.group {
            sums.entry(group).or_insert((rule.line, 0.0)).1 += rule.target.bounds().0;
        }
    }
    // Rounding may put a sum of 100 % slightly above 1.
    let overfull = sums.into_iter().filter(|(_, (_, sum))| *sum > 1.0 + 1e-9);
    overfull
        .map(|(group, (line, sum))| Problem {
            line,
            column: 1,
            message: format!(
                "the shares of group {group} add up to {:.0} %, but a group divides the heads of the \
                 same words among its rules: lower some shares to reach at most 100 %",
                100.0 * sum
            ),
        })
        .collect()
}

/// Returns a text that is equal for rules that count the same arcs in the same way. It has no name and no target,
/// and alternatives are sorted.
fn predicate(rule: &Rule) -> String {
    let sorted = |test: &Test| {
        let mut alternatives: Vec<String> =
            test.alternatives.iter().map(ToString::to_string).collect();
        alternatives.sort_unstable();
        alternatives.dedup();
        alternatives.join("|")
    };
    let head = match &rule.head {
        Head::Root => "ROOT".to_owned(),
        Head::Word(test) => sorted(test),
    };
    let place = &rule.place;
    let mut clauses: Vec<String> =
        place.between.iter().map(|b| format!("{} {}", b.some, sorted(&b.test))).collect();
    clauses.extend(place.beside.iter().map(|(n, test)| format!("{n:?} {}", sorted(test))));
    clauses.sort_unstable();
    clauses.dedup();
    format!(
        "{} <- {} {head} as {:?} {:?} {:?} {clauses:?} {:?}",
        sorted(&rule.dependent),
        rule.nearest,
        rule.as_label,
        place.direction,
        place.distance,
        rule.counting
    )
}

/// Adds the errors that do not depend on other rules.
fn check_alone(located: &LocatedRule, problems: &mut Vec<Problem>) {
    let LocatedRule { rule, .. } = located;
    let mut found = |part, message: &str| problems.push(located.problem(part, message.to_owned()));
    let (low, high) = rule.target.bounds();
    let is_share = |share: f64| (0.0..=1.0).contains(&share);
    if !is_share(low) || !is_share(high) {
        let message = format!("found the target {}, expected 0 to 1, or 0% to 100%", rule.target);
        found(Part::Target, &message);
    } else if let Target::Range(low, high) = rule.target
        && low > high
    {
        found(Part::Target, "the range ends before it begins: write the smaller share first");
    }
    if !rule.weight.is_finite() || rule.weight <= 0.0 {
        let message = format!("found the weight {}, expected a number above 0", rule.weight);
        found(Part::Weight, &message);
    }
    if let Some(distance) = rule.place.distance {
        if distance.least == 0 {
            found(
                Part::Distance,
                "found the distance 0, expected 1 or more: neighbours are at distance 1",
            );
        }
        if distance.most.is_some_and(|most| most < distance.least) {
            found(
                Part::Distance,
                "the range ends before it begins: write the smaller distance first",
            );
        }
    }
    if rule.counting == Counting::Nearest && !rule.nearest {
        found(
            Part::Counting,
            "`of nearest` needs a nearest head: write `<- nearest TAG`, or `of words`",
        );
    }
    if rule.head == Head::Root {
        let place = &rule.place;
        if rule.nearest {
            found(Part::Nearest, "found `nearest ROOT`: there is only one root, remove `nearest`");
        }
        if place.direction == Direction::Right {
            found(
                Part::Direction,
                "this never matches: the root is left of all words; write `head left` or nothing (as \
                 an arrow, ROOT -> TAG)",
            );
        }
        if place.distance.is_some() {
            found(
                Part::Distance,
                "this never matches: the root has no distance to a word; remove the clause",
            );
        }
        for neighbour in [Neighbour::BeforeHead, Neighbour::AfterHead] {
            if place.beside.iter().any(|(found, _)| *found == neighbour) {
                found(
                    Part::Beside(neighbour),
                    "this never matches: no word is beside the root; remove the clause",
                );
            }
        }
    }
    let name = &rule.name;
    if name.is_empty() || needs_quotes(name, false) {
        let message =
            format!("found {name:?}, expected a name without spaces and without |[],\"=~<");
        found(Part::Rule, &message);
    }
}
