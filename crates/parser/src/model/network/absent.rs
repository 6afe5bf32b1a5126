//! Stand-in for networks in builds without the feature `neural`: a type without values.

use tutte_treebank::Sentence;
use tutte_trees::ArcMatrix;

use super::{NetworkDocument, WordTags};
use crate::Error;
use crate::model::labels::{ArcLabels, LabelModel};

/// A network as a scorer. This build has none: the feature `neural` is off.
#[derive(Clone, Copy, Debug)]
pub enum NetworkScorer {}

/// Memory of a network for one thread.
#[derive(Debug, Default)]
pub(crate) struct NetworkMemory {}

impl NetworkScorer {
    pub(crate) fn add_scores(
        &self,
        _: &Sentence,
        _: &mut NetworkMemory,
        _: &mut ArcMatrix,
    ) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) fn score_labels<W>(
        &self,
        _: &LabelModel<W>,
        _: &mut NetworkMemory,
        _: &ArcMatrix,
        _: &mut ArcLabels,
    ) {
        match *self {}
    }

    pub(crate) fn tags(
        &self,
        _: &Sentence,
        _: &mut NetworkMemory,
        _: f64,
    ) -> Result<Option<Vec<WordTags<'_>>>, Error> {
        match *self {}
    }

    pub(crate) fn document(&self) -> NetworkDocument {
        match *self {}
    }

    /// Returns `true` if the network finds tags.
    pub fn has_tags(&self) -> bool {
        match *self {}
    }
}
