//! Scalar mix of layers (Peters et al. 2018): y = γ·Σ s·h, with s the softmax of learnt numbers.
//!
//! Backward, with c = Σ h·dy per layer: dh += γ·s·dy, dγ += Σ s·c, dw += γ·s·(c − Σ s·c). The weights are the learnt
//! numbers, one per layer, and then γ.

use super::{add_scaled, dot, softmax};

/// Computes the mix. `layers` holds one matrix per layer, `shares` gets their softmax.
pub(crate) fn forward(layers: &[&[f32]], weights: &[f32], shares: &mut Vec<f32>, y: &mut [f32]) {
    let (weights, gamma) = weights.split_at(layers.len());
    shares.clear();
    shares.extend_from_slice(weights);
    softmax::forward(shares, layers.len());
    y.fill(0.0);
    for (layer, share) in layers.iter().zip(&*shares) {
        add_scaled(y, gamma[0] * share, layer);
    }
}

/// Adds the gradients of the weights and, if asked, of the layers.
pub(crate) fn backward<'a>(
    layers: &[&[f32]],
    weights: &[f32],
    shares: &[f32],
    d_y: &[f32],
    d_layers: impl Iterator<Item = &'a mut [f32]>,
    d_weights: &mut [f32],
) {
    let gamma = weights[layers.len()];
    let mean: f32 = layers.iter().zip(shares).map(|(layer, share)| share * dot(layer, d_y)).sum();
    for (i, (layer, share)) in layers.iter().zip(shares).enumerate() {
        d_weights[i] += gamma * share * (dot(layer, d_y) - mean);
    }
    d_weights[layers.len()] += mean;
    for (d_layer, share) in d_layers.zip(shares) {
        add_scaled(d_layer, gamma * share, d_y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check;

    #[test]
    fn gradients() {
        for (count, n) in [(1, 3), (3, 1), (3, 8)] {
            let all = check::random(count * n, 1);
            let weights = check::random(count + 1, 2);
            let wanted = check::random(n, 3);
            let mut shares = Vec::new();
            let mut y = vec![0.0; n];
            let mut run = |all: &[f32], weights: &[f32]| {
                let layers: Vec<&[f32]> = all.chunks(n).collect();
                forward(&layers, weights, &mut shares, &mut y);
                check::weighted(&y, &wanted)
            };
            run(&all, &weights);
            let mut d_all = vec![0.0; all.len()];
            let mut d_weights = vec![0.0; weights.len()];
            let layers: Vec<&[f32]> = all.chunks(n).collect();
            let mut now = weights[..count].to_vec();
            softmax::forward(&mut now, count);
            backward(&layers, &weights, &now, &wanted, d_all.chunks_mut(n), &mut d_weights);
            check::gradient(&all, &d_all, |all| run(all, &weights));
            check::gradient(&weights, &d_weights, |weights| run(&all, weights));
        }
    }
}
