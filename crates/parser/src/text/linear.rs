//! Linear models of hashed features, learnt by AdaGrad (Duchi, Hazan and Singer 2011) and averaged.
//!
//! A feature is a 32-bit hash; its weight is the cell at its lowest bits, of a table whose length is a
//! power of two. With the gradient g of the loss by the score, a weight moves by −ρ·g / √(δ + Σg²), the
//! sum over all its gradients so far. The model is the mean of the weights over all steps, kept as
//! w̄ = w − (Σₜ t·Δₜ)/T. Cost: a look-up a feature.

use crate::weights::{Cell, Weights};

/// Numbers mixed into one; part of the format of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hash(u64);

impl Hash {
    #[inline]
    pub(super) fn of(value: u64) -> Self {
        Self(0).and(value)
    }

    #[inline]
    #[must_use]
    pub(super) fn and(self, value: u64) -> Self {
        Self((self.0.rotate_left(23) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// As part of another hash.
    #[inline]
    pub(super) fn value(self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    /// As a feature.
    #[inline]
    pub(super) fn feature(self) -> u32 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (mixed >> 32) as u32
    }
}

/// The sum of the weights of features. The number of weights is a power of two, or none.
#[inline]
pub(super) fn score<W: Weights>(weights: &W, features: &[u32]) -> f32 {
    let cells = weights.cells();
    let Some(mask) = cells.len().checked_sub(1) else { return 0.0 };
    let add = |sum, feature: &u32| cells[*feature as usize & mask].add_to(sum);
    let sum = features.iter().fold(<W::Cell as Cell>::Sum::default(), add);
    <W::Cell as Cell>::value(sum) * weights.scale()
}

/// The probability of something with this log-odds.
#[inline]
pub(super) fn sigmoid(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// Weights that are being learnt.
#[derive(Debug)]
pub(super) struct Learner {
    pub(super) weights: Vec<f32>,
    squares: Vec<f32>,
    /// Σ t·Δₜ.
    drift: Vec<f32>,
    step: f32,
    rate: f32,
}

impl Learner {
    /// δ: how far the first steps are from ρ.
    const DAMPING: f32 = 1.0;

    pub(super) fn new(bits: u32, rate: f32) -> Self {
        let zeros = vec![0.0; 1 << bits];
        Self { weights: zeros.clone(), squares: zeros.clone(), drift: zeros, step: 0.0, rate }
    }

    pub(super) fn score(&self, features: &[u32]) -> f32 {
        score(&self.weights, features)
    }

    /// A step of averaging, to be taken for each example, also those whose weights do not move.
    pub(super) fn tick(&mut self) {
        self.step += 1.0;
    }

    /// Moves the weights of features against the gradient of the loss by their score.
    pub(super) fn update(&mut self, features: &[u32], gradient: f32) {
        let mask = self.weights.len() - 1;
        for &feature in features {
            let at = feature as usize & mask;
            self.squares[at] += gradient * gradient;
            let change = -self.rate * gradient / (Self::DAMPING + self.squares[at]).sqrt();
            self.weights[at] += change;
            self.drift[at] += self.step * change;
        }
    }

    /// The mean weights.
    pub(super) fn averaged(mut self) -> Vec<f32> {
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
    fn hashes_are_part_of_the_format() {
        let hash = Hash::of(1).and(2);
        assert_eq!((hash.value(), hash.feature()), (7541370215223520389, 685920137));
    }

    #[test]
    fn averaged_weights_are_the_mean_over_steps() {
        let mut learner = Learner::new(2, 0.5);
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
