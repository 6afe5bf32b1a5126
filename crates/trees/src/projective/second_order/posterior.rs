//! The outside pass: probabilities of items and parts, from the top down.
//!
//! As in [`the first-order pass`](super::super::posterior), an item's probability is divided among its
//! splits in proportion to their inside products. Each split is a step of a sequence of children, so it
//! adds its share to that part. Shares of an item sum to 1 by construction, at any range of scores.

use super::chart::{Chart, Item};
use crate::SecondOrderParts;
use crate::projective::posterior::Shared;
use crate::weight::Log;

/// Probabilities of all items of a chart, in the layout of the chart.
#[derive(Clone, Debug, Default)]
pub(super) struct Posterior {
    complete: Vec<f64>,
    incomplete: Vec<f64>,
    between: Vec<f64>,
    shares: Vec<f64>,
    line: Vec<Log>,
}

impl Posterior {
    /// Writes the probability of every part; the chart's total must not be zero.
    pub(super) fn outside(
        &mut self,
        chart: &Chart<Log>,
        parts: &SecondOrderParts,
        out: &mut SecondOrderParts,
    ) {
        let layout = chart.layout;
        let words = layout.words;
        out.reset(words, layout.has_contexts);
        for (cells, length) in [
            (&mut self.complete, layout.complete_cells()),
            (&mut self.incomplete, layout.square_cells()),
            (&mut self.between, layout.square_cells()),
        ] {
            cells.clear();
            cells.resize(length, 0.0);
        }
        self.complete[layout.right(0, 0, words)] = 1.0;
        // Larger spans first: the probability of an item is final before it is divided.
        for j in (0..=words).rev() {
            for i in 0..j {
                for (head, end) in [(i, j), (j, i)] {
                    layout.for_contexts(parts, head, (i, j), |context| {
                        self.share_complete(chart, parts, context, head, end, out);
                    });
                }
                for (head, modifier) in [(i, j), (j, i)] {
                    layout.for_contexts(parts, head, (i, j), |context| {
                        self.share_incomplete(chart, parts, context, head, modifier, out);
                    });
                }
                layout.for_heads(parts, (i, j), |context| {
                    self.share_between(chart, parts, context, i, j);
                });
            }
        }
        for head in 0..=words {
            layout.for_contexts(parts, head, (head, head), |context| {
                let none = out.childless_mut(head);
                none[0] += self.complete[layout.left(context, head, head)];
                none[1] += self.complete[layout.right(context, head, head)];
            });
        }
    }

    fn share_complete(
        &mut self,
        chart: &Chart<Log>,
        parts: &SecondOrderParts,
        context: usize,
        head: usize,
        end: usize,
        out: &mut SecondOrderParts,
    ) {
        let layout = chart.layout;
        let whole = self.complete[layout.complete(context, head, end)];
        if whole == 0.0 {
            return;
        }
        let item = Item::Complete { context, head, end };
        let range = self.split(chart, parts, item);
        let own = layout.context(head);
        for (modifier, share) in range.zip(&self.shares) {
            let part = whole * share;
            let child = if head < end {
                layout.right(own, modifier, end)
            } else {
                layout.left(own, modifier, end)
            };
            *out.sibling_mut(head, modifier, head) += part;
            self.incomplete[layout.square(context, head, modifier)] += part;
            self.complete[child] += part;
        }
    }

    fn share_incomplete(
        &mut self,
        chart: &Chart<Log>,
        parts: &SecondOrderParts,
        context: usize,
        head: usize,
        modifier: usize,
        out: &mut SecondOrderParts,
    ) {
        let layout = chart.layout;
        let whole = self.incomplete[layout.square(context, head, modifier)];
        if whole == 0.0 {
            return;
        }
        out.add_chain(context, head, modifier, whole);
        let item = Item::Incomplete { context, head, modifier };
        let range = self.split(chart, parts, item);
        for (sibling, share) in range.zip(&self.shares) {
            let part = whole * share;
            *out.sibling_mut(head, sibling, modifier) += part;
            if sibling == head {
                self.complete[layout.facing(head, modifier)] += part;
            } else {
                let left = sibling.min(modifier);
                let right = sibling.max(modifier);
                self.incomplete[layout.square(context, head, sibling)] += part;
                self.between[layout.square(layout.context(head), left, right)] += part;
            }
        }
    }

    fn share_between(
        &mut self,
        chart: &Chart<Log>,
        parts: &SecondOrderParts,
        context: usize,
        left: usize,
        right: usize,
    ) {
        let layout = chart.layout;
        let whole = self.between[layout.square(context, left, right)];
        if whole == 0.0 {
            return;
        }
        let range = self.split(chart, parts, Item::Between { context, left, right });
        for (split, share) in range.zip(&self.shares) {
            let part = whole * share;
            self.complete[layout.right(context, left, split)] += part;
            self.complete[layout.left(context, right, split + 1)] += part;
        }
    }

    /// Writes the share of every split of an item, and returns the numbers of the splits.
    fn split(
        &mut self,
        chart: &Chart<Log>,
        parts: &SecondOrderParts,
        item: Item,
    ) -> std::ops::Range<usize> {
        let Self { shares, line, .. } = self;
        chart.split(parts, item, line, |range, a, b| {
            Log::shares(a, b, shares);
            range
        })
    }
}
