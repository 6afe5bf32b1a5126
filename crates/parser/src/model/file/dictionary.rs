//! The tables of a [`Dictionary`] in a model file, here for the features of `arcs`.
//!
//! ```text
//! arcs.keys       u64 [features]   keys, increasing
//! arcs.slots      u16 [features]   for each key, a bit for each slot that has a weight; the weights
//!                                  of all features follow each other in `arcs`, slot by slot
//! arcs.values     u8  [bytes]      values of attributes, one per line
//! arcs.names      u8  [bytes]      for each feature, its template and its values (see `Names`)
//! ```

use safetensors::{Dtype, SafeTensorError};

use super::tables::{ArcTables, NamedTable, Tables, table};
use crate::features::FeatureSet;
use crate::features::index::Names;
use crate::{Dictionary, Index, ModelProblem};

/// A dictionary as bytes.
pub(super) struct DictionaryBytes {
    keys: Vec<u8>,
    slots: Vec<u8>,
    values: String,
    names: Vec<u8>,
}

impl DictionaryBytes {
    /// Makes the bytes of an index's dictionary, if it has one.
    pub(super) fn new(index: &Index) -> Option<Self> {
        let Index::Dictionary(dictionary) = index else { return None };
        Some(Self {
            keys: dictionary.keys().flat_map(|(key, _)| key.to_le_bytes()).collect(),
            slots: dictionary.keys().flat_map(|(_, mask)| mask.to_le_bytes()).collect(),
            values: dictionary.names().values(),
            names: dictionary.names().recipes().to_vec(),
        })
    }

    pub(super) fn tables(
        &self,
        table_names: &ArcTables,
    ) -> Result<[NamedTable<'_>; 4], SafeTensorError> {
        let Self { keys, slots, values, names } = self;
        Ok([
            table(table_names.keys, Dtype::U64, vec![keys.len() / 8], keys)?,
            table(table_names.slots, Dtype::U16, vec![slots.len() / 2], slots)?,
            table(table_names.values, Dtype::U8, vec![values.len()], values.as_bytes())?,
            table(table_names.names, Dtype::U8, vec![names.len()], names)?,
        ])
    }
}

impl Tables<'_> {
    /// Makes the dictionary of an arc scorer with these features.
    pub(super) fn dictionary(
        &self,
        table_names: &ArcTables,
        features: &FeatureSet,
    ) -> Result<Dictionary, ModelProblem> {
        let wrong = |name, expected: &str| {
            let expected = expected.to_owned();
            move |found| ModelProblem::Table { name, found, expected }
        };
        let keys = self.list(table_names.keys, Dtype::U64)?.as_chunks::<8>().0;
        let slots = &self.bytes(self.find(table_names.slots, Dtype::U16, &[keys.len()])?);
        let keys = keys.iter().map(|key| u64::from_le_bytes(*key));
        let slots = slots.as_chunks::<2>().0.iter().map(|mask| u16::from_le_bytes(*mask));
        let dictionary = Dictionary::from_keys(keys.zip(slots))
            .map_err(wrong(table_names.keys, "increasing keys of features"))?;
        // Copied before it is checked: a mapped file may change.
        let values = String::from_utf8(self.list(table_names.values, Dtype::U8)?.to_vec())
            .map_err(|error| wrong(table_names.values, "text in UTF-8")(error.to_string()))?;
        let names = self.list(table_names.names, Dtype::U8)?;
        let names = Names::from_file(&values, names.to_vec(), features, dictionary.len())
            .map_err(wrong(table_names.names, "a name for each key"))?;
        Ok(dictionary.with_names(names))
    }
}
