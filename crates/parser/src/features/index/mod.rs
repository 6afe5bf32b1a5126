//! Indices: from the key of a feature to its weights.

mod dictionary;
mod names;
mod support;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use tutte_linear::Cell;

use crate::features::BLOCK;
pub use dictionary::Dictionary;
pub use names::{Name, Names};
pub use support::Support;
pub(crate) use support::{SupportExample, SupportingArcs};

/// The map from features to their weights in a flat table.
///
/// - `Hashed`: the upper bits of a key choose a block of [`BLOCK`] cells. Only weights are stored;
///   features may share them.
/// - `Dictionary`: a table of keys. It is exact; features outside it have no weights.
#[derive(Clone, Debug)]
pub enum Index {
    /// A table of 2^bits cells.
    Hashed {
        /// Binary logarithm of the number of cells.
        bits: u32,
    },
    /// A table of keys.
    Dictionary(Arc<Dictionary>),
}

impl Index {
    /// Number of cells of a table of weights.
    pub fn cells(&self) -> usize {
        match self {
            Index::Hashed { bits } => 1 << bits,
            Index::Dictionary(dictionary) => dictionary.cells(),
        }
    }
}

/// The cells of one feature. Slot 0 is the bare feature; the others are the feature with direction and
/// distance, see [`bin`](crate::features::bin).
pub(crate) trait Block: Copy {
    /// Returns the cell of a slot, if it has one.
    fn cell(self, slot: usize) -> Option<usize>;

    /// Adds the weight of the bare feature (if `BARE`) and that of a bin (if `BINNED`) to a sum.
    #[inline]
    fn add<W: Cell, const BARE: bool, const BINNED: bool>(
        self,
        weights: &[W],
        bin: usize,
        sum: W::Sum,
    ) -> W::Sum {
        let bare = if BARE { self.cell(0) } else { None };
        let binned = if BINNED { self.cell(bin) } else { None };
        bare.into_iter().chain(binned).fold(sum, |sum, cell| weights[cell].add_to(sum))
    }

    /// Adds the weights of all slots to sums.
    #[inline]
    fn add_all<W: Cell>(self, weights: &[W], sums: &mut [W::Sum; BLOCK]) {
        for (slot, sum) in sums.iter_mut().enumerate() {
            *sum = self.cell(slot).map_or(*sum, |cell| weights[cell].add_to(*sum));
        }
    }
}

/// A block in which every slot has a cell, starting at this one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FullBlock(usize);

impl Block for FullBlock {
    #[inline]
    fn cell(self, slot: usize) -> Option<usize> {
        Some(self.0 + slot)
    }

    // One bounds check for the whole block is faster than one per cell.

    #[inline]
    fn add<W: Cell, const BARE: bool, const BINNED: bool>(
        self,
        weights: &[W],
        bin: usize,
        sum: W::Sum,
    ) -> W::Sum {
        let weights = &weights[self.0..self.0 + BLOCK];
        let sum = if BARE { weights[0].add_to(sum) } else { sum };
        if BINNED { weights[bin % BLOCK].add_to(sum) } else { sum }
    }

    #[inline]
    fn add_all<W: Cell>(self, weights: &[W], sums: &mut [W::Sum; BLOCK]) {
        let weights = &weights[self.0..self.0 + BLOCK];
        sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum = weight.add_to(*sum));
    }
}

/// Returns the block of a key in a table of 2^bits cells.
#[inline]
pub(crate) fn hashed(key: u64, bits: u32) -> FullBlock {
    let blocks = bits - BLOCK.ilog2();
    FullBlock(((key >> (64 - blocks)) as usize) * BLOCK)
}
