//! Training: a treebank in, a model out.
//!
//! Any [`Optimizer`] learns the arcs. It also learns the labels if they are [joint](Labelling::Joint);
//! [staged](Labelling::Staged) labels of gold arcs are learnt beside it, always by AdaGrad. A
//! [pruner](TrainingOptions::pruning) may come before, and a [second pass](TrainingOptions::second_pass) that
//! sees the trees of the first may follow. The same treebank, options and seed give the same bytes.

mod anneal;
mod cascade;
mod checkpoint;
mod clusters;
mod joint;
mod labels;
pub(crate) mod memory;
mod options;
mod pass;
mod probe;
mod session;
mod staged;
mod start;
mod training_data;

use std::sync::Arc;

use tutte_linear::{Checkpointed, invalid};
use tutte_treebank::Sentence;

pub(crate) use super::corpus::{Corpus, Example};
use crate::features::{FeatureSet, FirstPassOutput};
use crate::learn::TrainingSet;
use crate::learn::optimizer::{Optimizer, Schedule};
use crate::{ArcModel, Candidates, Dictionary, Error, Index, Labelling, ParserModel};
use cascade::JackknifeResult;
pub use checkpoint::{Checkpoint, CheckpointPlace, Snapshot};
#[cfg(feature = "neural")]
pub(in crate::learn) use checkpoint::{Settings, fingerprint};
pub(crate) use options::check as check_options;
pub use options::{
    FactorOptions, FirstPassOptions, LabelOptions, PrunerOptions, SecondPassOptions,
    TrainingOptions, TransitionOptions,
};
pub use pass::{Pass, PassObserver, TrainedPass};
pub use session::Checkpoints;
use session::TrainingSession;
use training_data::TransitionTrainingData;

/// Trains a model. The observer sees it after every pass, and may stop the training.
///
/// ```
/// use tutte::{Optimizer, TrainingOptions, Parser, train};
///
/// let sentence = "\
/// 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
/// 2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_
/// ".parse::<tutte_treebank::Sentence>()?;
/// let treebank = [sentence];
/// let options = TrainingOptions::default().with_optimizer(Optimizer::Perceptron).with_bits(16);
/// let model = train(&treebank, &options, &mut ())?;
/// assert_eq!(Parser::new(&model).parse(&treebank[0])?.tree.heads(), [2, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// **Partial trees.** A head or label `_` is unknown. Optimizers that follow the gradient of an
/// [objective](crate::learn::objective) sum over unknown ones exactly; the others need whole trees.
///
/// # Errors
/// [`Error::Treebank`] if heads form a cycle or a sentence has too many words, [`Error::Memory`], [`Error::Contradiction`] if no tree has the heads of a partial
/// tree, [`Error::NotInTreeSet`], [`Error::NoWords`], [`Error::NoHeads`], [`Error::PartialTree`],
/// [`Error::Setting`], [`Error::Diverged`].
pub fn train<'a>(
    treebank: impl Into<TrainingSet<'a>>,
    options: &TrainingOptions,
    observer: &mut PassObserver<'_>,
) -> Result<ParserModel, Error> {
    run(&treebank.into(), options, TrainingSession::new(observer))
}

/// Trains a model as [`train`] does, with checkpoints.
///
/// After some passes it offers a [`Snapshot`] to save. The saved [`Checkpoint`] resumes the training later, with
/// the same treebank and options; only the number of threads may differ. The model is the same, bit by bit, as
/// without the interruption.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("tutte-resume-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("tea.resume");
/// # let text = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\t_\tVERB\t_\t_\t0\troot\t_\t_\n";
/// # let treebank: Vec<tutte_treebank::Sentence> = vec![text.parse()?, text.parse()?];
/// use std::ops::ControlFlow;
/// use std::time::Duration;
/// use tutte::learn::TrainedPass;
/// use tutte::{Checkpoint, Checkpoints, TrainingOptions, train, train_resumable};
///
/// let options = TrainingOptions::default().with_bits(12);
/// let mut save = |snapshot: &mut tutte::Snapshot<'_>| snapshot.save(&path);
/// let checkpoints = Checkpoints { every: Duration::ZERO, dev: &[], save: &mut save };
/// train_resumable(&treebank, &options, None, checkpoints, &mut |event: TrainedPass<'_>| match event.pass.number {
///     4 => ControlFlow::Break(()),
///     _ => ControlFlow::Continue(()),
/// })?;
///
/// let before = Checkpoint::open(&path)?;
/// assert_eq!(before.place().passes, 4);
/// let checkpoints = Checkpoints { every: Duration::ZERO, dev: &[], save: &mut save };
/// let model = train_resumable(&treebank, &options, Some(before), checkpoints, &mut ())?;
/// assert_eq!(model.arcs.weights, train(&treebank, &options, &mut ())?.arcs.weights);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`train`]; [`Error::Checkpoint`] if the checkpoint is of another training; those of `save`.
pub fn train_resumable<'a>(
    treebank: impl Into<TrainingSet<'a>>,
    options: &TrainingOptions,
    resumed: Option<Checkpoint>,
    checkpoints: Checkpoints<'_>,
    observer: &mut PassObserver<'_>,
) -> Result<ParserModel, Error> {
    let treebank = &treebank.into();
    // Rebuilt, so that its lifetime can be as short as that of the observer.
    let Checkpoints { every, dev, save } = checkpoints;
    let checkpoints = Checkpoints { every, dev, save };
    let session =
        TrainingSession::new(observer).with_checkpoints(treebank, options, resumed, checkpoints)?;
    run(treebank, options, session)
}

