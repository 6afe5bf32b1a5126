//! Calibration of each learner, and the choice of the default learner.

use anyhow::Result;
use tutte::Optimizer;
use tutte_treebank::eval::significance::UnitCounts;

use super::{Plan, WrittenSection};
use crate::data::{ENGLISH, Source};
use crate::decoder::{CalibrationSummary, Decoder};
use crate::lab::Lab;
use crate::page::{Comparison, LEVEL, Table, decimals, mean, percent};
use crate::trial::{Outcome, Templates, Trial};

const TREEBANKS: [&str; 3] = [ENGLISH, "ud/gothic-proiel", "ud/turkish-imst"];

/// A learner, the learner it starts from, and its name for tables.
struct Candidate {
    /// Runs it with the templates of [`Templates::Richer`] too, which take longer.
    has_richer_trial: bool,
    learner: &'static str,
    after: Option<&'static str>,
    name: &'static str,
}

const fn candidate(name: &'static str, learner: &'static str) -> Candidate {
    Candidate { has_richer_trial: false, learner, after: None, name }
}

const fn contender(name: &'static str, learner: &'static str) -> Candidate {
    Candidate { has_richer_trial: true, ..candidate(name, learner) }
}

static CANDIDATES: [Candidate; 16] = [
    contender("perceptron", "perceptron"),
    candidate("PA", "pa"),
    candidate("PA-I, C .05", "pa-i:c=0.05"),
    candidate("PA-II, C .05", "pa-ii:c=0.05"),
    candidate("MIRA, 1 best", "mira:k=1"),
    contender("MIRA, 5 best", "mira:k=5"),
    candidate("max-margin, EG, C .03", "eg-max-margin:c=0.03"),
    candidate("log-linear, EG, C 1", "eg-log-linear:c=1"),
    candidate("log-linear, L-BFGS, C 1", "lbfgs:c=1"),
    candidate("log-linear, SGD", "sgd:rate=0.02,dropout=0"),
    contender("log-linear, SGD, dropout", "sgd:rate=0.02,dropout=0.3"),
    contender("log-linear, AdaGrad", "adagrad:dropout=0"),
    contender("log-linear, AdaGrad, dropout", "adagrad"),
    candidate("softmax-margin, AdaGrad", "adagrad:objective=softmax-margin(1),dropout=0"),
    contender("softmax-margin, AdaGrad, dropout", "adagrad:objective=softmax-margin(1)"),
    Candidate {
        has_richer_trial: false,
        learner: "adagrad:objective=risk(1..4)",
        after: Some("adagrad"),
        name: "risk, annealed, AdaGrad, dropout",
    },
];

const SETS: [(Templates, &str); 2] =
    [(Templates::McDonald, "McDonald's templates"), (Templates::Richer, "tutte's own templates")];

fn trial(plan: &Plan, treebank: &str, candidate: &Candidate, templates: Templates) -> Trial {
    let plain = plan.trial(Source::treebank(treebank), candidate.learner);
    Trial {
        // The first learner makes half as many passes.
        after: candidate.after.map(|first| (first.to_owned(), plan.passes / 2)),
        templates,
        decoders: vec![Decoder::Mbr],
        should_test_calibration: true,
        ..plain
    }
}

/// Returns the candidates that are run with these templates.
fn candidates(templates: Templates) -> impl Iterator<Item = &'static Candidate> {
    CANDIDATES
        .iter()
        .filter(move |candidate| candidate.has_richer_trial || templates != Templates::Richer)
}

pub(super) fn trials(plan: &Plan) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (templates, _) in SETS {
        for candidate in candidates(templates) {
            trials.extend(TREEBANKS.map(|treebank| trial(plan, treebank, candidate, templates)));
        }
    }
    trials
}

/// A candidate on all treebanks.
struct Row {
    name: String,
    is_default: bool,
    outcomes: Vec<Outcome>,
}

impl Row {
    fn calibration(&self) -> impl Iterator<Item = &[CalibrationSummary; 2]> {
        self.outcomes.iter().filter_map(|outcome| outcome.calibration.as_ref())
    }

    fn uas(&self) -> f64 {
        mean(self.outcomes.iter().map(|outcome| outcome.uas(0)))
    }

    fn ece(&self) -> f64 {
        mean(self.calibration().map(|[plain, _]| plain.ece))
    }

    fn units(&self) -> Vec<UnitCounts> {
        self.outcomes.iter().flat_map(|outcome| outcome.units(0)).collect()
    }
}

pub(super) fn write(plan: &Plan, lab: &Lab<Trial>) -> Result<WrittenSection> {
    let mut text = format!(
        "## Calibration of all learners, and the default\n\n\
         **Question:** which learner gives the most accurate trees *and* calibrated probabilities? This \
         comparison decides the default of `tutte train`. The rule: with tutte's own templates, which are the \
         default too, take the learners that are not significantly less accurate than the best one, and \
         choose the best calibrated of them.\n\n\
         **Method:** non-projective trees, MBR decoding; {}. Calibration compares the marginal probability of \
         each head of the MBR tree with its correctness:\n\n\
         - *ECE*: expected calibration error in 15 bins of equal mass; smaller is better. *Brier*: Brier \
         score; smaller is better.\n\
         - *γ*: factor of all scores that makes the gold trees of dev most probable. If it is far from 1, the \
         scale of the learner's scores is arbitrary. *ECE with γ*, *Brier with γ*: the same after scaling.\n\
         - *time*: time of all passes, relative to AdaGrad without dropout.\n\n\
         UAS, ECE and Brier are means over the treebanks. The second table of each pair has one column per \
         treebank.\n",
        TREEBANKS.map(|treebank| Source::treebank(treebank).to_string()).join(", ")
    );
    for (templates, name) in SETS {
        let rows = rows(plan, lab, templates)?;
        text += &format!("\n### With {name}\n\n");
        text += &means(&rows);
        text += "\nUAS · ECE · Brier:\n\n";
        text += &each(&rows);
        text += &note_on_equal_models(&rows);
        text += "\n";
        text += &decision(&rows);
    }
    Ok(WrittenSection { text, findings: Vec::new() })
}

