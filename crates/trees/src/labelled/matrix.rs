//! One number per labelled arc.

use std::ops::{Index, IndexMut, Range};

use super::cells;
use crate::matrix::{cells as count, check_arc, is_score};
use crate::{ArcMatrix, Error, LabelledTree};

/// One `f64` for every arc and label: labelled scores, marginals, gradients.
///
/// Laid out as [`ArcMatrix`], with the labels of an arc side by side:
/// `values[(head * (n + 1) + modifier) * labels + label]`. As a score, −∞ forbids a label on an arc.
/// An arc is forbidden if all its labels are. If most arcs are forbidden, a matrix made by
/// [`sparse`](Self::sparse) takes memory and time for the others only.
///
/// ```
/// use tutte_trees::LabelledArcMatrix;
/// let mut scores = LabelledArcMatrix::zeros(3, 2);
/// scores[(0, 2, 1)] = 1.5; // the root heads word 2 with label 1
/// scores.forbid(0, 2, 0);  // and with no other label
/// assert_eq!(scores.get(0, 2, 1), Some(1.5));
/// assert_eq!(scores.get(0, 2, 2), None); // no such label
/// assert_eq!(scores.labels_of(0, 2), Some(&[f64::NEG_INFINITY, 1.5][..]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct LabelledArcMatrix {
    words: usize,
    labels: usize,
    /// Groups of values, each with one value per label.
    values: Vec<f64>,
    /// In a sparse matrix, the group of each arc. Arcs without values share the group [`ABSENT`], which
    /// is all −∞. Empty in a dense matrix, where the groups are in the order of arcs.
    places: Vec<usize>,
}

/// The group of arcs without values of their own.
const ABSENT: usize = 0;

impl LabelledArcMatrix {
    /// Makes a matrix with every labelled arc at `value`.
    ///
    /// # Panics
    /// If (n+1)²·L values exceed the largest possible allocation, as [`Vec::with_capacity`] does.
    pub fn filled(words: usize, labels: usize, value: f64) -> Self {
        let values = vec![value; count(words).saturating_mul(labels)];
        Self { words, labels, values, places: Vec::new() }
    }

    /// Makes a matrix with every labelled arc at 0.
    pub fn zeros(words: usize, labels: usize) -> Self {
        Self::filled(words, labels, 0.0)
    }

    /// Makes a matrix with every labelled arc at −∞: no arc is allowed until it is given a score.
    pub fn forbidden(words: usize, labels: usize) -> Self {
        Self::filled(words, labels, f64::NEG_INFINITY)
    }

