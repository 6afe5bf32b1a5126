//! The operations of the networks: each has a forward and a backward function on row-major slices.
//!
//! A backward function takes the gradient of its output, `d_y`, and gives that of its inputs and weights.
//! Gradients of weights are added to what is there. Each operation is tested against finite differences.

pub(crate) mod activation;
pub(crate) mod attention;
pub(crate) mod biaffine;
pub(crate) mod dropout;
pub(crate) mod embedding;
pub(crate) mod exp;
pub(crate) mod linear;
pub(crate) mod mix;
pub(crate) mod norm;
pub(crate) mod pooling;
pub(crate) mod rotary;
pub(crate) mod softmax;

/// Number of partial sums of a reduction: one vector of AVX-512. The order of additions is fixed by it.
const LANES: usize = 16;

/// Adds up f(a, b) over two slices of the same length, in [`LANES`] partial sums.
#[inline(always)]
pub(crate) fn sum_pairs(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut sums = [0.0; LANES];
    let (chunks_a, rest_a) = a.as_chunks::<LANES>();
    let (chunks_b, rest_b) = b.as_chunks::<LANES>();
    for (x, y) in chunks_a.iter().zip(chunks_b) {
        for lane in 0..LANES {
            sums[lane] += f(x[lane], y[lane]);
        }
    }
    let mut total = 0.0;
    for (&x, &y) in rest_a.iter().zip(rest_b) {
        total += f(x, y);
    }
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            sums[lane] += sums[lane + half];
        }
    }
    total + sums[0]
}

tutte_simd::dispatched! {
    /// Returns Σ a·b.
    pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
        sum_pairs(a, b, |x, y| x * y)
    }
}

tutte_simd::dispatched! {
    /// Computes out += factor·x.
    pub(crate) fn add_scaled(out: &mut [f32], factor: f32, x: &[f32]) {
        for (out, &x) in out.iter_mut().zip(x) {
            *out += factor * x;
        }
    }
}

/// Helpers of the tests of operations.
#[cfg(test)]
pub(crate) mod check {
    use crate::random::Random;

    pub(crate) fn random(n: usize, seed: u64) -> Vec<f32> {
        let mut stream = Random::new(seed);
        (0..n).map(|_| stream.normal()).collect()
    }

    /// Compares the gradient of a function with central differences along every coordinate.
    pub(crate) fn gradient(at: &[f32], found: &[f32], mut f: impl FnMut(&[f32]) -> f64) {
        let step = 1e-2f32;
        let scale = found.iter().fold(1.0f32, |scale, g| scale.max(g.abs()));
        let mut point = at.to_vec();
        for i in 0..at.len() {
            point[i] = at[i] + step;
            let above = f(&point);
            point[i] = at[i] - step;
            let below = f(&point);
            point[i] = at[i];
            let expected = ((above - below) / (2.0 * f64::from(step))) as f32;
            let error = (expected - found[i]).abs();
            assert!(
                error < 3e-3 * scale,
                "coordinate {i}: {} by hand, {expected} by differences",
                found[i]
            );
        }
    }

    /// Returns Σ weight·y in double precision: a function whose gradient in y is `weight`.
    pub(crate) fn weighted(y: &[f32], weight: &[f32]) -> f64 {
        y.iter().zip(weight).map(|(&y, &w)| f64::from(y) * f64::from(w)).sum()
    }
}
