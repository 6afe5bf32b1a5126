//! Distributions over projective trees that score siblings and grandparents.
//!
//! Arc-factored scores cannot say that a verb has one object, or that a preposition goes with the head
//! of its head. Over projective trees, scores of consecutive siblings and of grandparents can be summed
//! and maximised exactly, by a larger chart: O(n³) with siblings (McDonald & Pereira 2006), O(n⁴) with
//! grandparents (Koo & Collins 2010).

use std::sync::OnceLock;

use crate::projective::second_order;
use crate::workspace::mbr_with;
use crate::{ArcMatrix, Error, ScoredTree, SecondOrderParts, Tree, TreeSet, Workspace, feasible};

/// The distribution p(y) ∝ exp Σ_{parts of y} score over the trees y of a projective [`TreeSet`].
///
/// ```
/// use tutte_trees::{ArcMatrix, Part, SecondOrderDistribution, SecondOrderParts, TreeSet};
/// // Words 2 and 3 both like to hang on 1, but not as siblings.
/// let mut arcs = ArcMatrix::zeros(3);
/// arcs[(0, 1)] = 2.0;
/// arcs[(1, 2)] = 1.0;
/// arcs[(1, 3)] = 1.0;
/// let mut scores = SecondOrderParts::new(arcs);
/// let siblings = Part::NextSibling { head: 1, inner: 2, outer: 3 };
/// scores.set(siblings, -3.0)?;
/// let d = SecondOrderDistribution::new(scores, TreeSet::ProjectiveSingleRoot)?;
/// assert_eq!(d.argmax().tree.heads(), [0, 1, 2]);
/// assert!(d.marginals().get(siblings) < Some(0.1));
/// # Ok::<(), tutte_trees::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SecondOrderDistribution {
    scores: SecondOrderParts,
    tree_set: TreeSet,
    best: ScoredTree,
    log_partition: OnceLock<f64>,
    marginals: OnceLock<SecondOrderParts>,
}

impl SecondOrderDistribution {
    /// Makes the distribution with these scores over the trees of a projective set.
    ///
    /// # Errors
    /// [`Error::BadParameter`] if the set is not projective; [`Error::BadScore`] or [`Error::BadPart`] if
    /// a score is NaN, +∞ or beyond 1e300; [`Error::NoTree`].
    pub fn new(scores: SecondOrderParts, tree_set: TreeSet) -> Result<Self, Error> {
        let mut heads = Vec::new();
        let workspace = &mut Workspace::default();
        let score = second_order_argmax_with(&scores, tree_set, workspace, &mut heads)?;
        let best = ScoredTree { tree: Tree::from_decoder(heads), score };
        let log_partition = OnceLock::new();
        Ok(Self { scores, tree_set, best, log_partition, marginals: OnceLock::new() })
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.scores.words()
    }

    /// The set of trees that the distribution ranges over.
    pub fn tree_set(&self) -> TreeSet {
        self.tree_set
    }

    /// The scores of all parts.
    pub fn scores(&self) -> &SecondOrderParts {
        &self.scores
    }

    /// log Z = log Σ_y exp(score of y).
    pub fn log_partition(&self) -> f64 {
        *self.log_partition.get_or_init(|| {
            let workspace = &mut Workspace::default().projective.second_order;
            second_order::log_partition(&self.scores, self.tree_set.roots(), workspace)
        })
    }

    /// The probability of every part. Grandparents are included if they have scores.
    pub fn marginals(&self) -> &SecondOrderParts {
        self.marginals.get_or_init(|| {
            let mut marginals = SecondOrderParts::default();
            let roots = self.tree_set.roots();
            let workspace = &mut Workspace::default().projective.second_order;
            let log_z = second_order::marginals(&self.scores, roots, workspace, &mut marginals);
            self.log_partition.get_or_init(|| log_z);
            marginals
        })
    }

    /// The most probable tree. Ties are always broken in the same way.
    pub fn argmax(&self) -> &ScoredTree {
        &self.best
    }

    /// The tree with the largest expected number of correct arcs.
    pub fn mbr(&self) -> Tree {
        let mut heads = Vec::new();
        let marginals = self.marginals().arcs();
        // An arc that no tree contains must not be chosen, even if it has a score.
        let mut possible = marginals.clone();
        possible.map_in_place(|p| if p > 0.0 { 0.0 } else { f64::NEG_INFINITY });
        let workspace = &mut Workspace::default();
        match mbr_with(&possible, marginals, self.tree_set, workspace, &mut heads) {
            Ok(_) => Tree::from_decoder(heads),
            Err(_) => self.best.tree.clone(),
        }
    }

    /// The log-probability of a tree; −∞ if it is not in the set or has a forbidden part.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`] if the tree is of another sentence length.
    pub fn log_prob(&self, tree: &Tree) -> Result<f64, Error> {
        let score = self.scores.sum_over(tree)?;
        if tree.check_in(self.tree_set).is_err() {
            return Ok(f64::NEG_INFINITY);
        }
        Ok((score - self.log_partition()).min(0.0))
    }
}

/// Returns the log-partition function of second-order scores; −∞ if there is no tree.
///
/// O(n³), or O(n⁴) if the scores have grandparents.
///
/// # Errors
/// [`Error::BadParameter`] if the set is not projective; [`Error::BadScore`], [`Error::BadPart`].
pub fn second_order_log_partition_with(
    scores: &SecondOrderParts,
    tree_set: TreeSet,
    workspace: &mut Workspace,
) -> Result<f64, Error> {
    check(scores, tree_set)?;
    let workspace = &mut workspace.projective.second_order;
    Ok(second_order::log_partition(scores, tree_set.roots(), workspace))
}

