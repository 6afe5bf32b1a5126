//! Drawings with characters, in two shapes.
//!
//! Arcs (`arcs.rs`) show a sentence as the other formats do, where it fits on a line. Branches
//! (`branches.rs`) put every word on a line of its own: they need no wrapping, and nothing in them
//! depends on which side a terminal writes right-to-left words from. Two analyses are listed where
//! they differ (`differences.rs`).

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

/// A line that is not too long and does not end with spaces.
fn push_line(out: &mut String, line: &str, width: i32) {
    out.push_str(measure::shorten(line.trim_end(), width).trim_end());
    out.push('\n');
}

/// Empty nodes are told from words by what surrounds them.
fn form(node: &Node) -> String {
    if node.is_empty_node() { format!("‹{}›", node.form) } else { node.form.clone() }
}

/// Keeps a terminal that reorders right-to-left text from reordering whole lines: words with this
/// mark between them stay where they are put.
const LEFT_TO_RIGHT_MARK: char = '\u{200e}';

/// Adds a word that does not move its neighbours.
fn push_isolated(line: &mut String, word: &str) {
    line.push_str(word);
    if measure::right_to_left(word) == Some(true) {
        line.push(LEFT_TO_RIGHT_MARK);
    }
}
