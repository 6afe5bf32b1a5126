//! Checks on any bytes as the manifest of a job: it is refused, or the job resumes and its manifest is written again.
//!
//! The reader is the program's own file. Fuzzing (`fuzz/`) and the tests (`tests/no_panic.rs`) share this file; their
//! crates must have modules `failure` and `report`, with `advise`, `usage` and `counted`.

#[path = "../../src/verbs/run/manifest.rs"]
#[allow(dead_code, reason = "only reading and writing are checked")]
mod manifest;

use std::fs;
use std::path::Path;

use self::inputs::Shard;
use self::manifest::{JobSettings, Manifest};

mod inputs {
    /// Part of a job.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Shard {
        pub(super) part: usize,
        pub(super) of: usize,
    }

    impl Shard {
        pub(super) const WHOLE: Self = Self { part: 1, of: 1 };
    }
}

/// Settings of the job. An input with others is refused.
const SETTINGS: &str = r#"{"tutte":"0.1.0","model":"58ab","options":{"input":"auto"}}"#;

/// Writes `data` as the manifest of a job in `folder`, and resumes the job. Returns the number of finished files, or
/// `None` if the manifest is refused.
///
/// # Panics
/// If a check fails.
pub(crate) fn ask_everything(data: &[u8], folder: &Path) -> Option<usize> {
    fs::create_dir_all(folder).expect("a folder can be made");
    let path = folder.join(Manifest::name(Shard::WHOLE));
    fs::write(&path, data).expect("a file can be written");
    let open = || {
        let settings: JobSettings = serde_json::from_str(SETTINGS).expect("settings");
        Manifest::open(folder, Shard::WHOLE, settings, true)
    };
    let manifest = match open() {
        Ok(manifest) => manifest,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return None;
        }
    };
    let entries = manifest.entries.clone();
    assert!(entries.iter().all(|(output, entry)| *output == entry.output));
    manifest.close().expect("the manifest can be written");
    let written = fs::read(&path).expect("the manifest");
    let again = open().expect("a written manifest can be read");
    assert_eq!(again.entries, entries);
    again.close().expect("the manifest can be written");
    assert_eq!(fs::read(&path).expect("the manifest"), written, "the same lines in the same order");
    Some(entries.len())
}
