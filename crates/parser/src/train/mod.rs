//! Training: a treebank in, a model out.
//!
//! Arcs are learnt by any [`Learner`]. Labels are learnt with them by the same learner if they are
//! [joint](Labelling::Joint); [staged](Labelling::Staged), those of gold arcs are learnt beside,
//! always in the same way. Before that, a pruner may be learnt, and after that, a second pass that
//! sees the trees of the first; see [`Options::pruning`] and [`Options::second`]. The same treebank,
//! options and seed give the same bytes.

mod average;
mod cascade;
mod checkpoint;
mod clusters;
mod corpus;
mod course;
mod joint;
mod labels;

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

pub(crate) use average::Average;
use cascade::Jackknifed;
pub use checkpoint::{Checkpoint, Place, Snapshot};
pub(crate) use corpus::{Corpus, Example};
pub use course::Checkpoints;
use course::Course;
use labels::LabelTrainer;

use crate::features::{FeatureSet, Guide};
use crate::learner::{Learn, Learner, Report, Schedule};
use crate::tape::{State, Tape};
use crate::{ArcModel, Candidates, Dictionary, Error, Index, Labelling, Model, Support};

/// How to train.
#[derive(Clone, Debug)]
pub struct Options {
    /// What moves the weights of arcs, and towards what.
    pub learner: Learner,
    /// Whether there are labels, and how they go with arcs. Where there are two passes, those of
    /// the first are staged in any case: a guide has no labels.
    pub labelling: Labelling,
    /// How the weights of staged labels are moved.
    pub labels: LabelOptions,
    /// Passes over the treebank; for L-BFGS, steps.
    pub passes: usize,
    /// Of how many latent kinds arcs are ([`latent`](crate::signal::latent)); 1 is the ordinary
    /// case. Where there are two passes, those of the first are ordinary in any case. Needs a
    /// learner that follows gradients, AdaGrad or SGD.
    pub clusters: usize,
    /// What arcs are looked at by.
    pub templates: FeatureSet,
    /// Which features of arcs have weights, if these are to be found by an exact
    /// [`Dictionary`] and not by hashing. Then templates that see nothing new in the treebank are
    /// left out, see [`FeatureSet::without_copies`].
    pub dictionary: Option<Support>,
    /// The binary logarithm of the number of weights of arcs, of each kind, unless there is a dictionary.
    pub bits: u32,
    /// The binary logarithm of the number of rows of weights of labels.
    pub label_bits: u32,
    /// Whether hopeless arcs are left out.
    pub pruning: Option<Pruning>,
    /// Whether there is a second pass.
    pub second: Option<SecondPass>,
    /// The trees that are possible. Trees to learn from are made projective for projective sets.
    pub tree_set: TreeSet,
    /// Of the order of sentences and of dropout.
    pub seed: u64,
    /// How many threads may work at once. The model is the same, bit by bit, for any number: with
    /// two, labels are learnt while arcs are; AdaGrad and SGD make use of as many more as a batch
    /// has sentences, L-BFGS of [`SHARDS`](crate::learner::SHARDS).
    pub threads: usize,
}

/// How a [`Pruner`](crate::Pruner) is learnt.
#[derive(Clone, Debug)]
pub struct Pruning {
    /// How probable an arc must be, as a share of the probability of the word's best head.
    pub threshold: f64,
    /// Passes over what it is learnt from.
    pub passes: usize,
    /// About how many words it is learnt from.
    pub words: usize,
    /// The binary logarithm of the number of weights.
    pub bits: u32,
}

/// How a [second pass](crate::Guided) is learnt.
#[derive(Clone, Debug)]
pub struct SecondPass {
    /// Into how many folds the treebank is dealt to make guides.
    pub folds: usize,
    /// Passes over the treebank for each fold.
    pub fold_passes: usize,
    /// How probable an arc must be in the first pass to be looked at again.
    pub threshold: f64,
    /// The temperature of the model, until somebody [chooses one](Model::best_temperature): a second
    /// pass trusts itself too much. If none is given, it is found without development data: a fixed
    /// number of times the temperature of the models that guides are made with, on the sentences that
    /// these have not seen.
    pub temperature: Option<f64>,
    /// What the first pass is, if it does not look at arcs by the same templates.
    pub first: Option<FirstPass>,
    /// What labels are chosen by.
    pub labels: FeatureSet,
}

/// A first pass that is smaller than the second.
#[derive(Clone, Debug)]
pub struct FirstPass {
    /// What arcs are looked at by.
    pub templates: FeatureSet,
    /// The binary logarithm of the number of weights.
    pub bits: u32,
}

