//! Help for annotators: which words to annotate next, which annotations to check again.

pub mod active;
#[cfg(feature = "train")]
pub mod audit;
