//! Drawings as SVG.
//!
//! Lines are drawn from low arcs to high ones, each over a wider stroke in the colour of the
//! background. At a crossing, the higher arc thus passes over a gap in the lower one. Labels are
//! drawn last, as plain text at the apex: text on a path breaks right-to-left scripts and fails in
//! many renderers.

use std::fmt::Write;

use super::layout::{End, EndKind, Layout, Line, Metrics, Piece, Side};
use super::scene::{Arc, Kind, Scene};
use super::{ArcProbability, Drawing, Style, measure};

const FORM_SIZE: i32 = 16;
const SMALL_SIZE: i32 = 11;
/// Distance from the words to the first level.
const FIRST_LEVEL: i32 = 26;
/// Distance between levels.
const LEVEL: i32 = 20;
const TAG_LINE: i32 = 15;
/// Additional width of an empty node.
const FRAME: i32 = 8;
const PADDING: i32 = 12;
/// Maximum width of the name of a word on another line.
const MARGIN: i32 = 90;
const BETWEEN_LINES: i32 = 22;
const FONTS: &str = "'Noto Sans', 'Segoe UI', 'Helvetica Neue', Arial, sans-serif";

/// Colours by role, light and dark, for the style sheet and for the fixed style.
macro_rules! css {
    ($($class:literal: $property:literal, $light:literal, $dark:literal;)*) => {
        /// See [`super::CSS`].
        pub(crate) const CSS: &str = concat!(
            ".tutte-drawing{font-family:'Noto Sans','Segoe UI','Helvetica Neue',Arial,sans-serif}\n",
            ".tutte-arc:hover .tutte-line{stroke-width:2.6}\n",
            ".tutte-arc:hover text{font-weight:bold}\n",
            $(".", $class, "{", $property, ":", $light, "}\n",)*
            "@media (prefers-color-scheme:dark){\n",
            $(".", $class, "{", $property, ":", $dark, "}\n",)*
            "}\n",
        );
        fn light(class: &str) -> Option<(&'static str, &'static str)> {
            match class { $($class => Some(($property, $light)),)* _ => None }
        }
    };
}

css! {
    "tutte-background": "fill", "#ffffff", "#16181c";
    "tutte-halo": "stroke", "#ffffff", "#16181c";
    "tutte-form": "fill", "#1b1f24", "#e8ebef";
    "tutte-empty": "fill", "#7a828c", "#8f98a3";
    "tutte-frame": "stroke", "#a9b1ba", "#5b646e";
    "tutte-tag": "fill", "#5a6572", "#9aa5b1";
    "tutte-differs": "fill", "#c2410c", "#ff9d6b";
    "tutte-name": "fill", "#7a828c", "#8f98a3";
    "tutte-plain": "stroke", "#5f7388", "#8ea3ba";
    "tutte-plain-head": "fill", "#5f7388", "#8ea3ba";
    "tutte-plain-label": "fill", "#2b3642", "#c9d3de";
    "tutte-nonprojective": "stroke", "#8a3ffc", "#be95ff";
    "tutte-nonprojective-head": "fill", "#8a3ffc", "#be95ff";
    "tutte-nonprojective-label": "fill", "#6929c4", "#d4bbff";
    "tutte-shared": "stroke", "#b3bcc6", "#4d5762";
    "tutte-shared-head": "fill", "#b3bcc6", "#4d5762";
    "tutte-shared-label": "fill", "#7a828c", "#8f98a3";
    "tutte-first": "stroke", "#1769c4", "#6cb2ff";
    "tutte-first-head": "fill", "#1769c4", "#6cb2ff";
    "tutte-first-label": "fill", "#0f559f", "#8cc3ff";
    "tutte-second": "stroke", "#c2410c", "#ff9d6b";
    "tutte-second-head": "fill", "#c2410c", "#ff9d6b";
    "tutte-second-label": "fill", "#a2360a", "#ffb48c";
}

/// Writes drawings below each other, in the style of the first.
pub(crate) fn page(drawings: &[Drawing]) -> String {
    let fixed = drawings.first().is_some_and(|drawing| drawing.style.fixed);
    let mut svg = Svg { out: String::new(), fixed, bottom: PADDING, right: 0 };
    for (at, drawing) in drawings.iter().enumerate() {
        if at > 0 {
            svg.bottom += BETWEEN_LINES;
        }
        svg.drawing(drawing);
    }
    svg.finish(!fixed)
}

