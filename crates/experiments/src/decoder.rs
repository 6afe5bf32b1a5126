//! Decoding of arc scores to heads, and calibration of their probabilities.

use std::fmt;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tutte_treebank::Sentence;
use tutte_treebank::eval::calibration::{Calibration, Forecast, Probability};
use tutte_trees::{ArcMatrix, TreeSet, Workspace};
use tutte_trees::{argmax_with, log_partition_with, marginals_with, mbr_with};

/// A decoder of arc scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Decoder {
    /// The most probable tree of the model's tree set.
    Map,
    /// The most probable projective tree, whatever the model's tree set.
    MapProjective,
    /// The tree with the most arcs expected to be right.
    Mbr,
    /// The most probable pair of a tree and the latent clusters of its arcs.
    MaxZ,
    /// For each word, the head with the highest score; not necessarily a tree.
    GreedyScore,
    /// For each word, the head with the highest probability; not necessarily a tree.
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

/// Arc scores of a sentence.
#[derive(Debug)]
pub(crate) struct Scores {
    /// Scores of the distribution over trees, with latent clusters summed out.
    pub(crate) summed: ArcMatrix,
    /// Scores of each arc's best cluster, if the model has several.
    pub(crate) best_cluster: Option<ArcMatrix>,
}

/// Decodes sentences. Keeps scratch memory between them.
#[derive(Debug)]
pub(crate) struct SentenceDecoder {
    tree_set: TreeSet,
    workspace: Workspace,
    marginals: ArcMatrix,
}

impl SentenceDecoder {
    /// Returns a decoder for models of a tree set.
    pub(crate) fn new(tree_set: TreeSet) -> Self {
        Self { tree_set, workspace: Workspace::default(), marginals: ArcMatrix::default() }
    }

    /// Returns the head of each word.
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
                let scores = scores.best_cluster.as_ref().unwrap_or(&scores.summed);
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

    /// Returns the number of correct heads of each sentence.
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

    /// Returns the calibration of the heads of MBR trees, with all scores multiplied by γ.
    pub(crate) fn calibration(
        &mut self,
        gamma: f64,
        scores: &[Scores],
        gold: &[Sentence],
    ) -> Result<Option<CalibrationSummary>> {
        /// Bins of equal mass.
        const BINS: std::num::NonZeroUsize = std::num::NonZeroUsize::new(15).unwrap();
        let mut forecasts = Vec::new();
        for (scores, gold) in scores.iter().zip(gold) {
            let scaled = Scores { summed: scale(&scores.summed, gamma), best_cluster: None };
            let heads = self.heads(Decoder::Mbr, &scaled)?;
            for (modifier, (head, gold)) in (1..).zip(heads.iter().zip(gold.partial_heads())) {
                // Rounding may put a sum of probabilities slightly above 1.
                let value = self.marginals[(*head, modifier)].clamp(0.0, 1.0);
                let Some(probability) = Probability::new(value) else { continue };
                forecasts.push(Forecast { probability, correct: Some(*head) == gold });
            }
        }
        let summary = |calibration: Calibration| CalibrationSummary {
            gamma,
            ece: calibration.ece.value,
            ece_by_chance: calibration.ece.if_calibrated,
            brier: calibration.brier.score,
            mean_probability: calibration.mean_probability,
            accuracy: calibration.accuracy,
        };
        Ok(Calibration::new(&forecasts, forecasts.len(), BINS).map(summary))
    }

