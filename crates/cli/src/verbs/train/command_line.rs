//! The command line, for the model's description and for resuming.

/// Returns the command without options that do not change the model: output, threads, resuming, messages.
pub(crate) fn of_model() -> String {
    let mut words = Vec::new();
    let mut typed = typed();
    while let Some(word) = typed.next() {
        match word.as_str() {
            "-q" | "--quiet" | "--json" | "--resume" => {}
            "-o" | "--output" | "-j" | "--threads" => drop(typed.next()),
            _ if word.starts_with("--output=") || word.starts_with("--threads=") => {}
            _ if !word.starts_with("--") && (word.starts_with("-j") || word.starts_with("-o")) => {}
            _ => words.push(word),
        }
    }
    shell_line(words)
}

/// Returns the command that resumes this one.
pub(super) fn to_resume() -> String {
    shell_line(typed().filter(|word| word != "--resume").chain(["--resume".to_owned()]))
}

fn typed() -> impl Iterator<Item = String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned())
}

/// Returns words as a shell reads them.
fn shell_line(words: impl IntoIterator<Item = String>) -> String {
    let is_special = |c: char| " \t\n'\"\\$*?&|;<>()#".contains(c);
    let quoted = |word: String| {
        if word.is_empty() || word.contains(is_special) {
            format!("'{}'", word.replace('\'', r"'\''"))
        } else {
            word
        }
    };
    let words: Vec<String> = words.into_iter().map(quoted).collect();
    format!("tutte {}", words.join(" "))
}
