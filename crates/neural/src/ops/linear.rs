//! Linear layer: y = x·Wᵀ + b, with W of shape [outputs × inputs].
//!
//! Backward: dx = dy·W, dW += dyᵀ·x, db += Σ rows of dy. Cost: 2·rows·inputs·outputs operations forward, twice
//! that backward.

use crate::product::{View, Write, multiply, multiply_rows};

/// Computes y = x·Wᵀ + b. `x` is [rows × inputs], `y` is [rows × outputs]. A row has the same bits in every batch.
pub(crate) fn forward(x: &[f32], weight: &[f32], bias: &[f32], y: &mut [f32]) {
    let outputs = bias.len();
    let inputs = weight.len() / outputs;
    let rows = y.len() / outputs;
    for y in y.chunks_exact_mut(outputs) {
        y.copy_from_slice(bias);
    }
    let weight = View::new(weight, outputs, inputs).transposed();
    multiply_rows(View::new(x, rows, inputs), weight, y, outputs, Write::Add);
}

/// Adds the gradients of the weights and the bias.
pub(crate) fn backward_weights(x: &[f32], d_y: &[f32], d_weight: &mut [f32], d_bias: &mut [f32]) {
    let outputs = d_bias.len();
    let inputs = d_weight.len() / outputs;
    let rows = d_y.len() / outputs;
    let d_y_view = View::new(d_y, rows, outputs).transposed();
    multiply(d_y_view, View::new(x, rows, inputs), 1.0, d_weight, inputs, Write::Add);
    add_rows(d_y, d_bias);
}

/// Computes the gradient of the input.
pub(crate) fn backward_input(
    d_y: &[f32],
    weight: &[f32],
    outputs: usize,
    d_x: &mut [f32],
    write: Write,
) {
    let inputs = weight.len() / outputs;
    let rows = d_y.len() / outputs;
    multiply(
        View::new(d_y, rows, outputs),
        View::new(weight, outputs, inputs),
        1.0,
        d_x,
        inputs,
        write,
    );
}

tutte_simd::dispatched! {
    /// Adds all rows of `rows` to `sum`.
    pub(crate) fn add_rows(rows: &[f32], sum: &mut [f32]) {
        for row in rows.chunks_exact(sum.len()) {
            for (sum, &x) in sum.iter_mut().zip(row) {
                *sum += x;
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
        for (rows, inputs, outputs) in [(1, 1, 1), (3, 4, 5), (7, 2, 1), (1, 9, 3)] {
            let x = check::random(rows * inputs, 1);
            let weight = check::random(inputs * outputs, 2);
            let bias = check::random(outputs, 3);
            let wanted = check::random(rows * outputs, 4);
            let mut d_x = vec![0.0; x.len()];
            let mut d_weight = vec![0.0; weight.len()];
            let mut d_bias = vec![0.0; outputs];
            backward_weights(&x, &wanted, &mut d_weight, &mut d_bias);
            backward_input(&wanted, &weight, outputs, &mut d_x, Write::Replace);
            let loss = |x: &[f32], weight: &[f32], bias: &[f32]| {
                let mut y = vec![0.0; rows * outputs];
                forward(x, weight, bias, &mut y);
                check::weighted(&y, &wanted)
            };
            check::gradient(&x, &d_x, |x| loss(x, &weight, &bias));
            check::gradient(&weight, &d_weight, |weight| loss(&x, weight, &bias));
            check::gradient(&bias, &d_bias, |bias| loss(&x, &weight, bias));
        }
    }
}
