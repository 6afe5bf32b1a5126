//! Exact inference over dependency trees.
#![deny(unsafe_code)]

mod error;
mod exp;
mod matrix;
mod nonprojective;
#[cfg(any(test, feature = "oracle"))]
pub mod oracle;
mod projective;
mod simd;
mod tree;
mod tree_set;
mod uniform;
mod weight;

pub use error::{Error, NotATree};
pub use matrix::ArcMatrix;
pub use tree::Tree;
pub use tree_set::TreeSet;
