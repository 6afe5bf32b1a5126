//! Which files a job is made of, and where the output of each goes.
//!
//! The list is the same for the same files, whatever the file system's order: sorted by where outputs go.
//! A part `i/n` of a job has every n-th of it, from the i-th on.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use anyhow::Result;
use tutte_treebank::Error;

use super::manifest;
use crate::failure::usage;
use crate::verbs::parse::{check_distinct, without_extension};

/// A file to parse.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) input: PathBuf,
    /// In the folder of the job.
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
    /// Files of folders that are not taken for input.
    pub(super) passed_over: Vec<PathBuf>,
}

/// Which part of a job: the second of four is `2/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    /// From 1.
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
            .ok_or_else(|| "a part is i/n, with i from 1 to n: 1/4, 2/4, 3/4, 4/4".to_owned())
    }
}

impl Shard {
    /// A job in one piece.
    pub(super) const WHOLE: Self = Self { part: 1, of: 1 };

    /// The jobs of this part, in order.
    pub(super) fn of<T>(self, all: Vec<T>) -> Vec<T> {
        all.into_iter().skip(self.part - 1).step_by(self.of).collect()
    }
}

/// How files in folders are told from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Every file.
    All,
    /// Those whose name says that they are to be parsed.
    ByName,
}

const NAMES: [&str; 6] = ["conllu", "conll", "conllx", "jsonl", "txt", "text"];

impl Listing {
    /// Lists the files named and those in folders named. Outputs keep the path inside a folder, and end
    /// in `extension`. What lies in `out` is no input.
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
                return Err(usage("standard input has no name; `tutte parse` reads it"));
            }
            let about = fs::metadata(path).map_err(|source| cannot_open(path, source))?;
            if about.is_dir() {
                if fs::canonicalize(path).is_ok_and(|real| real == out) {
                    let path = path.display();
                    return Err(usage(format!(
                        "{path} is both read and written; choose another folder with -o"
                    )));
                }
                listing.walk(path, path, &out, extension, choice)?;
            } else {
                let name = path.file_name().unwrap_or(path.as_os_str());
                listing.push(path.clone(), Path::new(name), extension);
            }
        }
        listing.jobs.sort_by(|a, b| a.output.cmp(&b.output).then_with(|| a.input.cmp(&b.input)));
        listing.passed_over.sort();
        let pairs = listing.jobs.iter().map(|job| (job.input.as_path(), out.join(&job.output)));
        let pairs: Vec<(&Path, PathBuf)> = pairs.collect();
        check_distinct(pairs.iter().map(|(input, output)| (*input, output.as_path())))?;
        Ok(listing)
    }

    fn push(&mut self, input: PathBuf, inside: &Path, extension: &str) {
        let mut output = without_extension(inside).into_os_string();
        output.push(extension);
        self.jobs.push(Job { input, output: output.into() });
    }

    /// Lists what is in a folder. Hidden files, manifests, and links to folders, which may go in circles,
    /// are not looked at.
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
            } else if choice == Choice::ByName && !is_named_so(&path) {
                self.passed_over.push(path);
            } else {
                let inside = path.strip_prefix(top).unwrap_or(&path).to_owned();
                self.push(path, &inside, extension);
            }
        }
        Ok(())
    }
}

fn is_named_so(path: &Path) -> bool {
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

/// A path with `/` between its parts, on every system.
pub(super) fn with_slashes(path: &Path) -> String {
    let parts = path.components().map(|part| match part {
        Component::RootDir => "".into(),
        part => part.as_os_str().to_string_lossy(),
    });
    parts.collect::<Vec<_>>().join("/")
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
            assert!(is_named_so(Path::new(name)), "{name}");
        }
        for name in ["README", "README.md", "a.gz", "conllu", "a.conllu.bak", "manifest.json"] {
            assert!(!is_named_so(Path::new(name)), "{name}");
        }
        assert_eq!(with_slashes(Path::new("a/./b//c.txt")), "a/b/c.txt");
        assert_eq!(with_slashes(Path::new("/a/b")), "/a/b");
    }
}
