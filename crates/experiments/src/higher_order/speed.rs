//! Time of belief propagation by family of factors, length of the sentence and number of iterations.
//!
//! Random scores. Processor time of so many runs that its coarse clock does not matter, and the median of several such
//! batches.

use std::fmt;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tutte_linear::gaussian;
use tutte_trees::factors::{Derivatives, FactorGraph, Gradient, Messages, Options, Schedule, Side};
use tutte_trees::{ArcMatrix, TreeSet};

use super::WrittenSection;
use crate::clock::Clock;
use crate::data::Data;
use crate::lab::{Lab, Try};
use crate::page::{Finding, Table, Verdict};

/// Lengths of sentences.
const LENGTHS: [usize; 5] = [20, 28, 40, 57, 80];
/// The length at which further iterations and gradients are measured.
const MIDDLE: usize = 40;
/// Number of batches of runs, and their least time in seconds.
const BATCHES: usize = 3;
const BATCH_SECONDS: f64 = 0.03;
/// Number of iterations of a long run.
const LONG: usize = 6;

/// A family of factors, alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Family {
    Tree,
    ProjectiveTree,
    Grandparents,
    Siblings,
    Sequences,
    Crossings,
    /// TREE and all families above but PTREE.
    All,
}

impl Family {
    const EVERY: [Self; 7] = [
        Self::Tree,
        Self::ProjectiveTree,
        Self::Grandparents,
        Self::Siblings,
        Self::Sequences,
        Self::Crossings,
        Self::All,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Tree => "TREE",
            Self::ProjectiveTree => "PTREE",
            Self::Grandparents => "GRAND",
            Self::Siblings => "SIB",
            Self::Sequences => "CHILDSEQ",
            Self::Crossings => "NOCROSS",
            Self::All => "all but PTREE",
        }
    }

    fn is(self, other: Self) -> bool {
        self == other || self == Self::All
    }
}

/// The arcs of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Density {
    /// All arcs.
    Dense,
    /// 2.6 heads per word, as after the parser's first pass.
    Pruned,
}

/// Belief propagation on one sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SpeedTrial {
    family: Family,
    density: Density,
    words: usize,
    batches: usize,
}

/// Times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Times {
    /// Of runs without an iteration and with one.
    runs: [f64; 2],
    /// At the middle length: of a long run, and of a recorded long run with its gradient.
    long: Option<[f64; 2]>,
    /// Number of variables and of log-weights.
    size: [usize; 2],
    /// Processor time of the trial.
    total: f64,
}

impl Times {
    /// Returns the time of the first iteration.
    fn iteration(&self) -> f64 {
        (self.runs[1] - self.runs[0]).max(1e-9)
    }

    /// Returns the time of each further iteration.
    fn further(&self) -> Option<f64> {
        self.long.map(|[long, _]| (long - self.runs[1]).max(1e-9) / (LONG - 1) as f64)
    }
}

impl fmt::Display for SpeedTrial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:?}, {} words", self.family.name(), self.density, self.words)
    }
}

impl Try for SpeedTrial {
    type Outcome = Times;

    fn templates(&self) -> String {
        String::new()
    }

    fn seconds(outcome: &Times) -> f64 {
        outcome.total
    }

    fn headline(outcome: &Times) -> f64 {
        1e6 * outcome.iteration()
    }

    fn run(&self, _: &Data) -> Result<Times> {
        let clock = Clock::start();
        let graph = self.graph()?;
        let mut messages = Messages::default();
        let mut gradient = Gradient::default();
        let ones =
            ArcMatrix::from_fn(self.words, |head, word| ((head + 2 * word) % 3) as f64 - 1.0);
        let mut options = Options { schedule: Schedule::Flooding, ..Options::default() };
        let mut runs = [0.0; 2];
        for (iterations, seconds) in runs.iter_mut().enumerate() {
            options.iterations = iterations;
            *seconds = self.median(|| {
                graph.run(&options, &mut messages)?;
                Ok(())
            })?;
        }
        let mut long = None;
        if self.words == MIDDLE {
            options.iterations = LONG;
            let alone = self.median(|| {
                graph.run(&options, &mut messages)?;
                Ok(())
            })?;
            options.record = true;
            let with_gradient = self.median(|| {
                graph.run(&options, &mut messages)?;
                let by_beliefs = Derivatives { beliefs: Some(&ones), ..Derivatives::default() };
                Ok(graph.backward(&mut messages, by_beliefs, &mut gradient)?)
            })?;
            long = Some([alone, with_gradient]);
        }
        let size = [graph.arcs().len(), graph.weight_count()];
        Ok(Times { runs, long, size, total: clock.seconds() })
    }
}

