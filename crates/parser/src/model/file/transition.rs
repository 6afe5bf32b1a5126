//! The shifter of a model file: two tables of weights, with their scales.

use safetensors::{Dtype, SafeTensorError};
use serde::{Deserialize, Serialize};

use super::document::{Document, within};
use super::tables::{NamedTable, Tables, table};
use crate::{Compact, ModelProblem, Shifter, Weights};

/// What is said of it beside its tables.
#[derive(Serialize, Deserialize)]
pub(super) struct ShifterDocument {
    /// The binary logarithms of the numbers of rows: of steps, of labels.
    bits: [u32; 2],
    /// Whether it also reads backwards.
    is_both_ways: bool,
}

const STEPS: (&str, &str) = ("shifter", "shifter.scale");
const LABELS: (&str, &str) = ("shifter.labels", "shifter.labels.scale");

impl ShifterDocument {
    pub(super) fn new(shifter: &Shifter<Compact>) -> Self {
        Self { bits: shifter.bits(), is_both_ways: shifter.is_both_ways }
    }

    /// The shifter, whose labels are as many as the model's.
    pub(super) fn shifter(
        &self,
        labels: usize,
        tables: &Tables<'_>,
    ) -> Result<Shifter<Compact>, ModelProblem> {
        let labels = labels.max(1);
        let [steps, functions] = self.bits;
        let rows = |bits| -> Result<usize, ModelProblem> { Ok(1 << within(bits, Document::BITS)?) };
        Ok(Shifter {
            steps: tables.weights(STEPS.0, &[rows(steps)?, Shifter::<Compact>::STEPS], STEPS.1)?,
            functions: tables.weights(LABELS.0, &[rows(functions)?, labels], LABELS.1)?,
            labels,
            is_both_ways: self.is_both_ways,
        })
    }
}

/// The scales of its tables.
pub(super) fn scales(shifter: &Shifter<Compact>) -> [[u8; 4]; 2] {
    [&shifter.steps, &shifter.functions].map(|weights| weights.scale().to_le_bytes())
}

/// Its tables.
pub(super) fn tables<'a>(
    shifter: &'a Shifter<Compact>,
    scales: &'a [[u8; 4]; 2],
) -> Result<Vec<NamedTable<'a>>, SafeTensorError> {
    let Shifter { steps, functions, labels, .. } = shifter;
    let [step_rows, label_rows] = shifter.bits().map(|bits| 1 << bits);
    let steps = bytemuck::cast_slice(steps.cells());
    let functions = bytemuck::cast_slice(functions.cells());
    Ok(vec![
        table(STEPS.0, Dtype::I8, vec![step_rows, Shifter::<Compact>::STEPS], steps)?,
        table(STEPS.1, Dtype::F32, vec![1], &scales[0])?,
        table(LABELS.0, Dtype::I8, vec![label_rows, *labels], functions)?,
        table(LABELS.1, Dtype::F32, vec![1], &scales[1])?,
    ])
}
