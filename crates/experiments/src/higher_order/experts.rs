//! Combining ten experts: likelihood, minimum error and annealed risk (Smith & Eisner 2006, §6).

use std::fmt;

use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};
use tutte::features::FeatureSet;
use tutte::learn::Annealing;
use tutte::learn::experts::{Criterion, ExpertSentence, combine, combine_lists};
use tutte::{LabelOptions, Parser, ParserModel, TrainingOptions, train};
use tutte_linear::Order;
use tutte_treebank::Sentence;
use tutte_treebank::eval::significance::UnitCounts;
use tutte_trees::{LabelledArcMatrix, TreeSet};

use super::{Plan, WrittenSection};
use crate::clock::Processor;
use crate::data::{Cut, Data, Source};
use crate::lab::{Lab, Try};
use crate::page::{Comparison, Finding, Table, Verdict, percent};

/// Slovenian and Dutch as in the paper, and Danish in the place of Bulgarian.
const TREEBANKS: [&str; 3] = ["ud/slovenian-ssj", "conllx/danish", "conllx/dutch"];

/// Templates of the ten experts, by name. They see more or less of the words and their surroundings.
const EXPERTS: [&str; 10] = [
    "mcdonald",
    "tags",
    "restricted",
    "mcdonald-tags",
    "lean",
    "tags",
    "restricted",
    "mcdonald-tags",
    "lean",
    "tags",
];
/// Number of sentences that weights are fitted on, and the same number to judge them.
const FITTED: usize = 200;
/// Number of such pairs of samples for each treebank.
const PAIRS: usize = 2;
/// Longest sentence of these.
const LONGEST: usize = 40;
/// Length of lists and largest number of rounds.
const LISTS: (usize, usize) = (200, 20);
/// Random starts of the minimum error.
const RESTARTS: usize = 10;
const SEED: u64 = 1;

/// Experts of a treebank, combined in all ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ExpertTrial {
    treebank: String,
    /// Random training sentences of each expert.
    sample: usize,
    passes: usize,
    bits: u32,
    pairs: usize,
}

impl ExpertTrial {
    fn of(plan: &Plan, treebank: &str) -> Self {
        let is_cut = plan.cut.train < usize::MAX;
        Self {
            treebank: treebank.to_owned(),
            sample: if is_cut { 300 } else { 1000 },
            passes: 3,
            bits: 20,
            pairs: PAIRS,
        }
    }
}

/// Ways to choose weights.
const WAYS: [&str; 7] = [
    "the best single expert",
    "equal weights",
    "likelihood, lists",
    "minimum error, lists",
    "annealed risk, lists",
    "likelihood, all trees",
    "annealed risk, all trees",
];
const LIKELIHOOD: usize = 2;
const ERROR: usize = 3;
const RISK: usize = 4;
const FOREST_RISK: usize = 6;

/// Result of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    seconds: f64,
    /// Length of each judged sentence, of all pairs.
    lengths: Vec<u32>,
    /// Correct heads of each, by way.
    correct: Vec<Vec<u32>>,
    /// Share of wrong heads on the sentences that weights were fitted on, by way.
    fitted: Vec<f64>,
    /// Processor time of fitting, by way.
    fitting: Vec<f64>,
}

impl Outcome {
    fn units(&self, way: usize) -> Vec<UnitCounts> {
        let counts = self.correct[way].iter().zip(&self.lengths);
        counts.map(|(&correct, &gold)| UnitCounts { correct, gold, system: gold }).collect()
    }

    fn uas(&self, way: usize) -> f64 {
        let correct: u32 = self.correct[way].iter().sum();
        f64::from(correct) / f64::from(self.lengths.iter().sum::<u32>().max(1))
    }
}

impl fmt::Display for ExpertTrial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} experts of {} sentences, {}", EXPERTS.len(), self.sample, self.treebank)
    }
}

impl Try for ExpertTrial {
    type Outcome = Outcome;

    fn templates(&self) -> String {
        let templates = EXPERTS.iter().filter_map(|name| FeatureSet::named(name));
        templates.map(|set| set.to_string()).collect::<Vec<_>>().join("\n")
    }

    fn seconds(outcome: &Outcome) -> f64 {
        outcome.seconds
    }

    fn headline(outcome: &Outcome) -> f64 {
        100.0 * outcome.uas(RISK)
    }

