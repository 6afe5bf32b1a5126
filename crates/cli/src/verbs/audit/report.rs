//! The result of an audit as text, tables and JSON.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use tutte::audit::{Audit, Decision, Finding, PatternCount, Verdicts, sentence_name};
use tutte_treebank::{Sentence, Token};

use crate::report::{Align, Table, columns, count, counted, percent, rounded};

/// Number of patterns that are shown; the table of finds has all.
const PATTERNS: usize = 15;

/// Number of groups of sentences with the same words that are shown.
const GROUPS: usize = 5;

/// A find and its sentence.
#[derive(Debug, Serialize)]
pub(super) struct Find {
    /// Index of the sentence.
    #[serde(skip)]
    pub(super) sentence: usize,
    /// Name of the sentence.
    pub(super) sent_id: String,
    pub(super) file: String,
    pub(super) line: u64,
    pub(super) word: usize,
    pub(super) form: String,
    pub(super) head: usize,
    pub(super) head_form: String,
    pub(super) deprel: String,
    pub(super) prob: f64,
    pub(super) suspicion: f64,
    pub(super) rather_head: usize,
    pub(super) rather_head_form: String,
    pub(super) rather_deprel: String,
    pub(super) rather_prob: f64,
    pub(super) pattern: String,
}

/// Number of verdicts.
#[derive(Debug, Default, Serialize)]
struct VerdictCounts {
    fine: usize,
    errors: usize,
    /// Verdicts about arcs that the treebank does not have.
    stale: usize,
}

/// The result of an audit.
#[derive(Debug)]
pub(super) struct AuditReport {
    /// All finds without a verdict.
    pub(super) finds: Vec<Find>,
    patterns: Vec<PatternCount>,
    verdicts: Option<VerdictCounts>,
    sentences: usize,
    words: usize,
    folds: usize,
    documents: Option<usize>,
    kept_back: usize,
    /// Number of arcs for which a model prefers another.
    disagreements: usize,
    below: f64,
    judges_labels: bool,
    /// Names of sentences with the same words and different trees.
    inconsistent: Vec<Vec<String>>,
}

/// The document of `--json`.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    sentences: usize,
    words: usize,
    folds: usize,
    documents: Option<usize>,
    kept_back: usize,
    disagreements: usize,
    below: f64,
    found: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdicts: &'a Option<VerdictCounts>,
    finds: &'a [Find],
    patterns: Vec<PatternRecord>,
    inconsistent: &'a [Vec<String>],
}

#[derive(Debug, Serialize)]
struct PatternRecord {
    pattern: String,
    finds: usize,
    arcs: usize,
}

impl AuditReport {
    pub(super) fn new(audit: &Audit<'_>, verdicts: Option<&Verdicts>, below: f64) -> Self {
        let treebank = audit.treebank();
        let name = |at: usize| sentence_name(&treebank[at], at);
        let mut findings = audit.findings(below);
        let mut said = verdicts.map(|_| VerdictCounts::default());
        if let Some((verdicts, said)) = verdicts.zip(said.as_mut()) {
            for (at, sentence) in treebank.iter().enumerate() {
                for word in sentence.words() {
                    match verdicts.on(&name(at), word) {
                        Some(Decision::Fine) => said.fine += 1,
                        Some(Decision::Error) => said.errors += 1,
                        None => {}
                    }
                }
            }
            said.stale = verdicts.len().saturating_sub(said.fine + said.errors);
            findings.retain(|find| {
                let word = treebank[find.sentence].word(find.word);
                word.and_then(|word| verdicts.on(&name(find.sentence), word)).is_none()
            });
        }
        let folds = audit.folds();
        let all = (0..treebank.len()).flat_map(|at| audit.arcs(at));
        let disagreements =
            all.filter(|judged| judged.other.is_some_and(|r| r.prob > judged.prob())).count();
        let names = |group: &[usize]| group.iter().map(|&at| name(at)).collect();
        Self {
            patterns: audit.patterns(&findings),
            finds: findings.iter().map(|find| Find::new(&treebank[find.sentence], find)).collect(),
            verdicts: said,
            sentences: treebank.len(),
            words: treebank.iter().map(Sentence::len).sum(),
            folds: folds.count(),
            documents: folds.documents(),
            kept_back: folds.kept_back(),
            disagreements,
            below,
            judges_labels: audit.has_labels(),
            inconsistent: audit.inconsistent().into_iter().map(names).collect(),
        }
    }

