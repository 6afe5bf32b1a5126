//! NOCROSS: whether the arcs into two words cross.
//!
//! For words j and l, the factor's value is x = e^ℓ if i → j and k → l cross, 1 if they do not, and 0
//! unless each word has exactly one head. With C_i = Σ q̄_k over the heads k of l whose arc crosses i → j,
//! R_i over the others, and q̄ = e^q,
//!
//! ```text
//! N_i = x·C_i + R_i       β_i = q̄_i·N_i       r_i = ln N_i − ln Σ_{i'≠i} β_i'       ln Z = ln Σ_i β_i
//! ```
//!
//! and in the same way for the heads of l. The arc k → l crosses i → j if k lies outside the span of
//! i → j and l inside, or the other way round. One end of the span, j, is fixed. So C and R are sums from
//! an end of the list or from j up to some head: running sums, O(n) for both words, never a difference.
//! Smith & Eisner (2008), §3.
//!
//! Every factor repeats that its words have one head, which TREE says too. k such factors on one word
//! multiply a common shift of its messages by −k in each iteration. TREE's messages do not depend on that
//! shift, but those of other families do.
//!
//! Weights are scaled by each word's best head and added as ordinary numbers. If their range is too
//! large for that, or in max-product, all pairs of heads are enumerated in logarithms instead, O(n²).

use super::algebra::{Algebra, Sum, log_odds, share};
use super::family::{Family, Scratch, Starts};
use crate::exp::exp;

/// Factors over the arcs into two words, with one log-weight each.
#[derive(Clone, Debug, Default)]
pub(super) struct NoCrossings {
    starts: Starts,
    /// Arcs into the first word, then arcs into the second, each by head.
    cells: Vec<u32>,
    /// Head of each slot.
    heads: Vec<u32>,
    /// The two words, and the number of slots of the first.
    words: Vec<(u32, u32, u32)>,
    weights: Vec<f64>,
}

const NEVER: f64 = f64::NEG_INFINITY;
/// Sums below this are computed again in logarithms.
const SMALLEST: f64 = 1e-200;
/// Largest log-weight whose exponential is used.
const MODERATE: f64 = 300.0;

/// The arcs into one word of a factor, as seen from it.
#[derive(Clone, Copy, Debug)]
struct Side<'a> {
    word: u32,
    heads: &'a [u32],
    q: &'a [f64],
}

impl Side<'_> {
    fn highest(&self) -> f64 {
        self.q.iter().fold(NEVER, |high, &q| high.max(q))
    }
}

/// True if the arcs i → j and k → l cross.
pub(super) fn crosses(i: u32, j: u32, k: u32, l: u32) -> bool {
    let (low, high) = (i.min(j), i.max(j));
    if low < l && l < high { k < low || k > high } else { l != i && low < k && k < high }
}

/// Writes Σ of the values of `other`'s heads that cross each arc of `own`, and Σ of those that do not.
/// `before`, `after` and `near` are scratch for one entry more than there are values.
fn split_sums(
    own: Side<'_>,
    other: Side<'_>,
    values: &[f64],
    [before, after, near]: [&mut [f64]; 3],
    crossing: &mut [f64],
    rest: &mut [f64],
) {
    let (j, l) = (own.word, other.word);
    let count = values.len();
    // Ranks of j among the other word's heads: how many are below it, and how many up to it.
    let below_j = other.heads.partition_point(|&head| head < j);
    let to_j = other.heads.partition_point(|&head| head <= j);
    before[0] = 0.0;
    for t in 0..count {
        before[t + 1] = before[t] + values[t];
    }
    after[count] = 0.0;
    for t in (0..count).rev() {
        after[t] = after[t + 1] + values[t];
    }
    // Between rank t and j.
    near[below_j] = 0.0;
    near[to_j] = 0.0;
    for t in (0..below_j).rev() {
        near[t] = near[t + 1] + values[t];
    }
    for t in to_j..count {
        near[t + 1] = near[t] + values[t];
    }
    let at_j = if to_j > below_j { values[below_j] } else { 0.0 };
    let mut below_i = 0;
    for (index, &i) in own.heads.iter().enumerate() {
        while below_i < count && other.heads[below_i] < i {
            below_i += 1;
        }
        let to_i = below_i + usize::from(below_i < count && other.heads[below_i] == i);
        // k strictly inside the span; inside or at an end; strictly outside; outside or at an end.
        let [inside, closed, outside, not_inside] = if i < j {
            let closed = near[below_i] + at_j;
            [near[to_i], closed, before[below_i] + after[to_j], before[to_i] + after[below_j]]
        } else {
            let closed = near[to_i] + at_j;
            [near[below_i], closed, before[below_j] + after[to_i], before[to_j] + after[below_i]]
        };
        (crossing[index], rest[index]) = if i.min(j) < l && l < i.max(j) {
            (outside, closed)
        } else if l == i {
            (0.0, before[count])
        } else {
            (inside, not_inside)
        };
    }
}

