//! Elimination without any subtraction, over any positive number type.
//!
//! Removing word k replaces every "i heads k heads j" by an arc i → j (Grassmann, Taksar & Heyman 1985):
//!
//! ```text
//! d    = Σ_{i active} A[i][k]  (+ r[k], if the root may have several words)
//! p[i] = A[i][k] / d           p0 = r[k] / d
//! A[i][j] += p[i]·A[k][j]      r[j] += p0·A[k][j]          i ≠ j, both active
//! ```
//!
//! With one word m left, ρ\[m\] = r\[m\] is the last pivot and ln Z = Σ ln d + ln ρ\[m\]. Unwinding the
//! same steps gives U\[m\]\[x\], the probability that the walk "go to a head chosen in proportion to
//! its weight", started at x, meets the root before m: u\[k\] = p0 + Σ p\[i\]·u\[i\], u\[m\] = 0. Then
//!
//! ```text
//! P(0 → m) = r[m] / ρ[m]          P(h → m) = A[h][m]·U[m][h] / ρ[m]
//! ```
//!
//! Nothing is subtracted, so every marginal is accurate, even a very small one. Each word has to be
//! the last one once. Divide and conquer shares the work: eliminate one half and recurse into the
//! other, then the other way round. Cost: about (7/9 + 1/2)·n³ multiply–adds, O(n²) memory.
//!
//! Single-root: pivots leave r out (the limit of scaling r by ε → 0, to first order). With forbidden
//! arcs, such a pivot can be zero although trees exist. [`Graded`] numbers with r of order 1 and the
//! multi-root rule carry ε exactly and cover that case.

use super::blocked::{self, BlockWorkspace};
use crate::simd::LANES;
use crate::weight::{Graded, Log, Tangent, Weight};

/// Number of words up to which sharing work costs more than it saves.
const FEW: usize = 4;

/// A number type that matrices can be eliminated in.
pub(crate) trait Eliminate: Weight {
    /// Eliminates positions `size`, `size`−1, …, `keep`+1 of a matrix with rows 0..=size (row 0 the
    /// root), `stride` apart, and a column for each position. Leaves d in `pivots` and p0, p\[1\], …,
    /// p\[k−1\] at the start of row k of `p`, both by position.
    #[inline(always)]
    fn eliminate(
        a: &mut [Self],
        (size, stride): (usize, usize),
        rule: PivotRule,
        keep: usize,
        pivots: &mut [Self],
        p: &mut [Self],
        _blocks: &mut BlockWorkspace,
    ) {
        for k in (keep + 1..=size).rev() {
            let (active, rest) = a.split_at_mut(k * stride);
            let pivot_row = &rest[..k - 1];
            let column = |i: usize| i * stride + k - 1;
            let first = match rule {
                PivotRule::WithRoot => 0,
                PivotRule::WordsOnly => 1,
            };
            let d = (first..k).fold(Self::zero(), |d, i| d.plus(&active[column(i)]));
            pivots[k] = d;
            if d.is_zero() {
                return; // no head is left for this word: the caller sees the pivot
            }
            for i in 0..k {
                let factor = active[column(i)].over(d);
                p[k * (size + 1) + i] = factor;
                Self::add_scaled(&mut active[i * stride..i * stride + k - 1], factor, pivot_row);
            }
        }
    }
}

impl Eliminate for Log {}
impl Eliminate for Graded {}
impl<W: Weight> Eliminate for Tangent<W> {}

impl Eliminate for f64 {
    #[inline(always)]
    fn eliminate(
        a: &mut [f64],
        shape: (usize, usize),
        rule: PivotRule,
        keep: usize,
        pivots: &mut [f64],
        p: &mut [f64],
        blocks: &mut BlockWorkspace,
    ) {
        let first = match rule {
            PivotRule::WithRoot => 0,
            PivotRule::WordsOnly => 1,
        };
        blocked::eliminate::<false>(a, shape, first, keep, blocks, |k, d, factors| {
            pivots[k] = d;
            let at = k * (shape.0 + 1);
            p[at..at + k].copy_from_slice(factors);
            true
        });
    }
}

