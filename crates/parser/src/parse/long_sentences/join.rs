//! Trees of pieces joined to one of the sentence.

use std::ops::Range;

use tutte_trees::Tree;

use crate::{Error, Parse, Parser, Weights};

/// The label of arcs that join pieces.
const JOIN: &str = "parataxis";

/// Trees of pieces as one. The first that is added has the root word, where there is one.
pub(super) struct Joined {
    heads: Vec<usize>,
    labels: Vec<usize>,
    head_probs: Vec<f64>,
    label_probs: Vec<f64>,
    pieces: usize,
    single_root: bool,
    /// The root word that the root words of other pieces are joined to.
    pub(super) root: Option<usize>,
    /// The label of arcs that join.
    pub(super) label: Option<usize>,
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
            single_root: parser.tree_set().is_single_root(),
            root: None,
            label: label.filter(|&label| labels.allows(1, label)),
        }
    }

    /// What root words of a piece have as head instead, if anything.
    pub(super) fn target(&self, words: &Range<usize>) -> Option<usize> {
        self.root.filter(|root| !words.contains(&(root - 1)))
    }

    /// A head of a piece in the sentence.
    pub(super) fn head(&self, words: &Range<usize>, head: usize) -> usize {
        match head {
            0 => self.target(words).unwrap_or(0),
            head => words.start + head,
        }
    }

    /// Adds the tree of a piece. Words whose label is given keep it.
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
        self.head_probs[words.clone()].copy_from_slice(&parse.head_probs);
        self.label_probs[words.clone()].copy_from_slice(&parse.label_probs);
    }

    pub(super) fn parse(self) -> Result<Parse, Error> {
        let Self { heads, labels, head_probs, label_probs, pieces, .. } = self;
        Ok(Parse { tree: Tree::new(&heads)?, labels, head_probs, label_probs, pieces })
    }
}
