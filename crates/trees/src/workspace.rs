//! The most frequent questions, with scratch memory that a caller keeps.
//!
//! A parser asks the same few questions about thousands of sentences. These functions take scores,
//! answer, and allocate nothing once the [`Workspace`] has served the longest sentence.
//! [`TreeDistribution`](crate::TreeDistribution) is the convenient interface to the same routines.

use crate::matrix::is_number;
use crate::nonprojective::decode::{self, DecodeWorkspace};
use crate::nonprojective::kernel::{CovarianceWorkspace, Kernel};
use crate::nonprojective::solve::{self, Path, SolveWorkspace};
use crate::projective::{self, ProjectiveWorkspace};
use crate::{ArcMatrix, Error, TreeSet, feasible};

/// Scratch memory for all routines and all sentence lengths; one per thread.
///
/// ```
/// use tutte_trees::{ArcMatrix, TreeSet, Workspace, marginals_with};
/// let mut workspace = Workspace::default();
/// let mut marginals = ArcMatrix::default();
/// for words in [3, 12, 7] {
///     let scores = ArcMatrix::from_fn(words, |head, modifier| -(head.abs_diff(modifier) as f64));
///     let set = TreeSet::NonProjectiveSingleRoot;
///     let log_partition = marginals_with(&scores, set, &mut workspace, &mut marginals)?;
///     assert!(log_partition.is_finite() && marginals.words() == words);
/// }
/// # Ok::<(), tutte_trees::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    pub(crate) solve: SolveWorkspace,
    pub(crate) decode: DecodeWorkspace,
    pub(crate) projective: ProjectiveWorkspace,
    pub(crate) kernel: Kernel,
    pub(crate) covariance: CovarianceWorkspace,
    pub(crate) matrix: ArcMatrix,
    fell_back: bool,
}

impl Workspace {
    /// True if the last [`marginals_with`] on a non-projective set had to leave its fast path. Its
    /// answer is as accurate, but took longer. Useful when measuring speed.
    pub fn used_fallback(&self) -> bool {
        self.fell_back
    }
}

/// Returns log Σ_y exp(score of y) over the trees of the set; −∞ if there is none.
///
/// O(n³): n³/3 multiply–adds for non-projective sets.
///
/// # Errors
/// [`Error::BadScore`] for NaN, +∞ or scores beyond 1e300.
pub fn log_partition_with(
    scores: &ArcMatrix,
    tree_set: TreeSet,
    workspace: &mut Workspace,
) -> Result<f64, Error> {
    scores.check_scores()?;
    Ok(unchecked_log_partition(scores, tree_set, workspace))
}

pub(crate) fn unchecked_log_partition(
    scores: &ArcMatrix,
    tree_set: TreeSet,
    workspace: &mut Workspace,
) -> f64 {
    if tree_set.is_projective() {
        projective::log_partition(scores, tree_set.roots(), &mut workspace.projective)
    } else {
        solve::log_partition(scores, tree_set.roots(), &mut workspace.solve)
    }
}

/// Returns the log-partition function, and writes the probability of every arc into `marginals`.
///
/// O(n³): n³ multiply–adds for non-projective sets, as many as one LU factorisation and inverse.
///
/// # Errors
/// [`Error::BadScore`], or [`Error::NoTree`] naming the words that cannot be attached.
pub fn marginals_with(
    scores: &ArcMatrix,
    tree_set: TreeSet,
    workspace: &mut Workspace,
    marginals: &mut ArcMatrix,
) -> Result<f64, Error> {
    scores.check_scores()?;
    unchecked_marginals(scores, tree_set, workspace, marginals)
        .ok_or_else(|| feasible::no_tree(scores, tree_set))
}

/// Like [`marginals_with`] for scores that have been checked; `None` if there is no tree.
pub(crate) fn unchecked_marginals(
    scores: &ArcMatrix,
    tree_set: TreeSet,
    workspace: &mut Workspace,
    marginals: &mut ArcMatrix,
) -> Option<f64> {
    let roots = tree_set.roots();
    if tree_set.is_projective() {
        let log_z = projective::marginals(scores, roots, &mut workspace.projective, marginals);
        (log_z > f64::NEG_INFINITY).then_some(log_z)
    } else {
        let solved = solve::marginals(scores, roots, &mut workspace.solve, marginals);
        workspace.fell_back = !matches!(solved, Some((_, Path::Sweep)));
        solved.map(|(log_z, _)| log_z)
    }
}

/// Returns the score of the highest-scoring tree, and writes its heads (`heads[0]` is word 1's).
///
/// O(n²) for non-projective sets (Tarjan 1977), O(n³) for projective ones (Eisner 1996).
///
/// # Errors
/// [`Error::BadScore`], or [`Error::NoTree`] naming the words that cannot be attached.
pub fn argmax_with(
    scores: &ArcMatrix,
    tree_set: TreeSet,
    workspace: &mut Workspace,
    heads: &mut Vec<usize>,
) -> Result<f64, Error> {
    scores.check_scores()?;
    let score = unchecked_argmax(scores, tree_set, workspace, heads);
    if score == f64::NEG_INFINITY {
        return Err(feasible::no_tree(scores, tree_set));
    }
    Ok(score)
}

/// Like [`argmax_with`] for scores that have been checked; −∞ if there is no tree.
pub(crate) fn unchecked_argmax(
    scores: &ArcMatrix,
    tree_set: TreeSet,
    workspace: &mut Workspace,
    heads: &mut Vec<usize>,
) -> f64 {
    let roots = tree_set.roots();
    if tree_set.is_projective() {
        projective::argmax(scores, roots, &mut workspace.projective, heads)
    } else {
        decode::argmax(scores, roots, &mut workspace.decode, heads)
    }
}

