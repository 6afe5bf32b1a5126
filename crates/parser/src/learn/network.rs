//! Training of networks: an objective over trees, through the scores of a network.
//!
//! ```text
//! L = Σ objective(s, y) + Σ_{h → m ∈ y} −log p(ℓ | h → m) + c · Σ −log p(tags)
//!
//! ∂L/∂s(h, m) = μ(h, m) − [h → m ∈ y]                  if the objective is the likelihood
//! ```
//!
//! The [objective](super::objective) gives one coefficient per arc, from exact marginals, as it does for weights of
//! features. The network takes it from there, so no determinant is differentiated by a framework. Labels and tags are
//! softmax classifiers.
//!
//! A batch is a number of sentences with about [`batch`](NetworkTraining::with_batch) sub-words. It is divided into
//! [`SHARDS`] parts, whose gradients are computed on several threads and added in a fixed order. So the result does not
//! depend on the number of threads. Weights follow AdamW, with a rate that rises at the start and then falls to 0.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use tutte_linear::{Observer, Order, for_each_part};
use tutte_neural::{
    Activations, AdamW, AdamWOptions, Coefficients, Gradients, Mode, Network, NetworkOptions,
    ScratchOptions, SentenceInput, cross_entropy,
};
use tutte_treebank::eval::Attachment;
use tutte_treebank::{Sentence, Token};
use tutte_trees::{ArcMatrix, TreeSet, arcs};

use super::objective::{Objective, Scored, Scratch, likelihood};
use crate::features::FeatureSet;
use crate::{
    ArcModel, Decoding, Error, Index, LabelModel, Labelling, NetworkScorer, ParserModel, TagClasses,
};

/// Number of parts of a batch. It is part of the result: gradients are added part by part.
const SHARDS: usize = 4;

/// Factor of the loss of tags.
const TAG_FACTOR: f32 = 0.3;

/// Binary logarithm of the number of arc weights of a model without features.
const NO_FEATURES: u32 = 6;

/// The encoder of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncoderSource {
    /// A pretrained encoder: a folder with `config.json`, `tokenizer.json` and `model.safetensors`.
    Folder(PathBuf),
    /// A small encoder of words and characters that starts from random weights.
    Scratch,
}

/// Settings for training a network, with one method for each.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkTraining {
    epochs: usize,
    batch: usize,
    encoder_rate: f32,
    rate: f32,
    warmup: usize,
    dropout: f32,
    has_frozen_encoder: bool,
    objective: Objective,
    seed: u64,
    threads: usize,
}

impl Default for NetworkTraining {
    fn default() -> Self {
        Self {
            epochs: 6,
            batch: 1000,
            encoder_rate: 2e-4,
            rate: 1e-3,
            warmup: 200,
            dropout: 0.33,
            has_frozen_encoder: false,
            objective: likelihood(),
            seed: 1,
            threads: 1,
        }
    }
}

impl NetworkTraining {
    /// Returns the default settings, which suit pretrained encoders.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns settings for encoders that start from random weights.
    pub fn scratch() -> Self {
        Self { epochs: 20, encoder_rate: 1e-3, rate: 1e-3, ..Self::default() }
    }

    /// Sets the number of passes over the treebank.
    pub fn with_epochs(self, epochs: usize) -> Self {
        Self { epochs, ..self }
    }

    /// Returns the number of passes over the treebank.
    pub fn epochs(&self) -> usize {
        self.epochs
    }

    /// Sets the number of sub-words of a batch.
    pub fn with_batch(self, batch: usize) -> Self {
        Self { batch, ..self }
    }

    /// Sets the rates of the encoder and of everything above it.
    pub fn with_rates(self, encoder_rate: f32, rate: f32) -> Self {
        Self { encoder_rate, rate, ..self }
    }

    /// Sets the number of steps in which the rates rise.
    pub fn with_warmup(self, warmup: usize) -> Self {
        Self { warmup, ..self }
    }

    /// Sets the dropout above the encoder.
    pub fn with_dropout(self, dropout: f32) -> Self {
        Self { dropout, ..self }
    }

    /// Keeps the weights of the encoder.
    pub fn with_frozen_encoder(self, has_frozen_encoder: bool) -> Self {
        Self { has_frozen_encoder, ..self }
    }

    /// Sets the objective of arcs.
    pub fn with_objective(self, objective: Objective) -> Self {
        Self { objective, ..self }
    }

    /// Sets the seed of all random choices.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the number of threads, which does not change the result. More than four are not used.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
}

