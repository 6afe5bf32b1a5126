//! Help for annotators: which words to annotate next, which annotations to look at again.

pub mod active;
pub mod audit;
