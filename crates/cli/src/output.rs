//! Arguments that name a file to write.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::failure::Usage;

/// Parses the name of a file to write. Its folder must exist: a missing one is an error before any work.
pub(crate) fn output_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| check_folder(&path).map(|()| path))
}

/// Refuses a file to write in a folder that does not exist.
pub(crate) fn check_folder(file: &Path) -> Result<(), Usage> {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            let folder = folder.display();
            Err(Usage(format!(
                "there is no folder {folder}; create it with `mkdir -p {folder}`, or name another file"
            )))
        }
        _ => Ok(()),
    }
}