    pub(super) fn json(&self, top: usize) -> Document<'_> {
        let counted = |count: &PatternCount| PatternRecord {
            pattern: count.pattern.to_string(),
            finds: count.finds,
            arcs: count.arcs,
        };
        Document {
            sentences: self.sentences,
            words: self.words,
            folds: self.folds,
            documents: self.documents,
            kept_back: self.kept_back,
            disagreements: self.disagreements,
            below: self.below,
            found: self.finds.len(),
            verdicts: &self.verdicts,
            finds: &self.finds[..top.min(self.finds.len())],
            patterns: self.patterns.iter().map(counted).collect(),
            inconsistent: &self.inconsistent,
        }
    }

    pub(super) fn text(&self, top: usize) -> String {
        let mut text = self.overview().text(0);
        if !self.finds.is_empty() && top > 0 {
            text += "\nThe most suspicious arcs\n";
            text += &self.table(top).text(2);
            text += "\nPatterns of finds\n";
            text += &self.patterns(PATTERNS).text(2);
        }
        if !self.inconsistent.is_empty() {
            text += "\nThe same words with different trees\n";
            for group in self.inconsistent.iter().take(GROUPS) {
                text += &format!("  {}\n", names(group));
            }
            let more = self.inconsistent.len().saturating_sub(GROUPS);
            if more > 0 {
                text += &format!("  … and {} more; --json has them all\n", count(more));
            }
        }
        text
    }

    /// Returns a hint about the next step.
    pub(super) fn next(&self, output: Option<&Path>, top: usize) -> Option<String> {
        match output {
            Some(path) if !self.finds.is_empty() => Some(format!(
                "next: write fine or error into the third column of {0}, then add --verdicts {0}",
                path.display()
            )),
            None if self.finds.len() > top => Some("next: -o FILE writes all finds".to_owned()),
            _ => None,
        }
    }

    /// Returns the table of totals.
    pub(super) fn overview(&self) -> Table {
        let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
        let sentences = counted(self.sentences, "sentence");
        let words = counted(self.words, "word");
        let dealt = match self.documents {
            Some(documents) => counted(documents, "document"),
            None => "runs of sentences".to_owned(),
        };
        let folds = counted(self.folds, "fold");
        table.row(["scored".to_owned(), format!("{sentences}, {words}, in {folds} of {dealt}")]);
        if self.kept_back > 0 {
            let kept_back = counted(self.kept_back, "sentence");
            let why = "not used to score sentences with the same words";
            table.row(["duplicates".to_owned(), format!("{kept_back} {why}")]);
        }
        let what = if self.judges_labels { "head or label" } else { "head" };
        let other = counted(self.disagreements, "arc");
        let share = percent(self.disagreements, self.words);
        table.row([
            "disagree".to_owned(),
            format!("{other} ({share} %) for which another {what} is more probable"),
        ]);
        let finds = counted(self.finds.len(), "arc");
        let share = percent(self.finds.len(), self.words);
        table.row([
            "finds".to_owned(),
            format!("{finds} ({share} %) with a probability below {}", self.below),
        ]);
        if let Some(VerdictCounts { fine, errors, stale }) = &self.verdicts {
            let hidden = format!(
                "{} fine and {} to correct are hidden",
                count(*fine),
                counted(*errors, "error")
            );
            let stale = match stale {
                0 => String::new(),
                stale => format!("; {} about arcs that do not exist", count(*stale)),
            };
            table.row(["verdicts".to_owned(), hidden + &stale]);
        }
        table
    }

    /// Returns the table of the first finds.
    pub(super) fn table(&self, top: usize) -> Table {
        let mut table = Table::new([
            ("suspicion", Align::Right),
            ("sentence", Align::Left),
            ("line", Align::Right),
            ("word", Align::Left),
            ("head", Align::Left),
            ("prob", Align::Right),
            ("preferred", Align::Left),
            ("prob", Align::Right),
        ]);
        for find in self.finds.iter().take(top) {
            table.row([
                format!("{:.1}", find.suspicion),
                end_of(&find.sent_id),
                find.line.to_string(),
                format!("{} {}", find.word, find.form),
                find.arc(),
                shown(find.prob),
                find.rather(),
                shown(find.rather_prob),
            ]);
        }
        table
    }

    /// Returns the table of the most frequent patterns.
    pub(super) fn patterns(&self, most: usize) -> Table {
        let mut table = Table::new([
            ("word ← head label → preferred", Align::Left),
            ("finds", Align::Right),
            ("of arcs", Align::Right),
            ("%", Align::Right),
        ]);
        for PatternCount { pattern, finds, arcs } in self.patterns.iter().take(most) {
            let share = percent(*finds, *arcs);
            table.row([pattern.to_string(), count(*finds), count(*arcs), share]);
        }
        table
    }

    /// Returns the number of finds of each pattern.
    pub(super) fn counts(&self) -> BTreeMap<String, usize> {
        self.patterns.iter().map(|count| (count.pattern.to_string(), count.finds)).collect()
    }
}

