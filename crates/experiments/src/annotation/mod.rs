//! Simulated active learning: annotation effort by query strategy. Writes `docs/results/annotation.md`.

mod simulation;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use tutte_charts::{Axes, Line, Scale, lines};

use self::simulation::{Annotation, LearningCurve, Strategy, pool};
use crate::data::{Cut, Data, ENGLISH, Source};
use crate::lab::Lab;
use crate::page::{Table, count, mean, percent};

/// Simulate annotation with several query strategies
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The page to write; charts go into `images` beside its folder
    #[arg(short, long, value_name = "FILE", default_value = "docs/results/annotation.md")]
    output: PathBuf,

    /// Simulations run at once [default: one for each processor]
    #[arg(short = 'j', long, value_name = "N")]
    threads: Option<usize>,

    /// Folder for cached outcomes
    #[arg(long, value_name = "DIR", default_value = "target/experiments")]
    cache: PathBuf,
}

const TREEBANKS: [&str; 3] = [ENGLISH, "ud/turkish-imst", "ud/gothic-proiel"];
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

fn annotation(treebank: &str, strategy: Strategy, seed: u64) -> Annotation {
    Annotation {
        source: Source::treebank(treebank),
        cut: Cut { train: 12_000, test: 8_000 },
        strategy,
        seed,
        start: 300,
        rounds: 8,
        passes: 8,
        bits: 20,
    }
}