impl SpeedTrial {
    /// Returns the median time of a function over batches of runs, after one to warm up.
    fn median(&self, mut function: impl FnMut() -> Result<()>) -> Result<f64> {
        function()?;
        let mut batch = |runs: usize| -> Result<f64> {
            let clock = Clock::start();
            for _ in 0..runs {
                function()?;
            }
            Ok(clock.seconds())
        };
        let mut runs = 1;
        while batch(runs)? < BATCH_SECONDS {
            runs *= 2;
        }
        let mut times = Vec::with_capacity(self.batches);
        for _ in 0..self.batches {
            times.push(batch(runs)? / runs as f64);
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }

    fn graph(&self) -> Result<FactorGraph> {
        let mut draw = gaussian(self.words as u64);
        let set = match self.family {
            Family::ProjectiveTree => TreeSet::ProjectiveSingleRoot,
            _ => TreeSet::NonProjectiveSingleRoot,
        };
        let density = self.density;
        let scores = ArcMatrix::from_fn(self.words, |head, modifier| {
            let score = draw();
            if density == Density::Dense || is_near(head, modifier) {
                score
            } else {
                f64::NEG_INFINITY
            }
        });
        let mut graph = FactorGraph::new(&scores, set)?;
        graph
            .set_tree_factor(self.family.is(Family::Tree) || self.family == Family::ProjectiveTree);
        let mut weight = || 0.3 * draw();
        if self.family.is(Family::Grandparents) {
            graph.add_grandparents(|_, _, _| weight())?;
        }
        if self.family.is(Family::Siblings) {
            graph.add_siblings(|_, _, _| weight())?;
        }
        if self.family.is(Family::Crossings) {
            graph.add_no_crossings(|_, _| weight())?;
        }
        if self.family.is(Family::Sequences) {
            for head in 0..=self.words {
                for side in [Side::Left, Side::Right] {
                    graph.add_child_sequence(head, side, |_, _| weight())?;
                }
            }
        }
        Ok(graph)
    }
}

/// Returns `true` for 2.6 heads per word, among them one that makes a projective tree possible.
fn is_near(head: usize, modifier: usize) -> bool {
    head + 1 == modifier
        || head == modifier + 1
        || modifier % 5 < 3 && head == (7 * modifier) % (modifier + 1)
}

fn trial(family: Family, density: Density, words: usize) -> SpeedTrial {
    SpeedTrial { family, density, words, batches: BATCHES }
}

/// Returns the slope of log time by log length, by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len().max(1) as f64;
    let mean_x = logs.iter().map(|point| point.0).sum::<f64>() / count;
    let mean_y = logs.iter().map(|point| point.1).sum::<f64>() / count;
    let covariance: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    covariance / logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>()
}

/// Times of a family by length.
struct Row {
    family: Family,
    times: Vec<Times>,
}

impl Row {
    fn all(lab: &Lab<SpeedTrial>, density: Density) -> Result<Vec<Self>> {
        let row = |family| {
            let times = LENGTHS.map(|words| lab.outcome(&trial(family, density, words)));
            Ok(Self { family, times: times.into_iter().collect::<Result<_>>()? })
        };
        Family::EVERY.into_iter().map(row).collect()
    }

    fn slope(&self) -> f64 {
        let points = LENGTHS.iter().zip(&self.times);
        slope(&points.map(|(n, times)| (*n as f64, times.iteration())).collect::<Vec<_>>())
    }
}

