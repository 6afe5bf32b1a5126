//! The arcs of two aligned analyses, with the properties that error analyses use: length,
//! direction, depth, projectivity and correctness.
//!
//! Recall counts gold arcs and precision counts system arcs, each with the properties of its own
//! side. Therefore both sides are kept.
//!
//! Cost: linear in the words, plus one tree per sentence.

use super::calibration::{Forecast, Probability};
use super::significance::UnitCounts;
use super::{Alignment, Pair, WordRef};
use crate::{Column, Error, Place, Sentence, Token};

/// The key in MISC for the probability of a word's head.
pub const HEAD_PROBABILITY: &str = "HeadProb";

/// The arcs of a gold standard and of a system's analysis.
///
/// ```
/// use tutte_treebank::{Reader, Sentence, eval::{Alignment, Arcs, Direction, Side}};
///
/// let gold = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\thelps\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n";
/// let gold: Vec<Sentence> = Reader::new(gold.as_bytes()).collect::<Result<_, _>>()?;
/// let arcs = Arcs::new(&Alignment::new(&gold, &gold)?);
/// let arc = &arcs.of(Side::Gold)[0];
/// assert_eq!((arc.length(), arc.direction(), arc.depth), (Some(1), Direction::HeadRight, Some(2)));
/// assert!(arc.head_correct && arc.label_correct);
/// # Ok::<(), tutte_treebank::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Arcs<'a> {
    gold: Vec<ScoredArc<'a>>,
    system: Vec<ScoredArc<'a>>,
    /// Indices of aligned words in the two lists.
    pairs: Vec<(usize, usize)>,
    /// Number of system arcs in the span of each gold sentence.
    system_in_sentence: Vec<u32>,
}

/// One of the two analyses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The gold standard.
    Gold,
    /// The system's analysis.
    System,
}

/// Side of the head of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Direction {
    /// The word is a root.
    ToRoot,
    /// The head is before the word.
    HeadLeft,
    /// The head is after the word.
    HeadRight,
    /// The head is unknown.
    NoHead,
}

impl Direction {
    /// Name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Direction::ToRoot => "to root",
            Direction::HeadLeft => "head left",
            Direction::HeadRight => "head right",
            Direction::NoHead => "no head",
        }
    }
}

/// A word of one analysis with its arc, and whether the other analysis agrees.
#[derive(Clone, Copy, Debug)]
pub struct ScoredArc<'a> {
    /// The word.
    pub token: Token<'a>,
    /// Position of the word.
    pub at: WordRef,
    /// Its sentence.
    pub sentence: &'a Sentence,
    /// The label, without subtype if the alignment ignores it.
    pub label: &'a str,
    /// Number of arcs from the root; 1 for a root. `None` if the sentence is not a tree.
    pub depth: Option<usize>,
    /// True if every word between head and word descends from the head. `None` if the sentence is
    /// not a tree.
    pub projective: Option<bool>,
    /// True if the other side has the same head. Words that are not aligned are never correct.
    pub head_correct: bool,
    /// True if the other side has the same label. The heads do not matter.
    pub label_correct: bool,
}

impl<'a> ScoredArc<'a> {
    /// True if head and label are correct.
    pub fn correct(&self) -> bool {
        self.head_correct && self.label_correct
    }

    /// Returns the head, or `None` for roots and unknown heads.
    pub fn head(&self) -> Option<Token<'a>> {
        self.sentence.word(self.token.head()?)
    }

    /// Returns the tag of the head, `ROOT` for roots, `_` for unknown heads.
    pub fn head_tag(&self) -> &'a str {
        match self.direction() {
            Direction::ToRoot => "ROOT",
            _ => self.head().map_or("_", |head| head.upos()),
        }
    }

    /// Returns the side of the head.
    pub fn direction(&self) -> Direction {
        match self.token.head() {
            None => Direction::NoHead,
            Some(0) => Direction::ToRoot,
            Some(head) if head < self.at.word => Direction::HeadLeft,
            Some(_) => Direction::HeadRight,
        }
    }

    /// Returns the distance of the head in words, or `None` for roots and unknown heads.
    pub fn length(&self) -> Option<usize> {
        match self.token.head()? {
            0 => None,
            head => Some(head.abs_diff(self.at.word)),
        }
    }
}

/// The criterion for a correct arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "UPPERCASE"))]
pub enum Criterion {
    /// The head.
    Uas,
    /// The head and the label.
    Las,
}

/// Probabilities that a system gave to its heads.
#[derive(Clone, Debug)]
pub struct HeadProbabilities {
    /// One forecast for each word with a probability.
    pub forecasts: Vec<Forecast>,
    /// Number of words without a probability.
    pub missing: usize,
    /// Number of gold arcs.
    pub gold: usize,
}

impl<'a> Arcs<'a> {
    /// Collects all arcs.
    pub fn new(alignment: &Alignment<'a>) -> Self {
        Self::of_words(alignment, |_| true)
    }

