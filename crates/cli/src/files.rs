//! Files that a run reads and writes. Every verb lists its own before any work: outputs must not be inputs, and
//! temporary files that killed runs have left beside the outputs are removed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Result;
use tutte_treebank::{FileId, remove_leftovers};

use crate::failure::usage;
use crate::interrupt;
use crate::output::check_folder_of;

/// Files that a run reads and writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    reads: Vec<PathBuf>,
    writes: Vec<Write>,
    /// Folders for files whose names are not known yet.
    folders: Vec<PathBuf>,
}

/// A file that a run writes.
#[derive(Clone, Debug)]
struct Write {
    path: PathBuf,
    /// Input that the file is made of, if each input has its own output.
    source: Option<PathBuf>,
    /// Advice on how to name another file.
    advice: String,
}

impl Files {
    /// Adds inputs; `-` is standard input.
    pub(crate) fn reads<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.reads.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// Adds the named inputs, or standard input if none is named.
    pub(crate) fn reads_or_stdin(self, paths: &[PathBuf]) -> Self {
        if paths.is_empty() { self.reads(["-"]) } else { self.reads(paths) }
    }

    /// Adds outputs of an option such as `-o`, or of an argument such as `OUT`; `-` is standard output.
    pub(crate) fn writes<P: AsRef<Path>>(
        mut self,
        option: &str,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        for path in paths {
            let path = path.as_ref().to_owned();
            let with = if option.starts_with('-') { "with" } else { "as" };
            let advice = format!("name another file {with} {option}");
            self.writes.push(Write { path, source: None, advice });
        }
        self
    }

    /// Adds an output that is made of one input.
    pub(crate) fn writes_from(mut self, source: &Path, path: PathBuf, advice: &str) -> Self {
        let advice = advice.to_owned();
        self.writes.push(Write { path, source: Some(source.to_owned()), advice });
        self
    }

    /// Adds a folder for files whose names are not known yet.
    pub(crate) fn fills<P: AsRef<Path>>(mut self, folders: impl IntoIterator<Item = P>) -> Self {
        self.folders.extend(folders.into_iter().map(|folder| folder.as_ref().to_owned()));
        self
    }

    /// Refuses outputs in folders that do not exist.
    pub(crate) fn check_folders(&self) -> Result<()> {
        Ok(self.writes.iter().try_for_each(|write| check_folder_of(&write.path))?)
    }

    /// Refuses outputs that are inputs or each other. Then removes temporary files that killed runs have left beside
    /// the outputs, and makes Ctrl-C remove those of this run.
    pub(crate) fn prepare(&self) -> Result<()> {
        self.check()?;
        let outputs = self.writes.iter().map(|write| write.path.as_path());
        let outputs = outputs.filter(|path| FileId::of(path).is_some()).map(folder_of);
        let folders: BTreeSet<PathBuf> = outputs.chain(self.folders.iter().cloned()).collect();
        folders.iter().for_each(remove_leftovers);
        interrupt::remove_temporary_files_in(folders);
        Ok(())
    }

    /// Refuses outputs that are inputs or each other, under any name.
    fn check(&self) -> Result<()> {
        let inputs: BTreeMap<FileId, &Path> =
            self.reads.iter().filter_map(|path| Some((id(path)?, path.as_path()))).collect();
        let mut outputs: BTreeMap<FileId, &Write> = BTreeMap::new();
        for write in &self.writes {
            let Some(id) = FileId::of(&write.path) else { continue };
            if let Some(input) = inputs.get(&id) {
                return Err(write.would_overwrite(input));
            }
            if let Some(other) = outputs.insert(id, write) {
                return Err(write.collides_with(other));
            }
        }
        Ok(())
    }

    /// Refuses a file in a folder of outputs if it is an input.
    pub(crate) fn check_inside(&self, path: &Path) -> Result<()> {
        let files = Self { reads: self.reads.clone(), ..Self::default() };
        files.writes_inside(path).check()
    }

    fn writes_inside(mut self, path: &Path) -> Self {
        let advice = "choose another folder".to_owned();
        self.writes.push(Write { path: path.to_owned(), source: None, advice });
        self
    }
}

impl Write {
    fn would_overwrite(&self, input: &Path) -> anyhow::Error {
        let Self { path, source, advice } = self;
        let what = if path == input {
            format!("{} is an input", path.display())
        } else if input == Path::new("-") {
            format!("{} is the file behind standard input", path.display())
        } else {
            format!("{} is the input {} under another name", path.display(), input.display())
        };
        let by = match source {
            Some(source) if source != input => format!(" by what is made of {}", source.display()),
            _ => String::new(),
        };
        usage(format!("{what}, and would be overwritten{by}; {advice}"))
    }

    fn collides_with(&self, other: &Self) -> anyhow::Error {
        let path = self.path.display();
        match (&other.source, &self.source) {
            (Some(one), Some(two)) => usage(format!(
                "{} and {} would both become {path}; parse them into different folders, or name only the files you \
                 mean",
                one.display(),
                two.display()
            )),
            _ => usage(format!("{path} is named for two outputs; {}", self.advice)),
        }
    }
}

/// Returns the identity of an input. The file behind standard input can be overwritten, too.
fn id(path: &Path) -> Option<FileId> {
    if cfg!(unix) && path == Path::new("-") {
        let id = FileId::of("/dev/stdin");
        return id.filter(|_| Path::new("/dev/stdin").is_file());
    }
    FileId::of(path)
}

/// Returns the folder of a file. If the file is a link, that is the folder of the file behind it.
fn folder_of(path: &Path) -> PathBuf {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or_else(|| PathBuf::from("."), Path::to_owned)
}