/// Runs all simulations and writes the page.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let threads = arguments
        .threads
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let lab = Lab::open(Data::find()?, arguments.cache.join("annotation"), threads)?;
    let mut all = Vec::new();
    for treebank in TREEBANKS {
        all.push(annotation(treebank, Strategy::Everything, 1));
        for strategy in Strategy::ALL {
            all.extend(SEEDS.map(|seed| annotation(treebank, strategy, seed)));
        }
    }
    lab.run(&all)?;
    let studies: Vec<Study> =
        TREEBANKS.into_iter().map(|treebank| Study::of(&lab, treebank)).collect::<Result<_>>()?;
    let folder = arguments.output.parent().map(PathBuf::from).unwrap_or_default();
    let images = folder.join("../images");
    for study in &studies {
        let path = images.join(study.chart_file());
        fs::write(&path, study.chart()).with_context(|| path.display().to_string())?;
    }
    let path = &arguments.output;
    fs::write(path, page(&lab, &studies)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// All simulations on one treebank.
struct Study {
    source: Source,
    /// By strategy, in the order of [`Strategy::ALL`], and seed.
    curves: Vec<Vec<LearningCurve>>,
    /// Number of all heads, and UAS when all are annotated.
    everything: (usize, f64),
}

/// Index of random sentences among the strategies. The others are compared with it.
const BASELINE: usize = 4;

impl Study {
    fn of(lab: &Lab<Annotation>, treebank: &str) -> Result<Self> {
        let curves = |strategy| {
            SEEDS.map(|seed| lab.outcome(&annotation(treebank, strategy, seed))).collect()
        };
        let all = lab.outcome(&annotation(treebank, Strategy::Everything, 1))?;
        let point = all.points.last().map_or((0, 0.0), |point| (point.heads, point.uas));
        Ok(Self {
            source: Source::treebank(treebank),
            curves: Strategy::ALL.into_iter().map(curves).collect::<Result<_>>()?,
            everything: point,
        })
    }

    fn chart_file(&self) -> String {
        format!("annotation-{}.svg", self.source)
    }

    /// Returns the mean curve over seeds: heads and UAS.
    fn mean_curve(&self, strategy: usize) -> Vec<(f64, f64)> {
        let curves = &self.curves[strategy];
        let points = curves.iter().map(|curve| curve.points.len()).min().unwrap_or(0);
        let heads = |at: usize| mean(curves.iter().map(|c| c.points[at].heads as f64));
        let uas = |at: usize| mean(curves.iter().map(|c| c.points[at].uas));
        (0..points).map(|at| (heads(at), uas(at))).collect()
    }

    /// Returns the share of heads that a strategy saves, by seed.
    ///
    /// It is relative to the heads that random sentences need for their final accuracy. A strategy that never
    /// reaches that accuracy saves nothing.
    fn savings(&self, strategy: usize) -> Vec<f64> {
        let random = self.curves[BASELINE].iter();
        random
            .zip(&self.curves[strategy])
            .map(|(random, curve)| {
                let Some(end) = random.points.last() else { return 0.0 };
                let needed = heads_needed(&points_of(curve), end.uas).unwrap_or(end.heads as f64);
                1.0 - needed / end.heads as f64
            })
            .collect()
    }

    fn chart(&self) -> String {
        let curves: Vec<Vec<(f64, f64)>> =
            (0..Strategy::ALL.len()).map(|strategy| self.mean_curve(strategy)).collect();
        let all = || curves.iter().flatten();
        let most = all().map(|point| point.0).fold(1.0, f64::max);
        let step = 5.0;
        let low = all().map(|point| 100.0 * point.1).fold(100.0, f64::min);
        let high = all().map(|point| 100.0 * point.1).fold(0.0, f64::max);
        let axes = Axes {
            x_name: "annotated heads".to_owned(),
            y_name: "UAS".to_owned(),
            x: (300.0, most),
            scale: Scale::Doubling,
            y: ((low / step).floor() * step, (high / step).ceil() * step),
            diagonal: false,
        };
        let line = |(strategy, points): (&Strategy, Vec<(f64, f64)>)| Line {
            name: strategy.name().to_owned(),
            points: points.into_iter().map(|(heads, uas)| (heads, 100.0 * uas)).collect(),
        };
        lines(&axes, &Strategy::ALL.iter().zip(curves).map(line).collect::<Vec<_>>())
    }

    fn table(&self) -> String {
        let curve = self.mean_curve(0);
        let mut columns = vec!["UAS with about".to_owned()];
        columns.extend(curve.iter().map(|(heads, _)| count((heads / 10.0).round() as usize * 10)));
        columns.extend(["± at the end", "sentences touched", "heads spared"].map(str::to_owned));
        let mut table = Table::new(&columns);
        for (at, strategy) in Strategy::ALL.iter().enumerate() {
            let last: Vec<f64> =
                self.curves[at].iter().filter_map(|c| Some(c.points.last()?.uas)).collect();
            let touched = self.curves[at].iter().filter_map(|c| Some(c.points.last()?.sentences));
            let mut row = vec![strategy.name().to_owned()];
            row.extend(self.mean_curve(at).iter().map(|(_, uas)| percent(*uas)));
            row.push(format!("{:.2}", 100.0 * deviation(&last)));
            row.push(count(mean(touched.map(|n| n as f64)).round() as usize));
            row.push(match at {
                BASELINE => "–".to_owned(),
                _ => self.saving(at),
            });
            table.row(&row);
        }
        table.text().to_owned()
    }

    /// Formats mean and range of the share of saved heads.
    fn saving(&self, strategy: usize) -> String {
        let savings = self.savings(strategy);
        let (low, high) = savings
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), s| (s.min(l), s.max(h)));
        let whole_percent = |share: f64| format!("{:.0}", 100.0 * share).replace('-', "−");
        format!(
            "{} % ({} to {})",
            whole_percent(mean(savings)),
            whole_percent(low),
            whole_percent(high)
        )
    }
}

fn points_of(curve: &LearningCurve) -> Vec<(f64, f64)> {
    curve.points.iter().map(|point| (point.heads as f64, point.uas)).collect()
}

/// Returns the number of heads at which a curve reaches an accuracy, if it does. Between its points, the curve is
/// taken as linear in the logarithm of heads.
fn heads_needed(curve: &[(f64, f64)], uas: f64) -> Option<f64> {
    let at = curve.iter().position(|point| point.1 >= uas)?;
    let Some(before) = at.checked_sub(1) else { return Some(curve[0].0) };
    let ((x0, y0), (x1, y1)) = (curve[before], curve[at]);
    Some((x0.ln() + (uas - y0) / (y1 - y0) * (x1.ln() - x0.ln())).exp())
}

fn deviation(values: &[f64]) -> f64 {
    let middle = mean(values.iter().copied());
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    (squares / values.len().saturating_sub(1).max(1) as f64).sqrt()
}

