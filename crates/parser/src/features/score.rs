//! Scores of the arcs of a prepared sentence, and the way back: from derivatives by scores to
//! derivatives by weights.

use tutte_linear::{Cell, spread};
use tutte_trees::{ArcMatrix, arcs};

use super::prepared::{Prepared, hidden};
use super::rows::Rows;
use super::set::Conjoin;
use super::{BLOCK, bin};
use crate::features::index::Block;

/// The sums over the templates of one word, for all places: `[views · place + view]`.
struct Sums<T>(Vec<[T; BLOCK]>);

impl<T: Copy + Default> Sums<T> {
    fn zeros(rows: &Rows, words: usize) -> Self {
        Self(vec![[T::default(); BLOCK]; (words + 1) * rows.views()])
    }

    #[inline]
    fn at(&mut self, rows: &Rows, place: usize, hidden: usize) -> &mut [T; BLOCK] {
        &mut self.0[rows.views() * place + rows.view(hidden)]
    }

    /// Returns all sums, each with the template halves of its row.
    fn with_templates<'a>(
        &'a mut self,
        rows: &'a Rows,
    ) -> impl Iterator<Item = (&'a mut [T; BLOCK], &'a [u64])> {
        let views = rows.views();
        (0..).zip(&mut self.0).map(move |(at, sums)| (sums, rows.row(at / views, at % views)))
    }
}

impl Prepared {
    /// Scores all arcs, with weights multiplied by `scale`. `block` finds the weights of a key, if it has
    /// any. Arcs that `keep` rejects are forbidden (−∞).
    pub(crate) fn score<W: Cell, B: Block>(
        &self,
        weights: &[W],
        scale: f32,
        block: impl Fn(u64) -> Option<B>,
        keep: impl Fn(usize, usize) -> bool,
        scores: &mut ArcMatrix,
    ) {
        // Compiled for each case: this is the hot loop of parsing.
        match self.conjoin {
            Conjoin::Both => {
                self.score_copies::<_, _, true, true>(weights, scale, block, keep, scores);
            }
            Conjoin::Only => {
                self.score_copies::<_, _, false, true>(weights, scale, block, keep, scores);
            }
            Conjoin::None => {
                self.score_copies::<_, _, true, false>(weights, scale, block, keep, scores);
            }
        }
    }

    fn score_copies<W: Cell, B: Block, const BARE: bool, const BINNED: bool>(
        &self,
        weights: &[W],
        scale: f32,
        block: impl Fn(u64) -> Option<B>,
        keep: impl Fn(usize, usize) -> bool,
        scores: &mut ArcMatrix,
    ) {
        let sums = |rows: &Rows| {
            let mut all = Sums::<W::Sum>::zeros(rows, self.words());
            for (sums, halves) in all.with_templates(rows) {
                for block in halves.iter().filter_map(|half| block(spread(*half))) {
                    block.add_all(weights, sums);
                }
            }
            all
        };
        let mut heads = sums(&self.head);
        let mut modifiers = sums(&self.modifier);
        for (head, modifier) in arcs(self.words()) {
            scores[(head, modifier)] = if keep(head, modifier) {
                let bin = bin(head, modifier);
                let hidden = hidden(head, modifier);
                let mut sum = W::Sum::default();
                self.binary(head, modifier, |key| {
                    if let Some(block) = block(key) {
                        sum = block.add::<_, BARE, BINNED>(weights, bin, sum);
                    }
                });
                let mut score = W::value(sum);
                for sums in [
                    heads.at(&self.head, head, hidden.0),
                    modifiers.at(&self.modifier, modifier, hidden.1),
                ] {
                    score += if BARE { W::value(sums[0]) } else { 0.0 };
                    score += if BINNED { W::value(sums[bin]) } else { 0.0 };
                }
                f64::from(score * scale)
            } else {
                f64::NEG_INFINITY
            };
        }
    }

    /// Adds up `coefficient · f` over all arcs by `add(cell, amount)`, any number of times per cell.
    /// Skips arcs whose coefficient is at most `negligible` in absolute value.
    pub(crate) fn accumulate<B: Block>(
        &self,
        coefficients: &ArcMatrix,
        negligible: f64,
        block: impl Fn(u64) -> Option<B>,
        mut add: impl FnMut(usize, f32),
    ) {
        let bare = self.conjoin.bare();
        let binned = self.conjoin.binned();
        // Templates of one word get the sum over its arcs.
        let mut heads = Sums::<f32>::zeros(&self.head, self.words());
        let mut modifiers = Sums::<f32>::zeros(&self.modifier, self.words());
        for (head, modifier) in arcs(self.words()) {
            let coefficient = coefficients[(head, modifier)];
            if coefficient.abs() <= negligible {
                continue;
            }
            let coefficient = coefficient as f32;
            let bin = bin(head, modifier);
            let hidden = hidden(head, modifier);
            for sums in [
                heads.at(&self.head, head, hidden.0),
                modifiers.at(&self.modifier, modifier, hidden.1),
            ] {
                sums[0] += if bare { coefficient } else { 0.0 };
                sums[bin] += if binned { coefficient } else { 0.0 };
            }
            self.binary(head, modifier, |key| {
                if let Some(block) = block(key) {
                    if bare && let Some(cell) = block.cell(0) {
                        add(cell, coefficient);
                    }
                    if binned && let Some(cell) = block.cell(bin) {
                        add(cell, coefficient);
                    }
                }
            });
        }
        for (rows, all) in [(&self.head, &mut heads), (&self.modifier, &mut modifiers)] {
            for (sums, halves) in all.with_templates(rows) {
                if sums.iter().all(|sum| *sum == 0.0) {
                    continue;
                }
                for block in halves.iter().filter_map(|half| block(spread(*half))) {
                    for (slot, sum) in sums.iter().enumerate().filter(|(_, sum)| **sum != 0.0) {
                        block.cell(slot).into_iter().for_each(|cell| add(cell, *sum));
                    }
                }
            }
        }
    }
}
