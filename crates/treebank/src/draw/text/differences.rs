//! List of the differences between two analyses.

use super::{push_isolated, push_line};
use crate::Column;
use crate::diff::WordDifference;
use crate::draw::Style;
use crate::draw::measure::{cells, printable, shorten};
use crate::draw::scene::Scene;

/// Writes one line for every column of a word that differs: the word, the column, both values.
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
    let widest = |rows: &[[String; 4]], column: usize| {
        rows.iter().map(|row| cells(&row[column])).max().unwrap_or(0)
    };
    let texts = [0, 2, 3];
    let most = fair_width(texts.map(|text| widest(&rows, text)), width - widest(&rows, 1) - 6);
    for row in &mut rows {
        texts.iter().for_each(|&text| row[text] = shorten(&row[text], most));
    }
    let widths = [0, 1, 2].map(|column| widest(&rows, column));
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

/// Returns the maximum width of some columns such that all fit. Narrow columns leave the rest of
/// their share to the others.
fn fair_width(mut widths: [i32; 3], room: i32) -> i32 {
    widths.sort_unstable();
    let mut left = room;
    for (columns, width) in (1..=3).rev().zip(widths) {
        let share = left / columns;
        if share < width {
            return share.max(1);
        }
        left -= width;
    }
    widths[2]
}
