//! Identity of files, and names of files beside others.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Identity of a file. Two paths with the same identity lead to the same file, through links of any kind.
///
/// ```
/// use tutte_treebank::FileId;
///
/// assert_eq!(FileId::of("new.conllu"), FileId::of("./new.conllu"));
/// assert_ne!(FileId::of("new.conllu"), FileId::of("other.conllu"));
/// assert_eq!(FileId::of("-"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId(Id);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    /// An existing file, which may have several hard links.
    #[cfg(unix)]
    Inode { device: u64, number: u64 },
    /// A file that does not exist, or whose inode is not known.
    Path(PathBuf),
}

impl FileId {
    /// Returns the identity of a file, whether it exists or not. Returns `None` for what cannot be
    /// overwritten: standard streams (`-`), pipes and devices.
    pub fn of(path: impl AsRef<Path>) -> Option<Self> {
        let path = path.as_ref();
        if path == Path::new("-") {
            return None;
        }
        if let Ok(about) = fs::metadata(path) {
            if !about.is_file() && !about.is_dir() {
                return None;
            }
            #[cfg(unix)]
            {
                use std::os::unix::fs::MetadataExt as _;
                return Some(Self(Id::Inode { device: about.dev(), number: about.ino() }));
            }
        }
        Some(Self(Id::Path(real(path))))
    }
}

/// Returns one path for all names of a file, whether it exists or not.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = fs::canonicalize(path) {
        return real;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    path.file_name().map_or_else(|| folder.clone(), |name| folder.join(name))
}

/// Returns the path of a file beside another: `en.tutte.resume` for `en.tutte` and `.resume`. A name that
/// would be too long for file systems is shortened; a hash of it keeps it unique.
///
/// ```
/// use std::path::Path;
/// use tutte_treebank::beside;
///
/// assert_eq!(beside("models/en.tutte", ".resume"), Path::new("models/en.tutte.resume"));
/// assert!(beside("n".repeat(250), ".resume").as_os_str().len() <= 255);
/// ```
pub fn beside(path: impl AsRef<Path>, ending: &str) -> PathBuf {
    /// Longest name in most file systems, in bytes.
    const LONGEST: usize = 255;
    let path = path.as_ref();
    let name = path.file_name().unwrap_or_default();
    if name.len() + ending.len() <= LONGEST {
        let mut whole = OsString::from(path);
        whole.push(ending);
        return whole.into();
    }
    // FNV-1a, since this crate has no hash that is the same in every build.
    let hash = name.as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let ending = format!("-{hash:016x}{ending}");
    let mut start = name.to_string_lossy().into_owned();
    while start.len() + ending.len() > LONGEST {
        start.pop();
    }
    path.with_file_name(start + &ending)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_through_every_name() {
        let folder = std::env::temp_dir().join(format!("tutte-id-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("inner")).unwrap();
        let file = folder.join("a.conllu");
        fs::write(&file, "").unwrap();
        fs::hard_link(&file, folder.join("hard")).unwrap();
        std::os::unix::fs::symlink(&file, folder.join("soft")).unwrap();
        std::os::unix::fs::symlink(&folder, folder.join("inner/out")).unwrap();
        for same in ["hard", "soft", "inner/../a.conllu", "inner/out/a.conllu"] {
            assert_eq!(FileId::of(folder.join(same)), FileId::of(&file), "{same}");
        }
        let absent = FileId::of(folder.join("absent"));
        assert_eq!(FileId::of(folder.join("inner/out/absent")), absent);
        assert_ne!(FileId::of(&file), absent);
        assert_eq!(FileId::of("/dev/null"), None);
        fs::remove_dir_all(folder).unwrap();
    }
}
