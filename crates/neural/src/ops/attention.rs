//! Attention of one sequence to itself, with several heads (Vaswani et al. 2017).
//!
//! For each head: P = softmax(Q·Kᵀ/√d), C = P·V. `qkv` is [n × 3·hidden]: queries, keys, values of all heads. With
//! dropout, P is masked before it meets V. Backward, with dP = dC·Vᵀ masked: dV = Pᵀ·dC, dS = P·(dP − Σ P·dP),
//! dQ = dS·K/√d, dK = dSᵀ·Q/√d. Cost: 4·n²·hidden operations forward, 8·n²·hidden backward. Nothing is padded:
//! callers run one sequence at a time. With a window, P is zero beyond that distance.

use super::{dropout, softmax};
use crate::product::{View, Write, multiply};

/// Sizes of attention, and its dropout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention {
    pub(crate) hidden: usize,
    pub(crate) heads: usize,
    pub(crate) dropout: f32,
    pub(crate) seed: u32,
    /// Greatest distance of rows that see each other; `None` for any distance.
    pub(crate) window: Option<usize>,
}

impl Attention {
    fn head_width(&self) -> usize {
        self.hidden / self.heads
    }

    fn scale(&self) -> f32 {
        1.0 / (self.head_width() as f32).sqrt()
    }

    /// View of queries (part 0), keys (part 1) or values (part 2) of one head.
    fn part<'a>(&self, qkv: &'a [f32], n: usize, part: usize, head: usize) -> View<'a> {
        let width = self.head_width();
        View::strided(&qkv[part * self.hidden + head * width..], n, width, 3 * self.hidden)
    }

    fn seed(&self, head: usize) -> u32 {
        self.seed.wrapping_add((head as u32).wrapping_mul(0x85eb_ca6b))
    }

    /// Computes the context [n × hidden], and keeps P [heads × n × n], without its mask.
    pub(crate) fn forward(
        &self,
        n: usize,
        qkv: &[f32],
        probs: &mut [f32],
        context: &mut [f32],
        scratch: &mut Vec<f32>,
    ) {
        let width = self.head_width();
        for (head, probs) in probs.chunks_exact_mut(n * n).enumerate() {
            let keys = self.part(qkv, n, 1, head).transposed();
            multiply(self.part(qkv, n, 0, head), keys, self.scale(), probs, n, Write::Replace);
            if let Some(window) = self.window {
                fill_far(probs, n, window, f32::NEG_INFINITY);
                softmax::forward(probs, n);
                fill_far(probs, n, window, 0.0);
            } else {
                softmax::forward(probs, n);
            }
            let masked = self.masked(probs, head, scratch);
            let values = self.part(qkv, n, 2, head);
            multiply(
                View::new(masked, n, n),
                values,
                1.0,
                &mut context[head * width..],
                self.hidden,
                Write::Replace,
            );
        }
    }

    /// Returns P under its mask.
    fn masked<'a>(&self, probs: &'a [f32], head: usize, scratch: &'a mut Vec<f32>) -> &'a [f32] {
        if self.dropout <= 0.0 {
            return probs;
        }
        scratch.clear();
        scratch.extend_from_slice(probs);
        dropout::apply(scratch, self.dropout, self.seed(head));
        scratch
    }

    /// Computes the gradient of `qkv` from that of the context.
    pub(crate) fn backward(
        &self,
        n: usize,
        qkv: &[f32],
        probs: &[f32],
        d_context: &[f32],
        d_qkv: &mut [f32],
        scratch: &mut [Vec<f32>; 2],
    ) {
        let width = self.head_width();
        let stride = 3 * self.hidden;
        let [masked, d_probs] = scratch;
        d_probs.resize(n * n, 0.0);
        for (head, probs) in probs.chunks_exact(n * n).enumerate() {
            let [at_queries, at_keys, at_values] =
                [0, 1, 2].map(|part| part * self.hidden + head * width);
            let d_context = View::strided(&d_context[head * width..], n, width, self.hidden);
            let masked = View::new(self.masked(probs, head, masked), n, n);
            multiply(
                masked.transposed(),
                d_context,
                1.0,
                &mut d_qkv[at_values..],
                stride,
                Write::Replace,
            );
            let values = self.part(qkv, n, 2, head).transposed();
            multiply(d_context, values, 1.0, d_probs, n, Write::Replace);
            dropout::apply(d_probs, self.dropout, self.seed(head));
            softmax::backward(probs, d_probs, n);
            let d_scores = View::new(d_probs, n, n);
            let keys = self.part(qkv, n, 1, head);
            multiply(
                d_scores,
                keys,
                self.scale(),
                &mut d_qkv[at_queries..],
                stride,
                Write::Replace,
            );
            let queries = self.part(qkv, n, 0, head);
            multiply(
                d_scores.transposed(),
                queries,
                self.scale(),
                &mut d_qkv[at_keys..],
                stride,
                Write::Replace,
            );
        }
    }
}

/// Sets all elements of a matrix of [n × n] that are farther than `window` from the diagonal.
fn fill_far(matrix: &mut [f32], n: usize, window: usize, value: f32) {
    for (i, row) in matrix.chunks_exact_mut(n).enumerate() {
        row[..i.saturating_sub(window)].fill(value);
        row[n.min(i.saturating_add(window).saturating_add(1))..].fill(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check;

    #[test]
    fn gradients() {
        let cases =
            [(1, 0.0, None), (4, 0.0, None), (7, 0.3, None), (7, 0.0, Some(2)), (5, 0.3, Some(0))];
        for (n, dropout, window) in cases {
            let attention = Attention { hidden: 6, heads: 2, dropout, seed: 5, window };
            let qkv = check::random(n * 18, 1);
            let wanted = check::random(n * 6, 2);
            let mut probs = vec![0.0; 2 * n * n];
            let mut context = vec![0.0; n * 6];
            attention.forward(n, &qkv, &mut probs, &mut context, &mut Vec::new());
            let mut d_qkv = vec![0.0; qkv.len()];
            attention.backward(n, &qkv, &probs, &wanted, &mut d_qkv, &mut Default::default());
            check::gradient(&qkv, &d_qkv, |qkv| {
                attention.forward(n, qkv, &mut probs, &mut context, &mut Vec::new());
                check::weighted(&context, &wanted)
            });
        }
    }

    #[test]
    fn rows_beyond_the_window_are_not_seen() {
        let (n, hidden) = (6, 4);
        let attention = Attention { hidden, heads: 2, dropout: 0.0, seed: 1, window: Some(1) };
        let run = |qkv: &[f32]| {
            let mut probs = vec![0.0; 2 * n * n];
            let mut context = vec![0.0; n * hidden];
            attention.forward(n, qkv, &mut probs, &mut context, &mut Vec::new());
            context
        };
        let qkv = check::random(n * 3 * hidden, 1);
        let mut other = qkv.clone();
        other[3 * 3 * hidden..4 * 3 * hidden].fill(7.0);
        let [a, b] = [run(&qkv), run(&other)];
        for row in 0..n {
            let rows = row * hidden..(row + 1) * hidden;
            assert_eq!(a[rows.clone()] == b[rows], row.abs_diff(3) > 1, "row {row}");
        }
    }
}
