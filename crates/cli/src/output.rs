//! Arguments that name a file to write.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::failure::Usage;

/// Parses the name of a file to write. Its folder must exist: a missing one is an error before any work.
pub(crate) fn output_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match missing_folder(&path) {
        Some(folder) => Err(Usage(no_folder(folder))),
        None => Ok(path),
    })
}

/// Returns the folder of a file to write, if it does not exist.
pub(crate) fn missing_folder(file: &Path) -> Option<&Path> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    (!folder.is_dir()).then_some(folder)
}

/// Returns the message for a folder that does not exist.
pub(crate) fn no_folder(folder: &Path) -> String {
    let folder = folder.display();
    format!("there is no folder {folder}; create it with `mkdir -p {folder}`, or name another file")
}
