//! Arguments that name a file to write.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::failure::Usage;

/// Parses the name of a file to write. It is not a folder, and its folder exists: all else is an error before any work.
pub(crate) fn output_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| check_folder_of(&path).map(|()| path))
}

/// Refuses a file to write if it is a folder, or if its folder does not exist; `-` is standard output.
pub(crate) fn check_folder_of(file: &Path) -> Result<(), Usage> {
    if file.is_dir() {
        return Err(Usage(format!("{} is a folder; name a file", file.display())));
    }
    // The file behind a link is written, in its own folder.
    let file = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => {
            let folder = folder.display();
            Err(Usage(format!(
                "there is no folder {folder}; create it with `mkdir -p {folder}`, or name another file"
            )))
        }
        _ => Ok(()),
    }
}
