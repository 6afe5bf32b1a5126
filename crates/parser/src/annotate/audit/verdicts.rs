//! What people have said of finds, so that these need not be looked at again.
//!
//! A table with tabs, of which the first three columns count and the next two, if they are there, must fit:
//!
//! ```text
//! sent_id       word  verdict  arc     form
//! weblog-0042   7     fine     4:nmod  telescope
//! weblog-0042   9     error
//! ```
//!
//! A verdict is `fine` (the arc is right) or `error` (it is wrong, somebody will correct it); `?` and nothing
//! mean that there is none yet, so a list of finds is a file of verdicts to be filled in. `arc`, the head and
//! the label, and `form` say what the verdict was about: if the tree has changed since, it no longer holds.
//! Lines that are empty or start with `#`, and the line of names, are passed over. Of several verdicts on the
//! same arc the last one counts.

use std::collections::BTreeMap;

use tutte_treebank::{Sentence, Token};

use crate::Error;

/// What somebody said of a find.
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
///     "verdicts.tsv:1:3: \"fein\" is no verdict; fine, error, or ? for none yet was expected"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    by_word: BTreeMap<(String, usize), Vec<Verdict>>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Verdict {
    decision: Decision,
    /// Head and label that it is about.
    arc: Option<(usize, String)>,
    form: Option<String>,
}

/// What a sentence is called in lists of finds: its `sent_id`, or `@` and its number, which counts from 0
/// here and from 1 in the name.
pub fn sentence_name(sentence: &Sentence, number: usize) -> String {
    match sentence.sent_id() {
        // A name must fit into a column.
        Some(id) if !id.is_empty() => id.replace('\t', " "),
        _ => format!("@{}", number + 1),
    }
}

impl Verdicts {
    /// Reads a table; `file` is its name, for messages.
    ///
    /// # Errors
    /// [`Error::Verdict`] for a line that is none, with its line and column.
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
                let why = "sent_id, word and verdict were expected, with tabs between them";
                return Err(wrong(columns.len(), why.to_owned()));
            };
            let word: usize = word.parse().ok().filter(|word| *word > 0).ok_or_else(|| {
                wrong(2, format!("{word:?} is no word; its number in the sentence was expected"))
            })?;
            let decision = match said.to_ascii_lowercase().as_str() {
                "fine" => Decision::Fine,
                "error" => Decision::Error,
                "?" | "" => continue,
                _ => {
                    let expected = "fine, error, or ? for none yet was expected";
                    return Err(wrong(3, format!("{said:?} is no verdict; {expected}")));
                }
            };
            let given = |at: usize| about.get(at).copied().filter(|value| !value.is_empty());
            let arc = given(0).map(|arc| {
                let parts = arc.split_once(':');
                let parts = parts.and_then(|(head, label)| Some((head.parse().ok()?, label)));
                parts.map(|(head, label)| (head, label.to_owned())).ok_or_else(|| {
                    wrong(
                        4,
                        format!("{arc:?} is no arc; its head and label, 4:nmod say, were expected"),
                    )
                })
            });
            let form = given(1).map(str::to_owned);
            let verdict = Verdict { decision, arc: arc.transpose()?, form };
            verdicts.by_word.entry(((*name).to_owned(), word)).or_default().push(verdict);
        }
        Ok(verdicts)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_word.values().map(Vec::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_word.is_empty()
    }

    /// What was said of the arc that a word has, if its sentence has this [name](sentence_name).
    pub fn on(&self, name: &str, word: Token<'_>) -> Option<Decision> {
        let said = self.by_word.get(&(name.to_owned(), word.id().word()?))?;
        let fits = |verdict: &&Verdict| {
            let arc = verdict.arc.as_ref();
            arc.is_none_or(|(head, label)| word.head() == Some(*head) && label == word.deprel())
                && verdict.form.as_ref().is_none_or(|form| form == word.form())
        };
        said.iter().rev().find(fits).map(|verdict| verdict.decision)
    }
}
