//! Table 2 of Smith & Eisner (2008): families of factors by belief propagation, and exact projective inference.

use anyhow::Result;
use tutte_treebank::eval::significance::UnitCounts;

use super::corpus::{Arcs, THRESHOLD};
use super::factors::{Crossings, Families};
use super::model::{Constraint, Inference, Loss, Training};
use super::search;
use super::trial::{Decoder, FactorTrial, Outcome};
use super::{Plan, TREEBANKS, WrittenSection};
use crate::data::Source;
use crate::lab::Lab;
use crate::page::{Comparison, Finding, Table, Verdict, count, percent, points};

/// A model that is trained with belief propagation.
struct Row {
    name: &'static str,
    families: Families,
    inference: Inference,
    loss: Loss,
    /// The row of the paper.
    paper: Option<usize>,
}

const NOCROSS: Families = Families { crossings: Crossings::Arcs, ..Families::NONE };
const GRAND: Families = Families { sequences: false, ..Families::ALL };
const WITHOUT_NOCROSS: Families = Families { crossings: Crossings::None, ..Families::ALL };
const JOINT_NOCROSS: Families = Families { crossings: Crossings::Words, ..Families::NONE };

const fn tree_first(
    name: &'static str,
    families: Families,
    iterations: usize,
    paper: Option<usize>,
) -> Row {
    let loss = if iterations == 1 { Loss::Unrolled } else { Loss::Likelihood };
    Row { name, families, inference: Inference::tree_first(iterations), loss, paper }
}

const fn flooding(name: &'static str, families: Families) -> Row {
    Row { name, families, inference: Inference::PAPER, loss: Loss::Likelihood, paper: None }
}

/// The rows of the table before those of exact inference. The first one is what others are compared with.
const ROWS: [Row; 10] = [
    tree_first("TREE + LINK", Families::NONE, 1, Some(0)),
    tree_first("+ NOCROSS, 5 iterations", NOCROSS, 5, Some(1)),
    tree_first("+ GRAND, 5 iterations", GRAND, 5, Some(2)),
    tree_first("+ CHILDSEQ, 5 iterations", Families::ALL, 5, Some(3)),
    tree_first("+ NOCROSS, 1 iteration", NOCROSS, 1, None),
    tree_first("+ GRAND, 1 iteration", GRAND, 1, None),
    tree_first("+ CHILDSEQ, 1 iteration", Families::ALL, 1, None),
    flooding("TREE + LINK + GRAND + CHILDSEQ, all messages at once", WITHOUT_NOCROSS),
    flooding("+ NOCROSS, all messages at once", Families::ALL),
    flooding("TREE + LINK + joint NOCROSS, all messages at once", JOINT_NOCROSS),
];
const BASE: usize = 0;
/// All families in five iterations, and in one.
const FIVE: usize = 3;
const ONE: usize = 6;
const FLOODING_PAIRS: usize = 8;
const FLOODING_JOINT: usize = 9;

/// Accuracy in the paper by row: the four models, exact inference, hill-climbing.
const PAPER: [[f64; 3]; 6] = [
    [85.5, 87.3, 88.6],
    [86.1, 88.3, 89.1],
    [86.1, 88.6, 89.4],
    [86.5, 88.5, 90.1],
    [86.0, 84.5, 90.2],
    [86.1, 87.6, 90.2],
];

/// Returns a model trained with belief propagation.
fn by_propagation(plan: &Plan, treebank: &str, row: &Row) -> FactorTrial {
    let &Row { families, inference, loss, .. } = row;
    FactorTrial {
        treebank: treebank.to_owned(),
        cut: plan.cut,
        arcs: Arcs::Likely,
        training: Training { families, loss, inference, passes: plan.passes },
        decoders: vec![Decoder::Beliefs(inference)],
    }
}

