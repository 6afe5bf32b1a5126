//! The model: a file, or the English one inside the program.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use tutte::ModelFile;

/// The English model, described in `models/README.md` and packed by the build script.
#[cfg(feature = "english")]
static ENGLISH: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/en.tutte.packed"));

/// Argument that names the model.
#[derive(Args, Clone, Debug)]
pub(crate) struct ModelSource {
    /// Model written by `tutte train` [default: a small English one inside tutte]
    #[arg(short, long, value_name = "MODEL")]
    model: Option<PathBuf>,
}

impl ModelSource {
    /// Opens the model with the metadata of its file.
    pub(crate) fn open(&self) -> Result<ModelFile> {
        match &self.model {
            Some(path) => Ok(ModelFile::open(path)?),
            None => inside(),
        }
    }

    /// Returns the name of the model's file without folders, or `english` for the one inside the program.
    pub(crate) fn short_name(&self) -> String {
        match &self.model {
            Some(path) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into(),
            None => "english".to_owned(),
        }
    }

    /// Returns the name of the model for messages.
    pub(crate) fn name(&self) -> String {
        match &self.model {
            Some(path) => path.display().to_string(),
            None => "the English model inside tutte".to_owned(),
        }
    }
}

#[cfg(feature = "english")]
fn inside() -> Result<ModelFile> {
    Ok(ModelFile::embedded_packed(ENGLISH)?)
}

#[cfg(not(feature = "english"))]
fn inside() -> Result<ModelFile> {
    let error = anyhow::anyhow!("no model was named, and this build of tutte has none inside");
    let hint = "name a model with -m MODEL; `tutte train TREEBANK -o MODEL` makes one";
    Err(crate::failure::advise(error, hint))
}