fn rows(plan: &Plan, lab: &Lab<Trial>, templates: Templates) -> Result<Vec<Row>> {
    let row = |candidate: &Candidate| {
        let outcome = |treebank| lab.outcome(&trial(plan, treebank, candidate, templates));
        let is_default = candidate.after.is_none()
            && candidate.learner.parse::<Optimizer>()? == Optimizer::default();
        let outcomes = TREEBANKS.map(outcome).into_iter().collect::<Result<_>>()?;
        Ok(Row { name: candidate.name.to_owned(), is_default, outcomes })
    };
    candidates(templates).map(row).collect()
}

/// Returns the name, in bold for the default.
fn bold_if_default(row: &Row) -> String {
    if row.is_default { format!("**{}** (default)", row.name) } else { row.name.clone() }
}

fn means(rows: &[Row]) -> String {
    let columns = ["", "UAS", "ECE", "Brier", "γ", "ECE with γ", "Brier with γ", "time"];
    let mut table = Table::new(&columns);
    let seconds = |row: &Row| mean(row.outcomes.iter().map(Outcome::total_seconds));
    let unit = rows.iter().find(|row| row.name == "log-linear, AdaGrad").map_or(1.0, seconds);
    for row in rows {
        let of =
            |value: &dyn Fn(&[CalibrationSummary; 2]) -> f64| mean(row.calibration().map(value));
        // γ is a factor, so its mean is geometric.
        let gamma = of(&|both| both[1].gamma.ln()).exp();
        table.row(&[
            bold_if_default(row),
            percent(row.uas()),
            decimals(row.ece()),
            decimals(of(&|both| both[0].brier)),
            format!("{gamma:.2}"),
            decimals(of(&|both| both[1].ece)),
            decimals(of(&|both| both[1].brier)),
            format!("{:.1}", seconds(row) / unit),
        ]);
    }
    table.text().to_owned()
}

fn each(rows: &[Row]) -> String {
    let names = TREEBANKS.map(|treebank| Source::treebank(treebank).to_string());
    let mut table = Table::new(&[String::new()].into_iter().chain(names).collect::<Vec<_>>());
    for row in rows {
        let cells = row.outcomes.iter().map(|outcome| match &outcome.calibration {
            Some([plain, _]) => {
                let uas = percent(outcome.uas(0));
                format!("{uas} · {} · {}", decimals(plain.ece), decimals(plain.brier))
            }
            None => percent(outcome.uas(0)),
        });
        table.row(&[bold_if_default(row)].into_iter().chain(cells).collect::<Vec<_>>());
    }
    table.text().to_owned()
}

/// Returns a note if PA and PA-I have learnt the same model, as they do if no step is larger than C.
fn note_on_equal_models(rows: &[Row]) -> String {
    let find = |name: &str| rows.iter().find(|row| row.name == name);
    let [Some(free), Some(bound)] = [find("PA"), find("PA-I, C .05")] else { return String::new() };
    let decoded = |row: &Row| row.outcomes.iter().map(|o| o.decoded.clone()).collect::<Vec<_>>();
    if decoded(free) == decoded(bound) {
        "\nPA and PA-I have learnt the same model: arcs have many features, so no step is as large as C.\n"
            .to_owned()
    } else {
        String::new()
    }
}

/// Applies the rule: take the learners that are not significantly less accurate than the most accurate one, and
/// choose the best calibrated of them.
fn decision(rows: &[Row]) -> String {
    let Some(best) = rows.iter().max_by(|a, b| a.uas().total_cmp(&b.uas())) else {
        return String::new();
    };
    let units = best.units();
    let is_accurate = |row: &&Row| {
        let comparison = Comparison::new(&row.units(), &units);
        comparison.difference <= 0.0 || comparison.permutation.p >= LEVEL
    };
    let mut candidates: Vec<&Row> = rows.iter().filter(is_accurate).collect();
    candidates.sort_by(|a, b| a.ece().total_cmp(&b.ece()));
    let names: Vec<String> =
        candidates.iter().map(|row| format!("{} ({})", row.name, decimals(row.ece()))).collect();
    let mut text = format!(
        "The most accurate learner is {} ({}). These are not significantly less accurate (permutation test \
         over the sentences of all three treebanks; in brackets their ECE, smallest first): {}. ",
        best.name,
        percent(best.uas()),
        names.join(", ")
    );
    let default = rows.iter().find(|row| row.is_default);
    let chosen = candidates.first().copied().unwrap_or(best);
    text += &match default {
        Some(_) if chosen.is_default => {
            format!("So the rule chooses {}, which is the default.\n", chosen.name)
        }
        Some(default) => {
            let comparison = Comparison::new(&default.units(), &chosen.units());
            format!(
                "The rule chooses {}. Compared with the default, {}, it has {} UAS and an ECE of {} instead \
                 of {}.\n",
                chosen.name,
                default.name,
                comparison.by_permutation(),
                decimals(chosen.ece()),
                decimals(default.ece())
            )
        }
        None => format!("So the rule chooses {}; the default is not among these.\n", chosen.name),
    };
    text
}
