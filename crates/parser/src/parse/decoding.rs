//! Choice of the tree.

use crate::{Error, ParserModel};

/// The tree of a distribution that a parse returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decoding {
    /// The tree with the most arcs expected to be right: minimum Bayes risk.
    #[default]
    Mbr,
    /// The most probable tree: maximum a posteriori. For a joint model, the most probable labelled tree at
    /// temperature 1. A temperature scales the scores of arcs but not of labels, so calibration would otherwise
    /// change the tree.
    Map,
    /// The most probable tree together with the clusters of its arcs, for models with latent clusters
    /// ([`ParserModel::clusters`]): the best tree under max_z θ_z(h → m).
    MaxZ,
}

impl Decoding {
    /// Refuses models without such a tree.
    ///
    /// # Errors
    /// [`Error::NoClusters`].
    pub fn check<W>(self, model: &ParserModel<W>) -> Result<(), Error> {
        match self {
            Decoding::MaxZ if model.clusters() == 1 => Err(Error::NoClusters),
            _ => Ok(()),
        }
    }
}
