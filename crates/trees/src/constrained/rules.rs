//! Constraints that parsers need: one child of a label per head, and no crossing arcs.

use super::{Branches, LabelledHeads, Row, Settled, TreeConstraint};
use crate::Error;

/// At most one child of each head has a label of a group, for example one `nsubj`.
///
/// Labels of different groups do not exclude each other; labels of one group do.
///
/// ```
/// use tutte_trees::{
///     AtMostOne, ConstrainedOptions, ConstrainedWorkspace, LabelledArcMatrix, TreeSet,
///     constrained_argmax_with,
/// };
/// // Words 1 and 3 both want to be the subject (label 1) of word 2.
/// let mut scores = LabelledArcMatrix::zeros(3, 3);
/// scores[(0, 2, 0)] = 5.0;
/// scores[(2, 1, 1)] = 4.0;
/// scores[(2, 3, 1)] = 3.0;
/// scores[(2, 3, 2)] = 2.5; // word 3 may also be the object
/// let best = constrained_argmax_with(
///     &scores,
///     TreeSet::NonProjectiveSingleRoot,
///     &[&AtMostOne::of_each(&[1, 2])],
///     &ConstrainedOptions::default(),
///     &mut ConstrainedWorkspace::default(),
/// )?;
/// assert_eq!(best.tree.labels(), [1, 0, 2]);
/// assert!(best.is_optimal());
/// # Ok::<(), tutte_trees::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtMostOne {
    /// The labels of all groups, each with the number of its group, sorted by label.
    group_of: Vec<(usize, usize)>,
}

impl AtMostOne {
    /// Makes the constraint for each of these labels alone.
    pub fn of_each(labels: &[usize]) -> Self {
        Self::of_groups(labels.iter().map(std::slice::from_ref))
    }

    /// Makes the constraint for groups of labels that exclude each other, such as `nsubj` and
    /// `nsubj:pass`. A label of several groups belongs to the first.
    pub fn of_groups<G: AsRef<[usize]>>(groups: impl IntoIterator<Item = G>) -> Self {
        let mut group_of = Vec::new();
        for (group, labels) in groups.into_iter().enumerate() {
            group_of.extend(labels.as_ref().iter().map(|&label| (label, group)));
        }
        group_of.sort_unstable();
        group_of.dedup_by_key(|&mut (label, _)| label);
        Self { group_of }
    }

    fn group(&self, label: usize) -> Option<usize> {
        let at = self.group_of.binary_search_by_key(&label, |&(label, _)| label).ok()?;
        Some(self.group_of[at].1)
    }

    fn labels(&self, group: usize) -> impl Iterator<Item = usize> + '_ {
        self.group_of.iter().filter(move |entry| entry.1 == group).map(|&(label, _)| label)
    }

    /// The children of a head with a label of a group.
    fn children<'a>(
        &'a self,
        tree: LabelledHeads<'a>,
        (head, group): (usize, usize),
    ) -> impl Iterator<Item = usize> + 'a {
        tree.arcs()
            .filter(move |&(h, _, label)| h == head && self.group(label) == Some(group))
            .map(|(_, modifier, _)| modifier)
    }

    /// The (head, group) of arcs that are the second ones of their kind.
    fn violations<'a>(
        &'a self,
        tree: LabelledHeads<'a>,
    ) -> impl Iterator<Item = (usize, usize)> + 'a {
        tree.arcs().filter_map(move |(head, modifier, label)| {
            let of = (head, self.group(label)?);
            (self.children(tree, of).nth(1) == Some(modifier)).then_some(of)
        })
    }
}

impl TreeConstraint for AtMostOne {
    fn cost(&self, tree: LabelledHeads<'_>) -> f64 {
        if self.violations(tree).next().is_some() { f64::INFINITY } else { 0.0 }
    }

    /// Either the first child loses the label, or all others do.
    fn split(&self, tree: LabelledHeads<'_>, _: Settled<'_>, branches: &mut Branches) {
        let Some((head, group)) = self.violations(tree).next() else { return };
        let Some(first) = self.children(tree, (head, group)).next() else { return };
        branches.add();
        for label in self.labels(group) {
            branches.forbid_label(head, first, label);
        }
        branches.add();
        let others = (1..=tree.words()).filter(|&other| other != first && other != head);
        for other in others {
            for label in self.labels(group) {
                branches.forbid_label(head, other, label);
            }
        }
    }

    fn violated_rows(&self, tree: LabelledHeads<'_>, _: Settled<'_>, rows: &mut Vec<Row>) {
        let groups = self.group_of.len().max(1);
        rows.extend(self.violations(tree).map(|(head, group)| Row {
            key: (head * groups + group) as u64,
            capacity: 1.0,
            penalty: f64::INFINITY,
        }));
    }

    fn visit_row(
        &self,
        row: &Row,
        words: usize,
        _: usize,
        visit: &mut dyn FnMut(usize, usize, usize),
    ) {
        let groups = self.group_of.len().max(1);
        let (head, group) = (row.key as usize / groups, row.key as usize % groups);
        for modifier in (1..=words).filter(|&modifier| modifier != head) {
            for label in self.labels(group) {
                visit(head, modifier, label);
            }
        }
    }
}

