//! Calibration of the probabilities of heads: the section of a report that `tutte eval` and `tutte calibrate` share.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Serialize;
use tutte_treebank::eval::calibration::{Binning, Calibration, CalibrationError};

use super::chart::{self, Axes, Line, Reliability, Scale};
use super::{Align, Results, Table, count, hundredths, write_whole};
use crate::session::Session;

/// Calibration of a system, for JSON.
#[derive(Serialize)]
struct CalibrationRecord<'a> {
    missing: usize,
    #[serde(flatten)]
    calibration: &'a Calibration,
}

/// A system that gives probabilities.
pub(crate) struct Forecaster {
    /// Index among the systems of the [`Results`].
    pub(crate) number: usize,
    pub(crate) name: String,
    /// Number of heads without a probability.
    pub(crate) missing: usize,
    pub(crate) calibration: Calibration,
}

/// Layout of the section.
pub(crate) struct Section<'a> {
    pub(crate) title: String,
    /// Number of systems, with probabilities or without.
    pub(crate) systems: usize,
    /// Shows only the summary on the terminal.
    pub(crate) brief: bool,
    /// Folder that the diagrams are written to as well.
    pub(crate) svg_dir: Option<&'a Path>,
}

impl Section<'_> {
    /// Adds tables and diagrams to the results, and writes the diagrams to files.
    pub(crate) fn show(
        &self,
        forecasters: &[Forecaster],
        session: &Session,
        results: &mut Results,
    ) -> Result<()> {
        results.heading(&self.title);
        results.table(&summary(forecasters));
        for forecaster in forecasters {
            if forecaster.calibration.impossible > 0 {
                results.paragraph(&impossible(forecaster));
            }
        }
        results.set_page_only(self.brief);
        for forecaster in forecasters {
            let Forecaster { number, missing, calibration, .. } = forecaster;
            results.subheading(&self.of("Reliability", forecaster));
            results.table(&reliability_table(calibration));
            let record = CalibrationRecord { missing: *missing, calibration };
            results.record_of(*number, "calibration", &record)?;
        }
        results.set_page_only(false);
        let curves = risk_coverage(forecasters);
        results.page().side_by_side(|page| {
            for forecaster in forecasters {
                let caption = "Reliability, with 95 % intervals; the diagonal is perfect";
                page.figure(&diagram(&forecaster.calibration.ece), &self.of(caption, forecaster));
            }
            page.figure(&curves, "Risk and coverage: errors among the most probable arcs");
        });
        if let Some(folder) = self.svg_dir {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
            let mut written = vec![(folder.join("risk-coverage.svg"), curves)];
            for forecaster in forecasters {
                let name = match self.systems {
                    0 | 1 => "reliability.svg".to_owned(),
                    _ => format!("reliability-{}.svg", forecaster.number + 1),
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

    /// Returns a title, with the system's name if there are several.
    fn of(&self, what: &str, forecaster: &Forecaster) -> String {
        if self.systems > 1 { format!("{what}: {}", forecaster.name) } else { what.to_owned() }
    }
}

fn summary(forecasters: &[Forecaster]) -> Table {
    let names = forecasters.iter().map(|forecaster| {
        let name = if forecasters.len() > 1 { &forecaster.name } else { "" };
        (name.to_owned(), Align::Right)
    });
    let mut table = Table::new([(String::new(), Align::Left)].into_iter().chain(names));
    // Values that round to zero are shown as 0, not as −0.
    let plain = |value: f64| format!("{:.4}", if value.abs() < 0.000_05 { 0.0 } else { value });
    type Value = Box<dyn Fn(&Forecaster) -> String>;
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

fn impossible(forecaster: &Forecaster) -> String {
    format!(
        "{}: {} of these probabilities are 0 or 1 and wrong; the log-likelihood counts them as one in a \
         million.",
        forecaster.name,
        count(forecaster.calibration.impossible)
    )
}

/// Returns the table of bins, with a row of its own for arcs that are as good as certain.
fn reliability_table(calibration: &Calibration) -> Table {
    let error = &calibration.ece;
    let mut table = Table::new(
        ["probability", "arcs", "mean, %", "right, %", "95 % interval", "difference"]
            .map(|name| (name, Align::Right)),
    );
    let bins = error.bins.iter().map(|bin| {
        let range = match error.binning {
            Binning::EqualMass => format!("{:.3}–{:.3}", bin.low, bin.high),
            Binning::EqualWidth => format!("{:.2}–{:.2}", bin.low, bin.high),
        };
        (range, bin)
    });
    let certain = calibration.certain.iter().map(|bin| (format!("≥ {}", bin.low), bin));
    for (range, bin) in bins.chain(certain) {
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

fn risk_coverage(forecasters: &[Forecaster]) -> String {
    let lines: Vec<Line> = forecasters
        .iter()
        .map(|forecaster| Line {
            name: forecaster.name.clone(),
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
