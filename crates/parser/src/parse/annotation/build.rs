//! Annotations from distributions.

use std::borrow::Cow;

use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, Constraints, LabelledTree, Tree, TreeSet};

use super::{AnnotatedWord, Annotation, AnnotationOptions, Detail, Listed};
use crate::{Error, Isotonic, Method, Mixture, Parse, RankedTree};

/// Returns the probability of each head as it is reported: calibrated, unless constraints require the arc. Calibration
/// is about arcs that the model chose.
pub(crate) fn reported_head_probs(
    isotonic: Option<&Isotonic>,
    heads: &[usize],
    arc_probs: &ArcMatrix,
    constraints: &Constraints,
) -> Vec<f64> {
    let reported = |(word, &head): (usize, &usize)| {
        let prob = arc_probs[(head, word)];
        let isotonic = isotonic.filter(|_| !constraints.required_arcs().contains(&(head, word)));
        isotonic.map_or(prob, |isotonic| isotonic.confidence(prob))
    };
    (1..).zip(heads).map(reported).collect()
}

/// Returns `true` if heads form a tree of a set.
fn is_tree(heads: &[usize], tree_set: TreeSet) -> bool {
    Tree::new(heads).is_ok_and(|tree| tree.check_in(tree_set).is_ok())
}

/// Returns `true` if all words of a sentence have heads, which form a tree of a set.
pub(crate) fn has_tree(sentence: &Sentence, tree_set: TreeSet) -> bool {
    sentence.heads().is_some_and(|heads| is_tree(&heads, tree_set))
}

/// One head and one label for each word, by number, with the probabilities to report.
struct ChosenArcs<'c> {
    heads: &'c [usize],
    labels: &'c [usize],
    head_probs: &'c [f64],
    label_probs: &'c [f64],
}

