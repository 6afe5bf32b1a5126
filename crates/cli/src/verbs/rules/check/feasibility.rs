//! Warnings and advice about the feasibility of rules.

use tutte::rules::{ConflictReason, Coverage, FeasibilityReport, RuleFeasibility, RuleSet};

use super::{place, share};
use crate::report::{count, counted, percent, visible};
use crate::verbs::rules::shorten;

/// Largest number of names in a list.
const NAMED: usize = 8;

/// Returns warnings about rules that no parser can satisfy: alone, in pairs, or all hard constraints.
pub(super) fn impossible(
    rules: &RuleSet,
    prospects: &FeasibilityReport,
    shown: usize,
) -> Vec<String> {
    let alone = prospects.rules.iter().enumerate().filter(|(_, rule)| rule.unreachable);
    let mut warnings: Vec<String> = alone
        .map(|(number, rule)| {
            let most = share(rule.reachable.unwrap_or_default());
            let target = rules.rules()[number].target;
            format!("{}: no parser can reach {target}, only {most}: lower it", place(rules, number))
        })
        .collect();
    shorten(&mut warnings, "rules out of reach", shown);
    let mut conflicts: Vec<String> = (prospects.conflicts.iter())
        .map(|conflict| {
            let [first, second] = conflict.rules;
            let other = &rules.rules()[second];
            let is_hard = [first, second].iter().any(|&rule| rules.rules()[rule].target.is_hard());
            let what = if is_hard { "change one of them" } else { "lower one of them" };
            let excess = conflict.excess;
            let shared = counted(conflict.shared as usize, "word");
            match conflict.reason {
                ConflictReason::Words => format!(
                    "{}: together with {} (line {}) this asks for {excess:.1} heads too many for \
                     {shared}: {what}",
                    place(rules, first),
                    other.name,
                    other.line
                ),
                ConflictReason::Arcs => format!(
                    "{}: {} (line {}) is about the same arcs, and the two are {excess:.1} apart for \
                     {shared}: {}",
                    place(rules, first),
                    other.name,
                    other.line,
                    if is_hard { what } else { "bring the targets together" }
                ),
            }
        })
        .collect();
    shorten(&mut conflicts, "conflicts", shown);
    warnings.extend(conflicts);
    if let Some(first) = &prospects.first_without_tree {
        let hard = rules.rules().iter().filter(|rule| rule.target.is_hard());
        let hard: Vec<&str> = hard.map(|rule| &*rule.name).collect();
        let name = match &first.sent_id {
            Some(id) => visible(id).into_owned(),
            None => format!("number {}", first.sentence),
        };
        warnings.push(format!(
            "hard constraints ({}) leave {} without a tree, first {name} ({}): learning skips them; give one of \
             these rules a share",
            list(&hard),
            counted(prospects.without_tree as usize, "sentence"),
            first.why
        ));
    }
    warnings
}

/// Returns advice on rules from which learning may gain nothing; empty if there is none.
pub(super) fn advice(
    rules: &RuleSet,
    coverage: &Coverage,
    prospects: &FeasibilityReport,
) -> String {
    let mut lines = Vec::new();
    if !prospects.uncovered_tags.is_empty() {
        let share = |words: u64| percent(words as usize, coverage.words as usize);
        let tag =
            |one: &tutte::rules::UncoveredTag| format!("{} ({} %)", one.tag, share(one.words));
        let tags: Vec<String> = prospects.uncovered_tags.iter().map(tag).collect();
        let tags: Vec<&str> = tags.iter().map(|tag| &**tag).collect();
        lines.push(format!("No rule matches a head for {}: add rules.", list(&tags)));
    }
    let named = |which: fn(&RuleFeasibility) -> bool| -> Vec<&str> {
        let all = rules.rules().iter().zip(&prospects.rules);
        all.filter(|(_, rule)| which(rule)).map(|(rule, _)| &*rule.name).collect()
    };
    let undirected = named(|rule| rule.undirected);
    if !undirected.is_empty() {
        lines.push(format!(
            "Rules without side and distance: {}; add `head left`, `head right` or `nearest`.",
            list(&undirected)
        ));
    }
    let nothing = named(|rule| rule.teaches_nothing);
    if !nothing.is_empty() {
        lines.push(format!(
            "Rules that a parser without rules already satisfies: {}; they have little effect.",
            list(&nothing)
        ));
    }
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("- {line}\n")).collect();
    format!("\nLearning may be no better than the rules alone:\n{lines}")
}

/// Lists the first few names and counts the others.
fn list(names: &[&str]) -> String {
    match names.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        more => format!("{} and {} more", names[..NAMED].join(", "), count(more)),
    }
}
