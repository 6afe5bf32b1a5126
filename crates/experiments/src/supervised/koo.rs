//! Koo, Globerson, Carreras & Collins (2007), tables 2 and 3: three models, each trained over
//! projective and over all trees.

use anyhow::Result;
use tutte_treebank::eval::calibration::wilson;
use tutte_treebank::eval::significance::{Interval, UnitCounts};

use super::{Plan, WrittenSection};
use crate::data::Source;
use crate::decoder::Decoder;
use crate::lab::Lab;
use crate::page::{Comparison, Finding, LEVEL, Table, Verdict, mean, percent, points};
use crate::trial::Trial;

/// Some of the paper's languages, and some with more crossing arcs.
const TREEBANKS: [&str; 6] = [
    "conllx/danish",
    "conllx/dutch",
    "ud/gothic-proiel",
    "ud/ancient_greek-perseus",
    "conll2007/spanish",
    "ud/turkish-imst",
];

/// Share of crossing arcs from which a treebank counts as non-projective.
const CROSSING: f64 = 0.02;

/// A model and its learners; the best one on dev is used.
struct Method {
    name: &'static str,
    learners: &'static [&'static str],
}

const METHODS: [Method; 3] = [
    Method { name: "perceptron", learners: &["perceptron"] },
    Method { name: "max-margin", learners: &["eg-max-margin:c=0.02", "eg-max-margin:c=0.1"] },
    Method {
        name: "log-linear",
        learners: &["sgd:rate=0.02,dropout=0,prior=1", "sgd:rate=0.02,dropout=0,prior=10"],
    },
];

fn trial(plan: &Plan, treebank: &str, learner: &str, projective: bool) -> Trial {
    // As in the paper, models trained over all trees are run with both decoders.
    let decoders =
        if projective { vec![Decoder::Map] } else { vec![Decoder::Map, Decoder::MapProjective] };
    Trial { projective, decoders, ..plan.trial(Source::treebank(treebank), learner) }
}

pub(super) fn trials(plan: &Plan) -> Vec<Trial> {
    let mut trials = Vec::new();
    for treebank in TREEBANKS {
        for learner in METHODS.iter().flat_map(|method| method.learners) {
            for projective in [true, false] {
                trials.push(trial(plan, treebank, learner, projective));
            }
        }
    }
    trials
}

/// The best setting on dev, and its accuracy on test.
#[derive(Clone, Debug)]
struct Choice {
    setting: String,
    projective: bool,
    dev: f64,
    uas: f64,
    units: Vec<UnitCounts>,
}

/// Returns the best of the learners of a method, their passes and decoders.
fn choose(
    plan: &Plan,
    lab: &Lab<Trial>,
    treebank: &str,
    method: &Method,
    projective: bool,
) -> Result<Choice> {
    let mut best: Option<Choice> = None;
    for learner in method.learners {
        let outcome = lab.outcome(&trial(plan, treebank, learner, projective))?;
        for (number, decoded) in outcome.decoded.iter().enumerate() {
            let dev = decoded.best_dev();
            if best.as_ref().is_some_and(|best| best.dev >= dev) {
                continue;
            }
            let c = learner
                .split_once("c=")
                .or(learner.split_once("prior="))
                .map_or(String::new(), |(_, c)| format!("C {c}, "));
            let arcs = match (projective, decoded.decoder) {
                (false, Decoder::MapProjective) => ", decoded projectively",
                _ => "",
            };
            best = Some(Choice {
                setting: format!("{c}T {}{arcs}", decoded.best_pass),
                projective,
                dev,
                uas: outcome.uas(number),
                units: outcome.units(number),
            });
        }
    }
    best.ok_or_else(|| anyhow::anyhow!("{} was not run on {treebank}", method.name))
}

/// The choices on one treebank, by method: projective and non-projective.
struct Row {
    treebank: Source,
    crossing: f64,
    choices: Vec<[Choice; 2]>,
}

impl Row {
    /// Returns the better of projective and non-projective training on dev.
    fn chosen(&self, method: usize) -> &Choice {
        let [projective, free] = &self.choices[method];
        if free.dev >= projective.dev { free } else { projective }
    }
}

