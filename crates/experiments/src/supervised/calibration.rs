//! How far the probabilities of each learner can be trusted, and which learner is the default.

use anyhow::Result;
use tutte::Optimizer;
use tutte_treebank::eval::significance::UnitCounts;

use super::{Plan, Written};
use crate::data::{ENGLISH, Source};
use crate::decoder::{Decoder, Judged};
use crate::lab::Lab;
use crate::page::{Duel, LEVEL, Table, decimals, mean, percent};
use crate::trial::{Outcome, Templates, Trial};

const TREEBANKS: [&str; 3] = [ENGLISH, "ud/gothic-proiel", "ud/turkish-imst"];

/// A learner, what it starts from, and its name for tables.
struct Candidate {
    /// Whether it is also tried with the templates of [`Templates::Richer`], which take longer.
    richer: bool,
    learner: &'static str,
    after: Option<&'static str>,
    name: &'static str,
}

const fn candidate(name: &'static str, learner: &'static str) -> Candidate {
    Candidate { richer: false, learner, after: None, name }
}

const fn contender(name: &'static str, learner: &'static str) -> Candidate {
    Candidate { richer: true, ..candidate(name, learner) }
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
        richer: false,
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
        // Half of the passes to start from.
        after: candidate.after.map(|first| (first.to_owned(), plan.passes / 2)),
        templates,
        decoders: vec![Decoder::Mbr],
        judged: true,
        ..plain
    }
}

/// The candidates that are tried with some templates.
fn candidates(templates: Templates) -> impl Iterator<Item = &'static Candidate> {
    CANDIDATES.iter().filter(move |candidate| candidate.richer || templates != Templates::Richer)
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
    default: bool,
    outcomes: Vec<Outcome>,
}

impl Row {
    fn judged(&self) -> impl Iterator<Item = &[Judged; 2]> {
        self.outcomes.iter().filter_map(|outcome| outcome.judged.as_ref())
    }

    fn uas(&self) -> f64 {
        mean(self.outcomes.iter().map(|outcome| outcome.uas(0)))
    }

    fn ece(&self) -> f64 {
        mean(self.judged().map(|[plain, _]| plain.ece))
    }

    fn units(&self) -> Vec<UnitCounts> {
        self.outcomes.iter().flat_map(|outcome| outcome.units(0)).collect()
    }
}

pub(super) fn write(plan: &Plan, lab: &Lab<Trial>) -> Result<Written> {
    let mut text = format!(
        "## Calibration of all learners, and the default\n\n\
         **Asked:** which learner gives the most accurate trees *and* probabilities that mean what they \
         say? This is the comparison that decides the default of `tutte train`: with \
         tutte's own templates, which are its default too, of the learners that are not significantly less \
         accurate than the best, the best calibrated one. **How:** non-projective, \
         MBR; {}. For each head of the MBR tree, its marginal probability against whether it is right: the \
         expected calibration error (ECE, 15 bins of equal mass) and the Brier score, both better the \
         smaller. *γ*: what all scores are to be multiplied with for the gold trees of dev to be most \
         probable; far from 1, the learner's scores have no scale of their own. *ECE with γ*: what remains \
         of the error then. *Time*: of all passes, AdaGrad without dropout = 1. UAS, ECE and Brier are means \
         over the treebanks; the second table of each pair has them one by one.\n",
        TREEBANKS.map(|treebank| Source::treebank(treebank).to_string()).join(", ")
    );
    for (templates, name) in SETS {
        let rows = rows(plan, lab, templates)?;
        text += &format!("\n### With {name}\n\n");
        text += &means(&rows);
        text += "\nUAS · ECE · Brier:\n\n";
        text += &each(&rows);
        text += &same(&rows);
        text += "\n";
        text += &decision(&rows);
    }
    Ok(Written { text, findings: Vec::new() })
}

fn rows(plan: &Plan, lab: &Lab<Trial>, templates: Templates) -> Result<Vec<Row>> {
    let row = |candidate: &Candidate| {
        let outcome = |treebank| lab.outcome(&trial(plan, treebank, candidate, templates));
        let default = candidate.after.is_none()
            && candidate.learner.parse::<Optimizer>()? == Optimizer::default();
        let outcomes = TREEBANKS.map(outcome).into_iter().collect::<Result<_>>()?;
        Ok(Row { name: candidate.name.to_owned(), default, outcomes })
    };
    candidates(templates).map(row).collect()
}

