//! Koo, Globerson, Carreras & Collins (2007), tables 2 and 3: three models, each trained over
//! projective and over all trees.

use anyhow::Result;
use tutte_treebank::eval::calibration::wilson;
use tutte_treebank::eval::significance::{Interval, UnitCounts};

use super::{Plan, Written};
use crate::data::Source;
use crate::decoder::Decoder;
use crate::lab::Lab;
use crate::page::{Duel, Finding, Table, Verdict, mean, percent, points};
use crate::trial::Trial;

/// Some of their languages, and some with more crossing arcs.
const TREEBANKS: [&str; 6] = [
    "conllx/danish",
    "conllx/dutch",
    "ud/gothic-proiel",
    "ud/ancient_greek-perseus",
    "conll2007/spanish",
    "ud/turkish-imst",
];

/// Treebanks with a larger share of crossing arcs are those that non-projective models are for.
const CROSSING: f64 = 0.02;

/// A model, and the learners among which dev chooses.
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
    // Both decoders are tried for models trained over all trees, as Koo et al. did.
    let decoders = match projective {
        true => vec![Decoder::Map],
        false => vec![Decoder::Map, Decoder::MapProjective],
    };
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

/// What was best on dev, and how it did on test.
#[derive(Clone, Debug)]
struct Choice {
    setting: String,
    projective: bool,
    dev: f64,
    uas: f64,
    units: Vec<UnitCounts>,
}

/// The best of the learners of a method, their passes and decoders.
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

/// The choices on one treebank: projective and not, by method.
struct Row {
    treebank: Source,
    crossing: f64,
    choices: Vec<[Choice; 2]>,
}

impl Row {
    /// The better on dev of projective and non-projective training.
    fn chosen(&self, method: usize) -> &Choice {
        let [projective, free] = &self.choices[method];
        if free.dev >= projective.dev { free } else { projective }
    }
}

pub(super) fn write(plan: &Plan, lab: &Lab<Trial>) -> Result<Written> {
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
         **Asked:** does it pay to train over all trees, by the matrix-tree theorem, instead of over \
         projective ones; and are max-margin and log-linear models better than the averaged perceptron? \
         **How:** the best tree is the answer (MAP). Training trees are made projective for projective \
         training. On dev are chosen: C, the number of passes, and for models trained over all trees \
         whether to decode projectively. Max-margin models are found by exponentiated gradient, as in the \
         paper; log-linear ones by stochastic gradients with a Gaussian prior of variance C, for the \
         paper's conjugate gradients, which take much longer.\n\n\
         Table 2, UAS on test; p: trained over projective trees, np: over all. *Bold*: better than the \
         other by a sign test over sentences (p < .05). Treebanks are sorted by their crossing arcs.\n\n",
    );
    text += &table_2(&rows);
    text += "\nWhat training over all trees adds, with the sentences that get better and worse by it:\n\n";
    text += &differences(&rows);
    text += "\nTable 3, UAS on test with projective or non-projective training (and decoding) chosen on dev:\n\n";
    text += &table_3(&rows);
    let pooled = |method: usize| -> Vec<UnitCounts> {
        rows.iter().flat_map(|row| row.chosen(method).units.clone()).collect()
    };
    let [perceptron, margin, linear] = [pooled(0), pooled(1), pooled(2)];
    let duels = [
        Duel::new(&perceptron, &margin),
        Duel::new(&perceptron, &linear),
        Duel::new(&margin, &linear),
    ];
    text += &format!(
        "\nOver the {} test sentences of all treebanks, with sentences better and worse (sign test): \
         max-margin against the perceptron {}, log-linear against the perceptron {}, log-linear against \
         max-margin {}.\n",
        perceptron.len(),
        duels[0].by_signs(),
        duels[1].by_signs(),
        duels[2].by_signs()
    );
    Ok(Written { text, findings: findings(&rows, &duels) })
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
            let duel = Duel::new(&projective.units, &free.units);
            let better = |better: bool, uas: f64| match better && duel.sign.p < crate::page::LEVEL {
                true => format!("**{}**", percent(uas)),
                false => percent(uas),
            };
            let gains = duel.sign.better > duel.sign.worse;
            cells.extend([better(!gains, projective.uas), better(gains, free.uas)]);
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
        let duels = row.choices.iter().map(|[p, np]| Duel::new(&p.units, &np.units).by_signs());
        table.row(&[row.treebank.to_string()].into_iter().chain(duels).collect::<Vec<_>>());
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

