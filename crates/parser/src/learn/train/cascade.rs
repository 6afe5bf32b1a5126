//! Training in stages: a pruner, a first pass, first-pass outputs for every sentence, a second pass.
//!
//! The second pass sees trees of the first. On sentences that the first pass was trained on, these trees would be
//! too good, and the second pass would trust them too much. They are therefore jackknifed: the treebank is dealt
//! into folds, and a first pass trained on the other folds parses each fold.
//!
//! Together the models of the folds have seen every sentence, and they are linear in the same features. The mean
//! of their weights is thus a first pass that needs no training of its own ([`SecondPassOptions::first_passes`]).
//! In the same way, the transition parser of the model is the mean of those of the folds
//! ([`TransitionTrainingData`]). That mean was more accurate than a transition parser trained on all sentences, on
//! UD Portuguese Bosque and UD English EWT.

use std::sync::Arc;

use tutte_linear::join;
use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, TreeSet, Workspace};

use super::{
    Corpus, Example, FactorOptions, PrunerOptions, SecondPassOptions, TrainingOptions,
    TransitionTrainingData, clusters,
};
use crate::features::{Atoms, FeatureSet, FirstPassOutput, Prepared};
use crate::learn::corpus::with_gold;
use crate::learn::objective::likelihood;
use crate::learn::optimizer::Schedule;
use crate::model::pruner::PrunerMemory;
use crate::model::second_pass;
use crate::model::transition::TransitionMemory;
use crate::{
    ArcModel, Candidates, Error, FactorModel, Index, LabelModel, Labelling, Optimizer, ParserModel,
    Pruner, SecondPass, TransitionParser,
};

/// Returns an untrained pruner.
pub(super) fn untrained_pruner(pruning: &PrunerOptions, options: &TrainingOptions) -> Pruner {
    let bits = pruning.bits.min(options.bits);
    let arcs = ArcModel::new(FeatureSet::pruner(), Index::Hashed { bits });
    Pruner { arcs, threshold: pruning.threshold }
}

/// Trains a pruner.
pub(super) fn train_pruner(
    treebank: &[Sentence],
    pruning: &PrunerOptions,
    options: &TrainingOptions,
) -> Result<Pruner, Error> {
    let mut pruner = untrained_pruner(pruning, options);
    let corpus = Corpus::new(treebank, &pruner.arcs.features, None, options.tree_set)?;
    let corpus = corpus.annotated();
    // A small model does not need all sentences.
    let every = corpus.words.div_ceil(pruning.words).max(1);
    let corpus = corpus.part(|at| at % every == 0);
    let schedule = Schedule { passes: pruning.passes, seed: options.seed, threads: 1 };
    // Few features allow a high rate.
    let optimizer = Optimizer::AdaGrad {
        objective: likelihood(),
        rate: 0.1,
        damping: 1.0,
        dropout: 0.1,
        batch: 1,
    };
    fit(&corpus, &mut pruner.arcs, &optimizer, schedule)?;
    Ok(pruner)
}

/// Returns the arcs that a pruner leaves in each sentence with words.
pub(super) fn candidates(
    pruner: &Pruner,
    treebank: &[Sentence],
    tree_set: TreeSet,
) -> Result<Vec<Candidates>, Error> {
    let features = &pruner.arcs.features;
    let mut prepared = Prepared::default();
    let mut memory = PrunerMemory::default();
    let candidates = |sentence: &Sentence| {
        prepared.fill(features, &Atoms::new(sentence, features.columns()), |_| true);
        Ok(pruner.candidates(&prepared, tree_set, &mut memory)?)
    };
    treebank.iter().filter(|sentence| !sentence.is_empty()).map(candidates).collect()
}

/// Returns the fold of an example. The examples are the sentences of one version, then those of the next, and the
/// versions of a sentence are in the same fold. `first_version` is the number of sentences of the first.
pub(super) fn fold_of(example: usize, first_version: usize, folds: usize) -> usize {
    example % first_version.max(1) % folds.max(1)
}

/// Results of jackknifing a treebank.
pub(super) struct JackknifeResult {
    /// First-pass output of each example, by a model that was not trained on it.
    pub(super) first_pass_outputs: Vec<Arc<FirstPassOutput>>,
    /// Mean of the weights of the models, if it is to be the first pass.
    pub(super) mean_weights: Option<Vec<f32>>,
    /// Mean of the transition parsers of the folds.
    pub(super) transition: Option<TransitionParser>,
}