/// Scratch memory and results of [`Elimination::solve`].
#[derive(Clone, Debug)]
pub(crate) struct Elimination<W> {
    /// The loaded weights: (n+1)·n, row 0 the root, column m−1 word m, zero where there is no arc.
    pub(crate) weights: Vec<W>,
    /// ρ\[m−1\].
    pub(crate) rho: Vec<W>,
    /// U\[m\]\[x\] at (x−1)·n + (m−1): heads are rows, as everywhere.
    pub(crate) u: Vec<W>,
    words: usize,
    /// The nodes of the recursion from the top to the current one, and their matrices.
    nodes: Vec<Node>,
    levels: Vec<Level<W>>,
    /// The matrix being eliminated, and its pivots.
    scratch: Vec<W>,
    pivots: Vec<W>,
    blocks: BlockWorkspace,
}

/// A node of the recursion: a range of words that are still active.
#[derive(Clone, Copy, Debug)]
struct Node {
    low: usize,
    high: usize,
    /// The number of its halves that have been visited, up to 2.
    visited: u8,
    /// The power of ε of the pivots from the top to this node.
    order: i32,
}

/// The memory of a node: its matrix, and p of the half that was eliminated last.
#[derive(Clone, Debug, Default)]
struct Level<W> {
    a: Vec<W>,
    p: Vec<W>,
}

impl<W: Weight> Default for Elimination<W> {
    fn default() -> Self {
        Self {
            weights: Vec::new(),
            rho: Vec::new(),
            u: Vec::new(),
            words: 0,
            nodes: Vec::new(),
            levels: Vec::new(),
            scratch: Vec::new(),
            pivots: Vec::new(),
            blocks: BlockWorkspace::default(),
        }
    }
}

/// ln Z of the loaded weights, with its power of ε.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LogTotal {
    pub(crate) log: f64,
    pub(crate) order: i32,
}

impl LogTotal {
    const ONE: Self = Self { log: 0.0, order: 0 };

    #[inline(always)]
    fn times<W: Weight>(self, pivot: W) -> Self {
        Self { log: self.log + pivot.ln(), order: self.order + pivot.order() }
    }
}

/// The weights that count in pivots: those of words, with or without that of the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PivotRule {
    WithRoot,
    WordsOnly,
}

impl<W: Eliminate> Elimination<W> {
    /// Makes room for n words and returns the (n+1)·n weights to fill.
    pub(crate) fn load(&mut self, words: usize) -> &mut [W] {
        self.words = words;
        self.weights.clear();
        self.weights.resize((words + 1) * words, W::zero());
        &mut self.weights
    }

    /// Returns ln Z alone, in one pass of n³/3 multiply–adds; `None` if a pivot is not `usable`.
    #[inline(always)]
    pub(crate) fn total(
        &mut self,
        rule: PivotRule,
        usable: impl Fn(W) -> bool,
    ) -> Option<LogTotal> {
        let n = self.words;
        if n == 0 {
            return Some(LogTotal::ONE);
        }
        self.prepare(1);
        arrange(&self.weights, (n, n), (0, n), &mut self.scratch);
        self.eliminate_scratch(0, n, 1, rule);
        let pivots = self.pivots[2..].iter().rev().chain(&self.scratch[..1]);
        pivots.copied().try_fold(LogTotal::ONE, |total, d| usable(d).then(|| total.times(d)))
    }

