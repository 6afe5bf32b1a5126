//! TRIGRAM: a chain over the tags of all words.
//!
//! The factor's value is Π_i e^{S\[t_{i−2}\]\[t_{i−1}\]\[t_i\]} over the words i = 1 … n, with START before the
//! first. Forward and backward sums over pairs of adjacent tags b, c, in logs:
//!
//! ```text
//! α_i(b,c) = ⊕_a α'_{i−1}(a,b) + S[a][b][c]        α'_i(b,c) = q_i(c) + α_i(b,c)
//! ω_i(b,c) = ⊕_d S[b][c][d] + q_{i+1}(d) + ω_{i+1}(c,d)        ω_n = 0
//! r_i(c)   = ⊕_b α_i(b,c) + ω_i(b,c)                            ln Z = ⊕_{b,c} α'_n(b,c)
//! ```
//!
//! O(n g³) for g tags. Messages are shifted so that the largest is 0.

use super::algebra::{Algebra, share};
use super::family::{Family, Scratch, Starts};
use super::tag_link::normalise;

/// Chains of tag variables that all have the same number of tags g. A chain has (g+1)·(g+1)·g log-weights
/// S\[a\]\[b\]\[c\]; a, b = g is START.
#[derive(Clone, Debug, Default)]
pub(super) struct Trigrams {
    starts: Starts,
    cells: Vec<u32>,
    tags: Vec<u32>,
    weight_starts: Starts,
    weights: Vec<f64>,
}

const NEVER: f64 = f64::NEG_INFINITY;

/// One chain.
struct Chain<'a> {
    algebra: Algebra,
    /// Number of tags.
    g: usize,
    /// Number of words.
    n: usize,
    q: &'a [f64],
    weights: &'a [f64],
}

impl Chain<'_> {
    fn place(&self, a: usize, b: usize, c: usize) -> usize {
        (a * (self.g + 1) + b) * self.g + c
    }

    fn weight(&self, a: usize, b: usize, c: usize) -> f64 {
        self.algebra.cooled(self.weights[self.place(a, b, c)])
    }

    /// Place of the pair (b, c) at word i, counted from 0; b may be START.
    fn pair(&self, i: usize, b: usize, c: usize) -> usize {
        (i * (self.g + 1) + b) * self.g + c
    }

    /// Tags that word i may have before it: START alone for the first word.
    fn before(&self, i: usize) -> std::ops::Range<usize> {
        if i == 0 { self.g..self.g + 1 } else { 0..self.g }
    }

    fn size(&self) -> usize {
        self.n * (self.g + 1) * self.g
    }

    /// α'_{i−1}(a,b) + S\[a\]\[b\]\[c\].
    fn step(&self, alpha: &[f64], i: usize, a: usize, b: usize, c: usize) -> f64 {
        if i == 0 {
            return self.weight(a, b, c);
        }
        let q = self.q[(i - 1) * self.g + b];
        alpha[self.pair(i - 1, a, b)] + q + self.weight(a, b, c)
    }

    /// Tags two before word i.
    fn before_that(&self, i: usize) -> std::ops::Range<usize> {
        self.before(i.saturating_sub(1))
    }

    fn onward(&self, omega: &[f64], i: usize, b: usize, c: usize, d: usize) -> f64 {
        let q = self.q[(i + 1) * self.g + d];
        self.weight(b, c, d) + q + omega[self.pair(i + 1, c, d)]
    }

    fn walk(&self, alpha: &mut [f64], omega: &mut [f64]) -> f64 {
        alpha.fill(NEVER);
        omega.fill(0.0);
        for i in 0..self.n {
            for b in self.before(i) {
                for c in 0..self.g {
                    let that = self.before_that(i);
                    let sum = self
                        .algebra
                        .sum_of(that.len(), |a| self.step(alpha, i, that.start + a, b, c));
                    alpha[self.pair(i, b, c)] = sum;
                }
            }
        }
        for i in (0..self.n.saturating_sub(1)).rev() {
            for b in self.before(i) {
                for c in 0..self.g {
                    let sum = self.algebra.sum_of(self.g, |d| self.onward(omega, i, b, c, d));
                    omega[self.pair(i, b, c)] = sum;
                }
            }
        }
        let last = self.n - 1;
        let before = self.before(last);
        self.algebra.sum_of(before.len() * self.g, |at| {
            let (b, c) = (before.start + at / self.g, at % self.g);
            alpha[self.pair(last, b, c)] + self.q[last * self.g + c]
        })
    }

    fn message(&self, alpha: &[f64], omega: &[f64], i: usize, c: usize) -> f64 {
        let before = self.before(i);
        self.algebra.sum_of(before.len(), |b| {
            let pair = self.pair(i, before.start + b, c);
            alpha[pair] + omega[pair]
        })
    }
}