/// Writes one drawing, for a page with its own style sheet and background.
pub(crate) fn element(drawing: &Drawing) -> String {
    let mut svg = Svg { out: String::new(), fixed: false, bottom: PADDING, right: 0 };
    svg.drawing(drawing);
    svg.finish(false)
}

fn metrics(style: &Style) -> Metrics {
    Metrics {
        form: |text| measure::pixels(text, FORM_SIZE),
        frame: FRAME,
        small: |text| measure::pixels(text, SMALL_SIZE),
        label: |text| measure::pixels(text, SMALL_SIZE),
        gap: 16,
        slot: 8,
        label_room: 12,
        margin: MARGIN,
        width: i32::try_from(style.width_pixels).unwrap_or(i32::MAX / 4) - 2 * PADDING,
    }
}

struct Svg {
    out: String,
    fixed: bool,
    bottom: i32,
    right: i32,
}

impl Svg {
    fn finish(self, style_sheet: bool) -> String {
        let width = self.right + PADDING;
        let height = self.bottom + PADDING;
        let (class, sheet, fonts) = match (self.fixed, style_sheet) {
            (true, _) => ("", String::new(), format!(" font-family=\"{FONTS}\"")),
            (_, true) => {
                (" class=\"tutte-drawing\"", format!("<style>\n{CSS}</style>\n"), String::new())
            }
            (_, false) => (" class=\"tutte-drawing\"", String::new(), String::new()),
        };
        let background = if self.fixed || style_sheet {
            let paint = paint("tutte-background", self.fixed);
            format!("<rect {paint} width=\"{width}\" height=\"{height}\"/>\n")
        } else {
            String::new()
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\"{class} width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\"{fonts}>\n{sheet}\
             {background}{}</svg>\n",
            self.out
        )
    }

    fn drawing(&mut self, drawing: &Drawing) {
        let Drawing { scene, style, .. } = drawing;
        // Without interaction, the labels must include the probabilities.
        let with_numbers = style.fixed.then(|| scene.with_numbers());
        let scene = with_numbers.as_ref().unwrap_or(scene);
        let layout = Layout::new(scene, &metrics(style));
        if !scene.caption.is_empty() {
            let caption = measure::pixels(&scene.caption, SMALL_SIZE);
            let (x, anchor) = if scene.right_to_left {
                (PADDING + layout.width.max(caption), "end")
            } else {
                (PADDING, "start")
            };
            self.bottom += SMALL_SIZE;
            self.text(x, self.bottom, anchor, "tutte-name", SMALL_SIZE, "", &scene.caption);
            self.right = self.right.max(PADDING + caption);
            self.bottom += 8;
        }
        for (at, line) in layout.lines.iter().enumerate() {
            if at > 0 {
                self.bottom += BETWEEN_LINES;
            }
            self.line(scene, line);
        }
        self.right = self.right.max(PADDING + layout.width);
    }

    fn line(&mut self, scene: &Scene, line: &Line) {
        // From top to bottom: arcs above, words, tags, brackets, arcs below.
        let words_top = self.bottom + height(&line.above);
        let baseline = words_top + FORM_SIZE + 3;
        let tags_bottom = baseline + 6 + TAG_LINE * scene.tag_lines as i32;
        let group_room = if line.groups.is_empty() { 0 } else { 24 };
        let words_bottom = tags_bottom + group_room;

        self.arcs(scene, &scene.above, &line.above, words_top, -1);
        self.arcs(scene, &scene.below, &line.below, words_bottom, 1);
        for &(node, x) in &line.nodes {
            self.node(scene, node, PADDING + x, baseline);
        }
        for span in &line.groups {
            let (left, right) = (PADDING + span.left, PADDING + span.right);
            let frame = paint("tutte-frame", self.fixed);
            let _ = writeln!(
                self.out,
                "<path {frame} fill=\"none\" d=\"M{left} {tags_bottom}v4q0 3 3 3H{}q3 0 3 -3v-4\"/>",
                right - 3
            );
            let form = &scene.groups[span.group].form;
            let middle = (left + right) / 2;
            self.text(middle, tags_bottom + 19, "middle", "tutte-tag", SMALL_SIZE + 1, "", form);
        }
        self.bottom = words_bottom + height(&line.below);
    }

