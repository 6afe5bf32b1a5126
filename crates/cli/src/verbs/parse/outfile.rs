//! Output paths of inputs that each have an output of their own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::failure::usage;

/// Returns the outputs of `--outfile PATTERN`, one per input. `{}` in the pattern is the input's path without
/// its extension.
pub(super) fn outputs(pattern: &str, inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if !pattern.contains("{}") {
        return match inputs.len() {
            1 => Ok(vec![PathBuf::from(pattern)]),
            several => Err(usage(format!(
                "--outfile {pattern} is one name, but there are {several} inputs; {{}} in it stands for \
                 the input's path without its extension, as in '{{}}.parsed.conllu', and -o joins all"
            ))),
        };
    }
    let outputs = inputs.iter().map(|input| {
        if input == Path::new("-") {
            return Err(usage(
                "--outfile: standard input has no name that {} could stand for; use -o",
            ));
        }
        Ok(PathBuf::from(pattern.replace("{}", &without_extension(input).to_string_lossy())))
    });
    outputs.collect()
}

/// Refuses outputs that are also inputs, or each other.
pub(crate) fn check_distinct<'a>(
    pairs: impl Iterator<Item = (&'a Path, &'a Path)> + Clone,
) -> Result<()> {
    let inputs: BTreeMap<PathBuf, &Path> =
        pairs.clone().map(|(input, _)| (real(input), input)).collect();
    let mut outputs: BTreeMap<PathBuf, &Path> = BTreeMap::new();
    for (input, output) in pairs {
        let real = real(output);
        let shown = output.display();
        if let Some(overwritten) = inputs.get(&real) {
            let (input, overwritten) = (input.display(), overwritten.display());
            let message = if overwritten.to_string() == input.to_string() {
                format!("{input} would be overwritten by what is made of it; choose another output")
            } else {
                format!(
                    "{overwritten} would be overwritten by what is made of {input}; choose another output"
                )
            };
            return Err(usage(message));
        }
        if let Some(other) = outputs.insert(real, input) {
            let (other, input) = (other.display(), input.display());
            return Err(usage(format!(
                "{other} and {input} would both become {shown}; parse them into different folders, or \
                 name only the files you mean"
            )));
        }
    }
    Ok(())
}

/// Returns a path without its extensions: `a/b` for `a/b.conllu.gz`.
pub(crate) fn without_extension(path: &Path) -> PathBuf {
    let packed = path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("gz") || end.eq_ignore_ascii_case("zst"));
    let path = if packed { path.with_extension("") } else { path.to_owned() };
    path.with_extension("")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_what_says_the_kind() {
        for (path, expected) in [
            ("a/b.conllu", "a/b"),
            ("a/b.conllu.gz", "a/b"),
            ("b.txt.ZST", "b"),
            ("b.gz", "b"),
            ("b", "b"),
            ("a.d/b", "a.d/b"),
            (".hidden", ".hidden"),
            ("../v1.2.txt", "../v1.2"),
        ] {
            assert_eq!(without_extension(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
