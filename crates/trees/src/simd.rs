//! Vector kernels with a fixed order of additions.
//!
//! The kernels are plain loops over slices, compiled for each vector unit by [`dispatched!`]. No version
//! uses fused multiply-add and every reduction has a fixed order ([`LANES`]), so all versions give the
//! same bits. A seed therefore gives the same sample, and training the same weights, on every machine.

pub(crate) use tutte_simd::dispatched;

/// Number of partial sums of every reduction, for any vector width. The order of additions, and
/// therefore the rounding, does not depend on the machine.
pub(crate) const LANES: usize = 8;

/// Σ a·b in a fixed order: eight running sums, then pairwise.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let mut rest = 0.0;
    for (x, y) in a_rest.iter().zip(b_rest) {
        rest += x * y;
    }
    pairwise(sums) + rest
}

/// The sum of partial sums, in a fixed order.
#[inline(always)]
pub(crate) fn pairwise(s: [f64; LANES]) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// `y += factor · x`.
#[inline(always)]
pub(crate) fn add_scaled(y: &mut [f64], factor: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

dispatched! {
    /// `y[i] += f[i][0]·x[0] + f[i][1]·x[1] + …` for every row i of `rows` and the four rows of `x`,
    /// `width` columns of rows `stride` apart; f\[i\]\[s\] is `factors[i·steps[0] + s·steps[1]]`.
    ///
    /// Four products per load and store of y, and two rows per load of x. Each y takes its terms
    /// in the order of s: the same bits as four calls of [`add_scaled`].
    pub(crate) fn add_four_products(
        rows: &mut [f64],
        stride: usize,
        width: usize,
        factors: &[f64],
        steps: [usize; 2],
        x: &[f64],
    ) {
        let (x0, rest) = x.split_at(stride);
        let (x1, rest) = rest.split_at(stride);
        let (x2, x3) = rest.split_at(stride);
        let x = [&x0[..width], &x1[..width], &x2[..width], &x3[..width]];
        let factors_of = |i: usize| [0, 1, 2, 3].map(|s| factors[i * steps[0] + s * steps[1]]);

        let mut pairs = rows.chunks_exact_mut(2 * stride);
        let mut i = 0;
        for pair in &mut pairs {
            let (y0, y1) = pair.split_at_mut(stride);
            let (y0, y1) = (&mut y0[..width], &mut y1[..width]);
            let (f, g) = (factors_of(i), factors_of(i + 1));
            for c in 0..width {
                let (x0, x1, x2, x3) = (x[0][c], x[1][c], x[2][c], x[3][c]);
                y0[c] = y0[c] + f[0] * x0 + f[1] * x1 + f[2] * x2 + f[3] * x3;
                y1[c] = y1[c] + g[0] * x0 + g[1] * x1 + g[2] * x2 + g[3] * x3;
            }
            i += 2;
        }
        for row in pairs.into_remainder().chunks_exact_mut(stride) {
            let f = factors_of(i);
            let y = &mut row[..width];
            for c in 0..width {
                y[c] = y[c] + f[0] * x[0][c] + f[1] * x[1][c] + f[2] * x[2][c] + f[3] * x[3][c];
            }
        }
    }
}
