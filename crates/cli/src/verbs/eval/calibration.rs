//! Whether probabilities of heads mean what they say.

use std::fs;

use anyhow::{Context as _, Result};
use serde::Serialize;
use tutte_treebank::eval::calibration::{Binning, Calibration, CalibrationError};
use tutte_treebank::eval::{HEAD_PROBABILITY, HeadProbabilities};

use super::analyses::{Analyses, Judged, title};
use super::results::Results;
use super::scores::hundredths;
use crate::report::chart::{self, Axes, Line, Reliability, Scale};
use crate::report::{Align, Table, count, write_whole};
use crate::session::Session;

/// A report as JSON.
#[derive(Serialize)]
struct Record<'a> {
    missing: usize,
    #[serde(flatten)]
    calibration: &'a Calibration,
}

/// A system that gives probabilities.
struct Forecaster<'a> {
    /// Its place among the systems.
    number: usize,
    system: &'a Judged<'a>,
    missing: usize,
    calibration: Calibration,
}

/// Nothing, if no system gives probabilities.
pub(super) fn section(
    systems: &[Judged<'_>],
    asked: &Analyses,
    session: &Session,
    results: &mut Results,
) -> Result<()> {
    let mut forecasters = Vec::new();
    for (number, system) in systems.iter().enumerate() {
        let HeadProbabilities { forecasts, missing, gold } = system.arcs.head_probabilities()?;
        if let Some(calibration) = Calibration::new(&forecasts, gold, asked.bins) {
            forecasters.push(Forecaster { number, system, missing, calibration });
        }
    }
    if forecasters.is_empty() {
        if asked.svg_dir.is_some() {
            session.note(format!("note: no system has {HEAD_PROBABILITY} in MISC; no SVG written"));
        }
        return Ok(());
    }
    results.heading(&format!("Probabilities of heads ({HEAD_PROBABILITY})"));
    results.table(&summary(&forecasters));
    for forecaster in &forecasters {
        if forecaster.calibration.impossible > 0 {
            results.paragraph(&impossible(forecaster));
        }
    }
    for forecaster in &forecasters {
        let ece = &forecaster.calibration.ece;
        results.subheading(&title("Reliability", forecaster.system, systems));
        results.table(&reliability_table(ece));
        let record = Record { missing: forecaster.missing, calibration: &forecaster.calibration };
        results.record_of(forecaster.number, "calibration", &record)?;
    }
    let curves = risk_coverage(&forecasters);
    results.page().side_by_side(|page| {
        for forecaster in &forecasters {
            let caption = title(
                "Reliability, with 95 % intervals; the diagonal is perfect",
                forecaster.system,
                systems,
            );
            page.figure(&diagram(&forecaster.calibration.ece), &caption);
        }
        page.figure(&curves, "Risk and coverage: errors among the most probable arcs");
    });
    if let Some(folder) = &asked.svg_dir {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let mut written = vec![(folder.join("risk-coverage.svg"), curves)];
        for forecaster in &forecasters {
            let name = if systems.len() > 1 {
                format!("reliability-{}.svg", forecaster.number + 1)
            } else {
                "reliability.svg".to_owned()
            };
            written.push((folder.join(name), diagram(&forecaster.calibration.ece)));
        }
        for (path, svg) in written {
            write_whole(&path, &svg)?;
            session.note(format!("{} written", path.display()));
        }
    }
    Ok(())
}

fn summary(forecasters: &[Forecaster<'_>]) -> Table {
    let names = forecasters.iter().map(|forecaster| {
        let name = if forecasters.len() > 1 { forecaster.system.name } else { "" };
        (name.to_owned(), Align::Right)
    });
    let mut table = Table::new([(String::new(), Align::Left)].into_iter().chain(names));
    // Values that round to zero are zero, not −0.
    let plain = |value: f64| format!("{:.4}", if value.abs() < 0.000_05 { 0.0 } else { value });
    type Value = Box<dyn Fn(&Forecaster<'_>) -> String>;
    let of = |value: fn(&Calibration) -> f64| -> Value {
        Box::new(move |forecaster| plain(value(&forecaster.calibration)))
    };
    let percent = |value: fn(&Calibration) -> f64| -> Value {
        Box::new(move |forecaster| hundredths(value(&forecaster.calibration)))
    };
    let rows: [(&str, Value); 15] = [
        ("Arcs with a probability", Box::new(|f| count(f.calibration.forecasts))),
        ("Arcs without", Box::new(|f| count(f.missing))),
        ("Heads right, %", percent(|c| c.accuracy)),
        ("Mean probability, %", percent(|c| c.mean_probability)),
        ("Expected calibration error, %", percent(|c| c.ece.value)),
        ("ECE by chance alone, %", percent(|c| c.ece.if_calibrated)),
        ("ECE with bins of equal width, %", percent(|c| c.equal_width_ece.value)),
        ("Brier score", of(|c| c.brier.score)),
        ("= reliability (0 is best)", of(|c| c.brier.reliability)),
        ("− resolution", of(|c| c.brier.resolution)),
        ("+ uncertainty", of(|c| c.brier.uncertainty)),
        ("+ variation within bins", of(|c| c.brier.within_bins)),
        ("Log-likelihood, nats per arc", of(|c| c.log_likelihood)),
        ("Area under risk–coverage (AURC)", of(|c| c.area_under_risk_coverage)),
        ("Area under precision–recall", of(|c| c.average_precision)),
    ];
    for (name, value) in &rows {
        table.row([(*name).to_owned()].into_iter().chain(forecasters.iter().map(value)));
    }
    table
}

fn impossible(forecaster: &Forecaster<'_>) -> String {
    format!(
        "{}: {} of these probabilities are 0 or 1 and wrong; the log-likelihood takes them as one in \
         a million.",
        forecaster.system.name,
        count(forecaster.calibration.impossible)
    )
}

fn reliability_table(error: &CalibrationError) -> Table {
    let mut table = Table::new(
        ["probability", "arcs", "mean, %", "right, %", "95 % interval", "difference"]
            .map(|name| (name, Align::Right)),
    );
    for bin in &error.bins {
        let range = match error.binning {
            Binning::EqualMass => format!("{:.3}–{:.3}", bin.low, bin.high),
            Binning::EqualWidth => format!("{:.2}–{:.2}", bin.low, bin.high),
        };
        table.row([
            range,
            count(bin.count),
            hundredths(bin.mean_probability),
            hundredths(bin.accuracy),
            format!("[{}, {}]", hundredths(bin.interval.low), hundredths(bin.interval.high)),
            format!("{:+.2}", 100.0 * (bin.accuracy - bin.mean_probability)),
        ]);
    }
    table
}

fn diagram(error: &CalibrationError) -> String {
    let points: Vec<Reliability> = error
        .bins
        .iter()
        .map(|bin| Reliability {
            confidence: bin.mean_probability,
            accuracy: bin.accuracy,
            interval: (bin.interval.low, bin.interval.high),
            count: bin.count,
        })
        .collect();
    chart::reliability(&points)
}

fn risk_coverage(forecasters: &[Forecaster<'_>]) -> String {
    let lines: Vec<Line> = forecasters
        .iter()
        .map(|forecaster| Line {
            name: forecaster.system.name.to_owned(),
            points: forecaster
                .calibration
                .risk_coverage
                .iter()
                .map(|point| (point.coverage, point.risk))
                .collect(),
        })
        .collect();
    let highest = lines.iter().flat_map(|line| &line.points).map(|p| p.1).fold(0.0, f64::max);
    let axes = Axes {
        x_name: "coverage".into(),
        y_name: "risk".into(),
        x: (0.0, 1.0),
        scale: Scale::Even,
        y: (0.0, chart::nice_ceiling(highest)),
        diagonal: false,
    };
    chart::lines(&axes, &lines)
}
