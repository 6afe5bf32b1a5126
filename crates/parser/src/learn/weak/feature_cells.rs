//! Features of the arcs of a sentence, as indices into the table of weights.
//!
//! Training visits the same sentences many times, and looking up the features of an arc takes longer than adding their
//! weights. So the indices are cached, four bytes per feature and arc, up to [`MOST_CACHED`] of them. The features of
//! other sentences are looked up each time, with the same result.

use tutte_trees::{ArcMatrix, arcs};

use crate::features::index::Block as _;
use crate::features::{Atoms, FeatureSet, Prepared, bin};
use crate::{Candidates, Dictionary};

/// Limit on cached indices, which take up to a gigabyte.
pub(super) const MOST_CACHED: usize = 1 << 28;

/// Indices of the weights of each candidate arc of a sentence. Candidate a, in the order of [`arcs`], has
/// `cells[ends[a − 1]..ends[a]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FeatureCells {
    ends: Vec<u32>,
    cells: Vec<u32>,
}

impl FeatureCells {
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
        self.cells.clear();
        for (head, modifier) in arcs(atoms.words()).filter(|&(h, m)| allowed(h, m)) {
            let bin = bin(head, modifier);
            prepared.keys(head, modifier, |key| {
                let Some(block) = dictionary.block(key) else { return };
                let bare = block.cell(0).filter(|_| conjoin.bare());
                let binned = block.cell(bin).filter(|_| conjoin.binned());
                // A dictionary numbers its cells by u32.
                self.cells.extend(bare.into_iter().chain(binned).map(|cell| cell as u32));
            });
            self.ends.push(self.cells.len() as u32);
        }
    }

    /// Returns the number of stored integers.
    pub(super) fn len(&self) -> usize {
        self.cells.len() + self.ends.len()
    }

    /// Frees unused capacity.
    pub(super) fn shrink(&mut self) {
        self.cells.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Writes θ(h → m) = Σ w_f over the features f of each arc; −∞ for arcs that are not candidates.
    pub(super) fn score(
        &self,
        words: usize,
        weights: &[f32],
        candidates: &Candidates,
        scores: &mut ArcMatrix,
    ) {
        scores.reset(words, f64::NEG_INFINITY);
        for (arc, cells) in self.each(words, candidates) {
            scores[arc] = cells.iter().map(|&cell| f64::from(weights[cell as usize])).sum();
        }
    }

    /// Adds Σ coefficient(h → m) · f(h → m) to the gradient.
    pub(super) fn accumulate(
        &self,
        coefficients: &ArcMatrix,
        candidates: &Candidates,
        gradient: &mut [f64],
    ) {
        for (arc, cells) in self.each(coefficients.words(), candidates) {
            let coefficient = coefficients[arc];
            if coefficient != 0.0 {
                cells.iter().for_each(|&cell| gradient[cell as usize] += coefficient);
            }
        }
    }

    /// Returns all candidates with their cells.
    fn each<'a>(
        &'a self,
        words: usize,
        candidates: &'a Candidates,
    ) -> impl Iterator<Item = ((usize, usize), &'a [u32])> {
        let mut start = 0;
        let by_arc = self.ends.iter().map(move |&end| {
            let cells = &self.cells[start..end as usize];
            start = end as usize;
            cells
        });
        arcs(words).filter(|&(head, modifier)| candidates.allows(head, modifier)).zip(by_arc)
    }
}
