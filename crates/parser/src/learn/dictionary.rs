//! Dictionaries of the features that occur often enough in a treebank.

use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

use super::corpus::Corpus;
use crate::Error;
use crate::features::FeatureSet;
use crate::features::index::{Dictionary, Support, SupportExample, SupportingArcs};

impl Dictionary {
    /// Creates a dictionary of the features of a treebank that have enough support, with their names. If the tree set
    /// is projective, gold trees are made projective, as in training. The result is the same for any number of threads
    /// and any order of sentences.
    ///
    /// # Errors
    /// Those of [`train`](crate::train()) for the treebank, and [`Error::Setting`] if there are too many features to
    /// number.
    pub fn new(
        treebank: &[Sentence],
        features: &FeatureSet,
        support: Support,
        tree_set: TreeSet,
        threads: usize,
    ) -> Result<Self, Error> {
        let corpus = Corpus::new(treebank, features, None, tree_set)?;
        Self::of_arcs(&SupportingArcs::of_corpus(&corpus, features, support), threads)
    }
}

impl<'a> SupportingArcs<'a> {
    /// Collects the arcs of a corpus.
    pub(crate) fn of_corpus(
        corpus: &'a Corpus<'a>,
        features: &'a FeatureSet,
        support: Support,
    ) -> Self {
        let examples = corpus.examples.iter().map(|example| SupportExample {
            sentence: corpus.sentence(example),
            atoms: &example.arcs,
            gold: &example.gold,
        });
        Self { examples: examples.collect(), features, support }
    }
}