/// Progress of a training, for its observer.
#[derive(Debug)]
#[non_exhaustive]
pub enum NetworkEvent<'a> {
    /// A step was made.
    Step {
        /// Number of steps so far.
        step: usize,
        /// Number of all steps.
        of: usize,
        /// Mean loss per word of the last batch.
        loss: f64,
    },
    /// A pass over the treebank has ended.
    Epoch {
        /// Its number, from 1.
        epoch: usize,
        /// Mean loss per word.
        loss: f64,
        /// The model.
        model: &'a ParserModel,
        /// Scores on development data.
        dev: Option<Attachment>,
    },
}

/// Trains a network on a treebank, and returns the model of the last epoch. Development data may be empty.
///
/// The trees must be in the tree set. Words without a head, a label or a tag do not count.
///
/// # Errors
/// If the encoder cannot be read, or if a sentence has no tree in the tree set.
pub fn train_network(
    treebank: &[Sentence],
    dev: &[Sentence],
    tree_set: TreeSet,
    encoder: &EncoderSource,
    options: &NetworkTraining,
    observer: &mut dyn for<'a> Observer<NetworkEvent<'a>>,
) -> Result<ParserModel, Error> {
    let classes = Classes::of(treebank);
    let mut network = classes.network(encoder, options)?;
    let examples = classes.examples(treebank, &network)?;
    let mut template = classes.model(treebank, tree_set);
    let mut shards = Vec::with_capacity(SHARDS);
    for _ in 0..SHARDS {
        shards.push(Shard::new(network.gradients()?));
    }
    let mut order = Order::new(options.seed, 0);
    let epochs: Vec<Vec<Vec<usize>>> = (0..options.epochs)
        .map(|_| batches(&examples, &order.shuffled(examples.len()), options.batch))
        .collect();
    let steps: usize = epochs.iter().map(Vec::len).sum();
    let adamw = AdamWOptions::new()
        .with_rates(options.encoder_rate, options.rate)
        .with_steps(options.warmup.min(steps / 10), steps);
    let mut optimizer = AdamW::new(adamw, &shards[0].gradients);
    for (epoch, batches) in (1..).zip(&epochs) {
        let progress = (epoch - 1) as f64 / (options.epochs.max(2) - 1) as f64;
        let mut total = 0.0;
        for batch in batches {
            let words = batch.iter().map(|&at| examples[at].heads.len()).sum::<usize>() as f64;
            let step = optimizer.steps();
            divide(batch, &examples, &mut shards);
            let task = Task { network: &network, examples: &examples, tree_set, progress, words };
            for_each_part(&mut shards, options.threads, |shard| {
                shard.run(&task, &options.objective, seed_of(options.seed, step, shard.number))
            })?;
            let loss: f64 = shards.iter().map(|shard| shard.loss).sum();
            let (first, rest) = shards.split_at_mut(1);
            rest.iter().for_each(|shard| first[0].gradients.add(&shard.gradients));
            optimizer.step(&mut network, &first[0].gradients);
            total += loss;
            let event = NetworkEvent::Step { step: step + 1, of: steps, loss: loss / words };
            if observer.observe(event).is_break() {
                return Err(Error::Stopped);
            }
        }
        let words: usize = examples.iter().map(|example| example.heads.len()).sum();
        template.network =
            Some(Arc::new(NetworkScorer::new(network.clone(), classes.tags.clone())?));
        let dev = if dev.is_empty() {
            None
        } else {
            Some(template.evaluate(dev, Decoding::Mbr, options.threads)?)
        };
        let loss = total / words.max(1) as f64;
        let event = NetworkEvent::Epoch { epoch, loss, model: &template, dev };
        if observer.observe(event).is_break() {
            break;
        }
    }
    Ok(template)
}

/// Returns the seed of dropout of a shard.
fn seed_of(seed: u64, step: usize, shard: usize) -> u64 {
    tutte_linear::seed_of_stream(seed, (step * SHARDS + shard) as u64)
}

/// Divides examples, in this order, into batches of about this many sub-words.
fn batches(examples: &[Example], order: &[usize], subwords: usize) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    let mut batch = Vec::new();
    let mut size = 0;
    for &at in order {
        let length = examples[at].input.rows();
        if size + length > subwords && !batch.is_empty() {
            all.push(std::mem::take(&mut batch));
            size = 0;
        }
        batch.push(at);
        size += length;
    }
    if !batch.is_empty() {
        all.push(batch);
    }
    all
}

/// Divides a batch into shards of about the same number of sub-words: each sentence, the longest first, goes to the
/// smallest shard.
fn divide(batch: &[usize], examples: &[Example], shards: &mut [Shard]) {
    let mut sizes = vec![0; shards.len()];
    for (number, shard) in shards.iter_mut().enumerate() {
        shard.sentences.clear();
        shard.number = number;
    }
    let mut falling = batch.to_vec();
    falling.sort_by_key(|&at| std::cmp::Reverse(examples[at].input.rows()));
    for at in falling {
        let smallest = (0..sizes.len()).min_by_key(|&shard| sizes[shard]).unwrap_or(0);
        sizes[smallest] += examples[at].input.rows();
        shards[smallest].sentences.push(at);
    }
}

