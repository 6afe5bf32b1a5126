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
//! depend on the number of threads. A step may add the gradients of several batches. Weights follow AdamW, with a rate
//! that rises at the start and then falls to 0.
//!
//! Rules are one more term of the loss (`network/rules.rs`).

mod examples;
mod options;
mod rules;
mod shard;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tutte_linear::{Checkpointed, Checksum, Codec, Observer, Order, for_each_part};
use tutte_neural::{AdamW, AdamWOptions, Gradients, Mode, Network, ScratchOptions, WeightAverage};
use tutte_treebank::Sentence;
use tutte_treebank::eval::Attachment;
use tutte_trees::TreeSet;

use self::examples::{Classes, Example};
pub use self::options::NetworkTraining;
use self::rules::Expectations;
use self::shard::{Goal, Shard, Task};
use super::train::{
    Checkpoint, CheckpointPlace, Checkpoints, Settings, Snapshot, fingerprint, memory,
};
use crate::{Decoding, Error, NetworkScorer, ParserModel};

/// Number of parts of a batch. It is part of the result: gradients are added part by part.
const SHARDS: usize = 4;

/// The encoder of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncoderSource {
    /// A pretrained encoder: a folder with `config.json`, `tokenizer.json` and `model.safetensors`.
    Folder(PathBuf),
    /// A small encoder of words and characters that starts from random weights.
    Scratch,
}

impl EncoderSource {
    /// Returns the name of the folder.
    fn folder_name(&self) -> Result<String, Error> {
        let name = match self {
            Self::Folder(folder) => folder.file_name().and_then(|name| name.to_str()),
            Self::Scratch => None,
        };
        let why = "only an encoder in a folder with a name can be outside of the model";
        name.map(str::to_owned).ok_or_else(|| Error::Setting(why.to_owned()))
    }
}

/// Progress of a training, for its observer.
#[derive(Debug)]
#[non_exhaustive]
pub enum NetworkEvent<'a> {
    /// A training continues from a checkpoint.
    Resumed {
        /// Number of epochs so far.
        epoch: usize,
    },
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

/// Observer of a network's training.
pub type NetworkObserver<'o> = dyn for<'a> Observer<NetworkEvent<'a>> + 'o;

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
    observer: &mut NetworkObserver<'_>,
) -> Result<ParserModel, Error> {
    let mut ignore = |_: &mut Snapshot<'_>| Ok(());
    let checkpoints = Checkpoints { every: Duration::MAX, dev, save: &mut ignore };
    train_network_resumable(treebank, tree_set, encoder, options, None, checkpoints, observer)
}

