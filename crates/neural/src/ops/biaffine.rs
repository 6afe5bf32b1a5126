//! Biaffine scores of pairs of words (Dozat and Manning 2017).
//!
//! Arcs: s(h, m) = hᵀ·W·m + hᵀ·b for all pairs of a sentence. A term of m alone would be the same for every head, so
//! there is none. With T = M·Wᵀ, computed for all words of a batch at once, S = H·Tᵀ + (H·b)·1ᵀ. Backward:
//! dH = dS·T + rowsums(dS)·bᵀ, dT = dSᵀ·H, db += Hᵀ·rowsums(dS); T is a linear layer without bias. Cost: 2·n²·width.
//!
//! Labels: s_ℓ(h, m) = hᵀ·U_ℓ·m + hᵀ·p_ℓ + q_ℓᵀ·m + c_ℓ, only at given arcs. V = linear(M; U, p), of [labels × width] per
//! modifier, and R = linear(M; q, c) are computed once per modifier; an arc then costs labels·width.

use super::{add_scaled, dot};
use crate::product::{View, Write, multiply};

/// Computes the scores of all arcs of one sentence with n words: [(n + 1) × (n + 1)], row = head.
///
/// Column 0 and the diagonal are not arcs. They are zero.
pub(crate) fn arcs(heads: &[f32], modifiers: &[f32], bias: &[f32], scores: &mut [f32]) {
    let width = bias.len();
    let nodes = heads.len() / width;
    let (heads_view, modifiers) =
        (View::new(heads, nodes, width), View::new(modifiers, nodes, width));
    for (head, row) in heads.chunks_exact(width).zip(scores.chunks_exact_mut(nodes)) {
        row.fill(dot(head, bias));
    }
    multiply(heads_view, modifiers.transposed(), 1.0, scores, nodes, Write::Add);
    for (head, row) in scores.chunks_exact_mut(nodes).enumerate() {
        row[0] = 0.0;
        row[head] = 0.0;
    }
}

/// Computes the gradients of heads and modifiers, and adds that of the bias.
///
/// `d_scores` must be zero in column 0 and on the diagonal.
pub(crate) fn arcs_backward(
    heads: &[f32],
    modifiers: &[f32],
    bias: &[f32],
    d_scores: &[f32],
    d_heads: &mut [f32],
    d_modifiers: &mut [f32],
    d_bias: &mut [f32],
) {
    let width = bias.len();
    let nodes = heads.len() / width;
    let d_view = View::new(d_scores, nodes, nodes);
    multiply(d_view, View::new(modifiers, nodes, width), 1.0, d_heads, width, Write::Replace);
    multiply(
        d_view.transposed(),
        View::new(heads, nodes, width),
        1.0,
        d_modifiers,
        width,
        Write::Replace,
    );
    for head in 0..nodes {
        let sum: f32 = d_scores[head * nodes..][..nodes].iter().sum();
        add_scaled(&mut d_heads[head * width..][..width], sum, bias);
        add_scaled(d_bias, sum, &heads[head * width..][..width]);
    }
}

/// Computes the scores of all labels of one arc from the rows of its modifier.
pub(crate) fn labels(head: &[f32], bilinear: &[f32], rest: &[f32], scores: &mut [f32]) {
    for ((score, row), rest) in scores.iter_mut().zip(bilinear.chunks_exact(head.len())).zip(rest) {
        *score = dot(row, head) + rest;
    }
}

/// Adds the gradients of the head and of the rows of the modifier.
pub(crate) fn labels_backward(
    head: &[f32],
    bilinear: &[f32],
    d_scores: &[f32],
    d_head: &mut [f32],
    d_bilinear: &mut [f32],
    d_rest: &mut [f32],
) {
    let width = head.len();
    for (label, &d) in d_scores.iter().enumerate() {
        if d != 0.0 {
            add_scaled(d_head, d, &bilinear[label * width..][..width]);
            add_scaled(&mut d_bilinear[label * width..][..width], d, head);
            d_rest[label] += d;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check;

    #[test]
    fn gradients_of_arcs() {
        for (nodes, width) in [(2, 1), (2, 3), (5, 4)] {
            let heads = check::random(nodes * width, 1);
            let modifiers = check::random(nodes * width, 2);
            let bias = check::random(width, 3);
            let mut wanted = check::random(nodes * nodes, 4);
            for (head, row) in wanted.chunks_mut(nodes).enumerate() {
                row[0] = 0.0;
                row[head] = 0.0;
            }
            let loss = |heads: &[f32], modifiers: &[f32], bias: &[f32]| {
                let mut scores = vec![0.0; nodes * nodes];
                arcs(heads, modifiers, bias, &mut scores);
                check::weighted(&scores, &wanted)
            };
            let mut d_heads = vec![0.0; heads.len()];
            let mut d_modifiers = vec![0.0; heads.len()];
            let mut d_bias = vec![0.0; width];
            arcs_backward(
                &heads,
                &modifiers,
                &bias,
                &wanted,
                &mut d_heads,
                &mut d_modifiers,
                &mut d_bias,
            );
            check::gradient(&heads, &d_heads, |heads| loss(heads, &modifiers, &bias));
            check::gradient(&modifiers, &d_modifiers, |modifiers| loss(&heads, modifiers, &bias));
            check::gradient(&bias, &d_bias, |bias| loss(&heads, &modifiers, bias));
        }
    }

    #[test]
    fn gradients_of_labels() {
        for (width, count) in [(1, 1), (4, 3)] {
            let head = check::random(width, 1);
            let bilinear = check::random(width * count, 2);
            let rest = check::random(count, 3);
            let wanted = check::random(count, 4);
            let loss = |head: &[f32], bilinear: &[f32], rest: &[f32]| {
                let mut scores = vec![0.0; count];
                labels(head, bilinear, rest, &mut scores);
                check::weighted(&scores, &wanted)
            };
            let mut d_head = vec![0.0; width];
            let mut d_bilinear = vec![0.0; bilinear.len()];
            let mut d_rest = vec![0.0; count];
            labels_backward(&head, &bilinear, &wanted, &mut d_head, &mut d_bilinear, &mut d_rest);
            check::gradient(&head, &d_head, |head| loss(head, &bilinear, &rest));
            check::gradient(&bilinear, &d_bilinear, |bilinear| loss(&head, bilinear, &rest));
            check::gradient(&rest, &d_rest, |rest| loss(&head, &bilinear, rest));
        }
    }
}