    fn run(&self, data: &Data) -> Result<Outcome> {
        let clock = Processor::start();
        let split = data.without_test(&self.treebank, Cut::NONE)?;
        let tree_set = split.tree_set(false);
        let mut order = Order::new(SEED, 7);
        let mut shuffled = order.shuffled(split.train.len()).into_iter().map(|at| &split.train[at]);
        let short = |sentence: &&Sentence| sentence.len() <= LONGEST;
        let mut pairs: Vec<Vec<&Sentence>> = Vec::new();
        for _ in 0..2 * self.pairs {
            pairs.push(shuffled.by_ref().filter(short).take(FITTED).collect());
        }
        // Experts learn from the other sentences.
        let rest: Vec<&Sentence> = shuffled.collect();
        if rest.len() < self.sample {
            return Err(anyhow!("{} has too few sentences for experts", self.treebank));
        }
        let mut experts = Vec::new();
        for name in EXPERTS {
            let numbers = order.shuffled(rest.len());
            let sample: Vec<Sentence> =
                numbers[..self.sample].iter().map(|&at| rest[at].clone()).collect();
            experts.push(self.expert(name, &sample, tree_set)?);
        }
        let mut outcome = Outcome {
            seconds: 0.0,
            lengths: Vec::new(),
            correct: vec![Vec::new(); WAYS.len()],
            fitted: vec![0.0; WAYS.len()],
            fitting: vec![0.0; WAYS.len()],
        };
        let mut fitted_words = 0;
        for pair in pairs.chunks_exact(2) {
            let fitted = scored(&experts, &pair[0])?;
            let judged = scored(&experts, &pair[1])?;
            fitted_words += fitted.iter().map(|sentence| sentence.gold.len()).sum::<usize>();
            outcome.lengths.extend(judged.iter().map(|sentence| sentence.gold.len() as u32));
            for way in 0..WAYS.len() {
                let clock = Processor::start();
                let weights = weights(way, &fitted, tree_set)?;
                outcome.fitting[way] += clock.seconds();
                outcome.fitted[way] += ExpertSentence::errors_of_best(&fitted, &weights, tree_set)?;
                for sentence in &judged {
                    let one = std::slice::from_ref(sentence);
                    let errors = ExpertSentence::errors_of_best(one, &weights, tree_set)?;
                    outcome.correct[way].push(sentence.gold.len() as u32 - errors as u32);
                }
            }
        }
        outcome.fitted.iter_mut().for_each(|errors| *errors /= fitted_words.max(1) as f64);
        outcome.seconds = clock.seconds();
        Ok(outcome)
    }
}

impl ExpertTrial {
    fn expert(&self, name: &str, sample: &[Sentence], tree_set: TreeSet) -> Result<ParserModel> {
        let templates =
            FeatureSet::named(name).ok_or_else(|| anyhow!("no templates called {name}"))?;
        let options = TrainingOptions::plain()
            .with_templates(templates)
            .with_tree_set(tree_set)
            .with_passes(self.passes)
            .with_bits(self.bits)
            .with_label_bits(6)
            .with_labels(LabelOptions::default().with_passes(Some(0)));
        Ok(train(sample, &options, &mut ())?)
    }
}

/// Scores sentences by all experts.
fn scored(experts: &[ParserModel], sentences: &[&Sentence]) -> Result<Vec<ExpertSentence>> {
    let mut parsers: Vec<_> = experts.iter().map(Parser::new).collect();
    let mut all = Vec::new();
    for sentence in sentences {
        let mut scores = Vec::new();
        for parser in &mut parsers {
            let arcs = parser.scores(sentence)?;
            let matrix =
                LabelledArcMatrix::from_fn(sentence.len(), 1, |head, word, _| arcs[(head, word)]);
            scores.push(matrix);
        }
        all.push(ExpertSentence {
            experts: scores,
            gold: sentence.partial_heads().collect(),
            labels: vec![None; sentence.len()],
        });
    }
    Ok(all)
}

/// Returns the weights that a way finds.
fn weights(way: usize, sentences: &[ExpertSentence], tree_set: TreeSet) -> Result<Vec<f64>> {
    let error = Criterion::MinimumError { restarts: RESTARTS, seed: SEED };
    let risk = Criterion::AnnealedRisk(Annealing::default());
    let by_lists = |criterion: &Criterion| -> Result<Vec<f64>> {
        Ok(combine_lists(sentences, &[], tree_set, criterion, LISTS)?.weights)
    };
    let by_trees = |criterion: &Criterion| -> Result<Vec<f64>> {
        Ok(combine(sentences, &[], tree_set, criterion)?.weights)
    };
    let count = EXPERTS.len();
    match way {
        0 => {
            let mut best = (f64::INFINITY, Vec::new());
            for expert in 0..count {
                let mut weights = vec![0.0; count];
                weights[expert] = 1.0;
                let errors = ExpertSentence::errors_of_best(sentences, &weights, tree_set)?;
                if errors < best.0 {
                    best = (errors, weights);
                }
            }
            Ok(best.1)
        }
        1 => Ok(vec![1.0; count]),
        LIKELIHOOD => by_lists(&Criterion::Likelihood),
        ERROR => by_lists(&error),
        RISK => by_lists(&risk),
        FOREST_RISK => by_trees(&risk),
        _ => by_trees(&Criterion::Likelihood),
    }
}

