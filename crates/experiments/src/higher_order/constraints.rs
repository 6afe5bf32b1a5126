//! Table 3 of Smith & Eisner (2008): weaker hard constraints than TREE, in parsing and in training.

use anyhow::Result;
use tutte_treebank::eval::significance::UnitCounts;

use super::corpus::Arcs;
use super::factors::Families;
use super::model::{Constraint, Inference, Loss, Training};
use super::trial::{Decoder, FactorTrial, Outcome};
use super::{Plan, TREEBANKS, WrittenSection};
use crate::data::Source;
use crate::lab::Lab;
use crate::page::{Comparison, Finding, Table, Verdict, percent};

/// The constraints, and accuracies in the paper: parsing a model trained with TREE; trained with the constraint, too.
const ROWS: [(Constraint, [f64; 3], Option<[f64; 3]>); 6] = [
    (Constraint::NotTwo, [81.8, 83.3, 87.5], Some([76.7, 75.0, 66.4])),
    (Constraint::AtMostOne, [85.4, 87.3, 88.5], Some([82.2, 86.3, 84.6])),
    (Constraint::ExactlyOne, [85.7, 87.0, 88.6], Some([85.0, 86.7, 86.0])),
    (Constraint::NoTwoCycles, [85.0, 86.2, 88.5], Some([85.2, 86.7, 86.2])),
    (Constraint::Tree, [85.5, 87.3, 88.6], Some([85.5, 87.3, 88.6])),
    (Constraint::ProjectiveTree, [85.8, 83.9, 88.8], None),
];
/// Index of TREE.
const TREE: usize = 4;
/// Indices of the constraints below TREE.
const WEAKER: std::ops::Range<usize> = 0..TREE;

fn inference(constraint: Constraint) -> Inference {
    Inference::PAPER.with_constraint(constraint)
}

/// Returns a first-order model that was trained with a constraint.
fn trial(plan: &Plan, treebank: &str, constraint: Constraint) -> FactorTrial {
    let decoders = match constraint {
        Constraint::Tree => ROWS.map(|row| Decoder::Beliefs(inference(row.0))).to_vec(),
        _ => vec![Decoder::Beliefs(inference(constraint))],
    };
    FactorTrial {
        treebank: treebank.to_owned(),
        cut: plan.small,
        arcs: Arcs::All,
        training: Training {
            families: Families::NONE,
            loss: Loss::Likelihood,
            inference: inference(constraint),
            passes: plan.passes,
        },
        decoders,
    }
}

/// Counts on one treebank, by constraint.
struct Column {
    treebank: Source,
    parsed: Vec<Vec<UnitCounts>>,
    trained: Vec<Option<Vec<UnitCounts>>>,
    seconds: Vec<Option<f64>>,
}

impl Column {
    fn of(plan: &Plan, lab: &Lab<FactorTrial>, treebank: &str) -> Result<Self> {
        let base = lab.outcome(&trial(plan, treebank, Constraint::Tree))?;
        let mut trained = Vec::new();
        let mut seconds = Vec::new();
        for (at, (constraint, _, paper)) in ROWS.into_iter().enumerate() {
            let outcome: Option<Outcome> =
                paper.map(|_| lab.outcome(&trial(plan, treebank, constraint))).transpose()?;
            let decoder = if constraint == Constraint::Tree { at } else { 0 };
            trained.push(outcome.as_ref().map(|outcome| outcome.units(decoder)));
            seconds.push(outcome.map(|outcome| outcome.seconds));
        }
        Ok(Self {
            treebank: Source::treebank(treebank),
            parsed: (0..ROWS.len()).map(|at| base.units(at)).collect(),
            trained,
            seconds,
        })
    }
}

fn uas(units: &[UnitCounts]) -> f64 {
    let correct: u32 = units.iter().map(|unit| unit.correct).sum();
    f64::from(correct) / f64::from(units.iter().map(|unit| unit.gold).sum::<u32>().max(1))
}

