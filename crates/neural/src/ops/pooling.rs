//! Words from their sub-words: the first one, the mean of all, or the mean of the first and the last.
//!
//! A word is the weighted sum of some rows, so the backward pass gives each row its share.

use serde::{Deserialize, Serialize};

use super::add_scaled;

/// How a word's vector is made from those of its sub-words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// The first sub-word.
    First,
    /// The mean of the first and the last sub-word.
    #[default]
    FirstLast,
    /// The mean of all sub-words.
    Mean,
}

impl Pooling {
    /// Calls `f` with each row of the span `first..=last` that counts, and its weight.
    fn for_each(self, (first, last): (usize, usize), mut f: impl FnMut(usize, f32)) {
        match self {
            Pooling::First => f(first, 1.0),
            Pooling::FirstLast if first == last => f(first, 1.0),
            Pooling::FirstLast => {
                f(first, 0.5);
                f(last, 0.5);
            }
            Pooling::Mean => {
                let weight = 1.0 / (last - first + 1) as f32;
                (first..=last).for_each(|row| f(row, weight));
            }
        }
    }

    /// Computes the vector of each span of rows.
    pub(crate) fn forward(
        self,
        spans: &[(usize, usize)],
        rows: &[f32],
        width: usize,
        y: &mut [f32],
    ) {
        y.fill(0.0);
        for (&span, y) in spans.iter().zip(y.chunks_exact_mut(width)) {
            self.for_each(span, |row, weight| add_scaled(y, weight, &rows[row * width..][..width]));
        }
    }

    /// Adds the gradient of the rows.
    pub(crate) fn backward(
        self,
        spans: &[(usize, usize)],
        d_y: &[f32],
        width: usize,
        d_rows: &mut [f32],
    ) {
        for (&span, d_y) in spans.iter().zip(d_y.chunks_exact(width)) {
            self.for_each(span, |row, weight| {
                add_scaled(&mut d_rows[row * width..][..width], weight, d_y)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check;

    #[test]
    fn gradients() {
        let spans = [(0, 0), (1, 3), (3, 4)];
        for pooling in [Pooling::First, Pooling::FirstLast, Pooling::Mean] {
            let rows = check::random(5 * 3, 1);
            let wanted = check::random(3 * 3, 2);
            let mut d_rows = vec![0.0; rows.len()];
            pooling.backward(&spans, &wanted, 3, &mut d_rows);
            let mut y = vec![0.0; 9];
            check::gradient(&rows, &d_rows, |rows| {
                pooling.forward(&spans, rows, 3, &mut y);
                check::weighted(&y, &wanted)
            });
        }
    }
}
