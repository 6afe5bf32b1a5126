//! The threshold of confidence that reaches a given precision of heads.
//!
//! A table has up to a hundred thresholds t, highest first. For each t it counts, on development data,
//! the n arcs with a confidence of at least t. k of them have the right head. To reach a precision Q,
//! the table chooses the lowest t for which
//!
//! ```text
//! L(k, n) ≥ Q      the lower end of Wilson's 95 % interval (1927), and
//! k′/n′ ≥ Q        at all higher thresholds t′ that keep a hundred arcs or more
//! ```
//!
//! So the choice does not depend on a few lucky arcs, and a dip in precision at a higher threshold is
//! not overlooked. A lower precision never keeps fewer arcs. Precision is that of heads; labels do not
//! count.

use serde::{Deserialize, Serialize};
use tutte_treebank::eval::calibration::{Forecast, wilson};

use super::rounded_down;

/// Largest number of thresholds.
const ROWS: usize = 100;

/// Smallest number of arcs whose precision may rule out lower thresholds.
const MANY: usize = 100;

/// Counts of the arcs whose confidence is at least a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "(f64, usize, usize)", into = "(f64, usize, usize)")]
pub struct KeptHeads {
    /// Smallest confidence, t.
    pub threshold: f64,
    /// Number of arcs, n.
    pub arcs: usize,
    /// Number of arcs with the right head, k.
    pub right: usize,
}

impl From<(f64, usize, usize)> for KeptHeads {
    fn from((threshold, arcs, right): (f64, usize, usize)) -> Self {
        Self { threshold, arcs, right }
    }
}

impl From<KeptHeads> for (f64, usize, usize) {
    fn from(KeptHeads { threshold, arcs, right }: KeptHeads) -> Self {
        (threshold, arcs, right)
    }
}

impl KeptHeads {
    /// Returns the share of arcs with the right head, k/n.
    pub fn precision(&self) -> f64 {
        self.right as f64 / self.arcs.max(1) as f64
    }

    /// Returns the lower confidence bound of the precision, L(k, n).
    pub fn at_least(&self) -> f64 {
        wilson(self.right, self.arcs).low
    }
}

/// Counts for decreasing thresholds, down to 0, which keeps all arcs.
///
/// ```
/// use tutte::PrecisionTable;
/// use tutte_treebank::eval::calibration::{Forecast, Probability};
///
/// // Heads of probability 0.9 are right nine times out of ten, those of 0.5 half of the time.
/// let head = |p, right| Forecast { probability: Probability::new(p).unwrap(), correct: right };
/// let all: Vec<_> = (0..1000).flat_map(|n| [head(0.9, n % 10 != 0), head(0.5, n % 2 == 0)]).collect();
/// let table = PrecisionTable::new(&all);
/// assert_eq!(table.keeping(0.87).unwrap().threshold, 0.9);
/// assert_eq!(table.keeping(0.6).unwrap().threshold, 0.0); // of all heads, seven in ten are right
/// assert!(table.keeping(0.9).is_none()); // the lower bound of 900 in 1000 is below 0.9
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<KeptHeads>", into = "Vec<KeptHeads>")]
pub struct PrecisionTable {
    rows: Vec<KeptHeads>,
}

impl TryFrom<Vec<KeptHeads>> for PrecisionTable {
    type Error = String;

    fn try_from(rows: Vec<KeptHeads>) -> Result<Self, String> {
        if rows.len() > ROWS {
            return Err(format!("expected at most {ROWS} thresholds, found {}", rows.len()));
        }
        let wrong =
            |row: &&KeptHeads| !(0.0..=1.0).contains(&row.threshold) || row.right > row.arcs;
        if let Some(row) = rows.iter().find(wrong) {
            return Err(format!("not a row of a precision table: {row:?}"));
        }
        // A lower threshold keeps all arcs that a higher one keeps.
        let wrong = |pair: &&[KeptHeads]| {
            let (high, low) = (&pair[0], &pair[1]);
            let wrong_arcs = |row: &KeptHeads| row.arcs - row.right;
            high.threshold <= low.threshold
                || high.right > low.right
                || wrong_arcs(high) > wrong_arcs(low)
        };
        match rows.windows(2).find(wrong) {
            Some(pair) => Err(format!("rows out of order: {:?}, {:?}", pair[0], pair[1])),
            None => Ok(Self { rows }),
        }
    }
}

impl From<PrecisionTable> for Vec<KeptHeads> {
    fn from(table: PrecisionTable) -> Self {
        table.rows
    }
}

impl PrecisionTable {
    /// Makes a table from the confidences of heads and whether they are right.
    pub fn new(forecasts: &[Forecast]) -> Self {
        let pair = |forecast: &Forecast| (forecast.probability.get(), forecast.correct);
        let mut falling: Vec<(f64, bool)> = forecasts.iter().map(pair).collect();
        falling.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let mut rows: Vec<KeptHeads> = Vec::new();
        let mut arcs = 0;
        let mut right = 0;
        for row in 1..=ROWS {
            let least = (row * falling.len()).div_ceil(ROWS);
            let Some((last, _)) = least.checked_sub(1).and_then(|at| falling.get(at)) else {
                continue;
            };
            let threshold = if row == ROWS { 0.0 } else { rounded_down(*last) };
            if rows.last().is_some_and(|row| row.threshold <= threshold) {
                continue;
            }
            while let Some((_, is_right)) = falling.get(arcs).filter(|(p, _)| *p >= threshold) {
                arcs += 1;
                right += usize::from(*is_right);
            }
            rows.push(KeptHeads { threshold, arcs, right });
        }
        Self { rows }
    }

