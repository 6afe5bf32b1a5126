//! CHILDSEQ: the modifiers of a head on one side, as a sequence from the nearest to the farthest.
//!
//! The candidates on one side are 1 … K by distance; START = 0 and STOP = K+1. The factor's value is the
//! product of e^{S\[a\]\[b\]} over adjacent siblings a, b of the sequence, with START and STOP. In logs,
//!
//! ```text
//! in[b]  = ⊕_{a<b} f[a] + S[a][b]          f[0] = 0, f[b] = q_b + in[b]          ln Z = in[K+1]
//! out[a] = ⊕_{b>a} S[a][b] + g[b]          g[K+1] = 0, g[b] = q_b + out[b]
//! not[b] = ⊕_{a<b<c} f[a] + S[a][c] + g[c]                                       sequences without b
//! r_b    = in[b] + out[b] − not[b]          P(a, b adjacent) = exp(f[a] + S[a][b] + g[b] − ln Z)
//! ```
//!
//! O(K²) each way: for a fixed a, the sum over c > b grows as b falls. Both sides of a head are
//! independent, so each is a factor. Smith & Eisner (2008), §3; the adjoint is the same in reverse.

use super::algebra::{Algebra, log_odds, share};
use super::family::{Family, Scratch, Starts};
use crate::exp::exp;

/// Sequences of boolean cells, with (K+1)(K+2)/2 log-weights each: S\[0\]\[1\], S\[0\]\[2\], …, S\[K\]\[K+1\].
#[derive(Clone, Debug, Default)]
pub(super) struct ChildSequences {
    starts: Starts,
    cells: Vec<u32>,
    weight_starts: Starts,
    weights: Vec<f64>,
}

const NEVER: f64 = f64::NEG_INFINITY;

/// Place of S\[a\]\[b\] among the weights of a sequence of `count` candidates.
#[inline(always)]
fn place(count: usize, a: usize, b: usize) -> usize {
    // Row a holds b = a+1 …= count+1.
    a * (count + 1) - a * a.saturating_sub(1) / 2 + (b - a - 1)
}

/// One factor's share of the weights and messages.
struct Sequence<'a> {
    algebra: Algebra,
    q: &'a [f64],
    weights: &'a [f64],
}

impl Sequence<'_> {
    fn weight(&self, a: usize, b: usize) -> f64 {
        self.algebra.cooled(self.weights[place(self.q.len(), a, b)])
    }

    /// Fills `into` (in), f, out and g, of K+2 entries each. Returns ln Z.
    fn walk(&self, into: &mut [f64], f: &mut [f64], out: &mut [f64], g: &mut [f64]) -> f64 {
        let stop = self.q.len() + 1;
        f[0] = 0.0;
        for b in 1..=stop {
            into[b] = self.algebra.sum_of(b, |a| f[a] + self.weight(a, b));
            f[b] = into[b] + if b < stop { self.q[b - 1] } else { 0.0 };
        }
        g[stop] = 0.0;
        for a in (0..stop).rev() {
            out[a] = self.algebra.sum_of(stop - a, |after| {
                let b = a + 1 + after;
                self.weight(a, b) + g[b]
            });
            g[a] = out[a] + if a > 0 { self.q[a - 1] } else { 0.0 };
        }
        into[stop]
    }

    /// Fills `not`.
    fn skip(&self, f: &[f64], g: &[f64], not: &mut [f64]) {
        let stop = self.q.len() + 1;
        not.fill(NEVER);
        for a in 0..stop {
            let mut beyond = NEVER;
            for b in (a + 1..stop).rev() {
                beyond = self.algebra.add(beyond, self.weight(a, b + 1) + g[b + 1]);
                not[b] = self.algebra.add(not[b], f[a] + beyond);
            }
        }
    }
}

impl ChildSequences {
    /// Number of factors.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.cells.clear();
        self.weight_starts.clear();
        self.weights.clear();
    }

    /// Adds a factor over cells from the nearest to the farthest, and returns its number. Candidates of
    /// `log_weight` are 0 for START, then 1 …= K, and K+1 for STOP.
    pub(super) fn push(
        &mut self,
        cells: impl IntoIterator<Item = u32>,
        mut log_weight: impl FnMut(usize, usize) -> f64,
    ) -> usize {
        let before = self.cells.len();
        self.cells.extend(cells);
        self.starts.push(self.cells.len());
        let stop = self.cells.len() - before + 1;
        for a in 0..stop {
            self.weights.extend((a + 1..=stop).map(|b| log_weight(a, b)));
        }
        self.weight_starts.push(self.weights.len());
        self.starts.len() - 1
    }

    /// Removes the last factor.
    pub(super) fn pop(&mut self) {
        self.cells.truncate(self.starts.pop());
        self.weights.truncate(self.weight_starts.pop());
    }

    /// True if the arcs that hold form a sequence with a log-weight of −∞.
    pub(super) fn forbids(&self, factor: usize, holds: impl Fn(u32) -> bool) -> bool {
        let cells = &self.cells[self.starts.range(factor)];
        let weights = &self.weights[self.weight_range(factor)];
        let chosen = (1..=cells.len()).filter(|&at| holds(cells[at - 1]));
        let mut before = 0;
        chosen.chain([cells.len() + 1]).any(|at| {
            let weight = weights[place(cells.len(), before, at)];
            before = at;
            weight == NEVER
        })
    }

    pub(super) fn weights_mut(&mut self) -> &mut [f64] {
        &mut self.weights
    }

    pub(super) fn weight_range(&self, factor: usize) -> std::ops::Range<usize> {
        self.weight_starts.range(factor)
    }

    fn sequence<'a>(&'a self, algebra: Algebra, q: &'a [f64], factor: usize) -> Sequence<'a> {
        let q = &q[self.starts.range(factor)];
        Sequence { algebra, q, weights: &self.weights[self.weight_range(factor)] }
    }
}

