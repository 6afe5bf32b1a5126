//! AdaGrad (Duchi, Hazan & Singer 2011): every weight has its own rate, which falls as the weight moves.

use std::io;

use crate::codec::{Checkpointed, Codec};

/// w ← w − η g / √(δ + Σ g²), cell by cell.
#[derive(Clone, Debug)]
pub struct AdaGrad {
    /// η.
    rate: f32,
    /// δ, inside the root: damps the first steps.
    damping: f32,
    squares: Vec<f32>,
}

impl AdaGrad {
    /// Starts for a table of `cells` weights.
    pub fn new(cells: usize, rate: f32, damping: f32) -> Self {
        Self { rate, damping, squares: vec![0.0; cells] }
    }

    /// Moves the weights of a row, which starts at a cell, against a gradient.
    #[inline]
    pub fn descend_row(&mut self, weights: &mut [f32], row: usize, gradient: &[f32]) {
        let weights = &mut weights[row..][..gradient.len()];
        let squares = &mut self.squares[row..][..gradient.len()];
        for (weight, (squares, gradient)) in
            weights.iter_mut().zip(squares.iter_mut().zip(gradient))
        {
            *squares += gradient * gradient;
            *weight -= self.rate * gradient / (self.damping + *squares).sqrt();
        }
    }

    /// Moves one weight against its gradient.
    #[inline]
    pub fn descend(&mut self, weight: &mut f32, cell: usize, gradient: f32) {
        *weight += self.change(cell, gradient);
    }

    /// Returns the change of the weight of a cell: −η g / √(δ + Σ g²).
    #[inline]
    pub fn change(&mut self, cell: usize, gradient: f32) -> f32 {
        let squares = &mut self.squares[cell];
        *squares += gradient * gradient;
        -(self.rate * gradient / (self.damping + *squares).sqrt())
    }
}

impl Checkpointed for AdaGrad {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        codec.table(&mut self.squares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_shrink_as_gradients_add_up() {
        let mut adagrad = AdaGrad::new(2, 0.5, 1.0);
        let mut weight = 0.0;
        adagrad.descend(&mut weight, 0, -2.0);
        assert_eq!(weight, 0.5 * 2.0 / 5f32.sqrt());
        let mut row = [0.0, 7.0];
        AdaGrad::new(3, 0.5, 1.0).descend_row(&mut row, 0, &[-2.0, 0.0]);
        assert_eq!(row, [weight, 7.0], "cell by cell or row by row");
        let before = weight;
        adagrad.descend(&mut weight, 0, 2.0);
        assert_eq!(weight, before - 0.5 * 2.0 / 9f32.sqrt());
        let mut other = 0.0;
        adagrad.descend(&mut other, 1, -2.0);
        assert_eq!(other, before, "each weight has a rate of its own");
    }
}