/// Trains stage by stage.
fn run(
    set: &TrainingSet<'_>,
    options: &TrainingOptions,
    mut session: TrainingSession<'_>,
) -> Result<ParserModel, Error> {
    let treebank = set.sentences();
    check_options(options)?;
    memory::check(treebank, options)?;
    if options.dictionary.is_some() && options.second_pass.is_some() {
        let why = "a dictionary needs a single pass, since features of a second pass have no names; \
                   start from `TrainingOptions::plain()`";
        return Err(Error::Setting(why.to_owned()));
    }
    // A single sentence leaves none to train its fold on.
    let sentences = treebank.iter().filter(|sentence| !sentence.is_empty()).count();
    let second = options.second_pass.as_ref().filter(|_| sentences > 1);
    if let Some(checkpoint) = session.second_stage_checkpoint().filter(|_| second.is_none()) {
        return Err(checkpoint.damaged("it is of a second pass, but the training has only one"));
    }
    let before_last = options.before_last_pass();
    let first_labelling = match options.labelling {
        Labelling::Joint if second.is_some() => Labelling::Staged,
        labelling => labelling,
    };
    let arcs = match second.map(|second| &second.first) {
        Some(Some(FirstPassOptions { templates, bits })) => {
            ArcModel::new(templates.clone(), Index::Hashed { bits: *bits.min(&options.bits) })
        }
        Some(None) => {
            let (templates, index) = templates_and_index(treebank, options)?;
            ArcModel::new(templates, index)
        }
        None => {
            let (templates, index) = templates_and_index(treebank, options)?;
            clusters::untrained(templates, index, options)
        }
    };
    let labels = labels::untrained(treebank, first_labelling, options.label_bits);
    let mut model = ParserModel::new(arcs, labels, options.tree_set);
    if let Some(pruning) = &options.pruning {
        model.pruner = Some(match &mut session.resumed {
            Some(checkpoint) => {
                let mut pruner = cascade::untrained_pruner(pruning, options);
                checkpoint.read(|codec| codec.table(&mut pruner.arcs.weights))?;
                pruner
            }
            None => cascade::train_pruner(treebank, pruning, options)?,
        });
    }
    let (mut corpus, candidates) = pruned_corpus(treebank, &model, &options.optimizer)?;
    match session.second_stage_checkpoint() {
        Some(checkpoint) => checkpoint.read(|codec| codec.table(&mut model.arcs.weights))?,
        None => {
            let passes = if second.is_some() { options.first_passes() } else { options.passes };
            let options = if second.is_some() { &before_last } else { options };
            let options = TrainingOptions { passes, ..options.clone() };
            model = fit(model, &corpus, &options, &mut session)?;
        }
    }
    let Some(second) = second.filter(|_| !session.is_stopped) else {
        return Ok(model);
    };
    let training_data = second.transition.as_ref().and_then(|transition_options| {
        TransitionTrainingData::new(
            &corpus,
            transition_options,
            options,
            model.labels.labels().len(),
        )
    });
    let mut temperature = second.temperature;
    let JackknifeResult { first_pass_outputs, mean_weights, transition } = match session
        .second_stage_checkpoint()
    {
        Some(checkpoint) => {
            let mut first_pass_outputs: Vec<FirstPassOutput> =
                corpus.examples.iter().map(cascade::blank_first_pass_output).collect();
            let mut saved_temperature: f64 = 1.0;
            let mut transition = training_data.as_ref().map(TransitionTrainingData::untrained);
            checkpoint.read(|codec| {
                codec.value(&mut saved_temperature)?;
                if !(saved_temperature > 0.0 && saved_temperature.is_finite()) {
                    return Err(invalid(format!("a temperature of {saved_temperature}")));
                }
                transition.iter_mut().try_for_each(|transition| transition.checkpoint(codec))?;
                first_pass_outputs
                    .iter_mut()
                    .try_for_each(|first_pass_output| first_pass_output.checkpoint(codec))
            })?;
            temperature = Some(saved_temperature);
            JackknifeResult {
                first_pass_outputs: first_pass_outputs.into_iter().map(Arc::new).collect(),
                mean_weights: None,
                transition,
            }
        }
        None => {
            let first = &model.arcs;
            cascade::jackknife(
                &corpus,
                set.first_version(),
                &candidates,
                second,
                &before_last,
                first,
                training_data.as_ref(),
            )?
        }
    };
    session.first_pass_outputs.clone_from(&first_pass_outputs);
    if let Some(mean_weights) = mean_weights {
        model.arcs.weights = mean_weights;
    }
    let mut model = cascade::with_untrained_second_pass(model, transition, second, options);
    if let Some(second_pass) = &model.second_pass {
        corpus = cascade::second_pass_corpus(
            treebank,
            &corpus,
            &first_pass_outputs,
            second_pass,
            &model.labels,
        );
    }
    model.temperature = match temperature {
        Some(temperature) => temperature,
        None => {
            let first_version = set.first_version();
            let options = options.probe();
            probe::temperature(&model, &corpus, first_version, &first_pass_outputs, &options)?
        }
    };
    fit(model, &corpus, options, &mut session)
}

