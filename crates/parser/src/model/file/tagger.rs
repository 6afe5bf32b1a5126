//! The tables of a [`Tagger`] in a model file, and the scales of both tables of weights.
//!
//! ```text
//! tagger          i8  [rows, tags]    weights of coarse tags
//! tagger.pairs    f32 [pairs]         scores of neighbouring tags; the last row is that of the start
//! tagger.fine     i8  [rows, parts]   weights of fine tags and features
//! tagger.words    u64 [words]         lexicon: hashes of lower-case forms, increasing
//! tagger.classes  u32 [words]         class of each form
//! tagger.usual    u8  [words]         number of its most frequent tag, plus one
//! tagger.lemmas   u64 [entries]       hashes of the keys of lemmas, increasing
//! tagger.rules    u16 [entries]       lemma rule of each key
//! ```

use safetensors::{Dtype, SafeTensorError};

use super::tables::{NamedTable, Tables, table};
use crate::text::{Tagger, TaggerDocument, TaggerShapes, TaggerTables};
use crate::{Compact, ModelProblem, Weights};

/// The tables of a tagger as bytes.
pub(super) struct TaggerBytes {
    tables: TaggerTables,
    shapes: TaggerShapes,
    scales: [[u8; 4]; 2],
    pairs: Vec<u8>,
    words: Vec<u8>,
    classes: Vec<u8>,
    lemmas: Vec<u8>,
    rules: Vec<u8>,
}

impl TaggerBytes {
    pub(super) fn new(tagger: &Tagger<Compact>) -> Self {
        let tables = tagger.tables();
        Self {
            shapes: tagger.shapes(),
            scales: [&tables.weights, &tables.fine].map(|weights| weights.scale().to_le_bytes()),
            pairs: tables.pairs.iter().flat_map(|score| score.to_le_bytes()).collect(),
            words: tables.words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            classes: tables.classes.iter().flat_map(|class| class.to_le_bytes()).collect(),
            lemmas: tables.lemmas.iter().flat_map(|entry| entry.to_le_bytes()).collect(),
            rules: tables.rules.iter().flat_map(|rule| rule.to_le_bytes()).collect(),
            tables,
        }
    }

    pub(super) fn tables(&self) -> Result<[NamedTable<'_>; 10], SafeTensorError> {
        let TaggerTables { weights, fine, usual, .. } = &self.tables;
        let shape = |(rows, columns)| vec![rows, columns];
        let coarse_shape = shape(self.shapes.coarse);
        let fine_shape = shape(self.shapes.fine);
        let [coarse_scale, fine_scale] = &self.scales;
        let list = |name, dtype: Dtype, bytes| {
            let length = <[u8]>::len(bytes) / (dtype.bitsize() / 8);
            table(name, dtype, vec![length], bytes)
        };
        Ok([
            table("tagger", Dtype::I8, coarse_shape, bytemuck::cast_slice(weights.cells()))?,
            table("tagger.fine", Dtype::I8, fine_shape, bytemuck::cast_slice(fine.cells()))?,
            list("tagger.scale", Dtype::F32, coarse_scale)?,
            list("tagger.fine.scale", Dtype::F32, fine_scale)?,
            list("tagger.pairs", Dtype::F32, &self.pairs)?,
            list("tagger.words", Dtype::U64, &self.words)?,
            list("tagger.classes", Dtype::U32, &self.classes)?,
            list("tagger.usual", Dtype::U8, usual)?,
            list("tagger.lemmas", Dtype::U64, &self.lemmas)?,
            list("tagger.rules", Dtype::U16, &self.rules)?,
        ])
    }
}

impl Tables<'_> {
    /// Makes the tagger of a document.
    pub(super) fn tagger(&self, document: TaggerDocument) -> Result<Tagger<Compact>, ModelProblem> {
        let shapes = document.shapes()?;
        let (rows, columns) = shapes.coarse;
        let coarse = [rows, columns];
        let (rows, columns) = shapes.fine;
        let fine = [rows, columns];
        let u64s = |bytes: &[u8]| -> Vec<u64> {
            bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
        };
        let words = u64s(self.list("tagger.words", Dtype::U64)?);
        let lemmas = u64s(self.list("tagger.lemmas", Dtype::U64)?);
        let sized = |name, dtype, length| -> Result<&[u8], ModelProblem> {
            Ok(self.bytes(self.find(name, dtype, &[length])?))
        };
        let pairs = sized("tagger.pairs", Dtype::F32, document.pairs())?;
        let classes = sized("tagger.classes", Dtype::U32, words.len())?;
        let usual = sized("tagger.usual", Dtype::U8, words.len())?;
        let rules = sized("tagger.rules", Dtype::U16, lemmas.len())?;
        let tables = TaggerTables {
            weights: self.weights("tagger", &coarse, "tagger.scale")?,
            fine: self.weights("tagger.fine", &fine, "tagger.fine.scale")?,
            pairs: pairs.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            words,
            classes: classes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect(),
            usual: usual.to_vec(),
            lemmas,
            rules: rules.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect(),
        };
        Ok(document.tagger(tables)?)
    }
}
