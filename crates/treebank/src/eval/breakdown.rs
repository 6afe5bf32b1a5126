//! Attachment scores by class: by label, tag, length of arcs, depth and so on.
//!
//! An arc has a class on each side, for example its label in the gold standard and in the system's
//! analysis. Recall is computed over the gold arcs of a class, precision over the system arcs:
//!
//! ```text
//! recall(k)    = correct gold arcs in class k / gold arcs in class k
//! precision(k) = correct system arcs in class k / system arcs in class k
//! F₁(k)        = 2 · precision · recall / (precision + recall)
//! ```
//!
//! as in MaltEval (Nilsson & Nivre 2008). Classes are complete and disjoint, so the counts of rows
//! sum to those of all words. A score over no arcs is `None`, not 0.
//!
//! # References
//! - R. McDonald, J. Nivre (2007). Characterizing the errors of data-driven dependency parsing
//!   models.
//! - J. Nilsson, J. Nivre (2008). MaltEval: an evaluation and visualization tool for dependency
//!   parsing.

use std::collections::BTreeMap;

use super::arcs::{Arcs, Direction, ScoredArc, Side};

/// The property that defines the classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub enum Grouping {
    /// The label.
    Deprel,
    /// The tag of the word.
    Upos,
    /// Distance from the head in words: to root, 1, 2, 3-6, 7+.
    Length,
    /// Distance from the head, with one class for each length.
    LengthExact,
    /// Number of arcs from the root: 1 for a root.
    Depth,
    /// Side of the head.
    Direction,
    /// Number of words of the sentence.
    SentenceLength,
    /// Projectivity: do all words between head and word descend from the head?
    Projectivity,
}

impl Grouping {
    /// All groupings.
    pub const ALL: [Grouping; 8] = [
        Grouping::Deprel,
        Grouping::Upos,
        Grouping::Length,
        Grouping::LengthExact,
        Grouping::Depth,
        Grouping::Direction,
        Grouping::SentenceLength,
        Grouping::Projectivity,
    ];

    /// Name on command lines and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Grouping::Deprel => "deprel",
            Grouping::Upos => "upos",
            Grouping::Length => "length",
            Grouping::LengthExact => "length-exact",
            Grouping::Depth => "depth",
            Grouping::Direction => "direction",
            Grouping::SentenceLength => "sentence-length",
            Grouping::Projectivity => "projectivity",
        }
    }

    fn class<'a>(self, arc: &ScoredArc<'a>) -> Class<'a> {
        // Roots come first among lengths, unknown heads last.
        let by_length = |bin: fn(usize) -> Class<'a>| match (arc.direction(), arc.length()) {
            (_, Some(length)) => bin(length),
            (direction, None) => named(direction),
        };
        match self {
            Grouping::Deprel => Class::Name(arc.label),
            Grouping::Upos => Class::Name(arc.token.upos()),
            Grouping::Length => by_length(|length| match length {
                1..=2 => Class::Range(length, Some(length)),
                3..=6 => Class::Range(3, Some(6)),
                _ => Class::Range(7, None),
            }),
            Grouping::LengthExact => by_length(|length| Class::Range(length, Some(length))),
            Grouping::Direction => named(arc.direction()),
            Grouping::Depth => match arc.depth {
                Some(depth @ 0..10) => Class::Range(depth, Some(depth)),
                Some(_) => Class::Range(10, None),
                None => Class::Last("not a tree"),
            },
            Grouping::SentenceLength => match arc.sentence.len() {
                length @ 0..=50 => {
                    let tens = length.saturating_sub(1) / 10 * 10;
                    Class::Range(tens + 1, Some(tens + 10))
                }
                _ => Class::Range(51, None),
            },
            Grouping::Projectivity => match arc.projective {
                Some(true) => Class::First(0, "projective"),
                Some(false) => Class::First(1, "non-projective"),
                None => Class::Last("not a tree"),
            },
        }
    }
}

