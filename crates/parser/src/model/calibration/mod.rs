//! How far the probabilities of a model can be trusted, and how they are corrected.

mod isotonic;
mod precision;

use serde::{Deserialize, Serialize};

pub use self::isotonic::Isotonic;
pub use self::precision::{KeptHeads, PrecisionTable};
use crate::ParserModel;

/// What is known about how far a model's probabilities can be trusted, beside its temperature.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The name of the trees it was measured on.
    pub data: Option<String>,
    /// How many there were.
    pub sentences: usize,
    /// Their words, those whose head is known.
    pub words: usize,
    /// What confidences of the best tree's arcs go through; nothing, if they are probabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isotonic: Option<Isotonic>,
    /// How often heads are right that are reported with at least some confidence.
    pub precision: PrecisionTable,
}

/// How probabilities are mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// By a temperature.
    Temperature,
    /// By a temperature, and confidences of the best tree's arcs by an isotonic function.
    Isotonic,
}

impl Method {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Method::Temperature => "temperature",
            Method::Isotonic => "isotonic",
        }
    }
}

impl Calibration {
    /// What was done.
    pub fn method(&self) -> Method {
        if self.isotonic.is_some() { Method::Isotonic } else { Method::Temperature }
    }
}

impl<W> ParserModel<W> {
    /// What is reported of an arc of the best tree that has this probability: how often such arcs are
    /// right, if the model was calibrated so, otherwise the probability itself.
    pub fn confidence(&self, probability: f64) -> f64 {
        let isotonic = self.calibration.as_ref().and_then(|known| known.isotonic.as_ref());
        isotonic.map_or(probability, |isotonic| isotonic.confidence(probability))
    }
}

/// Six digits are enough, and are the same however they are read.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// The same, never above it.
pub(super) fn rounded_down(number: f64) -> f64 {
    let down = (number * 1e6).floor() / 1e6;
    if down <= number { down } else { ((number * 1e6).floor() - 1.0).max(0.0) / 1e6 }
}
