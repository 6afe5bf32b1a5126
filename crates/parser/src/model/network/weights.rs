//! Weights of features and of a network in one model.
//!
//! ```text
//! θ(h → m)     = a₁ · θ_features(h → m) + a₂ · s(h, m)
//! p(ℓ | h → m) ∝ exp(b₁ · w_ℓ·g(x, h, m) + b₂ · s_ℓ(h, m))
//! ```

use serde::{Deserialize, Serialize};

/// Weights of the two scorers of a model with features and a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreWeights {
    /// Weights of the scores of arcs.
    pub arcs: ScorerWeights,
    /// Weights of the scores of labels.
    pub labels: ScorerWeights,
}

/// One weight for each scorer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScorerWeights {
    /// Weight of the scores of features.
    pub features: f64,
    /// Weight of the scores of the network.
    pub network: f64,
}

impl Default for ScorerWeights {
    fn default() -> Self {
        Self { features: 1.0, network: 1.0 }
    }
}

impl ScorerWeights {
    /// Adds two scores. A score that is −∞ stays so, whatever its weight.
    pub(crate) fn sum(self, features: f64, network: f64) -> f64 {
        if features == f64::NEG_INFINITY || network == f64::NEG_INFINITY {
            return f64::NEG_INFINITY;
        }
        self.features * features + self.network * network
    }
}

#[cfg(feature = "neural")]
impl ScoreWeights {
    /// Returns `true` if all weights are numbers.
    pub(crate) fn is_finite(self) -> bool {
        let Self { arcs, labels } = self;
        [arcs, labels].iter().all(|pair| pair.features.is_finite() && pair.network.is_finite())
    }
}