pub(super) fn write(plan: &Plan, lab: &Lab<Trial>) -> Result<WrittenSection> {
    let mut rows = Vec::new();
    for treebank in TREEBANKS {
        let source = Source::treebank(treebank);
        let crossing = lab.data.split(&source, plan.cut)?.crossing()?;
        let mut choices = Vec::new();
        for method in &METHODS {
            let projective = choose(plan, lab, treebank, method, true)?;
            choices.push([projective, choose(plan, lab, treebank, method, false)?]);
        }
        rows.push(Row { treebank: source, crossing, choices });
    }
    rows.sort_by(|a, b| b.crossing.total_cmp(&a.crossing));
    let mut text = String::from(
        "## Projective and non-projective training (Koo et al. 2007, tables 2 and 3)\n\n\
         **Question:** is training over all trees, by the matrix-tree theorem, better than training over \
         projective trees? Are max-margin and log-linear models better than the averaged perceptron? \
         **Method:** MAP decoding. For projective training, training trees are made projective. Three settings \
         are chosen on dev: C, the number of passes, and the decoder of models trained over all trees \
         (projective or not). Max-margin models are trained by exponentiated gradient, as in the paper. \
         Log-linear models are trained by stochastic gradients with a Gaussian prior of variance C; the paper \
         used conjugate gradients, which take much longer.\n\n\
         Table 2, UAS on test; p: trained over projective trees, np: over all trees. *Bold*: better than the \
         other by a sign test over sentences (p < .05). Treebanks are sorted by their share of crossing \
         arcs.\n\n",
    );
    text += &table_2(&rows);
    text += "\nGain of training over all trees, with the numbers of sentences that get better and worse:\n\n";
    text += &differences(&rows);
    text += "\nTable 3, UAS on test with projective or non-projective training and decoding, chosen on dev:\n\n";
    text += &table_3(&rows);
    let pooled = |method: usize| -> Vec<UnitCounts> {
        rows.iter().flat_map(|row| row.chosen(method).units.clone()).collect()
    };
    let [perceptron, margin, linear] = [pooled(0), pooled(1), pooled(2)];
    let comparisons = [
        Comparison::new(&perceptron, &margin),
        Comparison::new(&perceptron, &linear),
        Comparison::new(&margin, &linear),
    ];
    text += &format!(
        "\nOver the {} test sentences of all treebanks (in brackets, sentences better and worse, and the sign \
         test): max-margin compared with the perceptron {}, log-linear compared with the perceptron {}, \
         log-linear compared with max-margin {}.\n",
        perceptron.len(),
        comparisons[0].by_signs(),
        comparisons[1].by_signs(),
        comparisons[2].by_signs()
    );
    Ok(WrittenSection { text, findings: findings(&rows, &comparisons) })
}

fn table_2(rows: &[Row]) -> String {
    let mut columns = vec![String::new(), "% crossing".to_owned()];
    for method in &METHODS {
        columns.extend(["p", "np"].map(|shape| format!("{} {shape}", method.name)));
    }
    let mut table = Table::new(&columns);
    for row in rows {
        let mut cells = vec![row.treebank.to_string(), percent(row.crossing)];
        for [projective, free] in &row.choices {
            let comparison = Comparison::new(&projective.units, &free.units);
            let is_significant = comparison.sign.p < LEVEL;
            let cell = |is_better: bool, uas: f64| {
                if is_better && is_significant {
                    format!("**{}**", percent(uas))
                } else {
                    percent(uas)
                }
            };
            let is_gain = comparison.sign.better > comparison.sign.worse;
            cells.extend([cell(!is_gain, projective.uas), cell(is_gain, free.uas)]);
        }
        table.row(&cells);
    }
    let mut cells = vec!["mean".to_owned(), String::new()];
    for method in 0..METHODS.len() {
        for shape in 0..2 {
            cells.push(percent(mean(rows.iter().map(|row| row.choices[method][shape].uas))));
        }
    }
    table.row(&cells);
    let paper = ["78.54", "78.81", "79.12", "79.82", "78.88", "79.76"];
    let paper: Vec<_> = ["*mean in the paper*", ""].into_iter().chain(paper).collect();
    table.row(&paper);
    table.text().to_owned()
}

fn differences(rows: &[Row]) -> String {
    let names = METHODS.iter().map(|method| method.name);
    let mut table = Table::new(&[""].into_iter().chain(names).collect::<Vec<_>>());
    for row in rows {
        let comparisons =
            row.choices.iter().map(|[p, np]| Comparison::new(&p.units, &np.units).by_signs());
        table.row(&[row.treebank.to_string()].into_iter().chain(comparisons).collect::<Vec<_>>());
    }
    table.text().to_owned()
}

fn table_3(rows: &[Row]) -> String {
    let mut columns = vec![String::new()];
    for method in &METHODS {
        columns.extend([method.name.to_owned(), "chosen".to_owned()]);
    }
    let mut table = Table::new(&columns);
    for row in rows {
        let mut cells = vec![row.treebank.to_string()];
        for method in 0..METHODS.len() {
            let Choice { setting, projective, uas, .. } = row.chosen(method);
            let shape = if *projective { "p" } else { "np" };
            cells.extend([percent(*uas), format!("{shape}, {setting}")]);
        }
        table.row(&cells);
    }
    let mut cells = vec!["mean".to_owned()];
    for method in 0..METHODS.len() {
        cells.extend([percent(average(rows, method)), String::new()]);
    }
    table.row(&cells);
    table.row(&["*mean in the paper*", "78.98", "", "79.82", "", "79.70", ""]);
    table.text().to_owned()
}

