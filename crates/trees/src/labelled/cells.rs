//! Sums over the labels of arcs. One call handles all cells, so that vector units are detected once per matrix.
//!
//! A cell is the scores x_ℓ of the labels of one arc; weights e^(x − max x) cannot overflow.

use crate::exp::exp;
use crate::simd::{LANES, dispatched, pairwise};

/// The highest score of a cell; −∞ if all labels are forbidden.
#[inline(always)]
fn highest(cell: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let (chunks, rest) = cell.as_chunks::<LANES>();
    let mut high = [f64::NEG_INFINITY; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            high[lane] = larger(high[lane], chunk[lane]);
        }
    }
    let rest = rest.iter().fold(f64::NEG_INFINITY, |high, &x| larger(high, x));
    high.into_iter().fold(rest, larger)
}

/// Σ of (e^x, x·e^x), x relative to `high`, which must be finite.
#[inline(always)]
fn moments(cell: &[f64], high: f64) -> (f64, f64) {
    // A forbidden label has weight 0, and 0 · −∞ counts as 0.
    let term = |x: f64| {
        let below = x - high;
        let weight = exp(below);
        (weight, if weight > 0.0 { weight * below } else { 0.0 })
    };
    let (chunks, rest) = cell.as_chunks::<LANES>();
    let (mut sums, mut means) = ([0.0; LANES], [0.0; LANES]);
    for chunk in chunks {
        for lane in 0..LANES {
            let (weight, product) = term(chunk[lane]);
            sums[lane] += weight;
            means[lane] += product;
        }
    }
    let (mut sum, mut mean) = (0.0, 0.0);
    for &x in rest {
        let (weight, product) = term(x);
        sum += weight;
        mean += product;
    }
    (pairwise(sums) + sum, pairwise(means) + mean)
}

/// Σ e^x, x relative to `high`.
#[inline(always)]
fn weight(cell: &[f64], high: f64) -> f64 {
    let (chunks, rest) = cell.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += exp(chunk[lane] - high);
        }
    }
    let rest: f64 = rest.iter().map(|&x| exp(x - high)).sum();
    pairwise(sums) + rest
}

dispatched! {
    /// Writes ln Σ_ℓ e^{x_ℓ} of every cell; −∞ where all labels are forbidden.
    pub(super) fn log_sums(values: &[f64], labels: usize, out: &mut Vec<f64>) {
        out.clear();
        for cell in values.chunks_exact(labels.max(1)) {
            let high = highest(cell);
            out.push(if high > f64::NEG_INFINITY { high + weight(cell, high).ln() } else { high });
        }
    }
}

dispatched! {
    /// Writes H(ℓ) = ln Σ_ℓ e^{x_ℓ} − Σ_ℓ p(ℓ)·x_ℓ of every cell; 0 where all labels are forbidden.
    pub(super) fn entropies(values: &[f64], labels: usize, out: &mut Vec<f64>) {
        out.clear();
        for cell in values.chunks_exact(labels.max(1)) {
            let high = highest(cell);
            out.push(if high > f64::NEG_INFINITY {
                let (sum, mean) = moments(cell, high);
                (sum.ln() - mean / sum).max(0.0)
            } else {
                0.0
            });
        }
    }
}

dispatched! {
    /// Writes p(ℓ) = e^{x_ℓ} / Σ e^x of one cell; all zero where all labels are forbidden. Computed relative
    /// to the best label: ln Σ e^x may be too large to distinguish labels.
    pub(super) fn softmax(cell: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(cell.len(), 0.0);
        let high = highest(cell);
        if high == f64::NEG_INFINITY {
            return;
        }
        for (out, &x) in out.iter_mut().zip(cell) {
            *out = exp(x - high);
        }
        let (chunks, rest) = out.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for chunk in chunks {
            for lane in 0..LANES {
                sums[lane] += chunk[lane];
            }
        }
        let sum = pairwise(sums) + rest.iter().sum::<f64>();
        out.iter_mut().for_each(|out| *out /= sum);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares with the definitions, summed in another order by the standard library's functions.
        #[test]
        fn sums_are_what_they_are_called(
            labels in 1usize..30,
            mut values in proptest::collection::vec(
                prop_oneof![4 => -40.0..40.0f64, 1 => Just(f64::NEG_INFINITY), 1 => -1e9..1e9f64],
                1..90,
            ),
        ) {
            values.resize(values.len().next_multiple_of(labels), f64::NEG_INFINITY);
            let mut sums = Vec::new();
            let mut found = Vec::new();
            let mut shares = Vec::new();
            log_sums(&values, labels, &mut sums);
            entropies(&values, labels, &mut found);
            for ((cell, sum), entropy) in values.chunks(labels).zip(&sums).zip(&found) {
                softmax(cell, &mut shares);
                let high = cell.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                if high == f64::NEG_INFINITY {
                    prop_assert!(*sum == high && *entropy == 0.0 && shares.iter().all(|p| *p == 0.0));
                    continue;
                }
                let total: f64 = cell.iter().map(|x| (x - high).exp()).sum();
                prop_assert!((sum - (high + total.ln())).abs() <= 1e-12 * sum.abs().max(1.0));
                prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let mut expected = 0.0;
                for (share, x) in shares.iter().zip(cell) {
                    let p = (x - high).exp() / total;
                    prop_assert!((share - p).abs() < 1e-14);
                    expected -= if p > 0.0 { p * p.ln() } else { 0.0 };
                }
                prop_assert!((entropy - expected).abs() < 1e-11, "{entropy} {expected}");
            }
        }
    }
}
