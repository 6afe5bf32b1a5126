//! Options of a training, their defaults, and the check of their values.

use std::sync::Arc;

use tutte_trees::TreeSet;

use super::clusters;
use crate::features::{FactorSet, FeatureSet};
use crate::learn::annealing::Annealing;
use crate::learn::objective::{Objective, likelihood};
use crate::learn::optimizer::Optimizer;
use crate::model::MOST_BITS;
use crate::{Compact, Error, Labelling, ParserModel, Support};

/// Options of a training.
///
/// ```
/// use tutte::{Labelling, Support, TrainingOptions, TreeSet};
///
/// let options = TrainingOptions::plain() // one pass over all arcs, as in the papers
///     .with_optimizer("mira:k=5".parse()?)
///     .with_tree_set(TreeSet::ProjectiveSingleRoot)
///     .with_labelling(Labelling::Staged)
///     .with_dictionary(Some(Support::Gold)) // features that gold arcs have
///     .with_passes(5);
/// assert_eq!(options.optimizer.name(), "mira");
/// assert!(options.second_pass.is_none() && TrainingOptions::fast().second_pass.is_some());
/// # Ok::<(), tutte::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TrainingOptions {
    /// Optimizer of the arc weights, with its objective.
    pub optimizer: Optimizer,
    /// Relation of labels to arcs. With a second pass it applies to that pass. Joint labels are then staged
    /// in the first pass, since a first-pass output has no labels.
    pub labelling: Labelling,
    /// Options of staged labels.
    pub labels: LabelOptions,
    /// Number of passes over the treebank; for L-BFGS, of steps.
    pub passes: usize,
    /// Number of [latent clusters](crate::model::latent) of arcs; 1 is the ordinary case. With a second pass
    /// it applies to that pass, and the first has one cluster. More than one needs AdaGrad or SGD.
    pub clusters: usize,
    /// Feature templates of arcs.
    pub templates: FeatureSet,
    /// Features of arcs that have a weight, found in an exact [`Dictionary`](crate::Dictionary); `None` hashes
    /// all features. With a dictionary, templates that duplicate others on this treebank are left out, see
    /// [`FeatureSet::without_copies`].
    pub dictionary: Option<Support>,
    /// Binary logarithm of the number of hashed arc weights per cluster. A dictionary ignores it.
    pub bits: u32,
    /// Binary logarithm of the number of rows of label weights.
    pub label_bits: u32,
    /// Options of the pruner; `None` trains without one.
    pub pruning: Option<PrunerOptions>,
    /// Options of the second pass; `None` trains a single pass.
    pub second_pass: Option<SecondPassOptions>,
    /// Possible trees. For projective sets, gold trees are made projective.
    pub tree_set: TreeSet,
    /// Schedule of annealed risk for the last pass of parsing; `None` trains it once. The objective must be
    /// [risk](crate::learn::objective::risk), perhaps with other terms. Each stage of the schedule has
    /// [`passes`](Self::passes) passes. What comes before the last pass is trained by likelihood.
    pub annealing: Option<Annealing>,
    /// Model whose last pass and labels training starts from; `None` starts from 0. Templates, sizes of tables and labels
    /// must be those of the training.
    pub init: Option<Arc<ParserModel<Compact>>>,
    /// Seed of the order of sentences, of dropout and of initial noise.
    pub seed: u64,
    /// Number of threads. The model is the same, bit by bit, for any number. With two, staged labels are learnt
    /// while arcs are. AdaGrad and SGD use at most one per sentence of a batch, L-BFGS at most
    /// four.
    pub threads: usize,
}

tutte_linear::setters! {
    TrainingOptions {
        with_optimizer => optimizer: Optimizer,
        with_labelling => labelling: Labelling,
        with_labels => labels: LabelOptions,
        with_passes => passes: usize,
        with_clusters => clusters: usize,
        with_templates => templates: FeatureSet,
        with_dictionary => dictionary: Option<Support>,
        with_bits => bits: u32,
        with_label_bits => label_bits: u32,
        with_pruning => pruning: Option<PrunerOptions>,
        with_second_pass => second_pass: Option<SecondPassOptions>,
        with_tree_set => tree_set: TreeSet,
        with_annealing => annealing: Option<Annealing>,
        with_init => init: Option<Arc<ParserModel<Compact>>>,
        with_seed => seed: u64,
        with_threads => threads: usize,
    }
}

/// Options of a [`Pruner`](crate::Pruner).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PrunerOptions {
    /// Least probability of an arc, relative to that of the word's best head.
    pub threshold: f64,
    /// Number of passes over its part of the treebank.
    pub passes: usize,
    /// Approximate number of words in that part.
    pub words: usize,
    /// Binary logarithm of the number of weights.
    pub bits: u32,
}

tutte_linear::setters! {
    PrunerOptions {
        with_threshold => threshold: f64,
        with_passes => passes: usize,
        with_words => words: usize,
        with_bits => bits: u32,
    }
}

