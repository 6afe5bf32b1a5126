//! Checks on any bytes as the manifest of a job: it is refused, or the job resumes and its manifest is written again.
//! Fuzzing (`fuzz/`) and the tests (`tests/no_panic.rs`) share this file.

use std::fs;
use std::path::Path;

use tutte_cli::readers::resume_job;

/// Settings of the job. An input with others is refused.
const SETTINGS: &str = r#"{"tutte":"0.1.0","model":"58ab","options":{"input":"auto"}}"#;

/// Writes `data` as the manifest of a job in `folder`, and resumes the job. Returns the number of finished files, or
/// `None` if the manifest is refused.
///
/// # Panics
/// If a check fails.
pub(crate) fn ask_everything(data: &[u8], folder: &Path) -> Option<usize> {
    fs::create_dir_all(folder).expect("a folder can be made");
    let path = folder.join("manifest.jsonl");
    fs::write(&path, data).expect("a file can be written");
    let finished = match resume_job(folder, SETTINGS) {
        Ok(finished) => finished,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return None;
        }
    };
    for (output, entry) in &finished {
        let entry: serde_json::Value = serde_json::from_str(entry).expect("an entry is JSON");
        assert_eq!(entry["output"], output.as_str());
    }
    let written = fs::read(&path).expect("the manifest");
    let again = resume_job(folder, SETTINGS).expect("a written manifest can be read");
    assert_eq!(again, finished);
    assert_eq!(fs::read(&path).expect("the manifest"), written, "the same lines in the same order");
    Some(finished.len())
}
