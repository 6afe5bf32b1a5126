//! Files of rules, for verbs that learn from them.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use tutte::rules::{Invalid, Problem, RuleSet};

use crate::report::count;
use crate::session::Session;

/// Reads a file of rules, and prints its warnings.
///
/// # Errors
/// The last problem of the file, after all others were printed.
pub(crate) fn read_rules(path: &Path, session: &Session) -> Result<RuleSet> {
    let name = path.display().to_string();
    let bytes = fs::read(path).with_context(|| format!("cannot read {name}"))?;
    let rules =
        RuleSet::from_bytes(&name, &bytes).map_err(|invalid| rules_error(&invalid, session))?;
    for problem in rules.warnings() {
        session.warn(&placed(&name, problem));
    }
    Ok(rules)
}

/// Prints all problems of the rules but the last, which is returned as the error.
fn rules_error(invalid: &Invalid, session: &Session) -> anyhow::Error {
    let (last, others) = match invalid.problems.split_last() {
        Some(split) => split,
        None => return anyhow!("{}: not a file of rules", invalid.file),
    };
    /// Number of problems that are printed.
    const SHOWN: usize = 20;
    others.iter().take(SHOWN).for_each(|problem| session.complain(&placed(&invalid.file, problem)));
    if others.len() > SHOWN {
        session.note(format!("… {} more", count(others.len() - SHOWN)));
    }
    placed(&invalid.file, last)
}

fn placed(file: &str, Problem { line, column, message }: &Problem) -> anyhow::Error {
    anyhow!("{file}:{line}:{column}: {message}")
}