    /// Computes ρ and U of the loaded weights; returns the power of ε of Z, or `None` if a pivot or a ρ
    /// is not `usable`.
    #[inline(always)]
    pub(crate) fn solve(&mut self, rule: PivotRule, usable: impl Fn(W) -> bool) -> Option<i32> {
        let n = self.words;
        self.rho.clear();
        self.rho.resize(n, W::zero());
        self.u.clear();
        self.u.resize(n * n, W::zero());
        if n == 0 {
            return Some(0);
        }
        self.prepare(n.ilog2() as usize + 3);
        let mut result = 0;
        // A loop over a stack instead of recursion, so that all of it is compiled for the machine's
        // vector unit.
        self.nodes.clear();
        self.nodes.push(Node { low: 0, high: n, visited: 0, order: 0 });
        arrange(&self.weights, (n, n), (0, n), &mut self.levels[0].a);
        while let Some(depth) = self.nodes.len().checked_sub(1) {
            let Node { low, high, visited, order } = self.nodes[depth];
            let size = high - low;
            if size <= FEW {
                result = self.solve_few(depth, low, size, order, rule, &usable)?;
                self.nodes.pop();
                continue;
            }
            let middle = low + size / 2;
            let halves = [(low, middle), (middle, high)];
            if visited > 0 {
                let visited = usize::from(visited);
                self.unwind(depth, halves[visited - 1], halves[2 - visited]);
            }
            if visited == 2 {
                self.nodes.pop();
                continue;
            }
            self.nodes[depth].visited += 1;
            // Arrange the half to be visited before the half to be eliminated.
            let (from, to) = halves[usize::from(visited)];
            let stride = size.next_multiple_of(LANES);
            arrange(
                &self.levels[depth].a,
                (size, stride),
                (from - low, to - from),
                &mut self.scratch,
            );
            self.eliminate_scratch(depth, size, to - from, rule);
            let pivots = self.pivots[to - from + 1..].iter();
            let order =
                pivots.copied().try_fold(order, |order, d| usable(d).then(|| order + d.order()))?;
            let kept = to - from;
            let child = &mut self.levels[depth + 1].a;
            child.clear();
            child.resize((kept + 1) * kept.next_multiple_of(LANES), W::zero());
            let rows = child.chunks_exact_mut(kept.next_multiple_of(LANES));
            for (row, from) in rows.zip(self.scratch.chunks_exact(stride)) {
                row[..kept].copy_from_slice(&from[..kept]);
            }
            self.nodes.push(Node { low: from, high: to, visited: 0, order });
        }
        Some(result)
    }

    /// Solves the bottom of the recursion: each of a few words is last in turn, without sharing work.
    #[inline(always)]
    fn solve_few(
        &mut self,
        depth: usize,
        low: usize,
        size: usize,
        so_far: i32,
        rule: PivotRule,
        usable: &impl Fn(W) -> bool,
    ) -> Option<i32> {
        let n = self.words;
        let stride = size.next_multiple_of(LANES);
        let mut node = [[W::zero(); FEW]; FEW + 1];
        for (row, from) in node.iter_mut().zip(self.levels[depth].a.chunks_exact(stride)) {
            row[..size].copy_from_slice(&from[..size]);
        }
        let mut order = so_far;
        for last in 0..size {
            order = so_far;
            let mut a = node;
            let mut p = [[W::zero(); FEW]; FEW];
            let mut p0 = [W::zero(); FEW];
            let others = || (0..size).filter(move |&k| k != last);
            for k in others().rev() {
                // Still active: the last word and the others before k.
                let active = || (0..size).filter(move |&i| i < k || i == last);
                let root = match rule {
                    PivotRule::WithRoot => a[0][k],
                    PivotRule::WordsOnly => W::zero(),
                };
                let d = active().fold(root, |d, i| d.plus(&a[i + 1][k]));
                usable(d).then_some(())?;
                order += d.order();
                p0[k] = a[0][k].over(d);
                for i in active() {
                    p[k][i] = a[i + 1][k].over(d);
                }
                for j in active() {
                    a[0][j] = a[0][j].plus(&p0[k].times(&a[k + 1][j]));
                    for i in active() {
                        a[i + 1][j] = a[i + 1][j].plus(&p[k][i].times(&a[k + 1][j]));
                    }
                }
            }
            let rho = a[0][last];
            usable(rho).then_some(())?;
            order += rho.order();
            self.rho[low + last] = rho;
            for k in others() {
                // u of the last word is zero, so only the others before k count.
                let before = others().take_while(|&i| i < k);
                let u = before.fold(p0[k], |u, i| {
                    u.plus(&p[k][i].times(&self.u[(low + i) * n + low + last]))
                });
                self.u[(low + k) * n + low + last] = u;
            }
        }
        Some(order)
    }