/// A class. Classes are shown in this order; those with a `Name` by their number of gold arcs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class<'a> {
    First(u8, &'static str),
    Range(usize, Option<usize>),
    Name(&'a str),
    Last(&'static str),
}

fn named<'a>(direction: Direction) -> Class<'a> {
    match direction {
        Direction::NoHead => Class::Last(direction.name()),
        _ => Class::First(direction as u8, direction.name()),
    }
}

impl Class<'_> {
    fn text(self) -> String {
        match self {
            Class::First(_, name) | Class::Name(name) | Class::Last(name) => name.to_owned(),
            Class::Range(low, Some(high)) if low == high => low.to_string(),
            Class::Range(low, Some(high)) => format!("{low}-{high}"),
            Class::Range(low, None) => format!("{low}+"),
        }
    }
}

/// Scores by class.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Breakdown {
    /// The property that defines the classes.
    pub by: Grouping,
    /// One row per class: bins in their order, names by decreasing number of gold arcs.
    pub rows: Vec<Row>,
}

/// The scores of a class.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Row {
    /// The class.
    pub class: String,
    /// Number of gold arcs.
    pub gold: usize,
    /// Number of system arcs.
    pub system: usize,
    /// Scores of heads.
    pub uas: ClassScore,
    /// Scores of heads with labels.
    pub las: ClassScore,
}

/// Precision and recall of a class; `None` if there are no arcs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ClassScore {
    /// Gold arcs of the class that are correct.
    pub correct_gold: usize,
    /// System arcs of the class that are correct.
    pub correct_system: usize,
    /// Share of correct system arcs.
    pub precision: Option<f64>,
    /// Share of correct gold arcs.
    pub recall: Option<f64>,
    /// Harmonic mean of both.
    pub f1: Option<f64>,
}

impl ClassScore {
    fn new(gold: usize, system: usize, correct_gold: usize, correct_system: usize) -> Self {
        let share = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);
        let precision = share(correct_system, system);
        let recall = share(correct_gold, gold);
        // 2PR / (P + R) in integers, so that only one division rounds.
        let part = 2 * correct_gold * correct_system;
        let whole = correct_system * gold + correct_gold * system;
        let f1 = (gold > 0 && system > 0).then(|| part as f64 / whole.max(1) as f64);
        Self { correct_gold, correct_system, precision, recall, f1 }
    }
}

/// Counts of the arcs of a class on one side.
#[derive(Clone, Copy, Default)]
struct Tally {
    arcs: usize,
    heads: usize,
    heads_and_labels: usize,
}

impl Breakdown {
    /// Computes the scores of all classes.
    ///
    /// ```
    /// use tutte_treebank::{Reader, Sentence, eval::{Alignment, Arcs, Breakdown, Grouping}};
    ///
    /// let gold = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\thelps\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n";
    /// let read = |text: &str| Reader::new(text.as_bytes()).collect::<Result<Vec<_>, _>>();
    /// let (gold, system) = (read(gold)?, read(&gold.replace("nsubj", "obj"))?);
    /// let breakdown = Breakdown::new(&Arcs::new(&Alignment::new(&gold, &system)?), Grouping::Length);
    /// let row = &breakdown.rows[1];
    /// assert_eq!((row.class.as_str(), row.gold), ("1", 1));
    /// assert_eq!((row.uas.f1, row.las.f1), (Some(1.0), Some(0.0)));
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    pub fn new(arcs: &Arcs<'_>, by: Grouping) -> Self {
        let mut classes: BTreeMap<Class<'_>, [Tally; 2]> = BTreeMap::new();
        for side in [Side::Gold, Side::System] {
            for arc in arcs.of(side) {
                let tally = &mut classes.entry(by.class(arc)).or_default()[side as usize];
                tally.arcs += 1;
                tally.heads += usize::from(arc.head_correct);
                tally.heads_and_labels += usize::from(arc.correct());
            }
        }
        let mut rows: Vec<(Class<'_>, Row)> = classes
            .into_iter()
            .map(|(class, [gold, system])| {
                let score = |correct: fn(&Tally) -> usize| {
                    ClassScore::new(gold.arcs, system.arcs, correct(&gold), correct(&system))
                };
                let row = Row {
                    class: class.text(),
                    gold: gold.arcs,
                    system: system.arcs,
                    uas: score(|tally| tally.heads),
                    las: score(|tally| tally.heads_and_labels),
                };
                (class, row)
            })
            .collect();
        // Names are in alphabetical order so far, and ties keep that order.
        rows.sort_by(|(a, left), (b, right)| match (a, b) {
            (Class::Name(_), Class::Name(_)) => {
                (right.gold, right.system).cmp(&(left.gold, left.system))
            }
            _ => a.cmp(b),
        });
        Self { by, rows: rows.into_iter().map(|(_, row)| row).collect() }
    }
}

#[cfg(test)]
mod tests;
