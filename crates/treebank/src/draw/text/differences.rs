//! Two analyses as a list of where they differ.

use super::{push_isolated, push_line};
use crate::Column;
use crate::diff::WordDifference;
use crate::draw::Style;
use crate::draw::measure::{cells, printable};
use crate::draw::scene::Scene;

/// A line for every column of a word that differs: which word, which column, both values.
pub(crate) fn differences(scene: &Scene, differences: &[WordDifference], style: &Style) -> String {
    let width = i32::try_from(style.width_columns).unwrap_or(i32::MAX / 4);
    let head = |value: &str| {
        let node = value.parse::<usize>().ok().and_then(|head| head.checked_sub(1));
        node.and_then(|node| scene.nodes.get(node)).map(|node| node.name())
    };
    let value = |difference: &WordDifference, value: &str| match difference.column {
        Column::Head => head(value).unwrap_or_else(|| value.to_owned()),
        _ => printable(value).into_owned(),
    };
    let mut rows: Vec<[String; 4]> = Vec::new();
    let mut last = 0;
    for difference in differences {
        let again = std::mem::replace(&mut last, difference.word) == difference.word;
        let word = format!("{} {}", difference.word, printable(&difference.form));
        rows.push([
            if again { String::new() } else { word },
            difference.column.name(difference.format).to_owned(),
            value(difference, &difference.first),
            value(difference, &difference.second),
        ]);
    }
    let mut out = String::new();
    if !scene.caption.is_empty() {
        push_line(&mut out, &scene.caption, width);
    }
    let widest = |column: usize| rows.iter().map(|row| cells(&row[column])).max().unwrap_or(0);
    let widths = [widest(0), widest(1), widest(2)];
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            push_isolated(&mut line, cell);
            line.extend(std::iter::repeat_n(' ', (width - cells(cell)).max(0) as usize + 2));
        }
        push_isolated(&mut line, &row[3]);
        push_line(&mut out, &line, width);
    }
    out
}
