//! Tables of weights: 32 bits per weight while it is learnt, 8 bits once it is stored.
//!
//! A stored weight is a whole number q from −127 to 127 and stands for q·s, with one scale s per table.
//! Scores are sums, so s is multiplied once at the end and look-ups touch single bytes. That is a quarter
//! of the memory, and scoring is bound by memory.

use std::fmt;
use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;

use tutte_simd::dispatched;

use crate::mapped::Content;

/// The stored form of a weight.
pub trait Cell: Copy + Into<f32> {
    /// A sum of cells.
    type Sum: Copy + Default;

    /// Adds this cell to a sum.
    fn add_to(self, sum: Self::Sum) -> Self::Sum;

    /// Returns a sum as a number.
    fn value(sum: Self::Sum) -> f32;
}

impl Cell for f32 {
    type Sum = f32;

    #[inline]
    fn add_to(self, sum: f32) -> f32 {
        sum + self
    }

    #[inline]
    fn value(sum: f32) -> f32 {
        sum
    }
}

/// Whole numbers add up faster than floating-point numbers, and exactly.
impl Cell for i8 {
    type Sum = i32;

    #[inline]
    fn add_to(self, sum: i32) -> i32 {
        sum + i32::from(self)
    }

    #[inline]
    fn value(sum: i32) -> f32 {
        sum as f32
    }
}

/// A table of weights that can be read: weight i is `cells()[i] · scale()`.
pub trait Weights: Send + Sync {
    /// The stored form of a weight.
    type Cell: Cell;

    /// Returns all weights, before scaling.
    fn cells(&self) -> &[Self::Cell];

    /// Returns the factor of all weights.
    fn scale(&self) -> f32;

    /// Adds the rows that start at these cells to `sums`, which is as long as a row, before scaling.
    fn add_rows(&self, rows: &[usize], sums: &mut [f32]) {
        let cells = self.cells();
        prefetch(cells, rows, sums.len());
        for &row in rows {
            let weights = &cells[row..row + sums.len()];
            sums.iter_mut().zip(weights).for_each(|(sum, &weight)| *sum += weight.into());
        }
    }
}

/// Loads the rows into the cache by reading the first and last cell of each. Memory has a high latency but
/// serves many requests at once, so all rows are requested before any of them is used.
#[inline(always)]
fn prefetch<C: Cell>(cells: &[C], rows: &[usize], columns: usize) {
    if let Some(last) = columns.checked_sub(1) {
        let touch = |sum, at: usize| cells[at].add_to(sum);
        let touch_row = |sum, row: &usize| touch(touch(sum, *row), row + last);
        black_box(C::value(rows.iter().fold(C::Sum::default(), touch_row)));
    }
}

impl Weights for Vec<f32> {
    type Cell = f32;

    fn cells(&self) -> &[f32] {
        self
    }

    fn scale(&self) -> f32 {
        1.0
    }
}

/// Weights of 8 bits and their scale, in memory or in a mapped file.
///
/// ```
/// use tutte_linear::{Compact, Weights};
///
/// let weights = Compact::new(&[0.0, 0.5, -2.0]);
/// assert_eq!(weights.cells(), [0, 32, -127]);
/// assert_eq!(weights.scale(), 2.0 / 127.0);
/// ```
#[derive(Clone)]
pub struct Compact {
    scale: f32,
    bytes: Bytes,
}

/// How weights are rounded to 8 bits.
///
/// ```
/// use tutte_linear::{Compact, Rounding, Weights};
///
/// let weights = [0.02, 1.0, -2.0];
/// assert_eq!(Compact::rounded(&weights, Rounding::Nearest).cells(), [1, 64, -127]);
/// assert_eq!(Compact::rounded(&weights, Rounding::Sparse).cells(), [0, 64, -127]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest value.
    #[default]
    Nearest,
    /// To the nearest value, but the smallest become 0: as many as hold a sixth of the sum of squares. Most weights are
    /// small: they belong to features that were seen once or twice. Tables without them pack a third smaller.
    Sparse,
}

