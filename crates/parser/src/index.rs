//! From the key of a feature to its weights.

use std::collections::HashMap;

use crate::features::BLOCK;

/// Where the weights of a feature are: a block of [`BLOCK`] cells in a flat table.
///
/// - `Hashed`: by the upper bits of its key. Nothing is stored but weights; features may share
///   them.
/// - `Dictionary`: by a table of keys. Exact; features that are not in it have no weights.
#[derive(Clone, Debug)]
pub enum Index {
    /// A table of 2^bits cells.
    Hashed {
        /// The binary logarithm of the number of cells.
        bits: u32,
    },
    /// The number of each key's block.
    Dictionary(HashMap<u64, u32>),
}

impl Index {
    /// The number of cells of a table of weights.
    pub fn cells(&self) -> usize {
        match self {
            Index::Hashed { bits } => 1 << bits,
            Index::Dictionary(blocks) => blocks.len() * BLOCK,
        }
    }
}

/// The first cell of a key's block in a table of 2^bits cells.
#[inline]
pub(crate) fn hashed(key: u64, bits: u32) -> usize {
    let blocks = bits - BLOCK.ilog2();
    ((key >> (64 - blocks)) as usize) * BLOCK
}