/// The name, in bold for the default.
fn marked(row: &Row) -> String {
    if row.default { format!("**{}** (default)", row.name) } else { row.name.clone() }
}

fn means(rows: &[Row]) -> String {
    let columns = ["", "UAS", "ECE", "Brier", "γ", "ECE with γ", "Brier with γ", "time"];
    let mut table = Table::new(&columns);
    let seconds = |row: &Row| mean(row.outcomes.iter().map(Outcome::total_seconds));
    let unit = rows.iter().find(|row| row.name == "log-linear, AdaGrad").map_or(1.0, seconds);
    for row in rows {
        let of = |value: &dyn Fn(&[Judged; 2]) -> f64| mean(row.judged().map(value));
        // γ is a factor: its mean is geometric.
        let gamma = of(&|judged| judged[1].gamma.ln()).exp();
        table.row(&[
            marked(row),
            percent(row.uas()),
            decimals(row.ece()),
            decimals(of(&|judged| judged[0].brier)),
            format!("{gamma:.2}"),
            decimals(of(&|judged| judged[1].ece)),
            decimals(of(&|judged| judged[1].brier)),
            format!("{:.1}", seconds(row) / unit),
        ]);
    }
    table.text().to_owned()
}

fn each(rows: &[Row]) -> String {
    let names = TREEBANKS.map(|treebank| Source::treebank(treebank).to_string());
    let mut table = Table::new(&[String::new()].into_iter().chain(names).collect::<Vec<_>>());
    for row in rows {
        let cells = row.outcomes.iter().map(|outcome| match &outcome.judged {
            Some([plain, _]) => {
                let (ece, brier) = (decimals(plain.ece), decimals(plain.brier));
                format!("{} · {ece} · {brier}", percent(outcome.uas(0)))
            }
            None => percent(outcome.uas(0)),
        });
        table.row(&[marked(row)].into_iter().chain(cells).collect::<Vec<_>>());
    }
    table.text().to_owned()
}

/// PA and PA-I are the same learner while no step is larger than C.
fn same(rows: &[Row]) -> String {
    let find = |name: &str| rows.iter().find(|row| row.name == name);
    let [Some(free), Some(bound)] = [find("PA"), find("PA-I, C .05")] else { return String::new() };
    let decoded = |row: &Row| row.outcomes.iter().map(|o| o.decoded.clone()).collect::<Vec<_>>();
    match decoded(free) == decoded(bound) {
        true => "\nPA and PA-I have learnt the same: with so many features an arc, no step is as large as C.\n",
        false => "",
    }
    .to_owned()
}

/// The rule: of the learners that are not significantly less accurate than the most accurate one,
/// the best calibrated.
fn decision(rows: &[Row]) -> String {
    let Some(best) = rows.iter().max_by(|a, b| a.uas().total_cmp(&b.uas())) else {
        return String::new();
    };
    let units = best.units();
    let accurate = |row: &&Row| {
        let duel = Duel::new(&row.units(), &units);
        duel.difference <= 0.0 || duel.permutation.p >= LEVEL
    };
    let mut candidates: Vec<&Row> = rows.iter().filter(accurate).collect();
    candidates.sort_by(|a, b| a.ece().total_cmp(&b.ece()));
    let names: Vec<String> =
        candidates.iter().map(|row| format!("{} ({})", row.name, decimals(row.ece()))).collect();
    let mut text = format!(
        "The most accurate is {} ({}). Not significantly less accurate (permutation test over the sentences \
         of all three), with their calibration errors, smallest first: {}. ",
        best.name,
        percent(best.uas()),
        names.join(", ")
    );
    let default = rows.iter().find(|row| row.default);
    let chosen = candidates.first().copied().unwrap_or(best);
    text += &match default {
        Some(_) if chosen.default => {
            format!("So the choice is {}: it is the default.\n", chosen.name)
        }
        Some(default) => {
            let duel = Duel::new(&default.units(), &chosen.units());
            format!(
                "The rule would choose {}; against the default, {}, that is {} \
                 UAS and an error of {} instead of {}.\n",
                chosen.name,
                default.name,
                duel.by_permutation(),
                decimals(chosen.ece()),
                decimals(default.ece())
            )
        }
        None => format!("So the choice is {}; the default is not among these.\n", chosen.name),
    };
    text
}
