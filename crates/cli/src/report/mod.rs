//! How results look: tables for terminals and pages, charts as SVG, pages as HTML.
//!
//! A verb describes a table once ([`Table`]) and prints it or puts it on a [`Page`]; a chart
//! ([`chart`]) is an SVG string, for a page or a file of its own. [`Results`] takes both, and JSON.

mod page;
pub(crate) mod reliability;
mod results;
mod table;

pub(crate) use page::{Page, write_whole};
pub(crate) use results::Results;
pub(crate) use table::{Align, Table};
pub(crate) use tutte_charts::{self as chart, count};
pub(crate) use tutte_treebank::draw::{columns, escape, printable as visible, shorten};

/// A share as people read it: `12.34` for 0.1234. Undefined shares (0 of 0) are a dash.
pub(crate) fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    format!("{:.2}", 100.0 * part as f64 / whole as f64)
}

/// A share that is known as such: `12.34` for 0.1234.
pub(crate) fn hundredths(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

/// A probability, or a sum of logarithms, with as many digits as anybody wants to store.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// So many of a thing: `1 word`, `1,234 words`; of a phrase, the first word takes the plural.
pub(crate) fn counted(number: usize, thing: &str) -> String {
    let (noun, rest) = thing.split_at(thing.find(' ').unwrap_or(thing.len()));
    format!("{} {noun}{}{rest}", count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(percent(1, 3), "33.33");
        assert_eq!(percent(0, 0), "–");
        assert_eq!(counted(1, "word"), "1 word");
        assert_eq!(counted(1_000, "kind of error"), "1,000 kinds of error");
    }
}
