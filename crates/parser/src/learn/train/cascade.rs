//! Training step by step: a pruner, a first pass, guides for every sentence, a second pass.
//!
//! The second pass sees trees of the first. On sentences that the first was trained on these would
//! be much better than on others, and would be trusted too much; so they come from models that have
//! not seen the sentence ("jackknifing"): the treebank is dealt into folds, and the guides of each
//! are made by a first pass trained on the others.
//!
//! Together these models have seen every sentence, and they are linear in the same features: the mean of
//! their weights is a first pass too, which need not be learnt ([`SecondPassOptions::first_passes`]). So it is with
//! the shifters of the folds, whose trees go with the guides ([`TransitionTrainingData`]): their mean is the model's. On 24,000
//! words of UD Portuguese Bosque and of UD English EWT it gave 0.1 and 0.2 UAS more than one that was learnt from
//! all sentences.
//!
//! The same models tell how sure parses may be where there is no development data. A temperature T₁
//! makes the probabilities of their heads fit ([`temperature`]); second passes are surer than they,
//! so theirs is κ T₁, with κ from [`overconfidence`], but at least 1 and at most what is searched elsewhere.
//! This costs
//! nothing but a dozen inferences a sentence, of up to 25,000 words. To keep back a fold from the second
//! pass as well, and to train it once more, finds a κ of 1.34 to 1.45, depending on the fold, but takes
//! about as long as the second pass.

use std::sync::Arc;

use tutte_linear::join;
use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, TreeSet, Workspace};

use super::{
    Corpus, Example, PrunerOptions, SecondPassOptions, TrainingOptions, TransitionTrainingData,
    clusters,
};
use crate::features::{Atoms, FeatureSet, FirstPassOutput, Prepared};
use crate::learn::corpus::with_gold;
use crate::learn::objective::likelihood;
use crate::learn::optimizer::Schedule;
use crate::learn::temperature::{self, Judged};
use crate::model::pruner::PrunerMemory;
use crate::model::second_pass;
use crate::model::transition::TransitionMemory;
use crate::{
    ArcModel, Candidates, Error, Index, LabelModel, Labelling, Optimizer, ParserModel, Pruner,
    SecondPass, TransitionParser,
};

/// A pruner before it is trained.
pub(super) fn untrained_pruner(pruning: &PrunerOptions, options: &TrainingOptions) -> Pruner {
    let bits = pruning.bits.min(options.bits);
    let arcs = ArcModel::new(FeatureSet::pruner(), Index::Hashed { bits });
    Pruner { arcs, threshold: pruning.threshold }
}

/// Trains a pruner.
pub(super) fn pruner(
    treebank: &[Sentence],
    pruning: &PrunerOptions,
    options: &TrainingOptions,
) -> Result<Pruner, Error> {
    let mut pruner = untrained_pruner(pruning, options);
    let corpus = Corpus::new(treebank, &pruner.arcs.features, None, options.tree_set)?;
    let corpus = corpus.annotated();
    // A small model learns no more from many sentences than from some.
    let every = corpus.words.div_ceil(pruning.words).max(1);
    let corpus = corpus.part(|at| at % every == 0);
    let schedule = Schedule { passes: pruning.passes, seed: options.seed, threads: 1 };
    // Few features can be learnt fast.
    let (rate, damping, dropout) = (0.1, 1.0, 0.1);
    let optimizer =
        Optimizer::AdaGrad { objective: likelihood(), rate, damping, dropout, batch: 1 };
    fit(&corpus, &mut pruner.arcs, &optimizer, schedule)?;
    Ok(pruner)
}

/// The arcs that a pruner leaves of each example, which are the sentences that have words.
pub(super) fn candidates(
    pruner: &Pruner,
    treebank: &[Sentence],
    tree_set: TreeSet,
) -> Result<Vec<Candidates>, Error> {
    let features = &pruner.arcs.features;
    let (mut prepared, mut memory) = (Prepared::default(), PrunerMemory::default());
    let candidates = |sentence: &Sentence| {
        prepared.fill(features, &Atoms::new(sentence, features.columns()), |_| true);
        Ok(pruner.candidates(&prepared, tree_set, &mut memory)?)
    };
    treebank.iter().filter(|sentence| !sentence.is_empty()).map(candidates).collect()
}

