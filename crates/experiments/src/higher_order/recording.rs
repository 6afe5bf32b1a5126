//! Sections of a page that are recorded one by one, and where and when each was.

use std::collections::BTreeMap;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::page::Finding;

/// The sections of a page, by heading.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded {
    sections: BTreeMap<String, String>,
}

impl Recorded {
    /// Reads the sections of a page: what follows each heading of the second level.
    pub(crate) fn of_page(page: &str) -> Self {
        let parts = page.split("\n## ").skip(1);
        let section = |part: &str| {
            let (heading, body) = part.split_once('\n')?;
            Some((heading.to_owned(), body.trim().to_owned()))
        };
        Self { sections: parts.filter_map(section).collect() }
    }

    pub(crate) fn replace(&mut self, heading: &str, body: String) {
        self.sections.insert(heading.to_owned(), body.trim().to_owned());
    }

    /// Returns the sections with these headings, in this order.
    pub(crate) fn text(&self, headings: &[&str]) -> String {
        let section = |heading: &&str| {
            let body = self.sections.get(*heading)?;
            Some(format!("\n## {heading}\n\n{body}\n"))
        };
        headings.iter().filter_map(section).collect()
    }

    /// Returns the rows of the tables of findings of the sections with these headings.
    pub(crate) fn findings(&self, headings: &[&str]) -> Vec<String> {
        let header = format!("| {} |", Finding::COLUMNS.join(" | "));
        let mut rows = Vec::new();
        for body in headings.iter().filter_map(|heading| self.sections.get(*heading)) {
            let table = body.lines().skip_while(|line| *line != header).skip(2);
            rows.extend(table.take_while(|line| line.starts_with('|')).map(str::to_owned));
        }
        rows
    }
}

/// Returns a line with the date, the processor and the load.
pub(crate) fn machine_line() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (year, month, day) = date(since.as_secs() / 86_400);
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(": ")).map_or("unknown processor", |it| it.1);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = load();
    let busy = if load > 1.0 {
        format!(
            "; the load was {load:.1} at the start, so other work ran beside it, and times are those of a busy machine"
        )
    } else {
        String::new()
    };
    format!("Recorded on {year}-{month:02}-{day:02}: {model}, {cores} cores{busy}.")
}

/// Returns the mean number of running programs in the last minute; 0 if the system does not report it.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or(0.0)
}

/// Returns year, month and day of a day after 1970-01-01, in the Gregorian calendar.
fn date(days: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut rest = days;
    let mut year = 1970;
    while rest >= 365 + u64::from(is_leap(year)) {
        rest -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if rest < length {
            break;
        }
        rest -= length;
        month += 1;
    }
    (year, month, rest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(58), (1970, 2, 28));
        assert_eq!(date(59), (1970, 3, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(20_454), (2026, 1, 1));
        assert_eq!(date(20_453), (2025, 12, 31));
    }

    #[test]
    fn other_sections_keep_their_text() {
        let table = "| finding | in the paper | here | verdict |\n| --- | --- | --- | --- |\n| a | 1 | 2 | x |";
        let page = format!("# Page\n\nText.\n\n## One\n\nOld.\n\n{table}\n\n## Two\n\nKept.\n");
        let mut recorded = Recorded::of_page(&page);
        assert_eq!(recorded.findings(&["Two", "One"]), ["| a | 1 | 2 | x |"]);
        recorded.replace("One", "New.\n".to_owned());
        assert_eq!(recorded.text(&["Two", "One"]), "\n## Two\n\nKept.\n\n## One\n\nNew.\n");
        assert_eq!(recorded.text(&["Three"]), "");
        assert!(recorded.findings(&["One"]).is_empty());
    }
}