#[derive(Clone)]
enum Bytes {
    Owned(Vec<i8>),
    InFile(Arc<Content>, Range<usize>),
}

impl Compact {
    /// The largest cell.
    const LARGEST: f32 = i8::MAX as f32;

    /// Rounds weights to the nearest values of 8 bits; the largest keeps its exact value.
    pub fn new(weights: &[f32]) -> Self {
        Self::rounded(weights, Rounding::Nearest)
    }

    /// Rounds weights to 8 bits; the largest keeps its exact value.
    pub fn rounded(weights: &[f32], rounding: Rounding) -> Self {
        let largest = weights.iter().fold(0f32, |largest, weight| largest.max(weight.abs()));
        let scale = if largest > 0.0 { largest / Self::LARGEST } else { 1.0 };
        let round = |weight: &f32| (weight / scale).round().clamp(-Self::LARGEST, Self::LARGEST);
        let mut cells: Vec<i8> = weights.iter().map(|weight| round(weight) as i8).collect();
        if rounding == Rounding::Sparse {
            let least = least_kept(&cells);
            cells.iter_mut().filter(|cell| cell.unsigned_abs() < least).for_each(|cell| *cell = 0);
        }
        Self { scale, bytes: Bytes::Owned(cells) }
    }

    /// Multiplies all weights by a positive factor.
    ///
    /// ```
    /// use tutte_linear::{Compact, Weights};
    ///
    /// let weights = Compact::new(&[0.5, -2.0]);
    /// let half = weights.clone().scaled_by(0.5);
    /// assert_eq!((half.cells(), half.scale()), (weights.cells(), 1.0 / 127.0));
    /// ```
    pub fn scaled_by(self, factor: f32) -> Self {
        Self { scale: self.scale * factor, ..self }
    }

    /// Wraps weights inside a model file. The range must lie inside of it.
    pub fn in_file(file: &Arc<Content>, range: Range<usize>, scale: f32) -> Self {
        debug_assert!(range.start <= range.end && range.end <= file.len());
        Self { scale, bytes: Bytes::InFile(Arc::clone(file), range) }
    }
}

/// Returns the smallest absolute value of a cell that [`Rounding::Sparse`] keeps.
fn least_kept(cells: &[i8]) -> u8 {
    /// The share of the sum of squares that may be lost is one in this many.
    const ONE_IN: u64 = 6;
    let mut squares = [0u64; 129];
    for cell in cells {
        squares[usize::from(cell.unsigned_abs())] += u64::from(cell.unsigned_abs()).pow(2);
    }
    let all: u64 = squares.iter().sum();
    let mut lost = 0;
    let is_kept = |&value: &u8| {
        lost += squares[usize::from(value)];
        ONE_IN * lost > all
    };
    (1..=i8::MAX as u8).find(is_kept).unwrap_or(1)
}

impl fmt::Debug for Compact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells = self.cells().len();
        f.debug_struct("Compact").field("cells", &cells).field("scale", &self.scale).finish()
    }
}

impl Weights for Compact {
    type Cell = i8;

    fn cells(&self) -> &[i8] {
        match &self.bytes {
            Bytes::Owned(cells) => cells,
            Bytes::InFile(file, range) => bytemuck::cast_slice(&file[range.clone()]),
        }
    }

    fn scale(&self) -> f32 {
        self.scale
    }

    fn add_rows(&self, rows: &[usize], sums: &mut [f32]) {
        add_bytes(self.cells(), rows, sums);
    }
}

/// Number of columns that are added at a time. Their sums fit into registers.
const WIDTH: usize = 64;

