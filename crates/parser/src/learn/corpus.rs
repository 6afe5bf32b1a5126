//! A treebank made ready to learn from.

use std::collections::HashMap;
use std::sync::Arc;

use tutte_treebank::Sentence;
use tutte_trees::{Tree, TreeSet};

use crate::features::{Atoms, FeatureSet};
use crate::parse::constraints;
use crate::{Candidates, Error, LabelModel};

/// Stands in a treebank for a label that is not known.
pub(crate) const UNKNOWN_LABEL: &str = "_";

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
    /// The gold head of each word, where it is known.
    pub(crate) gold: Vec<Option<usize>>,
    /// The gold label of each word whose head is known, by its number in the model, if it is known too.
    pub(crate) label_of: Vec<Option<usize>>,
}

impl Example {
    /// Whether any head is known.
    pub(super) fn is_annotated(&self) -> bool {
        self.gold.iter().any(Option::is_some)
    }
}

impl<'a> Corpus<'a> {
    /// For a model. Trees that are not projective are made so if its set asks for it (Koo et al. 2007,
    /// footnote 4). Those that are known in part must have heads that some tree of the set has.
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
            let gold: Vec<Option<usize>> = if sentence.heads().is_some() {
                let mut tree: Tree = sentence.tree()?;
                if tree_set.is_projective() {
                    tree = tree.projectivise();
                }
                if let Err(source) = tree.check_in(tree_set) {
                    outside.push((at, source));
                }
                tree.heads().iter().copied().map(Some).collect()
            } else {
                constraints::check_heads(sentence, tree_set)?;
                sentence.partial_heads().collect()
            };
            let number = |name: &str| match numbers.get(name) {
                Some(number) => Ok(Some(*number)),
                None if name == UNKNOWN_LABEL => Ok(None),
                None => Err(Error::UnknownLabel {
                    place: Box::new(sentence.place()),
                    label: name.to_owned(),
                }),
            };
            let labelled = sentence.words().zip(&gold);
            let label_of = match labels {
                Some(_) => labelled
                    .map(|(word, head)| head.map_or(Ok(None), |_| number(word.deprel())))
                    .collect::<Result<_, _>>()?,
                None => Vec::new(),
            };
            examples.push(Arc::new(Example {
                sentence: at,
                arcs: Atoms::new(sentence, arcs.columns()),
                labels: labels.map_or_else(Atoms::default, |model| {
                    Atoms::new(sentence, model.features.columns())
                }),
                candidates: Candidates::all(),
                gold,
                label_of,
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
        if examples.iter().all(|example| example.gold.iter().all(Option::is_none)) {
            return Err(Error::NoHeads);
        }
        Ok(Self { treebank, examples, tree_set, words })
    }

    /// The examples of which something is known.
    pub(crate) fn annotated(&self) -> Self {
        self.part(|at| self.examples[at].is_annotated())
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
                example.candidates = with_gold(candidates, &example.gold, self.tree_set);
            }
        }
    }

    /// The sentence of an example.
    pub(crate) fn sentence(&self, example: &Example) -> &'a Sentence {
        &self.treebank[example.sentence]
    }

    /// Head and label of all gold arcs of which both are known.
    pub(crate) fn labelled_arcs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let arcs = self.examples.iter().flat_map(|e| e.gold.iter().zip(&e.label_of));
        arcs.filter_map(|(head, label)| Some(((*head)?, (*label)?)))
    }

    /// The first sentence of which not everything is known that is to be learnt.
    pub(crate) fn known_in_part(&self) -> Option<&'a Sentence> {
        let part = |e: &&Arc<Example>| e.gold.contains(&None) || e.label_of.contains(&None);
        self.examples.iter().find(part).map(|example| self.sentence(example))
    }

    /// What to say when inference failed on an example.
    pub(crate) fn diverged(&self, example: &Example, source: tutte_trees::Error) -> Error {
        let place = Box::new(self.treebank[example.sentence].place());
        Error::Diverged { place, source }
    }
}

/// The same arcs, with the gold ones among them. Of a tree that is known in part, other words may need
/// heads that were left out; then none is.
pub(crate) fn with_gold(
    mut candidates: Candidates,
    gold: &[Option<usize>],
    tree_set: TreeSet,
) -> Candidates {
    for (modifier, head) in (1..).zip(gold) {
        head.iter().for_each(|&head| candidates.allow(head, modifier));
    }
    let part = gold.contains(&None) && !candidates.is_all();
    match part && !constraints::has_tree(&candidates, gold, tree_set) {
        true => Candidates::all(),
        false => candidates,
    }
}
