//! Constraints that a distribution can be conditioned on.

use crate::matrix::check_arc;
use crate::{Error, TreeSet};

/// Arcs, roots and labels that a tree must or must not contain.
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
    /// Makes an empty set of constraints.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requires the tree to contain `head → modifier`.
    pub fn require_arc(mut self, head: usize, modifier: usize) -> Self {
        self.required.push((head, modifier));
        self
    }

    /// Forbids `head → modifier`.
    pub fn forbid_arc(mut self, head: usize, modifier: usize) -> Self {
        self.forbidden.push((head, modifier));
        self
    }

    /// Requires the word to be attached to the root (in a multi-root set, perhaps among others).
    pub fn require_root(self, word: usize) -> Self {
        self.require_arc(0, word)
    }

    /// Forbids the word to be attached to the root.
    pub fn forbid_root(self, word: usize) -> Self {
        self.forbid_arc(0, word)
    }

    /// Requires the known heads of a partial tree; `heads[0]` is word 1's, `None` is unknown.
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

    /// Requires the arc into `modifier` to carry `label` (labelled distributions only).
    pub fn require_label(mut self, modifier: usize, label: usize) -> Self {
        self.required_labels.push((modifier, label));
        self
    }

    /// Forbids the arc into `modifier` to carry `label` (labelled distributions only).
    pub fn forbid_label(mut self, modifier: usize, label: usize) -> Self {
        self.forbidden_labels.push((modifier, label));
        self
    }

    /// True if there are no constraints.
    pub fn is_empty(&self) -> bool {
        self.required.is_empty() && self.forbidden.is_empty() && !self.mentions_labels()
    }

    /// The required arcs, as (head, modifier).
    pub fn required_arcs(&self) -> &[(usize, usize)] {
        &self.required
    }

    /// The forbidden arcs, as (head, modifier).
    pub fn forbidden_arcs(&self) -> &[(usize, usize)] {
        &self.forbidden
    }

    /// The required labels, as (modifier, label).
    pub fn required_labels(&self) -> &[(usize, usize)] {
        &self.required_labels
    }

    /// The forbidden labels, as (modifier, label).
    pub fn forbidden_labels(&self) -> &[(usize, usize)] {
        &self.forbidden_labels
    }

    /// True if a constraint is about a label.
    pub fn mentions_labels(&self) -> bool {
        !(self.required_labels.is_empty() && self.forbidden_labels.is_empty())
    }

    /// Calls `exclude(head, modifier)` for every arc that the constraints on arcs exclude, for some
    /// arcs more than once.
    ///
    /// A required arc excludes every other head of its word. In a single-root set, a required root
    /// arc excludes every other root arc.
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
