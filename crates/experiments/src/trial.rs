//! A supervised trial: a learner with its parameters on one split, evaluated after every pass.
//!
//! The number of passes is tuned as in Koo et al. (2007): for each decoder, the pass with the best accuracy on the
//! tuning sentences is tested.

use std::fmt;
use std::rc::Rc;
use tutte::learn::TrainedPass;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tutte::features::{Atoms, FeatureSet, Prepared};
use tutte::latent;
use tutte::{
    ArcModel, Index, LabelModel, LabelOptions, Optimizer, ParserModel, TrainingOptions,
    train_further,
};
use tutte_treebank::Sentence;
use tutte_treebank::eval::significance::UnitCounts;
use tutte_trees::{ArcMatrix, TreeSet};

use crate::clock::Clock;
use crate::data::{Cut, Data, Source, Split, words};
use crate::decoder::{CalibrationSummary, Decoder, Scores, SentenceDecoder};
use crate::lab::Try;

/// All settings that determine the outcome. The cache is keyed by their serialised names: to rename a field, keep
/// its old name with `serde(rename)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trial {
    pub(crate) source: Source,
    pub(crate) cut: Cut,
    /// The learner as text, with its parameters.
    pub(crate) learner: String,
    /// A learner to start from, and its number of passes.
    pub(crate) after: Option<(String, usize)>,
    pub(crate) templates: Templates,
    /// Trains over projective trees.
    pub(crate) projective: bool,
    /// Number of latent clusters of arcs; 0 for a model without clusters.
    #[serde(rename = "kinds")]
    pub(crate) clusters: usize,
    pub(crate) passes: usize,
    /// Binary logarithm of the number of weights.
    pub(crate) bits: u32,
    pub(crate) decoders: Vec<Decoder>,
    /// Tests the calibration of the last decoder's best pass.
    #[serde(rename = "judged")]
    pub(crate) should_test_calibration: bool,
}

/// Feature templates of arcs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Templates {
    McDonald,
    /// Templates of Nguyen et al. (2007).
    PassiveAggressive,
    /// `PassiveAggressive` with universal tags instead of fine ones.
    PassiveAggressiveUniversal,
    Richer,
}

impl Templates {
    pub(crate) fn set(self) -> FeatureSet {
        match self {
            Templates::McDonald => FeatureSet::mcdonald(),
            Templates::PassiveAggressive => FeatureSet::passive_aggressive(),
            Templates::PassiveAggressiveUniversal => universal(&FeatureSet::passive_aggressive()),
            Templates::Richer => FeatureSet::richer(),
        }
    }
}

/// Replaces fine tags with universal tags.
fn universal(features: &FeatureSet) -> FeatureSet {
    let text = features.to_string().replace(".tag", ".upos");
    FeatureSet::parse(&text).unwrap_or_else(|_| features.clone())
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.source, self.learner)?;
        if let Some((first, _)) = &self.after {
            write!(f, " after {first}")?;
        }
        if self.clusters > 0 {
            write!(f, " with {} clusters of arcs", self.clusters)?;
        }
        let shape = if self.projective { "projective" } else { "non-projective" };
        write!(f, ", {shape}, {:?}", self.templates)
    }
}

/// Outcome of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Number of training words.
    pub(crate) words: usize,
    /// Processor time of each pass.
    pub(crate) seconds: Vec<f64>,
    /// Length of each test sentence.
    pub(crate) lengths: Vec<u32>,
    /// Results of each decoder.
    pub(crate) decoded: Vec<Decoded>,
    /// Calibration with the scores as they are, and with the scores multiplied by the best factor on dev.
    #[serde(rename = "judged")]
    pub(crate) calibration: Option<[CalibrationSummary; 2]>,
}

/// Results of a decoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Decoded {
    pub(crate) decoder: Decoder,
    /// UAS on dev after each pass.
    pub(crate) dev: Vec<f64>,
    /// The first pass with the best UAS on dev, from 1.
    pub(crate) best_pass: usize,
    /// Correct heads of each test sentence after that pass.
    pub(crate) correct: Vec<u32>,
}