/// How labels are learnt.
#[derive(Clone, Debug)]
pub struct LabelOptions {
    /// AdaGrad's rate.
    pub rate: f32,
    /// AdaGrad's damping.
    pub damping: f32,
    /// The share of templates left out, sentence by sentence.
    pub dropout: f64,
    /// Passes over the treebank, if not as many as for arcs.
    pub passes: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            learner: Learner::default(),
            labelling: Labelling::Joint,
            labels: LabelOptions::default(),
            passes: 8,
            clusters: 1,
            templates: FeatureSet::richer(),
            dictionary: None,
            bits: 23,
            label_bits: 16,
            pruning: Some(Pruning::default()),
            second: Some(SecondPass::default()),
            tree_set: TreeSet::NonProjectiveSingleRoot,
            seed: 1,
            threads: 1,
        }
    }
}

impl Options {
    /// A small first pass over all arcs, whose few templates are those of a pruner, and a second
    /// over what it leaves: twice as fast as the default, for less than a point of accuracy.
    pub fn fast() -> Self {
        let first = FirstPass { templates: FeatureSet::pruner(), bits: Pruning::default().bits };
        let second =
            SecondPass { folds: 4, fold_passes: 2, threshold: 0.02, ..SecondPass::default() };
        let labels = FeatureSet::lean_labels();
        let second = Some(SecondPass { first: Some(first), labels, ..second });
        let templates = FeatureSet::lean();
        Self { pruning: None, second, templates, passes: 4, ..Self::default() }
    }

    /// One pass over all arcs, and labels after them, as in the papers.
    pub fn plain() -> Self {
        let labelling = Labelling::Staged;
        Self { pruning: None, second: None, labelling, ..Self::default() }
    }
}

impl Default for Pruning {
    fn default() -> Self {
        Self { threshold: 0.01, passes: 3, words: 100_000, bits: 20 }
    }
}

impl Default for SecondPass {
    fn default() -> Self {
        Self {
            folds: 8,
            fold_passes: 5,
            threshold: 0.01,
            temperature: None,
            first: None,
            labels: FeatureSet::guided_labels(),
        }
    }
}

impl Default for LabelOptions {
    fn default() -> Self {
        Self { rate: 0.05, damping: 10.0, dropout: 0.3, passes: None }
    }
}

/// What a pass was like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Its number, from 1.
    pub number: usize,
    /// Whether it was one of the second pass of parsing, whose numbers start anew.
    pub second: bool,
    /// What the learner makes small, as it was met during the pass while weights moved, for each
    /// word of the treebank: wrong heads (of joint models, heads or labels) for perceptron, passive-aggressive and MIRA, the value of
    /// the objective for the others (with its prior, for L-BFGS; for exponentiated gradient, the
    /// dual bound of that value).
    pub loss: f64,
    /// Of exponentiated gradient, if it was asked for: how far the loss may be above its least
    /// possible value, for each word.
    pub gap: Option<f64>,
    /// Whether the learner of arcs has nothing more to do, however many passes are left.
    pub converged: bool,
}

impl Pass {
    fn new(number: usize, report: Report, model: &Model, corpus: &Corpus<'_>) -> Self {
        let words = corpus.words as f64;
        Self {
            number,
            second: model.guided.is_some(),
            loss: report.loss / words,
            gap: report.gap.map(|gap| gap / words),
            converged: report.converged,
        }
    }
}

/// What a watcher of training returns: nothing, to go on whatever it sees, or a [`ControlFlow`], to
/// be able to stop.
pub trait Verdict {
    /// Whether training is to end.
    fn stops(&self) -> bool;
}

impl Verdict for () {
    fn stops(&self) -> bool {
        false
    }
}

impl Verdict for ControlFlow<()> {
    fn stops(&self) -> bool {
        self.is_break()
    }
}