/// Options of a [second pass](crate::SecondPass).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SecondPassOptions {
    /// Number of folds of the treebank for jackknifed first-pass outputs.
    pub folds: usize,
    /// Number of passes over the treebank for the model of each fold.
    pub fold_passes: usize,
    /// Number of passes over the treebank for a provisional first pass, which the mean of the models of the
    /// folds later replaces. `None` keeps the first pass and gives it [`TrainingOptions::passes`].
    pub first_passes: Option<usize>,
    /// Least probability of an arc in the first pass for the second to score it.
    pub threshold: f64,
    /// Temperature of the model, until [another is chosen](crate::ParserModel::best_temperature). `None` measures it
    /// without development data, on a second pass that is trained without a fifth of the treebank. That takes most of
    /// the time of the second pass once more.
    pub temperature: Option<f64>,
    /// Options of a smaller first pass; `None` gives it the templates of the second.
    pub first: Option<FirstPassOptions>,
    /// Feature templates of labels.
    pub labels: FeatureSet,
    /// Options of a [transition parser](crate::TransitionParser) whose tree the second pass sees, too. It learns
    /// from whole trees: there is none if most trees of the treebank are partial.
    pub transition: Option<TransitionOptions>,
    /// Options of [factors](crate::FactorModel) of two arcs, learnt together with arcs and labels. They need joint
    /// labels, one cluster, and AdaGrad or SGD: other trainings have none.
    pub factors: Option<FactorOptions>,
}

tutte_linear::setters! {
    SecondPassOptions {
        with_folds => folds: usize,
        with_fold_passes => fold_passes: usize,
        with_first_passes => first_passes: Option<usize>,
        with_threshold => threshold: f64,
        with_temperature => temperature: Option<f64>,
        with_first => first: Option<FirstPassOptions>,
        with_labels => labels: FeatureSet,
        with_transition => transition: Option<TransitionOptions>,
        with_factors => factors: Option<FactorOptions>,
    }
}

/// Options of a [`FactorModel`](crate::FactorModel).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FactorOptions {
    /// Feature templates.
    pub templates: FactorSet,
    /// Binary logarithm of the largest number of weights. There are at most a quarter as many as arc weights.
    pub bits: u32,
    /// Number of iterations of belief propagation.
    pub iterations: usize,
}

tutte_linear::setters! {
    FactorOptions {
        with_templates => templates: FactorSet,
        with_bits => bits: u32,
        with_iterations => iterations: usize,
    }
}

impl Default for FactorOptions {
    fn default() -> Self {
        Self { templates: FactorSet::standard(), bits: 22, iterations: 1 }
    }
}

/// Options of a [`TransitionParser`](crate::TransitionParser).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TransitionOptions {
    /// Number of passes over the treebank for each fold.
    pub passes: usize,
    /// Binary logarithm of the largest number of rows of step weights. There are at most a quarter as many as
    /// arc weights. Labels have half as many rows as in the second pass.
    pub bits: u32,
    /// Also reads sentences from right to left, which doubles the time.
    pub bidirectional: bool,
}

tutte_linear::setters! {
    TransitionOptions {
        with_passes => passes: usize,
        with_bits => bits: u32,
        with_bidirectional => bidirectional: bool,
    }
}

/// Options of a first pass that is smaller than the second.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FirstPassOptions {
    /// Feature templates of arcs.
    pub templates: FeatureSet,
    /// Binary logarithm of the number of weights.
    pub bits: u32,
}

tutte_linear::setters! {
    FirstPassOptions {
        with_templates => templates: FeatureSet,
        with_bits => bits: u32,
    }
}

/// Options of staged labels.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LabelOptions {
    /// Rate η of AdaGrad.
    pub rate: f32,
    /// Damping δ of AdaGrad.
    pub damping: f32,
    /// Share of templates that are dropped at random in each sentence.
    pub dropout: f64,
    /// Number of passes over the treebank; `None` is as many as for arcs.
    pub passes: Option<usize>,
}

tutte_linear::setters! {
    LabelOptions {
        with_rate => rate: f32,
        with_damping => damping: f32,
        with_dropout => dropout: f64,
        with_passes => passes: Option<usize>,
    }
}

impl Default for TrainingOptions {
    fn default() -> Self {
        Self {
            optimizer: Optimizer::default(),
            labelling: Labelling::Joint,
            labels: LabelOptions::default(),
            passes: 8,
            clusters: 1,
            templates: FeatureSet::richer(),
            dictionary: None,
            bits: 23,
            label_bits: 16,
            pruning: Some(PrunerOptions::default()),
            second_pass: Some(SecondPassOptions::default()),
            tree_set: TreeSet::NonProjectiveSingleRoot,
            annealing: None,
            init: None,
            seed: 1,
            threads: 1,
        }
    }
}

