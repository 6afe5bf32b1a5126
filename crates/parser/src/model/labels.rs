//! A model of labels: what an arc's label adds to its score, w_ℓ · g(x, h, m).
//!
//! There are two ways to make it, with a model of arcs, a distribution over labelled trees:
//!
//! ```text
//! staged:  θ(h → m, ℓ) = w·f(x, h, m) + log p(ℓ | h → m)     first the arc, then its label
//! joint:   θ(h → m, ℓ) = w·f(x, h, m) + w_ℓ·g(x, h, m)       both at once (Koo et al. 2007, §3.4)
//!
//! p(ℓ | h → m) = exp(w_ℓ·g(x, h, m)) / Σ_ℓ′ exp(w_ℓ′·g(x, h, m))    in both
//! ```
//!
//! Staged, labels sum to nothing in arcs' scores, and are wanted only for the arcs of the best tree.
//! Jointly, θ(h → m) = w·f + log Σ_ℓ exp(w_ℓ·g): what speaks for a label speaks for its arc, at the
//! price of labels for all arcs. O(features · labels) an arc.
//!
//! A feature has three rows of weights, one for arcs from the left, one for all, one for arcs from
//! the right, in this order: whatever the direction, the two that count are neighbours in memory,
//! which is what labels wait for.
//!
//! In most treebanks some labels are the root's alone, and others never are; a label has no chance
//! where it was never seen ([`LabelModel::allows`]).

mod labelling;
mod of_arcs;
mod places;

use tutte_linear::log_sum;
use tutte_trees::{ArcMatrix, arcs};

pub use self::labelling::Labelling;
pub(crate) use self::of_arcs::ArcLabels;
pub(crate) use self::places::Places;
use crate::Weights;
use crate::features::{FeatureSet, Prepared};

/// MSTParser's features of labels (McDonald, Lerman & Pereira 2006), for head and modifier alike.
/// Their first, the label alone, has no template: it is the sum over tags of the label with a tag.
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
    /// What MSTParser chooses labels by, which the papers' labelled results are of: head and
    /// modifier apart, each with its neighbours. As all features of labels, each is seen with and
    /// without direction.
    ///
    /// ```
    /// use tutte::features::FeatureSet;
    /// assert_eq!(FeatureSet::mst_labels().templates().len(), 12);
    /// ```
    pub fn mst_labels() -> Self {
        Self::parse(MST_LABELS).unwrap_or_else(|_| Self::new(Vec::new()))
    }
}

/// Features, labels and their weights, of any kind that can be read.
#[derive(Clone, Debug)]
pub struct LabelModel<W = Vec<f32>> {
    /// What is looked at.
    pub features: FeatureSet,
    /// How arcs and labels come together.
    labelling: Labelling,
    labels: Vec<String>,
    places: Places,
    bits: u32,
    /// Cells of a row: the number of labels, rounded up so that rows are aligned.
    width: usize,
    pub(crate) weights: W,
}

impl LabelModel {
    /// A staged model of 2^bits rows whose weights are all zero.
    pub fn new(features: FeatureSet, labels: Vec<String>, bits: u32) -> Self {
        let weights = vec![0.0; width_of(labels.len()) << bits];
        Self::with_weights(features, labels, bits, weights)
    }

    /// What an unlabelled model has instead.
    pub fn none() -> Self {
        Self::new(FeatureSet::new(Vec::new()), Vec::new(), 1).with_labelling(Labelling::None)
    }

    /// Learns where labels may be: where they are seen, for (head, label) of arcs, besides where
    /// they were seen before.
    pub(crate) fn observe(&mut self, arcs: impl Iterator<Item = (usize, usize)>) {
        for (head, label) in arcs {
            self.places.seen[usize::from(head != 0)][label] = true;
        }
        self.places.settle();
    }

    /// The same model with other weights.
    pub(crate) fn map<V>(&self, weights: impl FnOnce(&[f32]) -> V) -> LabelModel<V> {
        LabelModel {
            features: self.features.clone(),
            labelling: self.labelling,
            labels: self.labels.clone(),
            places: self.places.clone(),
            bits: self.bits,
            width: self.width,
            weights: weights(&self.weights),
        }
    }
}

