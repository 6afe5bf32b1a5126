//! The command line, for the model's description and for resuming.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns the command without options that do not change the model: output, threads, resuming, messages. Of the files
/// that it reads, only the names stay: the same files give the same model wherever they lie.
pub(crate) fn of_model<P: AsRef<Path>>(read: impl IntoIterator<Item = P>) -> String {
    let read: BTreeSet<String> =
        read.into_iter().map(|path| path.as_ref().to_string_lossy().into_owned()).collect();
    shell_line(without_folders(without_effectless_options(typed()), &read))
}

/// Returns the name of a file without its folder.
pub(crate) fn base_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Joins the names of files without their folders.
pub(crate) fn base_names(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|file| base_name(file)).collect();
    names.join(", ")
}

fn without_folders(words: Vec<String>, read: &BTreeSet<String>) -> Vec<String> {
    let shorten = |word: String| match word.split_once('=') {
        _ if read.contains(&word) => base_name(Path::new(&word)),
        Some((option, path)) if option.starts_with("--") && read.contains(path) => {
            format!("{option}={}", base_name(Path::new(path)))
        }
        _ => word,
    };
    words.into_iter().map(shorten).collect()
}

fn without_effectless_options(mut typed: impl Iterator<Item = String>) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(word) = typed.next() {
        match word.as_str() {
            "-q" | "--quiet" | "--json" | "--resume" | "--force" => {}
            "-o" | "--output" | "-j" | "--threads" => drop(typed.next()),
            _ if word.starts_with("--output=") || word.starts_with("--threads=") => {}
            _ if !word.starts_with("--") && (word.starts_with("-j") || word.starts_with("-o")) => {}
            _ => words.push(word),
        }
    }
    words
}

/// Returns the command that resumes this one.
pub(super) fn to_resume() -> String {
    shell_line(typed().filter(|word| word != "--resume").chain(["--resume".to_owned()]))
}

fn typed() -> impl Iterator<Item = String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned())
}

/// Returns a command of this program as a shell reads it.
fn shell_line(words: impl IntoIterator<Item = String>) -> String {
    format!("tutte {}", shell_words(words))
}

/// Returns words as a shell reads them.
pub(super) fn shell_words(words: impl IntoIterator<Item = String>) -> String {
    let is_special = |c: char| " \t\n'\"\\$*?&|;<>()#".contains(c);
    let quoted = |word: String| {
        if word.is_empty() || word.contains(is_special) {
            format!("'{}'", word.replace('\'', r"'\''"))
        } else {
            word
        }
    };
    let words: Vec<String> = words.into_iter().map(quoted).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_do_not_enter_the_command_of_a_model() {
        let typed =
            "train -q /data/a.conllu --dev=../b/dev.conllu --data x/y -o /m/a.tutte -j2 --force";
        let words = without_effectless_options(typed.split(' ').map(str::to_owned));
        let read = ["/data/a.conllu", "../b/dev.conllu"].map(str::to_owned).into();
        let words = without_folders(words, &read);
        assert_eq!(shell_line(words), "tutte train a.conllu --dev=dev.conllu --data x/y");
    }
}
