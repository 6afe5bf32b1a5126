//! The experiments behind `docs/results`. Each subcommand writes one page: numbers, text and verdicts. The
//! treebanks are not part of the repository.
//!
//! ```sh
//! cargo run --release -p tutte-experiments -- supervised -o docs/results/supervised.md
//! ```
//!
//! Treebanks are read from `$TUTTE_DATA`, or `../shared/data`. Outcomes of trials are cached in
//! `target/experiments`, so an interrupted run resumes where it stopped.

mod annotation;
mod audit;
mod clock;
mod data;
mod decoder;
mod higher_order;
mod lab;
mod page;
mod supervised;
mod trial;
mod weak;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Run an experiment and write its page
#[derive(Debug, Parser)]
#[command(name = "tutte-experiments")]
struct Arguments {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    Annotation(annotation::Arguments),
    Audit(audit::Arguments),
    HigherOrder(higher_order::Arguments),
    Supervised(supervised::Arguments),
    WeakSupervision(weak::Arguments),
}

fn main() -> Result<()> {
    match Arguments::parse().experiment {
        Experiment::Annotation(arguments) => annotation::run(&arguments),
        Experiment::Audit(arguments) => audit::run(&arguments),
        Experiment::HigherOrder(arguments) => higher_order::run(&arguments),
        Experiment::Supervised(arguments) => supervised::run(&arguments),
        Experiment::WeakSupervision(arguments) => weak::run(&arguments),
    }
}
