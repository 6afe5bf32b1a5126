//! Differences between two analyses of the same sentences.
//!
//! Sentences are paired by `sent_id` if these conditions hold: every sentence has one, they are
//! unique on each side, some occur on both sides, and the two lists of them differ. Otherwise
//! sentences are paired by position. Paired sentences must have the same words. Their columns are
//! compared as strings. Multiword tokens and empty nodes are not compared.
//!
//! ```
//! use tutte_treebank::{Column, Sentence, diff};
//!
//! let gold: Sentence = "1\tSo\t_\tADV\t_\t_\t2\tadvmod\t_\t_\n2\tbe\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n".parse()?;
//! let mut system = gold.clone();
//! system.set_deprel(1, "mark")?;
//!
//! let differences = diff::sentences(&[gold], &[system], &[Column::Head, Column::Deprel]);
//! assert_eq!((differences.words, differences.differing_words), (2, 1));
//! # Ok::<(), tutte_treebank::Error>(())
//! ```

use std::collections::{HashMap, HashSet};

use crate::{Column, Format, Sentence};

/// All differences between two files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Differences {
    /// Criterion by which sentences were paired.
    pub paired_by: PairedBy,
    /// Sentences on the first and on the second side.
    pub sentences: [usize; 2],
    /// Pairs of sentences with the same words, which were compared.
    pub compared: usize,
    /// Words in the compared sentences.
    pub words: usize,
    /// Compared sentences that differ.
    pub differing_sentences: usize,
    /// Words that differ.
    pub differing_words: usize,
    /// Number of differing words for each requested column.
    pub by_column: Vec<ColumnCount>,
    /// All differences, in the order of the first side. Sentences that only the second side has
    /// come last.
    pub differences: Vec<SentenceDifference>,
}

impl Differences {
    /// True if nothing differs.
    pub fn is_empty(&self) -> bool {
        self.differences.is_empty()
    }
}

/// Criterion by which the sentences of two files were paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum PairedBy {
    /// First with first, second with second.
    Position,
    /// By their `sent_id`.
    SentId,
}

/// Number of words that differ in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ColumnCount {
    /// The column.
    #[cfg_attr(feature = "serde", serde(serialize_with = "column_name"))]
    pub column: Column,
    /// Number of words.
    pub words: usize,
}

/// A sentence that differs between the two sides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SentenceDifference {
    /// Its `sent_id`, if it has one.
    pub sent_id: Option<String>,
    /// Its position on the first side, from 1.
    pub first: Option<usize>,
    /// Its position on the second side, from 1.
    pub second: Option<usize>,
    /// The difference.
    pub kind: DifferenceKind,
}

/// The kind of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum DifferenceKind {
    /// The sentence is on one side only.
    Missing,
    /// The words themselves differ. `None` if the sentence is shorter on that side.
    Tokens {
        /// The first word that differs, from 1.
        word: usize,
        /// Its form on the first side.
        first: Option<String>,
        /// Its form on the second side.
        second: Option<String>,
    },
    /// The columns of some words differ.
    Words(Vec<WordDifference>),
}

/// A column in which a word differs between the two sides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WordDifference {
    /// Number of the word, from 1.
    pub word: usize,
    /// Form of the word.
    pub form: String,
    /// The column.
    #[cfg_attr(feature = "serde", serde(serialize_with = "column_name"))]
    pub column: Column,
    /// The format of the first side, which determines the name of the column.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub format: Format,
    /// The value on the first side.
    pub first: String,
    /// The value on the second side.
    pub second: String,
}

#[cfg(feature = "serde")]
fn column_name<S: serde::Serializer>(column: &Column, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(column.name(Format::ConllU))
}

/// Compares all sentences of two files in the given columns.
pub fn sentences(first: &[Sentence], second: &[Sentence], columns: &[Column]) -> Differences {
    let (paired_by, pairs) = pair(first, second);
    let mut report = Differences {
        paired_by,
        sentences: [first.len(), second.len()],
        compared: 0,
        words: 0,
        differing_sentences: 0,
        differing_words: 0,
        by_column: distinct(columns).map(|column| ColumnCount { column, words: 0 }).collect(),
        differences: Vec::new(),
    };
    for (a, b) in pairs {
        let kind = match (a, b) {
            (Some(a), Some(b)) => report.compare(&first[a], &second[b], columns),
            _ => Some(DifferenceKind::Missing),
        };
        let Some(kind) = kind else { continue };
        let sentence = a.map(|a| &first[a]).or(b.map(|b| &second[b]));
        report.differences.push(SentenceDifference {
            sent_id: sentence.and_then(|sentence| sentence.sent_id()).map(str::to_owned),
            first: a.map(|a| a + 1),
            second: b.map(|b| b + 1),
            kind,
        });
    }
    report
}