    /// Returns the rows, highest threshold first.
    pub fn rows(&self) -> &[KeptHeads] {
        &self.rows
    }

    /// Number of all arcs.
    pub fn arcs(&self) -> usize {
        self.rows.last().map_or(0, |row| row.arcs)
    }

    /// Returns the share of all arcs that a row keeps.
    pub fn share(&self, kept: &KeptHeads) -> f64 {
        kept.arcs as f64 / self.arcs().max(1) as f64
    }

    /// Returns the row of the lowest threshold that reaches this precision of heads; `None` if none does.
    pub fn keeping(&self, precision: f64) -> Option<&KeptHeads> {
        self.rows
            .iter()
            .take_while(|row| row.arcs < MANY || row.precision() >= precision)
            .filter(|row| row.at_least() >= precision)
            .last()
    }

    /// Returns the highest precision that a threshold reaches, to four digits, and its row.
    pub fn highest(&self) -> Option<(f64, &KeptHeads)> {
        let mut bounds: Vec<f64> =
            self.rows.iter().map(|row| (1e4 * row.at_least()).floor() / 1e4).collect();
        bounds.sort_unstable_by(|a, b| b.total_cmp(a));
        bounds.into_iter().find_map(|precision| Some((precision, self.keeping(precision)?)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tutte_treebank::eval::calibration::Probability;

    use super::*;

    fn forecast(p: f64, correct: bool) -> Forecast {
        Forecast { probability: Probability::new(p).unwrap(), correct }
    }

    fn forecasts() -> impl Strategy<Value = Vec<Forecast>> {
        // With ties, and with more digits than thresholds have; higher ones are right more often.
        let one = (0u32..=3000, 0.0..1.0f64).prop_map(|(p, draw)| {
            let p = f64::from(p) / 3000.0;
            forecast(p, draw < p.sqrt())
        });
        prop::collection::vec(one, 0..600)
    }

    proptest! {
        #[test]
        fn a_table_counts_what_thresholds_keep(all in forecasts()) {
            let table = PrecisionTable::new(&all);
            prop_assert!(table.rows().len() <= ROWS);
            prop_assert_eq!(table.arcs(), all.len());
            for row in table.rows() {
                let kept = || all.iter().filter(|one| one.probability.get() >= row.threshold);
                prop_assert_eq!(kept().count(), row.arcs);
                prop_assert_eq!(kept().filter(|one| one.correct).count(), row.right);
            }
            // It is in order, and survives being written and read.
            let text = serde_json::to_string(&table).unwrap();
            prop_assert_eq!(serde_json::from_str::<PrecisionTable>(&text).unwrap(), table);
        }

        #[test]
        fn more_precision_keeps_less(all in forecasts(), a in 0.0..1.0f64, b in 0.0..1.0f64) {
            let table = PrecisionTable::new(&all);
            let less = table.keeping(a.min(b));
            let more = table.keeping(a.max(b));
            if let Some(more) = more {
                prop_assert!(more.precision() >= a.max(b) && more.at_least() >= a.max(b));
                prop_assert!(less.is_some_and(|less| less.arcs >= more.arcs));
            }
            if let Some((best, row)) = table.highest() {
                prop_assert_eq!(table.keeping(best), Some(row));
                prop_assert!(table.keeping(best + 0.001).is_none());
            }
        }
    }

    #[test]
    fn neither_a_lucky_few_nor_a_dip_decide() {
        // Sixty arcs of high confidence are all right; the others are right nine times out of ten.
        let mut all: Vec<Forecast> = (0..60).map(|_| forecast(0.99, true)).collect();
        all.extend((0..5000).map(|n| forecast(0.9, n % 10 != 0)));
        let table = PrecisionTable::new(&all);
        assert_eq!(table.rows()[0], KeptHeads { threshold: 0.99, arcs: 60, right: 60 });
        assert!(table.keeping(0.95).is_none(), "sixty are too few to reach 0.95");
        assert_eq!(table.keeping(0.93).map(|row| row.arcs), Some(60));
        assert_eq!(table.keeping(0.89).map(|row| row.arcs), Some(5060));
        // A thousand arcs of the highest confidence are wrong: no lower threshold is trusted.
        all.extend((0..1000).map(|_| forecast(0.999, false)));
        assert!(PrecisionTable::new(&all).keeping(0.7).is_none());
        assert_eq!(PrecisionTable::default().highest(), None);
        assert_eq!(PrecisionTable::new(&all[..50]).keeping(1.0), None, "nothing is certain");
    }

    #[test]
    fn invalid_tables_are_refused() {
        let read = |text: &str| serde_json::from_str::<PrecisionTable>(text);
        assert!(read("[[0.9,10,9],[0,20,15]]").is_ok());
        for text in [
            "[[0.9,10,11]]",
            "[[1.9,10,9]]",
            "[[0.5,10,9],[0.9,20,15]]",
            "[[0.9,10,9],[0.5,20,8]]",
            "[[0.9,10,5],[0.5,12,9]]",
            "[[0.9,-1,0]]",
            "[[0.9,10]]",
            "[[0.9,99999999999999999999,0]]",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        let most = usize::MAX;
        let huge = read(&format!("[[0.9,{most},{most}],[0,{most},{most}]]")).unwrap();
        assert!(huge.keeping(0.99).is_some() && huge.highest().is_some());
        let long: Vec<KeptHeads> =
            (0..200).map(|at| KeptHeads::from((1.0 - f64::from(at) / 300.0, 5, 5))).collect();
        assert!(PrecisionTable::try_from(long).is_err());
    }
}
