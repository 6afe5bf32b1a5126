//! The label scorer: the score of an arc's label, w_ℓ · g(x, h, m).
//!
//! There are two ways to combine it with an arc scorer into a distribution over labelled trees:
//!
//! ```text
//! staged:  θ(h → m, ℓ) = w·f(x, h, m) + log p(ℓ | h → m)     first the arc, then its label
//! joint:   θ(h → m, ℓ) = w·f(x, h, m) + w_ℓ·g(x, h, m)       both at once (Koo et al. 2007, §3.4)
//!
//! p(ℓ | h → m) = exp(w_ℓ·g(x, h, m)) / Σ_ℓ′ exp(w_ℓ′·g(x, h, m))    in both
//! ```
//!
//! Staged, labels do not change the scores of arcs, and are scored only for the arcs of the best tree.
//! Jointly, θ(h → m) = w·f + log Σ_ℓ exp(w_ℓ·g): evidence for a label is evidence for its arc, and the
//! labels of all candidate arcs are scored. The cost is O(features · labels) per arc.
//!
//! A feature has three rows of weights: for arcs from the left, for all arcs, for arcs from the right, in
//! this order. The two rows of any arc are thus neighbours in memory, whose access dominates the cost of
//! labels.
//!
//! In most treebanks some labels occur only on arcs from the root, and others never do. A label is
//! allowed only where it occurs in training ([`LabelModel::allows`]).

mod allowed_labels;
mod arc_labels;
mod labelling;

use tutte_linear::log_sum;
use tutte_trees::{ArcMatrix, arcs};

pub(crate) use self::allowed_labels::AllowedLabels;
pub(crate) use self::arc_labels::ArcLabels;
pub use self::labelling::Labelling;
use crate::Weights;
use crate::features::{FeatureSet, Prepared};

/// MSTParser's features of labels (McDonald, Lerman & Pereira 2006), the same for head and modifier.
/// Their first feature, the label alone, needs no template: it is the sum over tags of label and tag.
const MST_LABELS: &str = "\
h.form h.tag
h.tag
h-1.tag h.tag
h.tag h+1.tag
h-1.tag h.tag h+1.tag
h.form
m.form m.tag
m.tag
m-1.tag m.tag
m.tag m+1.tag
m-1.tag m.tag m+1.tag
m.form
";

impl FeatureSet {
    /// Returns MSTParser's set for labels, used for the labelled results of the papers: head and modifier
    /// separately, each with its neighbours. Like all features of labels, they fire with and without
    /// direction.
    ///
    /// ```
    /// use tutte::features::FeatureSet;
    /// assert_eq!(FeatureSet::mst_labels().templates().len(), 12);
    /// ```
    pub fn mst_labels() -> Self {
        Self::parse(MST_LABELS).unwrap_or_else(|_| Self::new(Vec::new()))
    }
}

/// Templates of labels, the labels, and the weights of features.
///
/// `Staged`: θ(h → m, ℓ) = w·f(x, h, m) + log p(ℓ | h → m), first the arc, then its label. `Joint`:
/// θ(h → m, ℓ) = w·f(x, h, m) + w_ℓ·g(x, h, m).
#[derive(Clone, Debug)]
pub struct LabelModel<W = Vec<f32>> {
    /// Feature templates.
    pub features: FeatureSet,
    labelling: Labelling,
    labels: Vec<String>,
    allowed: AllowedLabels,
    /// Binary logarithm of the number of rows.
    bits: u32,
    /// Cells of a row: the number of labels, rounded up so that rows are aligned.
    width: usize,
    pub(crate) weights: W,
}

impl LabelModel {
    /// Makes a staged model of 2^bits rows whose weights are all zero.
    pub fn new(features: FeatureSet, labels: Vec<String>, bits: u32) -> Self {
        let weights = vec![0.0; width_of(labels.len()) << bits];
        Self::with_weights(features, labels, bits, weights)
    }