/// Trains a model; `watch` sees it after every pass, and may stop at what it sees.
///
/// ```
/// use tutte::{Learner, Options, Parser, train};
///
/// let sentence = "\
/// 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
/// 2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_
/// ".parse::<tutte_treebank::Sentence>()?;
/// let treebank = [sentence];
/// let options = Options { learner: Learner::Perceptron, bits: 16, ..Options::default() };
/// let model = train(&treebank, &options, |_, _| {})?;
/// assert_eq!(Parser::new(&model).parse(&treebank[0])?.tree.heads(), [2, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// **Partial trees.** Heads that are `_` are unknown, and so are labels of known heads that are. Learners
/// that follow the gradient of an [objective](crate::signal) sum over them exactly; the others need whole
/// trees.
///
/// # Errors
/// [`Error::Treebank`] if heads form a cycle, [`Error::Contradiction`] if no tree has the heads of a
/// partial one, [`Error::NotInTreeSet`], [`Error::NoWords`], [`Error::NoHeads`],
/// [`Error::PartialTree`], [`Error::Setting`], [`Error::Diverged`].
pub fn train<V: Verdict>(
    treebank: &[Sentence],
    options: &Options,
    mut watch: impl FnMut(Pass, &Model) -> V,
) -> Result<Model, Error> {
    let mut watch = |pass: Pass, model: &Model| watch(pass, model).stops();
    run(treebank, options, Course::new(&mut watch))
}

/// As [`train`], in a way that can be interrupted: after some passes it offers a [`Snapshot`] to be
/// saved, and what was saved can be given to it to go on from, with the same treebank and options
/// (but for the number of threads). The model is the same, bit by bit, as if nothing had happened.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("tutte-resume-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("tea.resume");
/// # let text = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\t_\tVERB\t_\t_\t0\troot\t_\t_\n";
/// # let treebank: Vec<tutte_treebank::Sentence> = vec![text.parse()?, text.parse()?];
/// use std::ops::ControlFlow;
/// use std::time::Duration;
/// use tutte::{Checkpoint, Checkpoints, Options, train, train_resumable};
///
/// let options = Options { bits: 12, ..Options::default() };
/// let mut save = |snapshot: &mut tutte::Snapshot<'_>| snapshot.save(&path);
/// let checkpoints = Checkpoints { every: Duration::ZERO, dev: &[], save: &mut save };
/// train_resumable(&treebank, &options, None, checkpoints, |pass, _| match pass.number {
///     4 => ControlFlow::Break(()),
///     _ => ControlFlow::Continue(()),
/// })?;
///
/// let before = Checkpoint::open(&path)?;
/// assert_eq!(before.place().passes, 4);
/// let checkpoints = Checkpoints { every: Duration::ZERO, dev: &[], save: &mut save };
/// let model = train_resumable(&treebank, &options, Some(before), checkpoints, |_, _| {})?;
/// assert_eq!(model.arcs.weights, train(&treebank, &options, |_, _| {})?.arcs.weights);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`train`]; [`Error::Checkpoint`] if a checkpoint is of another training; what `save` returns.
pub fn train_resumable<V: Verdict>(
    treebank: &[Sentence],
    options: &Options,
    resumed: Option<Checkpoint>,
    checkpoints: Checkpoints<'_>,
    mut watch: impl FnMut(Pass, &Model) -> V,
) -> Result<Model, Error> {
    let mut watch = |pass: Pass, model: &Model| watch(pass, model).stops();
    // Named anew, so that it need not live longer than the watcher.
    let Checkpoints { every, dev, save } = checkpoints;
    let checkpoints = Checkpoints { every, dev, save };
    let course = Course::new(&mut watch).saved(treebank, options, resumed, checkpoints)?;
    run(treebank, options, course)
}

