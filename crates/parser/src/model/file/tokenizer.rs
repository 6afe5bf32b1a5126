//! The tables of a [`Tokenizer`] in a model file, each with its scale.
//!
//! ```text
//! tokens          i8  [weights]       weights of token ends
//! sentences       i8  [weights]       weights of sentence ends
//! multiword       i8  [weights]       weights of rules for multiword tokens
//! forms           i8  [cells]         frequencies of forms as words
//! kinds           i8  [cells]         parts of speech of forms, one bit each
//! ```

use safetensors::{Dtype, SafeTensorError};

use super::tables::{NamedTable, Tables, table};
use crate::text::{Tokenizer, TokenizerDocument};
use crate::{Compact, ModelProblem, Weights};

/// Names of the tables and of their scales.
const SCALES: [(&str, &str); 5] = [
    ("tokens", "tokens.scale"),
    ("sentences", "sentences.scale"),
    ("multiword", "multiword.scale"),
    ("forms", "forms.scale"),
    ("kinds", "kinds.scale"),
];

/// Returns the name of a table's scale.
fn scale_of(name: &str) -> &'static str {
    SCALES.iter().find(|(table, _)| *table == name).map_or("", |(_, scale)| scale)
}

/// Returns the scales of a tokenizer's tables as bytes.
pub(super) fn scales(tokenizer: &Tokenizer<Compact>) -> Vec<[u8; 4]> {
    tokenizer.tables().iter().map(|(_, weights)| weights.scale().to_le_bytes()).collect()
}

/// Returns the tables of a tokenizer.
pub(super) fn tables<'a>(
    tokenizer: &'a Tokenizer<Compact>,
    scales: &'a [[u8; 4]],
) -> Result<Vec<NamedTable<'a>>, SafeTensorError> {
    let mut all = Vec::new();
    for ((name, weights), scale) in tokenizer.tables().into_iter().zip(scales) {
        let cells = weights.cells();
        all.push(table(name, Dtype::I8, vec![cells.len()], bytemuck::cast_slice(cells))?);
        all.push(table(scale_of(name), Dtype::F32, vec![1], scale)?);
    }
    Ok(all)
}

impl Tables<'_> {
    /// Makes the tokenizer of a document.
    pub(super) fn tokenizer(
        &self,
        document: TokenizerDocument,
    ) -> Result<Tokenizer<Compact>, ModelProblem> {
        document.tokenizer(|name, cells| self.weights(name, &[cells], scale_of(name)))
    }
}
