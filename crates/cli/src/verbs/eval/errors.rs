//! Confusions, frequent errors, and the tables of Druck et al.

use anyhow::Result;
use tutte_treebank::eval::{
    Attached, Confusion, Confusions, Direction, Druck, ErrorKind, ErrorRate, FrequentErrors, Share,
    Shift,
};

use super::analyses::{ScoredSystem, title};
use crate::report::{Align, Results, Table, chart, count, hundredths, percent};

/// Number of rows on a page if none was requested.
const ON_PAGE: usize = 15;

/// Adds the confusions of labels and of tags. Lists the `requested` number, or [`ON_PAGE`] for a page only.
pub(super) fn confusions(
    systems: &[ScoredSystem<'_>],
    requested: Option<usize>,
    results: &mut Results,
) -> Result<()> {
    let limit = requested.unwrap_or(ON_PAGE);
    for (number, system) in systems.iter().enumerate() {
        let confusions = Confusions::new(&system.arcs);
        let parts = [
            ("Label confusions where the head is right", &confusions.labels_of_correct_heads),
            ("Label confusions on all arcs", &confusions.labels),
            ("Tag confusions", &confusions.upos),
        ];
        for (name, confusion) in parts {
            let wrong = confusion.words - confusion.agreed;
            results.heading(&title(name, system, systems));
            results.paragraph(&format!(
                "{} of {} words ({} %)",
                count(wrong),
                count(confusion.words),
                percent(wrong, confusion.words)
            ));
            if wrong > 0 {
                results.table(&confusion_table(confusion, limit));
                let picture = confusion_matrix(confusion);
                results.page().figure(&picture, "Gold values from top to bottom, shaded by share");
            }
        }
        if requested.is_some() {
            results.record_of(number, "confusions", &confusions)?;
        }
    }
    Ok(())
}

fn confusion_table(confusion: &Confusion, limit: usize) -> Table {
    let mut table = Table::new([
        ("gold", Align::Left),
        ("system", Align::Left),
        ("count", Align::Right),
        ("% of gold", Align::Right),
    ]);
    for cell in confusion.errors().take(limit) {
        table.row([
            cell.gold.clone(),
            cell.system.clone(),
            count(cell.count),
            percent(cell.count, confusion.gold_count(&cell.gold)),
        ]);
    }
    table
}

/// Draws the confusion matrix of the most frequent gold values.
fn confusion_matrix(confusion: &Confusion) -> String {
    let values: Vec<String> =
        confusion.gold_values().into_iter().take(ON_PAGE).map(str::to_owned).collect();
    let counts: Vec<Vec<usize>> = values
        .iter()
        .map(|gold| {
            let mut row: Vec<usize> =
                values.iter().map(|system| confusion.count(gold, system)).collect();
            row.push(confusion.gold_count(gold) - row.iter().sum::<usize>());
            row
        })
        .collect();
    let mut columns = values.clone();
    columns.push("(others)".to_owned());
    chart::matrix(&values, &columns, &counts, "gold", "system")
}

/// Adds the most frequent errors. Lists the `requested` number, or [`ON_PAGE`] for a page only.
pub(super) fn frequent(
    systems: &[ScoredSystem<'_>],
    requested: Option<usize>,
    results: &mut Results,
) -> Result<()> {
    let limit = requested.unwrap_or(ON_PAGE);
    for (number, system) in systems.iter().enumerate() {
        let errors = FrequentErrors::new(&system.arcs, limit);
        results.heading(&title("Frequent errors", system, systems));
        let missing = match errors.missing {
            0 => String::new(),
            missing => format!(", and {} more have no counterpart", count(missing)),
        };
        results.paragraph(&format!(
            "{} of {} words have a wrong head or label{missing}.",
            count(errors.errors),
            count(errors.words)
        ));
        if errors.errors > 0 {
            results.paragraph("← means that the head is left of the word, → that it is right.");
            results.gap();
            results.table(&kinds_table("tag", &errors.by_tag));
            results.gap();
            results.table(&kinds_table("word", &errors.by_word));
            results.gap();
            results.tables(&[
                rates_table("tag", &errors.tags),
                rates_table("word", &errors.words_with_errors),
            ]);
        }
        if requested.is_some() {
            results.record_of(number, "errors", &errors)?;
        }
    }
    Ok(())
}

fn named(word: Option<&String>, tag: &str) -> String {
    word.map_or_else(|| tag.to_owned(), |word| format!("{word}/{tag}"))
}

fn attached(attached: &Attached) -> String {
    let Attached { head, direction, label } = attached;
    match direction {
        Direction::HeadLeft => format!("← {head} {label}"),
        Direction::HeadRight => format!("→ {head} {label}"),
        Direction::ToRoot | Direction::NoHead => format!("{head} {label}"),
    }
}

fn kinds_table(name: &str, kinds: &[ErrorKind]) -> Table {
    let mut table = Table::new([
        ("count", Align::Right),
        (name, Align::Left),
        ("gold head", Align::Left),
        ("system head", Align::Left),
        ("first", Align::Left),
    ]);
    for kind in kinds {
        let shift = match kind.shift {
            None => "",
            Some(Shift::Nearer) => " (nearer)",
            Some(Shift::Farther) => " (farther)",
        };
        let example = &kind.example;
        let sent_id = example.sent_id.as_ref().map_or(String::new(), |id| format!(", {id}"));
        table.row([
            count(kind.count),
            named(kind.word.as_ref(), &kind.tag),
            attached(&kind.gold),
            attached(&kind.system) + shift,
            format!("{}, line {}{sent_id}", example.form, example.gold_line),
        ]);
    }
    table
}

fn rates_table(name: &str, rates: &[ErrorRate]) -> Table {
    let mut table = Table::new([
        (name, Align::Left),
        ("words", Align::Right),
        ("wrong", Align::Right),
        ("%", Align::Right),
        ("wrong heads", Align::Right),
        ("%", Align::Right),
    ]);
    for rate in rates {
        table.row([
            named(rate.word.as_ref(), &rate.tag),
            count(rate.count),
            count(rate.errors),
            percent(rate.errors, rate.count),
            count(rate.wrong_heads),
            percent(rate.wrong_heads, rate.count),
        ]);
    }
    table
}

/// Adds the tables of Druck et al. (2009).
pub(super) fn druck(
    systems: &[ScoredSystem<'_>],
    is_requested: bool,
    results: &mut Results,
) -> Result<()> {
    for (number, system) in systems.iter().enumerate() {
        let druck = Druck::new(&system.arcs, 10);
        results.heading(&title("Heads, true and predicted", system, systems));
        let mut false_positives =
            Table::new([("false positives (distance)", Align::Left), ("count", Align::Right)]);
        for kind in &druck.false_positives {
            false_positives.row([kind.text(), count(kind.count)]);
        }
        let mut tables = vec![
            shares_table("parent tag", &druck.parent_tags),
            shares_table("direction", &druck.directions),
            shares_table("distance", &druck.distances),
        ];
        if !false_positives.is_empty() {
            tables.push(false_positives);
        }
        results.tables(&tables);
        if tables.len() > 3 {
            results.paragraph(
                "False positives: the head comes first; the arrow points to the side of its word.",
            );
        }
        if is_requested {
            results.record_of(number, "druck", &druck)?;
        }
    }
    Ok(())
}

fn shares_table(name: &str, shares: &[Share]) -> Table {
    let mut table = Table::new([
        (name, Align::Left),
        ("true", Align::Right),
        ("predicted", Align::Right),
        ("found, %", Align::Right),
    ]);
    for share in shares {
        table.row([
            share.class.clone(),
            format!("{:.3}", share.gold_share),
            format!("{:.3}", share.system_share),
            share.recall.map_or_else(|| "–".to_owned(), hundredths),
        ]);
    }
    table
}
