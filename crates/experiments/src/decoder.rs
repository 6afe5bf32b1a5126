//! From the scores of a sentence's arcs to its heads, and how far their probabilities can be trusted.

use std::fmt;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tutte_treebank::Sentence;
use tutte_treebank::eval::calibration::{Calibration, Forecast, Probability};
use tutte_trees::{ArcMatrix, TreeSet, Workspace};
use tutte_trees::{argmax_with, log_partition_with, marginals_with, mbr_with};

/// A way to choose heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Decoder {
    /// The most probable tree of the set the model was trained in.
    Map,
    /// The most probable projective tree, whatever the model was trained in.
    MapProjective,
    /// The tree with the most arcs expected to be right.
    Mbr,
    /// The most probable tree together with the kinds of its arcs (latent clusters).
    MaxZ,
    /// The head with the highest score, word by word; no tree.
    GreedyScore,
    /// The head with the highest probability, word by word; no tree.
    GreedyPosterior,
}

impl fmt::Display for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Decoder::Map => "map",
            Decoder::MapProjective => "projective map",
            Decoder::Mbr => "mbr",
            Decoder::MaxZ => "max-z",
            Decoder::GreedyScore => "greedy by score",
            Decoder::GreedyPosterior => "greedy by posterior",
        })
    }
}

/// The scores of a sentence's arcs.
#[derive(Debug)]
pub(crate) struct Scores {
    /// Those that make the distribution.
    pub(crate) summed: ArcMatrix,
    /// Those of each arc's best kind, if the model has several.
    pub(crate) best_kind: Option<ArcMatrix>,
}

/// Chooses heads.
#[derive(Debug)]
pub(crate) struct Decoding {
    tree_set: TreeSet,
    workspace: Workspace,
    marginals: ArcMatrix,
}

impl Decoding {
    /// For a model of trees of a set.
    pub(crate) fn new(tree_set: TreeSet) -> Self {
        Self { tree_set, workspace: Workspace::default(), marginals: ArcMatrix::default() }
    }

    /// The head of each word.
    pub(crate) fn heads(&mut self, decoder: Decoder, scores: &Scores) -> Result<Vec<usize>> {
        let Self { tree_set, workspace, marginals } = self;
        let mut heads = Vec::new();
        match decoder {
            Decoder::Map => {
                argmax_with(&scores.summed, *tree_set, workspace, &mut heads)?;
            }
            Decoder::MapProjective => {
                argmax_with(&scores.summed, projective(*tree_set), workspace, &mut heads)?;
            }
            Decoder::MaxZ => {
                let scores = scores.best_kind.as_ref().unwrap_or(&scores.summed);
                argmax_with(scores, *tree_set, workspace, &mut heads)?;
            }
            Decoder::Mbr => {
                marginals_with(&scores.summed, *tree_set, workspace, marginals)?;
                mbr_with(&scores.summed, marginals, *tree_set, workspace, &mut heads)?;
            }
            Decoder::GreedyScore => heads = highest(&scores.summed),
            Decoder::GreedyPosterior => {
                marginals_with(&scores.summed, *tree_set, workspace, marginals)?;
                heads = highest(marginals);
            }
        }
        Ok(heads)
    }

    /// How many heads are right, sentence by sentence.
    pub(crate) fn correct(
        &mut self,
        decoder: Decoder,
        scores: &[Scores],
        gold: &[Sentence],
    ) -> Result<Vec<u32>> {
        let count = |(scores, gold): (&Scores, &Sentence)| -> Result<u32> {
            let heads = self.heads(decoder, scores)?;
            let right = heads.iter().zip(gold.partial_heads()).filter(|(a, b)| Some(**a) == *b);
            Ok(right.count() as u32)
        };
        scores.iter().zip(gold).map(count).collect()
    }

    /// How far the probabilities of the heads of MBR trees can be trusted, when scores are γ times
    /// what they are.
    pub(crate) fn judge(
        &mut self,
        gamma: f64,
        scores: &[Scores],
        gold: &[Sentence],
    ) -> Result<Option<Judged>> {
        /// Bins of equal mass.
        const BINS: std::num::NonZeroUsize = std::num::NonZeroUsize::new(15).unwrap();
        let mut forecasts = Vec::new();
        for (scores, gold) in scores.iter().zip(gold) {
            let scaled = Scores { summed: scale(&scores.summed, gamma), best_kind: None };
            let heads = self.heads(Decoder::Mbr, &scaled)?;
            for (modifier, (head, gold)) in (1..).zip(heads.iter().zip(gold.partial_heads())) {
                // Rounding may leave a sum of probabilities a hair above 1.
                let value = self.marginals[(*head, modifier)].clamp(0.0, 1.0);
                let Some(probability) = Probability::new(value) else { continue };
                forecasts.push(Forecast { probability, correct: Some(*head) == gold });
            }
        }
        let judged = |calibration: Calibration| Judged {
            gamma,
            ece: calibration.ece.value,
            ece_by_chance: calibration.ece.if_calibrated,
            brier: calibration.brier.score,
            mean_probability: calibration.mean_probability,
            accuracy: calibration.accuracy,
        };
        Ok(Calibration::new(&forecasts, forecasts.len(), BINS).map(judged))
    }

