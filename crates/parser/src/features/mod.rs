//! Features: from a sentence and an arc to the cells of a weight table.
//!
//! A template is hashed in two halves: the attributes around the head and those around the modifier.
//! Halves are computed once per word. An arc joins them by an addition and a multiplication:
//!
//! ```text
//! key(template, h, m) = (H[template][h] + M[template][m]) · K   mod 2⁶⁴
//! ```
//!
//! A key leads to a block of sixteen neighbouring weights, one cache line. The first weight is that of
//! the bare feature; the others are those of the feature with direction and distance. The two copies of
//! a feature (McDonald, Crammer & Pereira 2005) thus cost one memory access, which dominates the cost of
//! scoring an arc. Templates of one word only are summed once per word for all its arcs.

mod atoms;
mod attribute;
mod factor_set;
mod first_pass;
pub mod index;
mod prepared;
mod readable;
mod rows;
mod score;
mod set;
mod sets;
mod template;
#[cfg(test)]
mod tests;

pub use atoms::Atoms;
pub use attribute::{ArcAttribute, Attribute};
pub(crate) use factor_set::{BLOCK as FACTOR_BLOCK, FactorPart, PreparedFactors};
pub use factor_set::{FactorFamily, FactorSet};
pub use first_pass::{FirstPassOutput, TransitionParse};
pub use prepared::Prepared;
pub(crate) use readable::Readable;
pub use set::{Conjoin, FeatureSet};
pub use template::{Atom, Between, Template};

/// Number of weights in a block: one for the bare feature, one for each bin, one unused.
pub const BLOCK: usize = 16;

/// Returns the bin of an arc's direction and distance, its position in a block: 1 to 14.
///
/// Distances are 1, 2, 3, 4, 5, 6–10 and more, first with the head to the left (McDonald et al. 2005).
/// An arc from the root counts as one from the left, at the distance of its modifier.
pub fn bin(head: usize, modifier: usize) -> usize {
    let bucket = match head.abs_diff(modifier) {
        distance @ 0..=5 => distance.saturating_sub(1),
        6..=10 => 5,
        _ => 6,
    };
    if head < modifier { 1 + bucket } else { 8 + bucket }
}