/// Of the sentences that change, the share that gets better: its 95 % interval.
fn better_share(duel: &Duel) -> Interval {
    let (better, worse) = (duel.sign.better as usize, duel.sign.worse as usize);
    wilson(better, better + worse)
}

fn interval(duel: &Duel) -> String {
    let Interval { low, high } = better_share(duel);
    format!("{:.1} to {:.1} %", 100.0 * low, 100.0 * high)
}

/// The last row of table 3.
fn average(rows: &[Row], method: usize) -> f64 {
    mean(rows.iter().map(|row| row.chosen(method).uas))
}

fn findings(rows: &[Row], duels: &[Duel; 3]) -> Vec<Finding> {
    let pooled = |keep: &dyn Fn(&Row) -> bool| -> Vec<Duel> {
        let kept: Vec<&Row> = rows.iter().filter(|row| keep(row)).collect();
        let units = |method: usize, shape: usize| -> Vec<UnitCounts> {
            kept.iter().flat_map(|row| row.choices[method][shape].units.clone()).collect()
        };
        (0..METHODS.len()).map(|method| Duel::new(&units(method, 0), &units(method, 1))).collect()
    };
    let told = |duels: &[Duel]| {
        let told =
            METHODS.iter().zip(duels).map(|(m, duel)| format!("{} {}", m.name, duel.by_signs()));
        told.collect::<Vec<_>>().join(", ")
    };
    let crossing = pooled(&|row| row.crossing >= CROSSING);
    let straight = pooled(&|row| row.crossing < CROSSING);
    let weakest =
        |verdicts: Vec<Verdict>| verdicts.into_iter().max().unwrap_or(Verdict::NotReproduced);
    let share = 100.0 * CROSSING;
    let against = |method: usize, duel: &Duel| {
        let (perceptron, other) = (average(rows, 0), average(rows, method));
        let (from, to, more) = (percent(perceptron), percent(other), points(other - perceptron));
        format!("means {from} → {to} ({more}); all sentences {}", duel.by_signs())
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
            ours: told(&crossing),
            verdict: weakest(
                crossing.iter().map(|d| Verdict::more(d.difference, d.sign.p)).collect(),
            ),
        },
        Finding {
            claim: "… and does no harm where few do".to_owned(),
            paper: Some("mean of the other five: −0.01, +0.21, +0.39".to_owned()),
            ours: told(&straight),
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
            ours: against(1, &duels[0]),
            verdict: Verdict::more(duels[0].difference, duels[0].sign.p),
        },
        Finding {
            claim: "Log-linear beats the perceptron".to_owned(),
            paper: Some("means 78.98 → 79.70 (+0.72); p ≤ .001".to_owned()),
            ours: against(2, &duels[1]),
            verdict: Verdict::more(duels[1].difference, duels[1].sign.p),
        },
        Finding {
            claim: "The size of these tests: of the sentences that change, how many get better"
                .to_owned(),
            paper: Some("448 : 343 and 500 : 383, so 56.6 % both".to_owned()),
            ours: format!(
                "{} of max-margin, {} of log-linear (95 % intervals)",
                interval(&duels[0]),
                interval(&duels[1])
            ),
            verdict: Verdict::holds(duels[..2].iter().all(|duel| {
                let Interval { low, high } = better_share(duel);
                (low..=high).contains(&PAPER_SHARE)
            })),
        },
        Finding {
            claim: "Max-margin and log-linear models are about as good as each other".to_owned(),
            paper: Some("means 79.82 and 79.70".to_owned()),
            ours: format!(
                "means {} and {}; all sentences {}",
                percent(average(rows, 1)),
                percent(average(rows, 2)),
                duels[2].by_signs()
            ),
            verdict: Verdict::same(duels[2].sign.p),
        },
    ]
}