    /// Makes the label model of an unlabelled parser.
    pub fn none() -> Self {
        Self::new(FeatureSet::new(Vec::new()), Vec::new(), 1).with_labelling(Labelling::None)
    }

    /// Allows the labels of these arcs, given as (head, label), in addition to those observed before.
    pub(crate) fn observe(&mut self, arcs: impl Iterator<Item = (usize, usize)>) {
        for (head, label) in arcs {
            self.allowed.seen[usize::from(head != 0)][label] = true;
        }
        self.allowed.update_masks();
    }

    /// Copies the model with converted weights.
    pub(crate) fn map<V>(&self, weights: impl FnOnce(&[f32]) -> V) -> LabelModel<V> {
        LabelModel {
            features: self.features.clone(),
            labelling: self.labelling,
            labels: self.labels.clone(),
            allowed: self.allowed.clone(),
            bits: self.bits,
            width: self.width,
            weights: weights(&self.weights),
        }
    }
}

impl<W> LabelModel<W> {
    /// Makes a staged model with given weights: 2^bits rows, each [`width_of`] the labels wide. All
    /// labels are allowed everywhere.
    pub(crate) fn with_weights(
        features: FeatureSet,
        labels: Vec<String>,
        bits: u32,
        weights: W,
    ) -> Self {
        let allowed = AllowedLabels::new(labels.len());
        let width = width_of(labels.len());
        Self { features, labelling: Labelling::Staged, labels, allowed, bits, width, weights }
    }

    /// Sets the way in which labels and arcs are combined.
    pub fn with_labelling(self, labelling: Labelling) -> Self {
        Self { labelling, ..self }
    }

    /// Sets the labels that arcs may have.
    pub(crate) fn with_allowed_labels(self, allowed: AllowedLabels) -> Self {
        Self { allowed, ..self }
    }

    /// Returns the weights: 2^bits rows, with one cell for every label and padding.
    pub fn weights(&self) -> &W {
        &self.weights
    }

    /// Binary logarithm of the number of rows of weights.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the way in which labels and arcs are combined.
    pub fn labelling(&self) -> Labelling {
        self.labelling
    }

    /// Returns the labels.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Returns `true` if arcs from this head may have the label: for the root, labels that occur on arcs
    /// from the root; for words, labels that occur on arcs from words.
    pub fn allows(&self, head: usize, label: usize) -> bool {
        self.allowed.masks[usize::from(head != 0)].get(label).is_some_and(|mask| *mask == 0.0)
    }

    pub(crate) fn allowed_labels(&self) -> &AllowedLabels {
        &self.allowed
    }

    /// Collects the starts of the rows of an arc's features: each alone, and with the arc's direction.
    pub(crate) fn rows(
        &self,
        sentence: &Prepared,
        head: usize,
        modifier: usize,
        rows: &mut Vec<usize>,
    ) {
        let blocks = (1u128 << self.bits) / ROWS as u128;
        let first = if head < modifier { 0 } else { self.width };
        rows.clear();
        sentence.keys(head, modifier, |key| {
            // A key is a fraction of 2⁶⁴; the block is at the same fraction of all blocks.
            let block = ((u128::from(key) * blocks) >> u64::BITS) as usize;
            let row = block * ROWS * self.width + first;
            rows.extend([row, row + self.width]);
        });
    }

    /// Computes w_ℓ·g of all labels from the rows of an arc from this head; −∞ for labels that are not
    /// allowed. Weights are multiplied by `scale`.
    pub(crate) fn scores(&self, rows: &[usize], head: usize, scale: f32, out: &mut Vec<f32>)
    where
        W: Weights,
    {
        out.clear();
        out.extend_from_slice(&self.allowed.masks[usize::from(head != 0)]);
        out.resize(self.width, 0.0);
        self.weights.add_rows(rows, out);
        out.truncate(self.labels.len());
        let scale = scale * self.weights.scale();
        out.iter_mut().for_each(|score| *score *= scale);
    }

