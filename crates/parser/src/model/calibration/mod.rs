//! Calibration: corrected confidences, and the precision that thresholds reach.

mod isotonic;
mod precision;

use serde::{Deserialize, Serialize};

pub use self::isotonic::Isotonic;
pub use self::precision::{KeptHeads, PrecisionTable};
use crate::ParserModel;

/// The calibration of a model, in addition to its temperature.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Name of the treebank on which it was measured.
    pub data: Option<String>,
    /// Number of sentences.
    pub sentences: usize,
    /// Number of words with a gold head.
    pub words: usize,
    /// Map from the probabilities of the best tree's arcs to confidences; `None` leaves them as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isotonic: Option<Isotonic>,
    /// Precision of heads by threshold of confidence.
    pub precision: PrecisionTable,
}

/// The method of calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Method {
    /// A temperature.
    Temperature,
    /// A temperature, and an isotonic function for the confidences of the best tree's arcs.
    Isotonic,
}

impl Method {
    /// Returns the name, as in settings.
    pub fn name(self) -> &'static str {
        match self {
            Method::Temperature => "temperature",
            Method::Isotonic => "isotonic",
        }
    }
}

impl Calibration {
    /// Returns the method that was used.
    pub fn method(&self) -> Method {
        if self.isotonic.is_some() { Method::Isotonic } else { Method::Temperature }
    }
}

impl<W> ParserModel<W> {
    /// Returns the confidence of an arc of the best tree with this probability: the share of such arcs
    /// that are right. Without an isotonic calibration it is the probability itself.
    pub fn confidence(&self, probability: f64) -> f64 {
        let isotonic = self.calibration.as_ref().and_then(|it| it.isotonic.as_ref());
        isotonic.map_or(probability, |isotonic| isotonic.confidence(probability))
    }
}

/// Rounds to six digits, which survive writing and reading.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// Rounds down to six digits.
pub(super) fn rounded_down(number: f64) -> f64 {
    let down = (number * 1e6).floor() / 1e6;
    if down <= number { down } else { ((number * 1e6).floor() - 1.0).max(0.0) / 1e6 }
}
