//! AdamW (Loshchilov and Hutter 2019), with rates by depth, warm-up, linear decay and clipping.
//!
//! For a gradient g at step t, with rate η:
//! m ← β₁m + (1 − β₁)g, v ← β₂v + (1 − β₂)g², w ← w − η·(m̂/(√v̂ + ε) + λw), with m̂ = m/(1 − β₁ᵗ) and
//! v̂ = v/(1 − β₂ᵗ). The decay λ is that of matrices; vectors and tables do not decay.
//!
//! - **Rates.** Scorers have the head rate. Layer k of an encoder with K layers has the encoder rate times
//!   decay^(K − k), embeddings are layer 0. Both rise linearly during warm-up, then fall linearly to zero.
//! - **Tables.** Only rows that the batch used are moved, and only their moments change (as PyTorch's
//!   `SparseAdam`). A rare row keeps the moments of its last use.
//! - **Clipping.** If the norm of all gradients is above the limit, they are scaled down to it.

use std::io;

use tutte_linear::{Checkpointed, Codec};

use crate::network::Network;
use crate::parameters::{Gradients, Role};

/// Settings of [`AdamW`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AdamWOptions {
    /// Rate of the encoder's last layer.
    pub encoder_rate: f32,
    /// Rate of everything above the encoder.
    pub head_rate: f32,
    /// Factor of the rate from one layer to the one below.
    pub layer_decay: f32,
    /// Number of steps until the rates are reached.
    pub warmup_steps: usize,
    /// Number of all steps, at whose end the rates are zero. Zero: rates stay after warm-up.
    pub total_steps: usize,
    /// Weight decay of matrices.
    pub weight_decay: f32,
    /// Largest norm of the gradient. Infinite: no clipping.
    pub clip: f32,
    /// Decay of the mean of gradients.
    pub beta1: f32,
    /// Decay of the mean of squared gradients.
    pub beta2: f32,
    /// Small number that keeps steps finite.
    pub epsilon: f32,
}

impl Default for AdamWOptions {
    fn default() -> Self {
        Self {
            encoder_rate: 2e-4,
            head_rate: 1e-3,
            layer_decay: 1.0,
            warmup_steps: 200,
            total_steps: 0,
            weight_decay: 0.01,
            clip: 1.0,
            beta1: 0.9,
            beta2: 0.99,
            epsilon: 1e-8,
        }
    }
}

impl AdamWOptions {
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the rates of the encoder and of everything above it.
    pub fn with_rates(mut self, encoder: f32, head: f32) -> Self {
        self.encoder_rate = encoder;
        self.head_rate = head;
        self
    }

    /// Sets the factor of the rate from one layer to the one below.
    pub fn with_layer_decay(mut self, factor: f32) -> Self {
        self.layer_decay = factor;
        self
    }

    /// Sets the number of steps of warm-up, and of all steps.
    pub fn with_steps(mut self, warmup: usize, total: usize) -> Self {
        self.warmup_steps = warmup;
        self.total_steps = total;
        self
    }

    /// Sets the weight decay of matrices.
    pub fn with_weight_decay(mut self, decay: f32) -> Self {
        self.weight_decay = decay;
        self
    }

    /// Sets the largest norm of the gradient.
    pub fn with_clip(mut self, norm: f32) -> Self {
        self.clip = norm;
        self
    }

    /// Factor of the rates at a step, counted from 0.
    pub fn schedule(&self, step: usize) -> f32 {
        let rise = (step + 1) as f32 / (self.warmup_steps.max(1)) as f32;
        let fall = match self.total_steps {
            0 => 1.0,
            total => {
                let left = total.saturating_sub(step) as f32;
                left / total.saturating_sub(self.warmup_steps).max(1) as f32
            }
        };
        rise.min(fall).min(1.0)
    }
}

/// Optimizer of a network: AdamW with its moments, which are its state in a checkpoint.
#[derive(Clone, Debug)]
pub struct AdamW {
    options: AdamWOptions,
    step: usize,
    skipped: usize,
    /// Means of gradients, in the layout of [`Gradients`].
    first: Vec<f32>,
    /// Means of squared gradients.
    second: Vec<f32>,
}

