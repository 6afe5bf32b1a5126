//! Verdicts of annotators on findings, so that they need not be checked again.
//!
//! A verdict file is a table with tabs. The first three columns are required. The next two, if present, must agree
//! with the treebank:
//!
//! ```text
//! sent_id       word  verdict  arc     form
//! weblog-0042   7     fine     4:nmod  telescope
//! weblog-0042   9     error
//! ```
//!
//! A verdict is `fine` (the arc is right) or `error` (the arc is wrong and will be corrected). `?` or an empty column
//! means that there is no verdict yet, so a list of findings is a verdict file to fill in. `arc` (head and label) and
//! `form` say what the verdict was about: if the tree has changed since, the verdict no longer holds. Empty lines,
//! lines that start with `#`, and the line with column names are ignored. If there are several verdicts on an arc, the
//! last one counts.

use std::collections::BTreeMap;

use tutte_treebank::{Sentence, Token};

use crate::Error;

/// A decision about a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The arc is right.
    Fine,
    /// The arc is wrong.
    Error,
}

/// Verdicts by sentence and word.
///
/// ```
/// use tutte::audit::{Decision, Verdicts};
///
/// let verdicts = Verdicts::parse("verdicts.tsv", "tea-3\t2\tfine\t0:root\ntea-3\t1\t?\n")?;
/// let sentence: tutte_treebank::Sentence =
///     "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\t_\tVERB\t_\t_\t0\troot\t_\t_\n".parse()?;
/// assert_eq!(verdicts.on("tea-3", sentence.word(2).unwrap()), Some(Decision::Fine));
/// assert_eq!(verdicts.on("tea-3", sentence.word(1).unwrap()), None);
///
/// let error = Verdicts::parse("verdicts.tsv", "tea-3\t2\tfein\n").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "verdicts.tsv:1:3: \"fein\" is not a verdict; write fine, error, or ? for none yet"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    by_word: BTreeMap<(String, usize), Vec<Verdict>>,
}

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Verdict {
    decision: Decision,
    /// Head and label that the verdict is about.
    arc: Option<(usize, String)>,
    form: Option<String>,
}

/// Returns the name of a sentence in lists of findings: its `sent_id`, or `@` and its number from 1. `number` counts from
/// 0.
pub fn sentence_name(sentence: &Sentence, number: usize) -> String {
    match sentence.sent_id() {
        // A tab would end the column.
        Some(id) if !id.is_empty() => id.replace('\t', " "),
        _ => format!("@{}", number + 1),
    }
}

impl Verdicts {
    /// Reads a table. `file` is its name in error messages.
    ///
    /// # Errors
    /// [`Error::Verdict`] for a malformed line, with its line and column.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let mut verdicts = Self::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() || line.starts_with('#') || line.starts_with("sent_id\t") {
                continue;
            }
            let wrong =
                |column, why| Error::Verdict { file: file.to_owned(), line: number, column, why };
            let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
            let [name, word, said, about @ ..] = columns.as_slice() else {
                let why = "a line needs sent_id, word and verdict, with tabs between them";
                return Err(wrong(columns.len(), why.to_owned()));
            };
            let word: usize = word.parse().ok().filter(|word| *word > 0).ok_or_else(|| {
                wrong(2, format!("{word:?} is not a word; write its number in the sentence"))
            })?;
            let decision = match said.to_ascii_lowercase().as_str() {
                "fine" => Decision::Fine,
                "error" => Decision::Error,
                "?" | "" => continue,
                _ => {
                    let expected = "write fine, error, or ? for none yet";
                    return Err(wrong(3, format!("{said:?} is not a verdict; {expected}")));
                }
            };
            let given = |at: usize| about.get(at).copied().filter(|value| !value.is_empty());
            let arc = given(0).map(|arc| {
                let parts = arc.split_once(':');
                let parts = parts.and_then(|(head, label)| Some((head.parse().ok()?, label)));
                parts.map(|(head, label)| (head, label.to_owned())).ok_or_else(|| {
                    wrong(
                        4,
                        format!("{arc:?} is not an arc; write head and label, for example 4:nmod"),
                    )
                })
            });
            let form = given(1).map(str::to_owned);
            let verdict = Verdict { decision, arc: arc.transpose()?, form };
            verdicts.by_word.entry(((*name).to_owned(), word)).or_default().push(verdict);
        }
        Ok(verdicts)
    }

    /// Returns the number of verdicts.
    pub fn len(&self) -> usize {
        self.by_word.values().map(Vec::len).sum()
    }

    /// Returns `true` if there are no verdicts.
    pub fn is_empty(&self) -> bool {
        self.by_word.is_empty()
    }

    /// Returns the decision about the arc of a word, in the sentence with this [name](sentence_name).
    pub fn on(&self, name: &str, word: Token<'_>) -> Option<Decision> {
        let verdicts = self.by_word.get(&(name.to_owned(), word.id().word()?))?;
        let fits = |verdict: &&Verdict| {
            let arc = verdict.arc.as_ref();
            arc.is_none_or(|(head, label)| word.head() == Some(*head) && label == word.deprel())
                && verdict.form.as_ref().is_none_or(|form| form == word.form())
        };
        verdicts.iter().rev().find(fits).map(|verdict| verdict.decision)
    }
}
