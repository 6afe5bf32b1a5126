//! Exponential moving average of weights (Polyak and Juditsky 1992; as "model EMA" in later training recipes).
//!
//! ```text
//! v ← v + (1 − d_t)(w − v)        d_t = min(d, (1 + t)/(10 + t))
//! ```
//!
//! for the weights w after step t = 0, 1, …. The decay d_t rises to d, so that the average leaves the initial weights
//! behind quickly. The average is evaluated and saved in place of the weights; training continues from the weights.

use std::io;

use tutte_linear::{Checkpointed, Codec};

use crate::network::Network;

/// Average of the weights of a network that is trained.
///
/// ```
/// use tutte_neural::{Network, NetworkOptions, ScratchOptions, WeightAverage};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut network = Network::scratch(&ScratchOptions::new(), NetworkOptions::new())?;
/// let mut average = WeightAverage::new(0.998, &network);
/// network.for_each_parameter(|_, _, values| values.fill(1.0)); // a step of training
/// average.add(&network);
/// let mut smooth = network.clone();
/// average.put_into(&mut smooth);
/// // The first step counts by 9/10.
/// smooth.for_each_parameter(|name, _, values| {
///     if name == "scorer.arcs.bias" {
///         assert!((values[0] - 0.9).abs() < 1e-6); // it was 0
///     }
/// });
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct WeightAverage {
    decay: f32,
    step: usize,
    /// Number of weights that training does not move, and that are not averaged.
    skipped: usize,
    values: Vec<f32>,
}

impl WeightAverage {
    /// Starts from the weights of a network.
    pub fn new(decay: f32, network: &Network) -> Self {
        let skipped = network.untrained_weights();
        let values = network.weights()[skipped..].to_vec();
        Self { decay, step: 0, skipped, values }
    }

    /// Adds the weights after a step.
    ///
    /// # Panics
    ///
    /// If the network has another shape.
    pub fn add(&mut self, network: &Network) {
        let weights = &network.weights()[self.skipped..];
        assert_eq!(weights.len(), self.values.len(), "the network has another shape");
        let share = 1.0 - self.decay.min((1 + self.step) as f32 / (10 + self.step) as f32);
        self.step += 1;
        move_towards(&mut self.values, weights, share);
    }

    /// Replaces the weights of a network by the average.
    ///
    /// # Panics
    ///
    /// If the network has another shape.
    pub fn put_into(&self, network: &mut Network) {
        network.raw_parameters().values[self.skipped..].copy_from_slice(&self.values);
    }
}

impl Checkpointed for WeightAverage {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        codec.value(&mut self.step)?;
        codec.table(&mut self.values)
    }
}

tutte_simd::dispatched! {
    /// Moves values by a share of their distance to others.
    fn move_towards(values: &mut [f32], others: &[f32], share: f32) {
        for (value, other) in values.iter_mut().zip(others) {
            *value += share * (*other - *value);
        }
    }
}