impl<W> LabelModel<W> {
    /// A staged model with given weights: 2^bits rows of [`width_of`] as many labels. All may be
    /// anywhere.
    pub(crate) fn with_weights(
        features: FeatureSet,
        labels: Vec<String>,
        bits: u32,
        weights: W,
    ) -> Self {
        let (places, width) = (Places::new(labels.len()), width_of(labels.len()));
        Self { features, labelling: Labelling::Staged, labels, places, bits, width, weights }
    }

    /// The same, with labels and arcs coming together in another way.
    pub fn with_labelling(self, labelling: Labelling) -> Self {
        Self { labelling, ..self }
    }

    /// The same, with labels that may be elsewhere.
    pub(crate) fn with_places(self, places: Places) -> Self {
        Self { places, ..self }
    }

    /// The weights: 2^bits rows, in each one for every label and some that fill the row.
    pub fn weights(&self) -> &W {
        &self.weights
    }

    /// The binary logarithm of the number of rows of weights.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// How labels and arcs come together.
    pub fn labelling(&self) -> Labelling {
        self.labelling
    }

    /// The labels.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Whether the arcs of a head may have a label: whether it was seen on an arc of the root, if
    /// that is the head, or on one of a word.
    pub fn allows(&self, head: usize, label: usize) -> bool {
        self.places.masks[usize::from(head != 0)].get(label).is_some_and(|mask| *mask == 0.0)
    }

    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// Where the rows of an arc's features start: each alone, and with the arc's direction.
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
            // A key is a fraction of 2⁶⁴; this is the same fraction of all blocks.
            let block = ((u128::from(key) * blocks) >> u64::BITS) as usize;
            let row = block * ROWS * self.width + first;
            rows.extend([row, row + self.width]);
        });
    }

    /// w_ℓ·g of all labels, from the rows of an arc of this head; −∞ for those that it cannot have.
    /// Weights count `scale` times.
    pub(crate) fn scores(&self, rows: &[usize], head: usize, scale: f32, out: &mut Vec<f32>)
    where
        W: Weights,
    {
        out.clear();
        out.extend_from_slice(&self.places.masks[usize::from(head != 0)]);
        out.resize(self.width, 0.0);
        self.weights.add_rows(rows, out);
        out.truncate(self.labels.len());
        let scale = scale * self.weights.scale();
        out.iter_mut().for_each(|score| *score *= scale);
    }

    /// log p(ℓ | h → m) of all labels, from the rows of the arc. Weights count `scale` times.
    pub(crate) fn log_probs(&self, rows: &[usize], head: usize, scale: f32, out: &mut Vec<f32>)
    where
        W: Weights,
    {
        self.scores(rows, head, scale, out);
        normalise(out);
    }

    /// The scores of the labels of all arcs of a sentence that are not forbidden.
    pub(crate) fn score_arcs(&self, sentence: &Prepared, scores: &ArcMatrix, found: &mut ArcLabels)
    where
        W: Weights,
    {
        let ArcLabels { places, labels, starts, scores: all, rows, of_arc } = found;
        (*places, *labels) = (scores.words() + 1, self.labels.len());
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

/// Rows of weights a feature has.
const ROWS: usize = 3;

/// From scores to logarithms of probabilities.
fn normalise(scores: &mut [f32]) {
    let sum = log_sum(scores);
    scores.iter_mut().for_each(|score| *score -= sum);
}

/// The cells of a row: as many as labels, rounded up so that rows are aligned.
pub(crate) fn width_of(labels: usize) -> usize {
    labels.next_multiple_of(8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Atoms;

    /// Part of the model format: where the weights of labels are.
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
        assert_eq!(starts(0, 1)[0].0, starts(2, 1)[0].0, "of one word, whatever the head");
    }

    #[test]
    fn normalised_scores_are_logarithms_of_probabilities() {
        let mut scores = [1.0, -3.0, f32::NEG_INFINITY, 0.5];
        normalise(&mut scores);
        let total: f64 = scores.iter().map(|log| f64::from(*log).exp()).sum();
        assert!((total - 1.0).abs() < 1e-6 && scores[2] == f32::NEG_INFINITY);
    }
}
