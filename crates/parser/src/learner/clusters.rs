//! Arcs of several latent kinds as learners see them: the models of all kinds, one behind the other
//! (see [`latent`]).

use tutte_trees::{ArcMatrix, Error as TreesError, TreeSet};

use super::scorer::{Differentiable, Scorer};
use crate::ArcModel;
use crate::features::Prepared;
use crate::signal::{Objective, Scored, Scratch, latent};
use crate::train::Example;

/// Scores by kind.
#[derive(Debug, Default)]
pub(crate) struct ByKind(Vec<ArcMatrix>);

impl Scorer for Vec<ArcModel> {
    type Memory = Prepared;
    type Scores = ByKind;

    fn cells(&self) -> usize {
        self.iter().map(|model| model.weights.len()).sum()
    }

    fn weight(&self, cell: usize) -> f32 {
        let size = self[0].weights.len();
        self[cell / size].weights[cell % size]
    }

    fn weight_mut(&mut self, cell: usize) -> &mut f32 {
        let size = self[0].weights.len();
        &mut self[cell / size].weights[cell % size]
    }

    fn weights(&self) -> impl Iterator<Item = &f32> {
        self.iter().flat_map(|model| &model.weights)
    }

    fn weights_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        self.iter_mut().flat_map(|model| &mut model.weights)
    }

    fn templates(&self) -> usize {
        self.first().map_or(0, |model| model.features.templates().len())
    }

    fn prepare(&self, example: &Example, keep: impl Fn(usize) -> bool, memory: &mut Prepared) {
        if let Some(first) = self.first() {
            let allowed = |head, modifier| example.candidates.allows(head, modifier);
            memory.fill_for(&first.features, &example.arcs, keep, allowed);
        }
    }

    fn score(&self, example: &Example, memory: &mut Prepared) -> ByKind {
        ByKind(self.iter().map(|model| Scorer::score(model, example, memory)).collect())
    }

    fn accumulate(
        &self,
        memory: &mut Prepared,
        coefficients: &ByKind,
        negligible: f64,
        mut add: impl FnMut(usize, f32),
    ) {
        let mut first = 0;
        for (model, coefficients) in self.iter().zip(&coefficients.0) {
            let add = |cell, amount| add(first + cell, amount);
            ArcModel::accumulate(model, memory, coefficients, negligible, add);
            first += model.weights.len();
        }
    }
}

impl Differentiable for ByKind {
    fn scale(&mut self, by: f64) {
        self.0.iter_mut().for_each(|scores| scores.scale(by));
    }

    fn evaluate(
        &self,
        objective: &Objective,
        example: &Example,
        tree_set: TreeSet,
        progress: f64,
        scratch: &mut Scratch,
        gradient: &mut Self,
    ) -> Result<f64, TreesError> {
        let summed = latent::summed(&self.0);
        let mut by_sum = ArcMatrix::default();
        let scored = Scored { scores: &summed, gold: &example.gold, tree_set };
        let value = objective.evaluate(scored, progress, scratch, &mut by_sum)?;
        gradient.0.clone_from(&self.0);
        gradient.0.iter_mut().for_each(|kind| latent::split(&by_sum, &summed, kind));
        Ok(value)
    }
}
