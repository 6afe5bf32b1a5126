//! Summaries of the counts, for display.

use std::collections::HashMap;

use super::{Counter, Directions, Histogram, LabelRepeats, Shapes, Statistics};

/// Statistics of a treebank. Shares are between 0 and 1, and `None` if the denominator is 0. Lists
/// are sorted by count, largest first, then by value.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Summary {
    /// Number of sentences.
    pub sentences: u64,
    /// Number of syntactic words: lines with a whole number as ID.
    pub words: u64,
    /// Number of surface tokens: multiword tokens, and words outside them.
    pub tokens: u64,
    /// Number of multiword tokens.
    pub multiword_tokens: u64,
    /// Number of empty nodes.
    pub empty_nodes: u64,
    /// Number of characters of the surface tokens, without the spaces between them.
    pub characters: u64,
    /// Mean number of words per sentence.
    pub mean_length: Option<f64>,
    /// Median number of words per sentence.
    pub median_length: Option<f64>,
    /// Number of words of the shortest sentence.
    pub min_length: Option<usize>,
    /// Number of words of the longest sentence.
    pub max_length: Option<usize>,
    /// Sentences by their number of words.
    pub lengths: Histogram,
    /// Counts of forms and lemmas.
    pub vocabulary: Vocabulary,
    /// Labels; `_` for words without one.
    pub deprels: Vec<Directed>,
    /// Universal (in CoNLL-X: coarse) tags.
    pub upos: Vec<Share>,
    /// Language-specific (in CoNLL-X: fine) tags.
    pub xpos: Vec<Share>,
    /// Features with their values. Shares are of all words.
    pub features: Vec<Share>,
    /// Number of words with features.
    pub words_with_features: u64,
    /// Arcs by the tags of head and modifier, where both are words.
    pub tag_pairs: Vec<DirectedPair>,
    /// The shape of the trees.
    pub trees: Trees,
}

/// Sizes of the vocabulary.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Vocabulary {
    /// Number of different forms.
    pub forms: u64,
    /// Number of forms that occur once.
    pub hapaxes: u64,
    /// Different forms divided by words.
    pub type_token_ratio: Option<f64>,
    /// Number of different lemmas, without `_`.
    pub lemmas: u64,
}

/// A value with its count.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Share {
    /// The value.
    pub value: String,
    /// Number of words with this value.
    pub count: u64,
    /// Share of all words.
    pub share: f64,
}

/// A label with its count and the direction of its arcs.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Directed {
    /// The label.
    pub value: String,
    /// Number of words with this label.
    pub count: u64,
    /// Share of all words.
    pub share: f64,
    /// Share of head-initial arcs among its arcs between words of a tree.
    pub head_initial_share: Option<f64>,
    /// Number of words with at least one modifier of this label.
    pub heads: u64,
    /// Number of words with at least two modifiers of this label.
    pub repeating_heads: u64,
}

impl Directed {
    /// Returns the share of the words with this label among their modifiers that have it several times.
    pub fn repeating_share(&self) -> Option<f64> {
        share(self.repeating_heads, self.heads)
    }
}

/// Arcs between words of two tags.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DirectedPair {
    /// Tag of the head.
    pub head: String,
    /// Tag of the modifier.
    pub modifier: String,
    /// Number of arcs.
    pub count: u64,
    /// Share of head-initial arcs.
    pub head_initial_share: f64,
}

/// The shape of the trees.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Trees {
    /// Number of sentences that are trees.
    pub trees: u64,
    /// Number of sentences that are not trees: a head is unknown, or heads form a cycle.
    pub without_tree: u64,
    /// Number of arcs, including those from the root: one per word.
    pub arcs: u64,
    /// Number of non-projective arcs: they span a word that does not descend from their head.
    pub nonprojective_arcs: u64,
    /// Share of all arcs.
    pub nonprojective_arc_share: Option<f64>,
    /// Number of trees with a non-projective arc.
    pub nonprojective_trees: u64,
    /// Share of all trees.
    pub nonprojective_tree_share: Option<f64>,
    /// Trees by gap degree.
    pub gap_degrees: Histogram,
    /// Number of trees with several root words.
    pub multi_root_trees: u64,
    /// Share of all trees.
    pub multi_root_share: Option<f64>,
    /// Arcs by length.
    pub arc_lengths: ArcLengths,
    /// Number of arcs between words whose head comes first.
    pub head_initial_arcs: u64,
    /// Share of all arcs between words.
    pub head_initial_share: Option<f64>,
    /// Numbers of children.
    pub branching: Branching,
    /// Trees by depth: the number of arcs from the root to the deepest word.
    pub depths: Histogram,
    /// Mean depth of trees.
    pub mean_depth: Option<f64>,
    /// Mean depth of words: the number of arcs from the root to the word.
    pub mean_word_depth: Option<f64>,
    /// Mean length of dependencies, with random baselines.
    pub dependency_length: DependencyLength,
}

/// Arcs by the distance of head and modifier.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ArcLengths {
    /// Arcs from the root, which have no length.
    pub to_root: u64,
    /// Arcs of length 1.
    pub one: u64,
    /// Arcs of length 2.
    pub two: u64,
    /// Arcs of length 3 to 6.
    pub three_to_six: u64,
    /// Arcs of length 7 or more.
    pub seven_and_more: u64,
    /// By exact length, without arcs from the root.
    pub exact: Histogram,
}

