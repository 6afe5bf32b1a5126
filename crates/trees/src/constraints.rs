//! What is known about a tree before asking.

use crate::matrix::check_arc;
use crate::{Error, TreeSet};

/// Things that a tree must or must not contain: arcs, roots, labels, a partial tree.
///
/// ```
/// use tutte_trees::{ArcMatrix, Constraints, TreeDistribution, TreeSet};
/// let scores = ArcMatrix::zeros(3);
/// let d = TreeDistribution::new(scores, TreeSet::NonProjectiveMultiRoot)?;
/// let known = Constraints::new().require_arc(1, 2).forbid_root(3);
/// let posterior = d.condition(&known)?;
/// assert_eq!(posterior.argmax().tree.head(2), Some(1));
/// # Ok::<(), tutte_trees::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "constraints change nothing until a distribution is conditioned on them"]
pub struct Constraints {
    required: Vec<(usize, usize)>,
    forbidden: Vec<(usize, usize)>,
    required_labels: Vec<(usize, usize)>,
    forbidden_labels: Vec<(usize, usize)>,
}

impl Constraints {
    /// Nothing known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The tree contains `head → modifier`.
    pub fn require_arc(mut self, head: usize, modifier: usize) -> Self {
        self.required.push((head, modifier));
        self
    }

    /// The tree does not contain `head → modifier`.
    pub fn forbid_arc(mut self, head: usize, modifier: usize) -> Self {
        self.forbidden.push((head, modifier));
        self
    }

    /// The word is attached to the root (in a multi-root set, perhaps among others).
    pub fn require_root(self, word: usize) -> Self {
        self.require_arc(0, word)
    }

    /// The word is not attached to the root.
    pub fn forbid_root(self, word: usize) -> Self {
        self.forbid_arc(0, word)
    }

    /// The known heads of a partial tree; `heads[0]` is word 1's, `None` is unknown.
    ///
    /// ```
    /// use tutte_trees::Constraints;
    /// let known = Constraints::new().partial_tree(&[Some(2), None, Some(0)]);
    /// assert_eq!(known, Constraints::new().require_arc(2, 1).require_root(3));
    /// ```
    pub fn partial_tree(mut self, heads: &[Option<usize>]) -> Self {
        let known = heads.iter().enumerate();
        self.required.extend(known.filter_map(|(index, head)| Some(((*head)?, index + 1))));
        self
    }

    /// The arc into `modifier` carries `label` (labelled distributions only).
    pub fn require_label(mut self, modifier: usize, label: usize) -> Self {
        self.required_labels.push((modifier, label));
        self
    }

    /// The arc into `modifier` does not carry `label` (labelled distributions only).
    pub fn forbid_label(mut self, modifier: usize, label: usize) -> Self {
        self.forbidden_labels.push((modifier, label));
        self
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.required.is_empty() && self.forbidden.is_empty() && !self.mentions_labels()
    }

    /// The arcs that must be there, as (head, modifier).
    pub fn required_arcs(&self) -> &[(usize, usize)] {
        &self.required
    }

    /// The arcs that must not, as (head, modifier).
    pub fn forbidden_arcs(&self) -> &[(usize, usize)] {
        &self.forbidden
    }

    /// The labels that arcs must carry, as (modifier, label).
    pub fn required_labels(&self) -> &[(usize, usize)] {
        &self.required_labels
    }

    /// The labels that arcs must not carry, as (modifier, label).
    pub fn forbidden_labels(&self) -> &[(usize, usize)] {
        &self.forbidden_labels
    }

    /// Whether anything is known about labels.
    pub fn mentions_labels(&self) -> bool {
        !(self.required_labels.is_empty() && self.forbidden_labels.is_empty())
    }

    /// Tells of the arcs that what is known about arcs excludes, through `exclude(head, modifier)`;
    /// of some more than once.
    ///
    /// A required arc excludes every other head of its word, and in a single-root set a required
    /// root arc every other root arc.
    ///
    /// ```
    /// use tutte_trees::{Constraints, TreeSet};
    /// let known = Constraints::new().require_arc(1, 2).forbid_root(2);
    /// let mut excluded = Vec::new();
    /// known.exclude(3, TreeSet::ProjectiveSingleRoot, |head, modifier| {
    ///     excluded.push((head, modifier));
    /// })?;
    /// assert_eq!(excluded, [(0, 2), (3, 2), (0, 2)]);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchArc`].
    pub fn exclude(
        &self,
        words: usize,
        tree_set: TreeSet,
        mut exclude: impl FnMut(usize, usize),
    ) -> Result<(), Error> {
        for &(head, modifier) in &self.required {
            check_arc(words, head, modifier)?;
            for other in (0..=words).filter(|&other| other != head && other != modifier) {
                exclude(other, modifier);
            }
            if head == 0 && tree_set.is_single_root() {
                for other in (1..=words).filter(|&other| other != modifier) {
                    exclude(0, other);
                }
            }
        }
        for &(head, modifier) in &self.forbidden {
            check_arc(words, head, modifier)?;
            exclude(head, modifier);
        }
        Ok(())
    }
}
