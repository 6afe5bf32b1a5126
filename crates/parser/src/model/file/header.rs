//! The header of a model file: its start, which describes the tables.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use safetensors::tensor::Metadata;
use tutte_linear::Content;

use super::ModelFile;
use super::document::{AnyDocument, Document, FORMAT, OLDEST_FORMAT};
use super::tables::Tables;
use crate::ModelProblem;

/// Key of the document in the header's metadata.
pub(super) const DOCUMENT: &str = "tutte";

/// The header of a file, copied into memory.
pub(super) struct Header {
    metadata: Metadata,
    /// Start of the tables.
    start: u64,
}

impl Header {
    /// Largest length of a header; that of a real model has about ten thousand bytes.
    const LONGEST: u64 = 1 << 26;

    /// Reads the header from the start of a file.
    pub(super) fn read(mut file: impl Read) -> Result<Self, ModelProblem> {
        let mut opening = Vec::new();
        file.by_ref().take(512).read_to_end(&mut opening).map_err(ModelProblem::Unreadable)?;
        let Some((length, [b'{', ..])) = opening.split_first_chunk::<8>() else {
            return Err(ModelProblem::NotAModel { found: guess_type(&opening) });
        };
        let length = u64::from_le_bytes(*length);
        if length > Self::LONGEST {
            return Err(ModelProblem::NotAModel { found: guess_type(&opening) });
        }
        let start = 8 + length;
        let mut text = opening.split_off(8);
        let rest = start.saturating_sub(8 + text.len() as u64);
        let read = file.take(rest).read_to_end(&mut text);
        let found = 8 + text.len() as u64;
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => ModelProblem::Truncated { found, expected: start },
            _ => ModelProblem::Unreadable(error),
        })?;
        if found < start {
            return Err(ModelProblem::Truncated { found, expected: start });
        }
        text.truncate(length as usize);
        let metadata: Metadata = serde_json::from_slice(&text).map_err(altered)?;
        Ok(Self { metadata, start })
    }

    /// Returns the length that the file should have.
    pub(super) fn length(&self) -> u64 {
        self.start.saturating_add(self.metadata.data_len() as u64)
    }

    /// Checks the length of the file.
    pub(super) fn check_length(&self, bytes: u64) -> Result<(), ModelProblem> {
        let expected = self.length();
        match bytes {
            _ if bytes == expected => Ok(()),
            _ if bytes < expected => Err(ModelProblem::Truncated { found: bytes, expected }),
            _ => {
                let what = format!("it has {bytes} bytes, expected {expected}");
                Err(ModelProblem::Altered { what })
            }
        }
    }

    /// Returns the text of the document and its content, if it has this format version.
    pub(super) fn document(&self) -> Result<(&str, Document), ModelProblem> {
        let text = self.metadata.metadata().as_ref().and_then(|map| map.get(DOCUMENT));
        let text = text.ok_or(ModelProblem::NotAModel { found: "tensors of another program" })?;
        let AnyDocument { format, tutte } = serde_json::from_str(text).map_err(altered)?;
        if !(OLDEST_FORMAT..=FORMAT).contains(&format) {
            return Err(ModelProblem::FormatVersion {
                found: format,
                expected: FORMAT,
                writer: tutte,
            });
        }
        Ok((text, serde_json::from_str(text).map_err(altered)?))
    }

    /// Makes the model of a file with this header, which is in a folder unless it is inside the program.
    pub(super) fn model(
        &self,
        content: Content,
        folder: Option<&Path>,
    ) -> Result<ModelFile, ModelProblem> {
        let bytes = content.len() as u64;
        self.check_length(bytes)?;
        let (text, document) = self.document()?;
        let content = Arc::new(content);
        let start = self.start as usize;
        let tables = Tables::new(&self.metadata, start, &content, folder);
        tables.check(text, &document.checksum)?;
        let Document { format, checksum, tutte, about, .. } = &document;
        Ok(ModelFile {
            about: about.clone(),
            format: *format,
            tutte: tutte.clone(),
            checksum: checksum.clone(),
            bytes,
            model: document.model(&tables)?,
        })
    }
}

fn altered(error: serde_json::Error) -> ModelProblem {
    ModelProblem::Altered { what: format!("its header cannot be read ({error})") }
}

pub(super) const GZIP: &str = "a gzip file";
pub(super) const ZSTANDARD: &str = "a Zstandard file";

/// Guesses the type of a file that is not a model, from its first bytes.
fn guess_type(opening: &[u8]) -> &'static str {
    match opening {
        [] => "an empty file",
        [0x1f, 0x8b, ..] => GZIP,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => ZSTANDARD,
        [b'P', b'K', 3, 4, ..] => "a zip file",
        // These bytes may end in the middle of a character.
        _ if !opening.contains(&0)
            && std::str::from_utf8(opening).map_or_else(|e| e.error_len().is_none(), |_| true) =>
        {
            "a text file"
        }
        _ => "a file of another kind",
    }
}
