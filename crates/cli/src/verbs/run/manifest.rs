//! The record of finished files, in the folder of the job: `manifest.jsonl`, or `manifest-2of4.jsonl` for a shard.
//!
//! ```json
//! {"tutte": "0.1.0", "model": "58ab…", "options": {"input": "auto", "decode": "mbr", …}}
//! {"output": "a/b.conllu", "output_xxh3": "…", "input": "corpus/a/b.txt", "bytes": 1234, "xxh3": "…", …}
//! …
//! ```
//!
//! The first line has the settings of the job, so that it cannot be resumed with others. Every other line is an input
//! that is done; it is written after its output is complete on disk. However a job ends, every listed output exists, and
//! its hash is checked when the job is resumed. An incomplete last line is ignored. At the end of a job the lines are
//! sorted, so the manifest does not depend on interruptions.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tutte_linear::Checksum;
use tutte_treebank::{AtomicFile, Error};

use super::inputs::Shard;
use crate::failure::{advise, usage};
use crate::report::counted;

/// Settings that outputs depend on: equal settings, equal outputs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct JobSettings {
    /// Version of the program.
    pub(super) tutte: String,
    /// Checksum of the model.
    pub(super) model: String,
    /// All options that change outputs.
    pub(super) options: Map<String, Value>,
}

/// An input that is done.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct Entry {
    /// Path in the folder of the manifest.
    pub(super) output: String,
    pub(super) output_bytes: u64,
    pub(super) output_xxh3: String,
    pub(super) input: String,
    pub(super) bytes: u64,
    pub(super) xxh3: String,
    pub(super) sentences: usize,
    pub(super) words: usize,
    /// Number of sentences that could not be read.
    pub(super) skipped: usize,
    /// Number of sentences with contradictory constraints.
    pub(super) contradictions: usize,
}

impl Entry {
    /// Returns `true` if the input is the same and its output complete.
    pub(super) fn holds(&self, input: &Path, output: &Path) -> bool {
        self.holds_output(output) && is(input, self.bytes, &self.xxh3)
    }

    /// Returns `true` if the output is as it was written.
    pub(super) fn holds_output(&self, output: &Path) -> bool {
        is(output, self.output_bytes, &self.output_xxh3)
    }
}

/// Returns `true` if a file has this length and hash.
fn is(path: &Path, bytes: u64, xxh3: &str) -> bool {
    // The length is cheaper to compare and usually differs.
    fs::metadata(path).is_ok_and(|about| about.len() == bytes)
        && Fingerprint::of(path).is_ok_and(|found| found.xxh3 == xxh3)
}

/// Length and hash of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) bytes: u64,
    pub(super) xxh3: String,
}

impl Fingerprint {
    /// Reads a file and computes its fingerprint.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut hash = Checksum::default();
        let mut bytes = 0;
        let mut piece = vec![0; 1 << 18];
        loop {
            match file.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => {
                    hash.update(&piece[..read]);
                    bytes += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { bytes, xxh3: hash.to_string() })
    }
}

/// The manifest of a job or shard, locked while the job runs.
pub(super) struct Manifest {
    path: PathBuf,
    settings: JobSettings,
    /// Finished files, by output.
    pub(super) entries: BTreeMap<String, Entry>,
    file: File,
    _lock: Option<Lock>,
}

/// Lock of a running job. The system releases it however the job ends.
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // If the file remains, the next job locks it.
        let _ = fs::remove_file(&self.path);
    }
}

impl Manifest {
    /// Returns the name of the manifest of a shard.
    pub(super) fn name(shard: Shard) -> String {
        match shard {
            Shard::WHOLE => "manifest.jsonl".to_owned(),
            Shard { part, of } => format!("manifest-{part}of{of}.jsonl"),
        }
    }

    /// Starts a manifest in a folder, or resumes one.
    pub(super) fn open(
        folder: &Path,
        shard: Shard,
        settings: JobSettings,
        resume: bool,
    ) -> Result<Self> {
        let path = folder.join(Self::name(shard));
        let lock = Lock::take(folder.join(format!(".{}.lock", Self::name(shard))))?;
        let mut entries = BTreeMap::new();
        for (name, of) in manifests(folder)? {
            let other = folder.join(&name);
            let shown = other.display().to_string();
            if of != shard.of {
                let was = counted(of, "shard");
                let now = counted(shard.of, "shard");
                return Err(usage(format!(
                    "{shown} is of a job with {was}, but this one has {now}; choose another folder with -o"
                )));
            }
            if other == path && !resume {
                return Err(usage(format!(
                    "{shown}: this folder already has a job; resume it with --resume, or choose another folder \
                     with -o"
                )));
            }
            let (found, finished) = read(&other)?;
            let Some(found) = found else { continue };
            settings.check(&found, &shown)?;
            if other == path {
                entries = finished;
            }
        }
        let file = write(&path, &settings, &entries)?;
        Ok(Self { path, settings, entries, file, _lock: lock })
    }

    /// Records a finished file.
    pub(super) fn add(&mut self, entry: Entry) -> Result<()> {
        let line = serde_json::to_string(&entry)? + "\n";
        let cannot_write = || format!("cannot write {}", self.path.display());
        self.file.write_all(line.as_bytes()).with_context(cannot_write)?;
        // The output is on disk already.
        self.file.sync_data().with_context(cannot_write)?;
        self.entries.insert(entry.output.clone(), entry);
        Ok(())
    }