/// Results for the sentences of one fold.
#[derive(Default)]
struct FoldResult {
    first_pass_outputs: Vec<FirstPassOutput>,
    /// Weights of its model, if their mean is wanted.
    weights: Vec<f32>,
    transition: Option<TransitionParser>,
}

/// Deals a treebank into folds, and parses each by a first pass like `first` that is trained on the others.
/// `first_version` is the number of sentences of the first version, and `candidates` are the arcs that these models
/// score.
pub(super) fn jackknife(
    corpus: &Corpus<'_>,
    first_version: usize,
    candidates: &[Candidates],
    second: &SecondPassOptions,
    options: &TrainingOptions,
    first: &ArcModel,
    training_data: Option<&TransitionTrainingData<'_>>,
) -> Result<JackknifeResult, Error> {
    let features = &first.features;
    let folds = second.folds.min(corpus.examples.len());
    let fold_of = |at: usize| fold_of(at, first_version, folds);
    // A fold learns from one version of each sentence, in turn. That is enough for first-pass outputs, and
    // the folds take most of the time.
    let is_version_of_fold = |at: usize, number: usize| {
        let (version, sentence) = (at / first_version.max(1), at % first_version.max(1));
        let versions = (corpus.examples.len() - sentence).div_ceil(first_version.max(1));
        version == (sentence + number) % versions
    };
    let run_fold = |number: usize| -> Result<FoldResult, Error> {
        let is_training = |at: usize| fold_of(at) != number && is_version_of_fold(at, number);
        let training = corpus.part(is_training);
        let mut arcs = ArcModel::new(features.clone(), first.index.clone());
        let schedule = Schedule { passes: second.fold_passes, seed: options.seed, threads: 1 };
        fit(&training, &mut arcs, &options.optimizer, schedule)?;
        drop(training);
        let transition = training_data
            .map(|training_data| training_data.train(is_training, options.seed, options.tree_set));
        let mut prepared = Prepared::default();
        let mut scores = ArcMatrix::default();
        let mut workspace = Workspace::default();
        let mut memory = TransitionMemory::default();
        let mut fold = FoldResult::default();
        let held_out = corpus.examples.iter().zip(candidates).enumerate();
        let held_out = held_out.filter(|(at, _)| fold_of(*at) == number);
        for (at, (example, candidates)) in held_out {
            let allowed = |head, modifier| candidates.allows(head, modifier);
            prepared.fill_for(features, &example.arcs, |_| true, allowed);
            scores.reset(example.gold.len(), f64::NEG_INFINITY);
            arcs.score(&prepared, |h, m| candidates.allows(h, m), &mut scores);
            let mut first_pass_output =
                second_pass::first_pass_output(&scores, options.tree_set, &mut workspace)
                    .map_err(|source| corpus.diverged(example, source))?;
            if let (Some(transition), Some(training_data)) = (&transition, training_data) {
                let atoms = training_data.atoms(at);
                first_pass_output = first_pass_output.with_transition_parse(transition.parse(
                    atoms,
                    options.tree_set,
                    &mut memory,
                ));
            }
            fold.first_pass_outputs.push(first_pass_output);
        }
        if second.first_passes.is_some() {
            fold.weights = arcs.weights;
        }
        fold.transition = transition;
        Ok(fold)
    };
    let at_once = options.threads.clamp(1, folds.max(1));
    let run_folds =
        |first: usize| (first..folds).step_by(at_once).map(&run_fold).collect::<Vec<_>>();
    let by_fold: Vec<FoldResult> = std::thread::scope(|scope| {
        let run_folds = &run_folds;
        let threads: Vec<_> =
            (1..at_once).map(|first| scope.spawn(move || run_folds(first))).collect();
        let mut results = vec![run_folds(0).into_iter()];
        results.extend(threads.into_iter().map(|thread| join(thread).into_iter()));
        (0..folds).filter_map(|number| results[number % at_once].next()).collect::<Result<_, _>>()
    })?;
    let mut first_pass_outputs = Vec::new();
    let mut transition = training_data.map(TransitionTrainingData::untrained);
    let mut mean_weights = second.first_passes.map(|_| vec![0.0; first.weights.len()]);
    for fold in by_fold {
        let cells = mean_weights.iter_mut().flatten().zip(&fold.weights);
        cells.for_each(|(mean, weight)| *mean += weight / folds as f32);
        if let (Some(mean), Some(of_fold)) = (&mut transition, &fold.transition) {
            mean.add(of_fold, 1.0 / folds as f32);
        }
        first_pass_outputs.push(fold.first_pass_outputs.into_iter());
    }
    let in_order =
        (0..corpus.examples.len()).filter_map(|at| first_pass_outputs[fold_of(at)].next());
    Ok(JackknifeResult {
        mean_weights,
        transition,
        first_pass_outputs: in_order.map(Arc::new).collect(),
    })
}

