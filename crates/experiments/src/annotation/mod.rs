//! What asking the right questions saves an annotator: `docs/results/annotation.md`.

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

/// Simulated annotation: what to ask for next
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The page to write; pictures go into `images` beside its folder
    #[arg(short, long, value_name = "FILE", default_value = "docs/results/annotation.md")]
    output: PathBuf,

    /// Annotators at work at once [default: one for each processor]
    #[arg(short = 'j', long, value_name = "N")]
    threads: Option<usize>,

    /// Where to keep what was found
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

/// Runs all annotators and writes the page.
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
        let path = images.join(study.picture());
        fs::write(&path, study.chart()).with_context(|| path.display().to_string())?;
    }
    let path = &arguments.output;
    fs::write(path, page(&lab, &studies)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// All annotators of one treebank.
struct Study {
    source: Source,
    /// By strategy, as in [`Strategy::ALL`], and seed.
    curves: Vec<Vec<LearningCurve>>,
    /// With all heads: how many they are, and UAS.
    everything: (usize, f64),
}

/// The place of random sentences among the strategies: what the others are compared with.
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

    fn picture(&self) -> String {
        format!("annotation-{}.svg", self.source)
    }

    /// The mean over seeds, point by point: heads and UAS.
    fn curve(&self, strategy: usize) -> Vec<(f64, f64)> {
        let curves = &self.curves[strategy];
        let points = curves.iter().map(|curve| curve.points.len()).min().unwrap_or(0);
        let heads = |at: usize| mean(curves.iter().map(|c| c.points[at].heads as f64));
        let uas = |at: usize| mean(curves.iter().map(|c| c.points[at].uas));
        (0..points).map(|at| (heads(at), uas(at))).collect()
    }

    /// What share of the heads that random sentences needed for their last accuracy a strategy
    /// spares, by seed; those that never reached it spare nothing.
    fn savings(&self, strategy: usize) -> Vec<f64> {
        let random = self.curves[BASELINE].iter();
        random
            .zip(&self.curves[strategy])
            .map(|(random, curve)| {
                let Some(end) = random.points.last() else { return 0.0 };
                let needed = needed(&points_of(curve), end.uas).unwrap_or(end.heads as f64);
                1.0 - needed / end.heads as f64
            })
            .collect()
    }

    fn chart(&self) -> String {
        let curves: Vec<Vec<(f64, f64)>> =
            (0..Strategy::ALL.len()).map(|strategy| self.curve(strategy)).collect();
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
        let curve = self.curve(0);
        let mut columns = vec!["UAS with about".to_owned()];
        columns.extend(curve.iter().map(|(heads, _)| count((heads / 10.0).round() as usize * 10)));
        columns.extend(["± at the end", "sentences touched", "heads spared"].map(str::to_owned));
        let mut table = Table::new(&columns);
        for (at, strategy) in Strategy::ALL.iter().enumerate() {
            let last: Vec<f64> =
                self.curves[at].iter().filter_map(|c| Some(c.points.last()?.uas)).collect();
            let touched = self.curves[at].iter().filter_map(|c| Some(c.points.last()?.sentences));
            let mut row = vec![strategy.name().to_owned()];
            row.extend(self.curve(at).iter().map(|(_, uas)| percent(*uas)));
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

    /// Mean and range of what is spared.
    fn saving(&self, strategy: usize) -> String {
        let savings = self.savings(strategy);
        let (low, high) = savings
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), s| (s.min(l), s.max(h)));
        let whole = |share: f64| format!("{:.0}", 100.0 * share).replace('-', "−");
        format!("{} % ({} to {})", whole(mean(savings)), whole(low), whole(high))
    }
}

fn points_of(curve: &LearningCurve) -> Vec<(f64, f64)> {
    curve.points.iter().map(|point| (point.heads as f64, point.uas)).collect()
}

/// How many heads a curve needs to reach an accuracy, between its points as if it were straight over
/// the logarithm of heads; nothing if it never does.
fn needed(curve: &[(f64, f64)], uas: f64) -> Option<f64> {
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
         Written by `scripts/record-experiments annotation`; do not edit. Every number is computed by it, \
         in {minutes:.0} minutes of processor time.\n\n\
         An annotator starts with random sentences of about 300 words together, all of whose heads are \
         given. Then a parser is trained on what is known, as partial trees (`tutte train`), judged on \
         the test file, and says what it wants to know next (`tutte ask`), until √2 times as many heads \
         are known, eight times over. Five seeds choose the first sentences and all that is random; \
         numbers are means over them. Heads only, gold tags, one pass over all arcs, {} templates, {} \
         passes of AdaGrad; about {} words can be asked about, {} are tested on.\n\n\
         - *word entropy*: the words whose heads have the highest entropy, wherever they are, given the \
         heads that are known; *diverse*: the same with `--diverse`;\n\
         - *sentence entropy*: whole sentences, by the entropy of their trees for each word;\n\
         - *random words*, *random sentences*: by chance.\n\n\
         *Heads spared* compares with random sentences: how many fewer heads a strategy needs for the \
         accuracy that they end with, seed by seed (mean, lowest and highest), between rounds as if the \
         curve were straight over the logarithm of heads; a strategy that never gets there spares \
         nothing. It counts heads, not hours: single words are scattered over many sentences that must be \
         read, of which *sentences touched* gives an idea.\n\n",
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
            "\n## {}\n\n{} sentences, {} words to ask about; {} words to test on. With all {} heads, UAS \
             {}.\n\n![UAS against annotated heads](../images/{})\n\n",
            study.source,
            count(sentences),
            count(words),
            count(test),
            count(heads),
            percent(uas),
            study.picture(),
        );
        text += &study.table();
    }
    Ok(text)
}

/// The strategy that spares most, in words.
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
    fn curves_are_read_between_their_points() {
        let curve = [(100.0, 0.5), (200.0, 0.6), (400.0, 0.8)];
        assert_eq!(needed(&curve, 0.5), Some(100.0));
        assert!((needed(&curve, 0.7).unwrap() - 200.0 * 2f64.sqrt()).abs() < 1e-9);
        assert_eq!(needed(&curve, 0.81), None);
        assert!((deviation(&[1.0, 3.0]) - 2f64.sqrt()).abs() < 1e-12);
    }
}