impl<'a> Mixture<'a, '_> {
    /// Annotates a parse of the sentence. `constraints` are those that it was parsed with.
    ///
    /// # Errors
    /// If the parse has another length.
    pub fn annotation(
        &self,
        parse: &Parse,
        constraints: &Constraints,
        options: &AnnotationOptions,
    ) -> Result<Annotation<'a>, Error> {
        let Parse { tree, labels, head_probs, label_probs, repair, .. } = parse;
        let arcs = ChosenArcs { heads: tree.heads(), labels, head_probs, label_probs };
        let annotation = self.annotation_of_arcs(&arcs, constraints, options)?;
        Ok(Annotation { repair: *repair, ..annotation })
    }

    /// Annotates each word with its most probable head. The heads need not form a tree
    /// ([`Annotation::is_tree`]).
    ///
    /// # Errors
    /// None for distributions that have trees.
    pub fn greedy_annotation(
        &self,
        constraints: &Constraints,
        options: &AnnotationOptions,
    ) -> Result<Annotation<'a>, Error> {
        let heads = self.greedy_heads();
        let head_probs =
            reported_head_probs(self.isotonic(), &heads, self.arc_probs(), constraints);
        let labels = (1..).zip(&heads).map(|(word, &head)| self.best_label(head, word));
        let (labels, label_probs): (Vec<_>, Vec<_>) =
            labels.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let arcs = ChosenArcs {
            heads: &heads,
            labels: &labels,
            head_probs: &head_probs,
            label_probs: &label_probs,
        };
        let is_tree = is_tree(&heads, self.tree_set());
        Ok(Annotation { is_tree, ..self.annotation_of_arcs(&arcs, constraints, options)? })
    }

    /// Annotates several labelled trees of the sentence, one after the other; `listed` makes the place of a tree
    /// from its number. Head probabilities are those of the distribution, not calibrated. The annotations have no
    /// marginals, which all of them would share.
    ///
    /// # Errors
    /// If a tree has another length.
    pub fn annotations_of_trees<'m>(
        &'m self,
        trees: impl IntoIterator<Item = RankedTree> + 'm,
        listed: fn(usize) -> Listed,
        options: &'m AnnotationOptions,
    ) -> impl Iterator<Item = Result<Annotation<'a>, Error>> + 'm {
        let entropy = (options.detail > Detail::Tree).then(|| self.entropy());
        (1..).zip(trees).map(move |(number, RankedTree { tree, log_prob })| {
            Ok(Annotation {
                detail: options.detail,
                log_prob: Some(log_prob),
                entropy,
                listed: Some(listed(number)),
                ..Annotation::of_words(self.words_of_tree(&tree, options)?)
            })
        })
    }

    fn words_of_tree(
        &self,
        tree: &LabelledTree,
        options: &AnnotationOptions,
    ) -> Result<Vec<AnnotatedWord<'a>>, Error> {
        let word = |(head, word, label): (usize, usize, usize)| {
            let label_name = self.name(label);
            let mut annotated = AnnotatedWord {
                head: Some(head),
                label: Cow::Borrowed(label_name),
                ..AnnotatedWord::open()
            };
            if options.detail == Detail::Words {
                annotated.head_prob = Some(self.arc_prob(head, word)?);
                annotated.label_prob = self.label_prob(head, word, label_name)?;
                annotated.alternatives =
                    self.others_above(word, Some(head), options.alternatives_above)?;
            }
            Ok(annotated)
        };
        tree.arcs().map(word).collect()
    }

    /// Annotates every word with all its probable heads as alternatives, and leaves all heads open.
    ///
    /// # Errors
    /// None for distributions that have trees.
    pub fn open_annotation(&self, options: &AnnotationOptions) -> Result<Annotation<'a>, Error> {
        let word = |word: usize| {
            let alternatives = match options.detail {
                Detail::Words => self.others_above(word, None, options.alternatives_above)?,
                Detail::Tree | Detail::Sentence => Vec::new(),
            };
            Ok(AnnotatedWord { alternatives, ..AnnotatedWord::open() })
        };
        let words = (1..=self.words()).map(word).collect::<Result<Vec<_>, Error>>()?;
        Ok(Annotation { is_tree: false, ..self.annotation_of_words(words, options) })
    }

    /// Annotates the heads and labels that a sentence has, with the ranks of the heads. A word without head gets
    /// its alternatives only.
    ///
    /// # Errors
    /// If the sentence has another length.
    pub fn annotation_in(
        &self,
        sentence: &Sentence,
        options: &AnnotationOptions,
    ) -> Result<Annotation<'a>, Error> {
        let log_prob = self.log_prob_in(sentence)?;
        let words = self.words_in(sentence, options.alternatives_above)?;
        let mut annotation = self.annotation_of_words(words, options);
        annotation.log_prob = Some(log_prob);
        annotation.is_tree = has_tree(sentence, self.tree_set());
        Ok(annotation)
    }

    /// Returns the words of [`annotation_in`](Self::annotation_in).
    pub(crate) fn words_in(
        &self,
        sentence: &Sentence,
        alternatives_above: f64,
    ) -> Result<Vec<AnnotatedWord<'a>>, Error> {
        let word = |(word, token): (usize, tutte_treebank::Token<'_>)| {
            let head = token.head();
            let label = token.deprel();
            let label_prob = head.map(|head| self.label_prob(head, word, label)).transpose()?;
            Ok(AnnotatedWord {
                head,
                label: Cow::Owned(label.to_owned()),
                head_prob: head.map(|head| self.arc_prob(head, word)).transpose()?,
                label_prob: label_prob.flatten(),
                alternatives: self.others_above(word, head, alternatives_above)?,
                head_rank: head.map(|head| self.head_rank(word, head)).transpose()?,
                tag: None,
            })
        };
        (1..).zip(sentence.words()).map(word).collect()
    }

    /// Returns the probability of a label given its arc, 0 for a label that the model does not have. Returns `None`
    /// if the label is `_` or the model has no labels.
    pub(crate) fn label_prob(
        &self,
        head: usize,
        word: usize,
        label: &str,
    ) -> Result<Option<f64>, Error> {
        if self.labels().is_empty() || label == "_" {
            return Ok(None);
        }
        match self.labels().iter().position(|name| name == label) {
            Some(label) => Ok(Some(self.label_probs(head, word)?[label])),
            None => Ok(Some(0.0)),
        }
    }

    /// Annotates chosen heads and labels. Leaves improbable heads open.
    fn annotation_of_arcs(
        &self,
        arcs: &ChosenArcs<'_>,
        constraints: &Constraints,
        options: &AnnotationOptions,
    ) -> Result<Annotation<'a>, Error> {
        let mut words = Vec::with_capacity(self.words());
        for (at, (&head, &prob)) in arcs.heads.iter().zip(arcs.head_probs).enumerate() {
            let word = at + 1;
            // A required head stays, even if rounding leaves its probability below 1.
            let is_open =
                prob < options.open_below && !constraints.required_arcs().contains(&(head, word));
            let head = (!is_open).then_some(head);
            let label = if is_open { "_" } else { self.name(arcs.labels[at]) };
            words.push(AnnotatedWord {
                head,
                label: Cow::Borrowed(label),
                head_prob: head.map(|_| prob),
                label_prob: (label != "_").then_some(arcs.label_probs[at]),
                alternatives: match options.detail {
                    Detail::Words => self.others_above(word, head, options.alternatives_above)?,
                    Detail::Tree | Detail::Sentence => Vec::new(),
                },
                ..AnnotatedWord::open()
            });
        }
        let mut annotation = self.annotation_of_words(words, options);
        if options.detail > Detail::Tree {
            let arcs: Vec<_> =
                annotation.words.iter().map(|word| (word.head, word.label.as_ref())).collect();
            annotation.log_prob = Some(self.log_prob_of_columns(&arcs)?);
            annotation.calibration = self.isotonic().map(|_| Method::Isotonic.name());
        }
        Ok(annotation)
    }

    /// Adds the fields that do not depend on the tree.
    fn annotation_of_words(
        &self,
        words: Vec<AnnotatedWord<'a>>,
        options: &AnnotationOptions,
    ) -> Annotation<'a> {
        Annotation {
            detail: options.detail,
            entropy: (options.detail > Detail::Tree).then(|| self.entropy()),
            marginals: options.marginals.then(|| self.arc_probs().clone()),
            ..Annotation::of_words(words)
        }
    }
}
