//! A treebank made ready to learn from.

use std::collections::HashMap;
use std::sync::Arc;

use tutte_treebank::Sentence;
use tutte_trees::{Tree, TreeSet};

use super::cascade::with_gold;
use crate::features::{Atoms, FeatureSet};
use crate::{Candidates, Error, LabelModel};

/// Sentences, and the trees they are to get.
#[derive(Debug)]
pub(crate) struct Corpus<'a> {
    pub(super) treebank: &'a [Sentence],
    /// Sentences that have words.
    pub(crate) examples: Vec<Arc<Example>>,
    /// The trees that are possible.
    pub(crate) tree_set: TreeSet,
    /// The number of words.
    pub(crate) words: usize,
}

/// A sentence to learn from.
#[derive(Debug)]
pub(crate) struct Example {
    /// Its number in the treebank.
    pub(super) sentence: usize,
    /// What features of arcs see.
    pub(crate) arcs: Atoms,
    /// What features of labels see.
    pub(crate) labels: Atoms,
    /// The arcs that may be part of its trees, the gold ones among them.
    pub(crate) candidates: Candidates,
    /// The gold head of each word.
    pub(crate) gold: Vec<usize>,
    /// The gold label of each word, by its number in the model.
    pub(crate) label_of: Vec<usize>,
}

impl<'a> Corpus<'a> {
    /// For a model. Trees that are not projective are made so if its set asks for it (Koo et al. 2007,
    /// footnote 4).
    pub(crate) fn new(
        treebank: &'a [Sentence],
        arcs: &FeatureSet,
        labels: Option<&LabelModel>,
        tree_set: TreeSet,
    ) -> Result<Self, Error> {
        /// This many sentences are named in an error.
        const NAMED: usize = 5;
        let numbers: HashMap<&str, usize> = labels
            .iter()
            .flat_map(|model| model.labels().iter().map(String::as_str).zip(0..))
            .collect();
        let mut examples = Vec::with_capacity(treebank.len());
        let mut outside = Vec::new();
        for (at, sentence) in treebank.iter().enumerate().filter(|(_, s)| !s.is_empty()) {
            let mut tree: Tree = sentence.tree()?;
            if tree_set.is_projective() {
                tree = tree.projectivise();
            }
            if let Err(source) = tree.check_in(tree_set) {
                outside.push((at, source));
            }
            let number = |name: &str| {
                numbers.get(name).copied().ok_or_else(|| Error::UnknownLabel {
                    place: Box::new(sentence.place()),
                    label: name.to_owned(),
                })
            };
            examples.push(Arc::new(Example {
                sentence: at,
                arcs: Atoms::new(sentence, arcs.columns()),
                labels: labels.map_or_else(Atoms::default, |model| {
                    Atoms::new(sentence, model.features.columns())
                }),
                candidates: Candidates::all(),
                gold: tree.into_heads(),
                label_of: match labels {
                    Some(_) => {
                        sentence.words().map(|w| number(w.deprel())).collect::<Result<_, _>>()?
                    }
                    None => Vec::new(),
                },
            }));
        }
        let count = outside.len();
        let named = outside.iter().take(NAMED).map(|(at, _)| treebank[*at].place());
        let sentences = named.collect();
        if let Some((_, source)) = outside.into_iter().next() {
            return Err(Error::NotInTreeSet { sentences, count, tree_set, source });
        }
        let words = examples.iter().map(|example| example.gold.len()).sum();
        if words == 0 {
            return Err(Error::NoWords);
        }
        Ok(Self { treebank, examples, tree_set, words })
    }

    /// The examples whose number `keep` says.
    pub(crate) fn part(&self, keep: impl Fn(usize) -> bool) -> Self {
        let examples = self.examples.iter().enumerate().filter(|(at, _)| keep(*at));
        let examples: Vec<_> = examples.map(|(_, example)| Arc::clone(example)).collect();
        let words = examples.iter().map(|example| example.gold.len()).sum();
        Self { treebank: self.treebank, examples, tree_set: self.tree_set, words }
    }

    /// Leaves out all arcs but some, of each example, and the gold ones.
    pub(crate) fn prune(&mut self, candidates: Vec<Candidates>) {
        for (example, candidates) in self.examples.iter_mut().zip(candidates) {
            if let Some(example) = Arc::get_mut(example) {
                example.candidates = with_gold(candidates, &example.gold);
            }
        }
    }

    /// The sentence of an example.
    pub(crate) fn sentence(&self, example: &Example) -> &'a Sentence {
        &self.treebank[example.sentence]
    }

    /// Head and label of all gold arcs.
    pub(crate) fn labelled_arcs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let arcs = self.examples.iter().flat_map(|e| e.gold.iter().zip(&e.label_of));
        arcs.map(|(head, label)| (*head, *label))
    }

    /// What to say when inference failed on an example.
    pub(crate) fn diverged(&self, example: &Example, source: tutte_trees::Error) -> Error {
        let place = Box::new(self.treebank[example.sentence].place());
        Error::Diverged { place, source }
    }
}
