//! The features of arcs as numbers of weights.
//!
//! Learning goes over the same sentences a hundred times, and looking up the features of an arc takes
//! longer than adding their weights: so the numbers are kept, four bytes for each feature of each arc, as
//! long as there are fewer than [`KEPT`] of them. The others are looked up anew every time, which gives
//! the same numbers.

use tutte_trees::{ArcMatrix, arcs};

use crate::features::index::Block as _;
use crate::features::{Atoms, FeatureSet, Prepared, bin};
use crate::{Candidates, Dictionary};

/// So many numbers are kept: a gigabyte.
pub(super) const KEPT: usize = 1 << 28;

/// The weights of the arcs of a sentence: for arc a of those that are candidates, in the order of
/// [`arcs`], the numbers from `ends[a − 1]` to `ends[a]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Rows {
    ends: Vec<u32>,
    weights: Vec<u32>,
}

impl Rows {
    /// Looks up the features of a sentence.
    pub(super) fn fill(
        &mut self,
        features: &FeatureSet,
        dictionary: &Dictionary,
        atoms: &Atoms,
        candidates: &Candidates,
        prepared: &mut Prepared,
    ) {
        let allowed = |head, modifier| candidates.allows(head, modifier);
        prepared.fill_for(features, atoms, |_| true, allowed);
        let conjoin = features.conjoin();
        self.ends.clear();
        self.weights.clear();
        for (head, modifier) in arcs(atoms.words()).filter(|&(h, m)| allowed(h, m)) {
            let bin = bin(head, modifier);
            prepared.keys(head, modifier, |key| {
                let Some(block) = dictionary.block(key) else { return };
                let bare = block.cell(0).filter(|_| conjoin.bare());
                let binned = block.cell(bin).filter(|_| conjoin.binned());
                // A dictionary numbers its cells by u32.
                self.weights.extend(bare.into_iter().chain(binned).map(|cell| cell as u32));
            });
            self.ends.push(self.weights.len() as u32);
        }
    }

    /// How many numbers they are.
    pub(super) fn len(&self) -> usize {
        self.weights.len() + self.ends.len()
    }

    /// Keeps no more memory than they need.
    pub(super) fn shrink(&mut self) {
        self.weights.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// θ(h → m) = Σ w_f over the features f of the arc; −∞ for what is no candidate.
    pub(super) fn score(
        &self,
        words: usize,
        weights: &[f32],
        candidates: &Candidates,
        scores: &mut ArcMatrix,
    ) {
        scores.reset(words, f64::NEG_INFINITY);
        for (arc, row) in self.each(words, candidates) {
            scores[arc] = row.iter().map(|&weight| f64::from(weights[weight as usize])).sum();
        }
    }

    /// gradient += Σ coefficient(h → m) · f(h → m).
    pub(super) fn accumulate(
        &self,
        coefficients: &ArcMatrix,
        candidates: &Candidates,
        gradient: &mut [f64],
    ) {
        for (arc, row) in self.each(coefficients.words(), candidates) {
            let coefficient = coefficients[arc];
            if coefficient != 0.0 {
                row.iter().for_each(|&weight| gradient[weight as usize] += coefficient);
            }
        }
    }

    /// All candidates with their weights' numbers.
    fn each<'a>(
        &'a self,
        words: usize,
        candidates: &'a Candidates,
    ) -> impl Iterator<Item = ((usize, usize), &'a [u32])> {
        let mut start = 0;
        let rows = self.ends.iter().map(move |&end| {
            let row = &self.weights[start..end as usize];
            start = end as usize;
            row
        });
        arcs(words).filter(|&(head, modifier)| candidates.allows(head, modifier)).zip(rows)
    }
}
