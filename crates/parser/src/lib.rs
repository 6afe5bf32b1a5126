//! Dependency parsing with exact probabilities: what arcs look like, and their scores.
// Denied, not forbidden: `mapped.rs` holds the one exception.
#![deny(unsafe_code)]

mod arcs;
mod error;
pub mod features;
mod index;
mod mapped;
mod weights;

pub use arcs::ArcModel;
pub use error::{Error, ModelProblem};
pub use index::Index;
pub use weights::{Compact, Weights};