/// Trains a network as [`train_network`] does, with checkpoints. Development data is that of the checkpoints.
///
/// After an epoch it offers a [`Snapshot`] to save. The saved [`Checkpoint`] resumes the training later, with the same
/// treebank, encoder and options; only the number of threads may differ. The model is the same, bit by bit, as without
/// the interruption.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("tutte-epochs-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("tea.resume");
/// # let text = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\t_\tVERB\t_\t_\t0\troot\t_\t_\n";
/// # let treebank: Vec<tutte_treebank::Sentence> = vec![text.parse()?];
/// use std::ops::ControlFlow;
/// use std::time::Duration;
/// use tutte::learn::network::{EncoderSource, NetworkEvent, NetworkTraining, train_network_resumable};
/// use tutte::{Checkpoint, Checkpoints, Snapshot, TreeSet};
///
/// let options = NetworkTraining::scratch().with_epochs(2);
/// let set = TreeSet::ProjectiveSingleRoot;
/// let scratch = EncoderSource::Scratch;
/// let mut save = |snapshot: &mut Snapshot<'_>| snapshot.save(&path);
/// let checkpoints = Checkpoints { every: Duration::ZERO, dev: &[], save: &mut save };
/// let mut stop = |event: NetworkEvent<'_>| match event {
///     NetworkEvent::Epoch { .. } => ControlFlow::Break(()),
///     _ => ControlFlow::Continue(()),
/// };
/// train_network_resumable(&treebank, set, &scratch, &options, None, checkpoints, &mut stop)?;
///
/// let before = Checkpoint::open(&path)?;
/// assert_eq!(before.place().passes, 1);
/// let checkpoints = Checkpoints { every: Duration::ZERO, dev: &[], save: &mut save };
/// train_network_resumable(&treebank, set, &scratch, &options, Some(before), checkpoints, &mut ())?;
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`train_network`]; [`Error::Checkpoint`] if the checkpoint is of another training; those of `save`.
pub fn train_network_resumable(
    treebank: &[Sentence],
    tree_set: TreeSet,
    encoder: &EncoderSource,
    options: &NetworkTraining,
    resumed: Option<Checkpoint>,
    checkpoints: Checkpoints<'_>,
    observer: &mut NetworkObserver<'_>,
) -> Result<ParserModel, Error> {
    let Checkpoints { every, dev, save } = checkpoints;
    let (classes, mut network) = untrained(treebank, encoder, options)?;
    let outside = if options.has_encoder_outside { Some(encoder.folder_name()?) } else { None };
    let settings = settings(&mut network, treebank, dev, tree_set, options);
    resumed.iter().try_for_each(|checkpoint| checkpoint.check(&settings))?;
    let mut examples = classes.examples(treebank, &network)?;
    let combinations = classes.combinations(&examples);
    let mut template = classes.model(treebank, tree_set);
    let mut expectations = None;
    if let Some(rules) = &options.rules {
        let weight = options.rules_weight;
        expectations = Some(Expectations::new(rules, weight, treebank, tree_set, &mut examples)?);
        template.rules = rules.hard_constraints().map(Arc::new);
    }
    let mut shards = Vec::with_capacity(SHARDS);
    for _ in 0..SHARDS {
        shards.push(Shard::new(network.gradients()?));
    }
    // By epoch, step and batch.
    let epochs: Vec<Vec<Vec<Vec<usize>>>> = epochs(&examples, options);
    let steps: usize = epochs.iter().map(Vec::len).sum();
    let adamw = AdamWOptions::new()
        .with_rates(options.encoder_rate, options.rate)
        .with_layer_decay(options.layer_decay)
        .with_steps(options.warmup.min(steps / 10), steps);
    let optimizer = AdamW::new(adamw, &shards[0].gradients);
    let average = options.average.map(|decay| WeightAverage::new(decay, &network));
    let mut trainer = Trainer { network, optimizer, average, outside };
    let mut done = 0;
    if let Some(checkpoint) = resumed {
        done = checkpoint.place().number;
        checkpoint.finish(&mut trainer)?;
        if observer.observe(NetworkEvent::Resumed { epoch: done }).is_break() {
            return Err(Error::Stopped);
        }
    }
    template.network = Some(trainer.scorer(&classes, &combinations)?);
    let words: usize = examples.iter().map(|example| example.heads.len()).sum();
    // Number of the batch, for the seeds of dropout.
    let mut number: usize = epochs[..done].iter().flatten().map(Vec::len).sum();
    let mut last_save = Instant::now();
    for (epoch, steps_of_epoch) in (1..).zip(&epochs).skip(done) {
        let progress = (epoch - 1) as f64 / (options.epochs.max(2) - 1) as f64;
        if let Some(expectations) = &mut expectations {
            expectations.clear();
            for batch in steps_of_epoch.iter().flatten() {
                divide(batch, &examples, &mut shards);
                let task = Task { network: &trainer.network, examples: &examples, tree_set };
                for_each_part(&mut shards, options.threads, |shard| {
                    shard.forward(task, Mode::Infer)
                })?;
                replace(expectations, &shards, &examples);
            }
        }
        let mut total = 0.0;
        for batches in steps_of_epoch {
            let step = trainer.optimizer.steps();
            let in_step = batches.iter().flatten();
            let words = in_step.map(|&at| examples[at].heads.len()).sum::<usize>() as f64;
            shards.iter_mut().for_each(Shard::clear);
            for batch in batches {
                divide(batch, &examples, &mut shards);
                let task = Task { network: &trainer.network, examples: &examples, tree_set };
                let goal = Goal { objective: &options.objective, progress, words, slopes: &[] };
                let mode = |shard: &Shard| Mode::Train {
                    seed: seed_of(options.seed, number, shard.number),
                };
                match &mut expectations {
                    None => for_each_part(&mut shards, options.threads, |shard| {
                        shard.forward(task, mode(shard))?;
                        shard.backward(task, goal)
                    })?,
                    Some(expectations) => {
                        for_each_part(&mut shards, options.threads, |shard| {
                            shard.forward(task, mode(shard))
                        })?;
                        replace(expectations, &shards, &examples);
                        let (_, slopes) = expectations.slopes();
                        for_each_part(&mut shards, options.threads, |shard| {
                            shard.backward(task, Goal { slopes: &slopes, ..goal })
                        })?;
                    }
                }
                number += 1;
            }
            let loss: f64 = shards.iter().map(|shard| shard.loss).sum();
            let (first, rest) = shards.split_at_mut(1);
            rest.iter().for_each(|shard| first[0].gradients.add(&shard.gradients));
            trainer.step(&first[0].gradients);
            total += loss;
            let of_rules = expectations.as_ref().map_or(0.0, |it| it.slopes().0);
            let loss = loss / words + of_rules;
            let event = NetworkEvent::Step { step: step + 1, of: steps, loss };
            if observer.observe(event).is_break() {
                return Err(Error::Stopped);
            }
        }
        template.network = Some(trainer.scorer(&classes, &combinations)?);
        let scores = if dev.is_empty() {
            None
        } else {
            Some(template.evaluate(dev, Decoding::Mbr, options.threads)?)
        };
        let of_rules = expectations.as_ref().map_or(0.0, |it| it.slopes().0);
        let loss = total / words.max(1) as f64 + of_rules;
        let event = NetworkEvent::Epoch { epoch, loss, model: &template, dev: scores };
        let is_stopped = observer.observe(event).is_break();
        if epoch == 1 || last_save.elapsed() >= every {
            save(&mut Snapshot {
                settings: &settings,
                place: CheckpointPlace { passes: epoch, number: epoch, is_second: false },
                model: &mut template,
                first_pass_outputs: &[],
                trainer: &mut trainer,
            })?;
            last_save = Instant::now();
        }
        if is_stopped {
            break;
        }
    }
    Ok(template)
}

