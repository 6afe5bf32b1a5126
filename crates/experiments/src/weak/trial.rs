//! A weakly supervised trial: settings, training and evaluation of one parser.

use std::fmt;

use anyhow::{Context, Result, anyhow};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use tutte::features::FeatureSet;
use tutte::rules::suggest::{Order, Selection, Suggest};
use tutte::rules::{Direction, RuleSet, Target, bin};
use tutte::weak::{VARIANCES, WeakData, WeakOptions, choose_variance, learn};
use tutte::{Decoding, Parser, ParserModel};
use tutte_treebank::Sentence;
use tutte_trees::{TreeDistribution, TreeSet};

use super::corpus::Corpus;
use super::errors::Errors;
use crate::clock::Clock;
use crate::data::Data;
use crate::lab::Try;

/// Settings of a trial. The cache is keyed by their serialised names: to rename a field, keep its old name with
/// `serde(rename)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Weak {
    pub(crate) corpus: Corpus,
    pub(crate) how: How,
    pub(crate) rules: RuleSource,
    /// Weight of all rules together.
    pub(crate) rules_weight: f64,
    /// Number of training trees.
    pub(crate) trees: usize,
    /// Seed of the random choice of these trees.
    pub(crate) split: u64,
    /// Largest number of raw sentences.
    pub(crate) raw: usize,
    /// Order and weight of an entropic prior.
    pub(crate) entropy: Option<(Renyi, f64)>,
    pub(crate) features: Features,
    pub(crate) set: Set,
    /// Prior variance. If `None`, the one with which held-out rules are predicted best.
    pub(crate) variance: Option<f64>,
    /// Largest number of L-BFGS steps.
    pub(crate) steps: usize,
    #[serde(rename = "judged")]
    pub(crate) evaluated: Evaluated,
}

/// Tree set and decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Set {
    /// Several roots and MAP decoding, as in the paper.
    Several,
    /// One root and MBR decoding, the defaults of tutte.
    One,
    /// Several roots, no crossing arcs, and MAP decoding.
    Projective,
}

/// Scope of the evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Evaluated {
    /// Accuracy on all files.
    All,
    /// Accuracy on all files but the training file.
    HeldOut,
    /// Accuracy on all files, and an error analysis of the training file.
    Errors,
}

/// Method that produces trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum How {
    /// A parser trained by one objective on trees, rules and raw text.
    Weak,
    /// The baseline: the best tree by the targets of the rules.
    Rules,
    /// A parser trained on the trees of the baseline.
    SelfTaught,
    /// Every word depends on its left neighbour.
    Left,
    /// Every word depends on its right neighbour.
    Right,
}

/// Origin of the rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum RuleSource {
    None,
    /// Rules counted in the training file.
    Oracle {
        kind: Oracle,
        top: usize,
        least: Option<u64>,
        exact: bool,
    },
    /// The first rules of [`Oracle::Top`] without their directions, with targets counted again and binned.
    Undirected(usize),
    /// Rules of a file of the repository.
    File(String),
}

/// Selection of counted rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Oracle {
    Top,
    Nearest,
    /// Those of `Nearest`, by number of arcs, largest first.
    Frequent,
    Parents,
    ParentsSequence,
    Curve,
}

/// Order of a Rényi entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Renyi {
    Shannon,
    Two,
    Infinite,
}

impl Renyi {
    pub(crate) fn order(self) -> f64 {
        match self {
            Renyi::Shannon => 1.0,
            Renyi::Two => 2.0,
            Renyi::Infinite => f64::INFINITY,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Features {
    Restricted,
    /// All features of the paper that use tags only.
    Full,
    /// Our features, which use tags only.
    Ours,
    /// Our features with words.
    Words,
}

/// Outcome of a trial.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) rules: usize,
    pub(crate) weights: usize,
    pub(crate) steps: usize,
    pub(crate) variance: f64,
    pub(crate) seconds: f64,
    /// Mean residual of the rules after training.
    pub(crate) residual: f64,
    pub(crate) train: Score,
    pub(crate) dev: Score,
    pub(crate) test: Score,
    /// By sentence of the test file: number of words with the right head, and number of words.
    pub(crate) units: Vec<[u32; 2]>,
    pub(crate) errors: Option<Errors>,
}

/// Accuracy counts.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Score {
    pub(crate) words: usize,
    /// Words with the right head.
    pub(crate) right: usize,
    /// Words linked to the right word, in either direction.
    pub(crate) linked: usize,
}

impl Score {
    pub(crate) fn uas(self) -> f64 {
        self.right as f64 / self.words.max(1) as f64
    }