/// Trains stage by stage.
fn run(treebank: &[Sentence], options: &Options, mut course: Course<'_>) -> Result<Model, Error> {
    check(options)?;
    if options.dictionary.is_some() && options.second.is_some() {
        let why = "the features of a second pass have no names: a dictionary needs a single pass";
        return Err(Error::Setting(why.to_owned()));
    }
    // A single sentence leaves none to learn its guide from.
    let sentences = treebank.iter().filter(|sentence| !sentence.is_empty()).count();
    let second = options.second.as_ref().filter(|_| sentences > 1);
    let first_labelling = match options.labelling {
        Labelling::Joint if second.is_some() => Labelling::Staged,
        labelling => labelling,
    };
    let arcs = match second.map(|second| &second.first) {
        Some(Some(FirstPass { templates, bits })) => {
            ArcModel::new(templates.clone(), Index::Hashed { bits: *bits.min(&options.bits) })
        }
        Some(None) => {
            let (templates, index) = untrained(treebank, options)?;
            ArcModel::new(templates, index)
        }
        None => {
            let (templates, index) = untrained(treebank, options)?;
            clusters::untrained(templates, index, options)
        }
    };
    let labels = labels::untrained(treebank, first_labelling, options.label_bits);
    let mut model = Model::new(arcs, labels, options.tree_set);
    if let Some(pruning) = &options.pruning {
        model.pruner = Some(match &mut course.resumed {
            Some(checkpoint) => {
                let mut pruner = cascade::untrained_pruner(pruning, options);
                checkpoint.read(|tape| tape.table(&mut pruner.arcs.weights))?;
                pruner
            }
            None => cascade::pruner(treebank, pruning, options)?,
        });
    }
    let (mut corpus, candidates) = pruned_corpus(treebank, &model, &options.learner)?;
    match course.in_second() {
        Some(checkpoint) => checkpoint.read(|tape| tape.table(&mut model.arcs.weights))?,
        None => model = fit(model, &corpus, options, &mut course)?,
    }
    let Some(second) = second.filter(|_| !course.stopped) else {
        return Ok(model);
    };
    let Jackknifed { guides, temperature } = match course.in_second() {
        Some(checkpoint) => {
            let mut guides: Vec<Guide> = corpus.examples.iter().map(cascade::no_guide).collect();
            let mut temperature = 1.0;
            checkpoint.read(|tape| {
                tape.value(&mut temperature)?;
                guides.iter_mut().try_for_each(|guide| guide.state(tape))
            })?;
            Jackknifed { guides: guides.into_iter().map(Arc::new).collect(), temperature }
        }
        None => cascade::jackknife(&corpus, &candidates, second, options, &model.arcs)?,
    };
    course.guides.clone_from(&guides);
    let model = cascade::second_pass(model, temperature, second, options);
    if let Some(guided) = &model.guided {
        corpus = cascade::guided_corpus(treebank, &corpus, guides, guided, &model.labels);
    }
    fit(model, &corpus, options, &mut course)
}

/// What the first pass of a model looks at, and where its weights will be.
fn untrained(treebank: &[Sentence], options: &Options) -> Result<(FeatureSet, Index), Error> {
    let features = options.templates.clone();
    // Copies that see nothing new are kept: with dropout they help (0.4 UAS on Portuguese).
    let Some(support) = options.dictionary else {
        return Ok((features, Index::Hashed { bits: options.bits }));
    };
    let features = features.without_copies(treebank);
    let Options { tree_set, threads, .. } = *options;
    let dictionary = Dictionary::new(treebank, &features, support, tree_set, threads)?;
    Ok((features, Index::Dictionary(dictionary.into())))
}

/// A treebank ready for the first pass of a model, and what its pruner leaves of it.
fn pruned_corpus<'a>(
    treebank: &'a [Sentence],
    model: &Model,
    learner: &Learner,
) -> Result<(Corpus<'a>, Vec<Candidates>), Error> {
    let features = &model.arcs.features;
    let labels = (model.labels.labelling() != Labelling::None).then_some(&model.labels);
    let mut corpus = Corpus::new(treebank, features, labels, model.tree_set)?;
    if let Some(sentence) = corpus.known_in_part().filter(|_| !learner.follows_gradients()) {
        let place = Box::new(sentence.place());
        return Err(Error::PartialTree { place, learner: learner.name() });
    }
    let candidates = match &model.pruner {
        Some(pruner) => cascade::candidates(pruner, treebank, model.tree_set)?,
        None => vec![Candidates::all(); corpus.examples.len()],
    };
    corpus.prune(candidates.clone());
    Ok((corpus, candidates))
}

/// Trains a model that is already there: one with features of its own, or with weights to start
/// from (as risk should). Its own tree set and table sizes count, not those of the options, and its
/// labels must be all those of the treebank. Exponentiated gradient starts afresh nevertheless: it
/// knows no other start than the gold trees.
///
/// # Errors
/// As [`train`].
pub fn train_further<V: Verdict>(
    model: Model,
    treebank: &[Sentence],
    options: &Options,
    mut watch: impl FnMut(Pass, &Model) -> V,
) -> Result<Model, Error> {
    check(options)?;
    if model.guided.is_some() {
        let why = "a model with a second pass cannot be trained further: its guides are gone";
        return Err(Error::Setting(why.to_owned()));
    }
    let (corpus, _) = pruned_corpus(treebank, &model, &options.learner)?;
    let mut watch = |pass: Pass, model: &Model| watch(pass, model).stops();
    fit(model, &corpus, options, &mut Course::new(&mut watch))
}

