//! Labelled trees: every arc carries one of L labels.
//!
//! p(y, ℓ) ∝ exp Σ θ\[h\]\[m\]\[ℓ_m\]. Given the tree, labels are independent. Summing them out leaves a
//! distribution over bare trees with scores log Σ_ℓ exp θ\[h\]\[m\]\[ℓ\] (Koo et al. 2007, §3.4). So every
//! labelled question is an unlabelled one plus a softmax per arc. O(n³ + L·n²).

mod cells;
mod distribution;
mod information;
mod kbest;
mod matrix;

pub use distribution::{LabelledTreeDistribution, ScoredLabelledTree};
pub use matrix::LabelledArcMatrix;

use crate::{Error, Tree};

/// A tree with a label on every arc.
///
/// ```
/// use tutte_trees::{LabelledTree, Tree};
/// let tree = LabelledTree::new(Tree::new(&[2, 0])?, vec![7, 3])?;
/// assert_eq!(tree.arcs().collect::<Vec<_>>(), [(2, 1, 7), (0, 2, 3)]);
/// # Ok::<(), tutte_trees::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelledTree {
    tree: Tree,
    labels: Vec<usize>,
}

impl LabelledTree {
    /// Makes a labelled tree; `labels[0]` is the label of the arc into word 1.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`] unless there is one label per word.
    pub fn new(tree: Tree, labels: Vec<usize>) -> Result<Self, Error> {
        if tree.words() != labels.len() {
            return Err(Error::DifferentLengths { left: tree.words(), right: labels.len() });
        }
        Ok(Self { tree, labels })
    }

    /// The bare tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The labels, by word.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The labelled arcs as (head, modifier, label), by modifier.
    pub fn arcs(&self) -> impl ExactSizeIterator<Item = (usize, usize, usize)> + '_ {
        self.tree.arcs().zip(&self.labels).map(|((head, modifier), &label)| (head, modifier, label))
    }
}
