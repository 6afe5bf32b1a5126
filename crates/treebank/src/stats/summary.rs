//! The numbers people read, from the counts.

use std::collections::HashMap;

use super::{Counter, Directions, Histogram, Shapes, Statistics};

/// The statistics of a treebank. Shares are between 0 and 1; `None` where there is nothing to
/// divide by. Lists are sorted by count, largest first, then by value.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Summary {
    /// Sentences.
    pub sentences: u64,
    /// Syntactic words: lines with a whole number as ID.
    pub words: u64,
    /// Tokens on paper: multiword tokens, and words outside them.
    pub tokens: u64,
    /// Multiword tokens.
    pub multiword_tokens: u64,
    /// Empty nodes.
    pub empty_nodes: u64,
    /// Characters of the tokens on paper, without what stands between them.
    pub characters: u64,
    /// Words per sentence on average.
    pub mean_length: Option<f64>,
    /// The median of words per sentence.
    pub median_length: Option<f64>,
    /// Words of the shortest sentence.
    pub min_length: Option<usize>,
    /// Words of the longest sentence.
    pub max_length: Option<usize>,
    /// Sentences by their number of words.
    pub lengths: Histogram,
    /// Forms and lemmas.
    pub vocabulary: Vocabulary,
    /// Labels, with `_` for words that have none.
    pub deprels: Vec<Directed>,
    /// Universal (in CoNLL-X: coarse) tags.
    pub upos: Vec<Share>,
    /// Language-specific (in CoNLL-X: fine) tags.
    pub xpos: Vec<Share>,
    /// Features with their values; shares are of all words.
    pub features: Vec<Share>,
    /// Words that have features.
    pub words_with_features: u64,
    /// Arcs by the tags of head and modifier, where both are words.
    pub tag_pairs: Vec<DirectedPair>,
    /// The shape of the trees.
    pub trees: Trees,
}

/// The words of a language, as far as the treebank has them.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Vocabulary {
    /// Different forms.
    pub forms: u64,
    /// Forms seen once.
    pub hapaxes: u64,
    /// Different forms per word.
    pub type_token_ratio: Option<f64>,
    /// Different lemmas, `_` aside.
    pub lemmas: u64,
}

/// A value and how often it was seen.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Share {
    /// The value.
    pub value: String,
    /// Words that have it.
    pub count: u64,
    /// Of all words.
    pub share: f64,
}

/// A label, how often it was seen, and on which side of its words their heads stand.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Directed {
    /// The label.
    pub value: String,
    /// Words that have it.
    pub count: u64,
    /// Of all words.
    pub share: f64,
    /// Of its arcs between words of a tree, those whose head comes first.
    pub head_initial_share: Option<f64>,
}

/// Arcs between words of two tags.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DirectedPair {
    /// The tag of the head.
    pub head: String,
    /// The tag of the modifier.
    pub modifier: String,
    /// Arcs between such words.
    pub count: u64,
    /// Of these arcs, those whose head comes first.
    pub head_initial_share: f64,
}

/// The shape of the trees.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Trees {
    /// Sentences that are trees.
    pub trees: u64,
    /// Sentences that are not: a head is unknown, or heads form a cycle.
    pub without_tree: u64,
    /// Arcs, those from the root included: one per word.
    pub arcs: u64,
    /// Arcs that cover a word which does not descend from their head.
    pub nonprojective_arcs: u64,
    /// Of all arcs.
    pub nonprojective_arc_share: Option<f64>,
    /// Trees with such an arc.
    pub nonprojective_trees: u64,
    /// Of all trees.
    pub nonprojective_tree_share: Option<f64>,
    /// Trees by gap degree.
    pub gap_degrees: Histogram,
    /// Trees with several root words.
    pub multi_root_trees: u64,
    /// Of all trees.
    pub multi_root_share: Option<f64>,
    /// Arcs by length.
    pub arc_lengths: ArcLengths,
    /// Arcs between words whose head comes first.
    pub head_initial_arcs: u64,
    /// Of all arcs between words.
    pub head_initial_share: Option<f64>,
    /// Children.
    pub branching: Branching,
    /// Trees by depth: the number of arcs from the root to the deepest word.
    pub depths: Histogram,
    /// The mean of that.
    pub mean_depth: Option<f64>,
    /// Arcs from the root to a word, on average over words.
    pub mean_word_depth: Option<f64>,
    /// How long dependencies are, and would be by chance.
    pub dependency_length: DependencyLength,
}

/// Arcs by the distance of head and modifier.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ArcLengths {
    /// Arcs from the root, which have no length.
    pub to_root: u64,
    /// Neighbours.
    pub one: u64,
    /// One word between them.
    pub two: u64,
    /// Three to six.
    pub three_to_six: u64,
    /// Seven and more.
    pub seven_and_more: u64,
    /// By exact length, arcs from the root left out.
    pub exact: Histogram,
}

impl ArcLengths {
    /// The five bins with their names.
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

/// How words branch.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Branching {
    /// Words by their number of children.
    pub children: Histogram,
    /// Children on average, of words that have some.
    pub mean_children: Option<f64>,
    /// Words without children.
    pub leaves: u64,
    /// Words all of whose children come before them.
    pub left_only: u64,
    /// Words all of whose children come after them.
    pub right_only: u64,
    /// Words with children on both sides.
    pub both_sides: u64,
}

/// The mean length of dependencies beside two baselines: the same trees with their words in another
/// order.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DependencyLength {
    /// The mean length of arcs between words.
    pub mean: Option<f64>,
    /// Its expectation over all orders of the words.
    pub random: Option<f64>,
    /// Its expectation over all orders in which the tree is projective.
    pub random_projective: Option<f64>,
}

impl Statistics {
    /// The numbers as far as sentences were counted.
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
            deprels: deprels(&self.deprels, words),
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

fn deprels(labels: &HashMap<Box<str>, Directions>, words: u64) -> Vec<Directed> {
    let mut deprels: Vec<Directed> = labels
        .iter()
        .map(|(value, directions)| Directed {
            value: value.to_string(),
            count: directions.words,
            share: share(directions.words, words).unwrap_or(0.0),
            head_initial_share: share(directions.initial, directions.initial + directions.last),
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