/// Trains the last pass of a model, and its labels.
fn fit(
    mut model: Model,
    corpus: &Corpus<'_>,
    options: &Options,
    course: &mut Course<'_>,
) -> Result<Model, Error> {
    let threads = options.threads.max(1);
    let schedule = Schedule { passes: options.passes, seed: options.seed, threads };
    model.labels.observe(corpus.labelled_arcs());
    clusters::check_labelling(model.kinds(), model.labels.labelling())?;
    if model.labels.labelling() == Labelling::Joint {
        return joint::fit(model, corpus, &options.learner, schedule, course);
    }
    let arcs = options.learner.start_arcs(corpus, model.last_pass(), schedule)?;
    let label_passes = match model.labels.labelling() {
        Labelling::None => 0,
        _ => options.labels.passes.unwrap_or(options.passes),
    };
    let labels = LabelTrainer::new(&model.labels, &options.labels, label_passes, options.seed);
    let mut learnt = model.clone();
    let mut work = Staged { model, arcs, labels, report: Report::default() };
    let done = course.resume(&mut work)?;
    if done > 0 {
        work.hand_over(&mut learnt);
    }
    let passes = options.passes.max(label_passes);
    for number in done + 1..=passes {
        let Staged { model, arcs, labels, report } = &mut work;
        let arcs_go_on = number <= options.passes && !report.converged;
        let labels_go_on = number <= label_passes;
        if !arcs_go_on && !labels_go_on {
            break;
        }
        let Model { arcs: first, guided, labels: label_model, .. } = model;
        let arc_model = guided.as_mut().map_or(first, |guided| &mut guided.arcs);
        let label_pass = || {
            if labels_go_on {
                labels.pass(corpus, label_model);
            }
        };
        let arc_pass = || match arcs_go_on {
            true => arcs.pass(corpus, arc_model),
            false => Ok(*report),
        };
        *report = beside(threads > 1, label_pass, arc_pass)?;
        let pass = Pass::new(number, *report, model, corpus);
        work.hand_over(&mut learnt);
        if course.after(pass, number == passes, &mut learnt, &mut work)? {
            break;
        }
    }
    Ok(learnt)
}

/// A pass of parsing that is being learnt, with labels beside arcs.
struct Staged {
    /// With weights as they are moved.
    model: Model,
    arcs: Box<dyn Learn>,
    labels: LabelTrainer,
    /// Of the last pass.
    report: Report,
}

impl Staged {
    /// The weights to keep.
    fn hand_over(&mut self, learnt: &mut Model) {
        let Self { model, arcs, labels, .. } = self;
        take(&mut learnt.labels.weights, labels.learnt(), &model.labels.weights);
        let moved = model.last_pass();
        take(&mut learnt.last_pass().weights, arcs.learnt(moved), &moved.weights);
    }
}

impl State for Staged {
    fn state(&mut self, tape: &mut Tape<'_>) -> io::Result<()> {
        tape.table(&mut self.model.last_pass().weights)?;
        tape.table(&mut self.model.labels.weights)?;
        self.arcs.state(tape)?;
        self.labels.state(tape)?;
        self.report.state(tape)
    }
}

/// Does two things, if it may both at once.
fn beside<T>(at_once: bool, first: impl FnOnce() + Send, second: impl FnOnce() -> T) -> T {
    if !at_once {
        first();
        return second();
    }
    std::thread::scope(|scope| {
        scope.spawn(first);
        second()
    })
}

/// What was learnt, or the weights as they are.
fn take(weights: &mut Vec<f32>, learnt: Option<Vec<f32>>, current: &[f32]) {
    match learnt {
        Some(learnt) => *weights = learnt,
        None => weights.copy_from_slice(current),
    }
}

fn check(options: &Options) -> Result<(), Error> {
    let LabelOptions { rate, damping, dropout, .. } = options.labels;
    let Options { bits, label_bits, .. } = *options;
    let wrong = |why: String| Err(Error::Setting(why));
    if !(5..=32).contains(&bits) || !(2..=28).contains(&label_bits) {
        return wrong(format!(
            "tables of 2^{bits} weights of arcs and 2^{label_bits} rows of labels were asked for, but \
             5 to 32 and 2 to 28 bits are possible"
        ));
    }
    if !(rate > 0.0 && rate.is_finite() && damping > 0.0 && (0.0..1.0).contains(&dropout)) {
        return wrong(format!(
            "labels need a positive rate and damping and a dropout from 0 to below 1, not {rate}, \
             {damping} and {dropout}"
        ));
    }
    if let Some(SecondPass { temperature: Some(temperature), .. }) = options.second
        && !(temperature > 0.0 && temperature.is_finite())
    {
        return wrong(format!("the temperature is {temperature}, but must be a positive number"));
    }
    clusters::check(options)?;
    options.learner.check()
}

#[cfg(test)]
pub(crate) mod tests;