    /// Sorts the lines.
    pub(super) fn close(self) -> Result<()> {
        write(&self.path, &self.settings, &self.entries).map(|_| ())
    }
}

impl JobSettings {
    /// Refuses to resume a job with other settings.
    fn check(&self, found: &Self, manifest: &str) -> Result<()> {
        if self == found {
            return Ok(());
        }
        let mut differences = Vec::new();
        for (what, was, now) in [
            ("tutte", &found.tutte, &self.tutte),
            ("the model's checksum", &found.model, &self.model),
        ] {
            if was != now {
                differences.push(format!("{what} was {was} and is {now}"));
            }
        }
        let shown = |value: Option<&Value>| match value {
            None => "not given".to_owned(),
            Some(Value::Bool(true)) => "given".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let new = self.options.keys().filter(|key| !found.options.contains_key(*key));
        for key in found.options.keys().chain(new) {
            let (was, now) = (found.options.get(key), self.options.get(key));
            if was != now {
                let option = key.replace('_', "-");
                differences.push(format!("--{option} was {} and is {}", shown(was), shown(now)));
            }
        }
        Err(usage(format!(
            "{manifest}: this job was started with other settings: {}; use the same settings, or choose another \
             folder with -o",
            differences.join(", ")
        )))
    }
}

/// Returns the names of the manifests in a folder, and their numbers of shards.
fn manifests(folder: &Path) -> Result<Vec<(String, usize)>> {
    let failed = |source| Error::File { path: folder.to_owned(), action: "open", source };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        let Some(of) = parts(&name) else { continue };
        found.push((name, of));
    }
    found.sort();
    Ok(found)
}

/// Returns the number of shards of a manifest by its name; `None` for other files.
pub(super) fn parts(name: &str) -> Option<usize> {
    match name.strip_prefix("manifest")?.strip_suffix(".jsonl")? {
        "" => Some(1),
        part => {
            let (part, of) = part.strip_prefix('-')?.split_once("of")?;
            part.parse::<usize>().ok()?;
            of.parse().ok()
        }
    }
}

/// Reads a manifest: its settings, unless it is empty, and its entries.
fn read(path: &Path) -> Result<(Option<JobSettings>, BTreeMap<String, Entry>)> {
    let text = fs::read_to_string(path).map_err(|source| Error::File {
        path: path.to_owned(),
        action: "read",
        source,
    })?;
    let wrong = |line: usize, error: serde_json::Error| {
        let path = path.display();
        advise(
            anyhow!("{path}:{line}: not a line of a manifest: {error}"),
            format!("remove {path} and its outputs, or choose another folder with -o"),
        )
    };
    // Text after the last line end is incomplete.
    let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let Some(first) = lines.next() else { return Ok((None, BTreeMap::new())) };
    let settings = serde_json::from_str(first).map_err(|error| wrong(1, error))?;
    let mut entries = BTreeMap::new();
    for (number, line) in (2..).zip(lines) {
        let entry: Entry = serde_json::from_str(line).map_err(|error| wrong(number, error))?;
        entries.insert(entry.output.clone(), entry);
    }
    Ok((Some(settings), entries))
}

/// Writes a whole manifest, and opens it for appending.
fn write(path: &Path, settings: &JobSettings, entries: &BTreeMap<String, Entry>) -> Result<File> {
    let mut text = serde_json::to_string(settings)? + "\n";
    for entry in entries.values() {
        text.push_str(&serde_json::to_string(entry)?);
        text.push('\n');
    }
    let mut file = AtomicFile::create(path)?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    file.commit()?;
    let open = OpenOptions::new().append(true).open(path);
    Ok(open.map_err(|source| Error::File { path: path.to_owned(), action: "open", source })?)
}

impl Lock {
    /// Locks a file, if the file system can.
    fn take(path: PathBuf) -> Result<Option<Self>> {
        let Ok(file) = File::create(&path) else { return Ok(None) };
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { path, _file: file })),
            Err(TryLockError::WouldBlock) => {
                let folder = path.parent().unwrap_or(&path).display();
                let error = anyhow!("{folder}: another tutte is running this job");
                Err(advise(error, "wait until it has ended, or choose another folder with -o"))
            }
            Err(TryLockError::Error(_)) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_told_from_other_files() {
        assert_eq!(parts("manifest.jsonl"), Some(1));
        assert_eq!(parts("manifest-2of4.jsonl"), Some(4));
        for other in [
            "manifest",
            "manifest.json",
            "manifest-.jsonl",
            "manifest-aof4.jsonl",
            "manifest2.jsonl",
        ] {
            assert_eq!(parts(other), None, "{other}");
        }
    }

    #[test]
    fn differences_are_named() {
        let settings = |text: &str| serde_json::from_str::<JobSettings>(text).unwrap();
        let a = settings(r#"{"tutte":"1","model":"aa","options":{"decode":"mbr","probs":true}}"#);
        let b = settings(r#"{"tutte":"2","model":"bb","options":{"decode":"mbr","min_prob":0.5}}"#);
        assert!(a.check(&a, "m").is_ok());
        let said = b.check(&a, "m").unwrap_err().to_string();
        assert!(
            said.contains(
                "tutte was 1 and is 2, the model's checksum was aa and is bb, --probs was given and is \
                 not given, --min-prob was not given and is 0.5"
            ),
            "{said}"
        );
    }
}