/// How many times as sure as a first pass a second one is, of sentences that neither has seen: what
/// remains of its training beside what its guides tell. Measured as the temperature that dev chooses,
/// divided by T₁, of UD Gothic and UD Turkish: with the default options 1.38 both; with a small first pass
/// ([`TrainingOptions::fast`]) 1.27 and 1.44; where labels are staged 1.22 and 1.17, with a small first pass 1.17
/// and 1.28.
/// With shifters and jackknifed tags, of 24,000 words each, the default had 1.38 of UD French ParTUT (mean of four
/// parts), 1.34 of English EWT and 1.14 of Portuguese Bosque.
fn overconfidence(second: &SecondPassOptions, labelling: Labelling) -> f64 {
    match (labelling, &second.first) {
        (Labelling::Joint, None) => 1.4,
        (Labelling::Joint, Some(_)) => 1.35,
        (Labelling::Staged | Labelling::None, _) => 1.2,
    }
}

/// What models that have not seen its sentences think of a treebank.
pub(super) struct Jackknifed {
    /// For each example.
    pub(super) first_pass_outputs: Vec<Arc<FirstPassOutput>>,
    /// Of a model whose second pass is trained with these.
    pub(super) temperature: f64,
    /// The mean of the weights of these models, if it is to be the first pass.
    pub(super) mean: Option<Vec<f32>>,
    /// The mean of the shifters that gave the second opinions.
    pub(super) transition: Option<TransitionParser>,
}

/// The same of the sentences of one fold.
#[derive(Default)]
struct Fold {
    first_pass_outputs: Vec<FirstPassOutput>,
    /// Some of them, to choose a temperature by.
    judged: Vec<Judged>,
    /// Of its model, if they are wanted.
    weights: Vec<f32>,
    transition: Option<TransitionParser>,
}

