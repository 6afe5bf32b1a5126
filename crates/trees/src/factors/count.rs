//! EXACTLY1, ATMOST1 and limits of a label: factors that count how many of their arcs are true.
//!
//! A walk over the variables keeps the state s = 0, 1, or 2 for "two or more":
//!
//! ```text
//!             true: e^q            true: e^q·a             true: e^q·b
//!     0 ─────────────────▶ 1 ─────────────────▶ 2 ◀──────────────────┐
//!                                               └────────────────────┘
//! ```
//!
//! | factor | a | b | end in 0 | ln Z |
//! |---|---|---|---|---|
//! | EXACTLY1 | 0 | – | 0 | ln Σ q̄ |
//! | ATMOST1 | 0 | – | 1 | ln (1 + Σ q̄) |
//! | x once, for two or more | x | 1 | 1 | ln \[(1−x)(1 + Σ q̄) + x Π(1+q̄)\] |
//! | x for each beyond the first | x | x | 1 | ln \[1 + (Π(1+x q̄) − 1)/x\] |
//!
//! With F_i\[s\] the sum of all walks to state s before variable i and B_i\[s\] of those from there on,
//! r_i = ln Σ_s F_i\[s\]·w_s·B_{i+1}\[s+1\] − ln Σ_s F_i\[s\]·B_{i+1}\[s\]: no term is subtracted from a sum, where
//! the closed forms would be. O(k) for k variables; the adjoint reverses the walks.

use super::algebra::{Algebra, log_odds, share};
use super::family::{Family, Scratch, Starts};

/// The cost of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    ExactlyOne,
    AtMostOne,
    /// ℓ if two or more are true.
    Once,
    /// ℓ for each beyond the first.
    PerExtra,
}

/// Factors over any number of boolean cells. Rules with a weight have one log-weight.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    starts: Starts,
    cells: Vec<u32>,
    rules: Vec<Rule>,
    weight_starts: Starts,
    weights: Vec<f64>,
}

/// Number of states.
const STATES: usize = 3;
const NEVER: f64 = f64::NEG_INFINITY;

/// Log-weights of a walk: of "true" from each state, and of the state at the end.
#[derive(Clone, Copy, Debug)]
struct Steps {
    step: [f64; STATES],
    end: [f64; STATES],
}

/// The state after "true".
const NEXT: [usize; STATES] = [1, 2, 2];

impl Counts {
    /// Number of factors.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.cells.clear();
        self.rules.clear();
        self.weight_starts.clear();
        self.weights.clear();
    }

    /// Adds a factor and returns its number.
    pub(super) fn push(
        &mut self,
        cells: impl IntoIterator<Item = u32>,
        rule: Rule,
        weight: Option<f64>,
    ) -> usize {
        self.cells.extend(cells);
        self.starts.push(self.cells.len());
        self.rules.push(rule);
        self.weights.extend(weight);
        self.weight_starts.push(self.weights.len());
        self.rules.len() - 1
    }

    pub(super) fn weights_mut(&mut self) -> &mut [f64] {
        &mut self.weights
    }

    pub(super) fn weight_range(&self, factor: usize) -> std::ops::Range<usize> {
        self.weight_starts.range(factor)
    }

    fn steps(&self, algebra: Algebra, factor: usize) -> Steps {
        let weight =
            self.weights[self.weight_range(factor)].first().map_or(0.0, |&w| algebra.cooled(w));
        match self.rules[factor] {
            Rule::ExactlyOne => Steps { step: [0.0, NEVER, NEVER], end: [NEVER, 0.0, NEVER] },
            Rule::AtMostOne => Steps { step: [0.0, NEVER, NEVER], end: [0.0, 0.0, NEVER] },
            Rule::Once => Steps { step: [0.0, weight, 0.0], end: [0.0; STATES] },
            Rule::PerExtra => Steps { step: [0.0, weight, weight], end: [0.0; STATES] },
        }
    }

    /// States from which "true" uses the log-weight.
    fn weighted(&self, factor: usize) -> [bool; STATES] {
        match self.rules[factor] {
            Rule::ExactlyOne | Rule::AtMostOne => [false; STATES],
            Rule::Once => [false, true, false],
            Rule::PerExtra => [false, true, true],
        }
    }
}

/// Fills F and B, and returns ln Z.
fn walk(algebra: Algebra, steps: Steps, q: &[f64], f: &mut [f64], b: &mut [f64]) -> f64 {
    f[..STATES].copy_from_slice(&[0.0, NEVER, NEVER]);
    for (i, &q) in q.iter().enumerate() {
        let (now, next) = f[i * STATES..].split_at_mut(STATES);
        next[..STATES].copy_from_slice(now);
        for s in 0..STATES {
            next[NEXT[s]] = algebra.add(next[NEXT[s]], now[s] + q + steps.step[s]);
        }
    }
    b[q.len() * STATES..(q.len() + 1) * STATES].copy_from_slice(&steps.end);
    for (i, &q) in q.iter().enumerate().rev() {
        let (now, next) = b[i * STATES..].split_at_mut(STATES);
        for s in 0..STATES {
            now[s] = algebra.add(next[s], q + steps.step[s] + next[NEXT[s]]);
        }
    }
    b[0]
}

