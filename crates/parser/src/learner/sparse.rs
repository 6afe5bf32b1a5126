//! Vectors over the cells of a weight table, few of which are not zero.

/// A sum that is built up cell by cell. Memory of the size of the table, which is used again.
#[derive(Clone, Debug, Default)]
pub(super) struct SparseSum {
    values: Vec<f32>,
    touched: Vec<u32>,
}

impl SparseSum {
    /// For a table of weights.
    pub(super) fn new(cells: usize) -> Self {
        Self { values: vec![0.0; cells], touched: Vec::new() }
    }

    /// Adds to a cell.
    #[inline]
    pub(super) fn add(&mut self, cell: usize, amount: f32) {
        let value = &mut self.values[cell];
        if *value == 0.0 {
            self.touched.push(cell as u32);
        }
        *value += amount;
    }

    /// Hands out all cells that are not zero, each once, in the order they were touched first, and
    /// is empty again.
    pub(super) fn drain(&mut self, mut f: impl FnMut(usize, f32)) {
        for cell in self.touched.drain(..) {
            let value = std::mem::take(&mut self.values[cell as usize]);
            // A cell that fell back to zero and rose again is listed twice.
            if value != 0.0 {
                f(cell as usize, value);
            }
        }
    }

    /// The sum as a vector; the sum is empty again.
    pub(super) fn take(&mut self) -> SparseVector {
        let mut cells = Vec::with_capacity(self.touched.len());
        self.drain(|cell, value| cells.push((cell as u32, value)));
        cells.sort_unstable_by_key(|(cell, _)| *cell);
        SparseVector { cells }
    }
}

/// The cells of a vector that are not zero, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SparseVector {
    cells: Vec<(u32, f32)>,
}

impl SparseVector {
    /// The cells and their values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.cells.iter().map(|&(cell, value)| (cell as usize, f64::from(value)))
    }

    /// The scalar product with the weights of cells.
    pub(super) fn dot_weights(&self, weight: impl Fn(usize) -> f32) -> f64 {
        self.iter().map(|(cell, value)| value * f64::from(weight(cell))).sum()
    }

    /// The scalar product with another vector.
    pub(super) fn dot(&self, other: &Self) -> f64 {
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
        let mut sum = SparseSum::new(10);
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
