//! Manual verdicts on the first finds of an audit.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};

use crate::page::{Table, percent};

/// Names of verdicts, and their meanings.
const VERDICTS: [(&str, &str); 3] = [
    ("real", "an error of the annotation"),
    ("model", "the annotation is right, or equally good"),
    ("unclear", "needs the guidelines or more context"),
];

/// A table with tabs: sent_id, word, form, arc and its probability, the model's alternative and its probability,
/// verdict, reason.
#[derive(Debug)]
pub(crate) struct ByEye {
    /// Lines that start with `#`: the origin of the finds.
    about: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl ByEye {
    const COLUMNS: usize = 9;
    const VERDICT: usize = 7;

    /// Reads the table, if there is one.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>> {
        let Ok(text) = fs::read_to_string(path) else { return Ok(None) };
        Self::parse(&text).with_context(|| path.display().to_string()).map(Some)
    }

    fn parse(text: &str) -> Result<Self> {
        let mut by_eye = Self { about: Vec::new(), rows: Vec::new() };
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(about) = line.strip_prefix('#') {
                by_eye.about.push(about.trim().to_owned());
                continue;
            }
            if line.starts_with("sent_id\t") {
                continue;
            }
            let row: Vec<String> = line.split('\t').map(str::to_owned).collect();
            if row.len() != Self::COLUMNS {
                return Err(anyhow!(
                    "line {number}: found {} columns, expected {}",
                    row.len(),
                    Self::COLUMNS
                ));
            }
            if VERDICTS.iter().all(|(verdict, _)| *verdict != row[Self::VERDICT]) {
                return Err(anyhow!(
                    "line {number}: found the verdict {:?}, expected real, model or unclear",
                    row[Self::VERDICT]
                ));
            }
            by_eye.rows.push(row);
        }
        Ok(by_eye)
    }

    /// Formats the section of the page. `docs/GUIDE.md` quotes the sentence about the first finds.
    pub(crate) fn text(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &self.rows {
            *counts.entry(&row[Self::VERDICT]).or_default() += 1;
        }
        let count_of = |verdict: &str| counts.get(verdict).copied().unwrap_or(0);
        let all = self.rows.len();
        let mut text = format!(
            "## By eye\n\n**Question:** how many finds in an unchanged treebank are errors? **Method:** {}\n\n",
            self.about.join(" ")
        );
        let mut table = Table::new(&["verdict", "finds", "%"]);
        for (verdict, meaning) in VERDICTS {
            let share = percent(count_of(verdict) as f64 / all.max(1) as f64);
            table.row(&[meaning.to_owned(), count_of(verdict).to_string(), share]);
        }
        text += table.text();
        text += &format!(
            "\nSo {} of the first {all} finds are errors, and {} more may be.\n\n",
            count_of("real"),
            count_of("unclear")
        );
        let mut table = Table::of_text(&["word", "treebank", "alternative", "verdict", "reason"]);
        for row in &self.rows {
            let [_, word, form, arc, _, alternative, _, verdict, reason] = row.as_slice() else {
                continue;
            };
            let cell = |text: &str| text.replace('|', "\\|");
            table.row(&[
                format!("{word} {}", cell(form)),
                cell(arc),
                cell(alternative),
                verdict.clone(),
                cell(reason),
            ]);
        }
        text += table.text();
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_counted_and_unknown_ones_refused() {
        let row = |verdict: &str| format!("s\t1\tTea\t2:obj\t0.1\t3:nsubj\t0.8\t{verdict}\twhy\n");
        let text =
            format!("# Of tea.\nsent_id\tword\n{}{}{}", row("real"), row("real"), row("model"));
        let page = ByEye::parse(&text).unwrap().text();
        assert!(
            page.contains("So 2 of the first 3 finds are errors, and 0 more may be."),
            "{page}"
        );
        assert!(page.contains("**Method:** Of tea."), "{page}");
        assert!(page.contains("| an error of the annotation | 2 | 66.67 |"), "{page}");
        assert!(ByEye::parse(&row("maybe")).unwrap_err().to_string().contains("maybe"));
        assert!(ByEye::parse("s\t1\n").unwrap_err().to_string().contains("2 columns"));
    }
}