impl Decoded {
    /// Returns the UAS on dev after the best pass.
    pub(crate) fn best_dev(&self) -> f64 {
        self.dev.get(self.best_pass - 1).copied().unwrap_or(0.0)
    }
}

impl Outcome {
    /// Returns the processor time of all passes.
    pub(crate) fn total_seconds(&self) -> f64 {
        self.seconds.iter().sum()
    }

    /// Returns the UAS on test of a decoder, by its index.
    pub(crate) fn uas(&self, decoder: usize) -> f64 {
        let correct: u32 = self.decoded[decoder].correct.iter().sum();
        f64::from(correct) / f64::from(self.lengths.iter().sum::<u32>().max(1))
    }

    /// Returns the counts by sentence, for tests of significance.
    pub(crate) fn units(&self, decoder: usize) -> Vec<UnitCounts> {
        let counts = self.decoded[decoder].correct.iter().zip(&self.lengths);
        counts.map(|(&correct, &gold)| UnitCounts { correct, gold, system: gold }).collect()
    }
}

impl Try for Trial {
    type Outcome = Outcome;

    fn templates(&self) -> String {
        self.templates.set().to_string()
    }

    fn seconds(outcome: &Outcome) -> f64 {
        outcome.total_seconds()
    }

    fn headline(outcome: &Outcome) -> f64 {
        100.0 * outcome.uas(0)
    }

    /// Trains, decodes and evaluates.
    fn run(&self, data: &Data) -> Result<Outcome> {
        let split = data.split(&self.source, self.cut)?;
        let tree_set = split.tree_set(self.projective);
        let mut observer = PassObserver::new(self, &split, tree_set);
        let options = |learner: &str, passes| -> Result<TrainingOptions> {
            Ok(TrainingOptions::plain()
                .with_optimizer(learner.parse::<Optimizer>()?)
                .with_passes(passes)
                .with_labels(LabelOptions::default().with_passes(Some(0))))
        };
        let features = self.templates.set();
        let index = Index::Hashed { bits: self.bits };
        let last = options(&self.learner, self.passes)?;
        let arcs = match self.clusters {
            0 => ArcModel::new(features, index),
            clusters => ArcModel::clustered(features, index, clusters, NOISE_DEVIATION, last.seed),
        };
        let mut model = empty(&split.train, arcs, tree_set);
        if let Some((first, passes)) = &self.after {
            model = train_further(model, &split.train, &options(first, *passes)?, &mut ())?;
        }
        observer.start();
        train_further(
            model,
            &split.train,
            &last,
            &mut |TrainedPass { model, .. }: TrainedPass<'_>| {
                observer.pass(|sentence| score(model, sentence));
            },
        )?;
        observer.finish()
    }
}

/// Standard deviation of the initial noise that makes latent clusters differ.
const NOISE_DEVIATION: f64 = 0.01;

/// Returns an untrained model with the labels of a treebank.
fn empty(treebank: &[Sentence], arcs: ArcModel, tree_set: TreeSet) -> ParserModel {
    let labels = treebank.iter().flat_map(|s| s.words().map(|word| word.deprel().to_owned()));
    let mut names: Vec<String> = labels.collect();
    names.sort_unstable();
    names.dedup();
    ParserModel::new(arcs, LabelModel::new(FeatureSet::new(Vec::new()), names, 1), tree_set)
}

/// Returns the arc scores of a sentence, and those of each arc's best cluster if there are several.
fn score(model: &ParserModel, sentence: &Sentence) -> Scores {
    let ParserModel { arcs, .. } = model;
    let mut prepared = Prepared::default();
    prepared.fill(&arcs.features, &Atoms::new(sentence, arcs.features.columns()), |_| true);
    if arcs.clusters() > 1 {
        let by_cluster = arcs.score_by_cluster(&prepared, |_, _| true);
        return Scores {
            summed: latent::summed(&by_cluster),
            best_cluster: Some(latent::best(&by_cluster)),
        };
    }
    let mut summed = ArcMatrix::zeros(sentence.len());
    arcs.score(&prepared, |_, _| true, &mut summed);
    Scores { summed, best_cluster: None }
}

