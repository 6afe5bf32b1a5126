//! What can be typed. Help, shell completions and manual pages all come from here.

use std::fmt::Write as _;

use clap::{Command, CommandFactory, Parser};

use crate::verbs::Verb;

/// Dependency parsing with probabilities: of text, from treebanks, and all that treebanks need
#[derive(Debug, Parser)]
#[command(name = "tutte", version, max_term_width = 100, disable_help_subcommand = true)]
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

/// The verbs by what people come for. Every visible verb is in one group.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Parse",
        &[
            "train",
            "learn",
            "rules",
            "parse",
            "run",
            "forest",
            "score",
            "ask",
            "calibrate",
            "info",
            "bench",
        ],
    ),
    ("Look at a treebank, change it", &["check", "stats", "audit", "draw", "convert"]),
    ("Judge a parser", &["eval", "diff"]),
    ("Set up", &["completions", "manual"]),
];

const EXAMPLES: &str = "\
Examples:
  tutte parse -t \"I saw the man with a telescope.\"
  tutte train examples/garden.conllu -o garden.tutte
  tutte parse -m garden.tutte examples/tea.conllu | tutte draw -

Files may be compressed (.gz, .zst); - is standard input. `tutte VERB --help` says more.
Exit codes: 0 all well, 1 a check failed, 2 wrong usage, 3 bad input.";

/// The whole command line. The list of verbs is grouped, which clap itself cannot do.
pub(crate) fn command() -> Command {
    let command = Arguments::command();
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

#[cfg(test)]
mod tests {
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
        assert!(help.lines().count() <= 45, "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}