pub(super) fn write(plan: &Plan, lab: &Lab<FactorTrial>) -> Result<WrittenSection> {
    let mut trials = Vec::new();
    for treebank in TREEBANKS {
        let constraints = ROWS.into_iter().filter(|row| row.2.is_some());
        trials.extend(constraints.map(|row| trial(plan, treebank, row.0)));
    }
    lab.run(&trials)?;
    let columns: Vec<Column> =
        TREEBANKS.iter().map(|it| Column::of(plan, lab, it)).collect::<Result<_>>()?;
    let mut text = String::from(
        "**Question:** how much of TREE do parsing and training need? **Method:** LINK and a hard constraint, all arcs, five \
         iterations with all messages at once, gradients from beliefs. Whatever the constraint, the answer is the tree with \
         the largest sum of beliefs; with PTREE, the projective tree.\n\n\
         UAS on dev of models trained with TREE and parsed with the constraint; in brackets, trained with the constraint, \
         too. *Last columns*: the paper.\n\n",
    );
    let mut header = vec![String::new()];
    header.extend(columns.iter().map(|column| column.treebank.to_string()));
    header.extend(["*Danish*", "*Dutch*", "*English*"].map(str::to_owned));
    header.push("seconds of training".to_owned());
    let mut table = Table::new(&header);
    for (at, (constraint, parsed, trained)) in ROWS.into_iter().enumerate() {
        let mut cells = vec![constraint.name().to_owned()];
        let both = |parsed: String, trained: Option<String>| match trained {
            Some(trained) => format!("{parsed} ({trained})"),
            None => parsed,
        };
        for column in &columns {
            let trained = column.trained[at].as_ref().map(|units| percent(uas(units)));
            cells.push(both(percent(uas(&column.parsed[at])), trained));
        }
        for (paper, value) in parsed.iter().enumerate() {
            let trained = trained.map(|row| format!("{:.1}", row[paper]));
            cells.push(format!("*{}*", both(format!("{value:.1}"), trained)));
        }
        let seconds: Option<f64> = columns.iter().map(|column| column.seconds[at]).sum();
        cells.push(seconds.map_or("–".to_owned(), |seconds| format!("{seconds:.0}")));
        table.row(&cells);
    }
    text += table.text();
    Ok(WrittenSection { text, findings: findings(&columns) })
}

fn findings(columns: &[Column]) -> Vec<Finding> {
    let parsed = |at: usize| -> Vec<UnitCounts> {
        columns.iter().flat_map(|column| column.parsed[at].clone()).collect()
    };
    let trained = |at: usize| -> Vec<UnitCounts> {
        columns.iter().flat_map(|column| column.trained[at].clone().unwrap_or_default()).collect()
    };
    let named = |at: usize, comparison: &Comparison| {
        format!("{} {}", ROWS[at].0.name(), comparison.by_permutation())
    };
    // The loss of each weaker constraint: in parsing, and in training as well.
    let in_parsing: Vec<Comparison> =
        WEAKER.map(|at| Comparison::new(&parsed(at), &parsed(TREE))).collect();
    let in_training: Vec<Comparison> =
        WEAKER.map(|at| Comparison::new(&trained(at), &trained(TREE))).collect();
    let listed = |comparisons: &[Comparison]| {
        let each = WEAKER.zip(comparisons).map(|(at, comparison)| named(at, comparison));
        each.collect::<Vec<_>>().join(", ")
    };
    let weakest = |comparisons: &[Comparison]| {
        let verdicts = comparisons.iter().map(|it| Verdict::more(it.difference, it.permutation.p));
        verdicts.max().unwrap_or(Verdict::NotReproduced)
    };
    let joined = Comparison::new(&parsed(0), &parsed(1));
    let larger =
        WEAKER.filter(|&at| in_training[at].difference > in_parsing[at].difference).count();
    let projective = columns.iter().map(|column| {
        let Column { treebank, parsed, .. } = column;
        let comparison = Comparison::new(&parsed[TREE], &parsed[TREE + 1]);
        format!("{treebank} {}", comparison.by_permutation())
    });
    let dutch = Comparison::new(&columns[1].parsed[TREE + 1], &columns[1].parsed[TREE]);
    vec![
        Finding {
            claim: "Training with a weaker constraint than TREE hurts (TREE minus the constraint, all treebanks together)"
                .to_owned(),
            paper: Some("NOT2 8.8, 12.3, 22.2; EXACTLY1 0.5, 0.6, 2.6".to_owned()),
            ours: listed(&in_training),
            verdict: weakest(&in_training),
        },
        Finding {
            claim: "In parsing alone, one head per word is nearly enough (TREE minus EXACTLY1)".to_owned(),
            paper: Some("−0.2, +0.3, 0.0".to_owned()),
            ours: in_parsing[2].by_permutation(),
            verdict: Verdict::same(in_parsing[2].permutation.p),
        },
        Finding {
            claim: "A weak constraint costs more in training than in parsing".to_owned(),
            paper: Some("10 of 12 cases".to_owned()),
            ours: format!("in {larger} of {} constraints", WEAKER.len()),
            verdict: Verdict::mostly(larger, WEAKER.len()),
        },
        Finding {
            claim: "One joint factor is better than many that say the same (ATMOST1 beside NOT2)".to_owned(),
            paper: Some("+3.6, +4.0, +1.0".to_owned()),
            ours: joined.by_permutation(),
            verdict: Verdict::more(joined.difference, joined.permutation.p),
        },
        Finding {
            claim: "Parsing with PTREE hurts Dutch, where many arcs cross".to_owned(),
            paper: Some("−3.4 (Danish +0.3, English +0.2)".to_owned()),
            ours: projective.collect::<Vec<_>>().join(", "),
            verdict: Verdict::more(dutch.difference, dutch.permutation.p),
        },
    ]
}
