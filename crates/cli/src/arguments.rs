//! The command line. Help, shell completions and manual pages all come from this definition.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory, Parser};

use crate::verbs::{GROUPS, Verb};

/// Dependency parsing with calibrated probabilities, and tools for treebanks
#[derive(Debug, Parser)]
#[command(name = "tutte", version, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Print one JSON document instead of tables
    #[arg(long, global = true, display_order = 900)]
    pub(crate) json: bool,

    /// Print results and errors only
    #[arg(short, long, global = true, display_order = 901)]
    pub(crate) quiet: bool,

    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  tutte parse -t \"I saw the man with a telescope.\"
  tutte train examples/garden.conllu -o garden.tutte
  tutte parse -m garden.tutte examples/tea.conllu | tutte draw -

Files may be compressed (.gz, .zst); - is standard input. For details: tutte VERB --help.
Exit codes: 0 success, 1 a check failed, 2 wrong usage, 3 bad input, 130 interrupted.";

/// Builds the command line. The list of verbs is grouped, which clap itself cannot do.
pub(crate) fn command() -> Command {
    let command = with_negative_numbers(Arguments::command());
    let mut verbs = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(verbs, "{title}:");
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(verbs, "  {name:<12} {about}");
        }
        verbs.push('\n');
    }
    command.subcommand_value_name("VERB").subcommand_required(true).arg_required_else_help(true).after_help(EXAMPLES).help_template(format!(
        "{{about}}\n\n{{usage-heading}} tutte VERB [OPTIONS] [FILES]\n\n{verbs}Options:\n{{options}}{{after-help}}"
    ))
}

/// Takes `-1` after an option as its value, so that the error is about the value.
fn with_negative_numbers(command: Command) -> Command {
    let takes_value = |arg: &Arg| !arg.is_positional() && arg.get_action().takes_values();
    command
        .mut_args(move |arg| if takes_value(&arg) { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(with_negative_numbers)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::ValueEnum as _;
    use clap_complete::Shell;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn every_visible_verb_is_in_one_group_and_every_group_holds_verbs() {
        let command = command();
        let mut visible: Vec<&str> = command
            .get_subcommands()
            .filter(|verb| !verb.is_hide_set())
            .map(Command::get_name)
            .collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(visible, grouped);
    }

    #[test]
    fn help_fits_one_screen() {
        let help = command().render_help().to_string();
        assert!(help.lines().count() <= 47, "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }

    #[test]
    fn completions_of_every_shell_and_manual_pages_know_every_verb() {
        let all = command();
        let folder = std::env::temp_dir().join(format!("tutte-manual-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        clap_mangen::generate_to(command(), &folder).unwrap();
        for verb in all.get_subcommands() {
            let name = verb.get_name();
            for shell in Shell::value_variants() {
                let mut script = Vec::new();
                clap_complete::generate(*shell, &mut command(), "tutte", &mut script);
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
