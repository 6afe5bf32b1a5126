//! Non-linear functions, element by element.
//!
//! - `gelu`: x·Φ(x) (Hendrycks and Gimpel 2016), Φ by formula 7.1.26 of Abramowitz and Stegun, within 10⁻⁶ for
//!   |x| ≤ 10. Its derivative is Φ(x) + x·φ(x).
//! - `gelu_new`: ½x(1 + tanh(√(2/π)(x + 0.044715x³))).
//! - `relu`, and `leaky_relu` with slope 0.1 below zero.
//!
//! Gated (Shazeer 2020), a row is two halves (a, g), and y = f(a)·g. Backward: da = dy·g·f′(a), dg = dy·f(a).

use serde::{Deserialize, Serialize};

use super::exp::exp;

/// Non-linear function of a feed-forward layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// x·Φ(x), with the normal distribution function.
    Gelu,
    /// The approximation of [`Activation::Gelu`] by a hyperbolic tangent.
    GeluNew,
    /// max(x, 0).
    Relu,
    /// x above zero, 0.1·x below.
    LeakyRelu,
}

const LEAK: f32 = 0.1;
const SQRT_2_OVER_PI: f32 = 0.797_884_6;
const CUBIC: f32 = 0.044_715;

/// Returns Φ(x) and φ(x), the distribution function and the density of the normal distribution.
#[inline(always)]
fn normal(x: f32) -> (f32, f32) {
    let e = exp(-0.5 * x * x);
    let t = 1.0 / (1.0 + 0.327_591_1 * std::f32::consts::FRAC_1_SQRT_2 * x.abs());
    let p = 1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4);
    let tail = 0.5 * e * t * (0.254_829_6 + t * (-0.284_496_72 + t * p));
    let cdf = if x < 0.0 { tail } else { 1.0 - tail };
    (cdf, e * 0.398_942_3)
}

#[inline(always)]
fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (exp(2.0 * x) + 1.0)
}

#[inline(always)]
fn gelu(x: f32) -> f32 {
    x * normal(x).0
}

#[inline(always)]
fn gelu_slope(x: f32) -> f32 {
    let (cdf, density) = normal(x);
    cdf + x * density
}

#[inline(always)]
fn gelu_new(x: f32) -> f32 {
    0.5 * x * (1.0 + tanh(SQRT_2_OVER_PI * (x + CUBIC * x * x * x)))
}

#[inline(always)]
fn gelu_new_slope(x: f32) -> f32 {
    let t = tanh(SQRT_2_OVER_PI * (x + CUBIC * x * x * x));
    0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * SQRT_2_OVER_PI * (1.0 + 3.0 * CUBIC * x * x)
}

#[inline(always)]
fn map(x: &[f32], y: &mut [f32], f: impl Fn(f32) -> f32) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = f(x);
    }
}

#[inline(always)]
fn scale(x: &[f32], d: &mut [f32], f: impl Fn(f32) -> f32) {
    for (d, &x) in d.iter_mut().zip(x) {
        *d *= f(x);
    }
}

tutte_simd::dispatched! {
    /// Computes y = f(x).
    pub(crate) fn forward(activation: Activation, x: &[f32], y: &mut [f32]) {
        match activation {
            Activation::Gelu => map(x, y, gelu),
            Activation::GeluNew => map(x, y, gelu_new),
            Activation::Relu => map(x, y, |x| if x < 0.0 { 0.0 } else { x }),
            Activation::LeakyRelu => map(x, y, |x| if x < 0.0 { LEAK * x } else { x }),
        }
    }
}

tutte_simd::dispatched! {
    /// Turns the gradient of y into that of x, in place: d ← d·f′(x).
    pub(crate) fn backward(activation: Activation, x: &[f32], d: &mut [f32]) {
        match activation {
            Activation::Gelu => scale(x, d, gelu_slope),
            Activation::GeluNew => scale(x, d, gelu_new_slope),
            Activation::Relu => scale(x, d, |x| if x < 0.0 { 0.0 } else { 1.0 }),
            Activation::LeakyRelu => scale(x, d, |x| if x < 0.0 { LEAK } else { 1.0 }),
        }
    }
}

/// Computes y = f(a)·g of rows (a, g). The halves of a row and the rows of y have `width` elements.
pub(crate) fn gated_forward(activation: Activation, x: &[f32], width: usize, y: &mut [f32]) {
    for (x, y) in x.chunks_exact(2 * width).zip(y.chunks_exact_mut(width)) {
        let (a, gate) = x.split_at(width);
        forward(activation, a, y);
        multiply(y, gate);
    }
}

/// Computes the gradient of the rows (a, g) from that of y.
pub(crate) fn gated_backward(
    activation: Activation,
    x: &[f32],
    width: usize,
    d_y: &[f32],
    d_x: &mut [f32],
) {
    let rows = x.chunks_exact(2 * width).zip(d_x.chunks_exact_mut(2 * width));
    for ((x, d_x), d_y) in rows.zip(d_y.chunks_exact(width)) {
        let (a, gate) = x.split_at(width);
        let (d_a, d_gate) = d_x.split_at_mut(width);
        forward(activation, a, d_gate);
        multiply(d_gate, d_y);
        d_a.copy_from_slice(d_y);
        multiply(d_a, gate);
        backward(activation, a, d_a);
    }
}

tutte_simd::dispatched! {
    /// Computes y ← y·x.
    fn multiply(y: &mut [f32], x: &[f32]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y *= x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check;

    #[test]
    fn gelu_is_close_to_the_integral() {
        // Φ by Simpson's rule, in double precision.
        let exact = |x: f64| {
            let n = 2000;
            let h = x / f64::from(n);
            let density = |t: f64| (-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt();
            let inner: f64 = (1..n)
                .map(|i| density(h * f64::from(i)) * if i % 2 == 1 { 4.0 } else { 2.0 })
                .sum();
            x * (0.5 + (density(0.0) + inner + density(x)) * h / 3.0)
        };
        let mut worst = 0.0f64;
        for step in -1000..=1000 {
            let x = step as f32 * 0.01;
            let mut y = [0.0];
            forward(Activation::Gelu, &[x], &mut y);
            worst = worst.max((f64::from(y[0]) - exact(f64::from(x))).abs());
        }
        assert!(worst < 1e-6, "{worst:e}");
    }

    #[test]
    fn gradients() {
        for activation in
            [Activation::Gelu, Activation::GeluNew, Activation::Relu, Activation::LeakyRelu]
        {
            for n in [1, 40] {
                let x: Vec<f32> = check::random(n, 3)
                    .iter()
                    .map(|&x| if x.abs() < 0.05 { 0.3 } else { 2.0 * x })
                    .collect();
                let weight = check::random(n, 4);
                let mut d = weight.clone();
                backward(activation, &x, &mut d);
                let mut y = vec![0.0; n];
                check::gradient(&x, &d, |x| {
                    forward(activation, x, &mut y);
                    check::weighted(&y, &weight)
                });
            }
        }
    }

    #[test]
    fn gated_gradients() {
        for (rows, width) in [(1, 1), (3, 4), (2, 19)] {
            let x = check::random(rows * 2 * width, 3);
            let wanted = check::random(rows * width, 4);
            let mut d_x = vec![0.0; x.len()];
            gated_backward(Activation::Gelu, &x, width, &wanted, &mut d_x);
            check::gradient(&x, &d_x, |x| {
                let mut y = vec![0.0; rows * width];
                gated_forward(Activation::Gelu, x, width, &mut y);
                check::weighted(&y, &wanted)
            });
        }
    }
}
