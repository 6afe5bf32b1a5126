//! One number per arc: the layout of every score, marginal and gradient in this crate.

use std::fmt;
use std::ops::{Index, IndexMut};

use crate::{Error, Tree};

/// One `f64` for every possible arc of a sentence: scores, marginals, gradients, costs.
///
/// Rows are heads, columns are modifiers; row 0 is the artificial root, words are `1..=n`:
///
/// ```text
///            modifier
///            (0)  1     2     3
///        0    ·  0→1   0→2   0→3     the root's arcs
/// head   1    ·   ·    1→2   1→3
///        2    ·  2→1    ·    2→3
///        3    ·  3→1   3→2    ·
/// ```
///
/// The cells marked `·` (column 0 and the diagonal) are not arcs. No answer depends on their values,
/// and two matrices are equal if their arcs are. As a score, `−∞` forbids an arc.
///
/// ```
/// use tutte_trees::ArcMatrix;
/// let mut scores = ArcMatrix::zeros(3);
/// scores[(0, 2)] = 1.5;               // the root heads word 2
/// scores.forbid(3, 1);                // word 3 must not head word 1
/// assert_eq!(scores.words(), 3);
/// assert_eq!(scores.get(0, 2), Some(1.5));
/// assert_eq!(scores.get(2, 2), None); // no such arc
/// ```
pub struct ArcMatrix {
    words: usize,
    /// (n+1)·(n+1) values, head-major. Empty only while the memory is lent out.
    values: Vec<f64>,
}

impl Clone for ArcMatrix {
    fn clone(&self) -> Self {
        Self { words: self.words, values: self.values.clone() }
    }

    /// Keeps the memory it has.
    fn clone_from(&mut self, other: &Self) {
        self.words = other.words;
        self.values.clone_from(&other.values);
    }
}

impl ArcMatrix {
    /// The largest score that is accepted: sums over any sentence stay finite.
    pub const MAX_SCORE: f64 = 1e300;

    /// Makes a matrix with every arc at `value`.
    ///
    /// # Panics
    /// If (n+1)² values exceed the largest possible allocation, as [`Vec::with_capacity`] does.
    pub fn filled(words: usize, value: f64) -> Self {
        Self { words, values: vec![value; cells(words)] }
    }

    /// Makes a matrix with every arc at 0: as scores, all trees are equally likely.
    pub fn zeros(words: usize) -> Self {
        Self::filled(words, 0.0)
    }

    /// Makes a matrix with every arc at −∞: no arc is allowed until it is given a score.
    pub fn forbidden(words: usize) -> Self {
        Self::filled(words, f64::NEG_INFINITY)
    }

    /// Makes a matrix of `value(head, modifier)`, called once per arc, by head and then modifier.
    ///
    /// ```
    /// use tutte_trees::ArcMatrix;
    /// // Near heads are better, and words prefer heads on their left.
    /// let scores = ArcMatrix::from_fn(4, |head, modifier| {
    ///     -(head.abs_diff(modifier) as f64) - if head > modifier { 0.5 } else { 0.0 }
    /// });
    /// assert_eq!(scores[(3, 1)], -2.5);
    /// ```
    pub fn from_fn(words: usize, mut value: impl FnMut(usize, usize) -> f64) -> Self {
        let mut matrix = Self::zeros(words);
        for head in 0..=words {
            for modifier in 1..=words {
                if head != modifier {
                    matrix[(head, modifier)] = value(head, modifier);
                }
            }
        }
        matrix
    }

    /// Takes a flat (n+1)·(n+1) array, head-major: `values[head * (n + 1) + modifier]`.
    ///
    /// # Errors
    /// [`Error::Shape`] if the length is not (n+1)².
    pub fn from_vec(words: usize, values: Vec<f64>) -> Result<Self, Error> {
        if cells(words) != values.len() {
            return Err(Error::Shape {
                expected: format!(
                    "(n+1)·(n+1) values for n = {words} words, head-major (row = head, row 0 the \
                     root, column = modifier, column 0 unused)"
                ),
                found: format!("{} values", values.len()),
            });
        }
        Ok(Self { words, values })
    }

