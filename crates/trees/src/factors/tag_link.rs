//! TAGLINK: an arc, the tag of its head and the tag of its modifier.
//!
//! The factor's value is e^{S\[t\]\[u\]} if the arc is in the tree and head and modifier have tags t and u,
//! and 1 if the arc is not. Arcs from the root have one tag variable only. With q₀ the log-odds of the arc
//! and a, b the log-weights of the tags,
//!
//! ```text
//! r₀   = ⊕_{t,u} (a_t + b_u + S[t][u]) − ⊕_t a_t − ⊕_u b_u
//! r_t  = ⊕_u b_u + ln(1 + e^{q₀ + S[t][u]})               and in the same way for u
//! ln Z = ⊕_{t,u} a_t + b_u + ln(1 + e^{q₀ + S[t][u]})
//! ```
//!
//! O(g²) for g tags. Messages to tags are shifted so that the largest is 0.

use super::algebra::{Algebra, log_odds, share, sigmoid};
use super::family::{Family, Scratch, Starts};

/// Slots of a factor: the arc, the tags of the head (none for the root), the tags of the modifier.
#[derive(Clone, Debug, Default)]
pub(super) struct TagLinks {
    starts: Starts,
    cells: Vec<u32>,
    /// Number of tags of the head, 0 for the root.
    head_tags: Vec<u32>,
    weight_starts: Starts,
    weights: Vec<f64>,
}

/// One factor's messages and weights. Heads without tags count as having one, of weight 1.
struct Table<'a> {
    algebra: Algebra,
    arc: f64,
    head: &'a [f64],
    modifier: &'a [f64],
    weights: &'a [f64],
}

impl Table<'_> {
    fn rows(&self) -> usize {
        self.head.len().max(1)
    }

    fn head(&self, t: usize) -> f64 {
        self.head.get(t).copied().unwrap_or(0.0)
    }

    fn weight(&self, t: usize, u: usize) -> f64 {
        self.algebra.cooled(self.weights[t * self.modifier.len() + u])
    }

    /// ⊕ over all pairs of tags, with the arc.
    fn with_arc(&self) -> f64 {
        let width = self.modifier.len();
        self.algebra.sum_of(self.rows() * width, |at| {
            let (t, u) = (at / width, at % width);
            self.head(t) + self.modifier[u] + self.weight(t, u)
        })
    }

    /// ⊕ over all pairs of tags, without the arc.
    fn without_arc(&self) -> f64 {
        let heads = self.algebra.sum_of(self.rows(), |t| self.head(t));
        heads + self.algebra.sum_of(self.modifier.len(), |u| self.modifier[u])
    }

    /// Weight of a pair of tags, with the arc summed out.
    fn open(&self, t: usize, u: usize) -> f64 {
        self.algebra.add_one(self.arc + self.weight(t, u))
    }

    fn to_head(&self, t: usize) -> f64 {
        self.algebra.sum_of(self.modifier.len(), |u| self.modifier[u] + self.open(t, u))
    }

    fn to_modifier(&self, u: usize) -> f64 {
        self.algebra.sum_of(self.rows(), |t| self.head(t) + self.open(t, u))
    }
}

/// Shifts messages so that the largest is 0.
pub(super) fn normalise(messages: &mut [f64]) {
    let high = messages.iter().fold(f64::NEG_INFINITY, |high, &message| high.max(message));
    for message in messages {
        *message = log_odds(*message, high);
    }
}

impl TagLinks {
    /// Number of factors.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.cells.clear();
        self.head_tags.clear();
        self.weight_starts.clear();
        self.weights.clear();
    }

    /// Adds a factor and returns its number.
    pub(super) fn push(
        &mut self,
        arc: u32,
        head: std::ops::Range<u32>,
        modifier: std::ops::Range<u32>,
        log_weights: &[f64],
    ) -> usize {
        self.head_tags.push(head.len() as u32);
        self.cells.push(arc);
        self.cells.extend(head);
        self.cells.extend(modifier);
        self.starts.push(self.cells.len());
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

    fn table<'a>(&'a self, algebra: Algebra, q: &'a [f64], factor: usize) -> Table<'a> {
        let q = &q[self.starts.range(factor)];
        let (head, modifier) = q[1..].split_at(self.head_tags[factor] as usize);
        let weights = &self.weights[self.weight_range(factor)];
        Table { algebra, arc: q[0], head, modifier, weights }
    }
}