    /// Collects the arcs of selected words, for example without punctuation. Their lengths and
    /// depths do not change.
    pub fn of_words(alignment: &Alignment<'a>, keep: impl Fn(Token<'a>) -> bool) -> Self {
        let gold = side(alignment, Side::Gold, &keep);
        let system = side(alignment, Side::System, &keep);
        let place =
            |arcs: &[ScoredArc<'a>], at: WordRef| arcs.binary_search_by(|arc| arc.at.cmp(&at)).ok();
        let pairs = alignment
            .pairs()
            .iter()
            .filter_map(|pair| Some((place(&gold, pair.gold)?, place(&system, pair.system)?)))
            .collect();
        let system_in_sentence = (0..alignment.gold().len())
            .map(|sentence| {
                let words = alignment.system_words_in(sentence);
                words.filter(|&at| place(&system, at).is_some()).count() as u32
            })
            .collect();
        Self { gold, system, pairs, system_in_sentence }
    }

    /// Returns the arcs of one side, in text order.
    pub fn of(&self, side: Side) -> &[ScoredArc<'a>] {
        match side {
            Side::Gold => &self.gold,
            Side::System => &self.system,
        }
    }

    /// Returns the aligned arcs as `(gold, system)`, in text order.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (&ScoredArc<'a>, &ScoredArc<'a>)> {
        self.pairs.iter().map(|&(gold, system)| (&self.gold[gold], &self.system[system]))
    }

    /// Returns the numbers of gold, system and correct arcs of each gold sentence, for tests of
    /// [`significance`](super::significance). A word of the system counts in the sentence in which
    /// it starts.
    pub fn counts_by_sentence(&self, criterion: Criterion) -> Vec<UnitCounts> {
        let proposed = self.system_in_sentence.iter();
        let mut units: Vec<_> =
            proposed.map(|&system| UnitCounts { system, ..UnitCounts::default() }).collect();
        for arc in &self.gold {
            let unit = &mut units[arc.at.sentence];
            unit.gold += 1;
            unit.correct += u32::from(match criterion {
                Criterion::Uas => arc.head_correct,
                Criterion::Las => arc.correct(),
            });
        }
        units
    }

    /// Returns the probabilities of the system's heads, `HeadProb=…` in MISC, with their
    /// correctness.
    ///
    /// # Errors
    /// [`Error::NotAProbability`] for a value that is not a number from 0 to 1.
    pub fn head_probabilities(&self) -> Result<HeadProbabilities, Error> {
        let mut forecasts = Vec::new();
        for arc in &self.system {
            let Some(found) = arc.token.misc_entry(HEAD_PROBABILITY) else { continue };
            let probability = found.parse().ok().and_then(Probability::new).ok_or_else(|| {
                Error::NotAProbability {
                    place: Box::new(Place {
                        line: arc.token.line(),
                        column: Some(Column::Misc),
                        ..arc.sentence.place()
                    }),
                    key: HEAD_PROBABILITY,
                    found: found.to_owned(),
                }
            })?;
            forecasts.push(Forecast { probability, correct: arc.head_correct });
        }
        let missing = self.system.len() - forecasts.len();
        Ok(HeadProbabilities { forecasts, missing, gold: self.gold.len() })
    }
}

/// Collects the arcs of one side.
fn side<'a>(
    alignment: &Alignment<'a>,
    side: Side,
    keep: &impl Fn(Token<'a>) -> bool,
) -> Vec<ScoredArc<'a>> {
    let sentences = match side {
        Side::Gold => alignment.gold(),
        Side::System => alignment.system(),
    };
    let pair_of = |at: WordRef| -> Option<&Pair> {
        match side {
            Side::Gold => alignment.pair_of(at),
            Side::System => alignment.pair_of(alignment.gold_of(at)?),
        }
    };
    let mut arcs = Vec::new();
    for (number, sentence) in sentences.iter().enumerate() {
        let shape = Shape::of(sentence);
        for (word, token) in (1..).zip(sentence.words()) {
            if !keep(token) {
                continue;
            }
            let at = WordRef { sentence: number, word };
            let pair = pair_of(at);
            arcs.push(ScoredArc {
                token,
                at,
                sentence,
                label: alignment.subtypes().compared(token.deprel()),
                depth: shape.as_ref().map(|shape| shape.depths[word]),
                projective: shape.as_ref().map(|shape| shape.projective[word]),
                head_correct: pair.is_some_and(|pair| pair.head_correct),
                label_correct: pair.is_some_and(|pair| pair.label_correct),
            });
        }
    }
    arcs
}

/// Properties of words in a tree; entry 0 is the root.
struct Shape {
    depths: Vec<usize>,
    projective: Vec<bool>,
}

impl Shape {
    /// Returns `None` if heads are unknown or form a cycle.
    fn of(sentence: &Sentence) -> Option<Self> {
        let tree = sentence.tree().ok()?;
        let mut projective = vec![true; tree.words() + 1];
        for (_, word) in tree.nonprojective_arcs() {
            projective[word] = false;
        }
        let mut depths = vec![0; tree.words() + 1];
        let mut above = Vec::new();
        for mut word in 1..=tree.words() {
            // Walk up to a word with known depth (or the root), then down again.
            while word != 0 && depths[word] == 0 {
                above.push(word);
                word = tree.heads()[word - 1];
            }
            let mut depth = depths[word];
            while let Some(word) = above.pop() {
                depth += 1;
                depths[word] = depth;
            }
        }
        Some(Self { depths, projective })
    }
}

#[cfg(test)]
pub(in crate::eval) mod tests;
