//! Training corpus: sentences with their features looked up and their gold trees checked.

use std::collections::HashMap;
use std::sync::Arc;

use tutte_treebank::Sentence;
use tutte_trees::{Tree, TreeSet};

use crate::features::{Atoms, FeatureSet};
use crate::learn::teacher::{SoftArc, read_answers};
use crate::parse::constraints;
use crate::{Candidates, Error, LabelModel};

/// Label of unannotated words in a treebank.
pub(crate) const UNKNOWN_LABEL: &str = "_";

/// Training examples of a treebank.
#[derive(Debug)]
pub(crate) struct Corpus<'a> {
    pub(super) treebank: &'a [Sentence],
    /// Sentences with at least one word.
    pub(crate) examples: Vec<Arc<Example>>,
    /// Set of trees that the model is over.
    pub(crate) tree_set: TreeSet,
    /// Number of words in all examples.
    pub(crate) words: usize,
}

/// A training sentence.
#[derive(Debug)]
pub(crate) struct Example {
    /// Index of the sentence in the treebank.
    pub(super) sentence: usize,
    /// Attributes for features of arcs.
    pub(crate) arcs: Atoms,
    /// Attributes for features of labels.
    pub(crate) labels: Atoms,
    /// Arcs that its trees may contain; always includes the gold arcs and those of a teacher.
    pub(crate) candidates: Candidates,
    /// Gold head of each word, `None` if unannotated.
    pub(crate) gold: Vec<Option<usize>>,
    /// Gold label of each word, as its index in the model; `None` if the head or the label is unannotated.
    pub(crate) label_of: Vec<Option<usize>>,
    /// Arcs of a teacher's distribution; empty if the sentence has no teacher.
    pub(crate) teacher: Arc<[SoftArc]>,
}

impl Example {
    /// True if any word has a gold head.
    pub(super) fn is_annotated(&self) -> bool {
        self.gold.iter().any(Option::is_some)
    }
}

impl<'a> Corpus<'a> {
    /// Prepares a treebank for a model. If the tree set is projective, non-projective gold trees are made projective
    /// (Koo et al. 2007, footnote 4). The heads of a partial tree must occur together in some tree of the set.
    pub(crate) fn new(
        treebank: &'a [Sentence],
        arcs: &FeatureSet,
        labels: Option<&LabelModel>,
        tree_set: TreeSet,
    ) -> Result<Self, Error> {
        /// Number of sentences that an error names.
        const NAMED: usize = 5;
        let numbers: HashMap<&str, usize> = labels
            .iter()
            .flat_map(|model| model.labels().iter().map(String::as_str).zip(0..))
            .collect();
        let mut examples = Vec::with_capacity(treebank.len());
        let mut outside = Vec::new();
        for (at, sentence) in treebank.iter().enumerate().filter(|(_, s)| !s.is_empty()) {
            sentence.check_words("training")?;
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
                teacher: read_answers(sentence, &numbers)?.into(),
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

    /// Returns the examples with at least one gold head.
    pub(crate) fn annotated(&self) -> Self {
        self.part(|at| self.examples[at].is_annotated())
    }

    /// Returns the examples whose index `keep` accepts.
    pub(crate) fn part(&self, keep: impl Fn(usize) -> bool) -> Self {
        let examples = self.examples.iter().enumerate().filter(|(at, _)| keep(*at));
        let examples: Vec<_> = examples.map(|(_, example)| Arc::clone(example)).collect();
        let words = examples.iter().map(|example| example.gold.len()).sum();
        Self { treebank: self.treebank, examples, tree_set: self.tree_set, words }
    }

    /// Restricts each example to some candidate arcs, its gold arcs and those of its teacher.
    pub(crate) fn prune(&mut self, candidates: Vec<Candidates>) {
        for (example, candidates) in self.examples.iter_mut().zip(candidates) {
            if let Some(example) = Arc::get_mut(example) {
                example.candidates =
                    with_gold(candidates, &example.gold, &example.teacher, self.tree_set);
            }
        }
    }

    /// Returns the sentence of an example.
    pub(crate) fn sentence(&self, example: &Example) -> &'a Sentence {
        &self.treebank[example.sentence]
    }

    /// Returns head and label of every word that has both.
    pub(crate) fn labelled_arcs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let arcs = self.examples.iter().flat_map(|e| e.gold.iter().zip(&e.label_of));
        arcs.filter_map(|(head, label)| Some(((*head)?, (*label)?)))
    }

    /// Returns the first sentence whose annotation is partial.
    pub(crate) fn first_partial(&self) -> Option<&'a Sentence> {
        let is_partial = |e: &&Arc<Example>| e.gold.contains(&None) || e.label_of.contains(&None);
        self.examples.iter().find(is_partial).map(|example| self.sentence(example))
    }

    /// Returns the error for failed inference on an example.
    pub(crate) fn diverged(&self, example: &Example, source: tutte_trees::Error) -> Error {
        let place = Box::new(self.treebank[example.sentence].place());
        let advice = "use a smaller rate or C, as in `--learner sgd:rate=0.01`";
        Error::Diverged { place, source, advice }
    }
}

/// Adds the gold arcs and those of a teacher to some candidates. If the gold tree is partial, and no tree consists of
/// its arcs and of candidates, returns all arcs.
pub(crate) fn with_gold(
    mut candidates: Candidates,
    gold: &[Option<usize>],
    teacher: &[SoftArc],
    tree_set: TreeSet,
) -> Candidates {
    teacher.iter().for_each(|arc| candidates.allow(arc.head, arc.modifier));
    for (modifier, head) in (1..).zip(gold) {
        head.iter().for_each(|&head| candidates.allow(head, modifier));
    }
    let is_partial = gold.contains(&None) && !candidates.is_all();
    if is_partial && !constraints::has_tree(&candidates, gold, tree_set) {
        Candidates::all()
    } else {
        candidates
    }
}
