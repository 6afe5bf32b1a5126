//! The files of a job and their outputs.
//!
//! The list is sorted by output, so it does not depend on the order of the file system. Shard `i/n` has every n-th
//! file, from the i-th on.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use anyhow::Result;
use tutte_treebank::Error;

use super::manifest;
use crate::failure::usage;
use crate::files::Files;
use crate::verbs::parse::without_extension;

/// A file to parse.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) input: PathBuf,
    /// Path in the folder of the job.
    pub(super) output: PathBuf,
}

impl AsRef<Path> for Job {
    fn as_ref(&self) -> &Path {
        &self.input
    }
}

/// All files of a job.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) jobs: Vec<Job>,
    /// Files in folders that do not have the name of an input.
    pub(super) skipped: Vec<PathBuf>,
}

/// Part of a job: the second of four is `2/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    /// Number of the part, from 1.
    pub(super) part: usize,
    pub(super) of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let numbers = typed
            .split_once('/')
            .and_then(|(part, of)| Some(Shard { part: part.parse().ok()?, of: of.parse().ok()? }));
        numbers
            .filter(|shard| (1..=shard.of).contains(&shard.part))
            .ok_or_else(|| "expected i/n with i from 1 to n, such as 2/4".to_owned())
    }
}

impl Shard {
    /// The whole job.
    pub(super) const WHOLE: Self = Self { part: 1, of: 1 };

    /// Returns the jobs of this part, in order.
    pub(super) fn of<T>(self, all: Vec<T>) -> Vec<T> {
        all.into_iter().skip(self.part - 1).step_by(self.of).collect()
    }
}

/// Choice of files in folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Every file.
    All,
    /// Files with the extension of an input.
    ByName,
}

const NAMES: [&str; 6] = ["conllu", "conll", "conllx", "jsonl", "txt", "text"];

impl Listing {
    /// Lists the files named and those in folders named. Outputs keep the path inside a folder and end in `extension`.
    /// Files in `out` are not inputs.
    pub(super) fn new(
        named: &[PathBuf],
        out: &Path,
        extension: &str,
        choice: Choice,
    ) -> Result<Self> {
        let out = fs::canonicalize(out).unwrap_or_else(|_| out.to_owned());
        let mut listing = Self::default();
        for path in named {
            if path == Path::new("-") {
                return Err(usage(
                    "standard input has no name for its output; parse it with `tutte parse -`",
                ));
            }
            let about = fs::metadata(path).map_err(|source| cannot_open(path, source))?;
            if about.is_dir() {
                if fs::canonicalize(path).is_ok_and(|real| real == out) {
                    let path = path.display();
                    return Err(usage(format!(
                        "{path} is both input and output; choose another folder with -o"
                    )));
                }
                listing.walk(path, path, &out, extension, choice)?;
            } else {
                let name = path.file_name().unwrap_or(path.as_os_str());
                listing.push(path.clone(), Path::new(name), extension);
            }
        }
        listing.jobs.sort_by(|a, b| a.output.cmp(&b.output).then_with(|| a.input.cmp(&b.input)));
        listing.skipped.sort();
        Ok(listing)
    }

    /// Returns the inputs, and their outputs in a folder.
    pub(super) fn files(&self, out: &Path) -> Files {
        let files = Files::default().reads(&self.jobs);
        self.jobs.iter().fold(files, |files, Job { input, output }| {
            files.writes_from(input, out.join(output), "choose another folder with -o")
        })
    }

    fn push(&mut self, input: PathBuf, inside: &Path, extension: &str) {
        let mut output = without_extension(inside).into_os_string();
        output.push(extension);
        self.jobs.push(Job { input, output: output.into() });
    }

    /// Lists the files in a folder. Hidden files, manifests, and links to folders, which may form cycles, are skipped.
    fn walk(
        &mut self,
        top: &Path,
        folder: &Path,
        out: &Path,
        extension: &str,
        choice: Choice,
    ) -> Result<()> {
        if fs::canonicalize(folder).is_ok_and(|real| real == out) {
            return Ok(());
        }
        let failed = |source| cannot_open(folder, source);
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') || manifest::parts(&name).is_some() {
                continue;
            }
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                self.walk(top, &path, out, extension, choice)?;
            } else if !path.is_file() {
                // A pipe, a device, a link to a folder.
            } else if choice == Choice::ByName && !has_input_extension(&path) {
                self.skipped.push(path);
            } else {
                let inside = path.strip_prefix(top).unwrap_or(&path).to_owned();
                self.push(path, &inside, extension);
            }
        }
        Ok(())
    }
}

fn has_input_extension(path: &Path) -> bool {
    let end = |path: &Path| path.extension().map(OsStr::to_ascii_lowercase).unwrap_or_default();
    let mut last = end(path);
    if last == "gz" || last == "zst" {
        last = end(&path.with_extension(""));
    }
    NAMES.iter().any(|name| last == *name)
}

fn cannot_open(path: &Path, source: std::io::Error) -> Error {
    Error::File { path: path.to_owned(), action: "open", source }
}

/// Formats a path with `/` between its parts, on every system. Different paths have different texts: bytes that are
/// not UTF-8 are written as `\xff`, and a backslash in a name as `\\`.
pub(super) fn with_slashes(path: &Path) -> String {
    let parts = path.components().map(|part| match part {
        Component::RootDir => String::new(),
        part => escaped(part.as_os_str()),
    });
    parts.collect::<Vec<_>>().join("/")
}

fn escaped(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', r"\\"));
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!(r"\x{byte:02x}")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_everything_once() {
        let all: Vec<usize> = (0..11).collect();
        for of in 1..=13 {
            let parts = (1..=of).map(|part| Shard { part, of }.of(all.clone()));
            let mut together: Vec<usize> = parts.flatten().collect();
            together.sort_unstable();
            assert_eq!(together, all, "{of} parts");
        }
        assert_eq!("2/4".parse(), Ok(Shard { part: 2, of: 4 }));
        for wrong in ["", "2", "0/4", "5/4", "1/0", "a/4", "-1/4", "2/4/8"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_say_what_is_parsed() {
        for name in ["a.conllu", "a.CONLLU.gz", "a.txt.zst", "a.jsonl", "x/a.conll"] {
            assert!(has_input_extension(Path::new(name)), "{name}");
        }
        for name in ["README", "README.md", "a.gz", "conllu", "a.conllu.bak", "manifest.json"] {
            assert!(!has_input_extension(Path::new(name)), "{name}");
        }
        assert_eq!(with_slashes(Path::new("a/./b//c.txt")), "a/b/c.txt");
        assert_eq!(with_slashes(Path::new("/a/b")), "/a/b");
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf8_stay_different() {
        use std::os::unix::ffi::OsStrExt as _;
        let shown = |name: &[u8]| with_slashes(Path::new(OsStr::from_bytes(name)));
        assert_eq!(shown(b"a/caf\xe9.txt"), r"a/caf\xe9.txt");
        assert_eq!(shown(b"a/caf\xea.txt"), r"a/caf\xea.txt");
        assert_eq!(shown(br"a/caf\xe9.txt"), r"a/caf\\xe9.txt");
        assert_eq!(shown("a/café.txt".as_bytes()), "a/café.txt");
    }
}
