//! `tutte rules show`: drawings of sentences that a rule matches.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Args;
use serde::Serialize;
use tutte::rules::{Rule, RuleSet};
use tutte_treebank::Sentence;
use tutte_treebank::draw::{Drawing, Style, TextArt};

use super::{read, refuse};
use crate::failure::{Outcome, advise};
use crate::input::TreebankArgs;
use crate::report::{count, counted, visible};
use crate::session::Session;
use crate::verbs::draw;

/// Draw sentences that a rule matches
///
/// Draws all arcs that the rule matches, and marks dependents and candidate heads below the words. If RAW has heads, a
/// tick marks the arcs of its trees.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte rules show rules.tut raw.conllu --rule det
  tutte rules show rules.tut train.conllu --rule subj -n 3 --width 160")]
pub(super) struct Show {
    /// File of rules
    rules: PathBuf,

    /// Treebanks, with or without heads [default: standard input]
    #[arg(value_name = "RAW")]
    raw: Vec<PathBuf>,

    /// Name of the rule
    #[arg(long, value_name = "NAME")]
    rule: String,

    /// Number of sentences, or all
    #[arg(short = 'n', value_name = "N", value_parser = draw::number, default_value = "10")]
    number: usize,

    /// Width of drawings in columns [default: the terminal's width]
    #[arg(long, value_name = "N")]
    width: Option<usize>,

    #[command(flatten)]
    reading: TreebankArgs,
}

/// A sentence, for JSON.
#[derive(Serialize)]
struct Entry {
    /// Number of the sentence, from 1, over all files.
    sentence: usize,
    sent_id: Option<String>,
    /// Words that match the left side.
    dependents: Vec<usize>,
    arcs: Vec<Arc>,
    drawing: String,
}

#[derive(Serialize)]
struct Arc {
    head: usize,
    dependent: usize,
    /// `true` if the tree of the sentence has the arc.
    in_tree: bool,
}

pub(super) fn run(arguments: &Show, session: &Session) -> Result<Outcome> {
    let rules = match read(&arguments.rules)? {
        Ok(rules) => rules,
        Err(invalid) => return refuse(&invalid, session),
    };
    let rule = named(&rules, &arguments.rule)?;
    // Other rules are not matched.
    let alone = RuleSet::new(rules.file(), vec![rule.clone()])?;
    let style = Style {
        text: TextArt::Arcs,
        width_columns: arguments.width.unwrap_or_else(|| session.width()),
        ..Style::default()
    };
    let mut out = session.stdout();
    if !session.json() {
        writeln!(out, "{rule}")?;
    }
    let mut entries = Vec::new();
    let mut read = 0;
    let mut found = 0;
    'files: for file in &session.files(&arguments.raw)? {
        for sentence in arguments.reading.short_sentences(file, "matching of rules", session)? {
            if found == arguments.number {
                break 'files;
            }
            let sentence = sentence?;
            read += 1;
            let Some(entry) = entry(&alone, rule, read, &sentence, &style)? else { continue };
            found += 1;
            if session.json() {
                entries.push(entry);
            } else {
                write!(out, "\n{}", entry.drawing)?;
            }
        }
    }
    out.flush()?;
    if session.json() {
        session.print_json(&entries)?;
    } else if found < arguments.number {
        let read = counted(read, "sentence");
        session.note(format!("{} of {read} have such an arc", count(found)));
    }
    Ok(session.end(Outcome::Good))
}

fn named<'a>(rules: &'a RuleSet, name: &str) -> Result<&'a Rule> {
    rules.named(name).ok_or_else(|| {
        let error = anyhow!("{} has no rule {name:?}", rules.file());
        let names: Vec<&str> = rules.rules().iter().map(|rule| &*rule.name).collect();
        let hint = match rules.most_like(name) {
            Some(like) => format!("did you mean {like}?"),
            None if names.is_empty() => "it has no rules at all".to_owned(),
            None if names.len() <= 12 => format!("it has {}", names.join(", ")),
            None => format!("`tutte rules check {}` lists them", rules.file()),
        };
        advise(error, hint)
    })
}

/// Draws a sentence, if the rule matches an arc.
fn entry(
    rules: &RuleSet,
    rule: &Rule,
    number: usize,
    sentence: &Sentence,
    style: &Style,
) -> Result<Option<Entry>> {
    let arcs: Vec<Arc> = (rules.matches(sentence).arcs.iter())
        .map(|&(head, dependent, _)| {
            let (head, dependent) = (head as usize, dependent as usize);
            let gold = sentence.word(dependent).and_then(|word| word.head());
            Arc { head, dependent, in_tree: gold == Some(head) }
        })
        .collect();
    if arcs.is_empty() {
        return Ok(None);
    }
    let mut dependents = Vec::new();
    for (word, token) in (1..).zip(sentence.words()) {
        if rule.dependent.holds(token)? {
            dependents.push(word);
        }
    }
    let note = |word: &usize| {
        let head = arcs.iter().any(|arc| arc.head == *word);
        match (dependents.contains(word), head) {
            (true, true) => Some((*word, "both")),
            (true, false) => Some((*word, "dependent")),
            (false, true) => Some((*word, "head")),
            (false, false) => None,
        }
    };
    let notes: Vec<(usize, &str)> = (1..=sentence.len()).filter_map(|word| note(&word)).collect();
    let drawn: Vec<(usize, usize, &str)> = (arcs.iter())
        .map(|arc| (arc.head, arc.dependent, if arc.in_tree { "✓" } else { "" }))
        .collect();
    let caption = match sentence.sent_id() {
        Some(id) => visible(id).into_owned(),
        None => format!("sentence {number}"),
    };
    let drawing = Drawing::of_arcs(sentence, &drawn, &notes, style).with_caption(&caption);
    let sent_id = sentence.sent_id().map(str::to_owned);
    Ok(Some(Entry { sentence: number, sent_id, dependents, arcs, drawing: drawing.text() }))
}
