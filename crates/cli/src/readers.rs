//! Readers of the program's own formats, for tests and fuzz targets.

use std::path::Path;

use anyhow::Result;
use tutte::{Compact, Model};
use tutte_treebank::Sentence;

use crate::{input, verbs};

/// Returns the sentences of JSON Lines. Raw text in them is segmented by the model.
pub fn json_lines(
    bytes: Vec<u8>,
    model: &Model<Compact>,
) -> impl Iterator<Item = Result<Sentence>> + '_ {
    input::json_lines(bytes, model)
}

/// Resumes the job whose manifest is in a folder, and ends it. Returns the output and the JSON of each finished file.
///
/// # Errors
/// If the manifest is refused.
pub fn resume_job(folder: &Path, settings: &str) -> Result<Vec<(String, String)>> {
    verbs::resume_job(folder, settings)
}
