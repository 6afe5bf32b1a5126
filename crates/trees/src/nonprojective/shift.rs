//! Scaling that costs no accuracy: whole columns, and in single-root sets the root's row.
//!
//! Every word has one head, so subtracting c_m from column m (root arc included) subtracts c_m from
//! every tree. A single-root tree has one root arc, so subtracting c₀ from all root arcs subtracts c₀
//! from every tree. Marginals do not change and ln Z changes by Σ c_m (+ c₀).

use crate::simd::dispatched;
use crate::{ArcMatrix, tree_set::Roots};

/// The amounts to subtract, chosen so that the largest weight of a column becomes 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shift {
    /// c_m at m−1.
    pub(crate) column: Vec<f64>,
    /// c₀: zero unless single-root.
    pub(crate) root: f64,
    /// Σ c_m + c₀, to be added back to ln Z.
    pub(crate) total: f64,
    /// The word whose root arc exceeds its best word head by most: a likely root.
    pub(crate) likely_root: usize,
}

impl Shift {
    /// Fills `self` for these scores. Returns `false` if some word has no head, or if no word may be
    /// the root: then there is no tree.
    pub(crate) fn measure(&mut self, scores: &ArcMatrix, roots: Roots) -> bool {
        let n = scores.words();
        self.column.clear();
        self.column.resize(n, f64::NEG_INFINITY);
        column_maxima(scores, &mut self.column);
        let root_row = &scores.row(0)[1..];
        self.root = 0.0;
        self.likely_root = 1;
        match roots {
            Roots::Multi => {
                for (shift, &root) in self.column.iter_mut().zip(root_row) {
                    *shift = shift.max(root);
                }
                if self.column.contains(&f64::NEG_INFINITY) {
                    return false;
                }
            }
            Roots::Single => {
                self.root = f64::NEG_INFINITY;
                for (m, (shift, &root)) in self.column.iter_mut().zip(root_row).enumerate() {
                    if *shift == f64::NEG_INFINITY {
                        *shift = 0.0;
                    }
                    if root - *shift > self.root {
                        self.root = root - *shift;
                        self.likely_root = m + 1;
                    }
                }
                if self.root == f64::NEG_INFINITY && n > 0 {
                    return false;
                }
                if n == 0 {
                    self.root = 0.0;
                }
            }
        }
        self.total = self.column.iter().sum::<f64>() + self.root;
        true
    }
}

dispatched! {
    /// Writes the maximum over word heads h of θ\[h\]\[m\] into `maxima[m − 1]`.
    fn column_maxima(scores: &ArcMatrix, maxima: &mut [f64]) {
        let raise = |maxima: &mut [f64], row: &[f64]| {
            for (top, &score) in maxima.iter_mut().zip(row) {
                *top = if score > *top { score } else { *top };
            }
        };
        for head in 1..=scores.words() {
            let row = &scores.row(head)[1..];
            let (before, after) = maxima.split_at_mut(head - 1);
            raise(before, &row[..head - 1]);
            raise(&mut after[1..], &row[head..]);
        }
    }
}