/// A sentence to learn from.
struct Example {
    input: SentenceInput,
    heads: Vec<Option<usize>>,
    labels: Vec<Option<usize>>,
    /// Class of each word, for each tag head.
    tags: Vec<Vec<Option<usize>>>,
}

/// Everything that the shards of a batch share.
struct Task<'a> {
    network: &'a Network,
    examples: &'a [Example],
    tree_set: TreeSet,
    progress: f64,
    /// Number of words of the batch.
    words: f64,
}

/// A part of a batch, with the memory of a thread.
struct Shard {
    number: usize,
    sentences: Vec<usize>,
    activations: Activations,
    coefficients: Coefficients,
    gradients: Gradients,
    scratch: Scratch,
    scores: ArcMatrix,
    arc_gradient: ArcMatrix,
    label_scores: Vec<f32>,
    target: Vec<f32>,
    gradient: Vec<f32>,
    loss: f64,
}

impl Shard {
    fn new(gradients: Gradients) -> Self {
        Self {
            number: 0,
            sentences: Vec::new(),
            activations: Activations::new(),
            coefficients: Coefficients::new(),
            gradients,
            scratch: Scratch::default(),
            scores: ArcMatrix::default(),
            arc_gradient: ArcMatrix::default(),
            label_scores: Vec::new(),
            target: Vec::new(),
            gradient: Vec::new(),
            loss: 0.0,
        }
    }

    /// Computes the loss and the gradient of the shard's sentences.
    fn run(&mut self, task: &Task<'_>, objective: &Objective, seed: u64) -> Result<(), Error> {
        self.gradients.clear();
        self.loss = 0.0;
        if self.sentences.is_empty() {
            return Ok(());
        }
        let inputs = self.sentences.iter().map(|&at| &task.examples[at].input);
        task.network.forward(inputs, Mode::Train { seed }, &mut self.activations);
        self.coefficients.reset(&self.activations);
        for number in 0..self.sentences.len() {
            let example = &task.examples[self.sentences[number]];
            self.score_arcs(number, example, task, objective)?;
            self.score_labels(number, example, task.words);
            self.score_tags(number, example, task.words);
        }
        task.network.backward(&mut self.activations, &self.coefficients, &mut self.gradients);
        Ok(())
    }

    fn score_arcs(
        &mut self,
        number: usize,
        example: &Example,
        task: &Task<'_>,
        objective: &Objective,
    ) -> Result<(), Error> {
        let words = example.heads.len();
        let places = words + 1;
        self.scores.reset(words, f64::NEG_INFINITY);
        let found = self.activations.arc_scores(number);
        for (head, modifier) in arcs(words) {
            self.scores[(head, modifier)] = f64::from(found[head * places + modifier]);
        }
        let scored = Scored {
            scores: &self.scores,
            gold: &example.heads,
            teacher: &[],
            tree_set: task.tree_set,
        };
        self.loss +=
            objective.evaluate(scored, task.progress, &mut self.scratch, &mut self.arc_gradient)?;
        let coefficients = self.coefficients.arcs_mut(number);
        for (head, modifier) in arcs(words) {
            coefficients[head * places + modifier] =
                (self.arc_gradient[(head, modifier)] / task.words) as f32;
        }
        Ok(())
    }

    fn score_labels(&mut self, number: usize, example: &Example, words: f64) {
        let gold = (1..).zip(&example.heads).zip(&example.labels);
        let gold = gold.filter_map(|((word, head), label)| Some((((*head)?, word), (*label)?)));
        for (arc, label) in gold {
            self.activations.label_scores(number, &[arc], &mut self.label_scores);
            let sum = tutte_linear::log_sum(&self.label_scores);
            self.label_scores.iter_mut().for_each(|score| *score -= sum);
            self.loss += self.add_class(label, 1.0, words);
            self.coefficients.add_labels(number, arc, &self.gradient);
        }
    }

    /// Computes the gradient of −log p of a class from the log-probabilities in `label_scores`; returns the loss.
    fn add_class(&mut self, class: usize, factor: f32, words: f64) -> f64 {
        self.target.clear();
        self.target.resize(self.label_scores.len(), 0.0);
        self.target[class] = factor;
        self.gradient.resize(self.label_scores.len(), 0.0);
        let loss = cross_entropy(&self.label_scores, &self.target, &mut self.gradient);
        self.gradient.iter_mut().for_each(|derivative| *derivative /= words as f32);
        loss
    }

