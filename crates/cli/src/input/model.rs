//! Which model is asked: one that was named, or the English one inside the program.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use tutte::ModelFile;

/// The English model; `models/README.md` says where it comes from.
#[cfg(feature = "english")]
static ENGLISH: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/en.tutte"));

/// The model; flattened into the arguments of verbs.
#[derive(Args, Clone, Debug)]
pub(crate) struct ModelSource {
    /// The model, as `tutte train` writes it [default: a small English one inside tutte]
    #[arg(short, long, value_name = "MODEL")]
    model: Option<PathBuf>,
}

impl ModelSource {
    /// The model and what its file says of it.
    pub(crate) fn open(&self) -> Result<ModelFile> {
        match &self.model {
            Some(path) => Ok(ModelFile::open(path)?),
            None => inside(),
        }
    }

    /// What messages call it.
    pub(crate) fn name(&self) -> String {
        match &self.model {
            Some(path) => path.display().to_string(),
            None => "the English model inside tutte".to_owned(),
        }
    }
}

#[cfg(feature = "english")]
fn inside() -> Result<ModelFile> {
    Ok(ModelFile::embedded(ENGLISH)?)
}

#[cfg(not(feature = "english"))]
fn inside() -> Result<ModelFile> {
    let error = anyhow::anyhow!("no model was named, and this tutte was built without one inside");
    let hint = "name one with -m MODEL; `tutte train TRAIN -o MODEL` makes one from a treebank";
    Err(crate::failure::advise(error, hint))
}
