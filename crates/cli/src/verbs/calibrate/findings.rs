//! The result of a calibration as tables and JSON.

use anyhow::Result;
use serde::Serialize;
use tutte::{Calibration, Comparison, KeptHeads, Method, PrecisionTable};
use tutte_treebank::eval::calibration::{Bin, Calibration as Reliability, Forecast};

use super::Calibrate;
use crate::report::reliability::{Forecaster, Section};
use crate::report::{Align, Results, Table, count, counted, hundredths};
use crate::session::Session;

/// Precisions of the short table.
const PRECISIONS: [f64; 4] = [0.9, 0.95, 0.98, 0.99];

/// A calibration and the comparison that led to it.
pub(super) struct Findings<'a> {
    pub(super) arguments: &'a Calibrate,
    pub(super) comparison: &'a Comparison,
    /// Temperature of the model before.
    pub(super) before: f64,
    /// Temperature of the model after.
    pub(super) temperature: f64,
    pub(super) calibration: &'a Calibration,
}

/// The chosen calibration, for JSON.
#[derive(Serialize)]
struct Chosen<'a> {
    method: Method,
    temperature_before: f64,
    temperature: f64,
    #[serde(flatten)]
    calibration: &'a Calibration,
}

/// A row of the table of precisions, for JSON.
#[derive(Serialize)]
struct Promise {
    precision: f64,
    min_prob: Option<f64>,
    kept: Option<f64>,
    right: Option<f64>,
}

impl Findings<'_> {
    /// Prints the result, and writes the page and the pictures.
    pub(super) fn publish(&self, session: &Session) -> Result<()> {
        let Findings { arguments, comparison, calibration, .. } = self;
        let forecasters = self.forecasters();
        let names = forecasters.iter().map(|one| ("name", one.name.clone())).collect();
        let model = arguments.model.display().to_string();
        let data: Vec<String> =
            arguments.files.iter().map(|file| file.display().to_string()).collect();
        let data = data.join(", ");
        let sentences = counted(calibration.sentences, "sentence");
        let words = counted(calibration.words, "word");
        let subtitle = format!("{model}, on {data}: {sentences}, {words}");
        let mut results = Results::new("Calibration", &subtitle, ("compared", names));
        results.record("model", &model)?;
        results.record("folds", &comparison.folds)?;
        let section = Section {
            title: format!("Probabilities of heads, on {data} ({sentences}, {words})"),
            systems: forecasters.len(),
            brief: true,
            svg_dir: arguments.svg_dir.as_deref(),
        };
        section.show(&forecasters, session, &mut results)?;
        results.subheading("Number of heads by probability, and how many are right");
        results.table(&side_by_side(&forecasters));
        results.heading("Chosen");
        results.paragraph(&self.chosen());
        results.paragraph(&format!(
            "Above, temperature and isotonic are tested on each of {} and fitted on the others. The stored \
             calibration is fitted on all trees.",
            counted(comparison.folds, "fold")
        ));
        if calibration.method() == Method::Isotonic {
            results.paragraph(
                "Isotonic changes the probabilities of the heads that are written (HeadProb, --min-prob, \
                 --precision) and nothing else: trees, other heads, log-probabilities and entropies stay the same.",
            );
        }
        results.heading("Precision of heads, by lowest probability kept (parse --precision)");
        results.table(&promises(&calibration.precision));
        let chosen = Chosen {
            method: calibration.method(),
            temperature_before: self.before,
            temperature: self.temperature,
            calibration,
        };
        results.record("chosen", &chosen)?;
        let table = &calibration.precision;
        let promises = PRECISIONS.map(|precision| {
            let kept = table.keeping(precision);
            Promise {
                precision,
                min_prob: kept.map(|kept| kept.threshold),
                kept: kept.map(|kept| table.share(kept)),
                right: kept.map(KeptHeads::precision),
            }
        });
        results.record("promises", &promises)?;
        results.publish(session, arguments.html.as_deref())
    }

    fn forecasters(&self) -> Vec<Forecaster> {
        let Comparison { before, temperature, isotonic, .. } = self.comparison;
        let judge = |(number, (name, said)): (usize, (&str, &Vec<Forecast>))| {
            let calibration = Reliability::new(said, said.len(), self.arguments.bins)?;
            Some(Forecaster { number, name: name.to_owned(), missing: 0, calibration })
        };
        let all = [("before", before), ("temperature", temperature), ("isotonic", isotonic)];
        all.into_iter().enumerate().filter_map(judge).collect()
    }

    /// Describes the choice and its reason.
    fn chosen(&self) -> String {
        let method = match self.calibration.isotonic.as_ref().map(|map| map.knots().len()) {
            None => String::new(),
            Some(knots) => format!(" and an isotonic function of {}", counted(knots, "knot")),
        };
        let why = match self.arguments.method {
            super::MethodArg::Auto if self.calibration.method() == Method::Isotonic => {
                "isotonic has the lower calibration error and the higher likelihood"
            }
            super::MethodArg::Auto => {
                "isotonic does not have both a lower calibration error and a higher likelihood"
            }
            _ => "as requested",
        };
        let Findings { temperature, before, .. } = self;
        format!("Temperature {temperature:.2} (before: {before:.2}){method}: {why}.")
    }
}

/// Compares the methods in bins of equal width.
fn side_by_side(forecasters: &[Forecaster]) -> Table {
    let names = forecasters
        .iter()
        .flat_map(|one| [(one.name.clone(), Align::Right), ("right, %".to_owned(), Align::Right)]);
    let columns = [("probability".to_owned(), Align::Left)].into_iter().chain(names);
    let mut table = Table::new(columns);
    let bins = |one: &Forecaster| one.calibration.equal_width_ece.bins.clone();
    let mut ranges: Vec<(f64, f64)> =
        forecasters.iter().flat_map(bins).map(|bin| (bin.low, bin.high)).collect();
    ranges.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    ranges.dedup();
    for (low, high) in ranges {
        let cells = forecasters.iter().flat_map(|one| {
            let own: Option<Bin> = bins(one).into_iter().find(|bin| bin.low == low);
            own.map_or([String::new(), String::new()], |bin| {
                [count(bin.count), hundredths(bin.accuracy)]
            })
        });
        table.row([format!("{low:.2}–{high:.2}")].into_iter().chain(cells));
    }
    table
}

fn promises(precision: &PrecisionTable) -> Table {
    let mut table = Table::new([
        ("precision", Align::Left),
        ("lowest probability", Align::Right),
        ("heads kept, %", Align::Right),
        ("of these right, %", Align::Right),
    ]);
    for wanted in PRECISIONS {
        table.row(precision_row(precision, wanted));
    }
    if let Some((most, kept)) = precision.highest() {
        let [_, rest @ ..] = row_of(precision, kept);
        table.row([format!("{most} (highest)")].into_iter().chain(rest));
    }
    table
}

/// Returns the cost of a precision: the precision, the lowest probability, the share of heads kept and the share of
/// those that are right.
pub(in crate::verbs) fn precision_row(table: &PrecisionTable, wanted: f64) -> [String; 4] {
    let mut row = match table.keeping(wanted) {
        Some(kept) => row_of(table, kept),
        None => [const { String::new() }, "–".to_owned(), "–".to_owned(), "–".to_owned()],
    };
    row[0] = format!("{wanted}");
    row
}

fn row_of(table: &PrecisionTable, kept: &KeptHeads) -> [String; 4] {
    let threshold = format!("{:.4}", kept.threshold);
    [String::new(), threshold, hundredths(table.share(kept)), hundredths(kept.precision())]
}
