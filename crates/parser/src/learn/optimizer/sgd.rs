//! Stochastic gradient descent with a Gaussian prior of variance C on weights:
//!
//! ```text
//! w ← (w − η_t g) / (1 + η_t λ)        η_t = η₀ / (1 + t λ η₀)        λ = 1 / (C N)
//! ```
//!
//! for the gradient g of one of N sentences. A pass over the whole table at each step would be slow. So the table holds
//! w / s, and only the scale s shrinks (Shalev-Shwartz, Singer & Srebro 2007). A step costs O(features of the
//! sentence).

use std::io;

use tutte_linear::{Checkpointed, Codec};

/// State of stochastic gradient descent.
#[derive(Clone, Debug)]
pub(super) struct Sgd {
    /// η₀.
    rate: f64,
    /// λ.
    shrinkage: f64,
    /// t, the number of sentences seen.
    seen: f64,
    /// s.
    scale: f64,
}

impl Sgd {
    /// Creates the initial state. Without a prior, weights do not shrink and the rate stays constant.
    pub(super) fn new(rate: f64, prior: Option<f64>, sentences: usize) -> Self {
        let shrinkage = prior.map_or(0.0, |c| 1.0 / (c * sentences as f64));
        Self { rate, shrinkage, seen: 0.0, scale: 1.0 }
    }

    /// Returns s, the factor between the table and the weights.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// Makes one step for the summed gradient of some sentences. Returns the factor by which the caller multiplies
    /// that gradient before adding it to the table.
    pub(super) fn step(&mut self, sentences: usize) -> f64 {
        let rate = self.rate / (1.0 + self.seen * self.shrinkage * self.rate);
        let factor = -rate / self.scale;
        self.seen += sentences as f64;
        self.scale /= 1.0 + rate * self.shrinkage * sentences as f64;
        factor
    }

    /// Multiplies the table by s, so that it holds the weights, and resets s to 1.
    pub(super) fn settle<'a>(&mut self, weights: impl Iterator<Item = &'a mut f32>) {
        if self.scale != 1.0 {
            let scale = self.scale as f32;
            weights.for_each(|weight| *weight *= scale);
            self.scale = 1.0;
        }
    }
}

impl Checkpointed for Sgd {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        codec.value(&mut self.seen)?;
        codec.value(&mut self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the formula, shrinking all weights at each step.
    #[test]
    fn the_scale_stands_for_shrinking_all_weights() {
        let rate = 0.3;
        let c = 2.0;
        let sentences = 5;
        let lambda = 1.0 / (c * sentences as f64);
        let gradients = [[1.0, 0.0], [0.0, -2.0], [0.5, 0.25], [0.0, 0.0], [-1.0, 1.0]];
        let mut sgd = Sgd::new(rate, Some(c), sentences);
        let mut table = [0f32; 2];
        let mut plain = [0f64; 2];
        for (t, gradient) in gradients.iter().enumerate() {
            let factor = sgd.step(1);
            let eta = rate / (1.0 + t as f64 * lambda * rate);
            for cell in 0..2 {
                table[cell] += (factor * gradient[cell]) as f32;
                plain[cell] = (plain[cell] - eta * gradient[cell]) / (1.0 + eta * lambda);
            }
        }
        sgd.settle(table.iter_mut());
        assert!(sgd.scale() == 1.0);
        for (found, expected) in table.iter().zip(plain) {
            assert!((f64::from(*found) - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn without_a_prior_nothing_shrinks() {
        let mut sgd = Sgd::new(0.1, None, 3);
        assert_eq!([sgd.step(1), sgd.step(2), sgd.scale()], [-0.1, -0.1, 1.0]);
    }
}
