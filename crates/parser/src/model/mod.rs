//! What was learnt, in memory and as a file.

mod file;

#[cfg(test)]
mod tests;

use tutte_trees::TreeSet;

pub use self::file::{About, DevScores, ModelFile};
use crate::{ArcModel, Compact, LabelModel};

/// A model of labelled trees: arcs first, then the label of each. Its weights are of 32 bits while
/// it is learnt, `Model`, and of 8 bits when it comes from a file, `Model<Compact>`.
#[derive(Clone, Debug)]
pub struct Model<W = Vec<f32>> {
    /// Scores of arcs.
    pub arcs: ArcModel<W>,
    /// Probabilities of labels.
    pub labels: LabelModel<W>,
    /// The trees that are possible.
    pub tree_set: TreeSet,
}

impl Model {
    /// The same model with weights rounded to 8 bits, as a file holds it.
    pub fn compact(&self) -> Model<Compact> {
        let Model { arcs, labels, tree_set } = self;
        Model {
            arcs: ArcModel {
                features: arcs.features.clone(),
                index: arcs.index.clone(),
                weights: Compact::new(&arcs.weights),
            },
            labels: LabelModel::with_weights(
                labels.features.clone(),
                labels.labels().to_vec(),
                labels.bits(),
                Compact::new(&labels.weights),
            ),
            tree_set: *tree_set,
        }
    }
}
