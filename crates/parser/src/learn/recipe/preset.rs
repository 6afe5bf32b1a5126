//! Presets: the stages of a training, and the sizes of its tables.

use tutte_linear::Rounding;
use tutte_text::TaggerOptions;
use tutte_trees::TreeSet;

use crate::Labelling;
use crate::learn::optimizer::Optimizer;
use crate::learn::train::{LabelOptions, SecondPassOptions, TrainingOptions};

/// Trade-off between accuracy, speed and size.
///
/// ```
/// use tutte::TreeSet;
/// use tutte::learn::Preset;
///
/// let options = Preset::Plain.options(20_000, TreeSet::ProjectiveSingleRoot);
/// assert!(options.second_pass.is_none());
/// assert_eq!(Preset::default().name(), "default");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preset {
    /// A pruner, a first pass, a transition parser and a second pass.
    #[default]
    Default,
    /// A small first pass before the second, and a small transition parser.
    Fast,
    /// The fast preset with small tables of tags, and without the smallest weights.
    Compact,
    /// One pass over all arcs, as in the papers.
    Plain,
}

/// Number of folds of the treebank for jackknifed tags.
pub(super) const TAG_FOLDS: usize = 5;

impl Preset {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Default => "default",
            Preset::Fast => "fast",
            Preset::Compact => "compact",
            Preset::Plain => "plain",
        }
    }

    /// Returns the options of a parser that is learnt from a treebank of this many words.
    pub fn options(self, words: usize, tree_set: TreeSet) -> TrainingOptions {
        let usual = match self {
            Preset::Fast | Preset::Compact => TrainingOptions::fast(),
            Preset::Default => TrainingOptions::default(),
            Preset::Plain => TrainingOptions::plain(),
        };
        TrainingOptions { bits: self.bits(words), label_bits: label_bits(words), tree_set, ..usual }
    }

    /// Returns the binary logarithm of the number of weights that a treebank can use: some hundred weights per word of
    /// a small treebank, and at most 2²⁴ in all. The fast presets take half of that, since smaller tables stay in the
    /// processor's caches.
    fn bits(self, words: usize) -> u32 {
        match words {
            65_536.. if self == Preset::Default || self == Preset::Plain => 24,
            65_536.. => 23,
            _ => (words.max(2).ilog2() + 8).clamp(14, 22),
        }
    }

    /// Returns how the weights of the model are rounded.
    pub(super) fn rounding(self) -> Rounding {
        match self {
            Preset::Compact => Rounding::Sparse,
            Preset::Default | Preset::Fast | Preset::Plain => Rounding::Nearest,
        }
    }

    /// Returns the name of the feature templates.
    pub(super) fn templates(self) -> &'static str {
        match self {
            Preset::Fast | Preset::Compact => "lean",
            Preset::Default | Preset::Plain => "richer",
        }
    }

    /// Returns the options of a tagger for a treebank of this many words.
    pub(super) fn tagger(self, words: usize, seed: u64) -> TaggerOptions {
        let options = if self == Preset::Compact {
            TaggerOptions::compact(words)
        } else {
            TaggerOptions::for_words(words)
        };
        options.with_seed(seed)
    }
}

/// Returns the binary logarithm of the number of rows of label weights that a treebank can use.
fn label_bits(words: usize) -> u32 {
    (words.max(2).ilog2() + 4).clamp(10, 16)
}

/// Adapts a second pass to a treebank of several versions, that is, to jackknifed tags.
///
/// There are at most as many folds as for tags; docs/results/raw-text.md shows the cost. A small first pass learns
/// little in two passes over one version, so its folds get more passes. Otherwise the mean of the models of the folds
/// is the first pass. It is as good as a first pass trained on all sentences, and needs no training. That holds for
/// optimizers that learn most of what they can in a few passes.
pub(super) fn second_pass(
    second: SecondPassOptions,
    optimizer: &Optimizer,
    versions: usize,
    temperature: Option<f64>,
) -> SecondPassOptions {
    let second = SecondPassOptions { temperature, ..second };
    if versions == 1 {
        return second;
    }
    let folds = second.folds.min(TAG_FOLDS);
    if second.first.is_some() {
        return SecondPassOptions { folds, fold_passes: second.fold_passes * versions, ..second };
    }
    let is_quick = matches!(optimizer, Optimizer::AdaGrad { .. } | Optimizer::Sgd { .. });
    SecondPassOptions { folds, first_passes: is_quick.then_some(1), ..second }
}

/// Returns the options of a training by name, for the model's description.
pub(super) fn settings(
    options: &TrainingOptions,
    preset: Preset,
    templates: &str,
    tags: &str,
) -> Vec<(String, String)> {
    let LabelOptions { rate, damping, dropout, .. } = options.labels;
    let labels = match options.labelling {
        Labelling::Staged => format!("staged:rate={rate},damping={damping},dropout={dropout}"),
        labelling => labelling.to_string(),
    };
    let index = match options.dictionary {
        Some(support) => format!("dictionary:{support}"),
        None => "hashed".to_owned(),
    };
    let annealing = options.annealing.map(|annealing| ("annealing", annealing.to_string()));
    let init = options.init.is_some().then(|| ("initial weights", "another model".to_owned()));
    let clusters = (options.clusters > 1).then(|| ("clusters", options.clusters.to_string()));
    [
        ("preset", preset.name().to_owned()),
        ("learner", options.optimizer.to_string()),
        ("templates", templates.to_owned()),
        ("features", index),
        ("passes", options.passes.to_string()),
        ("labels", labels),
        ("tags", tags.to_owned()),
    ]
    .into_iter()
    .chain(clusters)
    .chain(annealing)
    .chain(init)
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_of_one_version_learn_enough_to_be_the_first_pass() {
        let learnt = |preset: Preset, optimizer: &Optimizer, versions| {
            let options = preset.options(1000, TreeSet::NonProjectiveSingleRoot);
            let second = second_pass(options.second_pass?, optimizer, versions, None);
            Some((second.folds, second.fold_passes, second.first_passes))
        };
        let usual = Optimizer::default();
        assert_eq!(learnt(Preset::Default, &usual, 1), Some((8, 5, None)));
        assert_eq!(learnt(Preset::Default, &usual, 2), Some((5, 5, Some(1))));
        assert_eq!(learnt(Preset::Default, &Optimizer::Perceptron, 2), Some((5, 5, None)));
        assert_eq!(learnt(Preset::Fast, &usual, 1), Some((4, 2, None)));
        assert_eq!(learnt(Preset::Fast, &usual, 2), Some((4, 4, None)));
    }

    #[test]
    fn tables_grow_with_the_treebank_up_to_a_limit() {
        assert_eq!(
            [0, 50, 5_000, 35_000, 100_000, 205_000].map(|w| Preset::Default.bits(w)),
            [14, 14, 20, 22, 24, 24]
        );
        assert_eq!([35_000, 205_000].map(|words| Preset::Fast.bits(words)), [22, 23]);
        assert_eq!([0, 50, 5_000, 205_000].map(label_bits), [10, 10, 16, 16]);
    }
}
