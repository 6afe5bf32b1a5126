//! The chart: every span of a sentence, analysed once (Eisner 1996), in any semiring.
//!
//! There are two types of items, each named by its head and its far end. The head may be the left or
//! the right end, so one letter serves both directions:
//!
//! * `C[h][e]`, *complete*: all ways to attach the words between h and e, and e, below h.
//! * `I[h][m]`, *incomplete*: the arc h → m has just been added, and m may still take modifiers on its
//!   far side.
//!
//! For positions i < j, with w the weight of an arc:
//!
//! ```text
//! C[h][h] = 1
//! B       = Σ_{i≤q<j}  C[i][q] · C[j][q+1]          i and j meet between q and q+1
//! I[i][j] = B · w(i→j)        I[j][i] = B · w(j→i)  (nothing heads position 0)
//! C[i][j] = Σ_{i<q≤j}  I[i][q] · C[q][j]
//! C[j][i] = Σ_{i≤q<j}  I[j][q] · C[q][i]
//! total   = C[0][n]
//! ```
//!
//! Every tree is built in exactly one way, so sums over derivations are sums over trees.
//!
//! **One root word.** The root's items `C[0][q]` with 0 < q < n are left at zero. Then `I[0][m]` has
//! only the split q = 0, `w(0→m) · C[m][1]`, and the total is `Σ_m w(0→m) · C[m][1] · C[m][n]`: the
//! single-root sum, by the same rules.
//!
//! **Layout.** Rows are heads, as in [`ArcMatrix`](crate::ArcMatrix). With one transposed copy of C,
//! each of the three sums is a dot product of two contiguous slices. The outer loop is over the right
//! end and the inner loop over the left end, downwards: the right end's rows stay in cache. Θ(n³/2)
//! products.

use crate::tree_set::Roots;
use crate::weight::Semiring;

/// A cell of the chart. The head is one end of the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// C\[head\]\[end\].
    Complete { head: usize, end: usize },
    /// I\[head\]\[modifier\].
    Incomplete { head: usize, modifier: usize },
}

/// All inside values of a sentence.
#[derive(Clone, Debug)]
pub(super) struct Chart<S> {
    words: usize,
    /// C, by head.
    complete: Vec<S>,
    /// C transposed, by end.
    complete_by_end: Vec<S>,
    /// I, by head.
    incomplete: Vec<S>,
}

impl<S> Default for Chart<S> {
    fn default() -> Self {
        Self { words: 0, complete: Vec::new(), complete_by_end: Vec::new(), incomplete: Vec::new() }
    }
}

impl<S: Semiring> Chart<S> {
    /// Fills the chart and returns the total; `arc(head, modifier)` is called once for every arc.
    #[inline(always)]
    pub(super) fn inside(
        &mut self,
        words: usize,
        roots: Roots,
        arc: impl Fn(usize, usize) -> S,
    ) -> S {
        self.words = words;
        let side = words + 1;
        for cells in [&mut self.complete, &mut self.complete_by_end, &mut self.incomplete] {
            cells.clear();
            cells.resize(side * side, S::zero());
        }
        for j in 0..side {
            self.complete[j * side + j] = S::one();
            self.complete_by_end[j * side + j] = S::one();
            for i in (0..j).rev() {
                let both = S::dot(
                    &self.complete[i * side + i..i * side + j],
                    &self.complete[j * side + i + 1..j * side + j + 1],
                );
                self.incomplete[i * side + j] = both.times(&arc(i, j));
                if i > 0 {
                    self.incomplete[j * side + i] = both.times(&arc(j, i));
                    let left = S::dot(
                        &self.incomplete[j * side + i..j * side + j],
                        &self.complete_by_end[i * side + i..i * side + j],
                    );
                    self.complete_by_end[i * side + j] = left.clone();
                    self.complete[j * side + i] = left;
                }
                if i > 0 || roots == Roots::Multi || j == words {
                    let right = S::dot(
                        &self.incomplete[i * side + i + 1..i * side + j + 1],
                        &self.complete_by_end[j * side + i + 1..j * side + j + 1],
                    );
                    self.complete_by_end[j * side + i] = right.clone();
                    self.complete[i * side + j] = right;
                }
            }
        }
        self.complete[words].clone()
    }

    /// The factors a and b of an item's sum: its value is Σ_k a\[k\]·b\[k\] (times the arc if incomplete).
    #[inline(always)]
    pub(super) fn splits(&self, item: Item) -> (&[S], &[S]) {
        let side = self.words + 1;
        match item {
            Item::Incomplete { head, modifier } => {
                let (i, j) = (head.min(modifier), head.max(modifier));
                (
                    &self.complete[i * side + i..i * side + j],
                    &self.complete[j * side + i + 1..j * side + j + 1],
                )
            }
            Item::Complete { head, end } => {
                let between = if head < end { head + 1..end + 1 } else { end..head };
                (
                    &self.incomplete[head * side + between.start..head * side + between.end],
                    &self.complete_by_end[end * side + between.start..end * side + between.end],
                )
            }
        }
    }

    /// The item of the whole sentence.
    pub(super) fn top(&self) -> Item {
        Item::Complete { head: 0, end: self.words }
    }

    pub(super) fn complete(&self) -> &[S] {
        &self.complete
    }

    pub(super) fn complete_by_end(&self) -> &[S] {
        &self.complete_by_end
    }

    pub(super) fn incomplete(&self) -> &[S] {
        &self.incomplete
    }

    /// Walks one derivation from the top and writes its heads. `choose` picks the split of each item.
    ///
    /// Open items are stored behind the heads, so that the caller's buffer is the only memory used.
    pub(super) fn derive(
        &self,
        heads: &mut Vec<usize>,
        mut choose: impl FnMut(&[S], &[S]) -> usize,
    ) {
        heads.clear();
        heads.reserve(5 * self.words + 8); // at most two open items for each word
        heads.resize(self.words, 0);
        heads.extend(self.top().packed());
        while heads.len() > self.words {
            let at = heads.len() - 2;
            let item = Item::unpacked([heads[at], heads[at + 1]]);
            heads.truncate(at);
            if let Item::Incomplete { head, modifier } = item {
                heads[modifier - 1] = head;
            }
            let (a, b) = self.splits(item);
            if !a.is_empty() {
                let (first, second) = item.parts(choose(a, b));
                heads.extend(second.packed());
                heads.extend(first.packed());
            }
        }
    }
}

impl Item {
    /// The item as two numbers; the parity of the second says whether it is incomplete.
    #[inline(always)]
    fn packed(self) -> [usize; 2] {
        match self {
            Item::Complete { head, end } => [head, 2 * end],
            Item::Incomplete { head, modifier } => [head, 2 * modifier + 1],
        }
    }

    #[inline(always)]
    fn unpacked([head, other]: [usize; 2]) -> Self {
        match other % 2 {
            0 => Item::Complete { head, end: other / 2 },
            _ => Item::Incomplete { head, modifier: other / 2 },
        }
    }

    /// The two items that split number `k` of this item is made of.
    #[inline(always)]
    pub(super) fn parts(self, k: usize) -> (Item, Item) {
        match self {
            Item::Incomplete { head, modifier } => {
                let (i, j) = (head.min(modifier), head.max(modifier));
                let q = i + k;
                (Item::Complete { head: i, end: q }, Item::Complete { head: j, end: q + 1 })
            }
            Item::Complete { head, end } => {
                let q = if head < end { head + 1 + k } else { end + k };
                (Item::Incomplete { head, modifier: q }, Item::Complete { head: q, end })
            }
        }
    }
}