dispatched! {
    /// Adds rows as 16-bit integers: a vector holds twice as many of them as of 32-bit ones. At most `ROWS`
    /// rows are added at a time, so that no sum overflows.
    fn add_bytes(cells: &[i8], rows: &[usize], sums: &mut [f32]) {
        const ROWS: usize = (i16::MAX / i8::MAX as i16) as usize;
        prefetch(cells, rows, sums.len());
        for rows in rows.chunks(ROWS) {
            for (start, sums) in (0..).step_by(WIDTH).zip(sums.chunks_mut(WIDTH)) {
                // One version for each number of vectors. A fixed number lets the compiler keep the sums
                // in registers.
                let rest = match sums.len() / 8 {
                    8 => add_vectors::<4, 0>(cells, rows, start, sums),
                    7 => add_vectors::<3, 1>(cells, rows, start, sums),
                    6 => add_vectors::<3, 0>(cells, rows, start, sums),
                    5 => add_vectors::<2, 1>(cells, rows, start, sums),
                    4 => add_vectors::<2, 0>(cells, rows, start, sums),
                    3 => add_vectors::<1, 1>(cells, rows, start, sums),
                    2 => add_vectors::<1, 0>(cells, rows, start, sums),
                    1 => add_vectors::<0, 1>(cells, rows, start, sums),
                    _ => 0,
                };
                if let [a, b, c] = sums {
                    // The three actions of the transition parser.
                    let sum = |[a, b, c]: [i32; 3], row: &usize| {
                        let [x, y, z] = [0, 1, 2].map(|column| i32::from(cells[row + start + column]));
                        [a + x, b + y, c + z]
                    };
                    let [x, y, z] = rows.iter().fold([0; 3], sum);
                    (*a, *b, *c) = (*a + x as f32, *b + y as f32, *c + z as f32);
                    continue;
                }
                for (column, sum) in sums.iter_mut().enumerate().skip(rest) {
                    let add = |sum: i32, row: &usize| sum + i32::from(cells[row + start + column]);
                    *sum += rows.iter().fold(0, add) as f32;
                }
            }
        }
    }
}

/// Adds the first 16·`WIDE` + 8·`NARROW` columns of rows. Returns this number of columns.
#[inline(always)]
fn add_vectors<const WIDE: usize, const NARROW: usize>(
    cells: &[i8],
    rows: &[usize],
    start: usize,
    sums: &mut [f32],
) -> usize {
    let columns = 16 * WIDE + 8 * NARROW;
    let mut wide = [[0i16; 16]; WIDE];
    let mut narrow = [[0i16; 8]; NARROW];
    for &row in rows {
        let weights = &cells[row + start..][..columns];
        for vector in 0..WIDE {
            for lane in 0..16 {
                wide[vector][lane] += i16::from(weights[16 * vector + lane]);
            }
        }
        for vector in 0..NARROW {
            for lane in 0..8 {
                narrow[vector][lane] += i16::from(weights[16 * WIDE + 8 * vector + lane]);
            }
        }
    }
    let parts = wide.as_flattened().iter().chain(narrow.as_flattened());
    sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += f32::from(*part));
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_rows_adds_up() {
        let floats: Vec<f32> = (0..72 * 5).map(|i| ((i * 37) % 255) as f32 - 127.0).collect();
        let compact = Compact::new(&floats);
        let rows: Vec<usize> = (0..1000).map(|i| (i % 5) * 72).collect();
        let mut fast = vec![1.0; 72];
        let mut slow = fast.clone();
        compact.add_rows(&rows, &mut fast);
        floats.add_rows(&rows, &mut slow);
        assert_eq!(fast, slow);
        let largest = Compact::new(&[1.0; 8]);
        let mut sums = [0.0; 8];
        largest.add_rows(&[0; 300], &mut sums);
        assert_eq!(sums, [300.0 * 127.0; 8], "no overflow");
    }

    #[test]
    fn rows_may_have_any_width() {
        let floats: Vec<f32> = (0..600).map(|i| ((i * 37) % 255) as f32 - 127.0).collect();
        let compact = Compact::new(&floats);
        for width in 0..150 {
            let mut fast = vec![0.5; width];
            let mut slow = fast.clone();
            compact.add_rows(&[0, 7, 400], &mut fast);
            floats.add_rows(&[0, 7, 400], &mut slow);
            assert_eq!(fast, slow, "{width} columns");
        }
    }
}
