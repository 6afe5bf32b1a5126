//! Output paths of inputs that each have an output of their own.

use std::ffi::OsString;
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
        // Names may not be UTF-8.
        let stem = without_extension(input);
        let mut parts = pattern.split("{}");
        let mut output = OsString::from(parts.next().unwrap_or_default());
        for part in parts {
            output.push(&stem);
            output.push(part);
        }
        Ok(PathBuf::from(output))
    });
    outputs.collect()
}

/// Returns a path without its extensions: `a/b` for `a/b.conllu.gz`.
pub(crate) fn without_extension(path: &Path) -> PathBuf {
    let packed = path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("gz") || end.eq_ignore_ascii_case("zst"));
    let path = if packed { path.with_extension("") } else { path.to_owned() };
    path.with_extension("")
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
