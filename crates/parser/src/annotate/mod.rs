//! Help for annotators: which words to annotate next, which annotations to look at again.

pub mod active;
#[cfg(feature = "train")]
pub mod audit;
