//! The verbs, one file each: its arguments and what it prints. To add a verb, add a file here, a line in [`Verb`], a
//! line in [`run`] and its name in [`GROUPS`].
//!
//! A verb reads through [`crate::input`], so that `--format`, `--encoding` and `--lenient` mean the same everywhere.
//! It computes with a library, prints a table or with `--json` a report to [`Session::stdout`], and ends with
//! [`Session::end`].

mod ask;
mod audit;
mod bench;
mod calibrate;
mod check;
mod combine;
mod convert;
mod diff;
mod distil;
mod draw;
mod eval;
mod forest;
mod info;
mod learn;
mod parse;
mod rules;
mod run;
mod score;
mod setup;
mod stats;
mod train;

use anyhow::Result;
use clap::{Command, Subcommand};

pub(crate) use self::run::resume_job;
use crate::failure::Outcome;
use crate::files::Files;
use crate::session::Session;

/// A verb and its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Train(Box<train::Train>),
    Distil(distil::Distil),
    Learn(learn::Learn),
    Parse(parse::Parse),
    Run(run::Run),
    Forest(forest::Forest),
    Score(score::Score),
    Ask(ask::Ask),
    Rules(rules::Rules),
    Calibrate(calibrate::Calibrate),
    Combine(combine::Combine),
    Info(info::Info),
    Bench(bench::Bench),
    Check(check::Check),
    Stats(stats::Stats),
    Audit(audit::Audit),
    Draw(draw::Draw),
    Convert(convert::Convert),
    Eval(eval::Eval),
    Diff(diff::Diff),
    Completions(setup::Completions),
    Manual(setup::Manual),
}

/// Verbs by purpose, as help lists them. Every visible verb is in one group.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    (
        "Parse",
        &[
            "train",
            "distil",
            "learn",
            "rules",
            "parse",
            "run",
            "forest",
            "score",
            "ask",
            "calibrate",
            "combine",
            "info",
            "bench",
        ],
    ),
    ("Look at a treebank or change it", &["check", "stats", "audit", "draw", "convert"]),
    ("Evaluate a parser", &["eval", "diff"]),
    ("Set up", &["completions", "manual"]),
];

impl Verb {
    /// Returns the files that the verb reads and writes. `run` lists its own, since it reads whole folders.
    fn files(&self) -> Result<Files> {
        Ok(match self {
            Verb::Train(arguments) => arguments.files(),
            Verb::Distil(arguments) => arguments.files()?,
            Verb::Learn(arguments) => arguments.files(),
            Verb::Parse(arguments) => arguments.files()?,
            Verb::Forest(arguments) => arguments.files(),
            Verb::Score(arguments) => arguments.files(),
            Verb::Ask(arguments) => arguments.files(),
            Verb::Rules(arguments) => arguments.files(),
            Verb::Calibrate(arguments) => arguments.files()?,
            Verb::Combine(arguments) => arguments.files(),
            Verb::Stats(arguments) => arguments.files(),
            Verb::Audit(arguments) => arguments.files(),
            Verb::Draw(arguments) => arguments.files(),
            Verb::Convert(arguments) => arguments.files(),
            Verb::Eval(arguments) => arguments.files(),
            Verb::Diff(arguments) => arguments.files(),
            Verb::Manual(arguments) => arguments.files(),
            Verb::Run(_)
            | Verb::Info(_)
            | Verb::Bench(_)
            | Verb::Check(_)
            | Verb::Completions(_) => Files::default(),
        })
    }
}

/// Runs a verb. `command` builds the whole command line, for completions and manual pages.
pub(crate) fn run(
    verb: &Verb,
    command: impl FnOnce() -> Command,
    session: &Session,
) -> Result<Outcome> {
    let files = verb.files()?;
    files.check_folders()?;
    files.prepare()?;
    match verb {
        Verb::Train(arguments) => train::run(arguments, session),
        Verb::Distil(arguments) => distil::run(arguments, session),
        Verb::Learn(arguments) => learn::run(arguments, session),
        Verb::Parse(arguments) => parse::run(arguments, session),
        Verb::Run(arguments) => run::run(arguments, session),
        Verb::Forest(arguments) => forest::run(arguments, session),
        Verb::Score(arguments) => score::run(arguments, session),
        Verb::Ask(arguments) => ask::run(arguments, session),
        Verb::Rules(arguments) => rules::run(arguments, session),
        Verb::Calibrate(arguments) => calibrate::run(arguments, session),
        Verb::Combine(arguments) => combine::run(arguments, session),
        Verb::Info(arguments) => info::run(arguments, session),
        Verb::Bench(arguments) => bench::run(arguments, session),
        Verb::Check(arguments) => check::run(arguments, session),
        Verb::Stats(arguments) => stats::run(arguments, session),
        Verb::Audit(arguments) => audit::run(arguments, session),
        Verb::Convert(arguments) => convert::run(arguments, session),
        Verb::Eval(arguments) => eval::run(arguments, session),
        Verb::Draw(arguments) => draw::run(arguments, session),
        Verb::Diff(arguments) => diff::run(arguments, session),
        Verb::Completions(arguments) => setup::completions(arguments, command(), session),
        Verb::Manual(arguments) => setup::manual(arguments, command(), session),
    }
}
