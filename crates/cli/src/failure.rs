//! Error messages and exit codes.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use tutte_treebank::draw::{columns, printable as visible, shorten};
use tutte_treebank::{Column, Error};

use crate::interrupt;

/// Result of a verb that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Success.
    Good,
    /// A check failed: errors in a treebank, differences between files.
    CheckFailed,
    /// Part of the input could not be read; the results cover the rest.
    BadInput,
    /// Ctrl-C or SIGTERM stopped the run early.
    Interrupted,
}

const USAGE: u8 = 2;
const BAD_INPUT: u8 = 3;

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Good => ExitCode::SUCCESS,
            Outcome::CheckFailed => ExitCode::from(1),
            Outcome::BadInput => ExitCode::from(BAD_INPUT),
            Outcome::Interrupted => ExitCode::from(interrupt::exit_code()),
        }
    }
}

/// Error in the use of the program: arguments that contradict each other or the files.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Makes a [`Usage`] error.
pub(crate) fn usage(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage(message.into()))
}

/// An error with a hint. It wraps the error, since `error.context(Hint(…))` would print the hint first.
#[derive(Debug)]
pub(crate) struct Advised {
    error: anyhow::Error,
    hint: String,
}

impl std::fmt::Display for Advised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&one_line(&self.error))
    }
}

impl std::error::Error for Advised {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.error.as_ref())
    }
}

/// Adds a hint to an error: how to fix it.
pub(crate) fn advise(error: impl Into<anyhow::Error>, hint: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Advised { error: error.into(), hint: hint.into() })
}

/// Returns the message for a path, or standard output for `-`, that cannot be written.
pub(crate) fn cannot_write(path: &Path) -> String {
    if path == Path::new("-") {
        "cannot write to standard output".to_owned()
    } else {
        format!("cannot write {}", path.display())
    }
}

/// Prints the error that ends the run, and returns the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if error.chain().any(is_broken_pipe) {
        // The reader of the output, such as `head`, has closed the pipe.
        return ExitCode::SUCCESS;
    }
    // Errors about files name them; a bare I/O error is about standard output.
    match error.chain().next().and_then(|bare| bare.downcast_ref::<io::Error>()) {
        Some(bare) => {
            let error = anyhow::anyhow!("cannot write to standard output: {bare}");
            explain("error", AnsiColor::Red, &error);
        }
        None => explain("error", AnsiColor::Red, error),
    }
    let is_usage = error.downcast_ref::<Usage>().is_some();
    ExitCode::from(if is_usage { USAGE } else { BAD_INPUT })
}

/// Prints help, the version or an error of the command line, and returns the exit code.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    let printed = error.print().and_then(|()| io::stdout().flush());
    if let Some(hint) = usage_hint(error) {
        // A failure to write to standard error cannot be reported.
        let _ = anstream::stderr().lock().write_all(hint_line(&hint).as_bytes());
    }
    match printed {
        // Errors go to standard error; if that fails, nothing can be printed.
        Err(cause) if !error.use_stderr() => report(&cause.into()),
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE)),
    }
}

/// Returns the advice for an error of the command line that clap cannot give: it knows arguments, not their meaning.
fn usage_hint(error: &clap::Error) -> Option<String> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let argument = context(ContextKind::InvalidArg);
    match error.kind() {
        ErrorKind::InvalidValue if argument.starts_with("--to ") => {
            let value = context(ContextKind::InvalidValue);
            let is_picture = ["svg", "png", "pdf", "html"].contains(&value);
            is_picture.then(|| "`tutte draw FILE -o picture.svg` draws trees".to_owned())
        }
        ErrorKind::UnknownArgument if std::env::args().nth(1).as_deref() == Some(argument) => {
            Some("a verb comes first, as in `tutte parse -t 'Time flies.'`".to_owned())
        }
        _ => std::error::Error::source(error).and_then(treebank_error).and_then(Error::hint),
    }
}

/// Prints an error that ends the work on one sentence or file, but not the run.
pub(crate) fn complain(error: &anyhow::Error) {
    explain("error", AnsiColor::Red, error);
}

/// Prints a warning: a skipped sentence, for instance.
pub(crate) fn warn(error: &anyhow::Error) {
    explain("warning", AnsiColor::Yellow, error);
}

fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    let is_broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    cause.downcast_ref::<io::Error>().is_some_and(is_broken)
        || matches!(treebank_error(cause), Some(Error::File { source, .. }) if is_broken(source))
}