pub(super) fn write(plan: &Plan, lab: &Lab<ExpertTrial>) -> Result<WrittenSection> {
    let trials = TREEBANKS.map(|treebank| ExpertTrial::of(plan, treebank));
    lab.run(&trials)?;
    let outcomes: Vec<(Source, Outcome)> = trials
        .iter()
        .map(|trial| Ok((Source::treebank(&trial.treebank), lab.outcome(trial)?)))
        .collect::<Result<_>>()?;
    let (k, rounds) = LISTS;
    let mut text = format!(
        "**Question:** if errors count, is annealed risk a better criterion than likelihood and than the number of errors \
         itself? **Method:** {} experts of arcs alone, each trained on {} random sentences in {} passes, with the templates \
         {}. Their weights are fitted on {FITTED} training sentences of at most {LONGEST} words that no expert saw, and \
         judged on {FITTED} others; {PAIRS} such pairs for each treebank. The loss is the number of wrong heads (the paper: \
         labelled). *Lists*: the {k} best trees of each round, merged, in at most {rounds} rounds. *Minimum error*: exact \
         line searches along each weight, from the last weights and {RESTARTS} random starts. *Annealed risk*: {} (T, \
         factor, end). *All trees*: sums over all trees instead of lists.\n\nUAS; in brackets, the change from likelihood \
         over lists (p). *Last columns*: the paper, labelled, on other data.\n\n",
        EXPERTS.len(),
        trials[0].sample,
        trials[0].passes,
        EXPERTS.join(", "),
        Annealing::default()
            .with_cooling(tutte::learn::Cooling { start: Some(1000.0), ..Default::default() })
    );
    let mut header = vec![String::new()];
    header.extend(outcomes.iter().map(|(treebank, _)| treebank.to_string()));
    header.extend(["*Slovenian*", "*Bulgarian*", "*Dutch*"].map(str::to_owned));
    header.extend(["wrong heads where fitted, %", "seconds of fitting"].map(str::to_owned));
    let mut table = Table::new(&header);
    for (way, name) in WAYS.iter().enumerate() {
        let mut cells = vec![(*name).to_owned()];
        for (_, outcome) in &outcomes {
            let value = percent(outcome.uas(way));
            cells.push(if way == LIKELIHOOD {
                value
            } else {
                let comparison = Comparison::new(&outcome.units(LIKELIHOOD), &outcome.units(way));
                format!("{value} ({})", comparison.by_permutation().replace(['(', ')'], ""))
            });
        }
        let paper = match way {
            LIKELIHOOD => Some([27.78, 47.23, 36.78]),
            ERROR => Some([22.52, 54.72, 36.78]),
            RISK => Some([31.16, 54.66, 36.71]),
            _ => None,
        };
        cells.extend(paper.map(|row| row.map(|value| format!("*{value:.2}*"))).unwrap_or_default());
        let fitted: Vec<String> =
            outcomes.iter().map(|(_, outcome)| percent(outcome.fitted[way])).collect();
        cells.push(fitted.join(", "));
        let seconds: f64 = outcomes.iter().map(|(_, outcome)| outcome.fitting[way]).sum();
        cells.push(format!("{seconds:.0}"));
        table.row(&cells);
    }
    text += table.text();
    Ok(WrittenSection { text, findings: findings(&outcomes) })
}

fn findings(outcomes: &[(Source, Outcome)]) -> Vec<Finding> {
    let pooled = |way: usize| -> Vec<UnitCounts> {
        outcomes.iter().flat_map(|(_, outcome)| outcome.units(way)).collect()
    };
    let compared = |first: usize, second: usize| {
        let each = outcomes.iter().map(|(treebank, outcome)| {
            let comparison = Comparison::new(&outcome.units(first), &outcome.units(second));
            format!("{treebank} {}", comparison.by_permutation())
        });
        let all = Comparison::new(&pooled(first), &pooled(second));
        let each = each.collect::<Vec<_>>().join(", ");
        (format!("{each}; together {}", all.by_permutation()), all)
    };
    let (likelihood, by_likelihood) = compared(LIKELIHOOD, RISK);
    let (error, by_error) = compared(ERROR, RISK);
    let (forest, by_forest) = compared(RISK, FOREST_RISK);
    vec![
        Finding {
            claim: "Annealed risk beats likelihood over lists".to_owned(),
            paper: Some("Slovenian +3.38, Bulgarian +7.43, Dutch −0.07".to_owned()),
            ours: likelihood,
            verdict: Verdict::more(by_likelihood.difference, by_likelihood.permutation.p),
        },
        Finding {
            claim: "It is not worse than minimum error".to_owned(),
            paper: Some("Slovenian +8.64, Bulgarian −0.06, Dutch −0.07".to_owned()),
            ours: error,
            verdict: Verdict::not_less(by_error.difference, by_error.permutation.p),
        },
        Finding {
            claim: "Sums over all trees are not worse than lists".to_owned(),
            paper: None,
            ours: forest,
            verdict: Verdict::not_less(by_forest.difference, by_forest.permutation.p),
        },
    ]
}
