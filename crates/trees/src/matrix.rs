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
/// The cells marked `·` (column 0 and the diagonal) are no arcs; nothing reads them. As scores,
/// `−∞` forbids an arc.
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
#[derive(Clone, PartialEq, Default)]
pub struct ArcMatrix {
    words: usize,
    /// (n+1)·(n+1), head-major. Empty only for the default value, which has no words.
    values: Vec<f64>,
}

impl ArcMatrix {
    /// The largest score that is accepted: sums over any sentence stay finite.
    pub const MAX_SCORE: f64 = 1e300;

    /// Every arc at `value`.
    pub fn filled(words: usize, value: f64) -> Self {
        Self { words, values: vec![value; (words + 1) * (words + 1)] }
    }

    /// Every arc at 0: as scores, all trees equally likely.
    pub fn zeros(words: usize) -> Self {
        Self::filled(words, 0.0)
    }

    /// Every arc at −∞: nothing allowed until scores are put in.
    pub fn forbidden(words: usize) -> Self {
        Self::filled(words, f64::NEG_INFINITY)
    }

    /// One value per arc, `value(head, modifier)`, called for real arcs only.
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
        let side = words.checked_add(1);
        let expected = side.and_then(|side| side.checked_mul(side));
        if expected != Some(values.len()) {
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

    /// Whether `head → modifier` is an arc of a sentence of this length (allowed or not).
    pub fn has_arc(&self, head: usize, modifier: usize) -> bool {
        head <= self.words && (1..=self.words).contains(&modifier) && head != modifier
    }

    pub(crate) fn check_arc(&self, head: usize, modifier: usize) -> Result<(), Error> {
        if self.has_arc(head, modifier) {
            Ok(())
        } else {
            Err(Error::NoSuchArc { head, modifier, words: self.words })
        }
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

    /// All arcs with their values, by head and then modifier.
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

    /// Makes this an n-word matrix with every cell at `value`, keeping the memory it has.
    pub(crate) fn reset(&mut self, words: usize, value: f64) {
        self.words = words;
        self.values.clear();
        self.values.resize((words + 1) * (words + 1), value);
    }

    /// As scores: names the first arc that is NaN, +∞ or too large.
    pub(crate) fn check_scores(&self) -> Result<(), Error> {
        // One branch-free pass for the usual case; NaN fails the comparison.
        let fine = |x: f64| x.abs() <= Self::MAX_SCORE || x == f64::NEG_INFINITY;
        if self.values.iter().fold(true, |all, &x| all & fine(x)) {
            return Ok(());
        }
        match self.arcs().find(|&(_, _, value)| !fine(value)) {
            Some((head, modifier, value)) => {
                Err(Error::BadScore { head, modifier, label: None, value })
            }
            None => Ok(()), // it was a cell that is no arc
        }
    }
}

impl Index<(usize, usize)> for ArcMatrix {
    type Output = f64;

    /// `matrix[(head, modifier)]`; panics outside the matrix, [`ArcMatrix::get`] does not.
    #[inline]
    fn index(&self, (head, modifier): (usize, usize)) -> &f64 {
        &self.values[head * (self.words + 1) + modifier]
    }
}

impl IndexMut<(usize, usize)> for ArcMatrix {
    #[inline]
    fn index_mut(&mut self, (head, modifier): (usize, usize)) -> &mut f64 {
        &mut self.values[head * (self.words + 1) + modifier]
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