/// Writes Σ of all values but one, for each.
fn leave_one_out(values: impl Fn(usize) -> f64, others: &mut [f64]) {
    let mut sum = 0.0;
    for (index, other) in others.iter_mut().enumerate() {
        *other = sum;
        sum += values(index);
    }
    sum = 0.0;
    for (index, other) in others.iter_mut().enumerate().rev() {
        *other += sum;
        sum += values(index);
    }
}

/// The sums of one side as ordinary numbers, scaled.
struct Linear<'a> {
    /// q̄ of the own heads.
    own: &'a mut [f64],
    /// q̄ of the other word's heads.
    other: &'a mut [f64],
    crossing: &'a mut [f64],
    /// N.
    sums: &'a mut [f64],
    /// Σ β without each head.
    without: &'a mut [f64],
    running: [&'a mut [f64]; 3],
    /// Scratch of the adjoint, by own head and by the other word's heads.
    back: &'a mut [f64],
    others: [&'a mut [f64]; 2],
}

impl<'a> Linear<'a> {
    /// Fills the sums; `None` if the range of the numbers is too large.
    fn new(own: Side<'_>, other: Side<'_>, weight: f64, scratch: &'a mut Scratch) -> Option<Self> {
        if weight.abs() > MODERATE {
            return None;
        }
        let (count, others) = (own.q.len(), other.q.len());
        let more = count.max(others) + 1;
        let [
            ours,
            theirs,
            crossing,
            sums,
            without,
            before,
            after,
            near,
            back,
            cross_back,
            rest_back,
        ] = scratch.arrays(
            [count, others, count, count, count, more, more, more, count, others, others],
            0.0,
        );
        for (side, values) in [(own, &mut *ours), (other, &mut *theirs)] {
            let high = side.highest();
            values.iter_mut().zip(side.q).for_each(|(value, q)| *value = exp(q - high));
        }
        split_sums(own, other, theirs, [&mut *before, &mut *after, &mut *near], crossing, sums);
        let x = exp(weight);
        sums.iter_mut().zip(crossing.iter()).for_each(|(sum, crossing)| *sum += x * crossing);
        leave_one_out(|index| ours[index] * sums[index], without);
        let is_safe = |sums: &[f64]| sums.iter().all(|&sum| sum >= SMALLEST);
        (is_safe(sums) && is_safe(without)).then_some(Self {
            own: ours,
            other: theirs,
            crossing,
            sums,
            without,
            running: [before, after, near],
            back,
            others: [cross_back, rest_back],
        })
    }
}

/// These sums in logarithms, from all pairs of heads: N, then Σ β without each head.
fn enumerate(
    algebra: Algebra,
    own: Side<'_>,
    other: Side<'_>,
    weight: f64,
    sums: &mut [f64],
    without: &mut [f64],
) {
    for (sum, &i) in sums.iter_mut().zip(own.heads) {
        *sum =
            algebra.sum_of(other.q.len(), |k| other.q[k] + pair_weight(own, other, i, k, weight));
    }
    for (index, without) in without.iter_mut().enumerate() {
        *without =
            algebra.sum_of(own.q.len(), |i| if i == index { NEVER } else { own.q[i] + sums[i] });
    }
}

fn pair_weight(own: Side<'_>, other: Side<'_>, i: u32, k: usize, weight: f64) -> f64 {
    if crosses(i, own.word, other.heads[k], other.word) { weight } else { 0.0 }
}

impl NoCrossings {
    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.cells.clear();
        self.heads.clear();
        self.words.clear();
        self.weights.clear();
    }

    /// Adds a factor over the arcs (head, cell) into two words, each by head; returns its number.
    pub(super) fn push(
        &mut self,
        (j, into_j): (u32, impl Iterator<Item = (u32, u32)>),
        (l, into_l): (u32, impl Iterator<Item = (u32, u32)>),
        log_weight: f64,
    ) -> usize {
        let start = self.cells.len();
        for (head, cell) in into_j {
            self.heads.push(head);
            self.cells.push(cell);
        }
        self.words.push((j, l, (self.cells.len() - start) as u32));
        for (head, cell) in into_l {
            self.heads.push(head);
            self.cells.push(cell);
        }
        self.starts.push(self.cells.len());
        self.weights.push(log_weight);
        self.weights.len() - 1
    }

    /// True if a factor has log-weight −∞ and the arcs that hold cross.
    pub(super) fn forbids(&self, factor: usize, holds: impl Fn(u32) -> bool) -> bool {
        let range = self.starts.range(factor);
        let (j, l, count) = self.words[factor];
        let split = range.start + count as usize;
        let head = |mut slots: std::ops::Range<usize>| {
            slots.find(|&slot| holds(self.cells[slot])).map(|slot| self.heads[slot])
        };
        let heads = head(range.start..split).zip(head(split..range.end));
        self.weights[factor] == NEVER && heads.is_some_and(|(i, k)| crosses(i, j, k, l))
    }

    pub(super) fn weights_mut(&mut self) -> &mut [f64] {
        &mut self.weights
    }

    /// The two sides of a factor, and the slots where each begins.
    fn sides<'a>(&'a self, q: &'a [f64], factor: usize) -> [(Side<'a>, usize); 2] {
        let range = self.starts.range(factor);
        let (j, l, count) = self.words[factor];
        let split = range.start + count as usize;
        let side = |word: u32, from: usize, to: usize| {
            (Side { word, heads: &self.heads[from..to], q: &q[from..to] }, from)
        };
        [side(j, range.start, split), side(l, split, range.end)]
    }

    /// Returns ln Z of a factor and the logarithm of the part that crosses.
    fn total(&self, algebra: Algebra, q: &[f64], factor: usize, scratch: &mut Scratch) -> [f64; 2] {
        let [(own, _), (other, _)] = self.sides(q, factor);
        let weight = algebra.cooled(self.weights[factor]);
        if algebra.sum == Sum::All
            && let Some(linear) = Linear::new(own, other, weight, scratch)
        {
            let all = linear.own.iter().zip(linear.sums.iter()).map(|(q, n)| q * n).sum::<f64>();
            let cross = linear.own.iter().zip(linear.crossing.iter()).map(|(q, c)| q * c);
            let scale = own.highest() + other.highest();
            return [all.ln() + scale, weight + cross.sum::<f64>().ln() + scale];
        }
        let cross_or_all = |only_crossing: bool| {
            algebra.sum_of(own.q.len() * other.q.len(), |pair| {
                let (i, k) = (pair / other.q.len(), pair % other.q.len());
                let cross = crosses(own.heads[i], own.word, other.heads[k], other.word);
                match (cross, only_crossing) {
                    (true, _) => own.q[i] + other.q[k] + weight,
                    (false, false) => own.q[i] + other.q[k],
                    (false, true) => NEVER,
                }
            })
        };
        [cross_or_all(false), cross_or_all(true)]
    }
}