/// Returns a projective model with exact inference, which also measures search error.
pub(super) fn exact(plan: &Plan, treebank: &str, sequences: bool) -> FactorTrial {
    let families = Families { sequences, grandparents: true, crossings: Crossings::None };
    let mut decoders = vec![Decoder::ExactMbr, Decoder::ExactMap, Decoder::HillClimbing];
    decoders.extend(search::INFERENCES.iter().map(|&it| Decoder::ProjectiveBeliefs(it)));
    FactorTrial {
        treebank: treebank.to_owned(),
        cut: plan.cut,
        arcs: Arcs::Likely,
        training: Training {
            families,
            loss: Loss::Exact,
            inference: Inference::PAPER.with_constraint(Constraint::ProjectiveTree),
            passes: plan.passes,
        },
        decoders,
    }
}

/// Outcomes on one treebank.
struct Column {
    treebank: Source,
    about: Outcome,
    /// Correct heads by sentence, for each row of the table.
    rows: Vec<Vec<UnitCounts>>,
    seconds: Vec<f64>,
    /// Share of crossing arcs in answers.
    crossing: Vec<f64>,
    /// Share of sentences in which belief propagation converged, for rows with several iterations.
    converged: Vec<Option<f64>>,
}

/// Rows of the table after the models: projective minimum risk, projective best tree, hill-climbing.
const EXACT: [&str; 3] = [
    "projective, exact, fewest expected errors",
    "projective, exact, best tree",
    "… and hill-climbing",
];

fn column(plan: &Plan, lab: &Lab<FactorTrial>, treebank: &str) -> Result<Column> {
    let mut rows = Vec::new();
    let mut seconds = Vec::new();
    let mut crossing = Vec::new();
    let mut converged = Vec::new();
    for row in &ROWS {
        let outcome = lab.outcome(&by_propagation(plan, treebank, row))?;
        rows.push(outcome.units(0));
        seconds.push(outcome.seconds);
        crossing.push(outcome.decoded[0].crossing);
        // After one iteration, there is nothing to compare with.
        let is_long = row.inference.iterations > 1;
        converged.push(is_long.then_some(outcome.decoded[0].converged));
    }
    let about = lab.outcome(&exact(plan, treebank, true))?;
    for decoder in 0..EXACT.len() {
        rows.push(about.units(decoder));
        seconds.push(about.seconds);
        crossing.push(about.decoded[decoder].crossing);
    }
    Ok(Column { treebank: Source::treebank(treebank), about, rows, seconds, crossing, converged })
}

fn uas(units: &[UnitCounts]) -> f64 {
    let correct: u32 = units.iter().map(|unit| unit.correct).sum();
    let gold: u32 = units.iter().map(|unit| unit.gold).sum();
    f64::from(correct) / f64::from(gold.max(1))
}

const EXACT_MBR: usize = ROWS.len();
const EXACT_MAP: usize = EXACT_MBR + 1;
const CLIMBED: usize = EXACT_MBR + 2;

pub(super) fn write(plan: &Plan, lab: &Lab<FactorTrial>) -> Result<WrittenSection> {
    let mut trials = Vec::new();
    for treebank in TREEBANKS {
        trials.extend(ROWS.iter().map(|row| by_propagation(plan, treebank, row)));
        trials.push(exact(plan, treebank, true));
    }
    lab.run(&trials)?;
    let columns: Vec<Column> =
        TREEBANKS.iter().map(|it| column(plan, lab, it)).collect::<Result<_>>()?;

    let mut text = format!(
        "**Question:** do factors help a non-projective parser, and is loopy belief propagation as good as exact projective \
         inference? **Method:** models of arcs alone, trained on the other half of the training sentences, choose \
         candidate arcs for all models: those with at least {THRESHOLD} times the marginal of the best head, and those of \
         the best trees. If they lack a gold arc, the model learns from the tree of candidates with the most gold heads. \
         The paper used all arcs. *5 iterations*: gradients from beliefs, as in the paper; TREE sends first in each \
         iteration. *1 iteration*: as in the parser, TREE first, and the exact gradient (unrolled). *All messages at once*: \
         the order of the paper, five iterations, gradients from beliefs. NOCROSS is a PAIR of each two arcs that cross, \
         with the paper's features. *Joint NOCROSS* is the factor of the paper: all arcs into two words, which must also \
         have one head each. The exact models have LINK, GRAND and CHILDSEQ, summed by the O(n⁴) chart, on projectivised \
         trees.\n\n"
    );
    text += &about(&columns);
    text += "\nUAS on dev. In brackets, the change from TREE + LINK, and p. *Last columns*: the paper, on other data.\n\n";
    text += &accuracies(&columns);
    text += "\nCrossing arcs in the answers, in percent of words; sentences in which belief propagation converged, in percent; and \
             processor time of the training in seconds:\n\n";
    text += &costs(&columns);
    Ok(WrittenSection { text, findings: findings(&columns) })
}