/// Refuses a training that cannot be, before anything is learnt: wrong settings, an encoder that cannot be read, or
/// more labels than memory has room for.
///
/// # Errors
/// [`Error::Setting`], [`Error::Memory`], or those of the encoder.
pub(super) fn check(
    treebank: &[Sentence],
    encoder: &EncoderSource,
    options: &NetworkTraining,
) -> Result<(), Error> {
    untrained(treebank, encoder, options).map(drop)
}

/// Returns the classes of a treebank, and a network for them.
fn untrained(
    treebank: &[Sentence],
    encoder: &EncoderSource,
    options: &NetworkTraining,
) -> Result<(Classes, Network), Error> {
    options.check()?;
    let classes = Classes::of(treebank);
    let network_options = classes.options(options);
    // Sub-words are at least as many as words, so a batch has at most this many.
    let words = treebank.iter().map(Sentence::len);
    let longest = words.clone().max().unwrap_or_default();
    let batch = options.batch.min(words.sum()).max(longest);
    memory::check_network(&classes.labels, &network_options, batch)?;
    let network = match encoder {
        EncoderSource::Folder(folder) => Network::open(folder, network_options)?,
        EncoderSource::Scratch => Network::scratch(&ScratchOptions::new(), network_options)?,
    };
    Ok((classes, network))
}