impl ArcLengths {
    /// Returns the five bins with their names.
    pub fn bins(&self) -> [(&'static str, u64); 5] {
        [
            ("to root", self.to_root),
            ("1", self.one),
            ("2", self.two),
            ("3-6", self.three_to_six),
            ("7+", self.seven_and_more),
        ]
    }
}

/// Numbers and sides of the children of words.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Branching {
    /// Words by their number of children.
    pub children: Histogram,
    /// Mean number of children, of words with children.
    pub mean_children: Option<f64>,
    /// Number of words without children.
    pub leaves: u64,
    /// Number of words whose children all come before them.
    pub left_only: u64,
    /// Number of words whose children all come after them.
    pub right_only: u64,
    /// Number of words with children on both sides.
    pub both_sides: u64,
}

/// The mean length of dependencies, with two baselines for other orders of the words.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DependencyLength {
    /// Mean length of arcs between words.
    pub mean: Option<f64>,
    /// Expectation over all orders of the words.
    pub random: Option<f64>,
    /// Expectation over all orders in which the tree is projective.
    pub random_projective: Option<f64>,
}

impl Statistics {
    /// Returns the statistics of all sentences so far.
    pub fn summary(&self) -> Summary {
        let words = self.words;
        Summary {
            sentences: self.sentences,
            words,
            tokens: self.tokens,
            multiword_tokens: self.multiword_tokens,
            empty_nodes: self.empty_nodes,
            characters: self.characters,
            mean_length: self.lengths.mean(),
            median_length: self.lengths.median(),
            min_length: self.lengths.min(),
            max_length: self.lengths.max(),
            lengths: self.lengths.clone(),
            vocabulary: Vocabulary {
                forms: self.forms.len() as u64,
                hapaxes: self.forms.values().filter(|&&count| count == 1).count() as u64,
                type_token_ratio: share(self.forms.len() as u64, words),
                lemmas: self.lemmas.len() as u64,
            },
            deprels: deprels(&self.deprels, &self.repeats, words),
            upos: shares(&self.upos, words),
            xpos: shares(&self.xpos, words),
            features: shares(&self.features, words),
            words_with_features: self.words_with_features,
            tag_pairs: pairs(&self.pairs),
            trees: self.shapes.summary(self.sentences),
        }
    }
}

impl Shapes {
    fn summary(&self, sentences: u64) -> Trees {
        let between_words = self.arcs - self.root_arcs;
        let leaves = self.children.count(0);
        let mean = |sum: f64, of: u64| (of > 0).then(|| sum / of as f64);
        Trees {
            trees: self.trees,
            without_tree: sentences - self.trees,
            arcs: self.arcs,
            nonprojective_arcs: self.nonprojective_arcs,
            nonprojective_arc_share: share(self.nonprojective_arcs, self.arcs),
            nonprojective_trees: self.nonprojective,
            nonprojective_tree_share: share(self.nonprojective, self.trees),
            gap_degrees: self.gap_degrees.clone(),
            multi_root_trees: self.multi_root,
            multi_root_share: share(self.multi_root, self.trees),
            arc_lengths: ArcLengths {
                to_root: self.root_arcs,
                one: self.arc_lengths.count(1),
                two: self.arc_lengths.count(2),
                three_to_six: self.arc_lengths.within(3..=6),
                seven_and_more: self.arc_lengths.within(7..=usize::MAX),
                exact: self.arc_lengths.clone(),
            },
            head_initial_arcs: self.head_initial,
            head_initial_share: share(self.head_initial, between_words),
            branching: Branching {
                children: self.children.clone(),
                mean_children: share(self.children.sum(), self.arcs - leaves),
                leaves,
                left_only: self.left_only,
                right_only: self.right_only,
                both_sides: self.both_sides,
            },
            depths: self.depths.clone(),
            mean_depth: self.depths.mean(),
            mean_word_depth: share(self.word_depths, self.arcs),
            dependency_length: DependencyLength {
                mean: mean(self.length as f64, between_words),
                random: mean(self.random_length_3 as f64 / 3.0, between_words),
                random_projective: mean(
                    self.random_projective_length_6 as f64 / 6.0,
                    between_words,
                ),
            },
        }
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn shares(counter: &Counter, words: u64) -> Vec<Share> {
    let mut shares: Vec<Share> = counter
        .iter()
        .map(|(value, &count)| Share {
            value: value.to_string(),
            count,
            share: share(count, words).unwrap_or(0.0),
        })
        .collect();
    shares.sort_unstable_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
    shares
}

fn deprels(
    labels: &HashMap<Box<str>, Directions>,
    repeats: &LabelRepeats,
    words: u64,
) -> Vec<Directed> {
    let mut deprels: Vec<Directed> = labels
        .iter()
        .map(|(value, directions)| Directed {
            value: value.to_string(),
            count: directions.words,
            share: share(directions.words, words).unwrap_or(0.0),
            head_initial_share: share(directions.initial, directions.initial + directions.last),
            heads: repeats.of(value).heads,
            repeating_heads: repeats.of(value).repeating,
        })
        .collect();
    deprels.sort_unstable_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
    deprels
}

fn pairs(pairs: &HashMap<Box<str>, HashMap<Box<str>, Directions>>) -> Vec<DirectedPair> {
    let mut list: Vec<DirectedPair> = pairs
        .iter()
        .flat_map(|(head, modifiers)| modifiers.iter().map(move |pair| (head, pair)))
        .map(|(head, (modifier, directions))| DirectedPair {
            head: head.to_string(),
            modifier: modifier.to_string(),
            count: directions.words,
            head_initial_share: share(directions.initial, directions.words).unwrap_or(0.0),
        })
        .collect();
    list.sort_unstable_by(|a, b| {
        b.count.cmp(&a.count).then_with(|| (&a.head, &a.modifier).cmp(&(&b.head, &b.modifier)))
    });
    list
}
