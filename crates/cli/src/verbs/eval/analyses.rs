//! What can be asked beyond the tables. The terminal and the JSON document show what was asked for;
//! a page has room for everything.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tutte_treebank::eval::calibration::Calibration;
use tutte_treebank::eval::{Arcs, Grouping, HEAD_PROBABILITY, HeadProbabilities};

use super::{Eval, System, breakdown, errors, significance};
use crate::report::Results;
use crate::report::reliability::{Forecaster, Section};
use crate::session::Session;

/// The arguments of analyses.
#[derive(Debug, Args)]
#[command(next_help_heading = "Analyses")]
pub(super) struct Analyses {
    /// Scores by class: deprel, upos, length, length-exact, depth, direction, sentence-length,
    /// projectivity; several with commas
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', hide_possible_values = true)]
    #[arg(value_parser = groupings())]
    pub(super) by: Vec<Grouping>,

    /// The most frequent confusions of labels and of tags
    #[arg(long)]
    pub(super) confusion: bool,

    /// The most frequent errors, and the words and tags that make most of them
    #[arg(long)]
    pub(super) errors: bool,

    /// How many confusions and errors to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(super) top: usize,

    /// Heads by tag, direction and distance, and false positives, as Druck et al. (2009) show them
    #[arg(long)]
    pub(super) druck: bool,

    /// The number of random swaps and samples when systems are compared
    #[arg(long, value_name = "N", default_value = "10000", value_parser = resamples)]
    pub(super) resamples: NonZeroU32,

    /// The seed of these
    #[arg(long, value_name = "N", default_value = "1")]
    pub(super) seed: u64,

    /// Do not test whether systems differ
    #[arg(long)]
    pub(super) no_significance: bool,

    /// The number of bins of probabilities
    #[arg(long, value_name = "N", default_value = "10", value_parser = bins)]
    pub(super) bins: NonZeroUsize,

    /// Do not judge probabilities (HeadProb in MISC)
    #[arg(long)]
    pub(super) no_calibration: bool,

    /// Write reliability diagrams and risk–coverage curves as SVG into a folder
    #[arg(long, value_name = "DIR", conflicts_with = "no_calibration")]
    pub(super) svg_dir: Option<PathBuf>,
}

fn groupings() -> impl TypedValueParser<Value = Grouping> {
    PossibleValuesParser::new(Grouping::ALL.map(Grouping::name)).try_map(|name| {
        let known = Grouping::ALL.into_iter().find(|grouping| grouping.name() == name);
        known.ok_or("no such class")
    })
}

/// All samples are in memory, to be sorted.
const MOST_RESAMPLES: u32 = 10_000_000;

fn resamples(typed: &str) -> Result<NonZeroU32, String> {
    let number = typed.parse().ok().filter(|&number: &NonZeroU32| number.get() <= MOST_RESAMPLES);
    number.ok_or_else(|| format!("a whole number from 1 to {MOST_RESAMPLES}"))
}

pub(crate) fn bins(typed: &str) -> Result<NonZeroUsize, &'static str> {
    typed.parse().map_err(|_| "a whole number above 0")
}

/// A system, and those of its arcs that count.
pub(super) struct Judged<'a> {
    pub(super) name: &'a str,
    pub(super) arcs: Arcs<'a>,
}

/// Everything that was asked for, and on a page everything.
pub(super) fn sections(
    systems: &[System<'_>],
    arguments: &Eval,
    session: &Session,
    results: &mut Results,
) -> Result<()> {
    let asked = &arguments.analyses;
    let page = arguments.html.is_some();
    let punctuation = arguments.punctuation();
    let judged: Vec<Judged<'_>> = systems
        .iter()
        .map(|system| Judged {
            name: &system.name,
            arcs: Arcs::of_words(&system.alignment, |word| punctuation.counts(word.form())),
        })
        .collect();
    if !asked.no_significance && judged.len() > 1 {
        significance::section(&judged, asked, results)?;
    }
    if !asked.no_calibration {
        calibration(&judged, asked, session, results)?;
    }
    for by in groupings_shown(&asked.by, page) {
        let shown = asked.by.contains(&by);
        results.set_page_only(!shown);
        breakdown::section(&judged, by, shown, results)?;
    }
    if asked.confusion || page {
        results.set_page_only(!asked.confusion);
        errors::confusions(&judged, asked.confusion.then_some(asked.top), results)?;
    }
    if asked.errors || page {
        results.set_page_only(!asked.errors);
        errors::frequent(&judged, asked.errors.then_some(asked.top), results)?;
    }
    if asked.druck || page {
        results.set_page_only(!asked.druck);
        errors::druck(&judged, asked.druck, results)?;
    }
    results.set_page_only(false);
    Ok(())
}

/// Whether probabilities of heads mean what they say; nothing, if no system gives any.
fn calibration(
    systems: &[Judged<'_>],
    asked: &Analyses,
    session: &Session,
    results: &mut Results,
) -> Result<()> {
    let mut forecasters = Vec::new();
    for (number, system) in systems.iter().enumerate() {
        let HeadProbabilities { forecasts, missing, gold } = system.arcs.head_probabilities()?;
        if let Some(calibration) = Calibration::new(&forecasts, gold, asked.bins) {
            let name = system.name.to_owned();
            forecasters.push(Forecaster { number, name, missing, calibration });
        }
    }
    if forecasters.is_empty() {
        if asked.svg_dir.is_some() {
            session.note(format!("note: no system has {HEAD_PROBABILITY} in MISC; no SVG written"));
        }
        return Ok(());
    }
    let section = Section {
        title: format!("Probabilities of heads ({HEAD_PROBABILITY})"),
        systems: systems.len(),
        brief: false,
        svg_dir: asked.svg_dir.as_deref(),
    };
    section.show(&forecasters, session, results)
}

/// What was asked for, in that order, and on a page the others: but for exact lengths, a long table
/// of little news.
fn groupings_shown(asked: &[Grouping], page: bool) -> Vec<Grouping> {
    let others = Grouping::ALL.into_iter().filter(|by| page && *by != Grouping::LengthExact);
    let mut shown = Vec::new();
    for by in asked.iter().copied().chain(others) {
        if !shown.contains(&by) {
            shown.push(by);
        }
    }
    shown
}

/// A title, with the system's name where there are several.
pub(super) fn title(what: &str, system: &Judged<'_>, of: &[Judged<'_>]) -> String {
    if of.len() > 1 { format!("{what}: {}", system.name) } else { what.to_owned() }
}
