//! One trial: a learner with its parameters, on one split, judged after every pass.
//!
//! The number of passes is tuned as Koo et al. (2007) did: for each decoder, the pass that does best
//! on what is tuned on is the one that is tested.

use std::fmt;
use std::rc::Rc;

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
use crate::decoder::{Decoder, Decoding, Judged, Scores};
use crate::lab::Try;

/// All that decides what a trial finds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trial {
    pub(crate) source: Source,
    pub(crate) cut: Cut,
    /// The learner as text, with the parameters that matter.
    pub(crate) learner: String,
    /// A learner to start from, and its passes.
    pub(crate) after: Option<(String, usize)>,
    pub(crate) templates: Templates,
    /// Whether the trees that are learnt are projective.
    pub(crate) projective: bool,
    /// The number of latent kinds of arcs; 0 if there is no such thing.
    pub(crate) kinds: usize,
    pub(crate) passes: usize,
    /// The binary logarithm of the number of weights.
    pub(crate) bits: u32,
    pub(crate) decoders: Vec<Decoder>,
    /// Whether to judge the probabilities of the last decoder's pass.
    pub(crate) judged: bool,
}

/// What arcs are scored by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Templates {
    McDonald,
    /// Those of Nguyen et al. (2007).
    PassiveAggressive,
    /// The same with universal tags instead of fine ones.
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

/// The same templates, of universal tags.
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
        if self.kinds > 0 {
            write!(f, " with {} kinds of arcs", self.kinds)?;
        }
        let shape = if self.projective { "projective" } else { "non-projective" };
        write!(f, ", {shape}, {:?}", self.templates)
    }
}

/// What a trial has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// The words learnt from.
    pub(crate) words: usize,
    /// The time of each pass of the learner.
    pub(crate) seconds: Vec<f64>,
    /// The length of each test sentence.
    pub(crate) lengths: Vec<u32>,
    /// By decoder.
    pub(crate) decoded: Vec<Decoded>,
    /// The probabilities as they are, and with scores multiplied by what is best on dev.
    pub(crate) judged: Option<[Judged; 2]>,
}

/// How a decoder did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Decoded {
    pub(crate) decoder: Decoder,
    /// UAS on dev after each pass.
    pub(crate) dev: Vec<f64>,
    /// The first of the best of them, from 1.
    pub(crate) best_pass: usize,
    /// Correct heads of each test sentence then.
    pub(crate) correct: Vec<u32>,
}

impl Decoded {
    /// UAS on dev after the best pass.
    pub(crate) fn best_dev(&self) -> f64 {
        self.dev.get(self.best_pass - 1).copied().unwrap_or(0.0)
    }
}

impl Outcome {
    /// The time of all passes.
    pub(crate) fn total_seconds(&self) -> f64 {
        self.seconds.iter().sum()
    }

    /// UAS on test, of a decoder by its place.
    pub(crate) fn uas(&self, decoder: usize) -> f64 {
        let correct: u32 = self.decoded[decoder].correct.iter().sum();
        f64::from(correct) / f64::from(self.lengths.iter().sum::<u32>().max(1))
    }

    /// What tests of significance compare.
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

    /// Learns, decodes and judges.
    fn run(&self, data: &Data) -> Result<Outcome> {
        let split = data.split(&self.source, self.cut)?;
        let tree_set = split.tree_set(self.projective);
        let mut watcher = Watcher::new(self, &split, tree_set);
        let options = |learner: &str, passes| -> Result<TrainingOptions> {
            Ok(TrainingOptions {
                optimizer: learner.parse::<Optimizer>()?,
                passes,
                labels: LabelOptions { passes: Some(0), ..LabelOptions::default() },
                ..TrainingOptions::plain()
            })
        };
        let (features, index) = (self.templates.set(), Index::Hashed { bits: self.bits });
        let last = options(&self.learner, self.passes)?;
        let arcs = match self.kinds {
            0 => ArcModel::new(features, index),
            kinds => ArcModel::clustered(features, index, kinds, DEVIATION, last.seed),
        };
        let mut model = empty(&split.train, arcs, tree_set);
        if let Some((first, passes)) = &self.after {
            model = train_further(model, &split.train, &options(first, *passes)?, |_, _| {})?;
        }
        watcher.start();
        train_further(model, &split.train, &last, |_, model| {
            watcher.pass(|sentence| score(model, sentence));
        })?;
        watcher.finish()
    }
}

/// Of the noise that makes latent kinds differ.
const DEVIATION: f64 = 0.01;