impl Trigrams {
    /// Number of factors.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.cells.clear();
        self.tags.clear();
        self.weight_starts.clear();
        self.weights.clear();
    }

    /// Adds a chain over cells, `tags` for each word and at least one word; returns its number.
    pub(super) fn push(
        &mut self,
        cells: std::ops::Range<u32>,
        tags: usize,
        log_weights: &[f64],
    ) -> usize {
        self.cells.extend(cells);
        self.starts.push(self.cells.len());
        self.tags.push(tags as u32);
        self.weights.extend_from_slice(log_weights);
        self.weight_starts.push(self.weights.len());
        self.starts.len() - 1
    }

    pub(super) fn weights_mut(&mut self) -> &mut [f64] {
        &mut self.weights
    }

    pub(super) fn weight_range(&self, factor: usize) -> std::ops::Range<usize> {
        self.weight_starts.range(factor)
    }

    fn chain<'a>(&'a self, algebra: Algebra, q: &'a [f64], factor: usize) -> Chain<'a> {
        let q = &q[self.starts.range(factor)];
        let g = self.tags[factor] as usize;
        let weights = &self.weights[self.weight_range(factor)];
        Chain { algebra, g, n: q.len() / g, q, weights }
    }
}

impl Family for Trigrams {
    fn cells(&self) -> &[u32] {
        &self.cells
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn update(&self, algebra: Algebra, q: &[f64], r: &mut [f64], scratch: &mut Scratch) {
        for factor in 0..self.starts.len() {
            let chain = self.chain(algebra, q, factor);
            let [alpha, omega] = scratch.arrays([chain.size(); 2], 0.0);
            chain.walk(alpha, omega);
            let r = &mut r[self.starts.range(factor)];
            for (i, r) in r.chunks_exact_mut(chain.g).enumerate() {
                r.iter_mut().enumerate().for_each(|(c, r)| *r = chain.message(alpha, omega, i, c));
                normalise(r);
            }
        }
    }

    fn log_partition(&self, algebra: Algebra, q: &[f64], scratch: &mut Scratch) -> f64 {
        let term = |factor: usize| {
            let chain = self.chain(algebra, q, factor);
            let [alpha, omega] = scratch.arrays([chain.size(); 2], 0.0);
            chain.walk(alpha, omega)
        };
        (0..self.starts.len()).map(term).sum()
    }

    fn expectations(&self, algebra: Algebra, q: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        for factor in 0..self.starts.len() {
            let chain = self.chain(algebra, q, factor);
            let [alpha, omega] = scratch.arrays([chain.size(); 2], 0.0);
            let log_z = chain.walk(alpha, omega);
            let out = &mut out[self.weight_range(factor)];
            for i in 0..chain.n {
                for a in chain.before_that(i) {
                    for b in chain.before(i) {
                        for c in 0..chain.g {
                            let rest = chain.q[i * chain.g + c] + omega[chain.pair(i, b, c)];
                            let path = chain.step(alpha, i, a, b, c) + rest;
                            out[chain.place(a, b, c)] += share(path, log_z);
                        }
                    }
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
            let chain = self.chain(algebra, q, factor);
            let range = self.starts.range(factor);
            let (r_bar, q_bar) = (&r_bar[range.clone()], &mut q_bar[range]);
            let weight_bar = &mut weight_bar[self.weight_range(factor)];
            let g = chain.g;
            let [alpha, omega, alpha_bar, omega_bar] = scratch.arrays([chain.size(); 4], 0.0);
            chain.walk(alpha, omega);
            for i in 0..chain.n {
                for c in 0..g {
                    let message = chain.message(alpha, omega, i, c);
                    for b in chain.before(i) {
                        let pair = chain.pair(i, b, c);
                        let p = r_bar[i * g + c] * share(alpha[pair] + omega[pair], message);
                        alpha_bar[pair] += p;
                        omega_bar[pair] += p;
                    }
                }
            }
            for i in 0..chain.n - 1 {
                for b in chain.before(i) {
                    for c in 0..g {
                        let pair = chain.pair(i, b, c);
                        for d in 0..g {
                            let term = chain.onward(omega, i, b, c, d);
                            let p = omega_bar[pair] * share(term, omega[pair]);
                            weight_bar[chain.place(b, c, d)] += p;
                            q_bar[(i + 1) * g + d] += p;
                            omega_bar[chain.pair(i + 1, c, d)] += p;
                        }
                    }
                }
            }
            for i in (0..chain.n).rev() {
                for b in chain.before(i) {
                    for c in 0..g {
                        let pair = chain.pair(i, b, c);
                        for a in chain.before_that(i) {
                            let term = chain.step(alpha, i, a, b, c);
                            let p = alpha_bar[pair] * share(term, alpha[pair]);
                            weight_bar[chain.place(a, b, c)] += p;
                            if i > 0 {
                                q_bar[(i - 1) * g + b] += p;
                                alpha_bar[chain.pair(i - 1, a, b)] += p;
                            }
                        }
                    }
                }
            }
        }
    }
}
