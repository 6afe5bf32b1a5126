//! Factors in a model file: a table of weights with its scale, templates, and the number of iterations.

use safetensors::{Dtype, SafeTensorError};
use serde::{Deserialize, Serialize};

use super::document::within;
use super::tables::{NamedTable, Tables, table};
use crate::features::{FACTOR_BLOCK, FactorSet};
use crate::model::MOST_BITS;
use crate::{Compact, FactorModel, ModelProblem, Weights};

/// The part of the document for factors.
#[derive(Serialize, Deserialize)]
pub(super) struct FactorDocument {
    /// Binary logarithm of the number of weights.
    bits: u32,
    /// Number of iterations of belief propagation.
    iterations: usize,
    templates: Vec<String>,
}

/// Name of the table of weights.
const WEIGHTS: &str = "factors";
/// Name of its scale.
const SCALE: &str = "factors.scale";
/// Largest number of iterations that a model may ask for.
const MOST_ITERATIONS: usize = 100;

impl FactorDocument {
    pub(super) fn new(factors: &FactorModel<Compact>) -> Self {
        Self {
            bits: factors.bits(),
            iterations: factors.iterations,
            templates: factors.features.to_string().lines().map(str::to_owned).collect(),
        }
    }

    /// Makes the model of factors.
    pub(super) fn model(&self, tables: &Tables<'_>) -> Result<FactorModel<Compact>, ModelProblem> {
        let features = FactorSet::from_lines(self.templates.iter().map(String::as_str))
            .map_err(|error| ModelProblem::UnknownTemplate(Box::new(error)))?;
        let bits = within(self.bits, FACTOR_BLOCK.ilog2() + 1..=MOST_BITS)?;
        if self.iterations > MOST_ITERATIONS {
            let what = format!("it asks for {} iterations of its factors", self.iterations);
            return Err(ModelProblem::Altered { what });
        }
        let weights = tables.weights(WEIGHTS, &[1 << bits], SCALE)?;
        Ok(FactorModel::with_weights(features, bits, self.iterations, weights))
    }
}

/// Returns the scale of the weights as bytes.
pub(super) fn scale(factors: &FactorModel<Compact>) -> [u8; 4] {
    factors.weights.scale().to_le_bytes()
}

/// Returns the tables.
pub(super) fn tables<'a>(
    factors: &'a FactorModel<Compact>,
    scale: &'a [u8; 4],
) -> Result<Vec<NamedTable<'a>>, SafeTensorError> {
    let cells = factors.weights.cells();
    Ok(vec![
        table(WEIGHTS, Dtype::I8, vec![cells.len()], bytemuck::cast_slice(cells))?,
        table(SCALE, Dtype::F32, vec![1], scale)?,
    ])
}
