//! Significance tests: each system against the first.

use anyhow::Result;
use serde::Serialize;
use tutte_treebank::eval::significance::{Comparison, Interval, Resampling, compare};
use tutte_treebank::eval::{Criterion, significance::UnitCounts};

use super::analyses::{Analyses, ScoredSystem};
use crate::report::{Align, Results, Table, count, counted, hundredths};

/// A comparison, for JSON.
#[derive(Serialize)]
struct ComparisonRecord<'a> {
    first: &'a str,
    second: &'a str,
    seed: u64,
    uas: Comparison,
    las: Comparison,
}

pub(super) fn section(
    systems: &[ScoredSystem<'_>],
    analyses: &Analyses,
    results: &mut Results,
) -> Result<()> {
    let Some((first, others)) = systems.split_first() else { return Ok(()) };
    let resampling = Resampling { resamples: analyses.resamples, seed: analyses.seed };
    let mut records = Vec::new();
    for other in others {
        let compare = |criterion| compare(&units(first, other, criterion), &resampling);
        let uas = compare(Criterion::Uas);
        let las = compare(Criterion::Las);
        results.heading(&format!("Significance: {} against {}", other.name, first.name));
        results.table(&table(first, other, &[("UAS", &uas), ("LAS", &las)]));
        for (name, comparison) in [("UAS", &uas), ("LAS", &las)] {
            results.paragraph(&explained(name, comparison));
        }
        records.push(ComparisonRecord {
            first: first.name,
            second: other.name,
            seed: analyses.seed,
            uas,
            las,
        });
    }
    let resamples = count(analyses.resamples.get() as usize);
    results.paragraph(&format!(
        "Intervals contain 95 % of {resamples} bootstrap samples of sentences, seed {}.",
        analyses.seed
    ));
    if others.len() > 1 {
        results.paragraph(&format!(
            "{} systems were compared with the first; p-values are not corrected for multiple comparisons.",
            others.len()
        ));
    }
    results.record("significance", &records)
}

/// Returns the counts of both systems, sentence by sentence.
fn units(
    first: &ScoredSystem<'_>,
    second: &ScoredSystem<'_>,
    by: Criterion,
) -> Vec<[UnitCounts; 2]> {
    let first = first.arcs.counts_by_sentence(by);
    let second = second.arcs.counts_by_sentence(by);
    first.into_iter().zip(second).map(|(first, second)| [first, second]).collect()
}

fn table(
    first: &ScoredSystem<'_>,
    second: &ScoredSystem<'_>,
    rows: &[(&str, &Comparison)],
) -> Table {
    let names = [first.name, "interval", second.name, "interval", "difference", "interval", "p"];
    let names = names.map(|name| (name, Align::Right));
    let mut table = Table::new([("", Align::Left)].into_iter().chain(names));
    for (name, c) in rows {
        let plain = |interval: Interval| {
            format!("[{}, {}]", hundredths(interval.low), hundredths(interval.high))
        };
        let signed = |interval: Interval| {
            format!("[{:+.2}, {:+.2}]", 100.0 * interval.low, 100.0 * interval.high)
        };
        table.row([
            (*name).to_owned(),
            hundredths(c.first),
            plain(c.bootstrap.first),
            hundredths(c.second),
            plain(c.bootstrap.second),
            format!("{:+.2}", 100.0 * c.difference),
            signed(c.bootstrap.difference),
            p_value(c.permutation.p),
        ]);
    }
    table
}

/// Describes the tests.
fn explained(name: &str, c: &Comparison) -> String {
    let swaps = count(c.permutation.swaps as usize);
    let how = if c.permutation.exact { format!("all {swaps}") } else { swaps };
    let sign = &c.sign;
    format!(
        "{name}: p = {} by permutation ({how} swaps); p = {} by the sign test (better on {}, \
         worse on {}, equal on {}).",
        p_value(c.permutation.p),
        p_value(sign.p),
        counted(sign.better as usize, "sentence"),
        count(sign.worse as usize),
        count(sign.ties as usize)
    )
}

fn p_value(p: f64) -> String {
    if p < 0.000_05 { format!("{p:.1e}") } else { format!("{p:.4}") }
}
