//! Trees whose arcs may cross: contraction for the best tree, random walks for samples.

pub(crate) mod count;
pub(crate) mod decode;
pub(crate) mod feasible;
pub(crate) mod kbest;
pub(crate) mod sample;