/// A model whose labels are known but not learnt.
fn empty(treebank: &[Sentence], arcs: ArcModel, tree_set: TreeSet) -> ParserModel {
    let labels = treebank.iter().flat_map(|s| s.words().map(|word| word.deprel().to_owned()));
    let mut names: Vec<String> = labels.collect();
    names.sort_unstable();
    names.dedup();
    ParserModel::new(arcs, LabelModel::new(FeatureSet::new(Vec::new()), names, 1), tree_set)
}

/// The scores of arcs, and those of each arc's best kind if there are several.
fn score(model: &ParserModel, sentence: &Sentence) -> Scores {
    let ParserModel { arcs, .. } = model;
    let mut prepared = Prepared::default();
    prepared.fill(&arcs.features, &Atoms::new(sentence, arcs.features.columns()), |_| true);
    if arcs.clusters() > 1 {
        let clusters = arcs.score_by_cluster(&prepared, |_, _| true);
        return Scores {
            summed: latent::summed(&clusters),
            best_kind: Some(latent::best(&clusters)),
        };
    }
    let mut summed = ArcMatrix::zeros(sentence.len());
    arcs.score(&prepared, |_, _| true, &mut summed);
    Scores { summed, best_kind: None }
}

/// The scores of what is tuned on and of what is tested on, after one pass.
#[derive(Debug)]
struct Scored {
    dev: Vec<Scores>,
    test: Vec<Scores>,
}

/// Sees a model after each pass and keeps what the best ones said.
#[derive(Debug)]
struct Watcher<'a> {
    trial: &'a Trial,
    split: &'a Split,
    decoding: Decoding,
    clock: Clock,
    seconds: Vec<f64>,
    /// UAS on dev after each pass, by decoder.
    dev: Vec<Vec<f64>>,
    /// The best pass and its scores, by decoder.
    best: Vec<Option<(usize, Rc<Scored>)>>,
    /// What went wrong; training cannot be told.
    failure: Option<anyhow::Error>,
}

impl<'a> Watcher<'a> {
    fn new(trial: &'a Trial, split: &'a Split, tree_set: TreeSet) -> Self {
        let decoders = trial.decoders.len();
        Self {
            trial,
            split,
            decoding: Decoding::new(tree_set),
            clock: Clock::start(),
            seconds: Vec::new(),
            dev: vec![Vec::new(); decoders],
            best: vec![None; decoders],
            failure: None,
        }
    }

    /// The next pass starts.
    fn start(&mut self) {
        self.clock = Clock::start();
    }

    /// A pass has ended, and sentences are scored like this now.
    fn pass(&mut self, score: impl FnMut(&Sentence) -> Scores) {
        self.seconds.push(self.clock.seconds());
        if let Err(error) = self.judge(score) {
            self.failure.get_or_insert(error);
        }
        self.start();
    }

    fn judge(&mut self, mut score: impl FnMut(&Sentence) -> Scores) -> Result<()> {
        let pass = self.seconds.len();
        let dev: Vec<Scores> = self.split.dev.iter().map(&mut score).collect();
        let mut improved = Vec::new();
        for (number, &decoder) in self.trial.decoders.iter().enumerate() {
            let correct = self.decoding.correct(decoder, &dev, &self.split.dev)?;
            let uas = f64::from(correct.iter().sum::<u32>()) / words(&self.split.dev) as f64;
            if self.dev[number].iter().all(|&before| before < uas) {
                improved.push(number);
            }
            self.dev[number].push(uas);
        }
        if !improved.is_empty() {
            let test = self.split.test.iter().map(&mut score).collect();
            let scored = Rc::new(Scored { dev, test });
            for number in improved {
                self.best[number] = Some((pass, Rc::clone(&scored)));
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
            let Some((best_pass, scored)) = best else { continue };
            let correct = self.decoding.correct(decoder, &scored.test, gold)?;
            decoded.push(Decoded { decoder, dev, best_pass: *best_pass, correct });
        }
        let mut judged = None;
        if let Some(Some((_, scored))) = self.best.last().filter(|_| self.trial.judged) {
            let gamma = self.decoding.best_scale(&scored.dev, &self.split.dev)?;
            let plain = self.decoding.judge(1.0, &scored.test, gold)?;
            let scaled = self.decoding.judge(gamma, &scored.test, gold)?;
            judged = plain.zip(scaled).map(|(plain, scaled)| [plain, scaled]);
        }
        Ok(Outcome {
            words: words(&self.split.train),
            seconds: self.seconds,
            lengths: gold.iter().map(|sentence| sentence.len() as u32).collect(),
            decoded,
            judged,
        })
    }
}
