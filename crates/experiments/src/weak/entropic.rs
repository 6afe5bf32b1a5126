//! Training from a seed of trees and raw text with entropic priors (Smith & Eisner 2007).

use anyhow::Result;
use tutte_treebank::eval::significance::UnitCounts;

use super::corpus::{Corpus, TagColumn};
use super::correlation::{self, Correlation};
use super::groups::{self, Groups};
use super::trial::{Evaluated, Features, Outcome, Renyi, RuleSource, Weak};
use crate::lab::Lab;
use crate::page::{Comparison, Finding, LEVEL, Table, Verdict, percent};

pub(crate) const TREEBANKS: [&str; 3] = ["conllx/danish", "conllx/dutch", "conll2007/spanish"];
pub(crate) const SEEDS: [usize; 2] = [100, 1000];
const ORDERS: [(&str, Renyi); 3] =
    [("α = 1", Renyi::Shannon), ("α = 2", Renyi::Two), ("α = ∞", Renyi::Infinite)];
const WEIGHTS: [f64; 3] = [0.01, 0.03, 0.1];

pub(crate) fn corpus(treebank: &str) -> Corpus {
    Corpus { tags: TagColumn::Fine, ..Corpus::whole(treebank, 40) }
}

/// Returns the trial of a parser from a seed of trees, and from raw text if there is an entropic prior.
pub(crate) fn trial(treebank: &str, trees: usize, entropy: Option<(Renyi, f64)>) -> Weak {
    Weak {
        trees,
        entropy,
        raw: 1500,
        features: Features::Words,
        variance: Some(1.0),
        steps: 40,
        evaluated: Evaluated::HeldOut,
        ..Weak::new(corpus(treebank), RuleSource::None)
    }
}

/// Returns the trial of the seed alone, with the same features: an entropic prior of weight 0.
pub(crate) fn seed(treebank: &str, trees: usize) -> Weak {
    // The trials with entropy make two runs of 40 steps.
    Weak { steps: 80, ..trial(treebank, trees, Some((Renyi::Infinite, 0.0))) }
}

/// Returns the trial with all trees.
fn everything(treebank: &str) -> Weak {
    Weak { trees: usize::MAX, steps: 80, ..trial(treebank, 0, None) }
}

pub(crate) fn trials() -> Vec<Weak> {
    let mut all = Vec::new();
    for treebank in TREEBANKS {
        for trees in SEEDS {
            all.push(seed(treebank, trees));
            for (_, order) in ORDERS {
                all.extend(WEIGHTS.map(|weight| trial(treebank, trees, Some((order, weight)))));
            }
        }
        all.push(everything(treebank));
    }
    all
}

/// Returns the best weight on dev, which may be 0, and its outcome.
fn chosen(lab: &Lab<Weak>, treebank: &str, trees: usize, order: Renyi) -> Result<(f64, Outcome)> {
    let mut best = (0.0, lab.outcome(&seed(treebank, trees))?);
    for weight in WEIGHTS {
        let found = lab.outcome(&trial(treebank, trees, Some((order, weight))))?;
        if found.dev.uas() > best.1.dev.uas() {
            best = (weight, found);
        }
    }
    Ok(best)
}

fn units(outcome: &Outcome) -> Vec<UnitCounts> {
    let unit = |&[correct, gold]: &[u32; 2]| UnitCounts { correct, gold, system: gold };
    outcome.units.iter().map(unit).collect()
}

