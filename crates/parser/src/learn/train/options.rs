//! How to train: what can be chosen, and what is chosen if nobody does.

use tutte_trees::TreeSet;

use super::clusters;
use crate::features::FeatureSet;
use crate::learn::optimizer::Optimizer;
use crate::{Error, Labelling, Support};

/// How to train.
#[derive(Clone, Debug)]
pub struct TrainingOptions {
    /// What moves the weights of arcs, and towards what.
    pub optimizer: Optimizer,
    /// Whether there are labels, and how they go with arcs. Where there are two passes, those of
    /// the first are staged in any case: a guide has no labels.
    pub labelling: Labelling,
    /// How the weights of staged labels are moved.
    pub labels: LabelOptions,
    /// Passes over the treebank; for L-BFGS, steps.
    pub passes: usize,
    /// Of how many latent clusters arcs are ([`latent`](crate::model::latent)); 1 is the ordinary
    /// case. Where there are two passes, those of the first are ordinary in any case. Needs a
    /// learner that follows gradients, AdaGrad or SGD.
    pub clusters: usize,
    /// What arcs are looked at by.
    pub templates: FeatureSet,
    /// Which features of arcs have weights, if these are to be found by an exact
    /// [`Dictionary`](crate::Dictionary) and not by hashing. Then templates that see nothing new in the treebank are
    /// left out, see [`FeatureSet::without_copies`].
    pub dictionary: Option<Support>,
    /// The binary logarithm of the number of weights of arcs, of each kind, unless there is a dictionary.
    pub bits: u32,
    /// The binary logarithm of the number of rows of weights of labels.
    pub label_bits: u32,
    /// Whether hopeless arcs are left out.
    pub pruning: Option<PrunerOptions>,
    /// Whether there is a second pass.
    pub second_pass: Option<SecondPassOptions>,
    /// The trees that are possible. Trees to learn from are made projective for projective sets.
    pub tree_set: TreeSet,
    /// Of the order of sentences and of dropout.
    pub seed: u64,
    /// How many threads may work at once. The model is the same, bit by bit, for any number: with
    /// two, labels are learnt while arcs are; AdaGrad and SGD make use of as many more as a batch
    /// has sentences, L-BFGS of [`SHARDS`](crate::learn::optimizer::SHARDS).
    pub threads: usize,
}

/// How a [`Pruner`](crate::Pruner) is learnt.
#[derive(Clone, Debug)]
pub struct PrunerOptions {
    /// How probable an arc must be, as a share of the probability of the word's best head.
    pub threshold: f64,
    /// Passes over what it is learnt from.
    pub passes: usize,
    /// About how many words it is learnt from.
    pub words: usize,
    /// The binary logarithm of the number of weights.
    pub bits: u32,
}

/// How a [second pass](crate::SecondPass) is learnt.
#[derive(Clone, Debug)]
pub struct SecondPassOptions {
    /// Into how many folds the treebank is dealt to make guides.
    pub folds: usize,
    /// Passes over the treebank for each fold.
    pub fold_passes: usize,
    /// Passes over the treebank for the first pass, if the mean of the models of the folds is to take its
    /// place: then it is only what there is until they are.
    pub first_passes: Option<usize>,
    /// How probable an arc must be in the first pass to be looked at again.
    pub threshold: f64,
    /// The temperature of the model, until somebody [chooses one](crate::ParserModel::best_temperature): a second
    /// pass trusts itself too much. If none is given, it is found without development data: a fixed
    /// number of times the temperature of the models that guides are made with, on the sentences that
    /// these have not seen.
    pub temperature: Option<f64>,
    /// What the first pass is, if it does not look at arcs by the same templates.
    pub first: Option<FirstPassOptions>,
    /// What labels are chosen by.
    pub labels: FeatureSet,
    /// Whether it sees the tree of a [shifter](crate::TransitionParser), too. That needs whole trees to learn from: if
    /// most are known in part only, there is none.
    pub transition: Option<TransitionOptions>,
}

/// How a [`TransitionParser`](crate::TransitionParser) is learnt.
#[derive(Clone, Debug)]
pub struct TransitionOptions {
    /// Passes over the treebank, for each fold.
    pub passes: usize,
    /// The binary logarithm of the number of rows of weights of steps: at most this, and a quarter of the number
    /// of weights of arcs. Labels have half the rows that they have in the second pass.
    pub bits: u32,
    /// Whether it also reads backwards, which takes it twice as long.
    pub bidirectional: bool,
}

/// A first pass that is smaller than the second.
#[derive(Clone, Debug)]
pub struct FirstPassOptions {
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
            seed: 1,
            threads: 1,
        }
    }
}

impl TrainingOptions {
    /// A small first pass over all arcs, whose few templates are those of a pruner, and a second
    /// over what it leaves: twice as fast as the default, for less than a point of accuracy.
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
        let second = Some(SecondPassOptions { first: Some(first), labels, transition, ..second });
        let templates = FeatureSet::lean();
        Self { pruning: None, second_pass: second, templates, passes: 4, ..Self::default() }
    }

    /// Passes over the treebank for the first pass of parsing, or the only one.
    pub fn first_passes(&self) -> usize {
        self.second_pass.as_ref().and_then(|second| second.first_passes).unwrap_or(self.passes)
    }

    /// One pass over all arcs, and labels after them, as in the papers.
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
            labels: FeatureSet::guided_labels(),
            transition: Some(TransitionOptions { passes: 8, bits: 22, bidirectional: true }),
        }
    }
}

impl Default for LabelOptions {
    fn default() -> Self {
        Self { rate: 0.05, damping: 10.0, dropout: 0.3, passes: None }
    }
}

/// Refuses what makes no sense.
pub(super) fn check(options: &TrainingOptions) -> Result<(), Error> {
    let LabelOptions { rate, damping, dropout, .. } = options.labels;
    let TrainingOptions { bits, label_bits, .. } = *options;
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
    if let Some(SecondPassOptions { temperature: Some(temperature), .. }) = options.second_pass
        && !(temperature > 0.0 && temperature.is_finite())
    {
        return wrong(format!("the temperature is {temperature}, but must be a positive number"));
    }
    clusters::check(options)?;
    options.optimizer.check()
}
