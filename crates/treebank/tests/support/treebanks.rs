//! Real treebanks, for tests and benchmarks that can run without them. They are large, and cannot
//! be distributed with the project.
#![allow(dead_code, unreachable_pub, reason = "not every test needs everything")]

use std::fs;
use std::path::{Path, PathBuf};

/// Returns `$TUTTE_DATA`, or a folder beside the project.
pub fn root() -> PathBuf {
    std::env::var_os("TUTTE_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    )
}

/// Returns every treebank file, sorted by name. If there is none, reports that the test is skipped.
pub fn treebanks() -> Vec<PathBuf> {
    let root = root();
    let mut folders = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if is_conllu(&path) || path.extension().is_some_and(|e| e == "conll") {
                files.push(path);
            }
        }
    }
    files.sort();
    if files.is_empty() {
        skipped(&format!("no treebanks in {}", root.display()));
    }
    files
}

pub fn is_conllu(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "conllu")
}

/// Reports on standard error that a test is skipped. Writes directly, since the test harness hides
/// the output of passing tests.
pub fn skipped(why: &str) {
    use std::io::Write as _;
    let thread = std::thread::current();
    let test = thread.name().filter(|&name| name != "main");
    let test = test.map(|name| format!(" {name}")).unwrap_or_default();
    let line = format!("SKIPPED{test}: {why}; TUTTE_DATA can name a folder of treebanks\n");
    // A failure to write cannot be reported.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
