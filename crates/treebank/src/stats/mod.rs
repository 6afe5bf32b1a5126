//! Statistics of a treebank: sizes, lengths, vocabulary, labels, tags, and the shape of its trees.
//!
//! Words are syntactic words, the lines with a whole number as ID. The shape is computed over
//! sentences that are trees. Sentences with unknown heads or cycles count for everything else. For
//! an arc with head h and modifier m:
//!
//! - the arc is *non-projective* if some word between h and m does not descend from h; a sentence
//!   is non-projective if one of its arcs is;
//! - the *gap degree* of a sentence is the largest one of its words (Kuhlmann & Nivre 2006);
//! - the *length* of the arc is |h − m|, and it is *head-initial* if h < m; arcs from the root have
//!   neither and are counted separately;
//! - a label *repeats* under a word if several of its modifiers have it, such as two subjects of one verb;
//! - the *depth* of a word is the number of arcs from the root 0 to it, so 1 for the root word.
//!
//! The mean length is compared with two baselines. The first is its expectation if the words of
//! every sentence are shuffled, (n + 1) / 3 per arc (Ferrer-i-Cancho 2004). The second is its
//! expectation over shuffles that keep the trees projective (Alemany-Puig & Ferrer-i-Cancho 2022).
//! Natural languages keep dependencies shorter than either.
//!
//! Cost: near-linear in the words of a sentence. Memory grows with the vocabulary, not with the
//! corpus.
//!
//! ```
//! use tutte_treebank::{Reader, stats::Statistics};
//!
//! let file = "\
//! 1\tCats\tcat\tNOUN\t_\t_\t2\tnsubj\t_\t_
//! 2\tlike\tlike\tVERB\t_\t_\t0\troot\t_\t_
//! 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
//!
//! ";
//! let mut statistics = Statistics::default();
//! for sentence in Reader::new(file.as_bytes()) {
//!     statistics.add(&sentence?);
//! }
//! let summary = statistics.summary();
//! assert_eq!((summary.sentences, summary.words), (1, 3));
//! assert_eq!(summary.vocabulary.lemmas, 2);
//! assert_eq!(summary.trees.head_initial_share, Some(0.5));
//! assert_eq!(summary.trees.nonprojective_arcs, 0);
//! # Ok::<(), tutte_treebank::Error>(())
//! ```

mod histogram;
mod repeats;
mod shape;
mod summary;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::{Id, Sentence};
use shape::Shape;

pub use histogram::Histogram;
pub use repeats::{LabelRepeats, Repeats};
pub use summary::{
    ArcLengths, Branching, DependencyLength, Directed, DirectedPair, Share, Summary, Trees,
    Vocabulary,
};

/// Counts over sentences. [`summary`](Statistics::summary) can be called at any time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    sentences: u64,
    words: u64,
    tokens: u64,
    multiword_tokens: u64,
    empty_nodes: u64,
    characters: u64,
    lengths: Histogram,
    forms: Counter,
    lemmas: Counter,
    upos: Counter,
    xpos: Counter,
    features: Counter,
    words_with_features: u64,
    deprels: HashMap<Box<str>, Directions>,
    repeats: LabelRepeats,
    /// By the tag of the head, then by the tag of the modifier.
    pairs: HashMap<Box<str>, HashMap<Box<str>, Directions>>,
    shapes: Shapes,
}

/// Number of occurrences of each value.
type Counter = HashMap<Box<str>, u64>;

/// Arcs by the side of the head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Directions {
    /// Number of words, with or without a known head.
    words: u64,
    /// Arcs whose head comes before the modifier.
    initial: u64,
    /// Arcs whose head comes after the modifier.
    last: u64,
}

impl Directions {
    fn merge(&mut self, other: &Directions) {
        self.words += other.words;
        self.initial += other.initial;
        self.last += other.last;
    }
}

/// Sums over the trees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shapes {
    trees: u64,
    arcs: u64,
    root_arcs: u64,
    nonprojective_arcs: u64,
    nonprojective: u64,
    multi_root: u64,
    gap_degrees: Histogram,
    arc_lengths: Histogram,
    head_initial: u64,
    depths: Histogram,
    word_depths: u64,
    children: Histogram,
    /// Words with children only on the left, only on the right, or on both sides.
    left_only: u64,
    right_only: u64,
    both_sides: u64,
    length: u64,
    /// Three times and six times the expected lengths. These are integers, so that the order of
    /// addition does not matter.
    random_length_3: u64,
    random_projective_length_6: u64,
}

impl Statistics {
    /// Counts a sentence.
    pub fn add(&mut self, sentence: &Sentence) {
        let words = sentence.len();
        self.sentences += 1;
        self.words += words as u64;
        self.lengths.add(words);
        self.add_tokens(sentence);
        for word in sentence.words() {
            count(&mut self.forms, word.form());
            count_known(&mut self.lemmas, word.lemma());
            count_known(&mut self.upos, word.upos());
            count_known(&mut self.xpos, word.xpos());
            let mut features = 0;
            for entry in word.feats().split('|').filter(|entry| !matches!(*entry, "" | "_")) {
                count(&mut self.features, entry);
                features += 1;
            }
            self.words_with_features += u64::from(features > 0);
            entry(&mut self.deprels, word.deprel()).words += 1;
        }
        self.repeats.add(sentence);
        // `check` reports heads that are not a tree.
        if let Ok(tree) = sentence.tree() {
            self.add_directions(sentence);
            self.shapes.add(&Shape::new(&tree), tree.heads());
        }
    }