/// Returns a first-pass output of an example's size, to be read from a checkpoint.
pub(super) fn blank_first_pass_output(example: &Arc<Example>) -> FirstPassOutput {
    let words = example.gold.len();
    FirstPassOutput::new(vec![0; words], ArcMatrix::zeros(words))
}

/// Returns the corpus of the second pass.
pub(super) fn second_pass_corpus<'a>(
    treebank: &'a [Sentence],
    first: &Corpus<'_>,
    first_pass_outputs: &[Arc<FirstPassOutput>],
    second_pass: &SecondPass,
    labels: &LabelModel,
) -> Corpus<'a> {
    let mut columns = second_pass.arcs.features.columns().to_vec();
    columns.extend(second_pass.factors.iter().flat_map(|factors| factors.features.columns()));
    columns.sort_unstable();
    columns.dedup();
    let example = |(example, first_pass_output): (&Arc<Example>, &Arc<FirstPassOutput>)| {
        let sentence = &treebank[example.sentence];
        let arcs = Atoms::with_first_pass(sentence, &columns, Arc::clone(first_pass_output));
        let candidates = second_pass::candidates(first_pass_output, second_pass.threshold);
        Arc::new(Example {
            sentence: example.sentence,
            arcs,
            labels: Atoms::with_first_pass(
                sentence,
                labels.features.columns(),
                Arc::clone(first_pass_output),
            ),
            candidates: with_gold(candidates, &example.gold, &example.teacher, first.tree_set),
            gold: example.gold.clone(),
            label_of: example.label_of.clone(),
            teacher: Arc::clone(&example.teacher),
        })
    };
    Corpus {
        treebank,
        examples: first.examples.iter().zip(first_pass_outputs).map(example).collect(),
        tree_set: first.tree_set,
        words: first.words,
    }
}

/// Trains a model of arcs alone.
fn fit(
    corpus: &Corpus<'_>,
    arcs: &mut ArcModel,
    optimizer: &Optimizer,
    schedule: Schedule,
) -> Result<(), Error> {
    let mut optimizer = optimizer.start(corpus, arcs, schedule)?;
    for _ in 0..schedule.passes {
        if optimizer.pass(corpus, arcs)?.converged {
            break;
        }
    }
    if let Some(weights) = optimizer.weights_to_keep(arcs) {
        arcs.weights = weights;
    }
    Ok(())
}

/// Adds an untrained second pass to a model.
pub(super) fn with_untrained_second_pass(
    model: ParserModel,
    transition: Option<TransitionParser>,
    second: &SecondPassOptions,
    options: &TrainingOptions,
) -> ParserModel {
    let index = Index::Hashed { bits: options.bits };
    let mut templates = options.templates.with_first_pass();
    let mut label_templates = second.labels.clone();
    if transition.is_some() {
        templates = templates.with_transition_parse();
        label_templates = label_templates.with_transition_labels();
    }
    let factors = second.factors.as_ref().filter(|_| {
        let is_supported =
            matches!(options.optimizer, Optimizer::AdaGrad { .. } | Optimizer::Sgd { .. });
        is_supported && options.labelling == Labelling::Joint && options.clusters == 1
    });
    let labels = match options.labelling {
        Labelling::None => LabelModel::none(),
        labelling => {
            let names = model.labels.labels().to_vec();
            LabelModel::new(label_templates, names, options.label_bits).with_labelling(labelling)
        }
    };
    ParserModel {
        second_pass: Some(SecondPass {
            arcs: clusters::untrained(templates, index, options),
            threshold: second.threshold,
            transition,
            factors: factors
                .map(|FactorOptions { templates, bits, iterations }| {
                    FactorModel::new(
                        templates.of_trees(options.tree_set),
                        (*bits).min(options.bits.saturating_sub(2)).max(4),
                        *iterations,
                    )
                })
                .filter(|factors| !factors.features.is_empty()),
        }),
        labels,
        ..model
    }
}

#[cfg(test)]
mod tests;
