//! The model: a file, or one of the English ones inside the program.
//!
//! `english` and `english-large` name models inside the program. A file or folder of such a name in the current folder
//! comes first, as for any other path.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use tutte::ModelFile;

/// Models inside the program, described in `models/README.md` and packed by the build script.
#[cfg(feature = "english")]
static ENGLISH: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/en.tutte.packed"));
#[cfg(english_large)]
static ENGLISH_LARGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/en-large.tutte.packed"));

/// Argument that names the model.
#[derive(Args, Clone, Debug)]
pub(crate) struct ModelSource {
    /// Model written by `tutte train`, or english-large [default: english, inside tutte]
    #[arg(short, long, value_name = "MODEL")]
    model: Option<PathBuf>,
}

/// A model that is a part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    English,
    EnglishLarge,
}

impl Inside {
    /// Returns the model of a name.
    fn of(name: &Path) -> Option<Self> {
        [Self::English, Self::EnglishLarge]
            .into_iter()
            .find(|it| name == Path::new(it.short_name()))
    }

    fn short_name(self) -> &'static str {
        match self {
            Self::English => "english",
            Self::EnglishLarge => "english-large",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::English => "the English model inside tutte",
            Self::EnglishLarge => "the large English model inside tutte",
        }
    }

    fn open(self) -> Result<ModelFile> {
        match self {
            Self::English => english(),
            Self::EnglishLarge => english_large(),
        }
    }
}

impl ModelSource {
    /// Returns the source of a name.
    pub(crate) fn named(name: &Path) -> Self {
        Self { model: Some(name.to_owned()) }
    }

    /// Returns the source with another model, if one is named.
    pub(crate) fn or(&self, named: Option<&PathBuf>) -> Self {
        Self { model: named.or(self.model.as_ref()).cloned() }
    }

    /// Opens the model with the metadata of its file.
    pub(crate) fn open(&self) -> Result<ModelFile> {
        match self.choice() {
            Ok(path) => Ok(ModelFile::open(path)?),
            Err(inside) => inside.open(),
        }
    }

    /// Returns the path of the model, unless it is one inside the program.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.choice().ok()
    }

    /// Returns the name of the model's file without folders, or that of the model inside the program.
    pub(crate) fn short_name(&self) -> String {
        match self.choice() {
            Ok(path) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into(),
            Err(inside) => inside.short_name().to_owned(),
        }
    }

    /// Returns the name of the model for messages.
    pub(crate) fn name(&self) -> String {
        match self.choice() {
            Ok(path) => path.display().to_string(),
            Err(inside) => inside.name().to_owned(),
        }
    }

    /// Returns the path of the model, or the model inside the program.
    fn choice(&self) -> Result<&Path, Inside> {
        let Some(path) = &self.model else { return Err(Inside::English) };
        match Inside::of(path).filter(|_| !path.exists()) {
            Some(inside) => Err(inside),
            None => Ok(path),
        }
    }
}

#[cfg(feature = "english")]
fn english() -> Result<ModelFile> {
    Ok(ModelFile::embedded_packed(ENGLISH)?)
}

#[cfg(not(feature = "english"))]
fn english() -> Result<ModelFile> {
    let error = anyhow::anyhow!("no model was named, and this build of tutte has none inside");
    let hint = "name a model with -m MODEL; `tutte train TREEBANK -o MODEL` makes one";
    Err(crate::failure::advise(error, hint))
}

#[cfg(english_large)]
fn english_large() -> Result<ModelFile> {
    Ok(ModelFile::embedded_packed(ENGLISH_LARGE)?)
}

#[cfg(not(english_large))]
fn english_large() -> Result<ModelFile> {
    let error = anyhow::anyhow!("this build of tutte does not have the model english-large inside");
    let hint = if cfg!(not(feature = "neural")) {
        "it is a network: build tutte with `cargo build --release -p tutte-cli --features neural`; -m english names the \
         small model"
    } else if cfg!(not(feature = "english")) {
        "build tutte with the features `english` and `neural`"
    } else {
        "models/en-large.tutte.gz was missing when tutte was built: `scripts/make-english-model` makes it, then build again"
    };
    Err(crate::failure::advise(error, hint))
}