    pub(crate) fn undirected(self) -> f64 {
        self.linked as f64 / self.words.max(1) as f64
    }

    pub(crate) fn add(&mut self, gold: &[usize], heads: &[usize]) {
        for (word, (gold_head, head)) in (1..).zip(gold.iter().zip(heads)) {
            self.words += 1;
            self.right += usize::from(gold_head == head);
            let is_reversed = |head: &usize| head.checked_sub(1).map(|at| gold[at]) == Some(word);
            self.linked += usize::from(gold_head == head || is_reversed(head));
        }
    }
}

/// A trained model and its training statistics.
pub(crate) struct WeakOutcome {
    pub(crate) model: ParserModel,
    rules: RuleSet,
    residual: f64,
    steps: usize,
    variance: f64,
}

impl Weak {
    /// Returns the settings of the paper.
    pub(crate) fn new(corpus: Corpus, rules: RuleSource) -> Self {
        Self {
            corpus,
            how: How::Weak,
            rules,
            rules_weight: 1.0,
            trees: 0,
            split: 1,
            raw: usize::MAX,
            entropy: None,
            features: Features::Full,
            set: Set::Several,
            variance: Some(10.0),
            steps: 200,
            evaluated: Evaluated::All,
        }
    }

    /// Returns the settings with all trees of the training file, and a prior for trees.
    pub(crate) fn supervised(corpus: Corpus) -> Self {
        Self { trees: usize::MAX, variance: Some(1.0), ..Self::new(corpus, RuleSource::None) }
    }

    pub(crate) fn tree_set(&self) -> TreeSet {
        match self.set {
            Set::Several => TreeSet::NonProjectiveMultiRoot,
            Set::One => TreeSet::NonProjectiveSingleRoot,
            Set::Projective => TreeSet::ProjectiveMultiRoot,
        }
    }

    fn options(&self) -> WeakOptions {
        WeakOptions::default()
            .with_prior_variance(self.variance.unwrap_or(1.0))
            .with_rules_weight(self.rules_weight)
            .with_entropy(self.entropy.map(|(order, weight)| (order.order(), weight)))
            .with_templates(match self.features {
                Features::Restricted => FeatureSet::restricted(),
                Features::Full => FeatureSet::mcdonald_tags(),
                Features::Ours => FeatureSet::tags(),
                Features::Words => FeatureSet::tags().with_words(),
            })
            .with_tree_set(self.tree_set())
            .with_steps(self.steps)
    }

    pub(crate) fn rules(&self, train: &[Sentence]) -> Result<RuleSet> {
        match &self.rules {
            RuleSource::None => Ok(RuleSet::parse("none", "")?),
            RuleSource::File(name) => {
                let text = std::fs::read(name).with_context(|| name.clone())?;
                Ok(RuleSet::from_bytes(name, &text)?)
            }
            &RuleSource::Undirected(top) => undirected(top, train),
            &RuleSource::Oracle { kind, top, least, exact } => {
                let suggest = Suggest {
                    selection: match kind {
                        Oracle::Top => Selection::Top,
                        Oracle::Nearest | Oracle::Frequent => Selection::Nearest,
                        Oracle::Parents => Selection::Parents,
                        Oracle::ParentsSequence => Selection::ParentsSequence,
                        Oracle::Curve => Selection::Curve,
                    },
                    order: if kind == Oracle::Frequent { Order::Arcs } else { Order::Share },
                    top,
                    least,
                    binned: !exact,
                    ..Suggest::default()
                };
                Ok(suggest.rules("counted", train)?)
            }
        }
    }

