//! Attention of one sequence to itself, with several heads (Vaswani et al. 2017).
//!
//! For each head: P = softmax(Q·Kᵀ/√d), C = P·V. `qkv` is [n × 3·hidden]: queries, keys, values of all heads. With
//! dropout, P is masked before it meets V. Backward, with dP = dC·Vᵀ masked: dV = Pᵀ·dC, dS = P·(dP − Σ P·dP),
//! dQ = dS·K/√d, dK = dSᵀ·Q/√d. Cost: 4·n²·hidden operations forward, 8·n²·hidden backward. Nothing is padded:
//! callers run one sequence at a time.

use super::{dropout, softmax};
use crate::product::{View, Write, multiply};

/// Sizes of attention, and its dropout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention {
    pub(crate) hidden: usize,
    pub(crate) heads: usize,
    pub(crate) dropout: f32,
    pub(crate) seed: u32,
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
            softmax::forward(probs, n);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check;

    #[test]
    fn gradients() {
        for (n, dropout) in [(1, 0.0), (4, 0.0), (7, 0.3)] {
            let attention = Attention { hidden: 6, heads: 2, dropout, seed: 5 };
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
}