fn about(columns: &[Column]) -> String {
    let mut table = Table::new(&[
        "",
        "train sentences",
        "words",
        "% crossing arcs",
        "dev words",
        "candidate heads per word",
        "gold arcs among them, %",
    ]);
    for Column { treebank, about, .. } in columns {
        table.row(&[
            treebank.to_string(),
            count(about.sentences),
            count(about.words),
            percent(about.crossing),
            count(about.lengths.iter().sum::<u32>() as usize),
            format!("{:.1}", about.candidates[0]),
            percent(about.candidates[1]),
        ]);
    }
    table.text().to_owned()
}

/// Returns the names of all rows.
fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.name).chain(EXACT)
}

fn accuracies(columns: &[Column]) -> String {
    let mut header = vec![String::new()];
    header.extend(columns.iter().map(|column| column.treebank.to_string()));
    header.extend(["*Danish*", "*Dutch*", "*English*"].map(str::to_owned));
    let mut table = Table::new(&header);
    for (at, name) in names().enumerate() {
        let mut cells = vec![name.to_owned()];
        for column in columns {
            let units = &column.rows[at];
            let value = percent(uas(units));
            cells.push(if at == BASE {
                value
            } else {
                let comparison = Comparison::new(&column.rows[BASE], units);
                format!("{value} ({})", comparison.by_permutation().replace(['(', ')'], ""))
            });
        }
        let paper = match at {
            EXACT_MBR => Some(4),
            CLIMBED => Some(5),
            _ => ROWS.get(at).and_then(|row| row.paper),
        };
        let paper = paper.map(|row| PAPER[row]);
        let paper = paper.map(|row| row.map(|value| format!("*{value:.1}*")));
        cells.extend(paper.unwrap_or_default());
        table.row(&cells);
    }
    table.text().to_owned()
}

fn costs(columns: &[Column]) -> String {
    let mut header = vec![String::new()];
    for column in columns {
        let name = &column.treebank;
        header.extend([format!("{name}, crossing"), "converged".to_owned(), "seconds".to_owned()]);
    }
    let mut table = Table::new(&header);
    for (at, name) in names().enumerate() {
        let mut cells = vec![name.to_owned()];
        for column in columns {
            let converged = column
                .converged
                .get(at)
                .copied()
                .flatten()
                .map(|share| format!("{:.0}", 100.0 * share));
            cells.extend([
                percent(column.crossing[at]),
                converged.unwrap_or_default(),
                format!("{:.1}", column.seconds[at]),
            ]);
        }
        table.row(&cells);
    }
    let mut cells = vec!["gold, training trees".to_owned()];
    columns.iter().for_each(|column| {
        cells.extend([percent(column.about.crossing), String::new(), String::new()]);
    });
    table.row(&cells);
    table.text().to_owned()
}

/// Returns the sentences of all treebanks.
fn pooled(columns: &[Column], row: usize) -> Vec<UnitCounts> {
    columns.iter().flat_map(|column| column.rows[row].iter().copied()).collect()
}

