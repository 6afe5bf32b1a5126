//! Ablation of the default parser: the gain of each ingredient.

use std::fmt;
use std::fs;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tutte::features::{FactorSet, FeatureSet};
use tutte::learn::Preset;
use tutte::{Labelling, Parser, SecondPassOptions, TrainingOptions, train};
use tutte_treebank::Sentence;
use tutte_treebank::eval::significance::{Bootstrap, Resampling, UnitCounts, bootstrap};
use tutte_trees::TreeSet;

use super::{Plan, WrittenSection};
use crate::clock::Processor;
use crate::data::{Cut, Data, ENGLISH, Source, words};
use crate::lab::{Lab, Try};
use crate::page::{Comparison, Table, count, p_value, percent, points};

const TREEBANKS: [&str; 1] = [ENGLISH];

/// The default parser, or a change of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Variant {
    Default,
    NoPruner,
    NoSecondPass,
    NoFirstPassTree,
    NoTransitionParser,
    NoFactors,
    NoGrandparents,
    NoSiblings,
    NoSequences,
    Iterations(usize),
    /// Factors need joint labels, so there are none.
    StagedLabels,
    NoFactorsNorTransitionParser,
    Fast,
}

impl Variant {
    const ALL: [Self; 14] = [
        Self::Default,
        Self::NoPruner,
        Self::NoSecondPass,
        Self::NoFirstPassTree,
        Self::NoTransitionParser,
        Self::NoFactors,
        Self::NoGrandparents,
        Self::NoSiblings,
        Self::NoSequences,
        Self::Iterations(2),
        Self::Iterations(3),
        Self::StagedLabels,
        Self::NoFactorsNorTransitionParser,
        Self::Fast,
    ];

    fn name(self) -> String {
        match self {
            Self::Default => "default".to_owned(),
            Self::NoPruner => "without the pruner".to_owned(),
            Self::NoSecondPass => "one pass: no second pass, nothing that needs one".to_owned(),
            Self::NoFirstPassTree => "second pass sees only probabilities of the first".to_owned(),
            Self::NoTransitionParser => "without the transition parser's tree".to_owned(),
            Self::NoFactors => "without factors".to_owned(),
            Self::NoGrandparents => "without grandparent factors".to_owned(),
            Self::NoSiblings => "without sibling factors".to_owned(),
            Self::NoSequences => "without sequence factors".to_owned(),
            Self::Iterations(count) => format!("{count} iterations of belief propagation"),
            Self::StagedLabels => "labels after arcs, without factors".to_owned(),
            Self::NoFactorsNorTransitionParser => {
                "without factors and transition parser".to_owned()
            }
            Self::Fast => "preset fast".to_owned(),
        }
    }

    /// The variant that this one is compared with.
    fn base(self) -> Self {
        match self {
            Self::StagedLabels | Self::NoFactorsNorTransitionParser => Self::NoFactors,
            _ => Self::Default,
        }
    }

    fn options(self, words: usize, tree_set: TreeSet) -> Result<TrainingOptions> {
        let preset = if self == Self::Fast { Preset::Fast } else { Preset::Default };
        let options = preset.options(words, tree_set);
        let second = options.second_pass.clone().unwrap_or_default().with_temperature(Some(1.0));
        let factors = second.factors.clone().unwrap_or_default();
        let with = |second: SecondPassOptions| options.clone().with_second_pass(Some(second));
        let without_family = |family: &str| -> Result<TrainingOptions> {
            let templates = without(&factors.templates, family)?;
            let factors = factors.clone().with_templates(templates);
            Ok(with(second.clone().with_factors(Some(factors))))
        };
        Ok(match self {
            Self::Default | Self::Fast => with(second),
            Self::NoPruner => with(second).with_pruning(None),
            Self::NoSecondPass => options.with_second_pass(None),
            Self::NoFirstPassTree => {
                let templates = format!("{}m.upos a.guide\n", options.templates);
                let second = second.clone().with_labels(FeatureSet::labels());
                with(second).with_templates(FeatureSet::parse(&templates)?)
            }
            Self::NoTransitionParser => with(second.with_transition(None)),
            Self::NoFactors => with(second.with_factors(None)),
            Self::NoGrandparents => without_family("grandparent")?,
            Self::NoSiblings => without_family("siblings")?,
            Self::NoSequences => without_family("sequence")?,
            Self::Iterations(count) => {
                with(second.clone().with_factors(Some(factors.clone().with_iterations(count))))
            }
            Self::StagedLabels => with(second.with_factors(None)).with_labelling(Labelling::Staged),
            Self::NoFactorsNorTransitionParser => {
                with(second.with_factors(None).with_transition(None))
            }
        })
    }
}