impl Family for ChildSequences {
    fn cells(&self) -> &[u32] {
        &self.cells
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn update(&self, algebra: Algebra, q: &[f64], r: &mut [f64], scratch: &mut Scratch) {
        for factor in 0..self.starts.len() {
            let sequence = self.sequence(algebra, q, factor);
            let [into, f, out, g, not] = scratch.arrays([sequence.q.len() + 2; 5], 0.0);
            sequence.walk(into, f, out, g);
            sequence.skip(f, g, not);
            for (i, r) in r[self.starts.range(factor)].iter_mut().enumerate() {
                *r = log_odds(into[i + 1] + out[i + 1], not[i + 1]);
            }
        }
    }

    fn log_partition(&self, algebra: Algebra, q: &[f64], scratch: &mut Scratch) -> f64 {
        let term = |factor: usize| {
            let sequence = self.sequence(algebra, q, factor);
            let [into, f, out, g] = scratch.arrays([sequence.q.len() + 2; 4], 0.0);
            sequence.walk(into, f, out, g)
        };
        (0..self.starts.len()).map(term).sum()
    }

    fn expectations(&self, algebra: Algebra, q: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        for factor in 0..self.starts.len() {
            let sequence = self.sequence(algebra, q, factor);
            let count = sequence.q.len();
            let expected = &mut out[self.weight_range(factor)];
            let [into, f, out, g] = scratch.arrays([count + 2; 4], 0.0);
            let log_z = sequence.walk(into, f, out, g);
            for a in 0..=count {
                for b in a + 1..=count + 1 {
                    expected[place(count, a, b)] =
                        share(f[a] + sequence.weight(a, b) + g[b], log_z);
                }
            }
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
        for factor in 0..self.starts.len() {
            let range = self.starts.range(factor);
            let sequence = self.sequence(algebra, q, factor);
            let count = sequence.q.len();
            let stop = count + 1;
            let r_bar = &r_bar[range.clone()];
            let q_bar = &mut q_bar[range];
            let weight_bar = &mut weight_bar[self.weight_range(factor)];
            let [into, f, out, g, not, f_bar, g_bar] = scratch.arrays([count + 2; 7], 0.0);
            sequence.walk(into, f, out, g);
            sequence.skip(f, g, not);
            // Sequences that skip b: a < b < c.
            for a in 0..stop {
                // Σ_b −r̄_b·e^{low − not[b]} over a < b < c, with low the least not[b] so far.
                let mut sum = 0.0;
                let mut low = f64::INFINITY;
                for c in a + 2..=stop {
                    let b = c - 1;
                    if not[b] == NEVER {
                        continue;
                    }
                    if not[b] < low {
                        sum *= if low.is_finite() { exp(not[b] - low) } else { 0.0 };
                        low = not[b];
                    }
                    sum -= r_bar[b - 1] * exp(low - not[b]);
                    let p = sum * share(f[a] + sequence.weight(a, c) + g[c], low);
                    f_bar[a] += p;
                    g_bar[c] += p;
                    weight_bar[place(count, a, c)] += p;
                }
            }
            // out, from START on: g[a] is complete when all before it are done.
            for a in 1..stop {
                let bar = g_bar[a] + r_bar[a - 1];
                q_bar[a - 1] += g_bar[a];
                for b in a + 1..=stop {
                    let weight = sequence.weight(a, b);
                    let p = bar * share(weight + g[b], out[a]);
                    g_bar[b] += p;
                    weight_bar[place(count, a, b)] += p;
                }
            }
            // in, from STOP back.
            for b in (1..stop).rev() {
                let bar = f_bar[b] + r_bar[b - 1];
                q_bar[b - 1] += f_bar[b];
                for a in 0..b {
                    let p = bar * share(f[a] + sequence.weight(a, b), into[b]);
                    f_bar[a] += p;
                    weight_bar[place(count, a, b)] += p;
                }
            }
        }
    }
}
