//! Checks that no file makes a reader of the program panic: JSON Lines, and manifests of `tutte run`. Runs the shared
//! checks of `support` on the inputs of the fuzzer and on damaged files. `fuzz/` runs the same checks with coverage
//! feedback.

#[path = "../support/any_jsonl.rs"]
mod any_jsonl;
#[path = "../support/any_manifest.rs"]
mod any_manifest;
#[path = "../../../../fuzz/inputs.rs"]
mod inputs;

use std::path::{Path, PathBuf};

/// Returns a folder for a test's files.
fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("no-panic-{name}"))
}

#[test]
fn json_lines_of_the_fuzzer() {
    let sentences: usize =
        inputs::inputs("jsonl").iter().map(|(_, input)| any_jsonl::ask_everything(input)).sum();
    assert!(sentences >= 5, "{sentences} sentences");
}

#[test]
fn manifests_of_the_fuzzer() {
    let ask =
        |(_, input): &(PathBuf, Vec<u8>)| any_manifest::ask_everything(input, &place("manifest"));
    let finished: usize = inputs::inputs("manifest").iter().filter_map(ask).sum();
    assert!(finished >= 2, "{finished} finished files");
}

#[test]
fn seeds_cut_and_changed_anywhere() {
    for (_, seed) in inputs::seeds("jsonl") {
        for at in 0..seed.len() {
            any_jsonl::ask_everything(&seed[..at]);
            let mut changed = seed.clone();
            for byte in [b'"', b']', b'1', b'\\', 255] {
                changed[at] = byte;
                any_jsonl::ask_everything(&changed);
            }
        }
    }
}
