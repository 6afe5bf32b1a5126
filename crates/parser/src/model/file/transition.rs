//! The transition parser in a model file: two tables of weights, with their scales.

use safetensors::{Dtype, SafeTensorError};
use serde::{Deserialize, Serialize};

use super::document::{Document, within};
use super::tables::{NamedTable, Tables, table};
use crate::{Compact, ModelProblem, TransitionParser, Weights};

/// The part of the document for the transition parser.
#[derive(Serialize, Deserialize)]
pub(super) struct TransitionDocument {
    /// Binary logarithms of the numbers of rows: for steps, for labels.
    bits: [u32; 2],
    /// `true` if it reads backwards, too.
    #[serde(rename = "is_both_ways")]
    bidirectional: bool,
}

/// Names of the table of steps and of its scale.
const STEPS: (&str, &str) = ("shifter", "shifter.scale");
/// Names of the table of labels and of its scale.
const LABELS: (&str, &str) = ("shifter.labels", "shifter.labels.scale");

impl TransitionDocument {
    pub(super) fn new(transition: &TransitionParser<Compact>) -> Self {
        Self { bits: transition.bits(), bidirectional: transition.bidirectional }
    }

    /// Makes the transition parser, which has the number of labels of the model.
    pub(super) fn parser(
        &self,
        labels: usize,
        tables: &Tables<'_>,
    ) -> Result<TransitionParser<Compact>, ModelProblem> {
        let labels = labels.max(1);
        let [steps, functions] = self.bits;
        let rows = |bits| -> Result<usize, ModelProblem> { Ok(1 << within(bits, Document::BITS)?) };
        Ok(TransitionParser {
            steps: tables.weights(
                STEPS.0,
                &[rows(steps)?, TransitionParser::<Compact>::STEPS],
                STEPS.1,
            )?,
            functions: tables.weights(LABELS.0, &[rows(functions)?, labels], LABELS.1)?,
            labels,
            bidirectional: self.bidirectional,
        })
    }
}

/// Returns the scales of its tables as bytes.
pub(super) fn scales(transition: &TransitionParser<Compact>) -> [[u8; 4]; 2] {
    [&transition.steps, &transition.functions].map(|weights| weights.scale().to_le_bytes())
}

/// Returns its tables.
pub(super) fn tables<'a>(
    transition: &'a TransitionParser<Compact>,
    scales: &'a [[u8; 4]; 2],
) -> Result<Vec<NamedTable<'a>>, SafeTensorError> {
    let TransitionParser { steps, functions, labels, .. } = transition;
    let [step_rows, label_rows] = transition.bits().map(|bits| 1 << bits);
    let steps = bytemuck::cast_slice(steps.cells());
    let functions = bytemuck::cast_slice(functions.cells());
    Ok(vec![
        table(STEPS.0, Dtype::I8, vec![step_rows, TransitionParser::<Compact>::STEPS], steps)?,
        table(STEPS.1, Dtype::F32, vec![1], &scales[0])?,
        table(LABELS.0, Dtype::I8, vec![label_rows, *labels], functions)?,
        table(LABELS.1, Dtype::F32, vec![1], &scales[1])?,
    ])
}
