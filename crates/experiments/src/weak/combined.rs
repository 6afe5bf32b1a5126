//! Trees, rules and entropy together, compared with each alone.

use std::path::Path;

use anyhow::Result;

use super::corpus::{Corpus, TagColumn};
use super::short::{oracle, ours};
use super::trial::{Features, Oracle, Renyi, RuleSource, Set, Weak};
use crate::lab::Lab;
use crate::page::{Table, mean, percent};

const TREEBANKS: [&str; 2] = ["ud/english-ewt", "ud/turkish-imst"];
const SPLITS: std::ops::RangeInclusive<u64> = 1..=5;
const TREES: [usize; 4] = [0, 10, 40, 100];
const RULES: [usize; 3] = [0, 20, 60];
const ENTROPY: (Renyi, f64) = (Renyi::Infinite, 0.01);

/// Weight of the rules, relative to trees of weight 1 each.
#[derive(Clone, Copy, PartialEq)]
enum Weight {
    /// 100.
    Constant,
    /// 1000 / trees: 100 with ten trees, and less with more.
    Falling,
}

fn trial(
    treebank: &str,
    (trees, rules): (usize, usize),
    weight: Weight,
    entropy: bool,
    split: u64,
) -> Weak {
    let corpus = Corpus::short(treebank, TagColumn::Coarse, 10);
    let rule_set = match rules {
        0 => RuleSource::None,
        _ => oracle(Oracle::Top, rules, false),
    };
    Weak {
        trees,
        split,
        rules_weight: match weight {
            Weight::Falling if trees > 0 => 1000.0 / trees as f64,
            _ => 100.0,
        },
        entropy: entropy.then_some(ENTROPY),
        variance: Some(1.0),
        set: Set::One,
        ..ours(corpus, rule_set)
    }
}

/// Returns all combinations: numbers of trees and rules, weight, and entropy or not.
fn combinations() -> Vec<((usize, usize), Weight, bool)> {
    let mut all = Vec::new();
    for rules in RULES {
        for trees in TREES.into_iter().filter(|&trees| trees > 0 || rules > 0) {
            for entropy in [false, true] {
                all.push(((trees, rules), Weight::Constant, entropy));
                // With ten trees the two weights are equal.
                if trees > 10 && rules > 0 {
                    all.push(((trees, rules), Weight::Falling, entropy));
                }
            }
        }
    }
    all
}

fn splits(trees: usize) -> std::ops::RangeInclusive<u64> {
    if trees == 0 { 1..=1 } else { SPLITS }
}

pub(crate) fn trials() -> Vec<Weak> {
    let mut all = Vec::new();
    for treebank in TREEBANKS {
        for (counts, weight, entropy) in combinations() {
            let of = |split| trial(treebank, counts, weight, entropy, split);
            all.extend(splits(counts.0).map(of));
        }
    }
    for variance in VARIANCES {
        for counts in FEW {
            all.extend(splits(counts.0).map(|split| as_in_the_paper(counts, variance, split)));
        }
    }
    all
}

/// Returns the mean UAS on the test file over splits.
fn uas(
    lab: &Lab<Weak>,
    treebank: &str,
    (counts, weight, entropy): ((usize, usize), Weight, bool),
) -> Result<f64> {
    let of = |split| Ok(lab.outcome(&trial(treebank, counts, weight, entropy, split))?.test.uas());
    Ok(mean(splits(counts.0).map(of).collect::<Result<Vec<f64>>>()?))
}

/// Returns the trial with the paper's features, and with the weight of rules that a prior variance gives them when they
/// are alone.
fn as_in_the_paper((trees, rules): (usize, usize), variance: f64, split: u64) -> Weak {
    let settings = trial(TREEBANKS[0], (trees, rules), Weight::Constant, false, split);
    Weak { rules_weight: variance, features: Features::Full, set: Set::Several, ..settings }
}

/// Prior variances for [`as_in_the_paper`], the paper's first.
pub(crate) const VARIANCES: [f64; 3] = [10.0, 30.0, 100.0];

