//! `tutte rules`: rules of a language, for `tutte learn`.

mod check;
mod show;
mod suggest;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use clap::{Args, Subcommand};
use tutte::rules::{self, Invalid, Problem};

use crate::failure::Outcome;
use crate::files::Files;
use crate::report::{count, counted};
use crate::session::Session;

/// Number of findings of each kind that are printed; `--json` has all.
const SHOWN: usize = 20;

/// Keeps the first findings of a kind and adds the number of all.
fn shorten(findings: &mut Vec<String>, kind: &str, shown: usize) {
    let all = findings.len();
    if all > shown {
        findings.truncate(shown);
        findings.push(format!("{} {kind} in total; --json lists them", count(all)));
    }
}

/// Check, show or suggest rules such as `det: DET <- nearest NOUN  head right  90%`
#[derive(Debug, Args)]
pub(crate) struct Rules {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Check(check::Check),
    Show(show::Show),
    Suggest(suggest::Suggest),
}

impl Rules {
    /// Returns the files of the run.
    pub(super) fn files(&self) -> Files {
        match &self.action {
            Action::Check(_) | Action::Show(_) => Files::default(),
            Action::Suggest(arguments) => arguments.files(),
        }
    }
}

pub(crate) fn run(arguments: &Rules, session: &Session) -> Result<Outcome> {
    match &arguments.action {
        Action::Check(arguments) => check::run(arguments, session),
        Action::Show(arguments) => show::run(arguments, session),
        Action::Suggest(arguments) => suggest::run(arguments, session),
    }
}

/// Returns the name and the content of a file.
fn bytes(path: &Path) -> Result<(String, Vec<u8>)> {
    let name = path.display().to_string();
    let bytes = fs::read(path).with_context(|| format!("cannot read {name}"))?;
    Ok((name, bytes))
}

fn read(path: &Path) -> Result<Result<rules::RuleSet, Invalid>> {
    let (name, bytes) = bytes(path)?;
    Ok(rules::RuleSet::from_bytes(&name, &bytes))
}

/// Prints all problems of the rules.
fn refuse(invalid: &Invalid, session: &Session) -> Result<Outcome> {
    let errors = errors(invalid);
    for error in errors.iter().take(SHOWN) {
        session.complain(&anyhow!("{error}"));
    }
    if errors.len() > SHOWN {
        session.note(format!("… {} more", count(errors.len() - SHOWN)));
    }
    session.note(format!("{} in {}", counted(errors.len(), "error"), invalid.file));
    Ok(Outcome::CheckFailed)
}

fn errors(invalid: &Invalid) -> Vec<String> {
    invalid.problems.iter().map(|problem| placed(&invalid.file, problem)).collect()
}

fn placed(file: &str, Problem { line, column, message }: &Problem) -> String {
    format!("{file}:{line}:{column}: {message}")
}