/// Returns the treebank error of a cause, which the parser may pass on.
fn treebank_error<'a>(cause: &'a (dyn std::error::Error + 'static)) -> Option<&'a Error> {
    cause.downcast_ref().or_else(|| match cause.downcast_ref() {
        Some(tutte::Error::Treebank(error)) => Some(error),
        _ => None,
    })
}

fn explain(kind: &str, colour: AnsiColor, error: &anyhow::Error) {
    let bold = colour.on_default().bold();
    let mut text = match error.downcast_ref::<Advised>() {
        Some(advised) => advised.to_string(),
        None => one_line(error),
    };
    text = format!("{bold}{kind}:{bold:#} {}\n", visible(&text));
    let treebank_error = error.chain().find_map(treebank_error);
    let parser_error = error.chain().find_map(|cause| cause.downcast_ref::<tutte::Error>());
    if let Some(Error::Malformed { place, line, .. }) = treebank_error {
        let column = place.column.map(|column| column.number());
        text.push_str(&offending_line(&place.line.to_string(), line, column));
    }
    if let Some(Error::DifferentText(difference)) = treebank_error {
        let form = Some(Column::Form.number());
        for (side, spot) in [("  gold", &difference.gold), ("system", &difference.system)] {
            if let Some(spot) = spot {
                let margin = format!("{side}:{}", spot.place.line);
                text.push_str(&offending_line(&margin, &spot.line, form));
            }
        }
    }
    let hint = match error.downcast_ref::<Advised>() {
        Some(advised) => Some(advised.hint.clone()),
        None => match parser_error {
            Some(error) => error.hint(),
            None => treebank_error.and_then(Error::hint),
        },
    };
    if let Some(hint) = hint {
        text.push_str(&hint_line(&hint));
    }
    // A failure to write to standard error cannot be reported.
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

fn hint_line(hint: &str) -> String {
    let cyan = AnsiColor::Cyan.on_default().bold();
    format!("{cyan}hint:{cyan:#} {}\n", visible(hint))
}

/// Joins the chain of causes, without those that the error already quotes.
fn one_line(error: &anyhow::Error) -> String {
    let mut line = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !line.contains(&cause) {
            line.push_str(": ");
            line.push_str(&cause);
        }
    }
    line
}

/// Shows the line with the error, with the wrong column underlined:
///
/// ```text
///   1832 │ 3  far  _  ADV  _  _  14  root  _  _
///        │                      ^^
/// ```
fn offending_line(margin: &str, line: &str, column: Option<usize>) -> String {
    // Long words are cut so that the wrong column stays visible.
    const WIDEST: usize = 40;
    const LONGEST: usize = 160;
    if line.is_empty() {
        return String::new();
    }
    let dim = Style::new().dimmed();
    let blank = " ".repeat(columns(margin));
    let mut shown = String::new();
    let mut mark = None;
    for (at, value) in line.split('\t').enumerate() {
        if at > 0 {
            shown.push_str("  ");
        }
        let value = shorten(&visible(value), WIDEST);
        if column == Some(at + 1) {
            mark = Some((columns(&shown), columns(&value).max(1)));
        }
        shown.push_str(&value);
    }
    let shown = shorten(&shown, LONGEST);
    let mut text = format!("  {dim}{margin} │{dim:#} {shown}\n");
    if let Some((start, width)) = mark.filter(|(start, width)| start + width < LONGEST) {
        let carets = "^".repeat(width);
        text.push_str(&format!("  {dim}{blank} │{dim:#} {}{carets}\n", " ".repeat(start)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wrong_column_stays_visible_and_underlined_behind_long_and_wide_words() {
        let plain = |line: &str, column| {
            anstream::adapter::strip_str(&offending_line("7", line, Some(column))).to_string()
        };
        let long = format!("1\t{}\t_\t_\t_\t_\t99\troot\t_\t_", "茶".repeat(500));
        let expected = format!(
            "  7 │ 1  {}…  _  _  _  _  99  root  _  _\n    │ {}^^\n",
            "茶".repeat(19),
            " ".repeat(3 + 39 + 2 + 12)
        );
        assert_eq!(plain(&long, 7), expected);
        // There are too many columns to show the last.
        let many = "_\t".repeat(100);
        assert!(plain(&many, 99).lines().all(|line| line.chars().count() <= 6 + 160));
        assert_eq!(plain(&many, 99).lines().count(), 1);
        assert_eq!(plain("a\u{1b}[31m\tb", 2), "  7 │ a\u{fffd}[31m  b\n    │         ^\n");
    }
}