    /// Splits the training file at random into the seed of trees and the rest.
    pub(crate) fn seed(&self, train: &[Sentence]) -> (Vec<Sentence>, Vec<Sentence>) {
        if self.trees >= train.len() {
            return (train.to_vec(), Vec::new());
        }
        let mut order: Vec<usize> = (0..train.len()).collect();
        let mut random = Pcg64::seed_from_u64(self.split);
        for at in (1..order.len()).rev() {
            order.swap(at, (random.next_u64() % (at as u64 + 1)) as usize);
        }
        let (seed, rest) = order.split_at(self.trees);
        let of = |numbers: &[usize]| numbers.iter().map(|&at| train[at].clone()).collect();
        (of(seed), of(rest))
    }

    /// Trains a model.
    pub(crate) fn learn(&self, train: &[Sentence]) -> Result<WeakOutcome> {
        let rules = self.rules(train)?;
        let (mut trees, mut rest) = self.seed(train);
        let mut options = self.options();
        if self.how == How::SelfTaught {
            trees = train.to_vec();
            for sentence in &mut trees {
                let heads = baseline_heads(&rules, sentence, options.tree_set)?;
                sentence.set_heads(&heads.into_iter().map(Some).collect::<Vec<_>>())?;
            }
            rest.clear();
        }
        let raw: Vec<Sentence> = if self.how != How::SelfTaught && self.trees == 0 {
            train.iter().take(self.raw).cloned().collect()
        } else {
            rest.into_iter().take(self.raw).collect()
        };
        let needs_raw = self.rules != RuleSource::None || self.entropy.is_some();
        let raw = if needs_raw { raw } else { Vec::new() };
        if self.set == Set::One {
            // Without punctuation, some trees have several roots.
            trees.retain(|sentence| {
                sentence.tree().is_ok_and(|tree| tree.root_words().count() == 1)
            });
        }
        if options.tree_set.is_projective() {
            for sentence in &mut trees {
                let tree = sentence.tree()?.projectivise();
                sentence.set_heads(&tree.heads().iter().map(|h| Some(*h)).collect::<Vec<_>>())?;
            }
        }
        let evidence = match self.how {
            How::SelfTaught => WeakData { trees: &trees, ..WeakData::default() },
            _ => WeakData { trees: &trees, ..WeakData::of_rules(&rules, &raw, options.tree_set) },
        };
        // In a few trees, few features occur often.
        if raw.is_empty() && trees.len() < 200 {
            options.least = 1;
        }
        if self.variance.is_none() {
            let chosen = choose_variance(&evidence, &options, &VARIANCES, &mut ())?;
            options.prior_variance =
                chosen.map_or(WeakOptions::default().prior_variance, |(best, _)| best);
        }
        let learnt = learn(&evidence, &options, &mut ())?;
        let expectations = evidence.constraints.iter().zip(&learnt.after.expectations);
        let residuals: f64 =
            expectations.map(|(constraint, e)| constraint.wanted.residual(*e)).sum();
        let residual = residuals / evidence.constraints.len().max(1) as f64;
        let variance = options.prior_variance;
        Ok(WeakOutcome { model: learnt.model, rules, residual, steps: learnt.after.step, variance })
    }
}

/// Returns the first counted rules without their directions.
fn undirected(top: usize, train: &[Sentence]) -> Result<RuleSet> {
    let suggest = Suggest { selection: Selection::Top, top, ..Suggest::default() };
    let mut rules = suggest.rules("counted", train)?.rules().to_vec();
    for rule in &mut rules {
        rule.place.direction = Direction::Any;
    }
    let mut seen = Vec::new();
    rules.retain(|rule| {
        let pair = (rule.dependent.clone(), rule.head.clone());
        let is_new = !seen.contains(&pair);
        seen.push(pair);
        is_new
    });
    // The targets are those of directed rules, so they are counted again.
    let counted = RuleSet::new("counted", rules.clone())?.statistics(train);
    for (rule, counted) in rules.iter_mut().zip(counted) {
        rule.target = Target::Exactly(bin(counted.target(rule.counting).unwrap_or(0.0)));
    }
    Ok(RuleSet::new("counted", rules)?)
}

/// Returns the heads of the baseline.
pub(crate) fn baseline_heads(
    rules: &RuleSet,
    sentence: &Sentence,
    set: TreeSet,
) -> Result<Vec<usize>> {
    let trees = TreeDistribution::new(rules.baseline_scores(sentence), set)?;
    Ok(trees.argmax().tree.heads().to_vec())
}

impl Try for Weak {
    type Outcome = Outcome;

