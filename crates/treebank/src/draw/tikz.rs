//! Drawings as TikZ, with the package `tikz-dependency` (D. Pighin).
//!
//! Plain TikZ could repeat the SVG, but its word positions would be estimates for an unknown font,
//! and its source would be unreadable. Papers use `tikz-dependency`, whose source, such as
//! `\depedge{2}{1}{nsubj}`, can be edited by hand. The package has no wrapping, no packing of
//! heights and no attachment points. These come from the layout, as options of each edge. Every
//! line of a long sentence is a picture of its own. Cut arcs go to a cell `…`, and their labels
//! name the word at the other end.

use std::fmt::Write;

use super::layout::{EndKind, Layout, Line, Metrics, Piece, Side};
use super::scene::{Arc, Kind, Scene};
use super::{Style, measure};

/// 1000 pixels correspond to the width of a page of text.
const POINTS_PER_PIXEL: f64 = 0.4;

/// Widths in tenths of a point, for a document set in 10 points.
fn metrics(style: &Style) -> Metrics {
    let width = style.width_pixels as f64 * POINTS_PER_PIXEL * 10.0;
    Metrics {
        form: |text| measure::pixels(text, 90),
        frame: 0,
        small: |text| measure::pixels(text, 65),
        label: |text| measure::pixels(text, 65),
        gap: 60,
        slot: 42,
        label_room: 70,
        margin: 300,
        width: width as i32,
    }
}

pub(crate) fn write(scene: &Scene, style: &Style) -> String {
    let scene = &scene.with_numbers();
    let layout = Layout::new(scene, &metrics(style));
    let mut out = String::from("% \\usepackage{tikz-dependency}\n");
    let texts = scene.nodes.iter().map(|node| node.form.as_str());
    if texts.clone().any(|text| text.chars().any(|c| c > '\u{24f}' && c.is_alphabetic())) {
        out.push_str("% compile with XeLaTeX or LuaLaTeX, and a font that has these letters\n");
    }
    if scene.right_to_left {
        out.push_str("% words are in the order of the page, the last one first\n");
    }
    if !scene.caption.is_empty() {
        let _ = writeln!(out, "% {}", scene.caption);
    }
    for (at, line) in layout.lines.iter().enumerate() {
        if at > 0 {
            out.push_str("\\par\n");
        }
        picture(scene, line, &mut out);
    }
    out
}

fn picture(scene: &Scene, line: &Line, out: &mut String) {
    let pieces = || line.above.pieces.iter().chain(&line.below.pieces);
    let cut = |end: fn(&Piece) -> EndKind| pieces().any(|p| matches!(end(p), EndKind::Cut(_)));
    let cut_left = cut(|piece| piece.left.kind);
    let cut_right = cut(|piece| piece.right.kind);
    // The column of the matrix with the first node.
    let first = 1 + usize::from(cut_left);
    let last = first + line.nodes.len();

    out.push_str(
        "\\begin{dependency}[theme=simple, segmented edge, edge slant=0pt, \
         edge horizontal padding=0pt, \
         label style={font=\\normalsize}]\n",
    );
    let small = |row: usize| format!("row {row}/.style={{nodes={{font=\\scriptsize, text=gray}}}}");
    let rows = 1 + scene.tag_lines;
    let small: Vec<String> = (2..=rows).map(small).collect();
    let _ = writeln!(out, "\\begin{{deptext}}[{}]", small.join(", "));
    let forms = line.nodes.iter().map(|&(node, _)| form(scene, node));
    let dots = |cut: bool| cut.then(|| "$\\cdots$".to_owned());
    let forms: Vec<String> =
        dots(cut_left).into_iter().chain(forms).chain(dots(cut_right)).collect();
    for (column, form) in (1usize..).zip(&forms) {
        if column > 1 {
            out.push_str(&separator(scene, line, column.checked_sub(first + 1)));
        }
        let _ = write!(out, "{{{form}}}");
    }
    out.push_str(" \\\\\n");
    for tag in 0..scene.tag_lines {
        out.push_str(if cut_left { "\\& " } else { "" });
        for (at, &(node, _)) in line.nodes.iter().enumerate() {
            let tag = &scene.nodes[node].tags[tag];
            let colour = if tag.differs { "\\color{orange!85!black}" } else { "" };
            let and = if at > 0 { " \\& " } else { "" };
            let _ = write!(out, "{and}{{{colour}{}}}", escape(&tag.text));
        }
        out.push_str(if cut_right { " \\& \\\\\n" } else { " \\\\\n" });
    }
    out.push_str("\\end{deptext}\n");

    for span in &line.groups {
        let group = &scene.groups[span.group];
        let column = |edge: i32| {
            let near = line.nodes.iter().enumerate().min_by_key(|(_, (_, x))| (x - edge).abs());
            near.map_or(first, |(at, _)| first + at)
        };
        let _ = writeln!(
            out,
            "\\draw[gray] ($(\\wordref{{{rows}}}{{{}}}.south west)+(1pt,0)$) -- ++(0,-3pt) -| \
             node[pos=.25, below, inner sep=1pt, font=\\scriptsize] {{{}}} \
             ($(\\wordref{{{rows}}}{{{}}}.south east)+(-1pt,0)$);",
            column(span.left),
            escape(&group.form),
            column(span.right)
        );
    }
    let mut sheet = Sheet { scene, line, first, last, out };
    sheet.arcs(&scene.above, &line.above, "");
    let below = if line.groups.is_empty() {
        "edge below, label style={below}, "
    } else {
        "edge below, label style={below}, edge vertical padding=3ex, "
    };
    sheet.arcs(&scene.below, &line.below, below);
    out.push_str("\\end{dependency}\n");
}

