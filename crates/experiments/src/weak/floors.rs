//! Accuracy targets set beforehand (floors), and the results.

use anyhow::Result;

use super::corpus::{Corpus, TagColumn};
use super::short::{oracle, ours};
use super::trial::{Oracle, Weak};
use super::{combined, human, lengths};
use crate::lab::Lab;
use crate::page::{Table, percent, points};

/// Returns the floors of short sentences: name, trial, floor in percent. The trials are those of the curves.
fn short() -> Vec<(String, Weak, f64)> {
    let mut all = Vec::new();
    for (name, treebank, tags, counts) in [
        (
            "EWT ≤ 10 XPOS",
            "english-ewt",
            TagColumn::Fine,
            &[(10, 48.0), (20, 51.0), (30, 55.0), (60, 59.0)][..],
        ),
        (
            "EWT ≤ 10 UPOS",
            "english-ewt",
            TagColumn::Coarse,
            &[(10, 58.0), (20, 63.0), (30, 65.0), (60, 70.0)],
        ),
        ("Portuguese ≤ 10", "portuguese-bosque", TagColumn::Coarse, &[(30, 78.0), (60, 79.0)]),
        ("Turkish ≤ 10", "turkish-imst", TagColumn::Coarse, &[(30, 58.0), (60, 59.0)]),
    ] {
        for &(count, floor) in counts {
            let corpus = Corpus::short(&format!("ud/{treebank}"), tags, 10);
            let trial = ours(corpus, oracle(Oracle::Top, count, false));
            all.push((format!("{name}, {count} rules"), trial, floor));
        }
    }
    all
}

/// Returns the trial with nearest rules and several roots, which is not part of the curves.
pub(crate) fn nearest() -> Weak {
    let corpus = Corpus::short("ud/english-ewt", TagColumn::Coarse, 10);
    Weak { variance: Some(100.0), ..ours(corpus, oracle(Oracle::Nearest, 60, true)) }
}

pub(crate) fn section(lab: &Lab<Weak>) -> Result<String> {
    let mut text = "## In short\n\n\
        Floors were set before the experiments; this table compares them with the results of *ours*. Unless \
        stated otherwise: training sentences, binned targets, several roots, crossing arcs, variance 30. Human \
        rules: one root, variance 300.\n\n"
        .to_owned();
    let mut table = Table::new(&["", "floor", "reached", "seconds to train"]);
    let mut rows = short();
    rows.push(("EWT ≤ 10 UPOS, 60 nearest rules, exact, σ² 100".to_owned(), nearest(), 74.0));
    let others = lengths::floors().into_iter().chain(human::floors());
    rows.extend(others.map(|(name, trial, floor)| (name.to_owned(), trial, floor)));
    let mut missed = Vec::new();
    for (name, trial, floor) in rows {
        let found = lab.outcome(&trial)?;
        let reached = 100.0 * found.train.uas();
        if reached < floor {
            missed.push(name.clone());
        }
        let seconds = format!("{:.1}", found.seconds);
        table.row(&[name, format!("{floor:.1}"), percent(found.train.uas()), seconds]);
    }
    let [rules, trees, both, entropy] = combined::both(lab)?;
    let row = ["EWT ≤ 10 UPOS, 60 rules + 10 trees, test", "70.0", &percent(both), ""];
    table.row(&row);
    text += table.text();
    if missed.is_empty() {
        text += "\nAll floors are reached.";
    } else {
        text += &format!("\nNot reached: {}.", missed.join("; "));
    }
    text += " Sixty rules and ten trees together should gain 2 points over the better of the two alone. Test \
        file, means over five random draws of trees; the weight of the rules is the one that this variance \
        gives them when they are alone:\n\n";
    let mut table = Table::new(&["", "rules", "trees", "both", "gain"]);
    let mut add_row = |name: String, [rules, trees, both]: [f64; 3]| {
        let cells = [rules, trees, both].map(percent);
        table.row(&[&[name][..], &cells, &[points(both - rules.max(trees))]].concat());
    };
    for variance in combined::VARIANCES {
        let found = combined::both_in_the_paper(lab, variance)?;
        add_row(format!("GE full, σ² {variance}"), found);
    }
    add_row("ours, one root, σ² 100".to_owned(), [rules, trees, both]);
    text += table.text();
    text += &format!(
        "\nThe better the rules are alone, the less ten trees add. With an entropy term too, *ours* reaches \
         {}.\n\n",
        percent(entropy)
    );
    Ok(text)
}