    /// Eliminates all but the first `keep` positions of the scratch matrix; p goes to the level `depth`.
    #[inline(always)]
    fn eliminate_scratch(&mut self, depth: usize, size: usize, keep: usize, rule: PivotRule) {
        let p = &mut self.levels[depth].p;
        p.resize(((size + 1) * (size + 1)).max(p.len()), W::zero());
        self.pivots.clear();
        self.pivots.resize(size + 1, W::zero());
        let shape = (size, size.next_multiple_of(LANES));
        let pivots = &mut self.pivots;
        W::eliminate(&mut self.scratch, shape, rule, keep, pivots, p, &mut self.blocks);
    }

    /// Computes U\[m\]\[k\] for the last words m of the half `kept` and the words k of the half `eliminated`:
    /// u\[k\] = p0 + Σ p\[i\]·u\[i\] over the words that were active when k was eliminated, i.e. the kept
    /// ones and the eliminated ones before k.
    #[inline(always)]
    fn unwind(&mut self, depth: usize, kept: (usize, usize), eliminated: (usize, usize)) {
        let n = self.words;
        let count = kept.1 - kept.0;
        let size = count + eliminated.1 - eliminated.0;
        for k in eliminated.0..eliminated.1 {
            let position = count + 1 + k - eliminated.0;
            let p = &self.levels[depth].p[position * (size + 1)..][..position];
            let (before, at_k_and_after) = self.u.split_at_mut(k * n);
            let (at_k, after) = at_k_and_after.split_at_mut(n);
            let target = &mut at_k[kept.0..kept.1];
            target.fill(p[0]);
            let rows =
                if kept.0 < k { &before[kept.0 * n..] } else { &after[(kept.0 - k - 1) * n..] };
            W::add_products(target, &p[1..1 + count], &rows[kept.0..], n);
            if position > count + 1 {
                let rows = &before[eliminated.0 * n + kept.0..];
                W::add_products(target, &p[1 + count..], rows, n);
            }
        }
    }

    fn prepare(&mut self, levels: usize) {
        if self.levels.len() < levels {
            self.levels.resize_with(levels, || Level { a: Vec::new(), p: Vec::new() });
        }
    }
}

/// Copies a matrix of `size` words into rows of whole vectors, and moves the `count` words from `first`
/// on to the front. The root's row stays row 0.
#[inline(always)]
fn arrange<W: Weight>(
    from: &[W],
    (size, stride): (usize, usize),
    (first, count): (usize, usize),
    to: &mut Vec<W>,
) {
    let to_stride = size.next_multiple_of(LANES);
    to.clear();
    to.resize((size + 1) * to_stride, W::zero());
    // The words before `first` come after the chosen ones; those after the chosen ones stay there.
    let last = first + count;
    let mut copy_row = |target: usize, source: usize| {
        let row = &mut to[target * to_stride..target * to_stride + size];
        let from = &from[source * stride..source * stride + size];
        row[..count].copy_from_slice(&from[first..last]);
        row[count..last].copy_from_slice(&from[..first]);
        row[last..].copy_from_slice(&from[last..]);
    };
    copy_row(0, 0);
    for word in 1..=size {
        let source = if word <= count {
            first + word
        } else if word <= last {
            word - count
        } else {
            word
        };
        copy_row(word, source);
    }
}