    /// Makes a matrix with every labelled arc at −∞, in little memory: an arc takes memory, for all its
    /// labels, when it is first changed.
    ///
    /// ```
    /// use tutte_trees::{LabelledArcMatrix, LabelledTreeDistribution, TreeSet};
    /// let mut scores = LabelledArcMatrix::sparse(100, 40); // 10,000 arcs with 40 labels each
    /// for word in 1..=100 {
    ///     scores[(word - 1, word, 7)] = 0.5; // only 100 arcs are possible
    /// }
    /// let d = LabelledTreeDistribution::new(scores, TreeSet::NonProjectiveSingleRoot)?;
    /// assert_eq!(d.argmax().score, 50.0);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    pub fn sparse(words: usize, labels: usize) -> Self {
        let values = vec![f64::NEG_INFINITY; labels];
        Self { words, labels, values, places: vec![ABSENT; count(words)] }
    }

    /// Makes a matrix of `value(head, modifier, label)`, called once per labelled arc.
    ///
    /// ```
    /// use tutte_trees::LabelledArcMatrix;
    /// const ROOT: usize = 0;
    /// // Label 0 if and only if the head is the root.
    /// let scores = LabelledArcMatrix::from_fn(3, 5, |head, _, label| {
    ///     if (head == 0) == (label == ROOT) { 0.0 } else { f64::NEG_INFINITY }
    /// });
    /// assert_eq!(scores[(2, 1, ROOT)], f64::NEG_INFINITY);
    /// ```
    pub fn from_fn(
        words: usize,
        labels: usize,
        mut value: impl FnMut(usize, usize, usize) -> f64,
    ) -> Self {
        let mut matrix = Self::zeros(words, labels);
        for head in 0..=words {
            for modifier in (1..=words).filter(|&modifier| modifier != head) {
                for label in 0..labels {
                    matrix[(head, modifier, label)] = value(head, modifier, label);
                }
            }
        }
        matrix
    }

    /// Takes a flat (n+1)·(n+1)·labels array, head-major, labels innermost.
    ///
    /// # Errors
    /// [`Error::Shape`] if the length does not fit.
    pub fn from_vec(words: usize, labels: usize, values: Vec<f64>) -> Result<Self, Error> {
        if count(words).checked_mul(labels) != Some(values.len()) {
            return Err(Error::Shape {
                expected: format!(
                    "(n+1)·(n+1)·L values for n = {words} words and L = {labels} labels, \
                     head-major, labels innermost (row 0 the root, column 0 unused)"
                ),
                found: format!("{} values", values.len()),
            });
        }
        Ok(Self { words, labels, values, places: Vec::new() })
    }

    /// The number of words, n.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The number of labels.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// The value of a labelled arc, or `None` if there is no such arc or label.
    pub fn get(&self, head: usize, modifier: usize, label: usize) -> Option<f64> {
        self.labels_of(head, modifier)?.get(label).copied()
    }

    /// Sets a labelled arc's score to −∞. Does nothing if there is no such arc or label.
    pub fn forbid(&mut self, head: usize, modifier: usize, label: usize) {
        let exists = check_arc(self.words, head, modifier).is_ok() && label < self.labels;
        if exists && !self.is_absent(head, modifier) {
            self[(head, modifier, label)] = f64::NEG_INFINITY;
        }
    }

    /// Sets the scores of all labels of an arc to −∞.
    pub(crate) fn forbid_arc(&mut self, head: usize, modifier: usize) {
        if !self.is_absent(head, modifier) {
            self.cell_mut(head, modifier).fill(f64::NEG_INFINITY);
        }
    }

    /// The values of one arc, by label, or `None` if there is no such arc.
    pub fn labels_of(&self, head: usize, modifier: usize) -> Option<&[f64]> {
        check_arc(self.words, head, modifier).ok().map(|()| self.cell(head, modifier))
    }

    /// The values of one arc, by label and mutable, or `None` if there is no such arc.
    ///
    /// ```
    /// use tutte_trees::LabelledArcMatrix;
    /// let mut scores = LabelledArcMatrix::zeros(3, 2);
    /// if let Some(labels) = scores.labels_of_mut(0, 2) {
    ///     labels.copy_from_slice(&[1.0, 2.0]);
    /// }
    /// assert_eq!(scores[(0, 2, 1)], 2.0);
    /// ```
    pub fn labels_of_mut(&mut self, head: usize, modifier: usize) -> Option<&mut [f64]> {
        check_arc(self.words, head, modifier).ok().map(|()| self.cell_mut(head, modifier))
    }

    /// All cells, head-major, labels innermost; −∞ for the arcs that a sparse matrix does not store.
    pub fn to_vec(&self) -> Vec<f64> {
        if self.places.is_empty() {
            return self.values.clone();
        }
        let places = self.places.iter().map(|&place| self.range(place));
        places.flat_map(|range| &self.values[range]).copied().collect()
    }

    /// All labelled arcs as (head, modifier, label, value), by head, modifier and label.
    pub fn arcs(&self) -> impl Iterator<Item = (usize, usize, usize, f64)> + '_ {
        (0..=self.words)
            .flat_map(move |head| (1..=self.words).map(move |modifier| (head, modifier)))
            .filter(|&(head, modifier)| head != modifier)
            .flat_map(move |(head, modifier)| {
                let values = self.cell(head, modifier).iter().enumerate();
                values.map(move |(label, &value)| (head, modifier, label, value))
            })
    }

    /// Σ over the labelled arcs of `tree`.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`], [`Error::NoSuchLabel`].
    pub fn sum_over(&self, tree: &LabelledTree) -> Result<f64, Error> {
        let words = tree.tree().words();
        if words != self.words {
            return Err(Error::DifferentLengths { left: self.words, right: words });
        }
        if let Some(&label) = tree.labels().iter().find(|&&label| label >= self.labels) {
            return Err(Error::NoSuchLabel { label, labels: self.labels });
        }
        Ok(tree.arcs().map(|arc| self[arc]).sum())
    }

    pub(crate) fn cell(&self, head: usize, modifier: usize) -> &[f64] {
        &self.values[self.range(self.place(head, modifier))]
    }

    pub(crate) fn cell_mut(&mut self, head: usize, modifier: usize) -> &mut [f64] {
        let at = self.at(head, modifier);
        if self.is_absent(head, modifier) && self.labels > 0 {
            self.places[at] = self.values.len() / self.labels;
            self.values.resize(self.values.len() + self.labels, f64::NEG_INFINITY);
        }
        let range = self.range(self.place(head, modifier));
        &mut self.values[range]
    }

    /// The group of an arc's values.
    fn place(&self, head: usize, modifier: usize) -> usize {
        let at = self.at(head, modifier);
        self.places.get(at).copied().unwrap_or(at)
    }

    /// True if an arc has no values of its own and is therefore forbidden.
    pub(crate) fn is_absent(&self, head: usize, modifier: usize) -> bool {
        self.places.get(self.at(head, modifier)) == Some(&ABSENT)
    }

    /// The number of an arc. A column too far must not become a cell of the next row.
    fn at(&self, head: usize, modifier: usize) -> usize {
        assert!(
            head <= self.words && modifier <= self.words,
            "cell ({head}, {modifier}) of a matrix of {} words",
            self.words
        );
        head * (self.words + 1) + modifier
    }

    fn range(&self, place: usize) -> Range<usize> {
        place * self.labels..(place + 1) * self.labels
    }

    /// Applies `f` to the labels of every arc.
    pub(crate) fn reduce(&self, f: impl Fn(&[f64]) -> f64) -> ArcMatrix {
        let absent = if self.places.is_empty() { 0.0 } else { f(&self.values[..self.labels]) };
        ArcMatrix::from_fn(self.words, |head, modifier| {
            if self.is_absent(head, modifier) { absent } else { f(self.cell(head, modifier)) }
        })
    }

    /// θ\[h\]\[m\] = log Σ_ℓ exp θ\[h\]\[m\]\[ℓ\]: labels summed out.
    pub(crate) fn log_sum_labels(&self) -> ArcMatrix {
        let mut sums = Vec::new();
        cells::log_sums(&self.values, self.labels, &mut sums);
        self.spread(&sums, f64::NEG_INFINITY)
    }

    /// H(label | arc) of every arc, in nats; 0 for forbidden ones.
    pub(super) fn label_entropies(&self) -> ArcMatrix {
        let mut entropies = Vec::new();
        cells::entropies(&self.values, self.labels, &mut entropies);
        self.spread(&entropies, 0.0)
    }

    /// Turns scores x of labels given their arcs, normalised or not, into scores of labelled arcs:
    /// θ\[h\]\[m\]\[ℓ\] = θ\[h\]\[m\] + x_ℓ − log Σ_ℓ′ exp x_ℓ′. An arc that is forbidden, or has no allowed label,
    /// becomes forbidden in both matrices.
    pub(super) fn join(&mut self, arcs: &mut ArcMatrix) {
        let mut sums = Vec::new();
        cells::log_sums(&self.values, self.labels, &mut sums);
        for head in 0..=self.words {
            for modifier in (1..=self.words).filter(|&modifier| modifier != head) {
                let score = &mut arcs[(head, modifier)];
                let sum =
                    sums.get(self.place(head, modifier)).copied().unwrap_or(f64::NEG_INFINITY);
                if sum == f64::NEG_INFINITY {
                    *score = f64::NEG_INFINITY;
                } else if *score == f64::NEG_INFINITY {
                    self.forbid_arc(head, modifier);
                } else {
                    let shift = *score - sum;
                    self.cell_mut(head, modifier).iter_mut().for_each(|x| *x += shift);
                }
            }
        }
    }

    /// Copies the value of each group to its arcs; `without_labels` if there are no labels at all.
    fn spread(&self, of_places: &[f64], without_labels: f64) -> ArcMatrix {
        ArcMatrix::from_fn(self.words, |head, modifier| {
            of_places.get(self.place(head, modifier)).copied().unwrap_or(without_labels)
        })
    }

    /// The score of every arc's best label.
    pub(crate) fn best_labels(&self) -> ArcMatrix {
        self.reduce(|cell| cell.iter().fold(f64::NEG_INFINITY, |best, &x| best.max(x)))
    }

    /// Checks values that are scores: the error names the first labelled arc that is NaN, +∞ or too large.
    pub(crate) fn check_scores(&self) -> Result<(), Error> {
        // One branch-free pass over the stored values. Absent arcs, which may be many, are always valid.
        if self.values.iter().fold(true, |all, &value| all & is_score(value)) {
            return Ok(());
        }
        match self.arcs().find(|&(.., value)| !is_score(value)) {
            Some((head, modifier, label, value)) => {
                Err(Error::BadScore { head, modifier, label: Some(label), value })
            }
            None => Ok(()),
        }
    }
}

impl PartialEq for LabelledArcMatrix {
    /// True if all labelled arcs have equal values.
    fn eq(&self, other: &Self) -> bool {
        (self.words, self.labels) == (other.words, other.labels) && self.arcs().eq(other.arcs())
    }
}

impl Index<(usize, usize, usize)> for LabelledArcMatrix {
    type Output = f64;

    /// `matrix[(head, modifier, label)]`; panics outside, [`LabelledArcMatrix::get`] does not.
    #[inline]
    fn index(&self, (head, modifier, label): (usize, usize, usize)) -> &f64 {
        &self.cell(head, modifier)[label]
    }
}

impl IndexMut<(usize, usize, usize)> for LabelledArcMatrix {
    #[inline]
    fn index_mut(&mut self, (head, modifier, label): (usize, usize, usize)) -> &mut f64 {
        &mut self.cell_mut(head, modifier)[label]
    }
}
