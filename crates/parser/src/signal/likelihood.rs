//! The conditional log-likelihood of the gold tree (Lafferty, McCallum & Pereira 2001; for trees
//! Koo, Globerson, Carreras & Collins 2007, Smith & Smith 2007, McDonald & Satta 2007):
//!
//! ```text
//! −log p(y | x) = log Z(θ) − Σ_{(h→m) ∈ y} θ(h → m)        ∂/∂θ(h → m) = μ(h → m) − [(h → m) ∈ y]
//! ```
//!
//! with μ the marginals. Convex in θ.

use tutte_trees::{ArcMatrix, Error, marginals_with};

use super::{Scored, Scratch, arcs};

pub(super) fn add(
    sentence: Scored<'_>,
    factor: f64,
    scratch: &mut Scratch,
    gradient: &mut ArcMatrix,
) -> Result<f64, Error> {
    let Scored { scores, gold, tree_set } = sentence;
    let marginals = &mut scratch.result;
    let mut value = marginals_with(scores, tree_set, &mut scratch.workspace, marginals)?;
    for arc in arcs(scores.words()) {
        gradient[arc] += factor * marginals[arc];
    }
    for (modifier, &head) in (1..).zip(gold) {
        gradient[(head, modifier)] -= factor;
        value -= scores[(head, modifier)];
    }
    Ok(value)
}
