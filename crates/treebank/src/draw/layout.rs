//! Positions of all parts of a drawing: words on lines, arcs on levels, arc ends on attachment points.
//!
//! One layout serves pixels and terminal cells; [`Metrics`] gives the widths.
//!
//! **Widths.** A word is as wide as its widest text or its attachment points. Gaps between words
//! grow until every arc is at least as long as its label, shortest arcs first.
//!
//! **Lines.** A sentence that is too wide is broken where that is cheapest, by dynamic programming
//! over the breaks, as for paragraphs (Knuth & Plass 1981). A line costs 4 and an arc cut by a
//! break costs 1. Ties go to the most even lines (least sum of squared slack). A cut arc is drawn
//! only on the two lines of its ends, up to the margin. The margin names the word at its other end.
//! The arc does not cross the lines in between.
//!
//! **Levels.** On every line, arcs are placed from the shortest to the longest, each on the lowest
//! level above everything it covers or crosses. With h(g) the highest level so far over the gap g
//! between two neighbouring words,
//!
//! ```text
//! level(a) = 1 + max h(g)   and then   h(g) = level(a)   for all gaps g that a spans
//! ```
//!
//! Two arcs on one level therefore share at most an end, and a nested arc is on a lower level. Arcs
//! from the root come last. They go straight down, from above everything that covers their word.
//!
//! **Attachment.** The arcs of a word leave it side by side: those to the left first, lowest first,
//! then the arc from the root, then those to the right, highest first. Therefore arcs that share a
//! word but do not cross do not touch either.
//!
//! The cost is the sum of the lengths of the arcs, at most quadratic in the length of the sentence.

use std::ops::Range;

mod ruler;

use ruler::{Edge, Ruler};

use super::scene::{Arc, Scene};

/// Widths and distances, in some unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Metrics {
    /// Width of the form of a node.
    pub(crate) form: fn(&str) -> i32,
    /// Additional width of the frame of an empty node.
    pub(crate) frame: i32,
    /// Width of tags, names in the margin and multiword tokens.
    pub(crate) small: fn(&str) -> i32,
    /// Width of a label.
    pub(crate) label: fn(&str) -> i32,
    /// Minimum space between two words.
    pub(crate) gap: i32,
    /// Space between two attachment points of a word.
    pub(crate) slot: i32,
    /// Minimum difference between the length of an arc and its label.
    pub(crate) label_room: i32,
    /// Maximum width of a name in the margin.
    pub(crate) margin: i32,
    /// Maximum width of a line.
    pub(crate) width: i32,
}

/// A scene with positions. Distances are from the left.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) width: i32,
    pub(crate) lines: Vec<Line>,
}

#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Nodes from left to right, with their centres.
    pub(crate) nodes: Vec<(usize, i32)>,
    pub(crate) above: Side,
    pub(crate) below: Side,
    pub(crate) groups: Vec<Span>,
}

/// The arcs on one side of a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Side {
    pub(crate) pieces: Vec<Piece>,
    /// The highest level.
    pub(crate) levels: i32,
}

/// A multiword token, or the part of it that is on a line.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) group: usize,
    pub(crate) left: i32,
    pub(crate) right: i32,
}

/// An arc on a line, or one end of a cut arc.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Index in `Scene::above` or `Scene::below`.
    pub(crate) arc: usize,
    /// The level, from 1.
    pub(crate) level: i32,
    pub(crate) left: End,
    /// Equals `left` for arcs from the root.
    pub(crate) right: End,
    /// Centre of the label.
    pub(crate) label: i32,
}

