//! Trees in which no head has several modifiers of one label, such as two subjects of one verb.
//!
//! Given the tree, the labels of its arcs are independent. So two words that are each probably a subject both become
//! one, of the same verb. A limit says that at most one modifier of each head has a label. The tree is then the best
//! one under this constraint. With scores θ of arcs, values v of labels and the best label ℓ* of each arc, it maximises
//!
//! ```text
//! Σ_{(h, m, ℓ) ∈ y} θ(h → m) − (v(ℓ* | h → m) − v(ℓ | h → m))
//! ```
//!
//! | decoding | θ | v | what is maximised |
//! |---|---|---|---|
//! | minimum risk | μ(h → m) | μ(h → m) · p(ℓ given h → m) | heads expected to be right, minus labels expected to be lost |
//! | most probable | θ(h → m, ℓ*) | log p(ℓ given h → m) | the log-probability of the labelled tree |
//!
//! Without a violation, this is the best tree without limits, and nothing is searched. Otherwise the search branches
//! over violations ([`constrained_argmax_with`]), and says whether its answer is certified. Most searches decode two or
//! three trees. Probabilities stay those of the distribution, which does not know of limits.

use tutte_trees::{
    ArcMatrix, AtMostOne, ConstrainedOptions, ConstrainedWorkspace, LabelledArcMatrix, Tree,
    TreeSet, arcs, constrained_argmax_with,
};

use crate::{Error, ParserModel};

/// Labels that at most one modifier of each head may have.
///
/// ```
/// use tutte::LabelLimits;
/// let names = ["nsubj".to_owned(), "obj".to_owned(), "punct".to_owned()];
/// let limits = LabelLimits::of(["obj", "nsubj"], &names)?;
/// assert!(limits.allow(&[2, 0, 2, 2], &[0, 2, 1, 2])); // one subject, one object, one punctuation mark
/// assert!(!limits.allow(&[2, 0, 2, 2], &[0, 2, 0, 2])); // two subjects of word 2
/// assert!(LabelLimits::of(["sbj"], &names).is_err());
/// # Ok::<(), tutte::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelLimits {
    /// Numbers of labels, sorted.
    labels: Vec<usize>,
}

/// Effect of [`LabelLimits`] on a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Repair {
    /// None: the best tree satisfies them.
    #[default]
    None,
    /// The best tree that satisfies them replaces one that does not. It is certified to be the best.
    Certified,
    /// A tree that satisfies them replaces one that does not. The search was cut short, so a better one may exist.
    Uncertified,
    /// The best tree does not satisfy them, and no other one was found: constraints of the sentence leave none.
    Failed,
}

/// A tree with a label for each arc.
pub(crate) struct ChosenTree {
    pub(crate) tree: Tree,
    pub(crate) labels: Vec<usize>,
    pub(crate) repair: Repair,
}

impl<W> ParserModel<W> {
    /// Returns the limits that the treebank suggests: at most one modifier of each head has a label of
    /// [`single_labels`](Self::single_labels). A [`Pipeline`](crate::Pipeline) applies them to the best tree.
    pub fn label_limits(&self) -> LabelLimits {
        let names = self.single_labels.iter().map(String::as_str);
        // A model file with other names is refused.
        LabelLimits::of(names, self.labels.labels()).unwrap_or_default()
    }
}

impl LabelLimits {
    /// Makes the limits of labels with these names, in the labels of a model.
    ///
    /// # Errors
    /// [`Error::NoSuchLabel`] for a name that is not a label of the model.
    pub fn of<'n>(
        names: impl IntoIterator<Item = &'n str>,
        labels: &[String],
    ) -> Result<Self, Error> {
        let number = |name: &str| {
            let number = labels.iter().position(|label| label == name);
            number.ok_or_else(|| Error::NoSuchLabel { name: name.to_owned() })
        };
        let mut labels = names.into_iter().map(number).collect::<Result<Vec<_>, _>>()?;
        labels.sort_unstable();
        labels.dedup();
        Ok(Self { labels })
    }

    /// Returns `true` if there are no limits.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Returns `true` if no head has several modifiers of a limited label. Entry 0 is word 1.
    pub fn allow(&self, heads: &[usize], labels: &[usize]) -> bool {
        let limited = |label: &usize| self.labels.binary_search(label).is_ok();
        let arcs = heads.iter().zip(labels).filter(|(_, label)| limited(label));
        let mut arcs: Vec<(usize, usize)> = arcs.map(|(head, label)| (*head, *label)).collect();
        arcs.sort_unstable();
        arcs.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// Returns the best labelled tree that satisfies the limits in the place of one that does not. If none is found,
    /// returns that one.
    ///
    /// `scores` are those of arcs with their best labels, −∞ for arcs that are impossible. `add_values` writes the values
    /// of an arc's labels, −∞ for those that are impossible.
    ///
    /// # Errors
    /// If the scores leave no tree, or are not numbers.
    pub(crate) fn repaired(
        &self,
        broken: ChosenTree,
        scores: &ArcMatrix,
        labels: usize,
        tree_set: TreeSet,
        mut add_values: impl FnMut(usize, usize, &mut Vec<f64>) -> Result<(), Error>,
    ) -> Result<ChosenTree, Error> {
        let words = scores.words();
        let mut labelled = LabelledArcMatrix::sparse(words, labels);
        let mut values = Vec::with_capacity(labels);
        for (head, modifier) in arcs(words) {
            let score = scores[(head, modifier)];
            if score == f64::NEG_INFINITY {
                continue;
            }
            values.clear();
            add_values(head, modifier, &mut values)?;
            let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for (label, value) in values.iter().enumerate() {
                if *value > f64::NEG_INFINITY {
                    labelled[(head, modifier, label)] = score + (value - best);
                }
            }
        }
        let found = constrained_argmax_with(
            &labelled,
            tree_set,
            &[&AtMostOne::of_each(&self.labels)],
            &ConstrainedOptions::default(),
            &mut ConstrainedWorkspace::default(),
        );
        match found {
            Ok(found) => Ok(ChosenTree {
                repair: if found.is_optimal() { Repair::Certified } else { Repair::Uncertified },
                tree: found.tree.tree().clone(),
                labels: found.tree.labels().to_vec(),
            }),
            Err(tutte_trees::Error::NoConstrainedTree { .. }) => {
                Ok(ChosenTree { repair: Repair::Failed, ..broken })
            }
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests;