pub(super) fn write(lab: &Lab<SpeedTrial>) -> Result<WrittenSection> {
    let mut trials = Vec::new();
    for density in [Density::Dense, Density::Pruned] {
        for family in Family::EVERY {
            trials.extend(LENGTHS.map(|words| trial(family, density, words)));
        }
    }
    lab.run(&trials)?;
    let dense = Row::all(lab, Density::Dense)?;
    let pruned = Row::all(lab, Density::Pruned)?;
    let mut text = format!(
        "**Question:** what does an iteration cost, and how does that grow with the sentence? **Method:** random scores and \
         factors of one family, single-root trees, all messages at once; processor time of one thread, medians of {BATCHES} \
         batches of runs. *One iteration*: the first, in microseconds. *Slope*: of log time by log length, by least \
         squares. *Further*: the mean of the next {} iterations, at {MIDDLE} words. *Gradient*: {LONG} recorded iterations \
         followed back, relative to {LONG} iterations alone, at {MIDDLE} words.\n\n",
        LONG - 1
    );
    for (name, rows) in [
        ("All arcs:", &dense),
        ("About 2.6 heads per word, as after the parser's first pass:", &pruned),
    ] {
        text += &format!("{name}\n\n");
        text += &table(rows);
        text += "\n";
    }
    let text = text.trim_end().to_owned() + "\n";
    Ok(WrittenSection { text, findings: findings(&dense) })
}

fn table(rows: &[Row]) -> String {
    let mut header = vec!["one iteration, µs".to_owned()];
    header.extend(LENGTHS.map(|words| format!("{words} words")));
    header.extend(["slope", "further", "gradient", "log-weights"].map(str::to_owned));
    let mut table = Table::new(&header);
    for row in rows {
        let mut cells = vec![row.family.name().to_owned()];
        cells.extend(row.times.iter().map(|times| format!("{:.1}", 1e6 * times.iteration())));
        cells.push(format!("{:.2}", row.slope()));
        let middle = &row.times[LENGTHS.iter().position(|&n| n == MIDDLE).unwrap_or(0)];
        let further = middle.further().map(|seconds| format!("{:.1}", 1e6 * seconds));
        let gradient = middle.long.map(|[alone, whole]| format!("{:.1}", whole / alone));
        cells.extend([further, gradient].map(Option::unwrap_or_default));
        cells.push(crate::page::count(middle.size[1]));
        table.row(&cells);
    }
    table.text().to_owned()
}

fn findings(dense: &[Row]) -> Vec<Finding> {
    let steepest = dense.iter().map(Row::slope).fold(0.0, f64::max);
    let time = |row: &Row| row.times[LENGTHS.len() - 1].iteration();
    let parts = |row: &&Row| !matches!(row.family, Family::All | Family::ProjectiveTree);
    let sum: f64 = dense.iter().filter(parts).map(time).sum();
    let all: f64 = dense.iter().filter(|row| row.family == Family::All).map(time).sum();
    vec![
        Finding {
            claim: "An iteration takes O(n³) with all families (largest slope at most 3.2 over 20 to 80 words)".to_owned(),
            paper: None,
            ours: format!("{steepest:.2}"),
            verdict: Verdict::holds(steepest <= 3.2),
        },
        Finding {
            claim: "Costs of families add up (all together take at most 1.2 times the sum, at 80 words)".to_owned(),
            paper: None,
            ours: format!("{:.2} times", all / sum),
            verdict: Verdict::holds(all <= 1.2 * sum),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_exponents() {
        let cubes: Vec<(f64, f64)> =
            LENGTHS.iter().map(|&n| (n as f64, 5.0 * (n as f64).powi(3))).collect();
        assert!((slope(&cubes) - 3.0).abs() < 1e-9);
    }

    #[test]
    fn graphs_have_the_factors_of_their_family() {
        let size = |family, density| trial(family, density, 12).graph().unwrap().weight_count();
        for density in [Density::Dense, Density::Pruned] {
            assert_eq!(size(Family::Tree, density), 0);
            let parts: usize = Family::EVERY[2..6].iter().map(|&it| size(it, density)).sum();
            assert_eq!(size(Family::All, density), parts);
        }
        let pruned = trial(Family::Tree, Density::Pruned, 50).graph().unwrap();
        let heads = pruned.arcs().len() as f64 / 50.0;
        assert!((2.3..2.9).contains(&heads), "{heads}");
    }
}