impl Piece {
    pub(crate) fn is_root(&self) -> bool {
        self.left.kind == EndKind::Root
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) x: i32,
    pub(crate) kind: EndKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndKind {
    Head,
    Dependent,
    /// Straight down from the root to a dependent.
    Root,
    /// The arc continues to this node, which is on another line.
    Cut(usize),
}

impl Layout {
    pub(crate) fn new(scene: &Scene, metrics: &Metrics) -> Self {
        let ruler = Ruler::new(scene, metrics);
        let ranges = ruler.break_lines(metrics.width);
        let mut lines: Vec<Placed> =
            ranges.into_iter().map(|range| place(scene, metrics, &ruler, range)).collect();
        // The first words of lines are aligned, as far as the width allows.
        let most = |value: fn(&Placed) -> i32| lines.iter().map(value).max().unwrap_or(0);
        let lead = most(|placed| placed.lead);
        let widest = most(|placed| placed.width);
        let aligned = lines.iter().map(|placed| lead - placed.lead + placed.width).max();
        let width = aligned.unwrap_or(0).min(metrics.width).max(widest);
        for placed in &mut lines {
            let indent = (lead - placed.lead).min(width - placed.width);
            let on_the_right = width - placed.width - indent;
            placed.line.shift(if scene.right_to_left { on_the_right } else { indent });
        }
        Self { width, lines: lines.into_iter().map(|placed| placed.line).collect() }
    }
}

/// A line, starting at 0.
struct Placed {
    line: Line,
    width: i32,
    /// Space before the first word, for the ends of cut arcs.
    lead: i32,
}

impl Line {
    fn shift(&mut self, by: i32) {
        self.nodes.iter_mut().for_each(|(_, x)| *x += by);
        for span in &mut self.groups {
            span.left += by;
            span.right += by;
        }
        for piece in self.above.pieces.iter_mut().chain(&mut self.below.pieces) {
            piece.left.x += by;
            piece.right.x += by;
            piece.label += by;
        }
    }
}

fn place(scene: &Scene, metrics: &Metrics, ruler: &Ruler, range: Range<usize>) -> Placed {
    let start = range.start;
    let end = range.end;
    // Positions in reading order, from the start of the line without the space for cut arcs.
    let mut length = 0;
    let mut centres = Vec::with_capacity(range.len());
    for node in range.clone() {
        centres.push(length + ruler.widths[node] / 2);
        length += ruler.widths[node] + if node + 1 < end { ruler.gaps[node] } else { 0 };
    }
    let mut before = Edge::default();
    let mut after = Edge::default();
    for arc in scene.above.iter().chain(&scene.below) {
        let Some((low, high)) = arc.span() else { continue };
        let needed = (metrics.label)(&arc.label) + metrics.label_room;
        if low < start && range.contains(&high) {
            before.widen(needed - (centres[high - start] - ruler.reach[high]), ruler.names[low]);
        }
        if range.contains(&low) && high >= end {
            let rest = length - centres[low - start] - ruler.reach[low];
            after.widen(needed - rest, ruler.names[high]);
        }
    }
    for edge in [&mut before, &mut after].into_iter().filter(|edge| edge.names > 0) {
        edge.arcs = edge.arcs.max(metrics.label_room);
    }
    let lead = before.names + before.arcs;
    let trail = after.names + after.arcs;
    let width = lead + length + trail;
    let mut nodes: Vec<(usize, i32)> =
        range.clone().zip(centres.iter().map(|x| lead + x)).collect();
    let mut ends = (before.names, width - 1 - after.names);
    if scene.right_to_left {
        nodes.reverse();
        // The middle of an even width is the second of the two middle cells.
        nodes.iter_mut().for_each(|(node, x)| *x = width - *x - ruler.widths[*node] % 2);
        ends = (width - 1 - ends.1, width - 1 - ends.0);
    }
    let above = side(scene, &scene.above, metrics, ruler, &range, &nodes, ends);
    let below = side(scene, &scene.below, metrics, ruler, &range, &nodes, ends);

    let edge = |node: usize, sign: i32| {
        let position = if scene.right_to_left { end - 1 - node } else { node - start };
        nodes[position].1 + sign * ruler.widths[node] / 2
    };
    let mut groups = Vec::new();
    for (index, group) in scene.groups.iter().enumerate() {
        let first = group.first.max(start);
        let last = (group.last + 1).min(end);
        if first < last {
            let (mut left, mut right) = (first, last - 1);
            if scene.right_to_left {
                std::mem::swap(&mut left, &mut right);
            }
            groups.push(Span { group: index, left: edge(left, -1), right: edge(right, 1) });
        }
    }
    Placed { line: Line { nodes, above, below, groups }, width, lead }
}

/// Places the arcs of one side: levels, attachment points and labels.
fn side(
    scene: &Scene,
    arcs: &[Arc],
    metrics: &Metrics,
    ruler: &Ruler,
    range: &Range<usize>,
    nodes: &[(usize, i32)],
    (left_end, right_end): (i32, i32),
) -> Side {
    // Positions on the line: nodes from left to right are 1 to m, the margins are 0 and m + 1.
    let m = nodes.len();
    let position = |node: usize| {
        let before = node < range.start;
        let from_start = if before { 0 } else { (node + 1).min(range.end + 1) - range.start };
        if scene.right_to_left { m + 1 - from_start } else { from_start }
    };
    let mut spans: Vec<(usize, usize, usize)> = Vec::new();
    for (index, arc) in arcs.iter().enumerate() {
        let dependent = position(arc.dependent);
        let head = arc.head.map_or(dependent, position);
        let on_line = |position: usize| (1..=m).contains(&position);
        if on_line(head) || on_line(dependent) {
            spans.push((head.min(dependent), head.max(dependent), index));
        }
    }
    let levels = levels(&mut spans, m + 2);

    let mut pieces: Vec<Piece> = Vec::with_capacity(spans.len());
    let mut touching: Vec<Vec<(usize, Lean)>> = vec![Vec::new(); m + 2];
    for (&(left, right, arc), &level) in spans.iter().zip(&levels) {
        let kind = |position: usize, other: usize| match position {
            _ if left == right => EndKind::Root,
            0 => EndKind::Cut(other),
            _ if position == m + 1 => EndKind::Cut(other),
            _ if nodes[position - 1].0 == arcs[arc].dependent => EndKind::Dependent,
            _ => EndKind::Head,
        };
        let (low, high) = arcs[arc].span().unwrap_or_default();
        let (leftmost, rightmost) = if scene.right_to_left { (high, low) } else { (low, high) };
        let piece = pieces.len();
        if left == right {
            touching[left].push((piece, Lean::Straight));
        } else {
            touching[left].push((piece, Lean::Right));
            touching[right].push((piece, Lean::Left));
        }
        pieces.push(Piece {
            arc,
            level,
            left: End { x: left_end, kind: kind(left, leftmost) },
            right: End { x: right_end, kind: kind(right, rightmost) },
            label: 0,
        });
    }
    for (at, touching) in touching.iter_mut().enumerate().skip(1).take(m) {
        touching.sort_by_key(|&(piece, lean)| match lean {
            Lean::Left => (0, pieces[piece].level),
            Lean::Straight => (1, 0),
            Lean::Right => (2, -pieces[piece].level),
        });
        let count = touching.len() as i32;
        for (slot, &(piece, lean)) in (0..).zip(touching.iter()) {
            let x = nodes[at - 1].1 + (2 * slot - (count - 1)) * metrics.slot / 2;
            if lean != Lean::Left {
                pieces[piece].left.x = x;
            }
            if lean != Lean::Right {
                pieces[piece].right.x = x;
            }
            if lean == Lean::Straight {
                // Above its end, but not above other words.
                let (node, centre) = nodes[at - 1];
                let label = (metrics.label)(&arcs[pieces[piece].arc].label);
                let slack = (ruler.widths[node] - label).max(0) / 2;
                pieces[piece].label = x.clamp(centre - slack, centre + slack);
            }
        }
    }
    place_labels(&mut pieces, arcs, metrics);
    Side { levels: levels.iter().copied().max().unwrap_or(0), pieces }
}

/// Direction of an arc from the word that it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lean {
    Left,
    Straight,
    Right,
}

