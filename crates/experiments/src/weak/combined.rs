//! Trees, rules and entropy together, against each alone.

use std::path::Path;

use anyhow::Result;

use super::corpus::{Corpus, TagColumn};
use super::short::{oracle, ours};
use super::trial::{Features, Oracle, Renyi, RuleSet, Set, Weak};
use crate::lab::Lab;
use crate::page::{Table, mean, percent};

const TREEBANKS: [&str; 2] = ["ud/english-ewt", "ud/turkish-imst"];
const SPLITS: std::ops::RangeInclusive<u64> = 1..=5;
const TREES: [usize; 4] = [0, 10, 40, 100];
const RULES: [usize; 3] = [0, 20, 60];
const ENTROPY: (Renyi, f64) = (Renyi::Infinite, 0.01);

/// How much rules count, beside trees that count 1 each.
#[derive(Clone, Copy, PartialEq)]
enum Weight {
    /// 100.
    Constant,
    /// 100 with ten trees, and with more trees less: 1000 / trees.
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
        0 => RuleSet::None,
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

/// All combinations: trees, rules, weight, entropy.
fn combinations() -> Vec<((usize, usize), Weight, bool)> {
    let mut all = Vec::new();
    for rules in RULES {
        for trees in TREES.into_iter().filter(|&trees| trees > 0 || rules > 0) {
            for entropy in [false, true] {
                all.push(((trees, rules), Weight::Constant, entropy));
                // With ten trees they are the same.
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

/// The mean over splits on the test file.
fn uas(
    lab: &Lab<Weak>,
    treebank: &str,
    (counts, weight, entropy): ((usize, usize), Weight, bool),
) -> Result<f64> {
    let of = |split| Ok(lab.outcome(&trial(treebank, counts, weight, entropy, split))?.test.uas());
    Ok(mean(splits(counts.0).map(of).collect::<Result<Vec<f64>>>()?))
}

/// With the paper's features, and rules that count as much as some variance gives them by themselves.
fn as_in_the_paper((trees, rules): (usize, usize), variance: f64, split: u64) -> Weak {
    let settings = trial(TREEBANKS[0], (trees, rules), Weight::Constant, false, split);
    Weak { rules_weight: variance, features: Features::Full, set: Set::Several, ..settings }
}

/// Those variances, the paper's first.
pub(crate) const VARIANCES: [f64; 3] = [10.0, 30.0, 100.0];

/// Sixty rules, ten trees, and both.
const FEW: [(usize, usize); 3] = [(0, 60), (10, 0), (10, 60)];

/// On English, as in the paper: rules alone, trees alone, and both.
pub(crate) fn both_in_the_paper(lab: &Lab<Weak>, variance: f64) -> Result<[f64; 3]> {
    let mut found = [0.0; 3];
    for (found, counts) in found.iter_mut().zip(FEW) {
        let of = |split| Ok(lab.outcome(&as_in_the_paper(counts, variance, split))?.test.uas());
        *found = mean(splits(counts.0).map(of).collect::<Result<Vec<f64>>>()?);
    }
    Ok(found)
}

/// On English: rules alone, trees alone, both, and all three, with sixty rules and ten trees.
pub(crate) fn both(lab: &Lab<Weak>) -> Result<[f64; 4]> {
    let of = |counts, entropy| uas(lab, TREEBANKS[0], (counts, Weight::Constant, entropy));
    Ok([of((0, 60), false)?, of((10, 0), false)?, of((10, 60), false)?, of((10, 60), true)?])
}

pub(crate) fn section(lab: &Lab<Weak>, _: &Path) -> Result<String> {
    let (_, gamma) = ENTROPY;
    let mut text = format!(
        "\n## 6. Trees, rules and entropy together\n\n\
         Sentences of at most ten words without punctuation; the paper's oracle rules, binned; our features, \
         one root. Prior variance 1; a tree counts 1, the rules together count 100 (as much as variance 100 \
         gives rules by themselves) or, *falling*, 1000 / trees; entropy of infinite order (Viterbi) counts \
         {gamma} for each raw sentence, from where trees and rules have led to. Test file, means of five \
         draws of trees.\n"
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
                    row.push(match combinations().contains(&combination) {
                        true => percent(uas(lab, treebank, combination)?),
                        false => "–".to_owned(),
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

/// Where both together beat each alone, and whether falling weights help.
fn conclusion(lab: &Lab<Weak>, treebank: &str) -> Result<String> {
    let at = |counts, weight, entropy| uas(lab, treebank, (counts, weight, entropy));
    let (mut better, mut falling, mut entropy, mut cells) = (0, 0, 0, 0);
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
        "\nTrees and rules together beat the better of the two in {better} of {cells} cases; a falling weight \
         beats a constant one in {falling} of 4; entropy helps both in {entropy} of {cells}.\n"
    ))
}