/// Compares two rows on each treebank and on all.
fn compared(columns: &[Column], first: usize, second: usize) -> (String, Comparison) {
    let each = columns
        .iter()
        .map(|column| points(uas(&column.rows[second]) - uas(&column.rows[first])).clone());
    let all = Comparison::new(&pooled(columns, first), &pooled(columns, second));
    let text =
        format!("{}; together {}", each.collect::<Vec<_>>().join(", "), all.by_permutation());
    (text, all)
}

fn paper_difference(first: usize, second: usize) -> String {
    let difference = |at: usize| format!("{:+.1}", PAPER[second][at] - PAPER[first][at]);
    [0, 1, 2].map(difference).join(", ").replace('-', "−")
}

fn findings(columns: &[Column]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (model, claim) in [
        (1, "NOCROSS makes TREE + LINK more accurate (Danish, Dutch, English)"),
        (2, "GRAND and NOCROSS do"),
        (3, "All three families do, in five iterations of belief propagation"),
    ] {
        let (ours, all) = compared(columns, BASE, model);
        findings.push(Finding {
            claim: claim.to_owned(),
            paper: Some(paper_difference(0, model)),
            ours,
            verdict: Verdict::more(all.difference, all.permutation.p),
        });
    }
    let (ours, all) = compared(columns, BASE, ONE);
    findings.push(Finding {
        claim: "They do in one iteration, too".to_owned(),
        paper: None,
        ours,
        verdict: Verdict::more(all.difference, all.permutation.p),
    });
    for (row, claim) in [
        (FLOODING_PAIRS, "All messages at once, in five iterations, are not worse than TREE first"),
        (FLOODING_JOINT, "… nor is the paper's NOCROSS beside TREE + LINK (from TREE + LINK)"),
    ] {
        let base = if row == FLOODING_JOINT { BASE } else { FIVE };
        let (ours, all) = compared(columns, base, row);
        findings.push(Finding {
            claim: claim.to_owned(),
            paper: (row == FLOODING_JOINT).then(|| paper_difference(0, 1)),
            ours,
            verdict: Verdict::not_less(all.difference, all.permutation.p),
        });
    }
    // The treebank with the most crossing arcs, and the one with the fewest.
    let order = |a: &&Column, b: &&Column| a.about.crossing.total_cmp(&b.about.crossing);
    let Some((most, least)) = columns.iter().max_by(order).zip(columns.iter().min_by(order)) else {
        return findings;
    };
    let on = |column: &Column, first: usize, second: usize| {
        Comparison::new(&column.rows[first], &column.rows[second])
    };
    let crossing = on(most, EXACT_MBR, FIVE);
    findings.push(Finding {
        claim: format!(
            "Where many arcs cross ({}), belief propagation over all trees beats exact projective inference",
            most.treebank
        ),
        paper: Some(format!("Dutch {:+.1}", PAPER[3][1] - PAPER[4][1])),
        ours: crossing.by_permutation(),
        verdict: Verdict::more(crossing.difference, crossing.permutation.p),
    });
    let straight = on(least, EXACT_MBR, FIVE);
    findings.push(Finding {
        claim: format!("Where few do ({}), they are equally accurate", least.treebank),
        paper: Some("English −0.1".to_owned()),
        ours: straight.by_permutation(),
        verdict: Verdict::same(straight.permutation.p),
    });
    let climbed = on(most, EXACT_MAP, CLIMBED);
    findings.push(Finding {
        claim: format!(
            "Hill-climbing helps the projective parser where many arcs cross ({})",
            most.treebank
        ),
        paper: Some("Dutch +3.1".to_owned()),
        ours: climbed.by_permutation(),
        verdict: Verdict::more(climbed.difference, climbed.permutation.p),
    });
    let rest = on(most, CLIMBED, FIVE);
    findings.push(Finding {
        claim: "… and stays below belief propagation".to_owned(),
        paper: Some("Dutch −0.9".to_owned()),
        ours: points(-rest.difference)
            + &format!(" ({})", crate::page::p_value(rest.permutation.p)),
        verdict: Verdict::more(rest.difference, rest.permutation.p),
    });
    findings
}