/// Returns the feature templates of arcs and the index of their weights.
fn templates_and_index(
    treebank: &[Sentence],
    options: &TrainingOptions,
) -> Result<(FeatureSet, Index), Error> {
    let features = options.templates.clone();
    // Hashed features keep templates that duplicate others: with dropout they improve accuracy.
    let Some(support) = options.dictionary else {
        return Ok((features, Index::Hashed { bits: options.bits }));
    };
    let features = features.without_copies(treebank);
    let TrainingOptions { tree_set, threads, .. } = *options;
    let dictionary = Dictionary::new(treebank, &features, support, tree_set, threads)?;
    Ok((features, Index::Dictionary(dictionary.into())))
}

/// Prepares a treebank for the first pass of a model. Returns it with the arcs that the pruner leaves.
fn pruned_corpus<'a>(
    treebank: &'a [Sentence],
    model: &ParserModel,
    optimizer: &Optimizer,
) -> Result<(Corpus<'a>, Vec<Candidates>), Error> {
    let features = &model.arcs.features;
    let labels = (model.labels.labelling() != Labelling::None).then_some(&model.labels);
    let mut corpus = Corpus::new(treebank, features, labels, model.tree_set)?;
    if let Some(sentence) = corpus.first_partial().filter(|_| !optimizer.follows_gradients()) {
        let place = Box::new(sentence.place());
        return Err(Error::PartialTree { place, optimizer: optimizer.name() });
    }
    let candidates = match &model.pruner {
        Some(pruner) => cascade::candidates(pruner, treebank, model.tree_set)?,
        None => vec![Candidates::all(); corpus.examples.len()],
    };
    corpus.prune(candidates.clone());
    Ok((corpus, candidates))
}

/// Trains an existing model: one with features of its own, or with weights to start from (as risk should).
///
/// The tree set and table sizes are those of the model, not of the options. The model must have all labels of the
/// treebank. Exponentiated gradient ignores the weights, since it can only start from the gold trees.
///
/// # Errors
/// Those of [`train`]; [`Error::Setting`] if the model has a second pass.
pub fn train_further(
    model: ParserModel,
    treebank: &[Sentence],
    options: &TrainingOptions,
    observer: &mut PassObserver<'_>,
) -> Result<ParserModel, Error> {
    check_options(options)?;
    if model.second_pass.is_some() {
        let why = "a model with a second pass cannot be trained further, since it has no jackknifed first-pass \
                   outputs; train a new one";
        return Err(Error::Setting(why.to_owned()));
    }
    let (corpus, _) = pruned_corpus(treebank, &model, &options.optimizer)?;
    fit(model, &corpus, options, &mut TrainingSession::new(observer))
}

/// Trains the last pass of a model and its labels.
fn fit(
    mut model: ParserModel,
    corpus: &Corpus<'_>,
    options: &TrainingOptions,
    session: &mut TrainingSession<'_>,
) -> Result<ParserModel, Error> {
    let threads = options.threads.max(1);
    let schedule = Schedule { passes: options.passes, seed: options.seed, threads };
    model.labels.observe(corpus.labelled_arcs());
    if let Some(init) = &options.init {
        start::copy_weights(init, &mut model)?;
    }
    clusters::check_labelling(model.clusters(), model.labels.labelling())?;
    if let Some(annealing) = options.annealing {
        return anneal::fit(model, corpus, annealing, options, schedule, session);
    }
    match model.labels.labelling() {
        Labelling::Joint => joint::fit(model, corpus, &options.optimizer, schedule, session),
        _ => staged::fit(model, corpus, options, schedule, session),
    }
}

#[cfg(test)]
pub(crate) mod tests;
