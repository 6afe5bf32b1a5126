//! From a sentence and an arc to the cells of a weight table.
//!
//! A template is hashed in two halves, what it sees around the head and what it sees around the
//! modifier; halves are computed once a word, and an arc joins them by an addition and a
//! multiplication:
//!
//! ```text
//! key(template, h, m) = (H[template][h] + M[template][m]) · K   mod 2⁶⁴
//! ```
//!
//! A key leads to a block of sixteen neighbouring weights, one cache line: the first for the
//! feature alone, the others for the feature with direction and distance. So the two copies of a
//! feature (McDonald, Crammer & Pereira 2005) cost one access to memory, which is what scoring an
//! arc spends its time on. Templates that see one of the two words only are summed once a word for
//! all its arcs.

mod atoms;
mod attribute;
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
pub use first_pass::{FirstPassOutput, TransitionParse};
pub use prepared::Prepared;
pub(crate) use readable::Readable;
pub use set::{Conjoin, FeatureSet};
pub use template::{Atom, Between, Template};

/// The weights of a block: one for the feature alone, one for each bin, one unused.
pub const BLOCK: usize = 16;

/// Where in a block an arc's weight for direction and distance is: 1 to 14.
///
/// Distances 1, 2, 3, 4, 5, 6–10 and more, head to the left first, as in McDonald et al. (2005);
/// an arc from the root counts as one from the left, at the distance of its modifier.
pub fn bin(head: usize, modifier: usize) -> usize {
    let bucket = match head.abs_diff(modifier) {
        distance @ 0..=5 => distance.saturating_sub(1),
        6..=10 => 5,
        _ => 6,
    };
    if head < modifier { 1 + bucket } else { 8 + bucket }
}
