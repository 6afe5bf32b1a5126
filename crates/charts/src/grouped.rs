//! Grouped bars: one group per class, one bar per series.

use std::fmt::Write as _;

use crate::{COLOURS, Frame, LEFT, Scale, TOP, tick};
use tutte_treebank::draw::escape;

/// The bars of one colour.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name in the key.
    pub name: String,
    /// One value for each class; `None` where there is nothing to show.
    pub values: Vec<Option<f64>>,
}

/// Draws vertical bars from 0 to `highest`: classes from left to right, with one bar of every
/// series in each. With several series, there is a key above.
pub fn grouped_bars(
    classes: &[String],
    series: &[Series],
    x_name: &str,
    y_name: &str,
    highest: f64,
) -> String {
    const KEY_ROW: f64 = 16.0;
    let keys = if series.len() > 1 { series.len() } else { 0 };
    let above = KEY_ROW * keys as f64;
    let x = (0.0, classes.len().max(1) as f64);
    let frame = Frame { x, scale: Scale::Even, y: (0.0, highest), above };
    let mut svg = frame.start(x_name, y_name, false);
    for (number, one) in series.iter().take(keys).enumerate() {
        let y = TOP - above + KEY_ROW * number as f64;
        let colour = number % COLOURS;
        let _ = writeln!(
            svg,
            "<rect class=\"key{colour}\" x=\"{LEFT}\" y=\"{:.1}\" width=\"10\" height=\"10\"/>",
            y - 7.0
        );
        tick(&mut svg, LEFT + 16.0, y + 2.0, "start", &one.name);
    }
    let base = frame.place_y(0.0);
    let width = 0.84 / series.len().max(1) as f64;
    for (at, class) in classes.iter().enumerate() {
        for (number, one) in series.iter().enumerate() {
            let Some(Some(value)) = one.values.get(at) else { continue };
            let left = at as f64 + 0.08 + width * number as f64;
            let (left, right) = (frame.place_x(left), frame.place_x(left + width));
            let top = frame.place_y(*value);
            let _ = writeln!(
                svg,
                "<rect class=\"key{}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" \
                 height=\"{:.1}\"><title>{}, {}: {value:.2}</title></rect>",
                number % COLOURS,
                (right - left - 1.0).max(0.5),
                base - top,
                escape(class),
                escape(&one.name),
            );
        }
        tick(&mut svg, frame.place_x(at as f64 + 0.5), base + 15.0, "middle", class);
    }
    frame.end(svg)
}