    /// The γ for which gold trees are most probable: the minimum of Σ −log p_γ(gold), which is
    /// convex in γ, by golden sections of log γ (Kiefer 1953).
    pub(crate) fn best_scale(&mut self, scores: &[Scores], gold: &[Sentence]) -> Result<f64> {
        /// From e⁻⁸ to e⁴ the interval falls below 0.01 in so many steps.
        const STEPS: usize = 15;
        let shrink = (5f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = (-8.0, 4.0);
        let mut left: f64 = high - shrink * (high - low);
        let mut right: f64 = low + shrink * (high - low);
        let mut at_left = self.loss(left.exp(), scores, gold)?;
        let mut at_right = self.loss(right.exp(), scores, gold)?;
        for _ in 0..STEPS {
            if at_left <= at_right {
                (high, right, at_right) = (right, left, at_left);
                left = high - shrink * (high - low);
                at_left = self.loss(left.exp(), scores, gold)?;
            } else {
                (low, left, at_left) = (left, right, at_right);
                right = low + shrink * (high - low);
                at_right = self.loss(right.exp(), scores, gold)?;
            }
        }
        Ok(((low + high) / 2.0).exp())
    }

    /// Σ −log p_γ(gold), over the sentences whose tree is in the set.
    fn loss(&mut self, gamma: f64, scores: &[Scores], gold: &[Sentence]) -> Result<f64> {
        let mut loss = 0.0;
        for (scores, gold) in scores.iter().zip(gold) {
            let tree = gold.tree()?;
            if tree.check_in(self.tree_set).is_err() {
                continue;
            }
            let scaled = scale(&scores.summed, gamma);
            loss += log_partition_with(&scaled, self.tree_set, &mut self.workspace)?;
            loss -= scaled.sum_over(&tree)?;
        }
        Ok(loss)
    }
}

/// What calibration says of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Judged {
    /// What scores were multiplied with.
    pub(crate) gamma: f64,
    /// The expected calibration error, in bins of equal mass.
    pub(crate) ece: f64,
    /// What it would be by chance if probabilities were right.
    pub(crate) ece_by_chance: f64,
    /// The mean squared error of probabilities.
    pub(crate) brier: f64,
    /// The accuracy that the model expects.
    pub(crate) mean_probability: f64,
    /// The accuracy it has.
    pub(crate) accuracy: f64,
}

/// The projective trees of a set.
pub(crate) fn projective(tree_set: TreeSet) -> TreeSet {
    match tree_set.is_single_root() {
        true => TreeSet::ProjectiveSingleRoot,
        false => TreeSet::ProjectiveMultiRoot,
    }
}

fn scale(scores: &ArcMatrix, gamma: f64) -> ArcMatrix {
    ArcMatrix::from_fn(scores.words(), |head, modifier| gamma * scores[(head, modifier)])
}

/// The head with the highest value, word by word; the first of several.
fn highest(values: &ArcMatrix) -> Vec<usize> {
    let words = values.words();
    let best = |modifier: usize| {
        let heads = (0..=words).filter(|&head| head != modifier).rev();
        heads.max_by(|&a, &b| values[(a, modifier)].total_cmp(&values[(b, modifier)])).unwrap_or(0)
    };
    (1..=words).map(best).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cycle scores best word by word; trees must break it.
    fn scores() -> Scores {
        let mut summed = ArcMatrix::zeros(2);
        summed[(0, 1)] = 1.0;
        summed[(2, 1)] = 3.0;
        summed[(1, 2)] = 3.0;
        Scores { summed, best_kind: None }
    }

    fn gold() -> Vec<Sentence> {
        let text = "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n2\tb\tb\tX\t_\t_\t1\tdep\t_\t_\n";
        vec![text.parse().unwrap()]
    }

    #[test]
    fn trees_break_the_cycle_that_greedy_choices_make() {
        let mut decoding = Decoding::new(TreeSet::NonProjectiveSingleRoot);
        let scores = scores();
        assert_eq!(decoding.heads(Decoder::GreedyScore, &scores).unwrap(), [2, 1]);
        for decoder in [Decoder::Map, Decoder::MapProjective, Decoder::Mbr, Decoder::MaxZ] {
            assert_eq!(decoding.heads(decoder, &scores).unwrap(), [0, 1], "{decoder}");
        }
        assert_eq!(decoding.heads(Decoder::GreedyPosterior, &scores).unwrap(), [0, 1]);
        assert_eq!(decoding.correct(Decoder::GreedyScore, &[scores], &gold()).unwrap(), [1]);
    }

    /// Two trees that differ by 1 in score: if the better is gold three times of four, it should have
    /// probability ¾ = 1 / (1 + exp(−γ)), so γ = ln 3.
    #[test]
    fn the_best_scale_follows_the_gold_trees() {
        let mut decoding = Decoding::new(TreeSet::NonProjectiveSingleRoot);
        let other = "1\ta\ta\tX\t_\t_\t2\tdep\t_\t_\n2\tb\tb\tX\t_\t_\t0\troot\t_\t_\n";
        let gold = [gold(), gold(), gold(), vec![other.parse().unwrap()]].concat();
        let scores = [scores(), scores(), scores(), scores()];
        let gamma = decoding.best_scale(&scores, &gold).unwrap();
        assert!((gamma - 3f64.ln()).abs() < 0.01, "{gamma}");
    }

    #[test]
    fn sure_and_right_is_calibrated() {
        let mut decoding = Decoding::new(TreeSet::NonProjectiveSingleRoot);
        let judged = decoding.judge(100.0, &[scores()], &gold()).unwrap().unwrap();
        assert!(judged.ece < 1e-9 && judged.brier < 1e-9 && judged.accuracy == 1.0);
    }
}