/// Writes the heads of the tree with the largest expected number of correct arcs, and returns that
/// number: argmax_y Σ_{e∈y} μ_e over the trees of `tree_set` whose arcs are all allowed in `scores`.
///
/// The set may differ from the one that `marginals` were computed in.
///
/// # Errors
/// [`Error::DifferentLengths`]; [`Error::BadScore`] if a marginal of an allowed arc is not a number;
/// [`Error::NoTree`].
pub fn mbr_with(
    scores: &ArcMatrix,
    marginals: &ArcMatrix,
    tree_set: TreeSet,
    workspace: &mut Workspace,
    heads: &mut Vec<usize>,
) -> Result<f64, Error> {
    let n = scores.words();
    if marginals.words() != n {
        return Err(Error::DifferentLengths { left: n, right: marginals.words() });
    }
    let mut masked = workspace.matrix.lend();
    masked.clone_from(marginals);
    let mask = |marginal, score| {
        if score > f64::NEG_INFINITY { marginal } else { f64::NEG_INFINITY }
    };
    masked.zip_in_place(scores, mask);
    let result = argmax_with(&masked, tree_set, workspace, heads);
    workspace.matrix = masked;
    result
}

/// Writes the covariance of every arc with G(y) = Σ_{e∈y} g_e into `covariances`; returns E\[G\].
///
/// These covariances are also ∂μ_e/∂t along θ + t·g, the Hessian of the log-partition function times
/// g, and Σ_f g_f ∂μ_f/∂θ_e. O(n³) in all four sets, whatever g. Values of g on forbidden arcs are
/// ignored. Allocates if the scores of a non-projective set have so wide a range that it needs
/// logarithms.
///
/// # Errors
/// [`Error::BadScore`] for scores or values of `g` that are not numbers, [`Error::NoTree`],
/// [`Error::DifferentLengths`].
pub fn arc_covariances_with(
    scores: &ArcMatrix,
    g: &ArcMatrix,
    tree_set: TreeSet,
    workspace: &mut Workspace,
    covariances: &mut ArcMatrix,
) -> Result<f64, Error> {
    check_function(scores, g)?;
    let mut marginals = workspace.matrix.lend();
    let result = marginals_with(scores, tree_set, workspace, &mut marginals).map(|_| {
        unchecked_arc_covariances(scores, g, tree_set, &marginals, workspace, covariances);
        expectation(&marginals, g)
    });
    workspace.matrix = marginals;
    result
}

/// Writes the covariances, given the marginals, for a `g` that is a number wherever an arc is allowed.
/// The workspace is either new or the one that has just computed these marginals.
pub(crate) fn unchecked_arc_covariances(
    scores: &ArcMatrix,
    g: &ArcMatrix,
    tree_set: TreeSet,
    marginals: &ArcMatrix,
    workspace: &mut Workspace,
    covariances: &mut ArcMatrix,
) {
    if scores.words() == 0 {
        covariances.reset(0, 0.0);
    } else if tree_set.is_projective() {
        let ws = &mut workspace.projective;
        projective::arc_covariances(scores, tree_set.roots(), g, ws, covariances);
    } else {
        nonprojective_covariances(scores, g, tree_set, marginals, workspace, covariances);
    }
}

/// Uses the kernel where it is accurate, and derivatives through the elimination where it is not.
fn nonprojective_covariances(
    scores: &ArcMatrix,
    g: &ArcMatrix,
    tree_set: TreeSet,
    marginals: &ArcMatrix,
    workspace: &mut Workspace,
    covariances: &mut ArcMatrix,
) {
    let roots = tree_set.roots();
    let Workspace { solve, kernel, covariance, .. } = workspace;
    let spread = g
        .arcs()
        .filter(|&(head, modifier, _)| scores[(head, modifier)] > f64::NEG_INFINITY)
        .fold(0.0f64, |spread, (_, _, value)| spread.max(value.abs()));
    // Both conditions are needed. The residual does not show errors that are the same for all heads, so
    // alone it would accept results without a correct digit.
    let mut trusted = |kernel: &Kernel| {
        kernel.cancellation() <= 1e-11
            && kernel.arc_covariances(g, marginals, covariance, covariances) <= 1e-12 * spread
    };
    let accurate = solve::fast_kernel(scores, roots, solve, kernel) && trusted(kernel)
        || solve::kernel(scores, roots, solve, kernel) && trusted(kernel);
    if !accurate {
        *covariances = solve::arc_covariances(scores, roots, g);
    }
}

/// Returns Σ_e μ_e g_e, with 0·anything = 0: values of forbidden arcs are ignored.
pub(crate) fn expectation(marginals: &ArcMatrix, g: &ArcMatrix) -> f64 {
    marginals
        .arcs()
        .filter(|&(_, _, p)| p > 0.0)
        .map(|(head, modifier, p)| p * g[(head, modifier)])
        .sum()
}

/// Checks that a function of arcs has the length of the sentence, and is a number wherever an arc is allowed.
pub(crate) fn check_function(scores: &ArcMatrix, g: &ArcMatrix) -> Result<(), Error> {
    if g.words() != scores.words() {
        return Err(Error::DifferentLengths { left: scores.words(), right: g.words() });
    }
    for (head, modifier, value) in g.arcs() {
        let allowed = scores[(head, modifier)] > f64::NEG_INFINITY;
        if allowed && !is_number(value) {
            return Err(Error::BadScore { head, modifier, label: None, value });
        }
    }
    Ok(())
}