pub(crate) fn section(
    lab: &Lab<Weak>,
    correlation_lab: &Lab<Correlation>,
    groups_lab: &Lab<Groups>,
) -> Result<String> {
    let mut text = "\n## 5. A seed of trees and raw text: entropic priors\n\n\
        A log-linear parser is trained on a seed of random trees. Then it is trained on the same trees and at \
        most 1,500 raw sentences, whose Rényi entropy of order α is minimised with weight γ. The parser has our \
        features and words, fine tags, sentences of at most 40 words, crossing arcs and several roots. γ is \
        chosen from 0, .01, .03 and .1 on the dev file, or on the last fifth of the training file if there is \
        no dev file. Accuracy on the test file. α = 0 is the seed alone; p is from a paired permutation test \
        against it.\n\n"
        .to_owned();
    let mut columns = vec!["treebank".to_owned(), "trees".to_owned(), "α = 0".to_owned()];
    for (name, _) in ORDERS {
        columns.extend([name.to_owned(), "γ".to_owned()]);
    }
    columns.push("all trees".to_owned());
    let mut table = Table::new(&columns);
    let mut gains = Vec::new();
    for treebank in TREEBANKS {
        let all = lab.outcome(&everything(treebank))?;
        for trees in SEEDS {
            let without = lab.outcome(&seed(treebank, trees))?;
            let mut row = vec![treebank.to_owned(), trees.to_string(), percent(without.test.uas())];
            for (_, order) in ORDERS {
                let (weight, found) = chosen(lab, treebank, trees, order)?;
                let comparison = Comparison::new(&units(&without), &units(&found));
                let uas = percent(found.test.uas());
                row.push(if weight > 0.0 {
                    format!("{uas} ({})", comparison.by_permutation())
                } else {
                    uas
                });
                row.push(weight.to_string());
                gains.push((trees, order, comparison.difference, comparison.permutation.p));
            }
            row.push(percent(all.test.uas()));
            table.row(&row);
        }
    }
    text += table.text();
    let of = |trees: usize, order: Renyi| {
        gains.iter().filter(move |gain| gain.0 == trees && gain.1 == order)
    };
    let sum = |trees, order| of(trees, order).map(|gain| 100.0 * gain.2).sum::<f64>() / 3.0;
    let small = sum(100, Renyi::Infinite);
    let large = sum(1000, Renyi::Infinite);
    let helped = of(100, Renyi::Infinite).filter(|gain| gain.2 > 0.0 && gain.3 < LEVEL).count();
    let two = sum(100, Renyi::Two);
    let (negative, growing, rows) = correlation::counts(correlation_lab)?;
    text += "\nEntropy and accuracy: Pearson's correlation, over sentences of the dev file, of R_α per word with \
        the accuracy of the seed's parser and with the cross-entropy of the gold tree.\n\n";
    text += &correlation::table(correlation_lab)?;
    text += "\n### The paper's findings\n\n";
    text += &Finding::table(&[
        Finding {
            claim: "bootstrapping from 100 trees with α = ∞ helps".to_owned(),
            paper: Some("+2.2, +4.4, +0.8 points, significant for two of three".to_owned()),
            ours: format!("mean {small:+.2} points, significant for {helped} of 3"),
            verdict: if small > 0.0 && helped >= 2 {
                Verdict::Reproduced
            } else if small > 0.0 {
                Verdict::SignOnly
            } else {
                Verdict::NotReproduced
            },
        },
        Finding {
            claim: "with 1,000 trees the gain is smaller".to_owned(),
            paper: Some("+0.1, +0.4".to_owned()),
            ours: format!("mean {large:+.2} points"),
            verdict: Verdict::clearly((small - large) / 100.0),
        },
        Finding {
            claim: "α = ∞ is better than α = 2".to_owned(),
            paper: Some("58.3, 65.3, 64.4 against 54.8, 62.4, 64.1".to_owned()),
            ours: format!("mean gain {small:+.2} against {two:+.2} points"),
            verdict: Verdict::clearly((small - two) / 100.0),
        },
        Finding {
            claim: "entropy and accuracy are negatively correlated".to_owned(),
            paper: Some("−.18 to −.34".to_owned()),
            ours: format!("in {negative} of {rows} cells"),
            verdict: Verdict::mostly(negative, rows),
        },
        Finding {
            claim: "the correlation is stronger for higher orders".to_owned(),
            paper: Some("from −.254 to −.317, from −.180 to −.326".to_owned()),
            ours: format!(
                "α = ∞ beats α = 0 in {growing} of {} seeds",
                TREEBANKS.len() * SEEDS.len()
            ),
            verdict: Verdict::mostly(growing, TREEBANKS.len() * SEEDS.len()),
        },
    ]);
    text += &groups::section(groups_lab)?;
    text += "\nNot reproduced: the paper's DMV without features (table 4).\n";
    Ok(text)
}