    fn run(&self, data: &Data) -> Result<Outcome> {
        let parts = self.corpus.read(data)?;
        let clock = Clock::start();
        let mut outcome = Outcome::default();
        let set = self.tree_set();
        let mut model = None;
        let mut rules = None;
        match self.how {
            How::Weak | How::SelfTaught => {
                let learnt = self.learn(&parts.train)?;
                outcome.rules = learnt.rules.len();
                outcome.weights = learnt.model.arcs.weights.len();
                outcome.steps = learnt.steps;
                outcome.residual = learnt.residual;
                outcome.variance = learnt.variance;
                model = Some(learnt.model);
            }
            How::Rules => {
                let baseline_rules = self.rules(&parts.train)?;
                outcome.rules = baseline_rules.len();
                rules = Some(baseline_rules);
            }
            How::Left | How::Right => {}
        }
        outcome.seconds = clock.seconds();
        let decoding = if self.set == Set::One { Decoding::Mbr } else { Decoding::Map };
        let mut parser = model.as_ref().map(|model| Parser::new(model).with_decoding(decoding));
        let mut heads = |sentence: &Sentence| -> Result<Vec<usize>> {
            let words = sentence.len();
            match (&mut parser, &rules) {
                (Some(parser), _) => Ok(parser.parse(sentence)?.tree.into_heads()),
                (None, Some(rules)) => baseline_heads(rules, sentence, set),
                (None, None) => Ok(match self.how {
                    How::Left => (0..words).collect(),
                    _ => (1..=words).map(|word| if word == words { 0 } else { word + 1 }).collect(),
                }),
            }
        };
        let mut errors = Errors::default();
        for (sentences, score) in [
            (&parts.train, &mut outcome.train),
            (&parts.dev, &mut outcome.dev),
            (&parts.test, &mut outcome.test),
        ] {
            let is_train = std::ptr::eq(sentences, &parts.train);
            if self.evaluated == Evaluated::HeldOut && is_train {
                continue;
            }
            for sentence in sentences {
                let gold =
                    sentence.heads().ok_or_else(|| anyhow!("a sentence has no gold heads"))?;
                let found = heads(sentence)?;
                let before = score.right;
                score.add(&gold, &found);
                if std::ptr::eq(sentences, &parts.test) {
                    outcome.units.push([(score.right - before) as u32, gold.len() as u32]);
                }
                if self.evaluated == Evaluated::Errors && is_train {
                    errors.add(sentence, &gold, &found);
                }
            }
        }
        outcome.errors = (self.evaluated == Evaluated::Errors).then_some(errors);
        Ok(outcome)
    }

    fn templates(&self) -> String {
        let rules = match &self.rules {
            RuleSource::File(name) => std::fs::read_to_string(name).unwrap_or_default(),
            _ => String::new(),
        };
        format!("{}{rules}", self.options().templates)
    }

    fn seconds(outcome: &Outcome) -> f64 {
        outcome.seconds
    }

    fn headline(outcome: &Outcome) -> f64 {
        100.0 * outcome.test.uas()
    }
}

impl fmt::Display for Weak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { corpus, how, rules, features, variance, .. } = self;
        write!(f, "{corpus}, {how:?}, {rules:?}, {features:?}, {:?}", self.set)?;
        variance.iter().try_for_each(|variance| write!(f, ", σ² {variance}"))?;
        if self.trees > 0 && self.trees < usize::MAX {
            write!(f, ", {} trees ({})", self.trees, self.split)?;
        }
        self.entropy.iter().try_for_each(|(order, weight)| write!(f, ", {order:?} × {weight}"))
    }
}
