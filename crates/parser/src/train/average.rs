//! The mean of the weights after several passes: steadier and better calibrated than the last.

use std::io;

use crate::tape::{State, Tape};

/// Adds up weights pass by pass, once half of the passes are done.
#[derive(Clone, Debug)]
pub(crate) struct Average {
    skip: usize,
    count: usize,
    sums: Vec<f32>,
}

impl Average {
    /// Of the passes after the first `passes / 2`.
    pub(crate) fn of_second_half(passes: usize) -> Self {
        Self { skip: passes / 2, count: 0, sums: Vec::new() }
    }

    /// Call after each pass.
    pub(crate) fn add<'a>(&mut self, weights: impl Iterator<Item = &'a f32>) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        self.count += 1;
        if self.count == 1 {
            self.sums = weights.map(|weight| 0.0 + weight).collect();
            return;
        }
        self.sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
    }

    /// The mean, if there is one yet.
    pub(crate) fn mean(&self) -> Option<Vec<f32>> {
        let count = self.count as f32;
        (self.count > 0).then(|| self.sums.iter().map(|sum| sum / count).collect())
    }
}

impl State for Average {
    fn state(&mut self, tape: &mut Tape<'_>) -> io::Result<()> {
        tape.value(&mut self.skip)?;
        tape.value(&mut self.count)?;
        tape.list(&mut self.sums)
    }
}