impl Family for NoCrossings {
    fn cells(&self) -> &[u32] {
        &self.cells
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn update(&self, algebra: Algebra, q: &[f64], r: &mut [f64], scratch: &mut Scratch) {
        for factor in 0..self.weights.len() {
            let weight = algebra.cooled(self.weights[factor]);
            let [one, two] = self.sides(q, factor);
            for ((own, start), (other, _)) in [(one, two), (two, one)] {
                let r = &mut r[start..start + own.q.len()];
                if algebra.sum == Sum::All
                    && let Some(linear) = Linear::new(own, other, weight, scratch)
                {
                    let high = own.highest();
                    for (index, r) in r.iter_mut().enumerate() {
                        *r = (linear.sums[index] / linear.without[index]).ln() - high;
                    }
                    continue;
                }
                let [sums, without] = scratch.arrays([own.q.len(); 2], 0.0);
                enumerate(algebra, own, other, weight, sums, without);
                for (index, r) in r.iter_mut().enumerate() {
                    *r = log_odds(sums[index], without[index]);
                }
            }
        }
    }

    fn log_partition(&self, algebra: Algebra, q: &[f64], scratch: &mut Scratch) -> f64 {
        (0..self.weights.len()).map(|factor| self.total(algebra, q, factor, scratch)[0]).sum()
    }

    fn expectations(&self, algebra: Algebra, q: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        for (factor, out) in out.iter_mut().enumerate() {
            let [all, crossing] = self.total(algebra, q, factor, scratch);
            *out = share(crossing, all);
        }
    }

    fn adjoint(
        &self,
        algebra: Algebra,
        q: &[f64],
        r_bar: &[f64],
        q_bar: &mut [f64],
        weight_bar: &mut [f64],
        scratch: &mut Scratch,
    ) {
        for factor in 0..self.weights.len() {
            let weight = algebra.cooled(self.weights[factor]);
            let [one, two] = self.sides(q, factor);
            for ((own, start), (other, other_start)) in [(one, two), (two, one)] {
                let r_bar = &r_bar[start..start + own.q.len()];
                let starts = (start, other_start);
                let linear = Linear::new(own, other, weight, scratch);
                weight_bar[factor] += match linear {
                    Some(linear) => linear.reverse(own, other, weight, r_bar, starts, q_bar),
                    None => reverse_pairs(own, other, weight, r_bar, starts, q_bar, scratch),
                };
            }
        }
    }
}

impl Linear<'_> {
    /// Adds the adjoints of one side's messages to `q_bar`; returns that of the weight.
    ///
    /// ```text
    /// h_i = −Σ_{i'≠i} r̄_i' / Σ_{i''≠i'} β_i''       to q_i: β_i·h_i       to N_i: r̄_i/N_i + e^{q_i}·h_i
    /// ```
    fn reverse(
        self,
        own: Side<'_>,
        other: Side<'_>,
        weight: f64,
        r_bar: &[f64],
        (start, other_start): (usize, usize),
        q_bar: &mut [f64],
    ) -> f64 {
        let x = exp(weight);
        let mut weight_bar = 0.0;
        leave_one_out(|index| -r_bar[index] / self.without[index], self.back);
        for index in 0..own.q.len() {
            let h = self.back[index];
            q_bar[start + index] += self.own[index] * self.sums[index] * h;
            let bar = r_bar[index] / self.sums[index] + self.own[index] * h;
            weight_bar += bar * x * self.crossing[index];
            self.sums[index] = bar;
        }
        // Crossing is symmetric, so the same sums lead back to the other word's heads.
        let [crossing, rest] = self.others;
        split_sums(other, own, self.sums, self.running, crossing, rest);
        for index in 0..other.q.len() {
            q_bar[other_start + index] += self.other[index] * (x * crossing[index] + rest[index]);
        }
        weight_bar
    }
}

/// Like [`Linear::reverse`] for any range: all terms are shares of a sum, at most 1 in size.
fn reverse_pairs(
    own: Side<'_>,
    other: Side<'_>,
    weight: f64,
    r_bar: &[f64],
    (start, other_start): (usize, usize),
    q_bar: &mut [f64],
    scratch: &mut Scratch,
) -> f64 {
    let count = own.q.len();
    let [sums, without] = scratch.arrays([count; 2], 0.0);
    enumerate(Algebra::PLAIN, own, other, weight, sums, without);
    let mut weight_bar = 0.0;
    for index in 0..count {
        let rivals = (0..count).filter(|&rival| rival != index);
        let beta = own.q[index] + sums[index];
        let lost: f64 = rivals.map(|rival| r_bar[rival] * share(beta, without[rival])).sum();
        q_bar[start + index] -= lost;
        let bar = r_bar[index] - lost;
        for k in 0..other.q.len() {
            let pair = pair_weight(own, other, own.heads[index], k, weight);
            let p = bar * share(other.q[k] + pair, sums[index]);
            q_bar[other_start + k] += p;
            weight_bar += if crosses(own.heads[index], own.word, other.heads[k], other.word) {
                p
            } else {
                0.0
            };
        }
    }
    weight_bar
}