impl Family for TagLinks {
    fn cells(&self) -> &[u32] {
        &self.cells
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn update(&self, algebra: Algebra, q: &[f64], r: &mut [f64], _: &mut Scratch) {
        for factor in 0..self.starts.len() {
            let table = self.table(algebra, q, factor);
            let r = &mut r[self.starts.range(factor)];
            r[0] = log_odds(table.with_arc(), table.without_arc());
            let (heads, modifiers) = r[1..].split_at_mut(table.head.len());
            heads.iter_mut().enumerate().for_each(|(t, r)| *r = table.to_head(t));
            modifiers.iter_mut().enumerate().for_each(|(u, r)| *r = table.to_modifier(u));
            normalise(heads);
            normalise(modifiers);
        }
    }

    fn log_partition(&self, algebra: Algebra, q: &[f64], _: &mut Scratch) -> f64 {
        let term = |factor: usize| {
            let table = self.table(algebra, q, factor);
            algebra.add(table.without_arc(), table.arc + table.with_arc())
        };
        (0..self.starts.len()).map(term).sum()
    }

    fn expectations(&self, algebra: Algebra, q: &[f64], out: &mut [f64], _: &mut Scratch) {
        for factor in 0..self.starts.len() {
            let table = self.table(algebra, q, factor);
            let log_z = algebra.add(table.without_arc(), table.arc + table.with_arc());
            let width = table.modifier.len();
            for (at, out) in out[self.weight_range(factor)].iter_mut().enumerate() {
                let (t, u) = (at / width, at % width);
                let tags = table.head(t) + table.modifier[u];
                *out = share(table.arc + tags + table.weight(t, u), log_z);
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
            let table = self.table(algebra, q, factor);
            let range = self.starts.range(factor);
            let weight_bar = &mut weight_bar[self.weight_range(factor)];
            let heads = table.head.len();
            let width = table.modifier.len();
            let r_bar = &r_bar[range.clone()];
            let q_bar = &mut q_bar[range];
            let with = table.with_arc();
            let all_heads = algebra.sum_of(table.rows(), |t| table.head(t));
            let all_modifiers = algebra.sum_of(width, |u| table.modifier[u]);
            for t in 0..heads {
                q_bar[1 + t] -= r_bar[0] * share(table.head[t], all_heads);
            }
            for u in 0..width {
                q_bar[1 + heads + u] -= r_bar[0] * share(table.modifier[u], all_modifiers);
            }
            let [to_head, to_modifier] = scratch.arrays([table.rows(), width], 0.0);
            to_head.iter_mut().enumerate().for_each(|(t, r)| *r = table.to_head(t));
            to_modifier.iter_mut().enumerate().for_each(|(u, r)| *r = table.to_modifier(u));
            for t in 0..table.rows() {
                for u in 0..width {
                    let tags = table.head(t) + table.modifier[u];
                    let p = r_bar[0] * share(tags + table.weight(t, u), with);
                    let open = table.open(t, u);
                    let head_bar = if heads > 0 { r_bar[1 + t] } else { 0.0 };
                    let from_head = head_bar * share(table.modifier[u] + open, to_head[t]);
                    let from_modifier =
                        r_bar[1 + heads + u] * share(table.head(t) + open, to_modifier[u]);
                    if heads > 0 {
                        q_bar[1 + t] += p + from_modifier;
                    }
                    q_bar[1 + heads + u] += p + from_head;
                    let present = sigmoid(table.arc + table.weight(t, u));
                    q_bar[0] += (from_head + from_modifier) * present;
                    weight_bar[t * width + u] += p + (from_head + from_modifier) * present;
                }
            }
        }
    }
}
