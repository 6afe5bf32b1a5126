//! The most frequent errors.
//!
//! Counts aligned words with a wrong head or label. Errors are of the same kind if these agree: the
//! tag of the word, and in each of the two analyses the tag of the head, its direction and the
//! label. Kinds are counted with and without the form of the word: errors of prepositions and
//! punctuation depend on the form, those of nouns do not. If both heads have the same tag in the
//! same direction, the kind also says whether the system's head is nearer or farther.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::arcs::{Arcs, Direction, ScoredArc};

/// Lists of the most frequent errors.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FrequentErrors {
    /// Number of aligned words.
    pub words: usize,
    /// Number of aligned words with a wrong head or label.
    pub errors: usize,
    /// Number of gold words that are not aligned.
    pub missing: usize,
    /// Kinds of errors by tag, most frequent first.
    pub by_tag: Vec<ErrorKind>,
    /// Kinds of errors by word, most frequent first.
    pub by_word: Vec<ErrorKind>,
    /// Tags with the most errors.
    pub tags: Vec<ErrorRate>,
    /// Words with the most errors.
    pub words_with_errors: Vec<ErrorRate>,
}

/// Errors of the same kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ErrorKind {
    /// The word in lower case, in [`FrequentErrors::by_word`].
    pub word: Option<String>,
    /// Its tag in the gold standard.
    pub tag: String,
    /// Its attachment in the gold standard.
    pub gold: Attached,
    /// Its attachment in the system's analysis.
    pub system: Attached,
    /// The difference between the heads, if their tags and sides are the same.
    pub shift: Option<Shift>,
    /// Number of errors.
    pub count: usize,
    /// The first error.
    pub example: Example,
}

/// The attachment of a word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Attached {
    /// The tag of the head, or `ROOT`.
    pub head: String,
    /// Side of the head.
    pub direction: Direction,
    /// The label.
    pub label: String,
}

/// Distance of a wrong head on the correct side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Shift {
    /// The system's head is nearer.
    Nearer,
    /// The system's head is farther.
    Farther,
}

/// The place of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Example {
    /// Form of the word.
    pub form: String,
    /// Its line in the gold standard.
    pub gold_line: u64,
    /// Its line in the system's analysis.
    pub system_line: u64,
    /// The `sent_id` of the sentence in the gold standard.
    pub sent_id: Option<String>,
}

/// Error counts of a word or tag.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ErrorRate {
    /// The word in lower case; `None` for a tag.
    pub word: Option<String>,
    /// The tag.
    pub tag: String,
    /// Number of aligned occurrences.
    pub count: usize,
    /// Number of occurrences with a wrong head or label.
    pub errors: usize,
    /// Number of occurrences with a wrong head.
    pub wrong_heads: usize,
}

type Kind = (Option<String>, String, Attached, Attached, Option<Shift>);

impl FrequentErrors {
    /// Counts errors and keeps the `limit` most frequent of each list. Ties are in alphabetical
    /// order.
    ///
    /// ```
    /// use tutte_treebank::{Reader, Sentence, eval::{Alignment, Arcs, FrequentErrors}};
    ///
    /// let gold = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\thelps\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n";
    /// let read = |text: &str| Reader::new(text.as_bytes()).collect::<Result<Vec<_>, _>>();
    /// let (gold, system) = (read(gold)?, read(&gold.replace("nsubj", "obj"))?);
    /// let errors = FrequentErrors::new(&Arcs::new(&Alignment::new(&gold, &system)?), 10);
    /// let first = &errors.by_word[0];
    /// assert_eq!((first.word.as_deref(), first.tag.as_str(), first.count), (Some("tea"), "NOUN", 1));
    /// assert_eq!((first.gold.label.as_str(), first.system.label.as_str()), ("nsubj", "obj"));
    /// assert_eq!(first.example.gold_line, 1);
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    pub fn new(arcs: &Arcs<'_>, limit: usize) -> Self {
        let mut by_tag: BTreeMap<Kind, (usize, Example)> = BTreeMap::new();
        let mut by_word = BTreeMap::new();
        let mut tags: BTreeMap<(Option<String>, String), Rate> = BTreeMap::new();
        let mut words = BTreeMap::new();
        let mut errors = 0;
        for (gold, system) in arcs.pairs() {
            let form = gold.token.form().to_lowercase();
            let tag = gold.token.upos();
            tags.entry((None, tag.to_owned())).or_default().count(gold);
            words
                .entry((Some(form.clone()), tag.to_owned()))
                .or_insert(Rate::default())
                .count(gold);
            if gold.correct() {
                continue;
            }
            errors += 1;
            for (kinds, word) in [(&mut by_tag, None), (&mut by_word, Some(form))] {
                let kind =
                    (word, tag.to_owned(), attached(gold), attached(system), shift(gold, system));
                let example = || Example {
                    form: gold.token.form().to_owned(),
                    gold_line: gold.token.line(),
                    system_line: system.token.line(),
                    sent_id: gold.sentence.sent_id().map(str::to_owned),
                };
                kinds.entry(kind).or_insert_with(|| (0, example())).0 += 1;
            }
        }
        Self {
            words: arcs.pairs().len(),
            errors,
            missing: arcs.of(super::Side::Gold).len() - arcs.pairs().len(),
            by_tag: most_frequent_kinds(by_tag, limit),
            by_word: most_frequent_kinds(by_word, limit),
            tags: most_errors(tags, limit),
            words_with_errors: most_errors(words, limit),
        }
    }
}

fn attached(arc: &ScoredArc<'_>) -> Attached {
    Attached {
        head: arc.head_tag().to_owned(),
        direction: arc.direction(),
        label: arc.label.to_owned(),
    }
}

fn shift(gold: &ScoredArc<'_>, system: &ScoredArc<'_>) -> Option<Shift> {
    let is_same_kind = !gold.head_correct
        && gold.direction() == system.direction()
        && gold.head_tag() == system.head_tag();
    let gold = gold.length()?;
    let system = system.length()?;
    is_same_kind.then_some(if system < gold { Shift::Nearer } else { Shift::Farther })
}

fn most_frequent_kinds(kinds: BTreeMap<Kind, (usize, Example)>, limit: usize) -> Vec<ErrorKind> {
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    // Stable: ties stay in alphabetical order.
    kinds.sort_by_key(|(_, (count, _))| Reverse(*count));
    kinds.truncate(limit);
    kinds
        .into_iter()
        .map(|((word, tag, gold, system, shift), (count, example))| ErrorKind {
            word,
            tag,
            gold,
            system,
            shift,
            count,
            example,
        })
        .collect()
}

#[derive(Default)]
struct Rate {
    count: usize,
    errors: usize,
    wrong_heads: usize,
}

impl Rate {
    fn count(&mut self, gold: &ScoredArc<'_>) {
        self.count += 1;
        self.errors += usize::from(!gold.correct());
        self.wrong_heads += usize::from(!gold.head_correct);
    }
}

fn most_errors(rates: BTreeMap<(Option<String>, String), Rate>, limit: usize) -> Vec<ErrorRate> {
    let mut rates: Vec<_> = rates.into_iter().filter(|(_, rate)| rate.errors > 0).collect();
    rates.sort_by_key(|(_, rate)| Reverse(rate.errors));
    rates.truncate(limit);
    rates
        .into_iter()
        .map(|((word, tag), Rate { count, errors, wrong_heads })| ErrorRate {
            word,
            tag,
            count,
            errors,
            wrong_heads,
        })
        .collect()
}

#[cfg(test)]
mod tests;
