//! Parts of Markdown pages: tables, formatted numbers, comparisons, findings and verdicts.

use std::fmt::Write as _;

pub(crate) use tutte_charts::count;
use tutte_treebank::eval::significance::{
    PermutationTest, Resampling, SignTest, UnitCounts, permutation_test, sign_test,
};

/// Level of significance.
pub(crate) const LEVEL: f64 = 0.05;

/// A table. The first column is text, the others are numbers.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    text: String,
    columns: usize,
}

impl Table {
    pub(crate) fn new<S: AsRef<str>>(columns: &[S]) -> Self {
        let mut table = Self { text: String::new(), columns: columns.len() };
        table.row(columns);
        let ruler: Vec<&str> =
            (0..columns.len()).map(|column| if column == 0 { "---" } else { "---:" }).collect();
        table.row(&ruler);
        table
    }

    /// Starts a table whose columns are all text.
    pub(crate) fn of_text<S: AsRef<str>>(columns: &[S]) -> Self {
        let mut table = Self { text: String::new(), columns: columns.len() };
        table.row(columns);
        table.row(&vec!["---"; columns.len()]);
        table
    }

    pub(crate) fn row<S: AsRef<str>>(&mut self, cells: &[S]) {
        debug_assert_eq!(cells.len(), self.columns);
        self.text.push('|');
        for cell in cells {
            // Writing to a string cannot fail.
            let _ = write!(self.text, " {} |", cell.as_ref());
        }
        self.text.push('\n');
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Formats a share in percent, with two decimals.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

/// Formats a difference of shares in points, with its sign.
pub(crate) fn points(difference: f64) -> String {
    format!("{:+.2}", 100.0 * difference).replace('-', "−")
}

/// Formats a number between 0 and 1 with three decimals and no leading zero.
pub(crate) fn decimals(value: f64) -> String {
    let text = format!("{value:.3}");
    text.strip_prefix('0').map_or(text.clone(), str::to_owned)
}

/// Formats a p-value: `p = .03`, `p < .001`.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "p < .001".to_owned() } else { format!("p = {}", decimals(p)) }
}

/// Returns the mean; 0 if there are no values.
pub(crate) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sum = 0.0;
    let mut number = 0;
    for value in values {
        sum += value;
        number += 1;
    }
    sum / f64::from(number.max(1))
}

/// Comparison of two systems on the same sentences.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    /// Accuracy of the second minus accuracy of the first.
    pub(crate) difference: f64,
    pub(crate) sign: SignTest,
    pub(crate) permutation: PermutationTest,
}

impl Comparison {
    pub(crate) fn new(first: &[UnitCounts], second: &[UnitCounts]) -> Self {
        let units: Vec<[UnitCounts; 2]> =
            first.iter().zip(second).map(|(&first, &second)| [first, second]).collect();
        let accuracy = |units: &[UnitCounts]| {
            let correct: u64 = units.iter().map(|unit| u64::from(unit.correct)).sum();
            let gold: u64 = units.iter().map(|unit| u64::from(unit.gold)).sum();
            correct as f64 / gold.max(1) as f64
        };
        Self {
            difference: accuracy(second) - accuracy(first),
            sign: sign_test(&units),
            permutation: permutation_test(&units, &Resampling::default()),
        }
    }

    /// Formats as `+0.31 (120 : 95, p = .08)`: points, sentences better and worse, sign test.
    pub(crate) fn by_signs(&self) -> String {
        let SignTest { better, worse, p, .. } = self.sign;
        format!("{} ({better} : {worse}, {})", points(self.difference), p_value(p))
    }

    /// Formats as `+0.31 (p = .08)`: points, permutation test.
    pub(crate) fn by_permutation(&self) -> String {
        format!("{} ({})", points(self.difference), p_value(self.permutation.p))
    }
}

/// Outcome of an attempt to reproduce a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Reproduced,
    /// The difference has the same sign, but is not significant.
    SignOnly,
    NotReproduced,
}

impl Verdict {
    /// Returns the verdict on the claim that a difference is positive.
    pub(crate) fn more(difference: f64, p: f64) -> Self {
        if difference > 0.0 && p < LEVEL {
            Verdict::Reproduced
        } else if difference > 0.0 {
            Verdict::SignOnly
        } else {
            Verdict::NotReproduced
        }
    }

    /// Returns the verdict on the claim that a difference is not negative.
    pub(crate) fn not_less(difference: f64, p: f64) -> Self {
        Self::holds(difference >= 0.0 || p >= LEVEL)
    }

