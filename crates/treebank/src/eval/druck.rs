//! The error analysis of Druck, Mann & McCallum (2009, Table 3): compares the heads that a weakly
//! supervised parser predicts with the gold heads.
//!
//! There are four tables over unlabelled arcs. Three give the shares of gold and system arcs by the
//! tag of the head, by direction, and by distance (1 … 5, 6–10, more than 10). The fourth lists the
//! most frequent false positives, system arcs that are not in the gold standard, by tags, direction
//! and distance. Shares show a preference of the parser even where accuracies are equal. Arcs from
//! the root are classes of their own, so that every table sums to one. In addition to the published
//! tables, the recall of gold arcs is given.
//!
//! # References
//! - G. Druck, G. Mann, A. McCallum (2009). Semi-supervised learning of dependency parsers using
//!   generalized expectation criteria.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::arcs::{Arcs, Direction, ScoredArc, Side};

/// The four tables.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Druck {
    /// By the tag of the head; `ROOT` for roots. Most frequent first.
    pub parent_tags: Vec<Share>,
    /// `right` if the word follows its head, `left` if it precedes it, or `root`.
    pub directions: Vec<Share>,
    /// By the distance from the head.
    pub distances: Vec<Share>,
    /// System arcs that are not in the gold standard, most frequent first.
    pub false_positives: Vec<FalsePositive>,
}

/// Counts and shares of the arcs of a class.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Share {
    /// Name of the class.
    pub class: String,
    /// Number of gold arcs.
    pub gold: usize,
    /// Number of system arcs.
    pub system: usize,
    /// Share of all gold arcs.
    pub gold_share: f64,
    /// Share of all system arcs.
    pub system_share: f64,
    /// Share of these gold arcs that the system found; `None` if there are none.
    pub recall: Option<f64>,
}

/// System arcs of the same kind that are not in the gold standard.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FalsePositive {
    /// Tag of the head, or `ROOT`.
    pub parent: String,
    /// Side of the head.
    pub direction: Direction,
    /// Tag of the word.
    pub child: String,
    /// The distance, as in [`Druck::distances`].
    pub distance: &'static str,
    /// Number of arcs.
    pub count: usize,
}

impl FalsePositive {
    /// Writes the arc as the paper does, `verb→punc (>10)`: the head first, the arrow towards the
    /// word.
    pub fn text(&self) -> String {
        let arrow = if self.direction == Direction::HeadRight { '←' } else { '→' };
        match self.direction {
            Direction::ToRoot | Direction::NoHead => {
                format!("{}{arrow}{}", self.parent, self.child)
            }
            _ => format!("{}{arrow}{} ({})", self.parent, self.child, self.distance),
        }
    }
}

impl Druck {
    /// Counts, and keeps the `limit` most frequent false positives (10 in the paper). Ties are in
    /// alphabetical order.
    ///
    /// ```
    /// use tutte_treebank::{Reader, Sentence, eval::{Alignment, Arcs, Druck}};
    ///
    /// let gold = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\thelps\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n";
    /// let system = "1\tTea\t_\tNOUN\t_\t_\t0\troot\t_\t_\n2\thelps\t_\tVERB\t_\t_\t1\tdep\t_\t_\n\n";
    /// let read = |text: &str| Reader::new(text.as_bytes()).collect::<Result<Vec<_>, _>>();
    /// let (gold, system) = (read(gold)?, read(system)?);
    /// let druck = Druck::new(&Arcs::new(&Alignment::new(&gold, &system)?), 10);
    /// assert_eq!(druck.false_positives[0].text(), "NOUN→VERB (1)");
    /// assert_eq!((druck.directions[0].class.as_str(), druck.directions[0].system_share), ("right", 0.5));
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    pub fn new(arcs: &Arcs<'_>, limit: usize) -> Self {
        let mut parent_tags = shares(arcs, |arc| (0, arc.head_tag()));
        // Stable: ties stay in alphabetical order.
        parent_tags.sort_by_key(|share| Reverse(share.gold));
        let mut false_positives: BTreeMap<FalsePositive, usize> = BTreeMap::new();
        for arc in arcs.of(Side::System).iter().filter(|arc| !arc.head_correct) {
            let kind = FalsePositive {
                parent: arc.head_tag().to_owned(),
                direction: arc.direction(),
                child: arc.token.upos().to_owned(),
                distance: distance(arc).1,
                count: 0,
            };
            *false_positives.entry(kind).or_default() += 1;
        }
        let mut false_positives: Vec<_> = false_positives
            .into_iter()
            .map(|(kind, count)| FalsePositive { count, ..kind })
            .collect();
        false_positives.sort_by_key(|kind| Reverse(kind.count));
        false_positives.truncate(limit);
        Self {
            parent_tags,
            directions: shares(arcs, |arc| direction(arc)),
            distances: shares(arcs, |arc| distance(arc)),
            false_positives,
        }
    }
}

/// Returns the row of the table and the side of its head on which the word is.
fn direction(arc: &ScoredArc<'_>) -> (usize, &'static str) {
    match arc.direction() {
        Direction::HeadLeft => (0, "right"),
        Direction::HeadRight => (1, "left"),
        Direction::ToRoot => (2, "root"),
        Direction::NoHead => (3, "no head"),
    }
}

/// Returns the row of the table and the distance from the head.
fn distance(arc: &ScoredArc<'_>) -> (usize, &'static str) {
    match arc.length() {
        Some(length @ 0..=5) => (length, ["0", "1", "2", "3", "4", "5"][length]),
        Some(6..=10) => (6, "6-10"),
        Some(_) => (7, ">10"),
        None if arc.direction() == Direction::ToRoot => (8, "root"),
        None => (9, "no head"),
    }
}

/// Counts arcs by class, in the order of the classes.
fn shares<'a>(arcs: &Arcs<'a>, class: impl Fn(&ScoredArc<'a>) -> (usize, &'a str)) -> Vec<Share> {
    let mut counts: BTreeMap<(usize, &str), [usize; 3]> = BTreeMap::new();
    for arc in arcs.of(Side::Gold) {
        let [gold, _, found] = counts.entry(class(arc)).or_default();
        *gold += 1;
        *found += usize::from(arc.head_correct);
    }
    for arc in arcs.of(Side::System) {
        counts.entry(class(arc)).or_default()[1] += 1;
    }
    let share = |part: usize, side: Side| part as f64 / arcs.of(side).len().max(1) as f64;
    counts
        .into_iter()
        .map(|((_, class), [gold, system, found])| Share {
            class: class.to_owned(),
            gold,
            system,
            gold_share: share(gold, Side::Gold),
            system_share: share(system, Side::System),
            recall: (gold > 0).then(|| found as f64 / gold as f64),
        })
        .collect()
}

#[cfg(test)]
mod tests;
