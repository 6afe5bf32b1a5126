//! Temporary files of outputs that were never finished: they stand beside the output until it appears.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Removes what is unfinished of these outputs; of one process only, if it is named.
pub(crate) fn remove<'a>(outputs: impl Iterator<Item = &'a Path>, process: Option<u32>) {
    let mut folders: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for output in outputs {
        // Through a link, it is the file behind that is written.
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
        // A folder that is not there, or a file that is gone, is as clean as can be.
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

/// From now on, Ctrl-C ends the program only after removing what is unfinished of these outputs.
pub(crate) fn remove_on_interrupt(outputs: Vec<PathBuf>) {
    if outputs.iter().all(|output| output == Path::new("-")) {
        return;
    }
    // Where it cannot be had, Ctrl-C leaves them.
    let _ = ctrlc::set_handler(move || {
        remove(outputs.iter().map(PathBuf::as_path), Some(std::process::id()));
        std::process::exit(130);
    });
}

/// `a.conllu` and `123` for `.a.conllu.123-0.tmp`, as process 123 calls what becomes `a.conllu`.
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
