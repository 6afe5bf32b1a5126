//! The number of projective trees of the allowed arcs, and the existence of one.

use super::ProjectiveWorkspace;
use super::chart::Chart;
use crate::ArcMatrix;
use crate::tree_set::Roots;
use crate::weight::Semiring;

/// The chart over (or, and): one bit per item and one row of bits per head or end.
///
/// A dot product is the question whether two rows share a bit. Rows hold both directions. They need no
/// mask: when a span is computed, no item outside it has been set in both rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Possible {
    /// C by head; C by head with every end moved down by one; C by end; I by head.
    complete: Vec<u64>,
    complete_down: Vec<u64>,
    complete_by_end: Vec<u64>,
    incomplete: Vec<u64>,
}

/// True if any tree has a finite score. O(n³/64) steps.
pub(crate) fn has_tree(scores: &ArcMatrix, roots: Roots, ws: &mut ProjectiveWorkspace) -> bool {
    let words = scores.words();
    let blocks = words / 64 + 1;
    let Possible { complete, complete_down, complete_by_end, incomplete } = &mut ws.possible;
    for rows in [&mut *complete, &mut *complete_down, &mut *complete_by_end, &mut *incomplete] {
        rows.clear();
        rows.resize((words + 1) * blocks, 0);
    }
    let set = |rows: &mut [u64], row: usize, bit: usize| {
        rows[row * blocks + bit / 64] |= 1 << (bit % 64);
    };
    let meet = |a: &[u64], row_a: usize, b: &[u64], row_b: usize| {
        let row_a = &a[row_a * blocks..(row_a + 1) * blocks];
        let row_b = &b[row_b * blocks..(row_b + 1) * blocks];
        row_a.iter().zip(row_b).any(|(x, y)| x & y != 0)
    };
    let allowed = |head, modifier| scores[(head, modifier)] > f64::NEG_INFINITY;
    for j in 0..=words {
        set(complete, j, j);
        set(complete_by_end, j, j);
        if j > 0 {
            set(complete_down, j, j - 1);
        }
        for i in (0..j).rev() {
            let both = meet(complete, i, complete_down, j);
            if both && allowed(i, j) {
                set(incomplete, i, j);
            }
            if i > 0 && both && allowed(j, i) {
                set(incomplete, j, i);
            }
            let right = i > 0 || roots == Roots::Multi || j == words;
            let right = right && meet(incomplete, i, complete_by_end, j);
            let left = i > 0 && meet(incomplete, j, complete_by_end, i);
            if right {
                set(complete, i, j);
                set(complete_by_end, j, i);
            }
            if left {
                set(complete, j, i);
                set(complete_down, j, i - 1);
                set(complete_by_end, i, j);
            }
        }
    }
    complete[words / 64] >> (words % 64) & 1 == 1
}

/// A number of trees; `None` means 2¹²⁸ or more.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Count(Option<u128>);

impl Semiring for Count {
    fn zero() -> Self {
        Count(Some(0))
    }
    fn one() -> Self {
        Count(Some(1))
    }
    fn plus(&self, other: &Self) -> Self {
        Count(self.0.zip(other.0).and_then(|(x, y)| x.checked_add(y)))
    }
    fn times(&self, other: &Self) -> Self {
        // 0 times an overflow is 0.
        if *self == Self::zero() || *other == Self::zero() {
            return Self::zero();
        }
        Count(self.0.zip(other.0).and_then(|(x, y)| x.checked_mul(y)))
    }
}

/// Returns the exact number of trees with a finite score; `None` if it does not fit.
pub(crate) fn count(scores: &ArcMatrix, roots: Roots) -> Option<u128> {
    let allowed = |head, modifier| {
        let one = scores[(head, modifier)] > f64::NEG_INFINITY;
        Count(Some(u128::from(one)))
    };
    Chart::default().inside(scores.words(), roots, allowed).0
}
