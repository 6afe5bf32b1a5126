//! Statistics for a terminal.

use std::io::Write as _;

use anstyle::Style;
use anyhow::Result;
use tutte_treebank::stats::{Share, Summary};

use super::{Document, bins, by_file, number, overview, percent};
use crate::report::{Align, Table, columns};
use crate::session::Session;

pub(super) fn print(document: &Document, top: usize, session: &Session) -> Result<()> {
    let bold = Style::new().bold();
    let total = &document.total;
    let mut out = session.stdout();
    if let Some(files) = by_file(document) {
        writeln!(out, "{}", files.text(0))?;
    }
    write!(out, "{}", overview(document).text(0))?;
    if total.sentences == 0 {
        return Ok(out.flush()?);
    }
    let all = if document.files.len() > 1 { " (all files)" } else { "" };
    let mut section = |title: &str, text: String| -> Result<()> {
        Ok(write!(out, "\n{bold}{title}{all}{bold:#}\n{text}")?)
    };
    let width = session.width().min(100);
    section("Words per sentence", bars(&bins(&total.lengths), width))?;
    let trees = &total.trees;
    if trees.arcs > 0 {
        let lengths = trees.arc_lengths.bins().map(|(name, count)| (name.to_owned(), count));
        section("Lengths of arcs", bars(&lengths, width))?;
        if trees.gap_degrees.max() > Some(0) {
            section("Gap degree of sentences", bars(&bins(&trees.gap_degrees), width))?;
        }
    }
    if top > 0 {
        let tags = beside(&labels(total, top).text(2), &tags(&total.upos, "UPOS", top).text(2));
        section("Most frequent labels and tags", tags)?;
        if total.tag_pairs.iter().any(|pair| pair.head != "_") {
            section("Most frequent pairs of tags", pairs(total, top).text(2))?;
        }
    }
    Ok(out.flush()?)
}

/// ```text
///   1–5    ██████▍       1,234   12.3 %
/// ```
fn bars(bins: &[(String, u64)], width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let highest = bins.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let total: u64 = bins.iter().map(|(_, count)| count).sum();
    let room = width.saturating_sub(40).clamp(10, 50);
    let mut table =
        Table::new([("", Align::Right), ("", Align::Left), ("", Align::Right), ("", Align::Right)]);
    for (name, count) in bins {
        let eighths = (8 * room as u64 * count).div_ceil(highest) as usize;
        let bar = format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8]);
        let share = *count as f64 / total.max(1) as f64;
        table.row([name.clone(), bar, number(*count), format!("{:.1} %", 100.0 * share)]);
    }
    table.text(2)
}

fn labels(total: &Summary, top: usize) -> Table {
    let mut table = Table::new([
        ("DEPREL", Align::Left),
        ("count", Align::Right),
        ("%", Align::Right),
        ("head first, %", Align::Right),
        ("repeated, %", Align::Right),
    ]);
    for label in total.deprels.iter().take(top) {
        table.row([
            label.value.clone(),
            number(label.count),
            percent(Some(label.share), 1),
            percent(label.head_initial_share, 1),
            percent(label.repeating_share(), 1),
        ]);
    }
    rest(&mut table, total.deprels.len(), top);
    table
}

fn tags(tags: &[Share], name: &str, top: usize) -> Table {
    let mut table = Table::new([(name, Align::Left), ("count", Align::Right), ("%", Align::Right)]);
    for tag in tags.iter().take(top) {
        table.row([tag.value.clone(), number(tag.count), percent(Some(tag.share), 1)]);
    }
    rest(&mut table, tags.len(), top);
    table
}

fn pairs(total: &Summary, top: usize) -> Table {
    let mut table = Table::new([
        ("head", Align::Left),
        ("modifier", Align::Left),
        ("count", Align::Right),
        ("head first, %", Align::Right),
    ]);
    for pair in total.tag_pairs.iter().take(top) {
        table.row([
            pair.head.clone(),
            pair.modifier.clone(),
            number(pair.count),
            percent(Some(pair.head_initial_share), 1),
        ]);
    }
    rest(&mut table, total.tag_pairs.len(), top);
    table
}

/// Adds a row with the number of values that are not shown.
fn rest(table: &mut Table, all: usize, shown: usize) {
    if all > shown {
        table.row([format!("… {} more", all - shown)]);
    }
}

/// Puts two blocks of text side by side.
fn beside(left: &str, right: &str) -> String {
    let width = left.lines().map(columns).max().unwrap_or(0);
    let mut left = left.lines();
    let mut right = right.lines();
    let mut text = String::new();
    loop {
        let (first, second) = (left.next(), right.next());
        if first.is_none() && second.is_none() {
            return text;
        }
        let (first, second) = (first.unwrap_or_default(), second.unwrap_or_default());
        let padding = " ".repeat(width - columns(first) + 4);
        text.push_str(format!("{first}{padding}{second}").trim_end());
        text.push('\n');
    }
}
