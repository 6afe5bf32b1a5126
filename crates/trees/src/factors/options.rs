//! How belief propagation runs, and how it ended.

use super::algebra::{Algebra, Sum};
use crate::Error;

/// The order in which factors send their messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// Family by family, TREE last: TREE sees the evidence of all other factors in the same iteration.
    #[default]
    Serial,
    /// TREE first, then family by family. The first messages of the other factors already know the exact
    /// marginals of the arc-factored distribution, so one iteration goes far. A constant that is added to
    /// the scores of all heads of a word changes nothing.
    TreeFirst,
    /// All factors at once, from the messages of the iteration before.
    Flooding,
}

/// The meaning of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Inference {
    /// Sums over assignments: beliefs are approximate marginals.
    #[default]
    SumProduct,
    /// The best assignment: totals are approximate differences between the best tree with an arc and the
    /// best tree without it. For non-projective sets, an iteration takes O(n²) for each arc.
    MaxProduct,
    /// Sum-product with all log-factors divided by a temperature, which falls geometrically from the
    /// first iteration to the last. Approaches max-product as the last temperature approaches 0.
    Annealed {
        /// Temperature of the first iteration.
        first: f64,
        /// Temperature of the last iteration.
        last: f64,
    },
}

/// How belief propagation runs.
///
/// The default is five iterations of sum-product, serial, without damping (the paper's number of
/// iterations; it sent all messages at once).
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Number of iterations at most. With 0, beliefs come from the scores of arcs alone.
    pub iterations: usize,
    /// Stops when no belief has changed by more than this; 0 runs all iterations.
    pub tolerance: f64,
    /// Share of the old message in the new one, from 0 up to but not including 1.
    pub damping: f64,
    /// Order of the messages.
    pub schedule: Schedule,
    /// Meaning of the messages.
    pub inference: Inference,
    /// Keeps every iteration's messages, so that [`backward`](super::FactorGraph::backward) can follow
    /// them.
    pub record: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            iterations: 5,
            tolerance: 0.0,
            damping: 0.0,
            schedule: Schedule::Serial,
            inference: Inference::SumProduct,
            record: false,
        }
    }
}

impl Options {
    pub(super) fn check(&self) -> Result<(), Error> {
        let refuse = |what, expected, found: f64| {
            Err(Error::BadParameter { what, expected, found: found.to_string() })
        };
        if !(0.0..1.0).contains(&self.damping) {
            return refuse("the damping", "at least 0 and below 1", self.damping);
        }
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return refuse("the tolerance", "at least 0", self.tolerance);
        }
        if let Inference::Annealed { first, last } = self.inference {
            for temperature in [first, last] {
                if !(1e-6..=1e6).contains(&temperature) {
                    return refuse("a temperature", "between 1e-6 and 1e6", temperature);
                }
            }
        }
        Ok(())
    }

    /// Returns the algebra of an iteration.
    pub(super) fn algebra(&self, iteration: usize) -> Algebra {
        match self.inference {
            Inference::SumProduct => Algebra::PLAIN,
            Inference::MaxProduct => Algebra { sum: Sum::Best, temperature: 1.0 },
            Inference::Annealed { first, last } => {
                let steps = self.iterations.saturating_sub(1).max(1) as f64;
                let done = (iteration as f64 / steps).min(1.0);
                let temperature =
                    if done == 1.0 { last } else { first * (last / first).powf(done) };
                Algebra { sum: Sum::All, temperature }
            }
        }
    }
}

/// How belief propagation ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Number of iterations done.
    pub iterations: usize,
    /// Largest change of a belief in the last iteration; 1 if there was no iteration.
    pub residual: f64,
    /// True if the residual is at most the tolerance (1e-9 if the tolerance is 0). False is an ordinary
    /// end: beliefs are then those of the last iteration.
    pub converged: bool,
}
