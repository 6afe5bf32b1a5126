//! Charts as SVG: bars, lines, reliability diagrams, matrices. Each chart is a standalone document,
//! and uses the colours of the page that embeds it.
//!
//! ```
//! use tutte_charts::{Axes, Line, Scale, lines};
//!
//! let axes = Axes {
//!     x_name: "annotated arcs".into(),
//!     y_name: "UAS".into(),
//!     x: (300.0, 4800.0),
//!     scale: Scale::Doubling, // a tick whenever x doubles
//!     y: (60.0, 80.0),
//!     diagonal: false,
//! };
//! let line = Line { name: "asked".into(), points: vec![(300.0, 64.2), (1200.0, 71.9)] };
//! assert!(lines(&axes, &[line]).starts_with("<svg"));
//! ```

mod grouped;
mod matrix;

use std::fmt::Write as _;

use tutte_treebank::draw::escape;

pub use grouped::{Series, grouped_bars};
pub use matrix::matrix;

/// Style sheet with the colours of the page, and default colours for standalone charts.
const STYLE: &str = "\
.chart { font: 12px system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; max-width: 100%; height: auto; }
.chart text { fill: var(--ink, #1c1e21); } .chart .tick { fill: var(--faint, #6b7280); }
.chart .grid { stroke: var(--line, #d7dae0); } .chart .axis { stroke: var(--faint, #6b7280); }
.chart .bar { fill: var(--accent, #2563a8); } .chart .whisker { stroke: var(--ink, #1c1e21); }
.chart .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.chart .ideal { stroke: var(--faint, #6b7280); stroke-dasharray: 4 3; fill: none; }
.chart .s0 { stroke: var(--accent, #2563a8); } .chart .s1 { stroke: var(--accent-2, #c2571a); }
.chart .s2 { stroke: #3f8f5b; } .chart .s3 { stroke: #8c5bb0; } .chart .s4 { stroke: #8a6d3b; }
.chart .dot { stroke: none; fill: var(--accent, #2563a8); }
.chart .key0 { fill: var(--accent, #2563a8); } .chart .key1 { fill: var(--accent-2, #c2571a); }
.chart .key2 { fill: #3f8f5b; } .chart .key3 { fill: #8c5bb0; } .chart .key4 { fill: #8a6d3b; }
";

/// Number of colours; further series reuse them.
const COLOURS: usize = 5;

/// A bar with its label and value.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Label of the bar.
    pub label: String,
    /// Height of the bar.
    pub value: f64,
    /// Text that is shown when the pointer is over the bar.
    pub hover: String,
}

/// A line of a [`lines`] chart.
#[derive(Clone, Debug)]
pub struct Line {
    /// Name in the key.
    pub name: String,
    /// Points from left to right. Points that are not finite are left out.
    pub points: Vec<(f64, f64)>,
}

/// The axes of a [`lines`] chart.
#[derive(Clone, Debug)]
pub struct Axes {
    /// Name of the x axis.
    pub x_name: String,
    /// Name of the y axis.
    pub y_name: String,
    /// The ends of the x axis.
    pub x: (f64, f64),
    /// Scale of the x axis.
    pub scale: Scale,
    /// The ends of the y axis.
    pub y: (f64, f64),
    /// Draws the line from the lower left to the upper right corner.
    pub diagonal: bool,
}

/// Scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Linear.
    #[default]
    Even,
    /// Logarithmic, with a tick whenever x doubles. Both ends must be positive.
    Doubling,
}

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 22.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;

/// Draws vertical bars from left to right, for histograms.
pub fn bars(bars: &[Bar], x_name: &str, y_name: &str) -> String {
    let highest = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let x = (0.0, bars.len().max(1) as f64);
    let frame = Frame { x, scale: Scale::Even, y: (0.0, nice_ceiling(highest)), above: 0.0 };
    let mut svg = frame.start(x_name, y_name, false);
    // Labels that would overlap are left out.
    let longest = bars.iter().map(|bar| bar.label.chars().count()).max().unwrap_or(1);
    let room = (WIDTH - LEFT - RIGHT) / bars.len().max(1) as f64;
    let every = ((longest as f64 * 7.0 + 6.0) / room).ceil().max(1.0) as usize;
    for (at, bar) in bars.iter().enumerate() {
        let left = frame.place_x(at as f64 + 0.08);
        let right = frame.place_x(at as f64 + 0.92);
        let top = frame.place_y(bar.value);
        let base = frame.place_y(0.0);
        let _ = writeln!(
            svg,
            "<rect class=\"bar\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" \
             height=\"{:.1}\"><title>{}</title></rect>",
            right - left,
            base - top,
            escape(&bar.hover)
        );
        if at.is_multiple_of(every) {
            let middle = frame.place_x(at as f64 + 0.5);
            tick(&mut svg, middle, base + 15.0, "middle", &bar.label);
        }
    }
    frame.end(svg)
}

/// Draws horizontal bars from top to bottom, one per line: for example labels with their counts.
pub fn ranking(bars: &[Bar]) -> String {
    const ROW: f64 = 20.0;
    const NAMES: f64 = 130.0;
    let highest = bars.iter().map(|bar| bar.value).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let height = ROW * bars.len() as f64 + 8.0;
    let mut svg = document(WIDTH, height, 0.0);
    for (at, bar) in bars.iter().enumerate() {
        let y = 4.0 + ROW * at as f64;
        let width = (WIDTH - NAMES - 70.0) * (bar.value / highest).clamp(0.0, 1.0);
        tick(&mut svg, NAMES - 8.0, y + 13.0, "end", &bar.label);
        let _ = writeln!(
            svg,
            "<rect class=\"bar\" x=\"{NAMES}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>",
            y + 2.0,
            ROW - 5.0
        );
        tick(&mut svg, NAMES + width + 6.0, y + 13.0, "start", &bar.hover);
    }
    svg.push_str("</svg>");
    svg
}

/// Draws curves over common axes, with a key if there are several.
pub fn lines(axes: &Axes, lines: &[Line]) -> String {
    let frame = Frame { x: axes.x, scale: axes.scale, y: axes.y, above: 0.0 };
    let mut svg = frame.start(&axes.x_name, &axes.y_name, true);
    if axes.diagonal {
        let _ = writeln!(
            svg,
            "<path class=\"ideal\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
            frame.place_x(axes.x.0),
            frame.place_y(axes.y.0),
            frame.place_x(axes.x.1),
            frame.place_y(axes.y.1)
        );
    }
    for (at, line) in lines.iter().enumerate() {
        let colour = at % COLOURS;
        let mut path = String::new();
        for &(x, y) in line.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
            let step = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{step}{:.1} {:.1}", frame.place_x(x), frame.place_y(y));
        }
        let name = escape(&line.name);
        let _ = writeln!(
            svg,
            "<path class=\"line s{colour}\" d=\"{path}\"><title>{name}</title></path>"
        );
        if lines.len() > 1 {
            let y = TOP + 14.0 + 16.0 * at as f64;
            let _ = writeln!(
                svg,
                "<rect class=\"key{colour}\" x=\"{:.1}\" y=\"{:.1}\" width=\"12\" height=\"3\"/>",
                LEFT + 10.0,
                y - 5.0
            );
            tick(&mut svg, LEFT + 28.0, y, "start", &line.name);
        }
    }
    frame.end(svg)
}

/// A point of a reliability diagram.
#[derive(Clone, Copy, Debug)]
pub struct Reliability {
    /// Mean confidence.
    pub confidence: f64,
    /// Share of correct arcs.
    pub accuracy: f64,
    /// Confidence interval of the accuracy.
    pub interval: (f64, f64),
    /// Number of arcs.
    pub count: usize,
}

/// Draws accuracy over confidence. The area of a point is its share of the arcs; the dashed
/// diagonal is perfect calibration.
pub fn reliability(points: &[Reliability]) -> String {
    let frame = Frame { x: (0.0, 1.0), scale: Scale::Even, y: (0.0, 1.0), above: 0.0 };
    let mut svg = frame.start("confidence", "accuracy", true);
    let _ = writeln!(
        svg,
        "<path class=\"ideal\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
        frame.place_x(0.0),
        frame.place_y(0.0),
        frame.place_x(1.0),
        frame.place_y(1.0)
    );
    let most = points.iter().map(|point| point.count).max().unwrap_or(1).max(1) as f64;
    for point in points.iter().filter(|point| point.count > 0) {
        let x = frame.place_x(point.confidence);
        let y = frame.place_y(point.accuracy);
        let (low, high) = (frame.place_y(point.interval.0), frame.place_y(point.interval.1));
        let radius = 2.5 + 6.5 * (point.count as f64 / most).sqrt();
        let _ = writeln!(
            svg,
            "<path class=\"whisker\" d=\"M{x:.1} {low:.1}V{high:.1}\"/>\n\
             <circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" opacity=\"0.85\">\
             <title>confidence {:.3}, accuracy {:.3}, {} arcs</title></circle>",
            point.confidence, point.accuracy, point.count
        );
    }
    frame.end(svg)
}

/// Maps numbers to positions in the chart.
struct Frame {
    x: (f64, f64),
    scale: Scale,
    y: (f64, f64),
    /// Room above the chart, for a key.
    above: f64,
}

impl Frame {
    fn place_x(&self, x: f64) -> f64 {
        let share = match self.scale {
            Scale::Even => share(x, self.x),
            Scale::Doubling => share(x.ln(), (self.x.0.ln(), self.x.1.ln())),
        };
        LEFT + (WIDTH - LEFT - RIGHT) * share
    }

    fn place_y(&self, y: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share(y, self.y)
    }

    /// Starts a chart with the grid, the names of the axes and the numbers. The numbers of the x
    /// axis are optional.
    fn start(&self, x_name: &str, y_name: &str, has_x_numbers: bool) -> String {
        let mut svg = document(WIDTH, HEIGHT, self.above);
        let left = LEFT;
        let right = WIDTH - RIGHT;
        for step in 0..=4 {
            let part = f64::from(step) / 4.0;
            let value = self.y.0 + part * (self.y.1 - self.y.0);
            let y = self.place_y(value);
            let _ = writeln!(svg, "<path class=\"grid\" d=\"M{left} {y:.1}H{right}\"/>");
            tick(&mut svg, left - 6.0, y + 4.0, "end", &number(value));
        }
        for value in self.x_ticks().into_iter().filter(|_| has_x_numbers) {
            let x = self.place_x(value);
            let y = HEIGHT - BOTTOM + 15.0;
            tick(&mut svg, x, y, "middle", &number(value));
        }
        let base = HEIGHT - BOTTOM;
        let _ = writeln!(svg, "<path class=\"axis\" d=\"M{left} {base}H{right}\"/>");
        let middle_x = (left + right) / 2.0;
        let middle_y = (TOP + base) / 2.0;
        let _ = writeln!(
            svg,
            "<text x=\"{middle_x}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(12 {middle_y}) rotate(-90)\" \
             text-anchor=\"middle\">{}</text>",
            HEIGHT - 8.0,
            escape(x_name),
            escape(y_name)
        );
        svg
    }

    /// Returns the numbers below the x axis.
    fn x_ticks(&self) -> Vec<f64> {
        let (low, high) = self.x;
        match self.scale {
            Scale::Even => (0..=4).map(|step| low + f64::from(step) / 4.0 * (high - low)).collect(),
            Scale::Doubling => (0..16)
                .map(|step| low * 2f64.powi(step))
                .take_while(|value| *value <= high * 1.001)
                .collect(),
        }
    }

    fn end(&self, mut svg: String) -> String {
        svg.push_str("</svg>");
        svg
    }
}

fn share(value: f64, (low, high): (f64, f64)) -> f64 {
    if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
}

/// Starts a standalone document with its style sheet. `above` is the room above y = 0.
fn document(width: f64, height: f64, above: f64) -> String {
    let whole = height + above;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" \
         viewBox=\"0 {} {width} {whole}\" width=\"{width}\" height=\"{whole}\" role=\"img\">\n\
         <style>{STYLE}</style>\n",
        0.0 - above
    )
}

fn tick(svg: &mut String, x: f64, y: f64, anchor: &str, label: &str) {
    let label = escape(label);
    let _ = writeln!(
        svg,
        "<text class=\"tick\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{label}</text>"
    );
}

/// Formats a number on an axis.
fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1000.0 || value.fract() == 0.0 {
        let sign = if value < 0.0 { "-" } else { "" };
        format!("{sign}{}", count(size.round() as usize))
    } else if size >= 10.0 {
        format!("{value:.0}")
    } else if size >= 1.0 {
        format!("{value:.1}")
    } else if (100.0 * value - (100.0 * value).round()).abs() > 1e-9 {
        // Quarters of 0.1 need a third digit.
        format!("{value:.3}")
    } else {
        format!("{value:.2}")
    }
}

/// Formats a number with separated thousands: `1,234,567`.
///
/// ```
/// assert_eq!(tutte_charts::count(1_234_567), "1,234,567");
/// ```
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns the next round number whose quarters are round too.
pub fn nice_ceiling(value: f64) -> f64 {
    if value.is_nan() || value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 1.2, 1.6, 2.0, 2.4, 3.2, 4.0, 6.0, 8.0, 10.0];
    steps.iter().map(|step| step * power).find(|ceiling| *ceiling >= value).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings_are_round_and_not_below() {
        for value in [0.0, 0.3, 1.0, 7.0, 99.0, 101.0, 12_345.0] {
            let ceiling = nice_ceiling(value);
            assert!(ceiling >= value && ceiling <= (1.7 * value).max(1.0), "{value} {ceiling}");
        }
    }

    #[test]
    fn negative_numbers_keep_their_minus() {
        let shown = [-1234.0, -25.0, -12.5, -2.5, -0.25, 0.0, 25.0].map(number);
        assert_eq!(shown, ["-1,234", "-25", "-12", "-2.5", "-0.25", "0", "25"]);
    }

    #[test]
    fn empty_charts_are_valid() {
        let axes = Axes {
            x_name: "x".into(),
            y_name: "y".into(),
            x: (0.0, 0.0),
            scale: Scale::Doubling,
            y: (0.0, 1.0),
            diagonal: true,
        };
        let empty = [
            bars(&[], "x", "y"),
            ranking(&[]),
            lines(&axes, &[]),
            reliability(&[]),
            grouped_bars(&[], &[], "x", "y", 100.0),
            matrix(&[], &[], &[], "x", "y"),
        ];
        for svg in empty {
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn values_are_escaped_and_nan_points_are_left_out() {
        let bar = Bar { label: "<x>".into(), value: 2.0, hover: "a & b".into() };
        assert!(bars(&[bar], "x", "y").contains("a &amp; b"));
        let axes = Axes {
            x_name: "x".into(),
            y_name: "y".into(),
            x: (0.0, 1.0),
            scale: Scale::Even,
            y: (0.0, 1.0),
            diagonal: false,
        };
        let line = Line { name: "f".into(), points: vec![(0.0, f64::NAN), (0.5, 0.5), (1.0, 1.0)] };
        assert!(!lines(&axes, &[line]).contains("NaN"));
    }
}