fn form(scene: &Scene, node: usize) -> String {
    let node = &scene.nodes[node];
    let form = escape(&node.form);
    if node.is_empty_node() { format!("\\textit{{\\color{{gray}}{form}}}") } else { form }
}

/// Returns the separator after the cell of a node: the gap of the layout, if another node follows.
fn separator(scene: &Scene, line: &Line, before: Option<usize>) -> String {
    let place = |at: usize| {
        let (node, x) = *line.nodes.get(at)?;
        let node = &scene.nodes[node];
        let tags = node.tags.iter().map(|tag| measure::pixels(&tag.text, 65)).max();
        Some((x, measure::pixels(&node.form, 90).max(tags.unwrap_or(0))))
    };
    match (before.and_then(place), before.and_then(|before| place(before + 1))) {
        (Some((x, width)), Some((next_x, next_width))) => {
            let gap = next_x - x - (width + next_width) / 2;
            format!(" \\&[{}pt] ", (gap.max(0) + 5) / 10)
        }
        _ => " \\&[10pt] ".to_owned(),
    }
}

/// Writes the edges of a line.
struct Sheet<'a> {
    scene: &'a Scene,
    line: &'a Line,
    first: usize,
    last: usize,
    out: &'a mut String,
}

impl Sheet<'_> {
    fn arcs(&mut self, arcs: &[Arc], side: &Side, options: &str) {
        let mut pieces: Vec<&Piece> = side.pieces.iter().collect();
        pieces.sort_by_key(|piece| (piece.level, piece.arc));
        for piece in pieces {
            self.arc(&arcs[piece.arc], piece, side, options);
        }
    }

    fn arc(&mut self, arc: &Arc, piece: &Piece, side: &Side, options: &str) {
        let mut label = escape(&arc.label);
        let mut options = options.to_owned();
        let height = 16 + 11 * (piece.level - 1);
        let mut styles: Vec<String> = Vec::new();
        match arc.kind {
            Kind::Plain => {}
            Kind::NonProjective => styles.push("violet".to_owned()),
            Kind::Shared => styles.push("lightgray".to_owned()),
            Kind::First => styles.push("blue!75!black".to_owned()),
            Kind::Second => styles.push("orange!85!black".to_owned()),
        }
        if let Some(probability) = arc.probability {
            styles.push(format!("opacity={:.2}", 0.2 + 0.8 * probability.joint()));
        }
        for end in [piece.left, piece.right] {
            if let EndKind::Cut(node) = end.kind {
                let name = escape(&self.scene.nodes[node].name());
                let _ = write!(label, "{{\\color{{gray}} $\\cdots$ {name}}}");
                if arc.head != Some(node) {
                    styles.push("-".to_owned());
                }
            }
        }
        let dependent = self.column(piece, arc.dependent);
        let Some(head) = arc.head.map(|head| self.column(piece, head)) else {
            let height = height + 14;
            let style = edge_style(&styles);
            // Below the words, the package has no other option for the distance of the root.
            let height = if options.is_empty() {
                format!("edge height={height}pt")
            } else {
                format!("edge unit distance={}pt", height / 4)
            };
            let _ =
                writeln!(self.out, "\\deproot[{options}{height}{style}]{{{dependent}}}{{{label}}}");
            return;
        };
        let _ = write!(options, "edge height={height}pt");
        for (name, column) in [("start", head), ("end", dependent)] {
            let offset = self.offset(piece, side, column);
            if offset != 0.0 {
                let _ = write!(options, ", edge {name} x offset={offset:.1}pt");
            }
        }
        options.push_str(&edge_style(&styles));
        let _ = writeln!(self.out, "\\depedge[{options}]{{{head}}}{{{dependent}}}{{{label}}}");
    }

    /// Returns the column of the matrix for an end of an arc.
    fn column(&self, piece: &Piece, node: usize) -> usize {
        match self.line.nodes.iter().position(|&(found, _)| found == node) {
            Some(at) => self.first + at,
            None if piece.left.kind == EndKind::Cut(node) => 1,
            None => self.last,
        }
    }

    /// Returns the distance of an attachment point from the middle of its word, in points.
    fn offset(&self, piece: &Piece, side: &Side, column: usize) -> f64 {
        let node = column.checked_sub(self.first).and_then(|at| self.line.nodes.get(at));
        let Some(&(_, centre)) = node else {
            // The ends of cut arcs are nested outwards.
            let outwards = if column < self.first { -1.0 } else { 1.0 };
            return outwards * f64::from(piece.level) * 2.0;
        };
        let nearest = if (piece.left.x - centre).abs() < (piece.right.x - centre).abs() {
            piece.left.x
        } else {
            piece.right.x
        };
        // The package draws the arc from the root in the middle of its word; the others are moved.
        let near = |x: i32| self.line.nodes.iter().map(|&(_, c)| (c - x).abs()).min();
        let root = side.pieces.iter().filter(|piece| piece.is_root()).map(|piece| piece.left.x);
        let root = root.into_iter().find(|&x| near(x) == Some((x - centre).abs()));
        f64::from(nearest - root.unwrap_or(centre)) / 10.0
    }
}

fn edge_style(styles: &[String]) -> String {
    if styles.is_empty() {
        String::new()
    } else {
        format!(", edge style={{{}}}", styles.join(", "))
    }
}

/// Escapes text for LaTeX inside of a matrix, where `\&` has another meaning.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '|' => escaped.push_str("\\textbar{}"),
            '"' => escaped.push_str("\\textquotedbl{}"),
            '&' => escaped.push_str("\\symbol{38}"),
            '≠' => escaped.push_str("$\\neq$"),
            '{' | '}' | '%' | '$' | '#' | '_' => {
                escaped.push('\\');
                escaped.push(character);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}
