//! Inputs of the fuzz targets, for the tests that replay them without a fuzzer.
#![allow(dead_code, reason = "every test uses its own part")]

use std::fs;
use std::path::{Path, PathBuf};

/// Returns all committed inputs of a target, sorted by path: its [`seeds`], and those that a fuzzer found
/// (`fuzz/corpus/TARGET`).
///
/// # Panics
/// If the target has no seeds, or if a file cannot be read.
pub(crate) fn inputs(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut inputs = seeds(target);
    inputs.extend(files("corpus", target));
    inputs.sort();
    inputs
}

/// Returns the inputs of a target that were written by hand (`fuzz/seeds/TARGET`), sorted by path.
///
/// # Panics
/// If there are none, or if a file cannot be read.
pub(crate) fn seeds(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let seeds = files("seeds", target);
    assert!(!seeds.is_empty(), "fuzz/seeds/{target} has no files");
    seeds
}

fn files(folder: &str, target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let fuzz = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz"));
    let entries = fs::read_dir(fuzz.join(folder).join(target)).into_iter().flatten();
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).expect("the file can be read");
        (path, bytes)
    };
    let mut files: Vec<_> =
        entries.map(|entry| read(entry.expect("the folder can be read").path())).collect();
    files.sort();
    files
}
