//! Sums of rows of a table: y = Σ weight·table[id] for each row's list of ids.
//!
//! Sub-words have one id each; hashed words have one per character n-gram. Backward: table[id] += weight·dy. The
//! gradient has few rows that are not zero; [`Gradients`](crate::Gradients) keeps their numbers.

use super::add_scaled;

/// Lists of weighted ids, one list per row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bags {
    /// Ids and weights of all rows.
    pub(crate) entries: Vec<(u32, f32)>,
    /// End of each row's list in `entries`.
    pub(crate) ends: Vec<usize>,
}

impl Bags {
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.ends.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn row(&self, row: usize) -> &[(u32, f32)] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.entries[start..self.ends[row]]
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, entries: impl IntoIterator<Item = (u32, f32)>) {
        self.entries.extend(entries);
        self.ends.push(self.entries.len());
    }
}

/// Adds the sum of each row's entries to `y`.
pub(crate) fn forward(bags: &Bags, table: &[f32], width: usize, y: &mut [f32]) {
    for (row, y) in y.chunks_exact_mut(width).enumerate() {
        for &(id, weight) in bags.row(row) {
            add_scaled(y, weight, &table[id as usize * width..][..width]);
        }
    }
}

/// Adds the gradient of the table.
pub(crate) fn backward(bags: &Bags, d_y: &[f32], width: usize, d_table: &mut [f32]) {
    for (row, d_y) in d_y.chunks_exact(width).enumerate() {
        for &(id, weight) in bags.row(row) {
            add_scaled(&mut d_table[id as usize * width..][..width], weight, d_y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check;

    #[test]
    fn gradients() {
        let mut bags = Bags::default();
        bags.push([(2, 1.0)]);
        bags.push([]);
        bags.push([(0, 0.5), (2, 0.25), (0, 2.0)]);
        let table = check::random(3 * 4, 1);
        let wanted = check::random(3 * 4, 2);
        let mut d_table = vec![0.0; table.len()];
        backward(&bags, &wanted, 4, &mut d_table);
        check::gradient(&table, &d_table, |table| {
            let mut y = vec![0.0; 12];
            forward(&bags, table, 4, &mut y);
            check::weighted(&y, &wanted)
        });
    }
}