/// A cost for every pair of crossing arcs.
///
/// Arcs i → j and k → l cross if exactly one end of one lies strictly between the ends of the other, and
/// its other end strictly outside. The root is left of all words.
///
/// ```
/// use tutte_trees::{
///     ConstrainedOptions, ConstrainedWorkspace, CrossingPenalty, LabelledArcMatrix, TreeSet,
///     constrained_argmax_with,
/// };
/// let mut scores = LabelledArcMatrix::zeros(4, 1);
/// for arc in [(0, 3), (3, 1), (4, 2), (3, 4)] {
///     scores[(arc.0, arc.1, 0)] = 1.0; // 4 → 2 crosses 0 → 3 and 3 → 1
/// }
/// let mut best = |penalty: f64| {
///     constrained_argmax_with(
///         &scores,
///         TreeSet::NonProjectiveSingleRoot,
///         &[&CrossingPenalty::new(penalty)?],
///         &ConstrainedOptions::default(),
///         &mut ConstrainedWorkspace::default(),
///     )
/// };
/// assert!((best(0.4)?.objective() - (4.0 - 2.0 * 0.4)).abs() < 1e-12); // worth its price
/// assert!(best(f64::INFINITY)?.tree.tree().is_projective());
/// # Ok::<(), tutte_trees::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossingPenalty {
    penalty: f64,
}

impl CrossingPenalty {
    /// Makes the constraint with a cost per crossing pair; +∞ forbids crossings.
    ///
    /// # Errors
    /// [`Error::BadParameter`] if the penalty is negative or NaN.
    pub fn new(penalty: f64) -> Result<Self, Error> {
        if penalty >= 0.0 {
            return Ok(Self { penalty });
        }
        Err(Error::BadParameter {
            what: "the penalty of crossing arcs",
            expected: "0 or more, or +∞ to forbid crossings",
            found: penalty.to_string(),
        })
    }

    /// The pairs of crossing arcs, each once.
    fn crossings(tree: LabelledHeads<'_>) -> impl Iterator<Item = [(usize, usize); 2]> + '_ {
        let words = tree.words();
        let arc = move |modifier: usize| (tree.heads[modifier - 1], modifier);
        (1..=words)
            .flat_map(move |j| (j + 1..=words).map(move |l| [arc(j), arc(l)]))
            .filter(|&[first, second]| cross(first, second))
    }

    /// The pairs of crossing arcs that no branch has charged.
    fn open<'a>(
        tree: LabelledHeads<'a>,
        settled: Settled<'a>,
    ) -> impl Iterator<Item = [(usize, usize); 2]> + 'a {
        let is_in = move |arc: (usize, usize)| settled.contains(Self::key(tree.words(), arc));
        Self::crossings(tree).filter(move |&[first, second]| !is_in(first) && !is_in(second))
    }

    /// The key of an arc that a branch requires.
    fn key(words: usize, (head, modifier): (usize, usize)) -> u64 {
        head as u64 * (words as u64 + 1) + modifier as u64
    }
}

/// True if two arcs cross.
fn cross(first: (usize, usize), second: (usize, usize)) -> bool {
    let (a, b) = (first.0.min(first.1), first.0.max(first.1));
    let (c, d) = (second.0.min(second.1), second.0.max(second.1));
    a < c && c < b && b < d || c < a && a < d && d < b
}

impl TreeConstraint for CrossingPenalty {
    fn cost(&self, tree: LabelledHeads<'_>) -> f64 {
        let count = Self::crossings(tree).count();
        if count == 0 { 0.0 } else { count as f64 * self.penalty }
    }

    /// One arc is out, or it is in: then each arc that crosses it costs the penalty, and that is a score.
    ///
    /// The arc with the most crossings is decided first.
    fn split(&self, tree: LabelledHeads<'_>, settled: Settled<'_>, branches: &mut Branches) {
        if self.penalty == 0.0 {
            return;
        }
        let words = tree.words();
        let count = |modifier: usize| {
            Self::open(tree, settled)
                .filter(|pair| pair.iter().any(|arc| arc.1 == modifier))
                .count()
        };
        let Some(modifier) = (1..=words).rev().max_by_key(|&modifier| count(modifier)) else {
            return;
        };
        if count(modifier) == 0 {
            return;
        }
        let chosen = (tree.heads[modifier - 1], modifier);
        branches.add().forbid_arc(chosen.0, chosen.1);
        branches.add().require_arc(chosen.0, chosen.1).pay(Self::key(words, chosen), 0.0);
        for other in crate::arcs(words) {
            // Arcs that a branch above requires have charged this one.
            if cross(chosen, other) && !settled.contains(Self::key(words, other)) {
                branches.charge(other.0, other.1, self.penalty);
            }
        }
    }

    fn violated_rows(&self, tree: LabelledHeads<'_>, settled: Settled<'_>, rows: &mut Vec<Row>) {
        let words = tree.words();
        let side = words as u64 + 1;
        rows.extend(Self::open(tree, settled).map(|[first, second]| Row {
            key: Self::key(words, first) * side * side + Self::key(words, second),
            capacity: 1.0,
            penalty: self.penalty,
        }));
    }

    fn visit_row(
        &self,
        row: &Row,
        words: usize,
        labels: usize,
        visit: &mut dyn FnMut(usize, usize, usize),
    ) {
        let side = words as u64 + 1;
        for arc in [row.key / (side * side), row.key % (side * side)] {
            for label in 0..labels {
                visit((arc / side) as usize, (arc % side) as usize, label);
            }
        }
    }
}
