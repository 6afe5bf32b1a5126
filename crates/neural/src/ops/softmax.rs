//! Softmax and log-softmax of rows, and the cross-entropy.
//!
//! p = e^(x − max)/Σ e^(x − max). Backward of the softmax: dx = p·(dp − Σ p·dp).

use super::exp::exp;
use super::sum_pairs;

/// Largest element of a row; any order gives the same.
#[inline(always)]
fn largest(row: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; 16];
    let (chunks, rest) = row.as_chunks::<16>();
    for chunk in chunks {
        for lane in 0..16 {
            lanes[lane] = if chunk[lane] > lanes[lane] { chunk[lane] } else { lanes[lane] };
        }
    }
    lanes.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)
}

tutte_simd::dispatched! {
    /// Replaces every row by its softmax.
    pub(crate) fn forward(x: &mut [f32], width: usize) {
        for row in x.chunks_exact_mut(width) {
            let max = largest(row);
            for x in &mut *row {
                *x = exp(*x - max);
            }
            let scale = 1.0 / sum_pairs(row, row, |x, _| x);
            for x in row {
                *x *= scale;
            }
        }
    }
}

tutte_simd::dispatched! {
    /// Turns the gradient of the softmax `p` into that of its input, in place.
    pub(crate) fn backward(p: &[f32], d: &mut [f32], width: usize) {
        for (p, d) in p.chunks_exact(width).zip(d.chunks_exact_mut(width)) {
            let mean = sum_pairs(p, d, |p, d| p * d);
            for (d, &p) in d.iter_mut().zip(p) {
                *d = p * (*d - mean);
            }
        }
    }
}

tutte_simd::dispatched! {
    /// Replaces every row by its log-softmax.
    pub(crate) fn log_forward(x: &mut [f32], width: usize) {
        for row in x.chunks_exact_mut(width) {
            let max = largest(row);
            let shift = max + sum_pairs(row, row, |x, _| exp(x - max)).ln();
            for x in row {
                *x -= shift;
            }
        }
    }
}

/// Returns the cross-entropy −Σ t·log p in nats, and writes its gradient in the logits: p·Σt − t.
///
/// `log_probs` are the log-probabilities of one softmax, `target` the wanted probabilities. A target of one
/// class is a row with a single 1.
///
/// ```
/// use tutte_neural::cross_entropy;
/// let log_probs = [0.25f32.ln(), 0.75f32.ln()];
/// let mut gradient = [0.0; 2];
/// let loss = cross_entropy(&log_probs, &[0.0, 1.0], &mut gradient);
/// assert!((loss - 0.2876821).abs() < 1e-6);
/// assert!((gradient[0] - 0.25).abs() < 1e-6 && (gradient[1] + 0.25).abs() < 1e-6);
/// ```
pub fn cross_entropy(log_probs: &[f32], target: &[f32], gradient: &mut [f32]) -> f64 {
    let total: f32 = target.iter().sum();
    let mut loss = 0.0;
    for ((&log_p, &t), d) in log_probs.iter().zip(target).zip(gradient) {
        if t != 0.0 {
            loss -= f64::from(t) * f64::from(log_p);
        }
        *d = log_p.exp() * total - t;
    }
    loss
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check;

    #[test]
    fn gradients() {
        for (rows, width) in [(1, 1), (2, 3), (3, 40)] {
            let x = check::random(rows * width, 1);
            let wanted = check::random(rows * width, 2);
            let mut p = x.clone();
            forward(&mut p, width);
            for row in p.chunks(width) {
                assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            }
            let mut d = wanted.clone();
            backward(&p, &mut d, width);
            check::gradient(&x, &d, |x| {
                let mut p = x.to_vec();
                forward(&mut p, width);
                check::weighted(&p, &wanted)
            });
        }
    }

    #[test]
    fn cross_entropy_and_its_gradient() {
        for width in [1, 5] {
            let x = check::random(width, 5);
            let target: Vec<f32> = check::random(width, 6).iter().map(|x| x.abs()).collect();
            let loss = |x: &[f32], d: &mut [f32]| {
                let mut log_probs = x.to_vec();
                log_forward(&mut log_probs, width);
                cross_entropy(&log_probs, &target, d)
            };
            let mut d = vec![0.0; width];
            loss(&x, &mut d);
            check::gradient(&x, &d, |x| loss(x, &mut vec![0.0; width]));
        }
    }
}
