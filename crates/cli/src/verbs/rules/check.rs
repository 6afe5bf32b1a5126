//! `tutte rules check`: errors in rules, and their matches in a text.

mod feasibility;

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Args;
use serde::Serialize;
use tutte::rules::{self, Coverage, Feasibility, FeasibilityReport, Survey};
use tutte_trees::TreeSet;

use super::{SHOWN, errors, placed, read, refuse, shorten};
use crate::failure::Outcome;
use crate::input::TreebankArgs;
use crate::report::{Align, Table, count, counted, percent};
use crate::session::Session;

/// Find errors in a file of rules, and count its matches in a text
///
/// With RAW, shows for each rule its matches and the share that a parser without rules expects. Warns of rules that
/// match nothing, contradict each other, or leave sentences without a tree. Heads in RAW are ignored. Exit code 1 if
/// there are errors.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte rules check rules.tut
  tutte rules check rules.tut raw.conllu --tree-set projective-single-root")]
pub(super) struct Check {
    /// File of rules
    rules: PathBuf,

    /// Treebanks, with or without heads; - is standard input
    raw: Vec<PathBuf>,

    /// Tree set: nonprojective-multi-root, nonprojective-single-root, projective-multi-root or projective-single-root
    #[arg(long, value_name = "SET", default_value = "nonprojective-single-root")]
    tree_set: TreeSet,

    #[command(flatten)]
    reading: TreebankArgs,
}

/// The document of `--json`.
#[derive(Default, Serialize)]
struct Document {
    errors: Vec<String>,
    warnings: Vec<String>,
    /// The rules in normal form.
    rules: Vec<String>,
    coverage: Option<Coverage>,
    prospects: Option<FeasibilityReport>,
}

pub(super) fn run(arguments: &Check, session: &Session) -> Result<Outcome> {
    let rules = match read(&arguments.rules)? {
        Ok(rules) => rules,
        Err(invalid) if session.json() => {
            session.print_json(&Document { errors: errors(&invalid), ..Document::default() })?;
            return Ok(Outcome::CheckFailed);
        }
        Err(invalid) => return refuse(&invalid, session),
    };
    let mut warnings: Vec<String> =
        rules.warnings().iter().map(|problem| placed(rules.file(), problem)).collect();
    let shown = if session.json() { usize::MAX } else { SHOWN };
    shorten(&mut warnings, "warnings about the file of rules", shown);
    let found =
        if arguments.raw.is_empty() { None } else { Some(survey(&rules, arguments, session)?) };
    if let Some((coverage, prospects)) = &found {
        warnings.extend(unmatched(&rules, coverage, shown));
        warnings.extend(feasibility::impossible(&rules, prospects, shown));
    }
    if session.json() {
        let rules = rules.rules().iter().map(ToString::to_string).collect();
        let (coverage, prospects) = found.unzip();
        let document = Document { warnings, rules, coverage, prospects, ..Document::default() };
        session.print_report(&document)?;
        return Ok(session.end(Outcome::Good));
    }
    for warning in &warnings {
        session.warn(&anyhow!("{warning}"));
    }
    let mut out = session.stdout();
    match &found {
        Some((coverage, prospects)) => {
            writeln!(out, "{}", table(&rules, coverage, prospects).text(0))?;
            let covered = coverage.covered as usize;
            let words = coverage.words as usize;
            writeln!(
                out,
                "{}, no errors; they match a head for {} of {} ({} %).",
                counted(rules.len(), "rule"),
                count(covered),
                counted(words, "word"),
                percent(covered, words)
            )?;
            write!(out, "{}", feasibility::advice(&rules, coverage, prospects))?;
        }
        None => {
            write!(out, "{rules}")?;
            writeln!(out, "\n{}, no errors.", counted(rules.len(), "rule"))?;
        }
    }
    out.flush()?;
    Ok(session.end(Outcome::Good))
}

fn survey(
    rules: &rules::RuleSet,
    arguments: &Check,
    session: &Session,
) -> Result<(Coverage, FeasibilityReport)> {
    let mut survey = Survey::new(rules);
    let mut feasibility = Feasibility::new(rules, arguments.tree_set);
    for file in &arguments.raw {
        for sentence in arguments.reading.short_sentences(file, "matching of rules", session)? {
            let sentence = sentence?;
            feasibility.add(&sentence)?;
            survey.add(&sentence);
        }
    }
    Ok((survey.finish(), feasibility.finish()))
}

/// Returns warnings about rules that match nothing.
fn unmatched(rules: &rules::RuleSet, coverage: &Coverage, shown: usize) -> Vec<String> {
    let place = |rule| place(rules, rule);
    let mut unknown: Vec<String> = (coverage.unknown.iter())
        .map(|unknown| {
            let like = unknown.like.as_ref();
            let like = like.map_or(String::new(), |like| format!("; did you mean {like}?"));
            format!(
                "{}: no word has the {} {}{like}",
                place(unknown.rule),
                unknown.column,
                unknown.found
            )
        })
        .collect();
    shorten(&mut unknown, "values that no word has", shown);
    let nothing = coverage.rules.iter().enumerate().filter(|(_, found)| found.pairs == 0);
    let mut nothing: Vec<String> = nothing
        .map(|(rule, found)| match found.words {
            0 => format!("{}: no word matches the left side", place(rule)),
            words => {
                let words = counted(words as usize, "word");
                format!("{}: {words} on the left, but none has a candidate head", place(rule))
            }
        })
        .collect();
    shorten(&mut nothing, "rules without a match", shown);
    unknown.append(&mut nothing);
    unknown
}

/// Returns file, line and name of a rule.
fn place(rules: &rules::RuleSet, rule: usize) -> String {
    let said = &rules.rules()[rule];
    format!("{}:{}: {}", rules.file(), said.line, said.name)
}

fn table(rules: &rules::RuleSet, coverage: &Coverage, prospects: &FeasibilityReport) -> Table {
    let names = [
        "rule",
        "target",
        "without rules",
        "words",
        "% of all",
        "with candidate",
        "pairs",
        "shares most pairs with",
    ];
    let left = |name: &str| matches!(name, "rule" | "shares most pairs with");
    let align = |name| (name, if left(name) { Align::Left } else { Align::Right });
    let mut table = Table::new(names.into_iter().map(align));
    for (number, (rule, found)) in rules.rules().iter().zip(&coverage.rules).enumerate() {
        // Overlaps are sorted by size, largest first.
        let shared = coverage.overlaps.iter().find(|overlap| overlap.rules.contains(&number));
        let shared = shared.map_or(String::new(), |overlap| {
            let [first, second] = overlap.rules;
            let other = &rules.rules()[if first == number { second } else { first }];
            format!("{} ({})", other.name, count(overlap.arcs as usize))
        });
        let words = found.words as usize;
        table.row([
            rule.name.clone(),
            rule.target.to_string(),
            prospects.rules[number].uniform.map_or("–".to_owned(), share),
            count(words),
            percent(words, coverage.words as usize),
            count(found.candidates as usize),
            count(found.pairs as usize),
            shared,
        ]);
    }
    table
}

/// Formats a share in whole per cent, as in targets.
fn share(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}
