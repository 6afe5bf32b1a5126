//! AdaGrad (Duchi, Hazan & Singer 2011): each weight has its own rate, which falls with what it has
//! been moved.

use std::io;

use crate::tape::{State, Tape};

/// w ← w − η g / √(δ + Σ g²), cell by cell.
#[derive(Clone, Debug)]
pub(crate) struct AdaGrad {
    /// η.
    rate: f32,
    /// δ, inside the root: the first steps are as if this much had been moved before.
    damping: f32,
    squares: Vec<f32>,
}

impl AdaGrad {
    /// For a table of weights.
    pub(crate) fn new(cells: usize, rate: f32, damping: f32) -> Self {
        Self { rate, damping, squares: vec![0.0; cells] }
    }

    /// Moves the weights of a row downhill, which starts at a cell.
    #[inline]
    pub(crate) fn descend_row(&mut self, weights: &mut [f32], row: usize, gradient: &[f32]) {
        let weights = &mut weights[row..][..gradient.len()];
        let squares = &mut self.squares[row..][..gradient.len()];
        for (weight, (squares, gradient)) in
            weights.iter_mut().zip(squares.iter_mut().zip(gradient))
        {
            *squares += gradient * gradient;
            *weight -= self.rate * gradient / (self.damping + *squares).sqrt();
        }
    }

    /// Moves one weight downhill.
    #[inline]
    pub(crate) fn descend(&mut self, weight: &mut f32, cell: usize, gradient: f32) {
        let squares = &mut self.squares[cell];
        *squares += gradient * gradient;
        *weight -= self.rate * gradient / (self.damping + *squares).sqrt();
    }
}

impl State for AdaGrad {
    fn state(&mut self, tape: &mut Tape<'_>) -> io::Result<()> {
        tape.table(&mut self.squares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_shrink_with_what_was_moved() {
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
