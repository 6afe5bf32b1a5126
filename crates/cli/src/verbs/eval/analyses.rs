//! Analyses beyond the tables. The terminal and the JSON document show the requested ones, a page shows all.

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

/// Arguments of the analyses.
#[derive(Debug, Args)]
#[command(next_help_heading = "Analyses")]
pub(super) struct Analyses {
    /// Show scores by class: deprel, upos, length, length-exact, depth, direction, sentence-length, projectivity;
    /// separate several by commas
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', hide_possible_values = true)]
    #[arg(value_parser = groupings())]
    pub(super) by: Vec<Grouping>,

    /// Show the most frequent confusions of labels and of tags
    #[arg(long)]
    pub(super) confusion: bool,

    /// Show the most frequent errors, and the words and tags with the most errors
    #[arg(long)]
    pub(super) errors: bool,

    /// Number of confusions and errors to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(super) top: usize,

    /// Show heads by tag, direction and distance, and false positives, as in Druck et al. (2009)
    #[arg(long)]
    pub(super) druck: bool,

    /// Number of permutations and bootstrap samples when systems are compared
    #[arg(long, value_name = "N", default_value = "10000", value_parser = resamples)]
    pub(super) resamples: NonZeroU32,

    /// Seed of random numbers
    #[arg(long, value_name = "N", default_value = "1")]
    pub(super) seed: u64,

    /// Skip the significance tests
    #[arg(long)]
    pub(super) no_significance: bool,

    /// Number of bins of probabilities
    #[arg(long, value_name = "N", default_value = "10", value_parser = bins)]
    pub(super) bins: NonZeroUsize,

    /// Skip the analysis of probabilities (HeadProb in MISC)
    #[arg(long)]
    pub(super) no_calibration: bool,

    /// Write reliability diagrams and risk–coverage curves as SVG into a folder
    #[arg(long, value_name = "DIR", conflicts_with = "no_calibration")]
    pub(super) svg_dir: Option<PathBuf>,
}

fn groupings() -> impl TypedValueParser<Value = Grouping> {
    PossibleValuesParser::new(Grouping::ALL.map(Grouping::name)).try_map(|name| {
        let known = Grouping::ALL.into_iter().find(|grouping| grouping.name() == name);
        known.ok_or("unknown class")
    })
}

/// Limit on the samples, which are sorted in memory.
const MOST_RESAMPLES: u32 = 10_000_000;

fn resamples(typed: &str) -> Result<NonZeroU32, String> {
    let number = typed.parse().ok().filter(|&number: &NonZeroU32| number.get() <= MOST_RESAMPLES);
    number.ok_or_else(|| format!("expected a whole number from 1 to {MOST_RESAMPLES}"))
}

pub(crate) fn bins(typed: &str) -> Result<NonZeroUsize, &'static str> {
    typed.parse().map_err(|_| "expected a whole number above 0")
}

/// A system and the arcs that are scored.
pub(super) struct ScoredSystem<'a> {
    pub(super) name: &'a str,
    pub(super) arcs: Arcs<'a>,
}

/// Adds the requested analyses to the results, and all to the page.
pub(super) fn sections(
    systems: &[System<'_>],
    arguments: &Eval,
    session: &Session,
    results: &mut Results,
) -> Result<()> {
    let analyses = &arguments.analyses;
    let page = arguments.html.is_some();
    let punctuation = arguments.punctuation();
    let scored: Vec<ScoredSystem<'_>> = systems
        .iter()
        .map(|system| ScoredSystem {
            name: &system.name,
            arcs: Arcs::of_words(&system.alignment, |word| punctuation.counts(word.form())),
        })
        .collect();
    if !analyses.no_significance && scored.len() > 1 {
        significance::section(&scored, analyses, results)?;
    }
    if !analyses.no_calibration {
        calibration(&scored, analyses, session, results)?;
    }
    for by in groupings_shown(&analyses.by, page) {
        let shown = analyses.by.contains(&by);
        results.set_page_only(!shown);
        breakdown::section(&scored, by, shown, results)?;
    }
    if analyses.confusion || page {
        results.set_page_only(!analyses.confusion);
        errors::confusions(&scored, analyses.confusion.then_some(analyses.top), results)?;
    }
    if analyses.errors || page {
        results.set_page_only(!analyses.errors);
        errors::frequent(&scored, analyses.errors.then_some(analyses.top), results)?;
    }
    if analyses.druck || page {
        results.set_page_only(!analyses.druck);
        errors::druck(&scored, analyses.druck, results)?;
    }
    results.set_page_only(false);
    Ok(())
}

/// Adds the calibration of probabilities, if any system has probabilities.
fn calibration(
    systems: &[ScoredSystem<'_>],
    analyses: &Analyses,
    session: &Session,
    results: &mut Results,
) -> Result<()> {
    let mut forecasters = Vec::new();
    for (number, system) in systems.iter().enumerate() {
        let HeadProbabilities { forecasts, missing, gold } = system.arcs.head_probabilities()?;
        if let Some(calibration) = Calibration::new(&forecasts, gold, analyses.bins) {
            let name = system.name.to_owned();
            forecasters.push(Forecaster { number, name, missing, calibration });
        }
    }
    if forecasters.is_empty() {
        if analyses.svg_dir.is_some() {
            session.note(format!(
                "note: no system has {HEAD_PROBABILITY} in MISC, so no SVG was written"
            ));
        }
        return Ok(());
    }
    let section = Section {
        title: format!("Probabilities of heads ({HEAD_PROBABILITY})"),
        systems: systems.len(),
        brief: false,
        svg_dir: analyses.svg_dir.as_deref(),
    };
    section.show(&forecasters, session, results)
}

/// Returns the requested groupings in order, then for a page the others, except for exact lengths, whose table is long.
fn groupings_shown(requested: &[Grouping], page: bool) -> Vec<Grouping> {
    let others = Grouping::ALL.into_iter().filter(|by| page && *by != Grouping::LengthExact);
    let mut shown = Vec::new();
    for by in requested.iter().copied().chain(others) {
        if !shown.contains(&by) {
            shown.push(by);
        }
    }
    shown
}

/// Returns a title, with the system's name if there are several.
pub(super) fn title(what: &str, system: &ScoredSystem<'_>, of: &[ScoredSystem<'_>]) -> String {
    if of.len() > 1 { format!("{what}: {}", system.name) } else { what.to_owned() }
}
