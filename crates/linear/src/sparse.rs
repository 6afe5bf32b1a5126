//! Vectors over the cells of a weight table, most of which are zero.

/// A sum that is built up cell by cell.
///
/// A sentence touches about ten thousand of millions of cells. Their sums are kept in a small hash table (open
/// addressing, linear probing) that fits into a processor's cache. A dense table would be as large as the
/// table of weights, and every addition would wait for memory. At most half of the slots are full.
#[derive(Clone, Debug)]
pub struct SparseSum {
    /// Cells and their sums; `FREE` marks an empty slot.
    slots: Vec<(u32, f32)>,
    /// Binary logarithm of the number of slots in use, from the first on. It shrinks again after a long
    /// sentence.
    bits: u32,
    /// Slots that are not free, in the order they were taken.
    taken: Vec<u32>,
}

impl Default for SparseSum {
    fn default() -> Self {
        Self { slots: vec![Self::FREE; 1 << Self::BITS], bits: Self::BITS, taken: Vec::new() }
    }
}

impl SparseSum {
    /// An empty slot. No feature maps to its cell, even in the largest table.
    const FREE: (u32, f32) = (u32::MAX, 0.0);
    /// Initial value of `bits`: slots of 512 kB, enough for a sentence of forty words.
    const BITS: u32 = 16;

    /// Adds to a cell.
    #[inline]
    pub fn add(&mut self, cell: usize, amount: f32) {
        let (slot, is_free) = self.find(cell as u32);
        if !is_free {
            self.slots[slot].1 += amount;
            return;
        }
        self.slots[slot] = (cell as u32, amount);
        self.taken.push(slot as u32);
        if self.taken.len() > 1 << (self.bits - 1) {
            self.grow();
        }
    }

    /// Returns the slot of a cell, and `true` if it is free. The search starts at the first bits of the
    /// cell's product with 2³² divided by the golden ratio (Knuth's multiplicative hashing).
    #[inline]
    fn find(&self, cell: u32) -> (usize, bool) {
        let slots = &self.slots[..1 << self.bits];
        let mut at = (cell.wrapping_mul(0x9E37_79B9) >> (u32::BITS - self.bits)) as usize;
        loop {
            let found = slots[at].0;
            if found == cell || found == Self::FREE.0 {
                return (at, found != cell);
            }
            at = (at + 1) & (slots.len() - 1);
        }
    }

    /// Doubles the slots in use.
    #[cold]
    fn grow(&mut self) {
        let mut sums = Vec::with_capacity(self.taken.len());
        for slot in self.taken.drain(..) {
            sums.push(std::mem::replace(&mut self.slots[slot as usize], Self::FREE));
        }
        self.bits += 1;
        self.slots.resize(self.slots.len().max(1 << self.bits), Self::FREE);
        for sum in sums {
            let (slot, _) = self.find(sum.0);
            self.slots[slot] = sum;
            self.taken.push(slot as u32);
        }
    }

    /// Empties the sum: calls `f` for every cell that is not zero, in the order of their first touch.
    pub fn drain(&mut self, mut f: impl FnMut(usize, f32)) {
        for slot in self.taken.drain(..) {
            let (cell, value) = std::mem::replace(&mut self.slots[slot as usize], Self::FREE);
            if value != 0.0 {
                f(cell as usize, value);
            }
        }
        self.bits = Self::BITS;
    }

    /// Empties the sum into a vector.
    pub fn take(&mut self) -> SparseVector {
        let mut cells = Vec::with_capacity(self.taken.len());
        self.drain(|cell, value| cells.push((cell as u32, value)));
        cells.sort_unstable_by_key(|(cell, _)| *cell);
        SparseVector { cells }
    }
}

/// A vector as its cells that are not zero, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseVector {
    cells: Vec<(u32, f32)>,
}

impl SparseVector {
    /// Returns the cells and their values.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.cells.iter().map(|&(cell, value)| (cell as usize, f64::from(value)))
    }

    /// Returns the scalar product with the weights of cells.
    pub fn dot_weights(&self, weight: impl Fn(usize) -> f32) -> f64 {
        self.iter().map(|(cell, value)| value * f64::from(weight(cell))).sum()
    }

    /// Returns the scalar product with another vector.
    pub fn dot(&self, other: &Self) -> f64 {
        let mut sum = 0.0;
        let mut others = other.cells.iter().peekable();
        for &(cell, value) in &self.cells {
            while others.next_if(|(at, _)| *at < cell).is_some() {}
            if let Some((_, found)) = others.next_if(|(at, _)| *at == cell) {
                sum += f64::from(value) * f64::from(*found);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(cells: &[(usize, f32)]) -> SparseVector {
        let mut sum = SparseSum::default();
        cells.iter().for_each(|&(cell, amount)| sum.add(cell, amount));
        sum.take()
    }

    #[test]
    fn amounts_of_one_cell_are_added_and_zeros_left_out() {
        let found = vector(&[
            (7, 1.0),
            (2, 1.0),
            (7, 0.5),
            (4, 1.0),
            (4, -1.0),
            (3, 1.0),
            (3, -1.0),
            (3, 2.0),
        ]);
        assert_eq!(found.iter().collect::<Vec<_>>(), [(2, 1.0), (3, 2.0), (7, 1.5)]);
    }

    #[test]
    fn any_number_of_cells_is_kept_in_the_order_of_their_first_touch() {
        let mut sum = SparseSum::default();
        for count in [50_000, 10, 50_000] {
            let cells = || (0..count).map(|at| (at * 7_919) % 50_021);
            cells().for_each(|cell| sum.add(cell, cell as f32));
            cells().for_each(|cell| sum.add(cell, 1.0));
            let mut found = Vec::new();
            sum.drain(|cell, value| found.push((cell, value)));
            let expected = cells().map(|cell| (cell, cell as f32 + 1.0));
            assert!(found.into_iter().eq(expected), "and it is empty again");
        }
    }

    #[test]
    fn products_are_those_of_dense_vectors() {
        let a = vector(&[(0, 1.0), (2, 3.0), (5, -1.0), (9, 2.0)]);
        let b = vector(&[(1, 4.0), (2, 0.5), (9, 3.0)]);
        assert_eq!(a.dot(&b), 7.5);
        assert_eq!(b.dot(&a), 7.5);
        assert_eq!(a.dot(&vector(&[])), 0.0);
        let weights: Vec<f32> = (0..10).map(|cell| cell as f32).collect();
        assert_eq!(a.dot_weights(|cell| weights[cell]), 6.0 - 5.0 + 18.0);
    }
}