impl TrainingOptions {
    /// Returns options of a fast parser: a small first pass over all arcs, with the few templates of a pruner,
    /// and a second pass over the arcs it leaves. It is faster and less accurate than the default, see
    /// docs/results/parser.md.
    pub fn fast() -> Self {
        let first = FirstPassOptions {
            templates: FeatureSet::pruner(),
            bits: PrunerOptions::default().bits,
        };
        let second = SecondPassOptions {
            folds: 4,
            fold_passes: 2,
            threshold: 0.02,
            ..SecondPassOptions::default()
        };
        let labels = FeatureSet::lean_labels();
        let transition = Some(TransitionOptions { passes: 5, bits: 19, bidirectional: false });
        let factors = Some(FactorOptions::default().with_templates(FactorSet::lean()));
        let second =
            Some(SecondPassOptions { first: Some(first), labels, transition, factors, ..second });
        let templates = FeatureSet::lean();
        Self { pruning: None, second_pass: second, templates, passes: 4, ..Self::default() }
    }

    /// Returns the number of passes over the treebank for the first pass of parsing, or the only one.
    pub(crate) fn first_passes(&self) -> usize {
        self.second_pass.as_ref().and_then(|second| second.first_passes).unwrap_or(self.passes)
    }

    /// Returns the options of everything that comes before the last pass of parsing.
    pub(super) fn before_last_pass(&self) -> Self {
        let probe = self.probe();
        let objective = probe.optimizer.objective().map(Objective::of_first_pass);
        Self { optimizer: probe.optimizer.with_objective(objective), ..probe }
    }

    /// Returns the options of a probe of the last pass of parsing, which measures its temperature.
    pub(super) fn probe(&self) -> Self {
        let optimizer = match self.annealing {
            Some(_) => self.optimizer.with_objective(Some(likelihood())),
            None => self.optimizer.clone(),
        };
        Self { optimizer, annealing: None, init: None, ..self.clone() }
    }

    /// Returns about how many passes the last pass of parsing reports.
    pub(crate) fn last_passes(&self) -> usize {
        self.annealing.map_or(self.passes, |annealing| annealing.reports(self.init.is_some()))
    }

    /// Returns options of a single pass over all arcs with staged labels, as in the papers.
    pub fn plain() -> Self {
        let labelling = Labelling::Staged;
        Self { pruning: None, second_pass: None, labelling, ..Self::default() }
    }
}

impl Default for PrunerOptions {
    fn default() -> Self {
        Self { threshold: 0.01, passes: 3, words: 100_000, bits: 20 }
    }
}

impl Default for SecondPassOptions {
    fn default() -> Self {
        Self {
            folds: 8,
            fold_passes: 5,
            first_passes: None,
            threshold: 0.01,
            temperature: None,
            first: None,
            labels: FeatureSet::second_pass_labels(),
            transition: Some(TransitionOptions { passes: 8, bits: 22, bidirectional: true }),
            factors: Some(FactorOptions::default()),
        }
    }
}

impl Default for LabelOptions {
    fn default() -> Self {
        Self { rate: 0.05, damping: 10.0, dropout: 0.3, passes: None }
    }
}

/// Refuses values that are not possible.
pub(crate) fn check(options: &TrainingOptions) -> Result<(), Error> {
    let LabelOptions { rate, damping, dropout, .. } = options.labels;
    let TrainingOptions { bits, label_bits, .. } = *options;
    let refuse = |why: String| Err(Error::Setting(why));
    if !(5..=MOST_BITS).contains(&bits) || !(2..=28).contains(&label_bits) {
        return refuse(format!(
            "`bits` is {bits} and `label_bits` is {label_bits}; choose 5 to {MOST_BITS} for `bits` and 2 to 28 \
             for `label_bits`"
        ));
    }
    if !(rate > 0.0 && rate.is_finite() && damping > 0.0 && (0.0..1.0).contains(&dropout)) {
        return refuse(format!(
            "labels have rate {rate}, damping {damping} and dropout {dropout}; choose a positive rate and \
             damping, and a dropout from 0 to below 1"
        ));
    }
    if let Some(SecondPassOptions { temperature: Some(temperature), .. }) = options.second_pass
        && !(temperature > 0.0 && temperature.is_finite())
    {
        return refuse(format!("the temperature is {temperature}, but must be a positive number"));
    }
    clusters::check(options)?;
    if let Some(annealing) = &options.annealing {
        annealing.check()?;
        let Some(objective) = options.optimizer.objective() else {
            let name = options.optimizer.name();
            return refuse(format!("{name} has no objective to anneal; use adagrad, sgd or lbfgs"));
        };
        objective.check_annealing()?;
        if options.clusters > 1 {
            return refuse(
                "arcs with latent clusters cannot be annealed; use one cluster".to_owned(),
            );
        }
    }
    if options.init.is_some() && matches!(options.optimizer, Optimizer::Exponentiated { .. }) {
        let name = options.optimizer.name();
        return refuse(format!("{name} cannot start from a model; use another learner"));
    }
    options.optimizer.check()
}
