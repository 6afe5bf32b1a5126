//! Help for annotators: the words to annotate next, and the annotations to check again.

pub mod active;
#[cfg(feature = "train")]
pub mod audit;