/// Numbers of trees and rules: sixty rules, ten trees, and both.
const FEW: [(usize, usize); 3] = [(0, 60), (10, 0), (10, 60)];

/// Returns the UAS on English with the paper's features: rules alone, trees alone, and both.
pub(crate) fn both_in_the_paper(lab: &Lab<Weak>, variance: f64) -> Result<[f64; 3]> {
    let mut found = [0.0; 3];
    for (found, counts) in found.iter_mut().zip(FEW) {
        let of = |split| Ok(lab.outcome(&as_in_the_paper(counts, variance, split))?.test.uas());
        *found = mean(splits(counts.0).map(of).collect::<Result<Vec<f64>>>()?);
    }
    Ok(found)
}

/// Returns the UAS on English with sixty rules and ten trees: rules alone, trees alone, both, and both with entropy.
pub(crate) fn both(lab: &Lab<Weak>) -> Result<[f64; 4]> {
    let of = |counts, entropy| uas(lab, TREEBANKS[0], (counts, Weight::Constant, entropy));
    Ok([of((0, 60), false)?, of((10, 0), false)?, of((10, 60), false)?, of((10, 60), true)?])
}

pub(crate) fn section(lab: &Lab<Weak>, _: &Path) -> Result<String> {
    let (_, gamma) = ENTROPY;
    let mut text = format!(
        "\n## 6. Trees, rules and entropy together\n\n\
         Sentences of at most ten words without punctuation; the paper's oracle rules, binned; our features, one \
         root, prior variance 1. A tree has weight 1. The rules together have weight 100, which is the weight \
         that variance 100 gives rules alone, or *falling* weight, 1000 / trees. Entropy of infinite order \
         (Viterbi) has weight {gamma} for each raw sentence; training with it starts from the model of trees and \
         rules. Test file, means over five random draws of trees.\n"
    );
    for treebank in TREEBANKS {
        let name = treebank.trim_start_matches("ud/");
        text += &format!("\n### {name}\n\n");
        let mut columns = vec!["rules".to_owned()];
        columns.extend(TREES.map(|trees| format!("{trees} trees")));
        let mut table = Table::new(&columns);
        for rules in RULES {
            for (weight, entropy, label) in [
                (Weight::Constant, false, ""),
                (Weight::Constant, true, " + entropy"),
                (Weight::Falling, false, ", falling"),
                (Weight::Falling, true, ", falling + entropy"),
            ] {
                if weight == Weight::Falling && rules == 0 {
                    continue;
                }
                let mut row = vec![format!("{rules} rules{label}")];
                for trees in TREES {
                    let combination = ((trees, rules), weight, entropy);
                    row.push(if combinations().contains(&combination) {
                        percent(uas(lab, treebank, combination)?)
                    } else {
                        "–".to_owned()
                    });
                }
                table.row(&row);
            }
        }
        text += table.text();
        text += &conclusion(lab, treebank)?;
    }
    Ok(text)
}

/// Counts the cases in which both together beat each alone, falling weights help, and entropy helps.
fn conclusion(lab: &Lab<Weak>, treebank: &str) -> Result<String> {
    let at = |counts, weight, entropy| uas(lab, treebank, (counts, weight, entropy));
    let mut better = 0;
    let mut falling = 0;
    let mut entropy = 0;
    let mut cells = 0;
    for rules in [20, 60] {
        for trees in [10, 40, 100] {
            let both = at((trees, rules), Weight::Constant, false)?;
            let alone = at((0, rules), Weight::Constant, false)?.max(at(
                (trees, 0),
                Weight::Constant,
                false,
            )?);
            better += usize::from(both > alone);
            entropy += usize::from(at((trees, rules), Weight::Constant, true)? > both);
            if trees > 10 {
                falling += usize::from(at((trees, rules), Weight::Falling, false)? > both);
            }
            cells += 1;
        }
    }
    Ok(format!(
        "\nTrees and rules together beat the better of the two in {better} of {cells} cases. A falling weight \
         beats a constant one in {falling} of 4 cases. Adding entropy to both helps in {entropy} of {cells} \
         cases.\n"
    ))
}