/// Sorts arcs by length and returns their levels. An arc is the positions of its left and right
/// ends and its index. The ends are equal for arcs from the root, which come last.
pub(crate) fn levels(spans: &mut [(usize, usize, usize)], positions: usize) -> Vec<i32> {
    let length = |&(left, right, _): &(usize, usize, usize)| match right - left {
        0 => usize::MAX,
        length => length,
    };
    spans.sort_by_key(|span| (length(span), span.0, span.2));
    // skyline[g] is the highest level between positions g and g + 1.
    let mut skyline = vec![0; positions];
    let mut roots = vec![0; positions];
    spans
        .iter()
        .map(|&(left, right, _)| {
            if left == right {
                // Several arcs from the root to one word (with different labels) are stacked.
                let over = skyline[left].max(skyline[left.saturating_sub(1)]).max(roots[left]);
                roots[left] = over + 1;
                return over + 1;
            }
            let level = 1 + skyline[left..right].iter().copied().max().unwrap_or(0);
            skyline[left..right].fill(level);
            level
        })
        .collect()
}

/// Places labels in the middle of arcs, or at the nearest place where no other arc comes down
/// through them.
fn place_labels(pieces: &mut [Piece], arcs: &[Arc], metrics: &Metrics) {
    let mut verticals: Vec<(i32, i32)> = Vec::new();
    for piece in pieces.iter() {
        for end in [piece.left, piece.right] {
            if !matches!(end.kind, EndKind::Cut(_)) {
                verticals.push((end.x, piece.level));
            }
        }
    }
    verticals.sort_unstable();
    for piece in pieces {
        let (left, right) = (piece.left.x, piece.right.x);
        if piece.is_root() {
            continue;
        }
        piece.label = (left + right) / 2;
        let half = ((metrics.label)(&arcs[piece.arc].label) + metrics.slot + 1) / 2;
        let from = verticals.partition_point(|&(x, _)| x <= left);
        let crossing = verticals[from..].iter().take_while(|&&(x, _)| x < right);
        let walls = crossing.filter(|&&(_, level)| level > piece.level).map(|&(x, _)| x);
        let mut nearest = None;
        let mut free_from = left;
        for wall in walls.chain([right]) {
            let (low, high) = (free_from + half, wall - half);
            if low <= high {
                let x = piece.label.clamp(low, high);
                let off = (x - piece.label).abs();
                if nearest.is_none_or(|(least, _)| off < least) {
                    nearest = Some((off, x));
                }
            }
            free_from = wall;
        }
        if let Some((_, x)) = nearest {
            piece.label = x;
        }
    }
}