/// Scores of the tuning and test sentences after one pass.
#[derive(Debug)]
struct PassScores {
    dev: Vec<Scores>,
    test: Vec<Scores>,
}

/// Evaluates the model after each pass and keeps the scores of the best passes.
#[derive(Debug)]
struct PassObserver<'a> {
    trial: &'a Trial,
    split: &'a Split,
    decoder: SentenceDecoder,
    clock: Clock,
    seconds: Vec<f64>,
    /// UAS on dev after each pass, by decoder.
    dev: Vec<Vec<f64>>,
    /// The best pass and its scores, by decoder.
    best: Vec<Option<(usize, Rc<PassScores>)>>,
    /// First error. It is returned at the end, because training does not take errors from its observer.
    failure: Option<anyhow::Error>,
}

impl<'a> PassObserver<'a> {
    fn new(trial: &'a Trial, split: &'a Split, tree_set: TreeSet) -> Self {
        let decoders = trial.decoders.len();
        Self {
            trial,
            split,
            decoder: SentenceDecoder::new(tree_set),
            clock: Clock::start(),
            seconds: Vec::new(),
            dev: vec![Vec::new(); decoders],
            best: vec![None; decoders],
            failure: None,
        }
    }

    /// Starts the clock of the next pass.
    fn start(&mut self) {
        self.clock = Clock::start();
    }

    /// Ends a pass and evaluates the model, which scores sentences by `score`.
    fn pass(&mut self, score: impl FnMut(&Sentence) -> Scores) {
        self.seconds.push(self.clock.seconds());
        if let Err(error) = self.evaluate(score) {
            self.failure.get_or_insert(error);
        }
        self.start();
    }

    fn evaluate(&mut self, mut score: impl FnMut(&Sentence) -> Scores) -> Result<()> {
        let pass = self.seconds.len();
        let dev: Vec<Scores> = self.split.dev.iter().map(&mut score).collect();
        let mut improved = Vec::new();
        for (number, &decoder) in self.trial.decoders.iter().enumerate() {
            let correct = self.decoder.correct(decoder, &dev, &self.split.dev)?;
            let uas = f64::from(correct.iter().sum::<u32>()) / words(&self.split.dev) as f64;
            if self.dev[number].iter().all(|&before| before < uas) {
                improved.push(number);
            }
            self.dev[number].push(uas);
        }
        if !improved.is_empty() {
            let test = self.split.test.iter().map(&mut score).collect();
            let scores = Rc::new(PassScores { dev, test });
            for number in improved {
                self.best[number] = Some((pass, Rc::clone(&scores)));
            }
        }
        Ok(())
    }

    /// Tests each decoder on its best pass.
    fn finish(mut self) -> Result<Outcome> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let gold = &self.split.test;
        let mut decoded = Vec::new();
        for ((&decoder, dev), best) in self.trial.decoders.iter().zip(self.dev).zip(&self.best) {
            let Some((best_pass, scores)) = best else { continue };
            let correct = self.decoder.correct(decoder, &scores.test, gold)?;
            decoded.push(Decoded { decoder, dev, best_pass: *best_pass, correct });
        }
        let mut calibration = None;
        let last_best = self.best.last().filter(|_| self.trial.should_test_calibration);
        if let Some(Some((_, scores))) = last_best {
            let gamma = self.decoder.best_scale(&scores.dev, &self.split.dev)?;
            let plain = self.decoder.calibration(1.0, &scores.test, gold)?;
            let scaled = self.decoder.calibration(gamma, &scores.test, gold)?;
            calibration = plain.zip(scaled).map(|(plain, scaled)| [plain, scaled]);
        }
        Ok(Outcome {
            words: words(&self.split.train),
            seconds: self.seconds,
            lengths: gold.iter().map(|sentence| sentence.len() as u32).collect(),
            decoded,
            calibration,
        })
    }
}
