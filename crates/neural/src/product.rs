//! Products of matrices that are views of slices.
//!
//! The crate `gemm-f32` chooses AVX-512, AVX2 with fused multiply-add, or Neon at run time. Its entry takes
//! pointers, so this module holds the one `unsafe` call of the crate, behind checked bounds. A call uses one
//! thread.

use std::ops::Range;

use gemm_common::Parallelism;

/// Matrix inside a slice: element (i, j) is at `i * row_stride + j * column_stride`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> View<'a> {
    /// A matrix whose rows follow each other without a gap.
    pub(crate) fn new(data: &'a [f32], rows: usize, columns: usize) -> Self {
        Self::strided(data, rows, columns, columns)
    }

    /// A matrix whose rows start `row_stride` elements apart.
    pub(crate) fn strided(data: &'a [f32], rows: usize, columns: usize, row_stride: usize) -> Self {
        check(data.len(), rows, columns, row_stride);
        Self { data, rows, columns, row_stride, column_stride: 1 }
    }

    /// The matrix of some of the columns.
    fn columns(self, columns: Range<usize>) -> Self {
        let start = (columns.start * self.column_stride).min(self.data.len());
        Self { data: &self.data[start..], columns: columns.len(), ..self }
    }

    /// The transposed matrix.
    pub(crate) fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

/// Panics unless a matrix of this shape lies inside a slice of this length.
fn check(len: usize, rows: usize, columns: usize, row_stride: usize) {
    if rows > 0 && columns > 0 {
        assert!(
            row_stride >= columns && (rows - 1) * row_stride + columns <= len,
            "matrix is inside its slice"
        );
    }
}

/// Mode of writing a product: in place of the output, or added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    /// The product replaces the output.
    Replace,
    /// The product is added to the output.
    Add,
}

/// Computes out = scale·a·b, or out += scale·a·b. Rows of `out` start `out_stride` elements apart.
///
/// Cost: 2·rows·columns·depth operations.
pub(crate) fn multiply(
    a: View<'_>,
    b: View<'_>,
    scale: f32,
    out: &mut [f32],
    out_stride: usize,
    write: Write,
) {
    call(a, b, scale, out, out_stride, write, false);
}

/// Depth of one call of the kernel in [`multiply_rows`]. Up to this depth, the kernel never divides a sum.
const DEPTH: usize = 512;

/// Computes out = a·b, or out += a·b, so that a row of `out` has the same bits whatever the number of rows.
///
/// [`multiply`] has special kernels for few rows, and divides long sums by the shape of the product. Here, one kernel
/// adds along the depth in blocks of [`DEPTH`]. So a sentence has the same scores in every batch.
pub(crate) fn multiply_rows(
    a: View<'_>,
    b: View<'_>,
    out: &mut [f32],
    out_stride: usize,
    mut write: Write,
) {
    assert_eq!(a.columns, b.rows, "inner sizes agree");
    let depth = a.columns;
    // A product of depth 0 still replaces the output.
    for start in (0..depth.max(1)).step_by(DEPTH) {
        let part = start..depth.min(start + DEPTH);
        let b = b.transposed().columns(part.clone()).transposed();
        call(a.columns(part), b, 1.0, out, out_stride, write, true);
        write = Write::Add;
    }
}