    /// Takes n+1 rows (heads, row 0 the root) of n+1 columns (modifiers, column 0 unused).
    ///
    /// ```
    /// use tutte_trees::ArcMatrix;
    /// let no = f64::NEG_INFINITY;
    /// let scores = ArcMatrix::from_rows(&[
    ///     [0.0, 1.0, 2.5], // 0 → 1, 0 → 2
    ///     [0.0, 0.0, 0.5], //        1 → 2
    ///     [0.0, no, 0.0],  // 2 → 1 is forbidden
    /// ])?;
    /// assert_eq!(scores.words(), 2);
    /// assert_eq!(scores[(0, 2)], 2.5);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] if the rows do not form a square.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self, Error> {
        let side = rows.len();
        if side == 0 {
            return Err(Error::Shape {
                expected: "n+1 rows, one for each head, row 0 the root".into(),
                found: "no rows".into(),
            });
        }
        let mut values = Vec::with_capacity(side * side);
        for (head, row) in rows.iter().enumerate() {
            let row = row.as_ref();
            if row.len() != side {
                return Err(Error::Shape {
                    expected: format!(
                        "{side} columns in each of the {side} rows (rows are heads with row 0 the \
                         root, columns modifiers with column 0 unused)"
                    ),
                    found: format!("{} columns in row {head}", row.len()),
                });
            }
            values.extend_from_slice(row);
        }
        Ok(Self { words: side - 1, values })
    }

    /// The number of words, n.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The value of an arc, or `None` if there is no such arc.
    pub fn get(&self, head: usize, modifier: usize) -> Option<f64> {
        self.has_arc(head, modifier).then(|| self[(head, modifier)])
    }

    /// True if `head → modifier` is an arc of a sentence of this length (allowed or not).
    pub fn has_arc(&self, head: usize, modifier: usize) -> bool {
        check_arc(self.words, head, modifier).is_ok()
    }

    /// Sets an arc's score to −∞. Does nothing if there is no such arc.
    pub fn forbid(&mut self, head: usize, modifier: usize) {
        if self.has_arc(head, modifier) {
            self[(head, modifier)] = f64::NEG_INFINITY;
        }
    }

    /// The values of one head's arcs, by modifier (entry 0 unused).
    ///
    /// # Panics
    /// If `head > words`, as slice indexing does.
    pub fn row(&self, head: usize) -> &[f64] {
        assert!(head <= self.words, "row {head} of a matrix of {} words", self.words);
        let side = self.words + 1;
        &self.values[head * side..(head + 1) * side]
    }

    pub(crate) fn row_mut(&mut self, head: usize) -> &mut [f64] {
        let side = self.words + 1;
        &mut self.values[head * side..(head + 1) * side]
    }

    /// All (n+1)² cells, head-major.
    pub fn as_slice(&self) -> &[f64] {
        &self.values
    }

    /// All arcs as (head, modifier, value), by head and then modifier.
    ///
    /// ```
    /// use tutte_trees::ArcMatrix;
    /// let arcs: Vec<_> = ArcMatrix::zeros(2).arcs().collect();
    /// assert_eq!(arcs, [(0, 1, 0.0), (0, 2, 0.0), (1, 2, 0.0), (2, 1, 0.0)]);
    /// ```
    pub fn arcs(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let words = self.words;
        (0..=words).flat_map(move |head| {
            (1..=words)
                .filter(move |&modifier| modifier != head)
                .map(move |modifier| (head, modifier, self[(head, modifier)]))
        })
    }

    /// Σ over the arcs of `tree`: the tree's score, cost or count.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`] if the tree is of another sentence length.
    pub fn sum_over(&self, tree: &Tree) -> Result<f64, Error> {
        if tree.words() != self.words {
            return Err(Error::DifferentLengths { left: self.words, right: tree.words() });
        }
        Ok(tree.arcs().map(|arc| self[arc]).sum())
    }

    /// Returns the index of a value. A column too far must not become a cell of the next row.
    #[inline(always)]
    fn cell(&self, head: usize, modifier: usize) -> usize {
        assert!(
            head <= self.words && modifier <= self.words,
            "cell ({head}, {modifier}) of a matrix of {} words",
            self.words
        );
        head * (self.words + 1) + modifier
    }

    /// Takes the matrix out for a while. The one left behind holds nothing and must not be read.
    pub(crate) fn lend(&mut self) -> Self {
        std::mem::replace(self, Self { words: 0, values: Vec::new() })
    }

    /// Makes this an n-word matrix with every cell at `value`, keeping the memory it has.
    pub fn reset(&mut self, words: usize, value: f64) {
        self.words = words;
        self.values.clear();
        self.values.resize(cells(words), value);
    }

    /// Divides every column with a positive sum by that sum. Cells that are not arcs must be 0; `sums` is scratch.
    #[inline(always)]
    pub(crate) fn normalise_columns(&mut self, sums: &mut Vec<f64>) {
        let side = self.words + 1;
        sums.clear();
        sums.resize(side, 0.0);
        for row in self.values.chunks_exact(side) {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        for row in self.values.chunks_exact_mut(side) {
            for (value, &sum) in row.iter_mut().zip(sums.iter()) {
                *value = if sum > 0.0 { *value / sum } else { *value };
            }
        }
    }

    /// Subtracts from each column the entry of `scores` for the tree's arc into that word. For scores,
    /// this changes no probability.
    pub(crate) fn shift_by(&mut self, scores: &Self, tree: &Tree) {
        for (tree_head, modifier) in tree.arcs() {
            let reference = scores[(tree_head, modifier)];
            for head in (0..=self.words).filter(|&head| head != modifier) {
                self[(head, modifier)] -= reference;
            }
        }
    }

    /// Replaces every value, also of cells that are not arcs.
    ///
    /// ```
    /// use tutte_trees::ArcMatrix;
    /// let mut scores = ArcMatrix::filled(2, 3.0);
    /// scores.map_in_place(|score| score / 2.0);
    /// assert_eq!(scores[(0, 1)], 1.5);
    /// ```
    pub fn map_in_place(&mut self, f: impl Fn(f64) -> f64) {
        self.values.iter_mut().for_each(|value| *value = f(*value));
    }

    /// Replaces every value by `f(value, other's value)`.
    ///
    /// ```
    /// use tutte_trees::ArcMatrix;
    /// let mut mean = ArcMatrix::filled(2, 0.25);
    /// mean.zip_in_place(&ArcMatrix::filled(2, 0.75), |one, other| 0.5 * (one + other));
    /// assert_eq!(mean[(0, 1)], 0.5);
    /// ```
    ///
    /// # Panics
    /// If they are of sentences of different lengths.
    pub fn zip_in_place(&mut self, other: &Self, f: impl Fn(f64, f64) -> f64) {
        assert_eq!(self.words, other.words, "matrices of different lengths");
        self.values.iter_mut().zip(&other.values).for_each(|(value, &x)| *value = f(*value, x));
    }

    /// Checks values that are scores: the error names the first arc that is NaN, +∞ or too large.
    pub(crate) fn check_scores(&self) -> Result<(), Error> {
        // One branch-free pass for the usual case; NaN fails the comparison.
        if self.values.iter().fold(true, |all, &x| all & is_score(x)) {
            return Ok(());
        }
        match self.arcs().find(|&(_, _, value)| !is_score(value)) {
            Some((head, modifier, value)) => {
                Err(Error::BadScore { head, modifier, label: None, value })
            }
            None => Ok(()), // it was a cell that is not an arc
        }
    }
}

