//! The outside pass: the derivative of the total by every item, in any semiring.
//!
//! With Ĉ, Î, B̂ = ∂Z/∂C, ∂Z/∂I, ∂Z/∂B and transposed copies, every rule of the chart read backwards is
//! again a dot product of two rows. For i < j:
//!
//! ```text
//! Ĉ[0][n] = 1
//! Ĉ[i][j] = Σ_{j'>j} B̂[i][j'] · C[j'][j+1]  +  Σ_{p<i} Ĉ[p][j] · I[p][i]
//! Ĉ[j][i] = Σ_{i'<i} B̂[i'][j] · C[i'][i−1]  +  Σ_{k>j} Ĉ[k][i] · I[k][j]
//! Î[i][j] = Σ_{j'≥j} Ĉ[i][j'] · C[j][j']         Î[j][i] = Σ_{i'≤i} Ĉ[j][i'] · C[i][i']
//! B̂       = Î[i][j] · w(i→j) + Î[j][i] · w(j→i)
//! ```
//!
//! The part of the total that contains an arc is I\[h\]\[m\] · Î\[h\]\[m\]. Θ(n³) products, twice as many as
//! inside.

use super::chart::Chart;
use crate::tree_set::Roots;
use crate::weight::Semiring;

/// Scratch memory of the pass.
#[derive(Clone, Debug)]
pub(super) struct Outside<S> {
    incomplete_by_modifier: Vec<S>,
    /// Ĉ by head and by end; B̂, symmetric.
    complete: Vec<S>,
    complete_by_end: Vec<S>,
    both: Vec<S>,
}

impl<S> Default for Outside<S> {
    fn default() -> Self {
        Self {
            incomplete_by_modifier: Vec::new(),
            complete: Vec::new(),
            complete_by_end: Vec::new(),
            both: Vec::new(),
        }
    }
}

impl<S: Semiring> Outside<S> {
    /// Calls `emit(head, modifier, I · Î)` for every arc. The chart must be filled with the same `arc`.
    #[inline(always)]
    pub(super) fn run(
        &mut self,
        chart: &Chart<S>,
        words: usize,
        roots: Roots,
        arc: impl Fn(usize, usize) -> S,
        mut emit: impl FnMut(usize, usize, S),
    ) {
        let side = words + 1;
        let Self { incomplete_by_modifier: by_modifier, complete, complete_by_end, both } = self;
        for cells in [&mut *by_modifier, &mut *complete, &mut *complete_by_end, &mut *both] {
            cells.clear();
            cells.resize(side * side, S::zero());
        }
        let (c, c_by_end, incomplete) =
            (chart.complete(), chart.complete_by_end(), chart.incomplete());
        for head in 0..side {
            for modifier in 1..side {
                by_modifier[modifier * side + head] = incomplete[head * side + modifier].clone();
            }
        }
        let row = |at: usize, from: usize, to: usize| at * side + from..at * side + to;
        for j in (1..side).rev() {
            for i in 0..j {
                if i == 0 && j == words {
                    complete[j] = S::one();
                    complete_by_end[j * side] = S::one();
                } else if i > 0 || roots == Roots::Multi {
                    let mut value =
                        S::dot(&complete_by_end[row(j, 0, i)], &by_modifier[row(i, 0, i)]);
                    if j < words {
                        value = value.plus(&S::dot(
                            &both[row(i, j + 1, side)],
                            &c_by_end[row(j + 1, j + 1, side)],
                        ));
                    }
                    complete[i * side + j] = value.clone();
                    complete_by_end[j * side + i] = value;
                }
                let right = S::dot(&complete[row(i, j, side)], &c[row(j, j, side)]);
                emit(i, j, right.times(&incomplete[i * side + j]));
                let mut span = right.times(&arc(i, j));
                if i > 0 {
                    let value = S::dot(&both[row(j, 0, i)], &c_by_end[row(i - 1, 0, i)]);
                    let value = value.plus(&S::dot(
                        &complete_by_end[row(i, j + 1, side)],
                        &by_modifier[row(j, j + 1, side)],
                    ));
                    complete[j * side + i] = value.clone();
                    complete_by_end[i * side + j] = value;
                    let left = S::dot(&complete[row(j, 1, i + 1)], &c[row(i, 1, i + 1)]);
                    emit(j, i, left.times(&incomplete[j * side + i]));
                    span = span.plus(&left.times(&arc(j, i)));
                }
                both[i * side + j] = span.clone();
                both[j * side + i] = span;
            }
        }
    }
}