    fn node(&mut self, scene: &Scene, node: usize, x: i32, baseline: i32) {
        let node = &scene.nodes[node];
        if node.is_empty_node() {
            let width = measure::pixels(&node.form, FORM_SIZE) + FRAME;
            let frame = paint("tutte-frame", self.fixed);
            let _ = writeln!(
                self.out,
                "<rect {frame} fill=\"none\" stroke-dasharray=\"3 3\" rx=\"4\" x=\"{}\" y=\"{}\" \
                 width=\"{width}\" height=\"{}\"/>",
                x - width / 2,
                baseline - FORM_SIZE + 1,
                FORM_SIZE + 5
            );
            self.text(x, baseline, "middle", "tutte-empty", FORM_SIZE, "", &node.form);
        } else {
            self.text(x, baseline, "middle", "tutte-form", FORM_SIZE, "", &node.form);
        }
        for (line, tag) in (1..).zip(&node.tags) {
            let class = if tag.differs { "tutte-differs" } else { "tutte-tag" };
            let y = baseline + 3 + TAG_LINE * line;
            self.text(x, y, "middle", class, SMALL_SIZE, "", &tag.text);
        }
    }

    /// Writes the arcs of one side, which start at `base` and go up (-1) or down (1).
    fn arcs(&mut self, scene: &Scene, arcs: &[Arc], side: &Side, base: i32, up: i32) {
        let mut pieces: Vec<&Piece> = side.pieces.iter().collect();
        pieces.sort_by_key(|piece| (piece.level, piece.arc));
        for piece in pieces {
            let arc = &arcs[piece.arc];
            let apex = base + up * (FIRST_LEVEL + LEVEL * (piece.level - 1));
            let pen = Pen { piece, arc, base, apex, up };
            let class = if self.fixed { "" } else { " class=\"tutte-arc\"" };
            let _ =
                writeln!(self.out, "<g{class}><title>{}</title>", escape(&describe(scene, arc)));
            self.stroke(&pen);
            self.end(scene, &pen, piece.left, -1);
            if !piece.is_root() {
                self.end(scene, &pen, piece.right, 1);
            }
            let y = if up < 0 { apex - 5 } else { apex + SMALL_SIZE + 2 };
            let class = format!("{}-label", pen.class());
            let opacity = opacity("fill-opacity", 0.5, arc);
            self.text(PADDING + piece.label, y, "middle", &class, SMALL_SIZE, &opacity, &arc.label);
            self.out.push_str("</g>\n");
        }
    }

    /// Writes the line of an arc, over a wider line that separates it from arcs it crosses.
    fn stroke(&mut self, pen: &Pen<'_>) {
        let path = pen.path();
        let class = pen.class();
        let halo = paint("tutte-halo", self.fixed);
        let line =
            if self.fixed { paint(class, true) } else { format!("class=\"tutte-line {class}\"") };
        let opacity = opacity("stroke-opacity", 0.2, pen.arc);
        let _ = writeln!(
            self.out,
            "<path {halo} stroke-width=\"4.5\" fill=\"none\" d=\"{path}\"/>\n\
             <path {line}{opacity} stroke-width=\"1.5\" fill=\"none\" d=\"{path}\"/>"
        );
    }

    /// Writes an arrow at a dependent, or the name of a word on another line.
    fn end(&mut self, scene: &Scene, pen: &Pen<'_>, end: End, outwards: i32) {
        let x = PADDING + end.x;
        match end.kind {
            EndKind::Head => {}
            EndKind::Dependent | EndKind::Root => {
                let paint = paint(&format!("{}-head", pen.class()), self.fixed);
                let opacity = opacity("fill-opacity", 0.2, pen.arc);
                let (tip, back) = (pen.base + pen.up, pen.base + pen.up * 9);
                let (left, right) = (x - 4, x + 4);
                let _ = writeln!(
                    self.out,
                    "<path {paint}{opacity} d=\"M{x} {tip}L{left} {back}H{right}Z\"/>"
                );
            }
            EndKind::Cut(node) => {
                let anchor = if outwards < 0 { "end" } else { "start" };
                let name = shorten(&scene.nodes[node].name(), MARGIN - 5);
                let x = x + 5 * outwards;
                self.text(x, pen.apex + 4, anchor, "tutte-name", SMALL_SIZE, "", &name);
            }
        }
    }