impl Default for ArcMatrix {
    /// Makes a matrix of no words, as a start for an output.
    fn default() -> Self {
        Self::zeros(0)
    }
}

impl Index<(usize, usize)> for ArcMatrix {
    type Output = f64;

    /// `matrix[(head, modifier)]`; panics outside the matrix, [`ArcMatrix::get`] does not.
    #[inline]
    fn index(&self, (head, modifier): (usize, usize)) -> &f64 {
        &self.values[self.cell(head, modifier)]
    }
}

impl IndexMut<(usize, usize)> for ArcMatrix {
    #[inline]
    fn index_mut(&mut self, (head, modifier): (usize, usize)) -> &mut f64 {
        let cell = self.cell(head, modifier);
        &mut self.values[cell]
    }
}

impl PartialEq for ArcMatrix {
    /// True if all arcs have equal values.
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words && self.arcs().eq(other.arcs())
    }
}

impl fmt::Debug for ArcMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "ArcMatrix of {} words (row = head, column = modifier)", self.words)?;
        for head in 0..=self.words {
            write!(f, "{head:>4}:")?;
            for modifier in 1..=self.words {
                if head == modifier {
                    write!(f, " {:>10}", "·")?;
                } else {
                    write!(f, " {:>10.5}", self[(head, modifier)])?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Returns (n+1)², or on overflow a size that no memory holds.
pub(crate) fn cells(words: usize) -> usize {
    let side = words.saturating_add(1);
    side.saturating_mul(side)
}

/// True if a value is finite and small enough to be summed; false for NaN.
#[inline(always)]
pub(crate) fn is_number(value: f64) -> bool {
    value.abs() <= ArcMatrix::MAX_SCORE
}

/// True if a value is a number, or −∞ for a forbidden arc.
#[inline(always)]
pub(crate) fn is_score(value: f64) -> bool {
    is_number(value) || value == f64::NEG_INFINITY
}

/// `Ok` if `head → modifier` is an arc of a sentence of `words` words.
pub(crate) fn check_arc(words: usize, head: usize, modifier: usize) -> Result<(), Error> {
    if head <= words && (1..=words).contains(&modifier) && head != modifier {
        Ok(())
    } else {
        Err(Error::NoSuchArc { head, modifier, words })
    }
}

#[cfg(test)]
mod tests;
