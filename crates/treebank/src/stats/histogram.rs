//! Histograms of whole numbers.

use std::collections::BTreeMap;

/// Number of occurrences of each value, in ascending order of values.
///
/// ```
/// use tutte_treebank::stats::Histogram;
/// let lengths: Histogram = [3, 5, 3, 8].into_iter().collect();
/// assert_eq!((lengths.total(), lengths.count(3), lengths.max()), (4, 2, Some(8)));
/// assert_eq!((lengths.mean(), lengths.median()), (Some(4.75), Some(4.0)));
/// assert_eq!(lengths.within(4..=8), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct Histogram {
    counts: BTreeMap<usize, u64>,
}

impl Histogram {
    /// Adds one occurrence of a value.
    pub fn add(&mut self, value: usize) {
        self.add_many(value, 1);
    }

    pub(super) fn add_many(&mut self, value: usize, count: u64) {
        *self.counts.entry(value).or_insert(0) += count;
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        other.iter().for_each(|(value, count)| self.add_many(value, count));
    }

    /// Returns the values in ascending order with their counts.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> + '_ {
        self.counts.iter().map(|(&value, &count)| (value, count))
    }

    /// Number of occurrences of a value.
    pub fn count(&self, value: usize) -> u64 {
        self.counts.get(&value).copied().unwrap_or(0)
    }

    /// Number of occurrences of the values in a range.
    pub fn within(&self, values: std::ops::RangeInclusive<usize>) -> u64 {
        if values.is_empty() {
            return 0;
        }
        self.counts.range(values).map(|(_, count)| count).sum()
    }

    /// Number of all occurrences.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Sum over all occurrences.
    pub fn sum(&self) -> u64 {
        self.iter().map(|(value, count)| value as u64 * count).sum()
    }

    /// The smallest value.
    pub fn min(&self) -> Option<usize> {
        self.counts.keys().next().copied()
    }

    /// The largest value.
    pub fn max(&self) -> Option<usize> {
        self.counts.keys().next_back().copied()
    }

    /// The arithmetic mean.
    pub fn mean(&self) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| self.sum() as f64 / total as f64)
    }

    /// The median. For an even number of values, the mean of the two middle ones.
    pub fn median(&self) -> Option<f64> {
        let total = self.total();
        let upper = self.nth(total / 2)?;
        let lower = if total.is_multiple_of(2) { self.nth(total / 2 - 1)? } else { upper };
        Some((lower as f64 + upper as f64) / 2.0)
    }

    /// Returns the value at a position, from 0, among all occurrences in ascending order.
    fn nth(&self, place: u64) -> Option<usize> {
        let mut seen = 0;
        self.iter().find_map(|(value, count)| {
            seen += count;
            (seen > place).then_some(value)
        })
    }
}

impl FromIterator<usize> for Histogram {
    fn from_iter<I: IntoIterator<Item = usize>>(values: I) -> Self {
        let mut histogram = Self::default();
        values.into_iter().for_each(|value| histogram.add(value));
        histogram
    }
}
