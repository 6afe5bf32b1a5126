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

/// Temperature and calibration for raw text.
///
/// The probability of a head counts words and sentences as certain. Those that a model found in raw text are wrong at
/// times, so probabilities would be too high.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextCalibration {
    /// Divisor of the scores of the last pass.
    pub temperature: f64,
    /// Calibration measured at this temperature.
    #[serde(flatten)]
    pub calibration: Calibration,
}

/// Source of the words and sentences that the parser sees. It decides which calibration of the model applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WordSource {
    /// A treebank or another program.
    #[default]
    Given,
    /// The tokenizer of the model, from raw text.
    Model,
}

impl WordSource {
    /// Returns the temperature of a model for such words.
    pub fn temperature<W>(self, model: &ParserModel<W>) -> f64 {
        let for_text = model.text_calibration.as_ref().filter(|_| self == WordSource::Model);
        for_text.map_or(model.temperature, |text| text.temperature)
    }

    /// Returns the calibration of a model for such words, if it was measured.
    pub fn calibration<W>(self, model: &ParserModel<W>) -> Option<&Calibration> {
        let for_text = model.text_calibration.as_ref().filter(|_| self == WordSource::Model);
        for_text.map(|text| &text.calibration).or(model.calibration.as_ref())
    }
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

/// Rounds to six digits, which survive writing and reading.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// Rounds down to six digits.
pub(super) fn rounded_down(number: f64) -> f64 {
    let down = (number * 1e6).floor() / 1e6;
    if down <= number { down } else { ((number * 1e6).floor() - 1.0).max(0.0) / 1e6 }
}