    fn text(
        &mut self,
        x: i32,
        y: i32,
        anchor: &str,
        class: &str,
        size: i32,
        more: &str,
        text: &str,
    ) {
        if text.is_empty() {
            return;
        }
        let right_to_left = measure::right_to_left(text) == Some(true);
        let direction = if right_to_left { " direction=\"rtl\"" } else { "" };
        // "start" is where reading starts.
        let anchor = match (anchor, right_to_left) {
            ("start", true) => "end",
            ("end", true) => "start",
            _ => anchor,
        };
        let _ = writeln!(
            self.out,
            "<text {} font-size=\"{size}\" text-anchor=\"{anchor}\"{direction}{more} x=\"{x}\" y=\"{y}\">{}</text>",
            paint(class, self.fixed),
            escape(text)
        );
    }
}

/// An arc to be drawn from `base` to `apex`, which is up (-1) or down (1) from it.
struct Pen<'a> {
    piece: &'a Piece,
    arc: &'a Arc,
    base: i32,
    apex: i32,
    up: i32,
}

impl Pen<'_> {
    fn class(&self) -> &'static str {
        match self.arc.kind {
            Kind::Plain => "tutte-plain",
            Kind::NonProjective => "tutte-nonprojective",
            Kind::Shared => "tutte-shared",
            Kind::First => "tutte-first",
            Kind::Second => "tutte-second",
        }
    }

    /// Returns the path from left to right. An end that continues on another line stays at the
    /// height of the apex.
    fn path(&self) -> String {
        let Pen { piece, base, apex, up, .. } = *self;
        let (left, right) = (PADDING + piece.left.x, PADDING + piece.right.x);
        let foot = |end: End| match end.kind {
            EndKind::Dependent | EndKind::Root => base + up * 6,
            EndKind::Head | EndKind::Cut(_) => base + up,
        };
        if piece.is_root() {
            return format!("M{left} {}V{apex}", foot(piece.left));
        }
        let bend = 14.min((right - left) / 2);
        let shoulder = apex - up * 18;
        let mut path = match piece.left.kind {
            EndKind::Cut(_) => format!("M{left} {apex}"),
            _ => {
                let foot = foot(piece.left);
                let end = left + bend;
                format!("M{left} {foot}V{shoulder}Q{left} {apex} {end} {apex}")
            }
        };
        let _ = match piece.right.kind {
            EndKind::Cut(_) => write!(path, "H{right}"),
            _ => {
                let foot = foot(piece.right);
                let start = right - bend;
                write!(path, "H{start}Q{right} {apex} {right} {shoulder}V{foot}")
            }
        };
        path
    }
}

/// Returns the attribute for a class, or for its light colour.
fn paint(class: &str, fixed: bool) -> String {
    match light(class) {
        Some((property, colour)) if fixed => format!("{property}=\"{colour}\""),
        _ => format!("class=\"{class}\""),
    }
}

/// Returns the height of the arcs of a side.
fn height(side: &Side) -> i32 {
    if side.levels == 0 { 0 } else { FIRST_LEVEL + LEVEL * (side.levels - 1) + SMALL_SIZE + 6 }
}

/// Returns the opacity of an arc: its probability, scaled so that it stays visible.
fn opacity(property: &str, least: f64, arc: &Arc) -> String {
    match arc.probability.map(ArcProbability::joint) {
        Some(p) if p < 1.0 => format!(" {property}=\"{:.2}\"", least + (1.0 - least) * p),
        _ => String::new(),
    }
}

/// Describes an arc in words.
fn describe(scene: &Scene, arc: &Arc) -> String {
    let head = arc.head.map_or_else(|| "root".to_owned(), |head| scene.nodes[head].name());
    let mut text = format!("{} → {}", head, scene.nodes[arc.dependent].name());
    if !arc.label.is_empty() {
        text = format!("{}: {text}", arc.label);
    }
    if let Some(probability) = arc.probability {
        let ArcProbability { head, label } = probability;
        let _ = match label {
            Some(label) => write!(text, " (probability of the head {head}, of its label {label})"),
            None => write!(text, " (probability {head})"),
        };
    }
    if arc.kind == Kind::NonProjective {
        text.push_str(" (non-projective)");
    }
    text
}

fn shorten(text: &str, width: i32) -> String {
    if measure::pixels(text, SMALL_SIZE) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for character in text.chars() {
        short.push(character);
        if measure::pixels(&short, SMALL_SIZE) + SMALL_SIZE > width {
            break;
        }
    }
    short.push('…');
    short
}

/// Escapes text for XML and HTML, between tags or between double quotes. Characters that XML does
/// not allow become U+FFFD.
///
/// ```
/// assert_eq!(tutte_treebank::draw::escape("R&D <\u{7}>"), "R&amp;D &lt;\u{fffd}&gt;");
/// ```
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ if character.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}
