//! Inputs of the fuzz targets, for the tests that replay them without a fuzzer.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns all committed inputs of a target, sorted by path: those written by hand (`fuzz/seeds/TARGET`) and those that
/// a fuzzer found (`fuzz/corpus/TARGET`).
///
/// # Panics
/// If the target has no seeds, or if a file cannot be read.
pub(crate) fn inputs(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let fuzz = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz"));
    let files = |folder: &str| {
        let files = fs::read_dir(fuzz.join(folder).join(target)).into_iter().flatten();
        files.map(|entry| entry.expect("the folder can be read").path()).collect::<Vec<_>>()
    };
    let mut paths = files("seeds");
    assert!(!paths.is_empty(), "fuzz/seeds/{target} has no files");
    paths.extend(files("corpus"));
    paths.sort();
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).expect("the file can be read");
        (path, bytes)
    };
    paths.into_iter().map(read).collect()
}
