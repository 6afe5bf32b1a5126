//! Numbers, shares and plain targets, as both rule formats write them.

use crate::rule::{Target, bin};

/// Reads `0.75`, `75%`, `bin:0.83` or `?`.
pub(crate) fn plain_target(word: &str) -> Option<Target> {
    if word == "?" {
        return Some(Target::Open);
    }
    let share = match word.strip_prefix("bin:") {
        // A number above 1 stays as it is, and the checker refuses it.
        Some(word) => share(word).map(|p| if p <= 1.0 { bin(p) } else { p }),
        None => share(word),
    };
    share.map(Target::Exactly)
}

/// Reads `0.75` or `75%`. The checker tests whether the share is at most 1.
pub(crate) fn share(word: &str) -> Option<f64> {
    match word.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(word),
    }
}

/// Reads a number without sign or exponent. `nan` and `inf` are not numbers here.
pub(crate) fn number(word: &str) -> Option<f64> {
    let is_digit_or_point = |c: char| c.is_ascii_digit() || c == '.';
    let parsed: f64 = word.parse().ok()?;
    (word.chars().all(is_digit_or_point) && parsed.is_finite()).then_some(parsed)
}