    fn score_tags(&mut self, number: usize, example: &Example, words: f64) {
        for (head, classes) in example.tags.iter().enumerate() {
            let width = self.activations.tag_log_probs(number, head).len() / classes.len().max(1);
            for (word, class) in classes.iter().enumerate() {
                let Some(class) = *class else { continue };
                let log_probs = self.activations.tag_log_probs(number, head);
                self.label_scores.clear();
                self.label_scores.extend_from_slice(&log_probs[word * width..][..width]);
                self.loss += self.add_class(class, TAG_FACTOR, words);
                self.coefficients.tags_mut(number, head)[word * width..][..width]
                    .copy_from_slice(&self.gradient);
            }
        }
    }
}

/// The labels and tags of a treebank.
struct Classes {
    labels: Vec<String>,
    tags: Vec<TagClasses>,
}

/// Tag heads: their names, and the column of each.
const TAG_HEADS: [(&str, fn(Token<'_>) -> &str); 3] =
    [("upos", upos_of), ("xpos", xpos_of), ("feats", feats_of)];

fn upos_of(word: Token<'_>) -> &str {
    word.upos()
}

fn xpos_of(word: Token<'_>) -> &str {
    word.xpos()
}

fn feats_of(word: Token<'_>) -> &str {
    word.feats()
}

impl Classes {
    fn of(treebank: &[Sentence]) -> Self {
        let words = || treebank.iter().flat_map(Sentence::words);
        let labels: BTreeSet<&str> =
            words().map(|word| word.deprel()).filter(|label| *label != "_").collect();
        let tags = TAG_HEADS.iter().filter_map(|(head, column)| {
            let names: BTreeSet<&str> = words().map(column).collect();
            // A column that is always empty needs no classifier.
            let is_used = names.iter().any(|name| *name != "_");
            let names = names.into_iter().map(str::to_owned).collect();
            is_used.then(|| TagClasses { head: (*head).to_owned(), names })
        });
        Self { labels: labels.into_iter().map(str::to_owned).collect(), tags: tags.collect() }
    }

    fn network(
        &self,
        encoder: &EncoderSource,
        training: &NetworkTraining,
    ) -> Result<Network, Error> {
        let mut options = NetworkOptions::new()
            .with_labels(self.labels.len())
            .with_dropout(training.dropout)
            .with_frozen_encoder(training.has_frozen_encoder)
            .with_seed(training.seed);
        for TagClasses { head, names } in &self.tags {
            options = options.with_tag_head(head, names.len());
        }
        Ok(match encoder {
            EncoderSource::Folder(folder) => Network::open(folder, options)?,
            EncoderSource::Scratch => Network::scratch(&ScratchOptions::new(), options)?,
        })
    }

    fn examples(&self, treebank: &[Sentence], network: &Network) -> Result<Vec<Example>, Error> {
        let class = |names: &[String], name: &str| {
            names.binary_search_by(|other| other.as_str().cmp(name)).ok()
        };
        let example = |sentence: &Sentence| {
            let forms: Vec<&str> = sentence.words().map(|word| word.form()).collect();
            let tags = self.tags.iter().map(|tags| {
                let column = TAG_HEADS.iter().find(|(head, _)| *head == tags.head);
                let column = column.map_or(upos_of as fn(Token<'_>) -> &str, |(_, column)| *column);
                sentence.words().map(|word| class(&tags.names, column(word))).collect()
            });
            Ok(Example {
                input: network.encode(&forms)?,
                heads: sentence.words().map(|word| word.head()).collect(),
                labels: sentence.words().map(|word| class(&self.labels, word.deprel())).collect(),
                tags: tags.collect(),
            })
        };
        treebank.iter().filter(|sentence| !sentence.is_empty()).map(example).collect()
    }

    /// Makes a model without features, whose network is still missing.
    fn model(&self, treebank: &[Sentence], tree_set: TreeSet) -> ParserModel {
        let none = FeatureSet::new(Vec::new());
        let arcs = ArcModel::new(none.clone(), Index::Hashed { bits: NO_FEATURES });
        let labels = if self.labels.is_empty() {
            LabelModel::none()
        } else {
            let mut labels = LabelModel::new(none, self.labels.clone(), 2);
            let words = treebank.iter().flat_map(Sentence::words);
            labels.observe(words.filter_map(|word| {
                let label = self.labels.iter().position(|label| label == word.deprel())?;
                Some((word.head()?, label))
            }));
            labels.with_labelling(Labelling::Staged)
        };
        ParserModel::new(arcs, labels, tree_set)
    }
}