/// The share of better sentences in both tests of the paper.
const PAPER_SHARE: f64 = 448.0 / (448.0 + 343.0);

/// Returns the 95 % interval of the share of better sentences among those that change.
fn better_share(comparison: &Comparison) -> Interval {
    let better = comparison.sign.better as usize;
    let worse = comparison.sign.worse as usize;
    wilson(better, better + worse)
}

fn interval(comparison: &Comparison) -> String {
    let Interval { low, high } = better_share(comparison);
    format!("{:.1} to {:.1} %", 100.0 * low, 100.0 * high)
}

/// Returns the mean of a method in table 3.
fn average(rows: &[Row], method: usize) -> f64 {
    mean(rows.iter().map(|row| row.chosen(method).uas))
}

fn findings(rows: &[Row], comparisons: &[Comparison; 3]) -> Vec<Finding> {
    let pooled = |keep: &dyn Fn(&Row) -> bool| -> Vec<Comparison> {
        let kept: Vec<&Row> = rows.iter().filter(|row| keep(row)).collect();
        let units = |method: usize, shape: usize| -> Vec<UnitCounts> {
            kept.iter().flat_map(|row| row.choices[method][shape].units.clone()).collect()
        };
        (0..METHODS.len())
            .map(|method| Comparison::new(&units(method, 0), &units(method, 1)))
            .collect()
    };
    let by_method = |comparisons: &[Comparison]| {
        let texts = METHODS
            .iter()
            .zip(comparisons)
            .map(|(m, comparison)| format!("{} {}", m.name, comparison.by_signs()));
        texts.collect::<Vec<_>>().join(", ")
    };
    let crossing = pooled(&|row| row.crossing >= CROSSING);
    let straight = pooled(&|row| row.crossing < CROSSING);
    let weakest =
        |verdicts: Vec<Verdict>| verdicts.into_iter().max().unwrap_or(Verdict::NotReproduced);
    let share = 100.0 * CROSSING;
    let against = |method: usize, comparison: &Comparison| {
        let perceptron = average(rows, 0);
        let other = average(rows, method);
        format!(
            "means {} → {} ({}); all sentences {}",
            percent(perceptron),
            percent(other),
            points(other - perceptron),
            comparison.by_signs()
        )
    };
    vec![
        Finding {
            claim: format!(
                "Training over all trees beats projective training where arcs cross (here: treebanks \
                 with ≥ {share:.0} % crossing arcs)"
            ),
            paper: Some(
                "Dutch, 4.9 %: perceptron +1.66, max-margin +3.16, log-linear +3.32".to_owned(),
            ),
            ours: by_method(&crossing),
            verdict: weakest(
                crossing.iter().map(|d| Verdict::more(d.difference, d.sign.p)).collect(),
            ),
        },
        Finding {
            claim: "… and does not hurt where few arcs cross".to_owned(),
            paper: Some("mean of the other five: −0.01, +0.21, +0.39".to_owned()),
            ours: by_method(&straight),
            verdict: weakest(
                straight.iter().map(|d| Verdict::not_less(d.difference, d.sign.p)).collect(),
            ),
        },
        Finding {
            claim: "Max-margin beats the perceptron".to_owned(),
            paper: Some(
                "means 78.98 → 79.82 (+0.84); p ≤ .001 by a sign test over 2,472 sentences"
                    .to_owned(),
            ),
            ours: against(1, &comparisons[0]),
            verdict: Verdict::more(comparisons[0].difference, comparisons[0].sign.p),
        },
        Finding {
            claim: "Log-linear beats the perceptron".to_owned(),
            paper: Some("means 78.98 → 79.70 (+0.72); p ≤ .001".to_owned()),
            ours: against(2, &comparisons[1]),
            verdict: Verdict::more(comparisons[1].difference, comparisons[1].sign.p),
        },
        Finding {
            claim: "Size of these effects: share of better sentences among those that change"
                .to_owned(),
            paper: Some("448 : 343 and 500 : 383, 56.6 % in both".to_owned()),
            ours: format!(
                "max-margin {}, log-linear {} (95 % intervals)",
                interval(&comparisons[0]),
                interval(&comparisons[1])
            ),
            verdict: Verdict::holds(comparisons[..2].iter().all(|comparison| {
                let Interval { low, high } = better_share(comparison);
                (low..=high).contains(&PAPER_SHARE)
            })),
        },
        Finding {
            claim: "Max-margin and log-linear models are equally accurate".to_owned(),
            paper: Some("means 79.82 and 79.70".to_owned()),
            ours: format!(
                "means {} and {}; all sentences {}",
                percent(average(rows, 1)),
                percent(average(rows, 2)),
                comparisons[2].by_signs()
            ),
            verdict: Verdict::same(comparisons[2].sign.p),
        },
    ]
}
