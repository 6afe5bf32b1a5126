//! Arcs above the words, drawn with box characters.
//!
//! A level is a line of text that includes the labels. Where arcs cross, the one that comes down
//! interrupts the other (`─│─`), like a bridge. A junction (`┼`) would suggest that they meet.

use super::{form, push_isolated};
use crate::draw::layout::{EndKind, Layout, Line, Metrics, Side};
use crate::draw::measure::{cells, shorten};
use crate::draw::scene::{Arc, Scene};

/// Maximum width of the name of a word on another line.
const MARGIN: i32 = 10;

/// Returns the positions of all characters, or `None` if a word with its arcs is wider than a line.
pub(super) fn layout(scene: &Scene, width: i32) -> Option<Layout> {
    let metrics = Metrics {
        form: cells,
        frame: 2,
        small: cells,
        label: cells,
        gap: 1,
        slot: 2,
        label_room: 3,
        margin: MARGIN,
        width,
    };
    Some(Layout::new(scene, &metrics)).filter(|layout| layout.width <= width)
}

pub(super) fn write(scene: &Scene, lines: &[Line], out: &mut String) {
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        write_line(scene, line, out);
    }
}

fn write_line(scene: &Scene, line: &Line, out: &mut String) {
    for row in side(scene, &scene.above, &line.above, true) {
        row.write(out);
    }
    let mut forms = Row::default();
    for &(node, x) in &line.nodes {
        forms.centre(x, form(&scene.nodes[node]));
    }
    forms.write(out);
    for tag in 0..scene.tag_lines {
        let mut tags = Row::default();
        for &(node, x) in &line.nodes {
            tags.centre(x, scene.nodes[node].tags[tag].text.clone());
        }
        tags.write(out);
    }
    if !line.groups.is_empty() {
        let mut brackets = Row::default();
        for span in &line.groups {
            let inner = span.right - span.left - 1;
            let form = shorten(&scene.groups[span.group].form, inner);
            let rest = (inner - cells(&form)).max(0) as usize;
            let left = "─".repeat(rest / 2);
            let right = "─".repeat(rest - rest / 2);
            brackets.put(span.left, format!("└{left}{form}{right}┘"));
        }
        brackets.write(out);
    }
    for row in side(scene, &scene.below, &line.below, false) {
        row.write(out);
    }
}

/// A line of text under construction: pieces and their start positions.
#[derive(Default)]
struct Row {
    pieces: Vec<(i32, String)>,
}

impl Row {
    fn put(&mut self, x: i32, text: String) {
        if !text.is_empty() {
            self.pieces.push((x, text));
        }
    }

    fn centre(&mut self, x: i32, text: String) {
        self.put(x - cells(&text) / 2, text);
    }

    fn write(mut self, out: &mut String) {
        self.pieces.sort_by_key(|&(x, _)| x);
        let mut at = 0;
        let mut line = String::new();
        for (x, text) in self.pieces {
            while at < x {
                line.push(' ');
                at += 1;
            }
            at += cells(&text);
            push_isolated(&mut line, &text);
        }
        out.push_str(line.trim_end_matches(' '));
        out.push('\n');
    }
}

/// Returns the lines of the arcs of one side, from top to bottom.
fn side(scene: &Scene, arcs: &[Arc], side: &Side, above: bool) -> Vec<Row> {
    if side.levels == 0 {
        return Vec::new();
    }
    let ends = || side.pieces.iter().flat_map(|piece| [piece.left, piece.right]);
    let width = ends().map(|end| end.x).max().unwrap_or(0) + 1;
    // grid[0] is next to the words, grid[l] is level l.
    let mut grid = vec![vec![' '; width as usize]; side.levels as usize + 1];
    let corners = if above { ['┌', '┐'] } else { ['└', '┘'] };
    let mut pieces: Vec<_> = side.pieces.iter().collect();
    pieces.sort_by_key(|piece| (piece.level, piece.arc));
    let mut labels: Vec<Row> = (0..grid.len()).map(|_| Row::default()).collect();
    for piece in pieces {
        let level = piece.level as usize;
        let (left, right) = (piece.left.x as usize, piece.right.x as usize);
        let mut label = arcs[piece.arc].label.clone();
        if !piece.is_root() {
            grid[level][left..=right].fill('─');
            // An arc of one cell has room for its ends only.
            label = shorten(&label, piece.right.x - piece.left.x - 1);
        }
        for (end, corner, outwards) in [(piece.left, corners[0], -1), (piece.right, corners[1], 1)]
        {
            let x = end.x as usize;
            match end.kind {
                EndKind::Cut(node) => {
                    let name = shorten(&scene.nodes[node].name(), MARGIN - 1);
                    grid[level][x] = if outwards < 0 { '‹' } else { '›' };
                    let start = if outwards < 0 { end.x - cells(&name) } else { end.x + 1 };
                    labels[level].put(start.max(0), name);
                    continue;
                }
                EndKind::Root => grid[level][x] = ' ',
                EndKind::Head | EndKind::Dependent => grid[level][x] = corner,
            }
            for row in &mut grid[..level] {
                row[x] = '│';
            }
            if end.kind != EndKind::Head {
                grid[0][x] = if above { '▼' } else { '▲' };
            }
        }
        if piece.is_root() {
            labels[level].centre(piece.label, label);
        } else {
            // With the odd cell on the left, an arc of minimum length still surrounds its label.
            labels[level].put(piece.label - (cells(&label) - 1) / 2, label);
        }
    }
    let mut rows: Vec<Row> =
        grid.iter().zip(labels).map(|(lines, labels)| overlay(lines, labels)).collect();
    if above {
        rows.reverse();
    }
    rows
}

/// Writes labels over lines.
fn overlay(lines: &[char], mut labels: Row) -> Row {
    labels.pieces.sort_by_key(|&(x, _)| x);
    let mut row = Row::default();
    let mut at = 0;
    let between = |from: usize, to: usize| -> String { lines.iter().take(to).skip(from).collect() };
    for (x, label) in labels.pieces {
        let x = (x.max(0) as usize).max(at);
        row.put(at as i32, between(at, x));
        at = x + cells(&label) as usize;
        row.put(x as i32, label);
    }
    row.put(at as i32, between(at, lines.len()));
    row
}