impl Find {
    fn new(sentence: &Sentence, find: &Finding) -> Self {
        let word = sentence.word(find.word);
        let form = |head: usize| sentence.word(head).map_or("root", Token::form).to_owned();
        let head = word.and_then(Token::head).unwrap_or(0);
        Self {
            sentence: find.sentence,
            sent_id: sentence_name(sentence, find.sentence),
            file: sentence.place().file.to_string(),
            line: word.map_or(0, Token::line),
            word: find.word,
            form: word.map_or("", Token::form).to_owned(),
            head,
            head_form: form(head),
            deprel: word.map_or("_", Token::deprel).to_owned(),
            prob: rounded(find.prob),
            suspicion: rounded(find.suspicion),
            rather_head: find.other_head,
            rather_head_form: form(find.other_head),
            rather_deprel: find.other_label.clone(),
            rather_prob: rounded(find.other_prob),
            pattern: find.pattern.to_string(),
        }
    }

    /// Returns the arc as text: `2 saw obl`.
    pub(super) fn arc(&self) -> String {
        arc(self.head, &self.head_form, &self.deprel)
    }

    /// Returns the preferred arc as text.
    pub(super) fn rather(&self) -> String {
        arc(self.rather_head, &self.rather_head_form, &self.rather_deprel)
    }
}

fn arc(head: usize, form: &str, label: &str) -> String {
    let head = match head {
        0 => "0".to_owned(),
        head => format!("{head} {form}"),
    };
    if label == "_" { head } else { format!("{head} {label}") }
}

/// Formats a probability for a table.
pub(super) fn shown(prob: f64) -> String {
    match prob {
        0.0 => "0".to_owned(),
        small if small < 0.0001 => "<.0001".to_owned(),
        prob => format!("{prob:.4}"),
    }
}

/// Lists the first few names.
fn names(group: &[String]) -> String {
    const MOST: usize = 4;
    let shown: Vec<String> = group.iter().take(MOST).map(|name| end_of(name)).collect();
    match group.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), count(more)),
    }
}

/// Shortens a long name to its end, where sentences of a document differ.
fn end_of(name: &str) -> String {
    const WIDEST: usize = 24;
    if columns(name) <= WIDEST {
        return name.to_owned();
    }
    let mut end = String::new();
    for letter in name.chars().rev() {
        if columns(&end) + 2 > WIDEST {
            break;
        }
        end.insert(0, letter);
    }
    format!("…{end}")
}
