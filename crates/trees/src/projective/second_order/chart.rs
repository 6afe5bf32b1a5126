//! The chart of second-order items, in any semiring.
//!
//! Items carry a *context* g, the head of their own head h, if the model has grandparent parts (Koo &
//! Collins 2010). Without such parts all contexts have the same value, and one is stored. For h < m:
//!
//! ```text
//! C^g[h][h] = no child on this side
//! S^h[a][b] = Σ_{a≤q<b}  C^h[a][q] · C^h[b][q+1]              a, b consecutive children of h
//! I^g[h][m] = w(g,h,m) · ( start(h,m) · C^h[m][h+1]  +  Σ_{h<r<m}  I^g[h][r] · next(h,r,m) · S^h[r][m] )
//! C^g[h][e] = Σ_{h<m≤e}  I^g[h][m] · stop(h,m) · C^h[m][e]
//! total     = C[0][n]
//! ```
//!
//! and mirrored for h > m. With I^g\[h\]\[h\] = 1 for START, both terms of I are one dot product. Every
//! tree is built in exactly one way. The root has no context, and its complete items are needed for the
//! whole sentence only.
//!
//! **Cost.** In C and I, the second factors do not depend on g: they are put in a line once and used for
//! all g. Θ(n³) products without contexts, Θ(n⁴) with them. A context g of h whose arc g → h is
//! forbidden is left out, so a pruned sentence costs as much as the arcs that are left.

use std::ops::Range;

use crate::SecondOrderParts;
use crate::tree_set::Roots;
use crate::weight::Semiring;

/// A number that a score becomes.
pub(super) trait Scored: Semiring {
    fn of(score: f64) -> Self;
}

/// A cell of the chart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    /// C^g\[head\]\[end\].
    Complete { context: usize, head: usize, end: usize },
    /// I^g\[head\]\[modifier\].
    Incomplete { context: usize, head: usize, modifier: usize },
    /// S^h\[left\]\[right\].
    Between { context: usize, left: usize, right: usize },
}

/// The places of items: how many contexts there are, and where each value is stored.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    pub(super) words: usize,
    /// True if items have contexts.
    pub(super) has_contexts: bool,
    has_one_root: bool,
}

impl Layout {
    pub(super) fn new(parts: &SecondOrderParts, roots: Roots) -> Self {
        Self {
            words: parts.words(),
            has_contexts: parts.has_grandparents(),
            has_one_root: roots == Roots::Single,
        }
    }

    #[inline(always)]
    fn side(self) -> usize {
        self.words + 1
    }

    fn contexts(self) -> usize {
        if self.has_contexts { self.side() } else { 1 }
    }

    /// The number of complete items: n+1 heads with n+2 places each, see [`complete`](Self::complete).
    pub(super) fn complete_cells(self) -> usize {
        self.contexts() * self.side() * (self.side() + 1)
    }

    /// The number of incomplete items, and of those between siblings.
    pub(super) fn square_cells(self) -> usize {
        self.contexts() * self.side() * self.side()
    }

    /// The context of the children of a head.
    #[inline(always)]
    pub(super) fn context(self, head: usize) -> usize {
        if self.has_contexts { head } else { 0 }
    }

    /// The place of C\[head\]\[end\] on the left, end ≤ head.
    #[inline(always)]
    pub(super) fn left(self, context: usize, head: usize, end: usize) -> usize {
        (context * self.side() + head) * (self.side() + 1) + end
    }

    /// The place of C\[head\]\[end\] on the right, end ≥ head: one further, since a head has two empty
    /// items.
    #[inline(always)]
    pub(super) fn right(self, context: usize, head: usize, end: usize) -> usize {
        self.left(context, head, end) + 1
    }

    /// The place of C\[head\]\[end\] for end ≠ head.
    #[inline(always)]
    pub(super) fn complete(self, context: usize, head: usize, end: usize) -> usize {
        self.left(context, head, end) + usize::from(head < end)
    }

    /// The place of I\[head\]\[modifier\], or of S, which is symmetric.
    #[inline(always)]
    pub(super) fn square(self, context: usize, head: usize, modifier: usize) -> usize {
        (context * self.side() + head) * self.side() + modifier
    }

    /// The place of the child's complete item that faces its head: the whole space between the two.
    #[inline(always)]
    pub(super) fn facing(self, head: usize, modifier: usize) -> usize {
        let context = self.context(head);
        if head < modifier {
            self.left(context, modifier, head + 1)
        } else {
            self.right(context, modifier, head - 1)
        }
    }

    /// The values of r in the sum of I\[head\]\[modifier\], the head itself for START included.
    #[inline(always)]
    pub(super) fn siblings(self, head: usize, modifier: usize) -> Range<usize> {
        if head == 0 && self.has_one_root {
            0..1
        } else if head < modifier {
            head..modifier
        } else {
            modifier + 1..head + 1
        }
    }

    /// The values of m in the sum of C\[head\]\[end\].
    #[inline(always)]
    pub(super) fn last_children(self, head: usize, end: usize) -> Range<usize> {
        if head < end { head + 1..end + 1 } else { end..head }
    }