/// Constants of one step.
#[derive(Clone, Copy)]
struct Step {
    beta1: f32,
    beta2: f32,
    /// 1/(1 − β₁ᵗ) and 1/√(1 − β₂ᵗ).
    correction: (f32, f32),
    epsilon: f32,
    rate: f32,
    decay: f32,
    /// Factor of gradients, from clipping.
    scale: f32,
}

tutte_simd::dispatched! {
    /// Moves weights by one step.
    fn update(step: Step, weights: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32]) {
        let values = weights.iter_mut().zip(gradient).zip(first.iter_mut().zip(second));
        for ((w, &g), (m, v)) in values {
            let g = g * step.scale;
            *m = step.beta1 * *m + (1.0 - step.beta1) * g;
            *v = step.beta2 * *v + (1.0 - step.beta2) * g * g;
            let denominator = v.sqrt() * step.correction.1 + step.epsilon;
            *w -= step.rate * (*m * step.correction.0 / denominator + step.decay * *w);
        }
    }
}

impl AdamW {
    /// Makes an optimizer for gradients of this shape.
    pub fn new(options: AdamWOptions, gradients: &Gradients) -> Self {
        let zeros = vec![0.0; gradients.values.len()];
        Self { options, step: 0, skipped: gradients.skipped, first: zeros.clone(), second: zeros }
    }

    /// Settings of the optimizer.
    pub fn options(&self) -> &AdamWOptions {
        &self.options
    }

    /// Number of steps so far.
    pub fn steps(&self) -> usize {
        self.step
    }

    /// Moves the network's weights against the gradient, and returns the gradient's norm before clipping.
    ///
    /// A gradient that is not finite moves nothing, but counts as a step.
    ///
    /// # Panics
    ///
    /// If the gradients belong to a network of another shape.
    pub fn step(&mut self, network: &mut Network, gradients: &Gradients) -> f32 {
        assert_eq!((self.skipped, self.first.len()), (gradients.skipped, gradients.values.len()));
        let o = &self.options;
        let factor = o.schedule(self.step);
        self.step += 1;
        let norm = gradients.norm();
        if !norm.is_finite() {
            return norm;
        }
        let scale = if norm > o.clip { o.clip / norm } else { 1.0 };
        let bias = |beta: f32| 1.0 - f64::from(beta).powf(self.step as f64);
        let correction = ((1.0 / bias(o.beta1)) as f32, (1.0 / bias(o.beta2).sqrt()) as f32);
        let layers = network.encoder_config().layers;
        let parameters = network.raw_parameters();
        for parameter in parameters.list.iter().filter(|p| p.slot.start >= self.skipped) {
            let rate = match parameter.depth {
                None => o.head_rate,
                Some(depth) => o.encoder_rate * o.layer_decay.powi((layers - depth) as i32),
            };
            let decay = if parameter.role == Role::Matrix { o.weight_decay } else { 0.0 };
            let (beta1, beta2, epsilon) = (o.beta1, o.beta2, o.epsilon);
            let step =
                Step { beta1, beta2, correction, epsilon, rate: rate * factor, decay, scale };
            let mut range = |start: usize, len: usize| {
                let at = start - self.skipped..start - self.skipped + len;
                let weights = &mut parameters.values[start..start + len];
                let gradient = &gradients.values[at.clone()];
                update(step, weights, gradient, &mut self.first[at.clone()], &mut self.second[at]);
            };
            let slot = parameter.slot;
            match gradients.tables.iter().find(|table| table.slot == slot) {
                None => range(slot.start, slot.len),
                Some(table) => {
                    for &row in &table.used {
                        range(slot.start + row as usize * table.width, table.width);
                    }
                }
            }
        }
        norm
    }
}

impl Checkpointed for AdamW {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        codec.value(&mut self.step)?;
        codec.table(&mut self.first)?;
        codec.table(&mut self.second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedule_rises_and_falls() {
        let options = AdamWOptions::new().with_steps(10, 110);
        assert_eq!(options.schedule(0), 0.1);
        assert_eq!(options.schedule(9), 1.0);
        assert_eq!(options.schedule(10), 1.0);
        assert_eq!(options.schedule(60), 0.5);
        assert_eq!(options.schedule(110), 0.0);
        assert_eq!(options.schedule(500), 0.0);
        assert_eq!(AdamWOptions::new().with_steps(10, 0).schedule(500), 1.0);
    }
}
