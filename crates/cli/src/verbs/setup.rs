//! `tutte completions` and `tutte manual`: what a package installs beside the program.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use clap_complete::Shell;

use crate::arguments;
use crate::failure::Outcome;
use crate::session::Session;

/// Print the completions of a shell
///
/// For bash: tutte completions bash > ~/.local/share/bash-completion/completions/tutte
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell
    shell: Shell,
}

pub(crate) fn completions(arguments: &Completions, session: &Session) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut arguments::command(), "tutte", &mut script);
    let mut out = session.stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Outcome::Good)
}

/// Write the manual pages, tutte.1 and one a verb, into a folder
///
/// To read one without installing it: man ./tutte-eval.1
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// The folder, made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn manual(arguments: &Manual, session: &Session) -> Result<Outcome> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    clap_mangen::generate_to(arguments::command(), folder)
        .with_context(|| format!("cannot write into {}", folder.display()))?;
    session.note(format!("manual pages written; to read one: man {}/tutte.1", folder.display()));
    Ok(Outcome::Good)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn completions_of_every_shell_and_manual_pages_know_every_verb() {
        let command = arguments::command();
        let folder = std::env::temp_dir().join(format!("tutte-manual-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        clap_mangen::generate_to(arguments::command(), &folder).unwrap();
        for verb in command.get_subcommands() {
            let name = verb.get_name();
            for shell in Shell::value_variants() {
                let mut script = Vec::new();
                clap_complete::generate(*shell, &mut arguments::command(), "tutte", &mut script);
                assert!(String::from_utf8(script).unwrap().contains(name), "{shell} {name}");
            }
            let page = fs::read_to_string(folder.join(format!("tutte-{name}.1"))).unwrap();
            assert!(page.contains(".SH SYNOPSIS"), "{page}");
        }
        let page = fs::read_to_string(folder.join("tutte.1")).unwrap();
        assert!(page.contains("Exit codes:"), "{page}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