/// Deals a treebank into folds, and has each parsed by a first pass like `first`, trained on the others.
/// `candidates` are the arcs they consider.
pub(super) fn jackknife(
    corpus: &Corpus<'_>,
    versions: usize,
    candidates: &[Candidates],
    second: &SecondPassOptions,
    options: &TrainingOptions,
    first: &ArcModel,
    training_data: Option<&TransitionTrainingData<'_>>,
) -> Result<Jackknifed, Error> {
    let features = &first.features;
    let folds = second.folds.min(corpus.examples.len());
    // Versions of a sentence are as far from each other as there are sentences.
    let sentences = corpus.examples.len().div_ceil(versions.max(1)).max(1);
    let fold_of = |at: usize| at % sentences % folds.max(1);
    // One version of each sentence teaches a fold, in turn: a guide needs no more, and this takes most of
    // the time.
    let is_taught =
        |at: usize, number: usize| at / sentences == (at % sentences + number) % versions.max(1);
    let judged_one_in = temperature::one_in(corpus.annotated().words);
    let fold = |number: usize| -> Result<Fold, Error> {
        let is_other = |at: usize| fold_of(at) != number && is_taught(at, number);
        let others = corpus.part(is_other);
        let mut arcs = ArcModel::new(features.clone(), first.index.clone());
        let schedule = Schedule { passes: second.fold_passes, seed: options.seed, threads: 1 };
        fit(&others, &mut arcs, &options.optimizer, schedule)?;
        drop(others);
        let transition = training_data
            .map(|training_data| training_data.learn(is_other, options.seed, options.tree_set));
        let (mut prepared, mut scores) = (Prepared::default(), ArcMatrix::default());
        let (mut workspace, mut memory) = (Workspace::default(), TransitionMemory::default());
        let mut fold = Fold::default();
        let own = corpus.examples.iter().zip(candidates).enumerate();
        let own = own.filter(|(at, _)| fold_of(*at) == number);
        let mut annotated = 0;
        for (at, (example, candidates)) in own {
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
            if second.temperature.is_none() && example.is_annotated() {
                if annotated % judged_one_in == 0 {
                    let gold = example.gold.iter().copied();
                    fold.judged.push(Judged::new(scores.clone(), first_pass_output.heads(), gold));
                }
                annotated += 1;
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
    let work = |first: usize| (first..folds).step_by(at_once).map(&fold).collect::<Vec<_>>();
    let by_fold: Vec<Fold> = std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (1..at_once).map(|first| scope.spawn(move || work(first))).collect();
        let mut results = vec![work(0).into_iter()];
        results.extend(threads.into_iter().map(|thread| join(thread).into_iter()));
        (0..folds).filter_map(|number| results[number % at_once].next()).collect::<Result<_, _>>()
    })?;
    let (mut first_pass_outputs, mut judged) = (Vec::new(), Vec::new());
    let mut transition = training_data.map(TransitionTrainingData::untrained);
    let mut mean = second.first_passes.map(|_| vec![0.0; first.weights.len()]);
    for fold in by_fold {
        let cells = mean.iter_mut().flatten().zip(&fold.weights);
        cells.for_each(|(mean, weight)| *mean += weight / folds as f32);
        if let (Some(mean), Some(own)) = (&mut transition, &fold.transition) {
            mean.add(own, 1.0 / folds as f32);
        }
        first_pass_outputs.push(fold.first_pass_outputs.into_iter());
        judged.extend(fold.judged);
    }
    let dealt = (0..corpus.examples.len()).filter_map(|at| first_pass_outputs[fold_of(at)].next());
    let temperature = || {
        let judged: Vec<&Judged> = judged.iter().collect();
        let first = temperature::best(&judged, options.tree_set, options.threads)?;
        let second = first * overconfidence(second, options.labelling);
        // Models of a few sentences each are less sure than one of all: no second pass is too modest.
        Ok::<_, Error>(second.clamp(1.0, temperature::HIGHEST))
    };
    Ok(Jackknifed {
        mean,
        transition,
        first_pass_outputs: dealt.map(Arc::new).collect(),
        temperature: second.temperature.map_or_else(temperature, Ok)?,
    })
}

/// A guide of an example's size that says nothing.
pub(super) fn no_first_pass(example: &Arc<Example>) -> FirstPassOutput {
    let words = example.gold.len();
    FirstPassOutput::new(vec![0; words], ArcMatrix::zeros(words))
}

/// The corpus of a second pass.
pub(super) fn second_pass_corpus<'a>(
    treebank: &'a [Sentence],
    first: &Corpus<'_>,
    first_pass_outputs: Vec<Arc<FirstPassOutput>>,
    second_pass: &SecondPass,
    labels: &LabelModel,
) -> Corpus<'a> {
    let example = |(example, first_pass_output): (&Arc<Example>, Arc<FirstPassOutput>)| {
        let sentence = &treebank[example.sentence];
        let columns = second_pass.arcs.features.columns();
        let arcs = Atoms::with_first_pass(sentence, columns, Arc::clone(&first_pass_output));
        let candidates = second_pass::candidates(&first_pass_output, second_pass.threshold);
        Arc::new(Example {
            sentence: example.sentence,
            arcs,
            labels: Atoms::with_first_pass(sentence, labels.features.columns(), first_pass_output),
            candidates: with_gold(candidates, &example.gold, first.tree_set),
            gold: example.gold.clone(),
            label_of: example.label_of.clone(),
        })
    };
    Corpus {
        treebank,
        examples: first.examples.iter().zip(first_pass_outputs).map(example).collect(),
        tree_set: first.tree_set,
        words: first.words,
    }
}

/// Trains a model of arcs alone, from start to end.
fn fit(
    corpus: &Corpus<'_>,
    arcs: &mut ArcModel,
    optimizer: &Optimizer,
    schedule: Schedule,
) -> Result<(), Error> {
    let mut learning = optimizer.start(corpus, arcs, schedule)?;
    for _ in 0..schedule.passes {
        if learning.pass(corpus, arcs)?.converged {
            break;
        }
    }
    if let Some(weights) = learning.learnt(arcs) {
        arcs.weights = weights;
    }
    Ok(())
}

/// The model of a second pass, before it is trained.
pub(super) fn second_pass(
    model: ParserModel,
    temperature: f64,
    transition: Option<TransitionParser>,
    second: &SecondPassOptions,
    options: &TrainingOptions,
) -> ParserModel {
    let index = Index::Hashed { bits: options.bits };
    let (mut templates, mut label_templates) =
        (options.templates.with_first_pass(), second.labels.clone());
    if transition.is_some() {
        templates = templates.with_transition_parse();
        label_templates = label_templates.with_transition_labels();
    }
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
        }),
        labels,
        temperature,
        ..model
    }
}

#[cfg(test)]
mod tests;