/// Returns the log-partition function, and writes the probability of every part.
///
/// ```
/// use tutte_trees::{
///     ArcMatrix, Part, SecondOrderParts, TreeSet, Workspace, second_order_marginals_with,
/// };
/// let scores = SecondOrderParts::new(ArcMatrix::zeros(3));
/// let mut marginals = SecondOrderParts::default();
/// let workspace = &mut Workspace::default();
/// let set = TreeSet::ProjectiveSingleRoot;
/// let log_z = second_order_marginals_with(&scores, set, workspace, &mut marginals)?;
/// assert!((log_z.exp() - 7.0).abs() < 1e-9); // seven trees
/// // In one of them, 1 heads both 2 and 3.
/// let both = marginals.get(Part::NextSibling { head: 1, inner: 2, outer: 3 });
/// assert!((both.unwrap() - 1.0 / 7.0).abs() < 1e-12);
/// # Ok::<(), tutte_trees::Error>(())
/// ```
///
/// # Errors
/// [`Error::BadParameter`] if the set is not projective; [`Error::BadScore`], [`Error::BadPart`],
/// [`Error::NoTree`].
pub fn second_order_marginals_with(
    scores: &SecondOrderParts,
    tree_set: TreeSet,
    workspace: &mut Workspace,
    marginals: &mut SecondOrderParts,
) -> Result<f64, Error> {
    check(scores, tree_set)?;
    let workspace = &mut workspace.projective.second_order;
    let log_z = second_order::marginals(scores, tree_set.roots(), workspace, marginals);
    if log_z == f64::NEG_INFINITY {
        return Err(no_tree(scores.arcs(), tree_set));
    }
    Ok(log_z)
}

/// Returns the score of the highest-scoring tree, and writes its heads (`heads[0]` is word 1's).
///
/// # Errors
/// [`Error::BadParameter`] if the set is not projective; [`Error::BadScore`], [`Error::BadPart`],
/// [`Error::NoTree`].
pub fn second_order_argmax_with(
    scores: &SecondOrderParts,
    tree_set: TreeSet,
    workspace: &mut Workspace,
    heads: &mut Vec<usize>,
) -> Result<f64, Error> {
    check(scores, tree_set)?;
    let workspace = &mut workspace.projective.second_order;
    second_order::argmax(scores, tree_set.roots(), workspace, heads)
        .ok_or_else(|| no_tree(scores.arcs(), tree_set))
}

fn check(scores: &SecondOrderParts, tree_set: TreeSet) -> Result<(), Error> {
    if !tree_set.is_projective() {
        return Err(Error::BadParameter {
            what: "the tree set of a second-order model",
            expected: "projective-multi-root or projective-single-root",
            found: tree_set.to_string(),
        });
    }
    scores.check_scores()
}

/// The error for scores that allow no tree. If the arcs allow one, no word is to blame.
fn no_tree(arcs: &ArcMatrix, tree_set: TreeSet) -> Error {
    if feasible::has_tree(arcs, tree_set) {
        return Error::NoTree { tree_set, words: Vec::new() };
    }
    feasible::no_tree(arcs, tree_set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Part, TreeDistribution};

    #[test]
    fn without_second_order_scores_it_is_the_arc_factored_distribution() {
        let arcs = ArcMatrix::from_fn(6, |head, modifier| ((3 * head + modifier) % 5) as f64);
        for set in [TreeSet::ProjectiveMultiRoot, TreeSet::ProjectiveSingleRoot] {
            let first = TreeDistribution::new(arcs.clone(), set).unwrap();
            let second =
                SecondOrderDistribution::new(SecondOrderParts::new(arcs.clone()), set).unwrap();
            assert!((first.log_partition() - second.log_partition()).abs() < 1e-10);
            assert_eq!(first.argmax().score, second.argmax().score);
            assert_eq!(first.mbr(), second.mbr());
            let tree = second.argmax().tree.clone();
            let difference = first.log_prob(&tree).unwrap() - second.log_prob(&tree).unwrap();
            assert!(difference.abs() < 1e-10);
        }
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        let scores = SecondOrderParts::new(ArcMatrix::zeros(2));
        let set = TreeSet::NonProjectiveSingleRoot;
        let error = SecondOrderDistribution::new(scores.clone(), set).unwrap_err();
        assert!(error.to_string().contains("projective-single-root"), "{error}");
        // Every word must have a child on its left: impossible, although all arcs are allowed.
        let mut childless = scores;
        for head in 1..=2 {
            childless.set(Part::NoChildLeft { head }, f64::NEG_INFINITY).unwrap();
        }
        let set = TreeSet::ProjectiveMultiRoot;
        let error = SecondOrderDistribution::new(childless, set).unwrap_err();
        assert_eq!(error, Error::NoTree { tree_set: set, words: vec![] });
        let mut arcs = ArcMatrix::zeros(2);
        arcs.forbid(0, 1);
        arcs.forbid(2, 1);
        let error = SecondOrderDistribution::new(SecondOrderParts::new(arcs), set).unwrap_err();
        assert_eq!(error, Error::NoTree { tree_set: set, words: vec![1] });
    }

    #[test]
    fn the_empty_sentence_has_one_tree() {
        let d = SecondOrderDistribution::new(
            SecondOrderParts::new(ArcMatrix::zeros(0)),
            TreeSet::ProjectiveSingleRoot,
        )
        .unwrap();
        assert_eq!((d.log_partition(), d.argmax().tree.words()), (0.0, 0));
    }
}