    /// Computes log p(ℓ | h → m) of all labels from the rows of the arc. Weights are multiplied by
    /// `scale`.
    pub(crate) fn log_probs(&self, rows: &[usize], head: usize, scale: f32, out: &mut Vec<f32>)
    where
        W: Weights,
    {
        self.scores(rows, head, scale, out);
        normalise(out);
    }

    /// Scores the labels of all arcs of a sentence that are not forbidden.
    pub(crate) fn score_arcs(&self, sentence: &Prepared, scores: &ArcMatrix, found: &mut ArcLabels)
    where
        W: Weights,
    {
        let ArcLabels { places, labels, starts, scores: all, rows, of_arc } = found;
        *places = scores.words() + 1;
        *labels = self.labels.len();
        starts.clear();
        starts.resize(*places * *places, ArcLabels::NONE);
        all.clear();
        for (head, modifier) in arcs(scores.words()) {
            if scores[(head, modifier)] != f64::NEG_INFINITY {
                starts[head * *places + modifier] = all.len();
                self.rows(sentence, head, modifier, rows);
                self.scores(rows, head, 1.0, of_arc);
                all.extend_from_slice(of_arc);
            }
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }
}

/// Number of rows of weights of a feature.
const ROWS: usize = 3;

/// Turns scores into log-probabilities.
fn normalise(scores: &mut [f32]) {
    let sum = log_sum(scores);
    scores.iter_mut().for_each(|score| *score -= sum);
}

/// Returns the number of cells of a row: the number of labels, rounded up so that rows are aligned.
pub(crate) fn width_of(labels: usize) -> usize {
    labels.next_multiple_of(8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Atoms;

    /// The position of label weights is part of the model format.
    #[test]
    fn rows_lie_where_they_always_have() {
        let text =
            "1\tTea\ttea\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_\n";
        let sentence: tutte_treebank::Sentence = text.parse().unwrap();
        let features = FeatureSet::parse("m.upos\nh.upos m.lemma").unwrap();
        let names = (0..9).map(|label| label.to_string()).collect();
        let model = LabelModel::new(features, names, 10);
        let mut prepared = Prepared::default();
        let atoms = Atoms::new(&sentence, model.features.columns());
        prepared.fill(&model.features, &atoms, |_| true);
        let rows = |head, modifier| {
            let mut rows = Vec::new();
            model.rows(&prepared, head, modifier, &mut rows);
            rows
        };
        // A block of three rows of 16 cells: from the left, all, from the right.
        let starts = |head, modifier| {
            let rows = rows(head, modifier);
            assert!(rows.chunks_exact(2).all(|pair| pair[1] == pair[0] + 16));
            rows.iter().step_by(2).map(|row| (row / 48, row % 48)).collect::<Vec<_>>()
        };
        let mut keys = Vec::new();
        prepared.keys(2, 1, |key| keys.push(key));
        let block = |key: u64| ((u128::from(key) * 341) >> 64) as usize;
        assert_eq!(starts(2, 1), [(block(keys[0]), 16), (block(keys[1]), 16)]);
        assert_eq!(starts(2, 1), [(188, 16), (52, 16)]);
        assert!(starts(0, 1).iter().all(|(_, offset)| *offset == 0), "the root is to the left");
        assert_eq!(starts(0, 1)[0].0, starts(2, 1)[0].0, "one block for any head");
    }

    #[test]
    fn normalised_scores_are_log_probabilities() {
        let mut scores = [1.0, -3.0, f32::NEG_INFINITY, 0.5];
        normalise(&mut scores);
        let total: f64 = scores.iter().map(|log| f64::from(*log).exp()).sum();
        assert!((total - 1.0).abs() < 1e-6 && scores[2] == f32::NEG_INFINITY);
    }
}