    /// Calls `visit(context)` for every context of a head whose item covers i..=j.
    #[inline(always)]
    pub(super) fn for_contexts(
        self,
        parts: &SecondOrderParts,
        head: usize,
        (i, j): (usize, usize),
        mut visit: impl FnMut(usize),
    ) {
        if !self.has_contexts || head == 0 {
            visit(0);
            return;
        }
        for grandparent in (0..i).chain(j + 1..self.side()) {
            if parts.arcs()[(grandparent, head)] > f64::NEG_INFINITY {
                visit(grandparent);
            }
        }
    }

    /// Calls `visit(context)` for every head that may have i and j as consecutive children.
    #[inline(always)]
    pub(super) fn for_heads(
        self,
        parts: &SecondOrderParts,
        (i, j): (usize, usize),
        mut visit: impl FnMut(usize),
    ) {
        if !self.has_contexts {
            visit(0);
            return;
        }
        let allowed = |head: usize, word: usize| parts.arcs()[(head, word)] > f64::NEG_INFINITY;
        for head in (usize::from(self.has_one_root)..i).chain(j + 1..self.side()) {
            if allowed(head, i) && allowed(head, j) {
                visit(head);
            }
        }
    }
}

/// All inside values of a sentence.
#[derive(Clone, Debug)]
pub(super) struct Chart<S> {
    pub(super) layout: Layout,
    complete: Vec<S>,
    incomplete: Vec<S>,
    /// S, at \[left\]\[right\] and at \[right\]\[left\].
    between: Vec<S>,
    /// The second factors of the sum in hand.
    line: Vec<S>,
}

impl<S> Default for Chart<S> {
    fn default() -> Self {
        Self {
            layout: Layout::default(),
            complete: Vec::new(),
            incomplete: Vec::new(),
            between: Vec::new(),
            line: Vec::new(),
        }
    }
}

impl<S: Scored> Chart<S> {
    /// Fills the chart and returns the total.
    #[inline(always)]
    pub(super) fn inside(&mut self, parts: &SecondOrderParts, roots: Roots) -> S {
        let layout = Layout::new(parts, roots);
        self.layout = layout;
        for (cells, length) in [
            (&mut self.complete, layout.complete_cells()),
            (&mut self.incomplete, layout.square_cells()),
            (&mut self.between, layout.square_cells()),
        ] {
            cells.clear();
            cells.resize(length, S::zero());
        }
        let words = layout.words;
        let mut line = std::mem::take(&mut self.line);
        for j in 0..=words {
            let [left, right] = parts.childless(j).map(S::of);
            for context in 0..layout.contexts() {
                self.complete[layout.left(context, j, j)] = left.clone();
                self.complete[layout.right(context, j, j)] = right.clone();
                self.incomplete[layout.square(context, j, j)] = S::one();
            }
            for i in (0..j).rev() {
                if i > 0 {
                    self.fill_between(parts, i, j);
                    self.fill_incomplete(parts, j, i, &mut line);
                    self.fill_complete(parts, j, i, &mut line);
                }
                self.fill_incomplete(parts, i, j, &mut line);
                if i > 0 || j == words {
                    self.fill_complete(parts, i, j, &mut line);
                }
            }
        }
        self.line = line;
        self.complete[layout.right(0, 0, words)].clone()
    }

    #[inline(always)]
    fn fill_between(&mut self, parts: &SecondOrderParts, i: usize, j: usize) {
        let layout = self.layout;
        let Self { complete, between, .. } = self;
        layout.for_heads(parts, (i, j), |context| {
            let value = S::dot(
                &complete[layout.right(context, i, i)..layout.right(context, i, j)],
                &complete[layout.left(context, j, i + 1)..layout.left(context, j, j + 1)],
            );
            between[layout.square(context, i, j)] = value.clone();
            between[layout.square(context, j, i)] = value;
        });
    }

    #[inline(always)]
    fn fill_incomplete(
        &mut self,
        parts: &SecondOrderParts,
        head: usize,
        modifier: usize,
        line: &mut Vec<S>,
    ) {
        if parts.arcs()[(head, modifier)] == f64::NEG_INFINITY {
            return;
        }
        let layout = self.layout;
        let range = self.sibling_line(parts, head, modifier, line);
        let span = (head.min(modifier), head.max(modifier));
        let incomplete = &mut self.incomplete;
        layout.for_contexts(parts, head, span, |context| {
            let row = layout.square(context, head, 0);
            let sum = S::dot(&incomplete[row + range.start..row + range.end], line);
            let arc = S::of(parts.chain(context, head, modifier));
            incomplete[row + modifier] = sum.times(&arc);
        });
    }

