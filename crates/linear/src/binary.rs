//! Yes-or-no decisions over hashed features, learnt by AdaGrad and averaged.
//!
//! A feature is a 32-bit hash. Its weight is the cell at its lowest bits, in a table whose length is a power of two.
//! The averaged model is the mean of the weights over all steps. It is kept as w̄ = w − (Σₜ t·Δₜ)/T, where Δₜ is the
//! change at step t. Cost: one look-up per feature.

use crate::adagrad::AdaGrad;
use crate::weights::{Cell, Weights};

/// Returns the sum of the weights of features. The length of the table is a power of two, or 0.
#[inline]
pub fn score<W: Weights>(weights: &W, features: &[u32]) -> f32 {
    let cells = weights.cells();
    let Some(mask) = cells.len().checked_sub(1) else { return 0.0 };
    let add = |sum, feature: &u32| cells[*feature as usize & mask].add_to(sum);
    let sum = features.iter().fold(<W::Cell as Cell>::Sum::default(), add);
    <W::Cell as Cell>::value(sum) * weights.scale()
}

/// Returns the probability that has these log-odds.
#[inline]
pub fn sigmoid(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// Weights of a decision while they are learnt.
#[derive(Debug)]
pub struct BinaryLearner {
    weights: Vec<f32>,
    adagrad: AdaGrad,
    /// Σ t·Δₜ of each weight.
    drift: Vec<f32>,
    step: f32,
}

impl BinaryLearner {
    /// δ of AdaGrad. A larger value makes the first steps smaller.
    const DAMPING: f32 = 1.0;

    /// Starts with 2^`bits` weights of zero.
    pub fn new(bits: u32, rate: f32) -> Self {
        let cells = 1 << bits;
        Self {
            weights: vec![0.0; cells],
            adagrad: AdaGrad::new(cells, rate, Self::DAMPING),
            drift: vec![0.0; cells],
            step: 0.0,
        }
    }

    /// Returns the score of features under the current weights.
    pub fn score(&self, features: &[u32]) -> f32 {
        score(&self.weights, features)
    }

    /// Counts one step of averaging. Call it for every example, also where no weight moves.
    pub fn tick(&mut self) {
        self.step += 1.0;
    }

    /// Moves the weights of features against the derivative of the loss by their score.
    pub fn update(&mut self, features: &[u32], gradient: f32) {
        let mask = self.weights.len() - 1;
        for &feature in features {
            let cell = feature as usize & mask;
            let change = self.adagrad.change(cell, gradient);
            self.weights[cell] += change;
            self.drift[cell] += self.step * change;
        }
    }

    /// Learns one example by logistic regression.
    pub fn learn(&mut self, features: &[u32], answer: bool) {
        self.tick();
        let probability = sigmoid(self.score(features));
        self.update(features, probability - f32::from(answer));
    }

    /// Returns the mean of the weights over all steps.
    pub fn averaged(mut self) -> Vec<f32> {
        let steps = (self.step + 1.0).max(1.0);
        self.weights
            .iter_mut()
            .zip(&self.drift)
            .for_each(|(weight, drift)| *weight -= drift / steps);
        self.weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averaged_weights_are_the_mean_over_steps() {
        let mut learner = BinaryLearner::new(2, 0.5);
        let mut sum = [0.0f64; 4];
        for step in 0..50u32 {
            learner.tick();
            learner.update(&[step % 3, 3], if step % 4 == 0 { -0.5 } else { 0.25 });
            sum.iter_mut()
                .zip(&learner.weights)
                .for_each(|(sum, &weight)| *sum += f64::from(weight));
        }
        let averaged = learner.averaged();
        for (sum, mean) in sum.iter().zip(averaged) {
            assert!((sum / 50.0 - f64::from(mean)).abs() < 0.02, "{sum} {mean}");
        }
    }
}
