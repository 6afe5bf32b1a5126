//! A second pass that sees the tree of the first.
//!
//! The first pass gives arc marginals and the tree with the most arcs expected to be right; the
//! second scores again the arcs that the first found at least as probable as a threshold, and its
//! templates see that tree (see [`FirstPassOutput`]). Given it, scores are of single arcs, so inference is
//! exact as before.

use tutte_trees::{ArcMatrix, Error, TreeSet, Workspace, marginals_with, mbr_with};

use crate::features::FirstPassOutput;
use crate::{ArcModel, Candidates, Compact, TransitionParser};

/// A model of the second pass.
#[derive(Clone, Debug)]
pub struct SecondPass<W = Vec<f32>> {
    /// Its scores.
    pub arcs: ArcModel<W>,
    /// How probable an arc must be in the first pass to be looked at again.
    pub threshold: f64,
    /// A second opinion, if there is one.
    pub transition: Option<TransitionParser<W>>,
}

impl SecondPass {
    /// Rounds all weights to 8 bits.
    pub(crate) fn compact(&self) -> SecondPass<Compact> {
        SecondPass {
            arcs: self.arcs.compact(),
            threshold: self.threshold,
            transition: self.transition.as_ref().map(TransitionParser::compact),
        }
    }
}

/// What a first pass thinks of a sentence, from the scores of its arcs.
pub(crate) fn first_pass_output(
    scores: &ArcMatrix,
    tree_set: TreeSet,
    workspace: &mut Workspace,
) -> Result<FirstPassOutput, Error> {
    let mut marginals = ArcMatrix::zeros(scores.words());
    marginals_with(scores, tree_set, workspace, &mut marginals)?;
    let mut heads = Vec::with_capacity(scores.words());
    mbr_with(scores, &marginals, tree_set, workspace, &mut heads)?;
    Ok(FirstPassOutput::new(heads, marginals))
}

/// The arcs that a second pass looks at: those probable enough, and the tree itself, so that there
/// always is one.
pub(crate) fn candidates(first_pass_output: &FirstPassOutput, threshold: f64) -> Candidates {
    let heads = first_pass_output.heads();
    Candidates::of(heads.len(), |head, modifier| {
        first_pass_output.marginal(head, modifier) >= threshold || heads[modifier - 1] == head
    })
}
