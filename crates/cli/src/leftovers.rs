//! Temporary files of outputs that were never finished. They lie beside the output until it is complete.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Removes the temporary files of these outputs, of all processes or of one.
pub(crate) fn remove<'a>(outputs: impl Iterator<Item = &'a Path>, process: Option<u32>) {
    let mut folders: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for output in outputs {
        // A link is followed when it is written to.
        let output = fs::canonicalize(output).unwrap_or_else(|_| output.to_owned());
        if let (Some(folder), Some(name)) = (output.parent(), output.file_name()) {
            let here = folder.as_os_str().is_empty();
            let folder = if here { PathBuf::from(".") } else { folder.to_owned() };
            folders.entry(folder).or_default().push(name.to_string_lossy().into_owned());
        }
    }
    let process = process.map(|process| process.to_string());
    for (folder, mut names) in folders {
        names.sort_unstable();
        // A missing folder or file needs no cleaning.
        let Ok(found) = fs::read_dir(folder) else { continue };
        for entry in found.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_leftover = temporary(&name).is_some_and(|(of, by)| {
                let known = names.binary_search_by(|name| name.as_str().cmp(of)).is_ok();
                known && process.as_ref().is_none_or(|process| process == by)
            });
            if is_leftover {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Splits the name of a temporary file: `.a.conllu.123-0.tmp` is `a.conllu` by process `123`.
fn temporary(name: &str) -> Option<(&str, &str)> {
    let (of, number) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let (process, attempt) = number.split_once('-')?;
    (is_number(process) && is_number(attempt)).then_some((of, process))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_told_from_other_files() {
        assert_eq!(temporary(".a.conllu.123-0.tmp"), Some(("a.conllu", "123")));
        for other in
            ["a.conllu.123-0.tmp", ".a.conllu.tmp", ".a.x-0.tmp", ".123-0.tmp", ".a.1-.tmp"]
        {
            assert_eq!(temporary(other), None, "{other}");
        }
    }
}