/// The state of a training.
struct Trainer {
    network: Network,
    optimizer: AdamW,
    average: Option<WeightAverage>,
    /// Name of the encoder's folder, if model files do not contain the encoder.
    outside: Option<String>,
}

impl Trainer {
    fn step(&mut self, gradients: &Gradients) {
        self.optimizer.step(&mut self.network, gradients);
        if let Some(average) = &mut self.average {
            average.add(&self.network);
        }
    }

    /// Returns the network as a scorer, with the average of its weights if there is one.
    fn scorer(
        &self,
        classes: &Classes,
        combinations: &[[usize; 3]],
    ) -> Result<Arc<NetworkScorer>, Error> {
        let mut network = self.network.clone();
        if let Some(average) = &self.average {
            average.put_into(&mut network);
        }
        let scorer = NetworkScorer::new(network, classes.tags.clone())?;
        let scorer = scorer.with_combinations(combinations.to_vec());
        Ok(Arc::new(match &self.outside {
            Some(folder) => scorer.with_encoder_outside(folder),
            None => scorer,
        }))
    }
}

impl Checkpointed for Trainer {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        self.network.checkpoint(codec)?;
        self.optimizer.checkpoint(codec)?;
        self.average.as_mut().map_or(Ok(()), |average| average.checkpoint(codec))
    }
}

/// Returns all settings that decide the bits of the model. The hash of the network before training stands for the
/// encoder, its sizes and the initial weights of the scorers.
fn settings(
    network: &mut Network,
    treebank: &[Sentence],
    dev: &[Sentence],
    tree_set: TreeSet,
    options: &NetworkTraining,
) -> Settings {
    let mut hash = Checksum::default();
    hash.update_line(&network.description());
    network.for_each_parameter(|_, _, values| hash.update(bytemuck::cast_slice(values)));
    let weights = format!("of {} weights ({hash})", network.parameter_count());
    let sentences = |list: &[Sentence]| fingerprint("sentences", list.iter().map(Sentence::as_str));
    let mut settings: Settings = [
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("treebank", sentences(treebank)),
        ("development data", sentences(dev)),
        ("tree set", tree_set.to_string()),
        ("seed", options.seed.to_string()),
        ("network", weights),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    settings.extend(options.settings());
    settings
}

/// Puts the probabilities of the arcs that rules match into their expectations, in the order of the shards.
fn replace(expectations: &mut Expectations, shards: &[Shard], examples: &[Example]) {
    for shard in shards {
        let mut probs = shard.probs.as_slice();
        for &at in &shard.sentences {
            let (own, others) = probs.split_at(examples[at].matches.len());
            expectations.replace(at, &examples[at].matches, own);
            probs = others;
        }
    }
}

/// Returns the seed of dropout of a shard.
fn seed_of(seed: u64, batch: usize, shard: usize) -> u64 {
    tutte_linear::seed_of_stream(seed, (batch * SHARDS + shard) as u64)
}

/// Divides the examples of every epoch into steps, and these into batches.
fn epochs(examples: &[Example], options: &NetworkTraining) -> Vec<Vec<Vec<Vec<usize>>>> {
    let mut order = Order::new(options.seed, 0);
    let mut order_of_batches = Order::new(options.seed, 1);
    let epoch = |_| {
        let mut shuffled = order.shuffled(examples.len());
        let batches = if options.is_sorted {
            // Sentences of equal length stay in random order.
            shuffled.sort_by_key(|&at| examples[at].input.rows());
            let by_length = batches(examples, &shuffled, options.batch);
            let order = order_of_batches.shuffled(by_length.len());
            order.into_iter().map(|at| by_length[at].clone()).collect()
        } else {
            batches(examples, &shuffled, options.batch)
        };
        batches.chunks(options.accumulated).map(<[_]>::to_vec).collect()
    };
    (0..options.epochs).map(epoch).collect()
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
