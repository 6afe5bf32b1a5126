//! Files that appear whole or not at all.
//!
//! A file is written under a temporary name, `.tutte-PID-N.tmp`, in the folder of its destination.
//! Then, in this order: the content is synchronised with the disk, the file is renamed, and the folder
//! is synchronised. So a crash of the program or of the machine leaves the old file or the new one. The
//! promise holds as far as the file system and the disk keep theirs: a disk that confirms writes before
//! they are stable can still lose them.
//!
//! A process that is killed leaves its temporary files behind. While a process writes a file, it holds a
//! lock on it, which the system releases however the process ends. So [`remove_leftovers`] can tell files
//! of killed processes from those of running ones.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{fmt, process};

use crate::Error;

/// A file that appears whole or not at all. It is written beside its destination, and renamed when
/// everything is on disk. If it is dropped before [`commit`](AtomicFile::commit), it leaves no
/// trace, and an existing file stays as it was. A destination that is not a regular file (a pipe, a
/// device) is written directly.
pub struct AtomicFile {
    path: PathBuf,
    /// The path of the file until it is complete.
    temporary: Option<PathBuf>,
    file: File,
}

impl AtomicFile {
    /// Creates a file.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::try_create(path).map_err(|source| Error::File {
            path: path.to_owned(),
            action: "create",
            source,
        })
    }

    fn try_create(path: &Path) -> io::Result<Self> {
        // If the path is a link, the file behind it is replaced, not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let existing = fs::metadata(&path).ok();
        if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
            let file = OpenOptions::new().write(true).open(&path)?;
            return Ok(Self { path, temporary: None, file });
        }
        if path.file_name().is_none() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        for attempt in 0u32.. {
            let temporary = path.with_file_name(temporary_name(process::id(), attempt));
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                // Another process takes the file for a leftover if it sees it before the lock.
                Ok(file) if is_lost(&file, &temporary) => {}
                Ok(file) => {
                    let this = Self { path, temporary: Some(temporary), file };
                    if let Some(existing) = existing {
                        this.file.set_permissions(existing.permissions())?;
                    }
                    return Ok(this);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Path of the destination; of the file behind it if it is a link.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Completes the file, which then appears under its name.
    ///
    /// # Errors
    /// If it cannot be written to disk or renamed. Then an existing file stays as it was.
    pub fn commit(self) -> Result<(), Error> {
        self.sync()?;
        self.appear()
    }

    /// Waits until the content is on disk, under the temporary name.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        // A pipe or a device cannot be synchronised.
        let done = if self.temporary.is_some() { self.file.sync_all() } else { Ok(()) };
        done.map_err(|source| self.failed(source))
    }

    /// Renames the file, and waits until its name is on disk.
    pub(crate) fn appear(mut self) -> Result<(), Error> {
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path).map_err(|source| self.failed(source))?;
            self.temporary = None;
            sync_folder(&self.path).map_err(|source| self.failed(source))?;
        }
        Ok(())
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::File { path: self.path.clone(), action: "write", source }
    }
}

impl Write for AtomicFile {
    /// Writes some bytes. A call that a signal interrupts is repeated, since encoders do not repeat it.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            // `drop` cannot report a failure.
            let _ = fs::remove_file(temporary);
        }
    }
}

impl fmt::Debug for AtomicFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Locks a new temporary file. Returns `true` if another process has removed it or is about to.
fn is_lost(file: &File, temporary: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => !temporary.exists(),
        Err(TryLockError::WouldBlock) => true,
        // The file system has no locks, so other processes leave the file alone.
        Err(TryLockError::Error(_)) => false,
    }
}

/// Waits until the entry of a file in its folder is on disk.
fn sync_folder(path: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // A folder that may be written but not read cannot be synchronised.
    let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) else { return Ok(()) };
    match folder.sync_all() {
        // Some file systems cannot synchronise folders.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
        {
            Ok(())
        }
        done => done,
    }
}

/// Returns the name of a temporary file. It does not contain the name of the destination, which may be as
/// long as the file system allows.
fn temporary_name(process: u32, attempt: u32) -> String {
    format!(".tutte-{process}-{attempt}.tmp")
}

/// Returns the process of a temporary file by its name; `None` for other files.
fn process_of(name: &OsStr) -> Option<u32> {
    let numbers = name.to_str()?.strip_prefix(".tutte-")?.strip_suffix(".tmp")?;
    let (process, attempt) = numbers.split_once('-')?;
    attempt.parse::<u32>().ok()?;
    process.parse().ok()
}

/// Removes the temporary files that killed processes have left in a folder. Files of running processes
/// stay. On file systems without locks, all stay.
pub fn remove_leftovers(folder: impl AsRef<Path>) {
    for (path, _) in temporary_files(folder.as_ref()) {
        // The lock is held until the file is gone.
        if let Ok(file) = File::open(&path)
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Removes the temporary files of this process from a folder, for a process that is about to exit.
pub fn remove_own_temporary_files(folder: impl AsRef<Path>) {
    for (path, process) in temporary_files(folder.as_ref()) {
        if process == process::id() {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Returns the temporary files in a folder and their processes. A folder that cannot be read has none.
fn temporary_files(folder: &Path) -> impl Iterator<Item = (PathBuf, u32)> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let process = process_of(&entry.file_name())?;
        entry.file_type().ok()?.is_file().then(|| (entry.path(), process))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("tutte-atomic-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn leftovers_are_told_from_other_files() {
        assert_eq!(process_of(OsStr::new(".tutte-123-0.tmp")), Some(123));
        for other in ["tutte-123-0.tmp", ".tutte-123.tmp", ".tutte-x-0.tmp", ".tutte-1-0.tmp.gz"] {
            assert_eq!(process_of(OsStr::new(other)), None, "{other}");
        }
    }

    #[test]
    fn leftovers_of_a_killed_process_vanish_and_files_in_use_stay() {
        let folder = folder("leftovers");
        fs::write(folder.join(".tutte-99999-0.tmp"), "half").unwrap();
        fs::write(folder.join(".mine.tmp"), "mine").unwrap();
        let mut file = AtomicFile::create(folder.join("a.conllu")).unwrap();
        file.write_all(b"whole").unwrap();
        let in_use = temporary_name(process::id(), 0);
        remove_leftovers(&folder);
        assert_eq!(names(&folder), [".mine.tmp", in_use.as_str()]);
        file.commit().unwrap();
        remove_leftovers(&folder);
        assert_eq!(names(&folder), [".mine.tmp", "a.conllu"]);
        let _file = AtomicFile::create(folder.join("b.conllu")).unwrap();
        remove_own_temporary_files(&folder);
        assert_eq!(names(&folder), [".mine.tmp", "a.conllu"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn names_may_be_as_long_as_the_file_system_allows() {
        let folder = folder("long");
        for length in [1, 240, 247, 255] {
            let name = "n".repeat(length);
            let mut file = AtomicFile::create(folder.join(&name)).unwrap();
            file.write_all(b"whole").unwrap();
            file.commit().unwrap();
            assert_eq!(names(&folder), [name.as_str()]);
            fs::remove_file(folder.join(name)).unwrap();
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_is_not_completed_leaves_the_old_one() {
        let folder = folder("dropped");
        let path = folder.join("a.conllu");
        fs::write(&path, "old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(&folder), ["a.conllu"]);
        fs::remove_dir_all(folder).unwrap();
    }
}
