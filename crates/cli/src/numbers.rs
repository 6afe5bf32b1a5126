//! Numbers as people read them.

pub(crate) use tutte_charts::count;

/// Formats a share in percent: `12.34` for 1,234 of 10,000. An undefined share (0 of 0) is a dash.
pub(crate) fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    format!("{:.2}", 100.0 * part as f64 / whole as f64)
}

/// Formats a fraction in percent: `12.34` for 0.1234.
pub(crate) fn hundredths(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

/// Rounds a probability or a log-probability to the six digits that are stored.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// Formats a number of things: `1 word`, `1,234 multiword tokens`. In "kind of error", `kind` takes the plural.
pub(crate) fn counted(number: usize, thing: &str) -> String {
    let (noun, rest) = thing.split_at(thing.find(" of ").unwrap_or(thing.len()));
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
        assert_eq!(counted(15, "multiword token"), "15 multiword tokens");
    }
}