    /// Returns the verdict on the claim that there is no difference.
    pub(crate) fn same(p: f64) -> Self {
        Self::holds(p >= LEVEL)
    }

    /// Returns the verdict on the claim that a difference without a significance test is positive: half a point or
    /// more.
    pub(crate) fn clearly(difference: f64) -> Self {
        if difference >= 0.005 {
            Verdict::Reproduced
        } else if difference > 0.0 {
            Verdict::SignOnly
        } else {
            Verdict::NotReproduced
        }
    }

    /// Returns the verdict on a claim that holds in `holding` of `cases`. It is reproduced if it holds in four out of
    /// five, and in sign only if it holds in half of them.
    pub(crate) fn mostly(holding: usize, cases: usize) -> Self {
        if 5 * holding >= 4 * cases {
            Verdict::Reproduced
        } else if 2 * holding >= cases {
            Verdict::SignOnly
        } else {
            Verdict::NotReproduced
        }
    }

    pub(crate) fn holds(claim: bool) -> Self {
        if claim { Verdict::Reproduced } else { Verdict::NotReproduced }
    }
}

/// A claim of a paper, its numbers and ours.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) claim: String,
    /// Numbers of the paper; `None` if it makes the claim without measurements.
    pub(crate) paper: Option<String>,
    pub(crate) ours: String,
    pub(crate) verdict: Verdict,
}

impl Finding {
    /// Columns of a table of findings.
    pub(crate) const COLUMNS: [&str; 4] = ["finding", "in the paper", "here", "verdict"];

    /// Formats a table of findings.
    pub(crate) fn table(findings: &[Finding]) -> String {
        let mut table = Table::of_text(&Self::COLUMNS);
        findings.iter().for_each(|finding| table.row(&finding.row()));
        table.text().to_owned()
    }

    /// Returns the row of a table.
    pub(crate) fn row(&self) -> [&str; 4] {
        let verdict = match (self.verdict, self.paper.is_some()) {
            (Verdict::Reproduced, true) => "**reproduced**",
            (Verdict::SignOnly, true) => "in sign only",
            (Verdict::NotReproduced, true) => "**not reproduced**",
            (Verdict::Reproduced, false) => "holds",
            (Verdict::SignOnly, false) => "holds in sign only",
            (Verdict::NotReproduced, false) => "does not hold",
        };
        [&self.claim, self.paper.as_deref().unwrap_or("not measured"), &self.ours, verdict]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted() {
        assert_eq!(percent(0.81234), "81.23");
        assert_eq!(points(-0.0123), "−1.23");
        assert_eq!(decimals(0.0314), ".031");
        assert_eq!(p_value(0.0004), "p < .001");
        assert_eq!(p_value(0.04), "p = .040");
        assert_eq!([count(12), count(1234), count(1_234_567)], ["12", "1,234", "1,234,567"]);
    }

    #[test]
    fn tables_have_one_row_per_line() {
        let mut table = Table::new(&["a", "b"]);
        table.row(&["x", "1"]);
        assert_eq!(table.text(), "| a | b |\n| --- | ---: |\n| x | 1 |\n");
    }

    #[test]
    fn comparisons_count_sentences_and_words() {
        let units = |correct: &[u32]| -> Vec<UnitCounts> {
            let unit = |&correct| UnitCounts { correct, gold: 10, system: 10 };
            correct.iter().map(unit).collect()
        };
        let comparison = Comparison::new(&units(&[5, 5, 5, 5]), &units(&[6, 7, 5, 4]));
        assert!((comparison.difference - 0.05).abs() < 1e-12);
        assert_eq!((comparison.sign.better, comparison.sign.worse), (2, 1));
        assert_eq!(comparison.by_signs(), "+5.00 (2 : 1, p = 1.000)");
    }

    #[test]
    fn verdicts_follow_numbers() {
        assert_eq!(Verdict::more(0.1, 0.01), Verdict::Reproduced);
        assert_eq!(Verdict::more(0.1, 0.3), Verdict::SignOnly);
        assert_eq!(Verdict::more(-0.1, 0.01), Verdict::NotReproduced);
        assert_eq!(Verdict::not_less(-0.1, 0.3), Verdict::Reproduced);
        assert_eq!(Verdict::not_less(-0.1, 0.01), Verdict::NotReproduced);
        assert_eq!(Verdict::same(0.01), Verdict::NotReproduced);
        assert_eq!(Verdict::clearly(0.002), Verdict::SignOnly);
        assert_eq!(Verdict::mostly(4, 5), Verdict::Reproduced);
    }
}
