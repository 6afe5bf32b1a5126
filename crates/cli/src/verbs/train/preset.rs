//! Presets: how much to do, and the sizes of tables that go with it.

use clap::ValueEnum;
use tutte::{LabelOptions, Labelling, Optimizer, SecondPassOptions, TrainingOptions};

use super::text::FOLDS;

/// How much to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    Fast,
    Compact,
    Default,
    Plain,
}

impl Preset {
    pub(crate) fn options(self) -> TrainingOptions {
        match self {
            Preset::Fast | Preset::Compact => TrainingOptions::fast(),
            Preset::Default => TrainingOptions::default(),
            Preset::Plain => TrainingOptions::plain(),
        }
    }

    /// The binary logarithm of the number of weights that a treebank can use: some hundred for each
    /// word of a small one; 2²² do for 35,000 words, 2²⁴ for 200,000. To be fast, half of that: what
    /// the caches hold is looked up sooner.
    pub(crate) fn bits(self, words: usize) -> u32 {
        match words {
            65_536.. if self == Preset::Default || self == Preset::Plain => 24,
            65_536.. => 23,
            _ => (words.max(2).ilog2() + 8).clamp(14, 22),
        }
    }
}

/// How the second pass of a parser is learnt: where tags are jackknifed, with no more folds than they are.
/// On development files of UD Turkish, French ParTUT and Gothic that made LAS no worse (+0.02, +0.05, 0.00
/// beside eight folds that learn from all versions of a sentence), and training 1.6 to 2 times as fast; on test
/// files with gold tags, 0.15 to 0.4 UAS are lost.
///
/// A small first pass learns so little in two passes over one version that its folds need more (French
/// ParTUT, development file: 0.5 UAS). The mean of the models of large folds is as good a first pass as one
/// that is learnt from all sentences (UAS of gold words on the development files of UD Turkish, French ParTUT and
/// English ParTUT: +0.20, +0.05, −0.14), and there already. That is for learners whose folds learn as much in a few passes as they ever do.
pub(super) fn second_pass(
    second: SecondPassOptions,
    learner: &Optimizer,
    versions: usize,
    temperature: Option<f64>,
) -> SecondPassOptions {
    let second = SecondPassOptions { temperature, ..second };
    if versions == 1 {
        return second;
    }
    let folds = second.folds.min(FOLDS);
    if second.first.is_some() {
        return SecondPassOptions { folds, fold_passes: second.fold_passes * versions, ..second };
    }
    let is_quick = matches!(learner, Optimizer::AdaGrad { .. } | Optimizer::Sgd { .. });
    SecondPassOptions { folds, first_passes: is_quick.then_some(1), ..second }
}

/// The binary logarithm of the number of rows of weights of labels that a treebank can use.
pub(crate) fn label_bits(words: usize) -> u32 {
    (words.max(2).ilog2() + 4).clamp(10, 16)
}

/// TrainingOptions by name, for the model's description.
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
    let clusters = (options.clusters > 1).then(|| ("clusters", options.clusters.to_string()));
    let preset = match preset {
        Preset::Fast => "fast",
        Preset::Compact => "compact",
        Preset::Default => "default",
        Preset::Plain => "plain",
    };
    [
        ("preset", preset.to_owned()),
        ("learner", options.optimizer.to_string()),
        ("templates", templates.to_owned()),
        ("features", index),
        ("passes", options.passes.to_string()),
        ("labels", labels),
        ("tags", tags.to_owned()),
    ]
    .into_iter()
    .chain(clusters)
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_of_one_version_learn_enough_to_guide_and_to_be_the_first_pass() {
        let learnt = |preset: Preset, learner: &Optimizer, versions| {
            let second = second_pass(preset.options().second_pass?, learner, versions, None);
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
