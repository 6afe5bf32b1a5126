//! `tutte rules check`: whether rules can be read, and what they find in a text.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Args;
use serde::Serialize;
use tutte::rules::{self, Coverage, Survey};

use super::{errors, placed, read, refuse};

use crate::failure::Outcome;
use crate::report::{Align, Table, count, counted, percent};
use crate::session::{Reading, Session};

/// Find errors in a file of rules, and what the rules find in a text
///
/// Without RAW, reads the rules only. With it, says of each rule how many words match its left side, how many
/// of them have a candidate for a head, how many arcs match, and with which other rule it shares most of
/// them; and warns of rules that match nothing and of tags that no word has. Heads in RAW are not looked at.
///
/// Exit code 1 if there are errors.
///
/// Example: tutte rules check rules.tut raw.conllu
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The file of rules
    rules: PathBuf,

    /// Treebanks, with or without heads; - is standard input
    raw: Vec<PathBuf>,

    #[command(flatten)]
    reading: Reading,
}

/// The document of `--json`.
#[derive(Default, Serialize)]
struct Document {
    errors: Vec<String>,
    warnings: Vec<String>,
    /// The rules as they were read, in one form.
    rules: Vec<String>,
    coverage: Option<Coverage>,
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
    let coverage =
        if arguments.raw.is_empty() { None } else { Some(survey(&rules, arguments, session)?) };
    if let Some(coverage) = &coverage {
        warnings.extend(odd(&rules, coverage));
    }
    if session.json() {
        let rules = rules.rules().iter().map(ToString::to_string).collect();
        session.print_report(&Document { warnings, rules, coverage, ..Document::default() })?;
        return Ok(session.end(Outcome::Good));
    }
    for warning in &warnings {
        session.warn(&anyhow!("{warning}"));
    }
    let mut out = session.stdout();
    match &coverage {
        Some(coverage) => {
            writeln!(out, "{}", table(&rules, coverage).text(0))?;
            let (covered, words) = (coverage.covered as usize, coverage.words as usize);
            writeln!(
                out,
                "{}, no errors: some rule has a head for {} of {} ({} %).",
                counted(rules.len(), "rule"),
                count(covered),
                counted(words, "word"),
                percent(covered, words)
            )?;
        }
        None => {
            write!(out, "{rules}")?;
            writeln!(out, "\n{}, no errors.", counted(rules.len(), "rule"))?;
        }
    }
    out.flush()?;
    Ok(session.end(Outcome::Good))
}

fn survey(rules: &rules::Rules, arguments: &Check, session: &Session) -> Result<Coverage> {
    let mut survey = Survey::new(rules);
    for file in &arguments.raw {
        for sentence in session.sentences(file, &arguments.reading)? {
            survey.add(&sentence?);
        }
    }
    Ok(survey.finish())
}

/// What is odd about rules, given what they find.
fn odd(rules: &rules::Rules, coverage: &Coverage) -> Vec<String> {
    let place = |rule: usize| {
        let rule = &rules.rules()[rule];
        format!("{}:{}: {}", rules.file(), rule.line, rule.name)
    };
    let unknown = coverage.unknown.iter().map(|unknown| {
        let like = unknown.like.as_ref();
        let like = like.map_or(String::new(), |like| format!("; did you mean {like}?"));
        format!(
            "{}: no word has the {} {}{like}",
            place(unknown.rule),
            unknown.column,
            unknown.found
        )
    });
    let nothing = coverage.rules.iter().enumerate().filter(|(_, found)| found.pairs == 0);
    let nothing = nothing.map(|(rule, found)| match found.words {
        0 => format!("{}: no word matches the left side", place(rule)),
        words => {
            let words = counted(words as usize, "word");
            format!("{}: {words} on the left, but none has a candidate for a head", place(rule))
        }
    });
    unknown.chain(nothing).collect()
}

fn table(rules: &rules::Rules, coverage: &Coverage) -> Table {
    let names = [
        "rule",
        "target",
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
        // The first is the one with most.
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
            count(words),
            percent(words, coverage.words as usize),
            count(found.candidates as usize),
            count(found.pairs as usize),
            shared,
        ]);
    }
    table
}