    #[inline(always)]
    fn fill_complete(
        &mut self,
        parts: &SecondOrderParts,
        head: usize,
        end: usize,
        line: &mut Vec<S>,
    ) {
        let layout = self.layout;
        let range = self.last_line(parts, head, end, line);
        let Self { complete, incomplete, .. } = self;
        layout.for_contexts(parts, head, (head.min(end), head.max(end)), |context| {
            let row = layout.square(context, head, 0);
            let value = S::dot(&incomplete[row + range.start..row + range.end], line);
            complete[layout.complete(context, head, end)] = value;
        });
    }

    /// Writes the second factors of I\[head\]\[modifier\], and returns the siblings they belong to.
    #[inline(always)]
    fn sibling_line(
        &self,
        parts: &SecondOrderParts,
        head: usize,
        modifier: usize,
        line: &mut Vec<S>,
    ) -> Range<usize> {
        let layout = self.layout;
        let range = layout.siblings(head, modifier);
        let steps = &parts.steps_to(head, modifier)[range.clone()];
        let row = layout.square(layout.context(head), modifier, 0);
        let between = &self.between[row + range.start..row + range.end];
        line.clear();
        line.extend(steps.iter().zip(between).map(|(&step, value)| S::of(step).times(value)));
        let start = head - range.start;
        line[start] = S::of(steps[start]).times(&self.complete[layout.facing(head, modifier)]);
        range
    }

    /// Writes the second factors of C\[head\]\[end\], and returns the last children they belong to.
    #[inline(always)]
    fn last_line(
        &self,
        parts: &SecondOrderParts,
        head: usize,
        end: usize,
        line: &mut Vec<S>,
    ) -> Range<usize> {
        let layout = self.layout;
        let range = layout.last_children(head, end);
        let context = layout.context(head);
        let stops = parts.steps_to(head, head);
        line.clear();
        line.extend(range.clone().map(|modifier| {
            let place = if head < end {
                layout.right(context, modifier, end)
            } else {
                layout.left(context, modifier, end)
            };
            S::of(stops[modifier]).times(&self.complete[place])
        }));
        range
    }

    /// Calls `visit(range, a, b)` with the factors of the item's sum, and the numbers r, m or q of its
    /// splits. The context of the item may be any. Empty items have none.
    #[inline(always)]
    pub(super) fn split<R>(
        &self,
        parts: &SecondOrderParts,
        item: Item,
        line: &mut Vec<S>,
        visit: impl FnOnce(Range<usize>, &[S], &[S]) -> R,
    ) -> R {
        let layout = self.layout;
        match item {
            Item::Complete { context, head, end } => {
                let range = self.last_line(parts, head, end, line);
                let row = layout.square(context, head, 0);
                let a = &self.incomplete[row + range.start..row + range.end];
                visit(range, a, line)
            }
            Item::Incomplete { context, head, modifier } => {
                let range = self.sibling_line(parts, head, modifier, line);
                let row = layout.square(context, head, 0);
                let a = &self.incomplete[row + range.start..row + range.end];
                visit(range, a, line)
            }
            Item::Between { context, left, right } => visit(
                left..right,
                &self.complete
                    [layout.right(context, left, left)..layout.right(context, left, right)],
                &self.complete
                    [layout.left(context, right, left + 1)..layout.left(context, right, right + 1)],
            ),
        }
    }

    /// Walks one derivation from the top and writes its heads. `choose` picks the split of each item.
    pub(super) fn derive(
        &self,
        parts: &SecondOrderParts,
        scratch: &mut Derivation<S>,
        heads: &mut Vec<usize>,
        mut choose: impl FnMut(&[S], &[S]) -> usize,
    ) {
        let layout = self.layout;
        let Derivation { open, line } = scratch;
        heads.clear();
        heads.resize(layout.words, 0);
        open.clear();
        let complete = |context: usize, head: usize, end: usize| {
            (head != end).then_some(Item::Complete { context, head, end })
        };
        open.extend(complete(0, 0, layout.words));
        while let Some(item) = open.pop() {
            let split = self.split(parts, item, line, |range, a, b| range.start + choose(a, b));
            match item {
                Item::Complete { context, head, end } => {
                    open.push(Item::Incomplete { context, head, modifier: split });
                    open.extend(complete(layout.context(head), split, end));
                }
                Item::Incomplete { context, head, modifier } => {
                    heads[modifier - 1] = head;
                    let own = layout.context(head);
                    if split == head {
                        let end = if head < modifier { head + 1 } else { head - 1 };
                        open.extend(complete(own, modifier, end));
                    } else {
                        open.push(Item::Incomplete { context, head, modifier: split });
                        let left = split.min(modifier);
                        let right = split.max(modifier);
                        open.push(Item::Between { context: own, left, right });
                    }
                }
                Item::Between { context, left, right } => {
                    open.extend(complete(context, left, split));
                    open.extend(complete(context, right, split + 1));
                }
            }
        }
    }
}

/// Scratch memory of a walk.
#[derive(Clone, Debug)]
pub(super) struct Derivation<S> {
    open: Vec<Item>,
    line: Vec<S>,
}

impl<S> Default for Derivation<S> {
    fn default() -> Self {
        Self { open: Vec::new(), line: Vec::new() }
    }
}
