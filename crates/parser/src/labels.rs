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
//! price of labels for all arcs. One row of weights a feature and direction, O(features · labels) an
//! arc.
//!
//! In most treebanks some labels are the root's alone, and others never are; a label has no chance
//! where it was never seen ([`LabelModel::allows`]).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tutte_trees::ArcMatrix;

use crate::features::{FeatureSet, GOLDEN, Prepared};
use crate::signal::arcs;
use crate::{Error, Weights};

/// How labels and arcs make a distribution over labelled trees.
///
/// ```
/// use tutte::Labelling;
/// assert_eq!("joint".parse::<Labelling>()?, Labelling::Joint);
/// assert_eq!(Labelling::default().to_string(), "staged");
/// # Ok::<(), tutte::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Labelling {
    /// First the arc, then its label.
    #[default]
    Staged,
    /// Both at once.
    Joint,
    /// There are no labels.
    None,
}

impl Labelling {
    const ALL: [Self; 3] = [Self::Staged, Self::Joint, Self::None];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::Joint => "joint",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Labelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Labelling {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|labelling| labelling.name() == text).ok_or_else(|| {
            Error::Setting(format!("labels cannot be {text:?}; they are staged, joint or none"))
        })
    }
}

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
        let side = if head < modifier { 1 } else { 2 };
        let row = |key: u64| (key >> (64 - self.bits)) as usize * self.width;
        rows.clear();
        sentence.keys(head, modifier, |key| {
            rows.push(row(key));
            rows.push(row(key.wrapping_add(side).wrapping_mul(GOLDEN)));
        });
    }

    /// w_ℓ·g of all labels before they are scaled, from the rows of an arc of this head; −∞ for those
    /// that it cannot have.
    fn sums(&self, rows: &[usize], head: usize, out: &mut Vec<f32>)
    where
        W: Weights,
    {
        out.clear();
        out.extend_from_slice(&self.places.masks[usize::from(head != 0)]);
        out.resize(self.width, 0.0);
        self.weights.add_rows(rows, out);
        out.truncate(self.labels.len());
    }

    /// w_ℓ·g of all labels, from the rows of an arc of this head.
    pub(crate) fn scores(&self, rows: &[usize], head: usize, out: &mut Vec<f32>)
    where
        W: Weights,
    {
        self.sums(rows, head, out);
        let scale = self.weights.scale();
        out.iter_mut().for_each(|score| *score *= scale);
    }

    /// log p(ℓ | h → m) of all labels, from the rows of the arc. Weights count `scale` times.
    pub(crate) fn log_probs(&self, rows: &[usize], head: usize, scale: f32, out: &mut Vec<f32>)
    where
        W: Weights,
    {
        self.sums(rows, head, out);
        let scale = scale * self.weights.scale();
        let highest = out.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let total: f32 = out.iter().map(|score| ((score - highest) * scale).exp()).sum();
        let log_total = total.ln();
        out.iter_mut().for_each(|score| *score = (*score - highest) * scale - log_total);
    }

    /// Adds log Σ_ℓ exp(w_ℓ·g) to the scores of arcs: from w·f to θ, of a joint model.
    pub(crate) fn add_sums(&self, sentence: &Prepared, scores: &mut ArcMatrix)
    where
        W: Weights,
    {
        self.add(sentence, scores, |rows, head, labels| {
            self.scores(rows, head, labels);
            let highest = labels.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            highest + labels.iter().map(|score| (score - highest).exp()).sum::<f32>().ln()
        });
    }

    /// Adds max_ℓ log p(ℓ | h → m) to the scores of arcs: from θ(h → m) to max_ℓ θ(h → m, ℓ).
    pub(crate) fn add_best_log_probs(&self, sentence: &Prepared, scores: &mut ArcMatrix)
    where
        W: Weights,
    {
        self.add(sentence, scores, |rows, head, labels| {
            self.log_probs(rows, head, 1.0, labels);
            labels.iter().copied().fold(f32::NEG_INFINITY, f32::max)
        });
    }

    /// Adds something of its labels to the score of every arc that is not forbidden, from its rows,
    /// its head and room for a number a label.
    fn add(
        &self,
        sentence: &Prepared,
        scores: &mut ArcMatrix,
        mut of: impl FnMut(&[usize], usize, &mut Vec<f32>) -> f32,
    ) {
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        for (head, modifier) in arcs(scores.words()) {
            let score = &mut scores[(head, modifier)];
            if *score != f64::NEG_INFINITY {
                self.rows(sentence, head, modifier, &mut rows);
                *score += f64::from(of(&rows, head, &mut labels));
            }
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }
}

/// Which labels arcs of the root may have, and which those of words: those that were seen there. If
/// none was, all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// Of the root, of words: for each label, whether it was seen.
    seen: [Vec<bool>; 2],
    /// What is added to scores: 0 or −∞.
    masks: [Vec<f32>; 2],
}

impl Places {
    /// Nothing seen yet.
    pub(crate) fn new(labels: usize) -> Self {
        let mut places =
            Self { seen: [vec![false; labels], vec![false; labels]], ..Self::default() };
        places.settle();
        places
    }

    /// From the labels seen with the root and with words; `None` if there are no such labels.
    pub(crate) fn from_lists(labels: usize, lists: [&[usize]; 2]) -> Option<Self> {
        let mut places = Self::new(labels);
        for (seen, list) in places.seen.iter_mut().zip(lists) {
            for &label in list {
                *seen.get_mut(label)? = true;
            }
        }
        places.settle();
        Some(places)
    }

    /// The labels seen with the root and with words.
    pub(crate) fn lists(&self) -> [Vec<usize>; 2] {
        [0, 1].map(|place| {
            let seen = self.seen[place].iter().enumerate().filter(|(_, seen)| **seen);
            seen.map(|(label, _)| label).collect()
        })
    }

    fn settle(&mut self) {
        for (mask, seen) in self.masks.iter_mut().zip(&self.seen) {
            let none = !seen.contains(&true);
            let of = |seen: &bool| if *seen || none { 0.0 } else { f32::NEG_INFINITY };
            *mask = seen.iter().map(of).collect();
        }
    }
}

/// The cells of a row: as many as labels, rounded up so that rows are aligned.
pub(crate) fn width_of(labels: usize) -> usize {
    labels.next_multiple_of(8)
}
