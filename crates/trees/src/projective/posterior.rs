//! The outside pass at any range of scores: probabilities of items, from the top down.
//!
//! An item's probability is divided among its splits in proportion to their inside products,
//!
//! ```text
//! p(top) = 1        ω_k = a[k]·b[k] / Σ a·b        p(part of split k) += p(item) · ω_k
//! ```
//!
//! and the probability of an arc is that of its incomplete item. The shares of one item sum to 1 by
//! construction. So each word's heads have total probability 1, even if the inside values have lost
//! many digits to rounding. Items of probability 0 are skipped. Θ(n³).
//!
//! Over [`Tangent`] the same pass carries derivatives: the slope of an item's probability is
//! E\[G | item\] − E\[G\], so that of an arc gives Cov(1_arc, G) = μ·slope (Li & Eisner 2009).

use super::chart::{Chart, Item};
use crate::exp::exp;
use crate::weight::{Log, Semiring, Tangent};

/// An inside value whose probability can be divided among its splits.
pub(super) trait Shared: Semiring {
    type Share: Semiring + Copy;
    /// Writes ω for every split of an item whose value is not zero.
    fn shares(a: &[Self], b: &[Self], out: &mut Vec<Self::Share>);
    fn is_zero(share: &Self::Share) -> bool;
}

impl Shared for Log {
    type Share = f64;

    fn shares(a: &[Self], b: &[Self], out: &mut Vec<f64>) {
        let high = a.iter().zip(b).fold(f64::NEG_INFINITY, |high, (x, y)| high.max(x.0 + y.0));
        out.clear();
        out.extend(a.iter().zip(b).map(|(x, y)| exp(x.0 + y.0 - high)));
        let sum: f64 = out.iter().sum();
        out.iter_mut().for_each(|share| *share /= sum);
    }

    fn is_zero(share: &f64) -> bool {
        *share == 0.0
    }
}

impl Shared for Tangent<Log> {
    type Share = Tangent<f64>;

    fn shares(a: &[Self], b: &[Self], out: &mut Vec<Tangent<f64>>) {
        let high = a
            .iter()
            .zip(b)
            .fold(f64::NEG_INFINITY, |high, (x, y)| high.max(x.weight.0 + y.weight.0));
        out.clear();
        let mut sum = 0.0;
        let mut slopes = 0.0;
        out.extend(a.iter().zip(b).map(|(x, y)| {
            let share = exp(x.weight.0 + y.weight.0 - high);
            let slope = x.slope + y.slope;
            sum += share;
            slopes += share * slope;
            Tangent { weight: share, slope }
        }));
        let mean = slopes / sum;
        for share in out {
            *share = Tangent { weight: share.weight / sum, slope: share.slope - mean };
        }
    }

    fn is_zero(share: &Tangent<f64>) -> bool {
        share.weight == 0.0
    }
}

/// The probabilities of all items of a chart.
#[derive(Clone, Debug)]
pub(super) struct Posterior<P> {
    words: usize,
    complete: Vec<P>,
    incomplete: Vec<P>,
    shares: Vec<P>,
}

impl<P> Default for Posterior<P> {
    fn default() -> Self {
        Self { words: 0, complete: Vec::new(), incomplete: Vec::new(), shares: Vec::new() }
    }
}

impl<P: Semiring + Copy> Posterior<P> {
    /// Computes the probability of every item; the chart's total must not be zero.
    pub(super) fn outside<S: Shared<Share = P>>(&mut self, chart: &Chart<S>, words: usize) {
        self.outside_telling(chart, words, |_, _, _| ());
    }

    /// Computes the probability of every item, and calls `tell(item, split, probability)` for every
    /// split of probability above zero.
    pub(super) fn outside_telling<S: Shared<Share = P>>(
        &mut self,
        chart: &Chart<S>,
        words: usize,
        mut tell: impl FnMut(Item, usize, P),
    ) {
        self.words = words;
        let side = words + 1;
        for cells in [&mut self.complete, &mut self.incomplete] {
            cells.clear();
            cells.resize(side * side, P::zero());
        }
        *self.cell(chart.top()) = P::one();
        // Larger spans first: the probability of an item is final before it is divided.
        for j in (1..side).rev() {
            for i in 0..j {
                self.share_out(chart, Item::Complete { head: i, end: j }, &mut tell);
                self.share_out(chart, Item::Complete { head: j, end: i }, &mut tell);
                self.share_out(chart, Item::Incomplete { head: i, modifier: j }, &mut tell);
                self.share_out(chart, Item::Incomplete { head: j, modifier: i }, &mut tell);
            }
        }
    }

    /// The probability of an arc.
    pub(super) fn arc(&self, head: usize, modifier: usize) -> P {
        self.incomplete[head * (self.words + 1) + modifier]
    }

    fn cell(&mut self, item: Item) -> &mut P {
        let side = self.words + 1;
        match item {
            Item::Complete { head, end } => &mut self.complete[head * side + end],
            Item::Incomplete { head, modifier } => &mut self.incomplete[head * side + modifier],
        }
    }

    fn share_out<S: Shared<Share = P>>(
        &mut self,
        chart: &Chart<S>,
        item: Item,
        tell: &mut impl FnMut(Item, usize, P),
    ) {
        let whole = *self.cell(item);
        if S::is_zero(&whole) {
            return;
        }
        let (a, b) = chart.splits(item);
        let mut shares = std::mem::take(&mut self.shares);
        S::shares(a, b, &mut shares);
        for (k, share) in shares.iter().enumerate() {
            let part = whole.times(share);
            if !S::is_zero(&part) {
                tell(item, k, part);
                let (first, second) = item.parts(k);
                let cell = self.cell(first);
                *cell = cell.plus(&part);
                let cell = self.cell(second);
                *cell = cell.plus(&part);
            }
        }
        self.shares = shares;
    }
}
