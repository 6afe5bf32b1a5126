//! The experiments behind `docs/results`: each subcommand writes one page, numbers, text and
//! verdicts, from treebanks that the project does not hold.
//!
//! ```sh
//! cargo run --release -p tutte-experiments -- supervised -o docs/results/supervised.md
//! ```
//!
//! Treebanks are looked for in `$TUTTE_DATA`, or `../shared/data`. What a trial finds is kept below
//! `target/experiments`, so an interrupted run goes on where it was.

mod annotation;
mod audit;
mod clock;
mod data;
mod decoder;
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
    Supervised(supervised::Arguments),
    WeakSupervision(weak::Arguments),
}

fn main() -> Result<()> {
    match Arguments::parse().experiment {
        Experiment::Annotation(arguments) => annotation::run(&arguments),
        Experiment::Audit(arguments) => audit::run(&arguments),
        Experiment::Supervised(arguments) => supervised::run(&arguments),
        Experiment::WeakSupervision(arguments) => weak::run(&arguments),
    }
}
