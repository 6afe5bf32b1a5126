//! `tutte completions` and `tutte manual`: files that a package installs beside the program.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::Outcome;
use crate::files::Files;
use crate::session::Session;

/// Print the completion script of a shell
///
/// For bash: tutte completions bash > ~/.local/share/bash-completion/completions/tutte
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to complete in
    shell: Shell,
}

pub(crate) fn completions(
    arguments: &Completions,
    mut command: Command,
    session: &Session,
) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "tutte", &mut script);
    let mut out = session.stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Outcome::Good)
}

/// Write the manual pages into a folder: tutte.1 and one per verb
///
/// To read one without installing it: man ./tutte-eval.1
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// Folder to write to; it is created if needed
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Manual {
    /// Returns the files of the run.
    pub(super) fn files(&self) -> Files {
        Files::default().fills([&self.folder])
    }
}

pub(crate) fn manual(arguments: &Manual, command: Command, session: &Session) -> Result<Outcome> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    clap_mangen::generate_to(command, folder)
        .with_context(|| format!("cannot write into {}", folder.display()))?;
    session.note(format!("manual pages written; read one with: man {}/tutte.1", folder.display()));
    Ok(Outcome::Good)
}