fn page(lab: &Lab<Annotation>, studies: &[Study]) -> Result<String> {
    let minutes = lab.seconds() / 60.0;
    let mut text = format!(
        "# Which words to annotate next: a simulation\n\n\
         Written by `scripts/record-experiments annotation`; do not edit. The script computes every number, \
         in {minutes:.0} minutes of processor time.\n\n\
         A simulated annotator starts with random sentences of about 300 words, with all heads annotated. In \
         each of eight rounds, a parser is trained on these partial trees (`tutte train`) and tested on the \
         test file. Then it selects what to annotate next (`tutte ask`), until the number of annotated heads \
         has grown by a factor of √2. Five seeds determine the first sentences and all random choices; \
         numbers are means over seeds. Settings: heads without labels, gold tags, a single parsing pass over \
         all arcs, {} templates, {} passes of AdaGrad over the annotated sentences, about {} words to select \
         from, {} test words.\n\n\
         - *word entropy*: the words whose heads have the highest entropy, given the annotated heads; \
         *diverse*: with `--diverse`;\n\
         - *sentence entropy*: whole sentences, by the entropy of their trees per word;\n\
         - *random words*, *random sentences*: a random choice.\n\n\
         *Heads spared* compares a strategy with random sentences: how many fewer heads it needs for the \
         final accuracy of random sentences (mean, lowest and highest over seeds). Between rounds, the curve \
         is taken as linear in the logarithm of heads. A strategy that never reaches that accuracy spares \
         nothing. The numbers count heads, not hours: selected words are scattered over many sentences, and \
         each must be read. *Sentences touched* shows how many.\n\n",
        tutte::features::FeatureSet::lean().templates().len(),
        annotation(ENGLISH, Strategy::Words, 1).passes,
        count(annotation(ENGLISH, Strategy::Words, 1).cut.train),
        count(annotation(ENGLISH, Strategy::Words, 1).cut.test),
    );
    text += "## In short\n\n";
    let mut columns = vec!["heads spared".to_owned()];
    columns.extend(studies.iter().map(|study| study.source.to_string()));
    let mut table = Table::new(&columns);
    for (at, strategy) in Strategy::ALL.iter().enumerate().filter(|(at, _)| *at != BASELINE) {
        let mut row = vec![strategy.name().to_owned()];
        row.extend(studies.iter().map(|study| study.saving(at)));
        table.row(&row);
    }
    text += table.text();
    text += "\n";
    text += &conclusion(studies);
    for study in studies {
        let (sentences, words, test) =
            pool(&lab.data, &study.source, annotation(ENGLISH, Strategy::Words, 1).cut)?;
        let (heads, uas) = study.everything;
        text += &format!(
            "\n## {}\n\n{} sentences and {} words to select from; {} test words. With all {} heads annotated, \
             UAS is {}.\n\n![UAS by number of annotated heads](../images/{})\n\n",
            study.source,
            count(sentences),
            count(words),
            count(test),
            count(heads),
            percent(uas),
            study.chart_file(),
        );
        text += &study.table();
    }
    Ok(text)
}

/// Names the strategy that saves most. `docs/GUIDE.md` quotes this sentence.
fn conclusion(studies: &[Study]) -> String {
    let spared = |at: usize| mean(studies.iter().map(|study| mean(study.savings(at))));
    let others = (0..Strategy::ALL.len()).filter(|at| *at != BASELINE);
    let Some(best) = others.max_by(|a, b| spared(*a).total_cmp(&spared(*b))) else {
        return String::new();
    };
    let each = studies.iter().map(|study| {
        let share = 100.0 * mean(study.savings(best));
        format!("{share:.0} % of the heads on {}", study.source)
    });
    let each: Vec<String> = each.collect();
    format!(
        "At equal accuracy, *{}* spares most: {}.\n",
        Strategy::ALL[best].name(),
        each.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_interpolated() {
        let curve = [(100.0, 0.5), (200.0, 0.6), (400.0, 0.8)];
        assert_eq!(heads_needed(&curve, 0.5), Some(100.0));
        assert!((heads_needed(&curve, 0.7).unwrap() - 200.0 * 2f64.sqrt()).abs() < 1e-9);
        assert_eq!(heads_needed(&curve, 0.81), None);
        assert!((deviation(&[1.0, 3.0]) - 2f64.sqrt()).abs() < 1e-12);
    }
}
