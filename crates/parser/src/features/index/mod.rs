//! From the key of a feature to its weights.

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
pub(crate) use support::{Arcs, Seen};

/// Where the weights of a feature are in a flat table.
///
/// - `Hashed`: in a block of [`BLOCK`] cells, by the upper bits of its key. Nothing is stored but
///   weights; features may share them.
/// - `Dictionary`: by a table of keys. Exact; features that are not in it have no weights.
#[derive(Clone, Debug)]
pub enum Index {
    /// A table of 2^bits cells.
    Hashed {
        /// The binary logarithm of the number of cells.
        bits: u32,
    },
    /// A table of keys.
    Dictionary(Arc<Dictionary>),
}

impl Index {
    /// The number of cells of a table of weights.
    pub fn cells(&self) -> usize {
        match self {
            Index::Hashed { bits } => 1 << bits,
            Index::Dictionary(dictionary) => dictionary.cells(),
        }
    }
}

/// Where the weights of one feature are: in slot 0 that of the feature alone, in the others those of
/// the feature with direction and distance, see [`bin`](crate::features::bin).
pub(crate) trait Block: Copy {
    /// The cell of a slot, if it has one.
    fn cell(self, slot: usize) -> Option<usize>;

    /// A sum and the weights of the feature alone, if it is to be added, and of a bin, likewise.
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

/// A block in which every slot has a cell, from this one on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole(usize);

impl Block for Whole {
    #[inline]
    fn cell(self, slot: usize) -> Option<usize> {
        Some(self.0 + slot)
    }

    // At once, which is faster.

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

/// The block of a key in a table of 2^bits cells.
#[inline]
pub(crate) fn hashed(key: u64, bits: u32) -> Whole {
    let blocks = bits - BLOCK.ilog2();
    Whole(((key >> (64 - blocks)) as usize) * BLOCK)
}