/// Calls the kernel. With `has_one_kernel`, special kernels for small shapes are not used.
fn call(
    a: View<'_>,
    b: View<'_>,
    scale: f32,
    out: &mut [f32],
    out_stride: usize,
    write: Write,
    has_one_kernel: bool,
) {
    assert_eq!(a.columns, b.rows, "inner sizes agree");
    let (rows, columns, depth) = (a.rows, b.columns, a.columns);
    check(out.len(), rows, columns, out_stride);
    if rows == 0 || columns == 0 {
        return;
    }
    if depth == 0 {
        if write == Write::Replace {
            for row in 0..rows {
                out[row * out_stride..row * out_stride + columns].fill(0.0);
            }
        }
        return;
    }
    // The kernel prefers columns, so it computes the transposed product: outᵀ = bᵀ·aᵀ.
    let kernel = gemm_f32::gemm::f32::get_gemm_fn();
    #[allow(unsafe_code)]
    // SAFETY: `View` and the checks above keep every element that the kernel reads or writes inside its
    // slice, `out` is borrowed mutably, and rows of `out` do not overlap.
    unsafe {
        kernel(
            columns,
            rows,
            depth,
            out.as_mut_ptr(),
            out_stride as isize,
            1,
            write == Write::Add,
            b.data.as_ptr(),
            b.row_stride as isize,
            b.column_stride as isize,
            a.data.as_ptr(),
            a.row_stride as isize,
            a.column_stride as isize,
            1.0,
            scale,
            // Real numbers are their own conjugates, and only the general kernel knows conjugates.
            has_one_kernel,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn random(n: usize, random: &mut Random) -> Vec<f32> {
        (0..n).map(|_| random.normal()).collect()
    }

    #[test]
    fn agrees_with_three_loops() {
        let mut stream = Random::new(1);
        for (rows, columns, depth) in
            [(1, 1, 1), (3, 5, 2), (17, 33, 40), (64, 1, 7), (1, 70, 9), (2, 2, 0)]
        {
            for (transpose_a, transpose_b) in
                [(false, false), (true, false), (false, true), (true, true)]
            {
                let a = random(rows * depth, &mut stream);
                let b = random(depth * columns, &mut stream);
                let view_a = if transpose_a {
                    View::new(&a, depth, rows).transposed()
                } else {
                    View::new(&a, rows, depth)
                };
                let view_b = if transpose_b {
                    View::new(&b, columns, depth).transposed()
                } else {
                    View::new(&b, depth, columns)
                };
                let stride = columns + 3;
                let mut out = vec![1.0; rows * stride];
                multiply(view_a, view_b, 0.5, &mut out, stride, Write::Add);
                for i in 0..rows {
                    for j in 0..columns {
                        let at = |v: View<'_>, i: usize, j: usize| {
                            v.data[i * v.row_stride + j * v.column_stride]
                        };
                        let sum: f32 =
                            (0..depth).map(|k| at(view_a, i, k) * at(view_b, k, j)).sum();
                        let expected = 1.0 + 0.5 * sum;
                        assert!((out[i * stride + j] - expected).abs() < 1e-4);
                    }
                    assert_eq!(out[i * stride + columns..(i + 1) * stride], [1.0; 3]);
                }
            }
        }
    }

    #[test]
    fn a_row_has_the_same_bits_whatever_the_number_of_rows() {
        let mut stream = Random::new(2);
        // Shapes of scorers, of layers, and tiny ones, with one and with several blocks of the depth.
        let shapes =
            [(17, 384), (1, 9), (3, 2), (40, 1), (70, 100), (33, 1536), (50, 768), (600, 40)];
        for (columns, depth) in shapes {
            let rows = 150;
            let x = random(rows * depth, &mut stream);
            let weight = random(columns * depth, &mut stream);
            let bias = random(columns, &mut stream);
            let product = |first: usize, count: usize| {
                let mut out: Vec<f32> =
                    bias.iter().copied().cycle().take(count * columns).collect();
                let x = View::new(&x[first * depth..], count, depth);
                let weight = View::new(&weight, columns, depth).transposed();
                multiply_rows(x, weight, &mut out, columns, Write::Add);
                out
            };
            let all = product(0, rows);
            for (first, count) in [(0, 1), (7, 2), (3, 11), (20, 63), (80, 65), (149, 1)] {
                let alone = product(first, count);
                let expected = &all[first * columns..][..count * columns];
                let is_same = alone.iter().zip(expected).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(is_same, "{count} of {rows} rows, {columns} columns, depth {depth}");
            }
            for (i, out) in all.chunks(columns).enumerate() {
                for (j, out) in out.iter().enumerate() {
                    let pairs = x[i * depth..][..depth].iter().zip(&weight[j * depth..]);
                    let sum: f64 = pairs.map(|(x, w)| f64::from(x * w)).sum();
                    let expected = f64::from(bias[j]) + sum;
                    assert!((f64::from(*out) - expected).abs() < 1e-3, "{out} is not {expected}");
                }
            }
        }
        let mut out = [1.0; 6];
        multiply_rows(View::new(&[], 2, 0), View::new(&[], 0, 3), &mut out, 3, Write::Replace);
        assert_eq!(out, [0.0; 6]);
    }

    #[test]
    #[should_panic(expected = "matrix is inside its slice")]
    fn declines_a_view_outside_of_its_slice() {
        let _ = View::new(&[0.0; 5], 2, 3);
    }
}
