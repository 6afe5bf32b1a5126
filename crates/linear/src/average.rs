//! Means of weights over a training: steadier and better calibrated than the last weights.

use std::io;

use crate::codec::{Checkpointed, Codec, invalid};

/// Mean of the weights after each pass of the second half of a training.
#[derive(Clone, Debug)]
pub struct Average {
    skip: usize,
    count: usize,
    sums: Vec<f32>,
}

impl Average {
    /// Skips the first `passes / 2` passes.
    pub fn of_second_half(passes: usize) -> Self {
        Self { skip: passes / 2, count: 0, sums: Vec::new() }
    }

    /// Adds the weights after a pass. Call it after every pass.
    pub fn add<'a>(&mut self, weights: impl Iterator<Item = &'a f32>) {
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

    /// Returns the mean, once a pass has been added.
    pub fn mean(&self) -> Option<Vec<f32>> {
        let count = self.count as f32;
        (self.count > 0).then(|| self.sums.iter().map(|sum| sum / count).collect())
    }
}

impl Checkpointed for Average {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        let to_skip = self.skip;
        codec.value(&mut self.skip)?;
        codec.value(&mut self.count)?;
        // The first half is skipped, so the second has at most one pass more.
        if let Codec::Read(_) = codec
            && (self.skip > to_skip || self.count > to_skip + 1)
        {
            return Err(invalid(format!("a mean of {} passes, {} to skip", self.count, self.skip)));
        }
        codec.list(&mut self.sums)
    }
}

/// Mean of the weights after each example, at a cost only where weights move.
///
/// If the weights move by δ_i at example i = 0, 1, …, t − 1, the mean is w − Σ i·δ_i / t.
#[derive(Clone, Debug)]
pub struct LazyAverage {
    /// Σ i·δ_i.
    sums: Vec<f64>,
    /// Number of examples seen.
    seen: f64,
}

impl LazyAverage {
    /// Starts for a table of `cells` weights.
    pub fn new(cells: usize) -> Self {
        Self { sums: vec![0.0; cells], seen: 0.0 }
    }

    /// Records that a weight has moved.
    #[inline]
    pub fn moved(&mut self, cell: usize, by: f64) {
        self.sums[cell] += self.seen * by;
    }

    /// Ends an example.
    pub fn end_example(&mut self) {
        self.seen += 1.0;
    }

    /// Returns the mean, given the current weights.
    pub fn mean<'a>(&self, weights: impl Iterator<Item = &'a f32>) -> Vec<f32> {
        let seen = self.seen.max(1.0);
        let mean = |(weight, sum): (&f32, &f64)| (f64::from(*weight) - sum / seen) as f32;
        weights.zip(&self.sums).map(mean).collect()
    }
}

impl Checkpointed for LazyAverage {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        codec.table(&mut self.sums)?;
        codec.value(&mut self.seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_more_passes_than_a_training_has_is_refused() {
        let mut bytes = Vec::new();
        let mut average = Average::of_second_half(5);
        (0..5).for_each(|_| average.add([1.0, 2.0].iter()));
        average.checkpoint(&mut Codec::Write(&mut bytes)).unwrap();
        let read =
            |bytes: &[u8]| Average::of_second_half(5).checkpoint(&mut Codec::Read(&mut &bytes[..]));
        assert!(read(&bytes).is_ok());
        for (at, value) in [(0, 3_usize), (8, 4), (8, usize::MAX)] {
            let mut damaged = bytes.clone();
            damaged[at..at + 8].copy_from_slice(&value.to_ne_bytes());
            assert!(read(&damaged).is_err(), "{value} at {at}");
        }
    }
}
