//! Scores by class.

use anyhow::Result;
use serde_json::Map;
use tutte_treebank::eval::{Breakdown, ClassScore, Grouping, Row};

use super::analyses::{ScoredSystem, title};
use crate::report::{Align, Results, Table, chart, count, hundredths};

/// Adds one table for one system. For several, adds their F1 side by side, and full tables to the page.
pub(super) fn section(
    systems: &[ScoredSystem<'_>],
    by: Grouping,
    shown: bool,
    results: &mut Results,
) -> Result<()> {
    let breakdowns: Vec<Breakdown> =
        systems.iter().map(|system| Breakdown::new(&system.arcs, by)).collect();
    results.heading(&format!("Scores by {}", described(by)));
    if let [only] = &breakdowns[..] {
        results.table(&full_table(only));
    } else {
        results.table(&side_by_side(systems, &breakdowns));
        for (system, breakdown) in systems.iter().zip(&breakdowns) {
            results.page().folded(&title("Precision and recall", system, systems), |page| {
                page.table(&full_table(breakdown));
            });
        }
    }
    if let Some(svg) = picture(systems, &breakdowns, by) {
        results.page().figure(&svg, "F1 in percent");
    }
    if shown {
        for (number, breakdown) in breakdowns.iter().enumerate() {
            let rows = serde_json::to_value(&breakdown.rows)?;
            results.extend_of(number, "by", Map::from_iter([(by.name().to_owned(), rows)]));
        }
    }
    Ok(())
}

fn described(by: Grouping) -> &'static str {
    match by {
        Grouping::Deprel => "relation",
        Grouping::Upos => "tag of the word",
        Grouping::Length => "length of the arc",
        Grouping::LengthExact => "exact length of the arc",
        Grouping::Depth => "depth of the word",
        Grouping::Direction => "direction of the arc",
        Grouping::SentenceLength => "length of the sentence",
        Grouping::Projectivity => "projectivity of the arc",
    }
}

fn full_table(breakdown: &Breakdown) -> Table {
    let names =
        ["gold", "system", "UAS P", "R", "F1", "LAS P", "R", "F1"].map(|n| (n, Align::Right));
    let mut table = Table::new([(breakdown.by.name(), Align::Left)].into_iter().chain(names));
    for row in &breakdown.rows {
        let scores = [row.uas, row.las].map(|s| [s.precision, s.recall, s.f1].map(share));
        let counts = [row.class.clone(), count(row.gold), count(row.system)];
        table.row(counts.into_iter().chain(scores.into_iter().flatten()));
    }
    table
}

/// Lists the classes of all systems with the F1 of each system.
fn side_by_side(systems: &[ScoredSystem<'_>], breakdowns: &[Breakdown]) -> Table {
    let by = breakdowns.first().map_or("", |breakdown| breakdown.by.name());
    let scores = ["UAS", "LAS"].into_iter().flat_map(|score| {
        systems.iter().map(move |system| (format!("{score} {}", system.name), Align::Right))
    });
    let names = [(by.to_owned(), Align::Left), ("gold".to_owned(), Align::Right)];
    let mut table = Table::new(names.into_iter().chain(scores));
    for class in classes(breakdowns) {
        let rows: Vec<Option<&Row>> = breakdowns.iter().map(|b| find(b, &class)).collect();
        let gold = rows.iter().flatten().map(|row| row.gold).max().unwrap_or(0);
        let f1 = |score: fn(&Row) -> ClassScore| {
            rows.iter().map(move |row| share(row.and_then(|row| score(row).f1)))
        };
        let cells: Vec<String> = f1(|row| row.uas).chain(f1(|row| row.las)).collect();
        table.row([class.clone(), count(gold)].into_iter().chain(cells));
    }
    table
}

/// Returns the classes in the order of the first system, then those of the others.
fn classes(breakdowns: &[Breakdown]) -> Vec<String> {
    let mut classes: Vec<String> = Vec::new();
    for row in breakdowns.iter().flat_map(|breakdown| &breakdown.rows) {
        if !classes.contains(&row.class) {
            classes.push(row.class.clone());
        }
    }
    classes
}

fn find<'a>(breakdown: &'a Breakdown, class: &str) -> Option<&'a Row> {
    breakdown.rows.iter().find(|row| row.class == class)
}

/// Draws bars if classes are few and ordered: UAS and LAS of one system, LAS of several.
fn picture(systems: &[ScoredSystem<'_>], breakdowns: &[Breakdown], by: Grouping) -> Option<String> {
    if matches!(by, Grouping::Deprel | Grouping::Upos | Grouping::LengthExact) {
        return None;
    }
    let classes = classes(breakdowns);
    let bars = |name: &str, breakdown: &Breakdown, score: fn(&Row) -> ClassScore| chart::Series {
        name: name.to_owned(),
        values: classes
            .iter()
            .map(|class| Some(100.0 * score(find(breakdown, class)?).f1?))
            .collect(),
    };
    let series: Vec<chart::Series> = match breakdowns {
        [only] => vec![bars("UAS", only, |row| row.uas), bars("LAS", only, |row| row.las)],
        _ => systems
            .iter()
            .zip(breakdowns)
            .map(|(system, breakdown)| {
                bars(&format!("LAS {}", system.name), breakdown, |row| row.las)
            })
            .collect(),
    };
    Some(chart::grouped_bars(&classes, &series, described(by), "F1", 100.0))
}

/// Formats `12.34` for 0.1234, and a dash for `None`.
fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), hundredths)
}
