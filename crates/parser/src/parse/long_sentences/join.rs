//! Joining the trees of pieces to a tree of the sentence.

use std::ops::Range;

use tutte_trees::Tree;

use crate::{AnnotatedWord, Error, Parse, Parser, Repair, Weights};

/// Label of arcs that join pieces.
const JOIN: &str = "parataxis";

/// The joined trees of pieces. In single-root sets, the first piece that is added has the root word.
pub(super) struct Joined {
    heads: Vec<usize>,
    labels: Vec<usize>,
    head_probs: Vec<f64>,
    label_probs: Vec<f64>,
    pieces: usize,
    repair: Repair,
    single_root: bool,
    /// The root word that becomes the head of the root words of other pieces.
    pub(super) root: Option<usize>,
    /// Number of the label of arcs that join pieces, if the model has it.
    label: Option<usize>,
}

impl Joined {
    pub(super) fn new<W: Weights>(words: usize, pieces: usize, parser: &Parser<'_, W>) -> Self {
        let labels = &parser.model().labels;
        let label = labels.labels().iter().position(|name| name == JOIN);
        Self {
            heads: vec![0; words],
            labels: vec![0; words],
            head_probs: vec![0.0; words],
            label_probs: vec![0.0; words],
            pieces,
            repair: Repair::None,
            single_root: parser.tree_set().is_single_root(),
            root: None,
            label: label.filter(|&label| labels.allows(1, label)),
        }
    }

    /// Returns the head that replaces the root for the words of a piece, if any.
    fn target(&self, words: &Range<usize>) -> Option<usize> {
        self.root.filter(|root| !words.contains(&(root - 1)))
    }

    /// Converts a head from the numbers of a piece to those of the sentence.
    fn head(&self, words: &Range<usize>, head: usize) -> usize {
        match head {
            0 => self.target(words).unwrap_or(0),
            head => words.start + head,
        }
    }

    /// Adds the tree of a piece. Root words get the label of arcs that join pieces, unless `keeps_label`.
    pub(super) fn add(
        &mut self,
        words: &Range<usize>,
        parse: &Parse,
        keeps_label: impl Fn(usize) -> bool,
    ) {
        if self.single_root && self.root.is_none() {
            self.root = parse.tree.root_words().next().map(|root| words.start + root);
        }
        for (head, word) in parse.tree.arcs() {
            let joins = head == 0 && self.target(words).is_some();
            let label = self.label.filter(|_| joins && !keeps_label(word));
            self.heads[words.start + word - 1] = self.head(words, head);
            self.labels[words.start + word - 1] = label.unwrap_or(parse.labels[word - 1]);
        }
        self.repair = self.repair.max(parse.repair);
        self.head_probs[words.clone()].copy_from_slice(&parse.head_probs);
        self.label_probs[words.clone()].copy_from_slice(&parse.label_probs);
    }

    /// Converts the annotation of a piece that was added: heads and alternatives to the numbers of the sentence, and
    /// labels to those of the joined tree.
    pub(super) fn renumber<'a>(
        &self,
        words: &Range<usize>,
        annotated: &mut [AnnotatedWord<'a>],
        names: &'a [String],
    ) {
        let name = |label: usize| names.get(label).map_or("_", String::as_str);
        let joining_label = self.target(words).and(self.label);
        for (place, word) in words.clone().zip(annotated) {
            if word.head.is_some() {
                word.label = name(self.labels[place]).into();
            }
            word.head = word.head.map(|head| self.head(words, head));
            for other in &mut word.alternatives {
                if let Some(label) = joining_label.filter(|_| other.head == 0) {
                    other.label = name(label);
                }
                other.head = self.head(words, other.head);
            }
        }
    }

    pub(super) fn parse(self) -> Result<Parse, Error> {
        let Self { heads, labels, head_probs, label_probs, pieces, repair, .. } = self;
        Ok(Parse { tree: Tree::new(&heads)?, labels, head_probs, label_probs, pieces, repair })
    }
}
