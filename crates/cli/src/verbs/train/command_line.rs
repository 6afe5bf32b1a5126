//! The command line, as models tell of it and as it goes on.

/// The command without what does not change the model: where it is written to, how many threads work
/// on it, in how many sittings, what is said meanwhile.
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
    line(words)
}

/// The command that goes on where this one ends.
pub(super) fn to_resume() -> String {
    line(typed().filter(|word| word != "--resume").chain(["--resume".to_owned()]))
}

fn typed() -> impl Iterator<Item = String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned())
}

/// As a shell reads it.
fn line(words: impl IntoIterator<Item = String>) -> String {
    let quoted = |word: String| match word.is_empty()
        || word.contains(|c: char| " \t\n'\"\\$*?&|;<>()#".contains(c))
    {
        true => format!("'{}'", word.replace('\'', r"'\''")),
        false => word,
    };
    let words: Vec<String> = words.into_iter().map(quoted).collect();
    format!("tutte {}", words.join(" "))
}
