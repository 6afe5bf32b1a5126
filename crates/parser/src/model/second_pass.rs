//! The second pass, whose templates see the tree of the first pass.
//!
//! The first pass gives arc marginals and the tree with the most expected correct arcs. The second pass
//! scores again the arcs whose marginal reaches a threshold, with templates that see that tree (see
//! [`FirstPassOutput`]). Given the tree, scores are still of single arcs, so inference stays exact.

use tutte_linear::Rounding;
use tutte_trees::{ArcMatrix, Error, TreeSet, Workspace, marginals_with, mbr_with};

use crate::features::FirstPassOutput;
use crate::{ArcModel, Candidates, Compact, FactorModel, TransitionParser};

/// The model of the second pass.
#[derive(Clone, Debug)]
pub struct SecondPass<W = Vec<f32>> {
    /// The arc scorer.
    pub arcs: ArcModel<W>,
    /// Smallest marginal in the first pass of an arc that is scored again.
    pub threshold: f64,
    /// The transition parser, whose tree the templates see.
    pub transition: Option<TransitionParser<W>>,
    /// Scores of two arcs at once, which refine those of `arcs`.
    pub factors: Option<FactorModel<W>>,
}

impl SecondPass {
    /// Rounds all weights to 8 bits.
    pub(crate) fn rounded(&self, rounding: Rounding) -> SecondPass<Compact> {
        SecondPass {
            arcs: self.arcs.rounded(rounding),
            threshold: self.threshold,
            transition: self.transition.as_ref().map(|parser| parser.rounded(rounding)),
            factors: self.factors.as_ref().map(|factors| factors.rounded(rounding)),
        }
    }
}

/// Computes the output of the first pass from the scores of all arcs.
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

/// Returns the candidate arcs of the second pass: those with a sufficient marginal, and the arcs of the
/// tree, so that there always is a tree.
pub(crate) fn candidates(first_pass_output: &FirstPassOutput, threshold: f64) -> Candidates {
    let heads = first_pass_output.heads();
    Candidates::of(heads.len(), |head, modifier| {
        first_pass_output.marginal(head, modifier) >= threshold || heads[modifier - 1] == head
    })
}
