//! Tables of the shared tasks, for each system and for systems side by side.

use anyhow::Result;
use tutte_treebank::eval::conllx::{self, Punctuation};
use tutte_treebank::eval::{Attachment, CompleteMatch, Metric, Metrics, Score};

use super::{Eval, System};
use crate::failure::{Outcome, advise};
use crate::report::{Align, Results, Table, count, hundredths, percent};
use crate::session::Session;

/// Adds the metrics of the CoNLL 2018 shared task. With `--lenient`, ELAS and EULAS are left out if enhanced graphs
/// cannot be read, and the outcome says so.
pub(super) fn conll2018(
    systems: &[System<'_>],
    arguments: &Eval,
    session: &Session,
    results: &mut Results,
) -> Result<Outcome> {
    let mut outcome = Outcome::Good;
    results.record("convention", &"conll2018")?;
    let mut all = Vec::with_capacity(systems.len());
    for (number, system) in systems.iter().enumerate() {
        let metrics = match Metrics::new(&system.alignment) {
            Ok(metrics) => metrics,
            Err(error) if arguments.reading.lenient => {
                session.warn(&advise(error, "ELAS and EULAS are left out"));
                outcome = Outcome::BadInput;
                Metrics::basic(&system.alignment)
            }
            Err(error) => {
                return Err(advise(
                    error,
                    "repair DEPS, or leave out ELAS and EULAS with --lenient",
                ));
            }
        };
        note_oddities(system, &metrics, session);
        if systems.len() > 1 {
            results.heading(&system.name);
        } else {
            results.page().heading("Scores");
        }
        let table =
            if arguments.counts { metrics.counts().to_string() } else { metrics.to_string() };
        results.terminal(&table);
        results.page().table(&score_table(&metrics));
        complete_match(metrics.complete_match(), results);
        results.record_of(number, "metrics", &metrics)?;
        results.record_of(number, "complete_match", &metrics.complete_match())?;
        all.push(metrics);
    }
    if systems.len() > 1 {
        results.heading("F1 of all systems");
        let mut table = side_by_side(systems);
        for metric in Metric::ALL {
            let scores: Vec<Option<Score>> = all.iter().map(|m| m.get(metric)).collect();
            if scores.iter().any(Option::is_some) {
                let f1 = |score: &Option<Score>| match score {
                    Some(score) => hundredths(score.f1()),
                    None => "–".to_owned(),
                };
                let cells = scores.iter().map(f1);
                table.row([metric.name().to_owned()].into_iter().chain(cells));
            }
        }
        let complete: Vec<_> = all.iter().map(Metrics::complete_match).collect();
        add_complete_match(&mut table, &complete);
        results.table(&table);
    }
    Ok(outcome)
}

/// Adds the scores of the shared tasks of 2006 and 2007.
pub(super) fn conllx(
    systems: &[System<'_>],
    arguments: &Eval,
    results: &mut Results,
) -> Result<()> {
    let punctuation = arguments.punctuation();
    results.record("convention", &"conllx")?;
    let (name, rule) = match punctuation {
        Punctuation::Drop => ("drop", "without punctuation, as in CoNLL-X"),
        Punctuation::Keep => ("keep", "with punctuation, as in CoNLL 2007"),
    };
    results.record("punctuation", &name)?;
    let all: Vec<Attachment> =
        systems.iter().map(|system| conllx::attachment(&system.alignment, punctuation)).collect();
    results.page().heading("Scores");
    let words = all.first().map_or(0, |scores| scores.words);
    results.paragraph(&format!("{} words, {rule}", count(words)));
    results.gap();
    let mut table = side_by_side(systems);
    let mut row = |name: &str, correct: fn(&Attachment) -> usize| {
        let cells = all.iter().map(|scores| percent(correct(scores), scores.words));
        table.row([name.to_owned()].into_iter().chain(cells));
    };
    row("UAS", |scores| scores.heads);
    row("LAS", |scores| scores.both);
    row("Label accuracy", |scores| scores.labels);
    let complete: Vec<_> = all.iter().map(|scores| scores.complete).collect();
    add_complete_match(&mut table, &complete);
    results.table(&table);
    for (number, scores) in all.iter().enumerate() {
        results.record_of(number, "attachment", scores)?;
    }
    Ok(())
}

/// Starts a table with one column per system.
fn side_by_side(systems: &[System<'_>]) -> Table {
    let columns = systems.iter().map(|system| (system.name.clone(), Align::Right));
    Table::new([(String::new(), Align::Left)].into_iter().chain(columns))
}

fn add_complete_match(table: &mut Table, complete: &[CompleteMatch]) {
    let mut row = |name: &str, right: fn(&CompleteMatch) -> usize| {
        let cells = complete.iter().map(|complete| percent(right(complete), complete.sentences));
        table.row([name.to_owned()].into_iter().chain(cells));
    };
    row("Complete match, unlabelled", |complete| complete.unlabelled);
    row("Complete match, labelled", |complete| complete.labelled);
}

fn complete_match(complete: CompleteMatch, results: &mut Results) {
    let line = |name: &str, right: usize| {
        format!(
            "Complete match, {name:<10} {:>6} % ({} of {} sentences)",
            percent(right, complete.sentences),
            count(right),
            count(complete.sentences)
        )
    };
    results.gap();
    results.paragraph(&line("unlabelled", complete.unlabelled));
    results.paragraph(&line("labelled", complete.labelled));
}

/// Returns the official table for a page.
fn score_table(metrics: &Metrics) -> Table {
    let mut table = Table::new([
        ("Metric", Align::Left),
        ("Precision", Align::Right),
        ("Recall", Align::Right),
        ("F1", Align::Right),
        ("Aligned accuracy", Align::Right),
        ("Correct", Align::Right),
        ("Gold", Align::Right),
        ("System", Align::Right),
        ("Aligned", Align::Right),
    ]);
    for (metric, score) in metrics.iter() {
        table.row([
            metric.name().to_owned(),
            hundredths(score.precision()),
            hundredths(score.recall()),
            hundredths(score.f1()),
            score.aligned_accuracy().map(hundredths).unwrap_or_default(),
            count(score.correct),
            count(score.gold),
            count(score.system),
            score.aligned.map(count).unwrap_or_default(),
        ]);
    }
    table
}

/// Prints a note about scores that look wrong but are not.
fn note_oddities(system: &System<'_>, metrics: &Metrics, session: &Session) {
    if metrics.get(Metric::Eulas).is_some_and(|score| score.correct > score.gold.min(score.system))
    {
        session.note(format!(
            "note: EULAS of {} is above 100: some words have several arcs that differ only in subtypes, and the \
             official evaluation counts every equal pair",
            system.name
        ));
    }
}
