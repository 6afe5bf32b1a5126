//! What was done, in the folder where it was done: `manifest.jsonl`, or `manifest-2of4.jsonl` of a part.
//!
//! ```json
//! {"tutte": "0.1.0", "model": "58ab…", "options": {"input": "auto", "decode": "mbr", …}}
//! {"output": "a/b.conllu", "output_xxh3": "…", "input": "corpus/a/b.txt", "bytes": 1234, "xxh3": "…", …}
//! …
//! ```
//!
//! The first line says by what: whoever goes on with other means would mix two kinds of output. Every
//! other line is an input that is done, written after its output has appeared. So however a job ends,
//! what the manifest has is there; and since outputs are compared with it, what is there is whole. A line
//! that was cut off by a kill is no line. At the end of a job, lines are put in order: the manifest, too,
//! does not tell how often a job was interrupted.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tutte_treebank::{AtomicFile, Error};
use xxhash_rust::xxh3::Xxh3;

use super::inputs::Shard;
use crate::failure::{advise, usage};
use crate::report::counted;

/// By what outputs are made: equal means, equal outputs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct Means {
    /// The version of the program.
    pub(super) tutte: String,
    /// The checksum of the model.
    pub(super) model: String,
    /// All options that change outputs.
    pub(super) options: Map<String, Value>,
}

/// An input that is done.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct Entry {
    /// In the folder of the manifest.
    pub(super) output: String,
    pub(super) output_bytes: u64,
    pub(super) output_xxh3: String,
    pub(super) input: String,
    pub(super) bytes: u64,
    pub(super) xxh3: String,
    pub(super) sentences: usize,
    pub(super) words: usize,
    /// Sentences that could not be read.
    pub(super) skipped: usize,
    /// Sentences in which what is known cannot be.
    pub(super) contradictions: usize,
}

impl Entry {
    /// Whether this is still so: the same input, and its output whole.
    pub(super) fn holds(&self, input: &Path, output: &Path) -> bool {
        let is = |path: &Path, bytes, xxh3: &str| {
            // Most that is not the same has another length, which is cheaper to ask for.
            fs::metadata(path).is_ok_and(|about| about.len() == bytes)
                && Fingerprint::of(path).is_ok_and(|found| found.xxh3 == xxh3)
        };
        is(output, self.output_bytes, &self.output_xxh3) && is(input, self.bytes, &self.xxh3)
    }
}

/// The content of a file in a few letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) bytes: u64,
    pub(super) xxh3: String,
}

impl Fingerprint {
    /// Reads a file from start to end.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let (mut hash, mut bytes) = (Xxh3::new(), 0);
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
        Ok(Self { bytes, xxh3: format!("{:016x}", hash.digest()) })
    }
}

/// The manifest of a job, or of a part of it, which nobody else writes meanwhile.
pub(super) struct Manifest {
    path: PathBuf,
    means: Means,
    /// What is done, by output.
    pub(super) entries: BTreeMap<String, Entry>,
    file: File,
    _lock: Option<Lock>,
}

/// Held as long as a job runs; the system lets go of it however that ends.
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // If it stays, the next job takes it.
        let _ = fs::remove_file(&self.path);
    }
}

impl Manifest {
    /// What the manifest of a part is called.
    pub(super) fn name(shard: Shard) -> String {
        match shard {
            Shard::WHOLE => "manifest.jsonl".to_owned(),
            Shard { part, of } => format!("manifest-{part}of{of}.jsonl"),
        }
    }

    /// Starts a manifest in a folder, or goes on with one.
    pub(super) fn open(folder: &Path, shard: Shard, means: Means, resume: bool) -> Result<Self> {
        let path = folder.join(Self::name(shard));
        let lock = Lock::take(folder.join(format!(".{}.lock", Self::name(shard))))?;
        let mut entries = BTreeMap::new();
        for (name, of) in manifests(folder)? {
            let (other, shown) = (folder.join(&name), folder.join(&name).display().to_string());
            if of != shard.of {
                let (was, now) = (counted(of, "part"), counted(shard.of, "part"));
                return Err(usage(format!(
                    "{shown} is of a job in {was}, and this is one in {now}; choose another folder with -o"
                )));
            }
            if other == path && !resume {
                return Err(usage(format!(
                    "{shown}: there is a job in this folder already; --resume goes on with it, and -o \
                     chooses another folder"
                )));
            }
            let (found, finished) = read(&other)?;
            let Some(found) = found else { continue };
            means.check(&found, &shown)?;
            if other == path {
                entries = finished;
            }
        }
        let file = write(&path, &means, &entries)?;
        Ok(Self { path, means, entries, file, _lock: lock })
    }

    /// Notes that an input is done.
    pub(super) fn add(&mut self, entry: Entry) -> Result<()> {
        let line = serde_json::to_string(&entry)? + "\n";
        let cannot_write = || format!("cannot write {}", self.path.display());
        self.file.write_all(line.as_bytes()).with_context(cannot_write)?;
        self.entries.insert(entry.output.clone(), entry);
        Ok(())
    }

    /// Forgets what has to be done again.
    pub(super) fn forget(&mut self, output: &str) {
        self.entries.remove(output);
    }

    /// Puts everything in order.
    pub(super) fn close(self) -> Result<()> {
        write(&self.path, &self.means, &self.entries).map(|_| ())
    }
}

impl Means {
    /// Refuses to go on with what was made by other means.
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
            "{manifest}: this job was started otherwise: {}; go on as it was started, or choose another \
             folder with -o",
            differences.join(", ")
        )))
    }
}

/// The manifests in a folder, by name, and of how many parts they are.
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

/// Of how many parts a file of this name is a manifest, if it is one.
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

/// The first line of a manifest and the others; none if it was not even started.
fn read(path: &Path) -> Result<(Option<Means>, BTreeMap<String, Entry>)> {
    let text = fs::read_to_string(path).map_err(|source| Error::File {
        path: path.to_owned(),
        action: "read",
        source,
    })?;
    let wrong = |line: usize, error: serde_json::Error| {
        let path = path.display();
        advise(
            anyhow!("{path}:{line}: no line of a manifest: {error}"),
            format!("remove {path} and its outputs, or choose another folder with -o"),
        )
    };
    // What follows the last line end was cut off.
    let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let Some(first) = lines.next() else { return Ok((None, BTreeMap::new())) };
    let means = serde_json::from_str(first).map_err(|error| wrong(1, error))?;
    let mut entries = BTreeMap::new();
    for (number, line) in (2..).zip(lines) {
        let entry: Entry = serde_json::from_str(line).map_err(|error| wrong(number, error))?;
        entries.insert(entry.output.clone(), entry);
    }
    Ok((Some(means), entries))
}

/// Writes a manifest anew, and opens it for more.
fn write(path: &Path, means: &Means, entries: &BTreeMap<String, Entry>) -> Result<File> {
    let mut text = serde_json::to_string(means)? + "\n";
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
    /// Locks a file, where files can be locked.
    fn take(path: PathBuf) -> Result<Option<Self>> {
        let Ok(file) = File::create(&path) else { return Ok(None) };
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { path, _file: file })),
            Err(TryLockError::WouldBlock) => {
                let folder = path.parent().unwrap_or(&path).display();
                let error = anyhow!("{folder}: another tutte is at work on this job");
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
        let means = |text: &str| serde_json::from_str::<Means>(text).unwrap();
        let a = means(r#"{"tutte":"1","model":"aa","options":{"decode":"mbr","probs":true}}"#);
        let b = means(r#"{"tutte":"2","model":"bb","options":{"decode":"mbr","min_prob":0.5}}"#);
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