    /// Returns the γ for which gold trees are most probable.
    ///
    /// Minimises Σ −log p_γ(gold), which is convex in γ, by golden-section search over log γ (Kiefer 1953).
    pub(crate) fn best_scale(&mut self, scores: &[Scores], gold: &[Sentence]) -> Result<f64> {
        /// Number of steps. They shrink the interval of log γ from −8…4 to less than 0.01.
        const STEPS: usize = 15;
        let shrink = (5f64.sqrt() - 1.0) / 2.0;
        let mut low = -8.0;
        let mut high = 4.0;
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

    /// Returns Σ −log p_γ(gold) over the sentences whose gold tree is in the tree set.
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

/// Calibration of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CalibrationSummary {
    /// Factor of the scores.
    pub(crate) gamma: f64,
    /// Expected calibration error, in bins of equal mass.
    pub(crate) ece: f64,
    /// Expected value of the ECE if the probabilities were calibrated.
    pub(crate) ece_by_chance: f64,
    /// Mean squared error of the probabilities.
    pub(crate) brier: f64,
    /// Accuracy that the model expects.
    pub(crate) mean_probability: f64,
    /// Measured accuracy.
    pub(crate) accuracy: f64,
}

/// Returns the projective trees of a tree set.
pub(crate) fn projective(tree_set: TreeSet) -> TreeSet {
    if tree_set.is_single_root() {
        TreeSet::ProjectiveSingleRoot
    } else {
        TreeSet::ProjectiveMultiRoot
    }
}

fn scale(scores: &ArcMatrix, gamma: f64) -> ArcMatrix {
    ArcMatrix::from_fn(scores.words(), |head, modifier| gamma * scores[(head, modifier)])
}

/// Returns the head with the highest value for each word; the first one of a tie.
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

    /// Scores whose best heads, word by word, form a cycle.
    fn scores() -> Scores {
        let mut summed = ArcMatrix::zeros(2);
        summed[(0, 1)] = 1.0;
        summed[(2, 1)] = 3.0;
        summed[(1, 2)] = 3.0;
        Scores { summed, best_cluster: None }
    }

    fn gold() -> Vec<Sentence> {
        let text = "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n2\tb\tb\tX\t_\t_\t1\tdep\t_\t_\n";
        vec![text.parse().unwrap()]
    }

    #[test]
    fn tree_decoders_break_the_cycle_of_greedy_choices() {
        let mut sentence_decoder = SentenceDecoder::new(TreeSet::NonProjectiveSingleRoot);
        let scores = scores();
        assert_eq!(sentence_decoder.heads(Decoder::GreedyScore, &scores).unwrap(), [2, 1]);
        for decoder in [Decoder::Map, Decoder::MapProjective, Decoder::Mbr, Decoder::MaxZ] {
            assert_eq!(sentence_decoder.heads(decoder, &scores).unwrap(), [0, 1], "{decoder}");
        }
        assert_eq!(sentence_decoder.heads(Decoder::GreedyPosterior, &scores).unwrap(), [0, 1]);
        assert_eq!(
            sentence_decoder.correct(Decoder::GreedyScore, &[scores], &gold()).unwrap(),
            [1]
        );
    }

    /// Two trees differ by 1 in score. If the better one is gold three times out of four, its probability should be
    /// ¾ = 1 / (1 + exp(−γ)), so γ = ln 3.
    #[test]
    fn the_best_scale_follows_the_gold_trees() {
        let mut sentence_decoder = SentenceDecoder::new(TreeSet::NonProjectiveSingleRoot);
        let other = "1\ta\ta\tX\t_\t_\t2\tdep\t_\t_\n2\tb\tb\tX\t_\t_\t0\troot\t_\t_\n";
        let gold = [gold(), gold(), gold(), vec![other.parse().unwrap()]].concat();
        let scores = [scores(), scores(), scores(), scores()];
        let gamma = sentence_decoder.best_scale(&scores, &gold).unwrap();
        assert!((gamma - 3f64.ln()).abs() < 0.01, "{gamma}");
    }

    #[test]
    fn certain_and_correct_is_calibrated() {
        let mut sentence_decoder = SentenceDecoder::new(TreeSet::NonProjectiveSingleRoot);
        let summary = sentence_decoder.calibration(100.0, &[scores()], &gold()).unwrap().unwrap();
        assert!(summary.ece < 1e-9 && summary.brier < 1e-9 && summary.accuracy == 1.0);
    }
}
