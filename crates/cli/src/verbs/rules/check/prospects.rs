//! What may be expected of rules, in words.

use tutte::rules::{Coverage, Over, Prospects, RuleProspects, Rules};

use super::{place, share};
use crate::report::{count, counted, percent, visible};

/// How many of a kind are told; `--json` has all.
const SHOWN: usize = 8;

/// What no parser can do: keep some rule, two rules, or all laws.
pub(super) fn impossible(rules: &Rules, prospects: &Prospects) -> Vec<String> {
    let alone = prospects.rules.iter().enumerate().filter(|(_, rule)| rule.unreachable);
    let mut told: Vec<String> = alone
        .map(|(number, rule)| {
            let most = share(rule.reachable.unwrap_or_default());
            let target = rules.rules()[number].target;
            format!("{}: no parser can reach {target}, only {most}: lower it", place(rules, number))
        })
        .collect();
    shorten(&mut told, "rules out of reach");
    let mut conflicts: Vec<String> = (prospects.conflicts.iter())
        .map(|conflict| {
            let [first, second] = conflict.rules;
            let other = &rules.rules()[second];
            let law = [first, second].iter().any(|&rule| rules.rules()[rule].target.is_hard());
            let what = if law { "change one of them" } else { "lower one of them" };
            let (excess, shared) = (conflict.excess, counted(conflict.shared as usize, "word"));
            match conflict.over {
                Over::Words => format!(
                    "{}: together with {} (line {}) this asks for {excess:.1} heads too many for \
                     {shared}: {what}",
                    place(rules, first),
                    other.name,
                    other.line
                ),
                Over::Arcs => format!(
                    "{}: {} (line {}) is about the same arcs, and the two are {excess:.1} apart for \
                     {shared}: {}",
                    place(rules, first),
                    other.name,
                    other.line,
                    if law { what } else { "bring the targets together" }
                ),
            }
        })
        .collect();
    shorten(&mut conflicts, "conflicts");
    told.extend(conflicts);
    if let Some(first) = &prospects.first_without_tree {
        let laws = rules.rules().iter().filter(|rule| rule.target.is_hard());
        let laws: Vec<&str> = laws.map(|rule| &*rule.name).collect();
        let name = match &first.sent_id {
            Some(id) => visible(id).into_owned(),
            None => format!("number {}", first.sentence),
        };
        told.push(format!(
            "laws ({}) leave {} without a tree, first {name} ({}): learning skips them; soften one",
            list(&laws),
            counted(prospects.without_tree as usize, "sentence"),
            first.why
        ));
    }
    told
}

/// Where learning may not do better than the rules alone; empty if nowhere.
pub(super) fn advice(rules: &Rules, coverage: &Coverage, prospects: &Prospects) -> String {
    let mut lines = Vec::new();
    if !prospects.headless.is_empty() {
        let share = |words: u64| percent(words as usize, coverage.words as usize);
        let tag = |one: &tutte::rules::Headless| format!("{} ({} %)", one.tag, share(one.words));
        let tags: Vec<String> = prospects.headless.iter().map(tag).collect();
        let tags: Vec<&str> = tags.iter().map(|tag| &**tag).collect();
        lines.push(format!("No rule has a head for {}: add rules.", list(&tags)));
    }
    let named = |which: fn(&RuleProspects) -> bool| -> Vec<&str> {
        let all = rules.rules().iter().zip(&prospects.rules);
        all.filter(|(_, rule)| which(rule)).map(|(rule, _)| &*rule.name).collect()
    };
    let undirected = named(|rule| rule.undirected);
    if !undirected.is_empty() {
        lines.push(format!(
            "Any side and any distance will do for {}: say `head left` or `head right`, or `nearest`.",
            list(&undirected)
        ));
    }
    let nothing = named(|rule| rule.teaches_nothing);
    if !nothing.is_empty() {
        lines.push(format!(
            "A parser without rules already does what {}: a guard, but it teaches nothing.",
            match &nothing[..] {
                [one] => format!("{one} says"),
                several => format!("{} say", list(several)),
            }
        ));
    }
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("- {line}\n")).collect();
    format!("\nLearning may not do better than the rules alone:\n{lines}")
}

/// Keeps the first ones, and says how many there are.
fn shorten(told: &mut Vec<String>, what: &str) {
    let all = told.len();
    if all > SHOWN {
        told.truncate(SHOWN);
        told.push(format!("{} {what} in all; --json lists them", count(all)));
    }
}

/// Names, of which those after the first few are counted.
fn list(names: &[&str]) -> String {
    match names.len().saturating_sub(SHOWN) {
        0 => names.join(", "),
        more => format!("{} and {} more", names[..SHOWN].join(", "), count(more)),
    }
}