impl Differences {
    fn compare(
        &mut self,
        a: &Sentence,
        b: &Sentence,
        columns: &[Column],
    ) -> Option<DifferenceKind> {
        if let Some(tokens) = first_different_form(a, b) {
            return Some(tokens);
        }
        self.compared += 1;
        self.words += a.len();
        let words = words(a, b, columns);
        if words.is_empty() {
            return None;
        }
        self.differing_sentences += 1;
        self.differing_words += words.chunk_by(|one, next| one.word == next.word).count();
        for count in &mut self.by_column {
            count.words += words.iter().filter(|word| word.column == count.column).count();
        }
        Some(DifferenceKind::Words(words))
    }
}

/// Returns the differences between two analyses of the same words, word by word.
pub fn words(first: &Sentence, second: &Sentence, columns: &[Column]) -> Vec<WordDifference> {
    let mut differences = Vec::new();
    for (word, (a, b)) in (1..).zip(first.words().zip(second.words())) {
        for column in distinct(columns).filter(|&column| a.column(column) != b.column(column)) {
            differences.push(WordDifference {
                word,
                form: a.form().to_owned(),
                column,
                format: first.format(),
                first: a.column(column).to_owned(),
                second: b.column(column).to_owned(),
            });
        }
    }
    differences
}

/// Returns the columns in their order, each once.
fn distinct(columns: &[Column]) -> impl Iterator<Item = Column> {
    let first = |&(at, column): &(usize, &Column)| !columns[..at].contains(column);
    columns.iter().enumerate().filter(first).map(|(_, &column)| column)
}

/// Returns the first word whose form differs.
fn first_different_form(a: &Sentence, b: &Sentence) -> Option<DifferenceKind> {
    let form = |sentence: &Sentence, word| sentence.word(word).map(|word| word.form().to_owned());
    let word = (1..=a.len().max(b.len())).find(|&word| {
        a.word(word).map(|word| word.form()) != b.word(word).map(|word| word.form())
    })?;
    Some(DifferenceKind::Tokens { word, first: form(a, word), second: form(b, word) })
}

type Pairs = Vec<(Option<usize>, Option<usize>)>;

fn pair(first: &[Sentence], second: &[Sentence]) -> (PairedBy, Pairs) {
    if let (Some(first_ids), Some(second_ids)) = (unique_ids(first), unique_ids(second))
        && first_ids != second_ids
    {
        let place: HashMap<&str, usize> =
            second_ids.iter().enumerate().map(|(place, &id)| (id, place)).collect();
        let mut pairs: Pairs =
            (0..).zip(&first_ids).map(|(at, id)| (Some(at), place.get(id).copied())).collect();
        if pairs.iter().any(|(_, other)| other.is_some()) {
            let known: HashSet<&str> = first_ids.into_iter().collect();
            let only_second = (0..).zip(&second_ids).filter(|(_, id)| !known.contains(**id));
            pairs.extend(only_second.map(|(at, _)| (None, Some(at))));
            return (PairedBy::SentId, pairs);
        }
    }
    let at = |place: usize, sentences: &[Sentence]| (place < sentences.len()).then_some(place);
    let longest = first.len().max(second.len());
    (PairedBy::Position, (0..longest).map(|place| (at(place, first), at(place, second))).collect())
}

/// Returns the `sent_id` of every sentence, or `None` if one is missing or repeated.
fn unique_ids(sentences: &[Sentence]) -> Option<Vec<&str>> {
    let ids: Vec<&str> = sentences.iter().map(Sentence::sent_id).collect::<Option<_>>()?;
    let distinct: HashSet<&str> = ids.iter().copied().collect();
    (distinct.len() == ids.len()).then_some(ids)
}
