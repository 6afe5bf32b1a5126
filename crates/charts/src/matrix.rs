//! Matrices whose cells are shaded by their share of the row.

use std::fmt::Write as _;

use crate::{document, tick};
use tutte_treebank::draw::escape;

/// Draws the counts of combinations, `counts[row][column]`. The darkness of a cell is its share of
/// the row, and its numbers are shown when the pointer is over it. Cells whose row and column have
/// the same name are correct and have another colour.
pub fn matrix(
    rows: &[String],
    columns: &[String],
    counts: &[Vec<usize>],
    row_name: &str,
    column_name: &str,
) -> String {
    const CELL: f64 = 34.0;
    const ROW: f64 = 22.0;
    let names = rows.iter().chain(columns);
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0) as f64;
    let left = 30.0 + 7.0 * longest;
    let top = 26.0 + 5.2 * longest;
    let width = left + CELL * columns.len() as f64 + 5.0 * longest;
    let height = top + ROW * rows.len() as f64 + 4.0;
    let mut svg = document(width, height, 0.0);
    let _ = writeln!(
        svg,
        "<text x=\"{left:.1}\" y=\"12\">{}</text>\n<text transform=\"translate(12 {:.1}) \
         rotate(-90)\" text-anchor=\"end\">{}</text>",
        escape(column_name),
        top,
        escape(row_name)
    );
    for (at, name) in rows.iter().enumerate() {
        tick(&mut svg, left - 6.0, top + ROW * at as f64 + 15.0, "end", name);
    }
    for (at, name) in columns.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<text class=\"tick\" transform=\"translate({:.1} {:.1}) rotate(-45)\">{}</text>",
            left + CELL * at as f64 + 14.0,
            top - 6.0,
            escape(name)
        );
    }
    for (at, (row, cells)) in rows.iter().zip(counts).enumerate() {
        let sum = cells.iter().sum::<usize>().max(1) as f64;
        for (across, (column, &count)) in columns.iter().zip(cells).enumerate() {
            let x = left + CELL * across as f64;
            let y = top + ROW * at as f64;
            let share = count as f64 / sum;
            // Correct and wrong cells have different colours. The opacity keeps every count visible
            // and its number readable.
            let colour = if row == column { "key0" } else { "key1" };
            let opacity = if count == 0 { 0.0 } else { 0.08 + 0.47 * share.sqrt() };
            let _ = writeln!(
                svg,
                "<rect class=\"{colour}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" \
                 height=\"{:.1}\" opacity=\"{opacity:.2}\"><title>{} as {}: {count} ({:.1} %)</title>\
                 </rect>",
                CELL - 1.0,
                ROW - 1.0,
                escape(row),
                escape(column),
                100.0 * share,
            );
            if count > 0 && count < 100_000 {
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10\" \
                     pointer-events=\"none\">{count}</text>",
                    x + CELL / 2.0,
                    y + 15.0
                );
            }
        }
    }
    svg.push_str("</svg>");
    svg
}