    /// Counts surface tokens: multiword tokens instead of their words.
    fn add_tokens(&mut self, sentence: &Sentence) {
        let mut inside = 0;
        for token in sentence.tokens() {
            match token.id() {
                Id::Empty(..) => {
                    self.empty_nodes += 1;
                    continue;
                }
                Id::Word(word) if word <= inside => continue,
                Id::Word(_) => {}
                Id::Multiword(_, last) => {
                    inside = last;
                    self.multiword_tokens += 1;
                }
            }
            self.tokens += 1;
            self.characters += token.form().chars().count() as u64;
        }
    }

    fn add_directions(&mut self, sentence: &Sentence) {
        for word in sentence.words() {
            let (Some(number), Some(head)) = (word.id().word(), word.head()) else { continue };
            let Some(above) = sentence.word(head) else { continue };
            let pair = entry(entry(&mut self.pairs, above.upos()), word.upos());
            pair.words += 1;
            let label = entry(&mut self.deprels, word.deprel());
            if head < number {
                pair.initial += 1;
                label.initial += 1;
            } else {
                pair.last += 1;
                label.last += 1;
            }
        }
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Statistics) {
        self.sentences += other.sentences;
        self.words += other.words;
        self.tokens += other.tokens;
        self.multiword_tokens += other.multiword_tokens;
        self.empty_nodes += other.empty_nodes;
        self.characters += other.characters;
        self.lengths.merge(&other.lengths);
        for (counter, more) in [
            (&mut self.forms, &other.forms),
            (&mut self.lemmas, &other.lemmas),
            (&mut self.upos, &other.upos),
            (&mut self.xpos, &other.xpos),
            (&mut self.features, &other.features),
        ] {
            more.iter().for_each(|(value, count)| *entry(counter, value) += count);
        }
        self.words_with_features += other.words_with_features;
        for (label, directions) in &other.deprels {
            entry(&mut self.deprels, label).merge(directions);
        }
        self.repeats.merge(&other.repeats);
        for (head, modifiers) in &other.pairs {
            let into = entry(&mut self.pairs, head);
            for (modifier, directions) in modifiers {
                entry(into, modifier).merge(directions);
            }
        }
        self.shapes.merge(&other.shapes);
    }
}

impl Shapes {
    fn add(&mut self, shape: &Shape, heads: &[usize]) {
        self.trees += 1;
        self.arcs += heads.len() as u64;
        self.root_arcs += shape.roots as u64;
        self.nonprojective_arcs += shape.nonprojective_arcs as u64;
        self.nonprojective += u64::from(shape.nonprojective_arcs > 0);
        self.multi_root += u64::from(shape.roots > 1);
        self.gap_degrees.add(shape.gap_degree);
        for (modifier, &head) in (1..).zip(heads) {
            if head > 0 {
                self.arc_lengths.add(head.abs_diff(modifier));
                self.head_initial += u64::from(head < modifier);
            }
        }
        self.depths.add(shape.depth);
        self.word_depths += shape.depths;
        for &[left, right] in &shape.children {
            self.children.add((left + right) as usize);
            self.left_only += u64::from(left > 0 && right == 0);
            self.right_only += u64::from(left == 0 && right > 0);
            self.both_sides += u64::from(left > 0 && right > 0);
        }
        self.length += shape.length;
        self.random_length_3 += shape.random_length_3;
        self.random_projective_length_6 += shape.random_projective_length_6;
    }

    fn merge(&mut self, other: &Shapes) {
        self.trees += other.trees;
        self.arcs += other.arcs;
        self.root_arcs += other.root_arcs;
        self.nonprojective_arcs += other.nonprojective_arcs;
        self.nonprojective += other.nonprojective;
        self.multi_root += other.multi_root;
        self.gap_degrees.merge(&other.gap_degrees);
        self.arc_lengths.merge(&other.arc_lengths);
        self.head_initial += other.head_initial;
        self.depths.merge(&other.depths);
        self.word_depths += other.word_depths;
        self.children.merge(&other.children);
        self.left_only += other.left_only;
        self.right_only += other.right_only;
        self.both_sides += other.both_sides;
        self.length += other.length;
        self.random_length_3 += other.random_length_3;
        self.random_projective_length_6 += other.random_projective_length_6;
    }
}

/// Returns the entry of a key. Copies the key only if it is new.
fn entry<'m, V: Default>(map: &'m mut HashMap<Box<str>, V>, key: &str) -> &'m mut V {
    if !map.contains_key(key) {
        map.insert(key.into(), V::default());
    }
    map.get_mut(key).expect("just inserted")
}

fn count(counter: &mut Counter, value: &str) {
    *entry(counter, value) += 1;
}

fn count_known(counter: &mut Counter, value: &str) {
    if value != "_" {
        count(counter, value);
    }
}
