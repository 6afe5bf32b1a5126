//! Layer normalisation (Ba, Kiros and Hinton 2016): y = g·x̂ + b with x̂ = (x − mean)/√(variance + ε), per row.
//!
//! Backward, with e = g·dy: dx = (e − mean(e) − x̂·mean(e·x̂))/√(variance + ε), dg += dy·x̂, db += dy. Cost: a few
//! operations per element.

use super::sum_pairs;

tutte_simd::dispatched! {
    /// Normalises rows. `x` becomes x̂, and `inverse` gets 1/√(variance + ε) of each row.
    pub(crate) fn forward(x: &mut [f32], inverse: &mut [f32], gain: &[f32], bias: &[f32], epsilon: f32, y: &mut [f32]) {
        let width = gain.len();
        let rows = x.chunks_exact_mut(width).zip(y.chunks_exact_mut(width)).zip(inverse);
        for ((x, y), inverse) in rows {
            let mean = sum_pairs(x, x, |x, _| x) / width as f32;
            let variance = sum_pairs(x, x, |x, _| (x - mean) * (x - mean)) / width as f32;
            *inverse = 1.0 / (variance + epsilon).sqrt();
            let scale = *inverse;
            for i in 0..width {
                x[i] = (x[i] - mean) * scale;
                y[i] = gain[i] * x[i] + bias[i];
            }
        }
    }
}

tutte_simd::dispatched! {
    /// Turns the gradient of y into that of x, in place, and adds the gradients of gain and bias.
    pub(crate) fn backward(normal: &[f32], inverse: &[f32], gain: &[f32], d: &mut [f32], d_gain: &mut [f32], d_bias: &mut [f32]) {
        let width = gain.len();
        let rows = d.chunks_exact_mut(width).zip(normal.chunks_exact(width)).zip(inverse);
        for ((d, normal), &inverse) in rows {
            for i in 0..width {
                d_gain[i] += d[i] * normal[i];
                d_bias[i] += d[i];
                d[i] *= gain[i];
            }
            let mean = sum_pairs(d, d, |d, _| d) / width as f32;
            let slope = sum_pairs(d, normal, |d, n| d * n) / width as f32;
            for i in 0..width {
                d[i] = (d[i] - mean - normal[i] * slope) * inverse;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check;

    #[test]
    fn gradients() {
        for (rows, width) in [(1, 2), (3, 5), (2, 33)] {
            let x = check::random(rows * width, 1);
            let gain = check::random(width, 2);
            let bias = check::random(width, 3);
            let wanted = check::random(rows * width, 4);
            let run = |x: &[f32], gain: &[f32], bias: &[f32]| {
                let mut normal = x.to_vec();
                let mut inverse = vec![0.0; rows];
                let mut y = vec![0.0; x.len()];
                forward(&mut normal, &mut inverse, gain, bias, 1e-2, &mut y);
                (normal, inverse, y)
            };
            let (normal, inverse, _) = run(&x, &gain, &bias);
            let mut d = wanted.clone();
            let mut d_gain = vec![0.0; width];
            let mut d_bias = vec![0.0; width];
            backward(&normal, &inverse, &gain, &mut d, &mut d_gain, &mut d_bias);
            check::gradient(&x, &d, |x| check::weighted(&run(x, &gain, &bias).2, &wanted));
            check::gradient(&gain, &d_gain, |gain| {
                check::weighted(&run(&x, gain, &bias).2, &wanted)
            });
            check::gradient(&bias, &d_bias, |bias| {
                check::weighted(&run(&x, &gain, bias).2, &wanted)
            });
        }
    }
}
