//! Stand-in for networks in builds without the feature `neural`: a type without values.

use tutte_treebank::Sentence;
use tutte_trees::ArcMatrix;

use super::{NetworkDocument, ScoreWeights, WordTags};
use crate::model::labels::{ArcLabels, LabelModel};
use crate::text::{SoftTag, Tagger};
use crate::{Error, Weights};

/// A network as a scorer. This build has none: the feature `neural` is off.
#[derive(Clone, Copy, Debug)]
pub enum NetworkScorer {}

/// Memory of a network for one thread.
#[derive(Debug, Default)]
pub(crate) struct NetworkMemory {}

impl NetworkScorer {
    pub(crate) fn prepare<'s>(
        &self,
        _: impl IntoIterator<Item = &'s Sentence>,
        _: &mut NetworkMemory,
    ) {
        match *self {}
    }

    pub(crate) fn add_scores(
        &self,
        _: &Sentence,
        _: &mut NetworkMemory,
        _: &mut ArcMatrix,
    ) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) fn score_labels_of<W>(
        &self,
        _: &LabelModel<W>,
        _: &NetworkMemory,
        _: (usize, usize),
        _: &mut Vec<f32>,
    ) -> bool {
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

    pub(crate) fn tags<W: Weights>(
        &self,
        _: &Sentence,
        _: &mut NetworkMemory,
        _: f64,
        _: Option<&Tagger<W>>,
    ) -> Result<Option<Vec<WordTags<'_>>>, Error> {
        match *self {}
    }

    pub(crate) fn soft_tags<W: Weights>(
        &self,
        _: &Sentence,
        _: &mut NetworkMemory,
        _: f64,
        _: Option<&Tagger<W>>,
    ) -> Result<Option<Vec<Vec<SoftTag<'_>>>>, Error> {
        match *self {}
    }

    pub(crate) fn document(&self) -> NetworkDocument {
        match *self {}
    }

    /// Rounds the weights of the network to 8 bits.
    pub fn quantize(&self) -> Self {
        match *self {}
    }

    /// Returns the weights of features and of the network, if the model has both.
    pub fn score_weights(&self) -> Option<ScoreWeights> {
        match *self {}
    }

    /// Returns the name of the folder of the encoder, if model files do not contain the encoder.
    pub fn encoder_outside(&self) -> Option<&str> {
        match *self {}
    }

    /// Returns `true` if the network finds tags, and does not leave them to a tagger.
    pub fn has_tags(&self) -> bool {
        match *self {}
    }
}
