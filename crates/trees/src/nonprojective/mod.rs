//! Trees whose arcs may cross: the matrix-tree theorem for sums, contraction for the best tree,
//! random walks for samples.
//!
//! | question | how | module |
//! |---|---|---|
//! | log-partition, marginals | subtraction-free elimination | [`solve`] over [`sweep`], [`eliminate`] |
//! | pairs, covariances | the determinantal kernel | [`kernel`] |
//! | best tree | contraction of cycles | [`decode`] |
//! | k best | binary partition | [`kbest`] |
//! | samples | loop-erased random walks | [`sample`] |
//! | number of trees | an integer determinant | [`count`] |
//! | existence of a tree | strongly connected components | [`feasible`] |

mod blocked;
pub(crate) mod count;
pub(crate) mod decode;
pub(crate) mod eliminate;
pub(crate) mod feasible;
pub(crate) mod kbest;
pub(crate) mod kernel;
pub(crate) mod sample;
mod shift;
pub(crate) mod solve;
mod sweep;
#[cfg(test)]
mod tests;
