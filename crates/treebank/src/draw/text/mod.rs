//! Drawings with characters, in two shapes.
//!
//! Arcs (`arcs.rs`) show a sentence like the other formats, if it fits on a line. Branches
//! (`branches.rs`) put every word on its own line. They need no wrapping, and do not depend on how
//! a terminal places right-to-left words. Differences between two analyses are listed
//! (`differences.rs`).

mod arcs;
mod branches;
mod differences;

pub(crate) use differences::differences;

use super::layout::Layout;
use super::scene::{Node, Scene};
use super::{Style, TextArt, measure};

pub(crate) fn write(scene: &Scene, style: &Style) -> String {
    let width = i32::try_from(style.width_columns).unwrap_or(i32::MAX / 4);
    let scene = scene.with_numbers();
    let arcs = match style.text {
        TextArt::Branches => None,
        TextArt::Auto if scene.right_to_left => None,
        TextArt::Auto => arcs::layout(&scene, width).filter(|layout| layout.lines.len() == 1),
        TextArt::Arcs => arcs::layout(&scene, width),
    };
    let mut out = String::new();
    if !scene.caption.is_empty() {
        push_line(&mut out, &scene.caption, width);
    }
    match arcs {
        Some(Layout { lines, .. }) => arcs::write(&scene, &lines, &mut out),
        None => branches::write(&scene, width, &mut out),
    }
    out
}

/// Appends a line, shortened to the width and without spaces at its end.
fn push_line(out: &mut String, line: &str, width: i32) {
    out.push_str(measure::shorten(line.trim_end(), width).trim_end());
    out.push('\n');
}

/// Returns the form of a node, with brackets around empty nodes.
fn form(node: &Node) -> String {
    if node.is_empty_node() { format!("‹{}›", node.form) } else { node.form.clone() }
}

/// Prevents terminals that reorder right-to-left text from reordering whole lines: words separated
/// by this mark stay in place.
const LEFT_TO_RIGHT_MARK: char = '\u{200e}';

/// Appends a word that does not move its neighbours.
fn push_isolated(line: &mut String, word: &str) {
    line.push_str(word);
    if measure::right_to_left(word) == Some(true) {
        line.push(LEFT_TO_RIGHT_MARK);
    }
}
