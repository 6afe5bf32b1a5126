//! Subtraction-free elimination of `f64` matrices, four pivots at a time.
//!
//! The matrix has rows 0..=n (row 0 the root) and a column for each of the positions 1..=n, rows
//! `stride` apart. Eliminating position k, from n downwards, adds to every active entry
//! N\[i\]\[j\] the product F\[i\]·N\[k\]\[j\] with F\[i\] = N\[i\]\[k\]/d and the pivot d = Σ N\[i\]\[k\] over active i.
//! One pivot at a time, that would read and write the whole matrix for one multiply–add per entry.
//! Instead, a block of pivots is first eliminated within its own rows and columns. Then the rest of
//! the matrix takes all updates of the block in one pass. Every entry takes them in the same order
//! (and with the same bits) as with one pivot at a time.

use crate::simd::{LANES, add_four_products, add_scaled, pairwise};

/// Number of pivots eliminated together.
const BLOCK: usize = 4;

/// Scratch memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockWorkspace {
    /// F of the pivots of the block: BLOCK columns of one value per row.
    factors: Vec<f64>,
    /// The pivot rows of the block as they were when used.
    pivot_rows: Vec<f64>,
}

/// Eliminates positions n, n−1, …, `keep`+1. Rows from `first_active` on count in pivots.
///
/// With `INVERT`, the update reaches all rows and columns, which makes it the sweep of
/// [`super::sweep`]; without, only the active ones. Calls `each` for every pivot with its position, d,
/// and F of the rows before it. Stops and returns `false` as soon as `each` returns `false`.
#[inline(always)]
pub(super) fn eliminate<const INVERT: bool>(
    matrix: &mut [f64],
    (n, stride): (usize, usize),
    first_active: usize,
    keep: usize,
    ws: &mut BlockWorkspace,
    mut each: impl FnMut(usize, f64, &[f64]) -> bool,
) -> bool {
    let tall = (n + 1).next_multiple_of(LANES);
    ws.factors.resize((BLOCK * tall).max(ws.factors.len()), 0.0);
    ws.pivot_rows.resize((BLOCK * stride).max(ws.pivot_rows.len()), 0.0);
    let factors = &mut ws.factors[..BLOCK * tall];
    let pivot_rows = &mut ws.pivot_rows[..BLOCK * stride];

    let mut high = n;
    while high > keep {
        let size = BLOCK.min(high - keep);
        let low = high + 1 - size; // the block is positions low..=high, swept from high down
        let rows = if INVERT { n + 1 } else { high + 1 };
        let width = if INVERT { stride } else { low.next_multiple_of(LANES).min(stride) };
        let block_width = if INVERT { stride } else { high.next_multiple_of(LANES).min(stride) };
        if size < BLOCK {
            // The missing pivots of a short last block take part with factor 0.
            factors[size * tall..].fill(0.0);
            pivot_rows[size * stride..].fill(0.0);
        }

        // Copy the block's columns, last pivot first. Rows outside the block start at 0 there: each
        // takes its factor at the pivot's own step, and then the updates of the later steps.
        for i in 0..rows {
            let outside = i < low || i > high;
            let entries = &mut matrix[i * stride + low - 1..i * stride + high];
            if let Some(entries) = entries.as_mut_array::<BLOCK>() {
                for s in 0..BLOCK {
                    factors[s * tall + i] = entries[BLOCK - 1 - s];
                }
                if outside {
                    *entries = [0.0; BLOCK];
                }
            } else {
                for s in 0..size {
                    factors[s * tall + i] = entries[size - 1 - s];
                    if outside {
                        entries[size - 1 - s] = 0.0;
                    }
                }
            }
        }
        for s in 0..size {
            let pivot = high - s;
            let column = pivot - 1;
            // Bring the pivot's column up to date outside the block; inside it already is.
            let (earlier, rest) = factors.split_at_mut(s * tall);
            let current = &mut rest[..tall];
            for t in 0..s {
                let entry = pivot_rows[t * stride + column];
                add_scaled(current, entry, &earlier[t * tall..(t + 1) * tall]);
            }
            for i in low..=high {
                current[i] = matrix[i * stride + column];
            }
            let sum = sum_between(current, first_active, pivot);
            let inverse = 1.0 / sum;
            for factor in current.iter_mut() {
                *factor *= inverse;
            }
            if !each(pivot, sum, &current[..pivot]) {
                return false;
            }
            // Update the block's own rows immediately.
            let pivot_row = &mut pivot_rows[s * stride..s * stride + block_width];
            pivot_row.copy_from_slice(&matrix[pivot * stride..pivot * stride + block_width]);
            let eager = if INVERT { low..high + 1 } else { low..pivot };
            for i in eager {
                if i == pivot {
                    continue;
                }
                let row = &mut matrix[i * stride..i * stride + block_width];
                add_scaled(row, current[i], pivot_row);
                row[column] = current[i];
            }
            if INVERT {
                for value in &mut matrix[pivot * stride..(pivot + 1) * stride] {
                    *value *= inverse;
                }
                matrix[pivot * stride + column] = inverse;
            }
        }

        if INVERT {
            for s in 0..size {
                let column = high - s - 1;
                for t in 0..s {
                    pivot_rows[t * stride + column] = 0.0;
                }
                pivot_rows[s * stride + column] = 1.0;
            }
        }
        let (above, below) = matrix.split_at_mut(low * stride);
        add_four_products(above, stride, width, factors, [1, tall], pivot_rows);
        if INVERT {
            let below = &mut below[size * stride..];
            let factors = &factors[high + 1..];
            add_four_products(below, stride, width, factors, [1, tall], pivot_rows);
        }
        high -= size;
    }
    true
}

/// Returns Σ values\[from..to\], reading whole vectors: values outside the range count as zero.
#[inline(always)]
fn sum_between(values: &[f64], from: usize, to: usize) -> f64 {
    let mut sums = [0.0; LANES];
    for (chunk, values) in values.as_chunks::<LANES>().0[..to.div_ceil(LANES)].iter().enumerate() {
        for lane in 0..LANES {
            let at = chunk * LANES + lane;
            sums[lane] += if from <= at && at < to { values[lane] } else { 0.0 };
        }
    }
    pairwise(sums)
}