/// Returns the templates of all families but one.
fn without(templates: &FactorSet, family: &str) -> Result<FactorSet> {
    let text = templates.to_string();
    let kept = text.lines().filter(|line| !line.starts_with(family));
    Ok(FactorSet::parse(&kept.collect::<Vec<_>>().join("\n"))?)
}

/// A variant on a treebank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AblationTrial {
    treebank: String,
    cut: Cut,
    variant: Variant,
}

/// Result of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    words: usize,
    lengths: Vec<u32>,
    heads: Vec<u32>,
    labelled: Vec<u32>,
    /// Processor time of the training and of parsing.
    training: f64,
    parsing: f64,
    /// Largest memory of the program during the training, in megabytes.
    megabytes: f64,
}

impl Outcome {
    fn units(&self, correct: &[u32]) -> Vec<UnitCounts> {
        let counts = correct.iter().zip(&self.lengths);
        counts.map(|(&correct, &gold)| UnitCounts { correct, gold, system: gold }).collect()
    }

    fn share(&self, correct: &[u32]) -> f64 {
        f64::from(correct.iter().sum::<u32>()) / f64::from(self.lengths.iter().sum::<u32>().max(1))
    }
}

impl fmt::Display for AblationTrial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.treebank, self.variant.name())
    }
}

impl Try for AblationTrial {
    type Outcome = Outcome;

    fn templates(&self) -> String {
        // Also the templates that are added by the parser.
        let options = self.variant.options(100_000, TreeSet::NonProjectiveSingleRoot);
        options.map(|options| format!("{options:?}")).unwrap_or_default()
    }

    fn seconds(outcome: &Outcome) -> f64 {
        outcome.training + outcome.parsing
    }

    fn headline(outcome: &Outcome) -> f64 {
        100.0 * outcome.share(&outcome.labelled)
    }

    fn run(&self, data: &Data) -> Result<Outcome> {
        let split = data.without_test(&self.treebank, self.cut)?;
        let options = self.variant.options(words(&split.train), split.tree_set(false))?;
        forget_peak();
        let clock = Processor::start();
        let model = train(&split.train, &options, &mut ())?;
        let training = clock.seconds();
        let megabytes = peak();
        let model = model.compact();
        let mut parser = Parser::new(&model);
        let mut outcome = Outcome {
            words: words(&split.train),
            lengths: Vec::new(),
            heads: Vec::new(),
            labelled: Vec::new(),
            training,
            parsing: 0.0,
            megabytes,
        };
        for sentence in &split.dev {
            let clock = Processor::start();
            let parse = parser.parse(sentence)?;
            outcome.parsing += clock.seconds();
            let names = model.labels.labels();
            let labels: Vec<&str> = parse
                .labels
                .iter()
                .map(|&label| names.get(label).map_or("", String::as_str))
                .collect();
            let [heads, labelled] = correct(sentence, parse.tree.heads(), &labels);
            outcome.lengths.push(sentence.len() as u32);
            outcome.heads.push(heads);
            outcome.labelled.push(labelled);
        }
        Ok(outcome)
    }
}

/// Returns the numbers of correct heads, and of correct heads with correct labels.
fn correct(gold: &Sentence, heads: &[usize], labels: &[&str]) -> [u32; 2] {
    let mut counts = [0; 2];
    for ((word, expected), (head, label)) in
        gold.words().zip(gold.partial_heads()).zip(heads.iter().zip(labels))
    {
        if expected == Some(*head) {
            counts[0] += 1;
            counts[1] += u32::from(word.deprel() == *label);
        }
    }
    counts
}

/// Sets the largest memory so far to that of now (Linux).
fn forget_peak() {
    // If it fails, the peak is that of all trials so far.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Returns the largest memory in megabytes; 0 if the system does not report it.
fn peak() -> f64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}

