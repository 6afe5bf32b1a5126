//! Numbers as people read them.

use std::time::Duration;

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

/// Formats a duration: `7 s`, `2:05`, `1:00:09`.
pub(crate) fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Formats the pace of work that has read this many words in the time it `took`: `12 s, 45,000 words a second,
/// about 2:05 left`. Before the first word it is the elapsed time alone.
pub(crate) fn pace(elapsed: Duration, words: f64, took: Duration, left: Duration) -> String {
    let now = clock(elapsed);
    if words <= 0.0 || took.is_zero() {
        return now;
    }
    let rate = count((words / took.as_secs_f64()) as usize);
    format!("{now}, {rate} words a second, about {} left", clock(left))
}

/// Formats the size of a file: `95 kB`, `7.4 MB`.
pub(crate) fn megabytes(bytes: u64) -> String {
    if bytes < 1_000_000 {
        format!("{} kB", bytes.div_ceil(1000))
    } else {
        format!("{:.1} MB", bytes as f64 / 1e6)
    }
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

    #[test]
    fn the_pace_is_known_after_the_first_pass() {
        let seconds = Duration::from_secs;
        assert_eq!(pace(seconds(3), 0.0, seconds(0), seconds(0)), "3 s");
        let later = pace(seconds(70), 1.2e6, seconds(60), seconds(125));
        assert_eq!(later, "1:10, 20,000 words a second, about 2:05 left");
    }

    #[test]
    fn times_are_written_for_people() {
        let shown = [0, 59, 60, 125, 3609].map(|seconds| clock(Duration::from_secs(seconds)));
        assert_eq!(shown, ["0 s", "59 s", "1:00", "2:05", "1:00:09"]);
    }
}