/// Returns the log-weights of "variable i is true" and "false", without its own q.
fn outcomes(algebra: Algebra, steps: Steps, i: usize, f: &[f64], b: &[f64]) -> (f64, f64) {
    let f = &f[i * STATES..(i + 1) * STATES];
    let b = &b[(i + 1) * STATES..(i + 2) * STATES];
    (0..STATES).fold((NEVER, NEVER), |(yes, no), s| {
        (algebra.add(yes, f[s] + steps.step[s] + b[NEXT[s]]), algebra.add(no, f[s] + b[s]))
    })
}

impl Family for Counts {
    fn cells(&self) -> &[u32] {
        &self.cells
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn update(&self, algebra: Algebra, q: &[f64], r: &mut [f64], scratch: &mut Scratch) {
        for factor in 0..self.starts.len() {
            let range = self.starts.range(factor);
            let steps = self.steps(algebra, factor);
            let size = STATES * (range.len() + 1);
            let [f, b] = scratch.arrays([size, size], 0.0);
            walk(algebra, steps, &q[range.clone()], f, b);
            for (i, r) in r[range].iter_mut().enumerate() {
                let (yes, no) = outcomes(algebra, steps, i, f, b);
                *r = log_odds(yes, no);
            }
        }
    }

    fn log_partition(&self, algebra: Algebra, q: &[f64], scratch: &mut Scratch) -> f64 {
        let term = |factor: usize| {
            let range = self.starts.range(factor);
            let size = STATES * (range.len() + 1);
            let [f, b] = scratch.arrays([size, size], 0.0);
            walk(algebra, self.steps(algebra, factor), &q[range], f, b)
        };
        (0..self.starts.len()).map(term).sum()
    }

    fn expectations(&self, algebra: Algebra, q: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        for factor in 0..self.starts.len() {
            let weighted = self.weighted(factor);
            if self.weight_range(factor).is_empty() {
                continue;
            }
            let q = &q[self.starts.range(factor)];
            let steps = self.steps(algebra, factor);
            let size = STATES * (q.len() + 1);
            let [f, b] = scratch.arrays([size, size], 0.0);
            let log_z = walk(algebra, steps, q, f, b);
            let mut expected = 0.0;
            for (i, &q) in q.iter().enumerate() {
                for s in (0..STATES).filter(|&s| weighted[s]) {
                    let after = b[(i + 1) * STATES + NEXT[s]];
                    expected += share(f[i * STATES + s] + q + steps.step[s] + after, log_z);
                }
            }
            out[self.weight_range(factor).start] = expected;
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
            let steps = self.steps(algebra, factor);
            let weighted = self.weighted(factor);
            let (q, r_bar) = (&q[range.clone()], &r_bar[range.clone()]);
            let q_bar = &mut q_bar[range];
            let size = STATES * (q.len() + 1);
            let [f, b, f_bar, b_bar] = scratch.arrays([size; 4], 0.0);
            walk(algebra, steps, q, f, b);
            let mut used = 0.0;
            let mut use_weight = |s: usize, bar: f64| used += if weighted[s] { bar } else { 0.0 };
            for (i, &bar) in r_bar.iter().enumerate() {
                let (yes, no) = outcomes(algebra, steps, i, f, b);
                for s in 0..STATES {
                    let (now, next) = (i * STATES + s, (i + 1) * STATES);
                    let p = bar * share(f[now] + steps.step[s] + b[next + NEXT[s]], yes);
                    f_bar[now] += p;
                    b_bar[next + NEXT[s]] += p;
                    use_weight(s, p);
                    let p = bar * share(f[now] + b[next + s], no);
                    f_bar[now] -= p;
                    b_bar[next + s] -= p;
                }
            }
            for i in 0..q.len() {
                for s in 0..STATES {
                    let (now, next) = (i * STATES + s, (i + 1) * STATES);
                    let bar = b_bar[now];
                    let p = bar * share(q[i] + steps.step[s] + b[next + NEXT[s]], b[now]);
                    q_bar[i] += p;
                    b_bar[next + NEXT[s]] += p;
                    use_weight(s, p);
                    b_bar[next + s] += bar * share(b[next + s], b[now]);
                }
            }
            for i in (0..q.len()).rev() {
                for s in 0..STATES {
                    let (now, next) = (i * STATES + s, (i + 1) * STATES);
                    let to = next + NEXT[s];
                    let p = f_bar[to] * share(f[now] + q[i] + steps.step[s], f[to]);
                    q_bar[i] += p;
                    f_bar[now] += p;
                    use_weight(s, p);
                    f_bar[now] += f_bar[next + s] * share(f[now], f[next + s]);
                }
            }
            let weights = self.weight_range(factor);
            weight_bar[weights].iter_mut().for_each(|bar| *bar += used);
        }
    }
}
