//! Samples, shuffles and splits of sentences. The same seed gives the same result.
//!
//! - A *sample* of N sentences is drawn while reading, with N sentences in memory (reservoir
//!   sampling, Algorithm R of Vitter 1985): item t replaces a random one of the kept items with
//!   probability N/t.
//! - A *shuffle* is that of Fisher & Yates (1938), with all sentences in memory, see [`Pool`].
//! - A *split* cuts a sequence of units (sentences or documents) where the number of sentences
//!   before the cut is nearest to its share.
//!
//! The random numbers are those of PCG64 (O'Neill 2014) with one seed; integers below a bound use
//! the method of Lemire (2019). They are the same on all platforms and for all versions of
//! libraries.

use std::sync::Arc;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::{Error, Format, Sentence};

/// A generator of random choices. The same seed always gives the same choices.
#[derive(Clone, Debug)]
pub struct Choices(Pcg64);

impl Choices {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        Self(Pcg64::seed_from_u64(seed))
    }

    /// Returns a uniformly distributed integer below a bound; 0 if the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The upper half of a product is below the bound. It is uniform if the surplus lower
        // halves, those below 2⁶⁴ mod bound, are drawn again.
        let surplus = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(bound);
            if product as u64 >= surplus {
                return (product >> 64) as u64;
            }
        }
    }

    /// Puts items into a random order. Every order is equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// A random sample of a stream of items. Every subset of its size is equally likely.
///
/// ```
/// use tutte_treebank::select::Reservoir;
/// let mut sample = Reservoir::new(3, 42);
/// (0..1000).for_each(|item| sample.offer(|| item));
/// let sample = sample.into_items();
/// assert_eq!(sample.len(), 3);
/// assert!(sample.is_sorted()); // the order they came in
/// ```
#[derive(Clone, Debug)]
pub struct Reservoir<T> {
    size: usize,
    seen: u64,
    choices: Choices,
    /// The kept items, each with its number in the stream.
    kept: Vec<(u64, T)>,
}

impl<T> Reservoir<T> {
    /// Creates a sample of this size. It holds all items if they are fewer.
    pub fn new(size: usize, seed: u64) -> Self {
        // Not the random numbers of a shuffle with the same seed.
        Self { size, seen: 0, choices: Choices::new(!seed), kept: Vec::new() }
    }

    /// Offers the next item. It is created only if it enters the sample.
    pub fn offer(&mut self, item: impl FnOnce() -> T) {
        let number = self.seen;
        self.seen += 1;
        if self.kept.len() < self.size {
            self.kept.push((number, item()));
        } else if let Some(place) = self.kept.get_mut(self.choices.below(self.seen) as usize) {
            *place = (number, item());
        }
    }

    /// Number of items offered so far.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Returns the sample, in the order of the stream.
    pub fn into_items(mut self) -> Vec<T> {
        self.kept.sort_unstable_by_key(|&(number, _)| number);
        self.kept.into_iter().map(|(_, item)| item).collect()
    }
}

/// Splits a sequence of units with these sizes into parts with these shares. Returns the number of
/// units before the end of each part; the last one is the number of all units. Each cut is where
/// the sum of sizes before it is nearest to its share of the total, the earlier one if there are
/// two.
///
/// ```
/// use tutte_treebank::select::split;
/// // A hundred sentences; four documents.
/// assert_eq!(split(&[1; 100], &[80, 10, 10]), [80, 90, 100]);
/// assert_eq!(split(&[50, 25, 20, 5], &[80, 20]), [2, 4]);
/// ```
pub fn split(sizes: &[usize], shares: &[u32]) -> Vec<usize> {
    let whole: u128 = shares.iter().map(|&share| u128::from(share)).sum();
    let total: u128 = sizes.iter().map(|&size| size as u128).sum();
    let mut units = 0;
    let mut sum = 0u128;
    let mut share_sum = 0u128;
    let mut cuts: Vec<usize> = shares
        .iter()
        .map(|&share| {
            share_sum += u128::from(share);
            // The target is sum = total·share/whole. Both sides are multiplied by 2·whole, so that
            // nothing is rounded. A unit is added if its middle is before the target.
            while let Some(&size) = sizes.get(units) {
                if (2 * sum + size as u128) * whole >= 2 * total * share_sum {
                    break;
                }
                sum += size as u128;
                units += 1;
            }
            units
        })
        .collect();
    if let Some(last) = cuts.last_mut() {
        *last = sizes.len();
    }
    cuts
}

/// Sentences in compact form, for a shuffle. Takes little more memory than their text.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    text: String,
    sentences: Vec<Pooled>,
}

#[derive(Clone, Debug)]
struct Pooled {
    /// End of its text.
    end: usize,
    first_line: u64,
    format: Format,
    source: Arc<str>,
}

impl Pool {
    /// Adds a sentence.
    pub fn push(&mut self, sentence: &Sentence) {
        self.text.push_str(sentence.as_str());
        self.sentences.push(Pooled {
            end: self.text.len(),
            first_line: sentence.first_line,
            format: sentence.format,
            source: sentence.source.clone(),
        });
    }

    /// Number of sentences.
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// True if there are no sentences.
    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// Reads a sentence into an existing one. Returns `false` if there is no sentence with this
    /// number (from 0). Its lines are numbered as in its file, unless it was changed before it was
    /// added.
    ///
    /// # Errors
    /// None, since a sentence that was added can be read.
    pub fn read(&self, number: usize, sentence: &mut Sentence) -> Result<bool, Error> {
        let Some(pooled) = self.sentences.get(number) else { return Ok(false) };
        let start = number.checked_sub(1).map_or(0, |before| self.sentences[before].end);
        sentence.text.clear();
        sentence.text.push_str(&self.text[start..pooled.end]);
        sentence.parse_text(Some(pooled.format), &pooled.source, pooled.first_line)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
