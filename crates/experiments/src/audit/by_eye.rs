//! What was said of finds by a reader who looked at them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};

use crate::page::{Table, percent};

/// The names of verdicts, and what they mean.
const KINDS: [(&str, &str); 3] = [
    ("real", "an error of the annotation"),
    ("model", "the annotation is right, or as good"),
    ("unclear", "guidelines or context would have to be asked"),
];

/// A table with tabs: sent_id, word, form, arc, probability, what the model would rather have and its
/// probability, verdict, why.
#[derive(Debug)]
pub(crate) struct ByEye {
    /// Lines that start with `#`: what the finds are of.
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
                    "line {number} has {} columns, not {}",
                    row.len(),
                    Self::COLUMNS
                ));
            }
            if KINDS.iter().all(|(kind, _)| *kind != row[Self::VERDICT]) {
                return Err(anyhow!("line {number}: {:?} is no verdict", row[Self::VERDICT]));
            }
            by_eye.rows.push(row);
        }
        Ok(by_eye)
    }

    /// The section of the page.
    pub(crate) fn text(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &self.rows {
            *counts.entry(&row[Self::VERDICT]).or_default() += 1;
        }
        let of = |kind: &str| counts.get(kind).copied().unwrap_or(0);
        let all = self.rows.len();
        let mut text = format!(
            "## By eye\n\n**Asked:** of the finds in a treebank as it is, how many are errors? **How:** {}\n\n",
            self.about.join(" ")
        );
        let mut table = Table::new(&["verdict", "finds", "%"]);
        for (kind, meaning) in KINDS {
            let share = percent(of(kind) as f64 / all.max(1) as f64);
            table.row(&[meaning.to_owned(), of(kind).to_string(), share]);
        }
        text += table.text();
        text += &format!(
            "\nSo {} of the first {all} finds are errors, and {} more may be.\n\n",
            of("real"),
            of("unclear")
        );
        let mut table = Table::of_text(&["word", "treebank", "rather", "verdict", "why"]);
        for row in &self.rows {
            let [_, word, form, arc, _, rather, _, verdict, why] = row.as_slice() else { continue };
            let cell = |text: &str| text.replace('|', "\\|");
            table.row(&[
                format!("{word} {}", cell(form)),
                cell(arc),
                cell(rather),
                verdict.clone(),
                cell(why),
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
    fn verdicts_are_counted_and_what_is_none_is_refused() {
        let row = |verdict: &str| format!("s\t1\tTea\t2:obj\t0.1\t3:nsubj\t0.8\t{verdict}\twhy\n");
        let text =
            format!("# Of tea.\nsent_id\tword\n{}{}{}", row("real"), row("real"), row("model"));
        let page = ByEye::parse(&text).unwrap().text();
        assert!(
            page.contains("So 2 of the first 3 finds are errors, and 0 more may be."),
            "{page}"
        );
        assert!(page.contains("**How:** Of tea."), "{page}");
        assert!(page.contains("| an error of the annotation | 2 | 66.67 |"), "{page}");
        assert!(ByEye::parse(&row("maybe")).unwrap_err().to_string().contains("maybe"));
        assert!(ByEye::parse("s\t1\n").unwrap_err().to_string().contains("2 columns"));
    }
}