fn trial(plan: &Plan, treebank: &str, variant: Variant) -> AblationTrial {
    AblationTrial { treebank: treebank.to_owned(), cut: plan.small, variant }
}

pub(super) fn write(plan: &Plan, lab: &Lab<AblationTrial>) -> Result<WrittenSection> {
    let trials: Vec<AblationTrial> = TREEBANKS
        .iter()
        .flat_map(|treebank| Variant::ALL.map(|variant| trial(plan, treebank, variant)))
        .collect();
    lab.run(&trials)?;
    let mut text = String::from(
        "**Question:** which parts of the default parser are worth their time? **Method:** the preset `default`, trained \
         without development data and with temperature 1, and with one part changed. UAS and LAS on dev. In brackets, the \
         change from the default; where a line says *without factors*, from the default without factors. Intervals are 95 \
         % bootstrap intervals of that change in LAS, in points, over sentences; p is the paired permutation test of LAS. \
         Times are processor time on one thread. Memory is the largest of the program during the training.\n\n",
    );
    for treebank in TREEBANKS {
        let source = Source::treebank(treebank);
        let outcome = |variant| lab.outcome(&trial(plan, treebank, variant));
        let about = outcome(Variant::Default)?;
        text += &format!(
            "{source}, {} training words, {} dev words:\n\n",
            count(about.words),
            count(about.lengths.iter().sum::<u32>() as usize)
        );
        let mut table =
            Table::new(&["", "UAS", "LAS", "95 % interval", "p", "training, s", "words/s", "MB"]);
        for variant in Variant::ALL {
            let it = outcome(variant)?;
            let base = outcome(variant.base())?;
            let [heads, labelled] =
                [(&it.heads, &base.heads), (&it.labelled, &base.labelled)].map(|(own, other)| {
                    let change = it.share(own) - base.share(other);
                    let value = percent(it.share(own));
                    if variant == variant.base() {
                        value
                    } else {
                        format!("{value} ({})", points(change))
                    }
                });
            let (interval, p) = if variant == variant.base() {
                (String::new(), String::new())
            } else {
                let [first, second] = [base.units(&base.labelled), it.units(&it.labelled)];
                let pairs: Vec<[UnitCounts; 2]> =
                    first.iter().zip(&second).map(|(&a, &b)| [a, b]).collect();
                let Bootstrap { difference, .. } = bootstrap(&pairs, &Resampling::default());
                let p = Comparison::new(&first, &second).permutation.p;
                (
                    format!("{} to {}", points(difference.low), points(difference.high)),
                    p_value(p).trim_start_matches("p ").trim_start_matches("= ").to_owned(),
                )
            };
            let total = f64::from(it.lengths.iter().sum::<u32>());
            table.row(&[
                variant.name(),
                heads,
                labelled,
                interval,
                p,
                format!("{:.0}", it.training),
                count((total / it.parsing.max(1e-9)) as usize),
                format!("{:.0}", it.megabytes),
            ]);
        }
        text += table.text();
        text += "\n";
    }
    Ok(WrittenSection { text: text.trim_end().to_owned() + "\n", findings: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_change_what_they_name() {
        let set = TreeSet::NonProjectiveSingleRoot;
        let options = |variant: Variant| variant.options(20_000, set).unwrap();
        let text = |variant| format!("{:?}", options(variant));
        for variant in &Variant::ALL[1..] {
            assert_ne!(text(*variant), text(Variant::Default), "{}", variant.name());
        }
        let second = options(Variant::NoSiblings).second_pass.unwrap();
        let templates = second.factors.unwrap().templates.to_string();
        assert!(templates.contains("grandparent ") && !templates.contains("siblings "));
    }

    #[test]
    fn labels_count_where_heads_are_right() {
        let gold: Sentence =
            "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n2\tb\tb\tX\t_\t_\t1\tobj\t_\t_\n".parse().unwrap();
        assert_eq!(correct(&gold, &[0, 1], &["root", "nsubj"]), [2, 1]);
        assert_eq!(correct(&gold, &[2, 0], &["root", "obj"]), [0, 0]);
    }
}
