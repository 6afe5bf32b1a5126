//! Which tree is the answer.

use crate::{Error, ParserModel};

/// Which tree of a distribution is the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decoding {
    /// The tree with the most arcs expected to be right: minimum Bayes risk.
    #[default]
    Mbr,
    /// The most probable tree, whatever the temperature: maximum a posteriori. Of a joint model, it is the
    /// most probable one together with its labels, as it was learnt, that is at temperature 1, since
    /// temperatures weigh arcs but not labels; so calibration does not change it.
    Map,
    /// The most probable tree together with the clusters of its arcs, for models whose arcs are of
    /// several latent clusters ([`ParserModel::clusters`]): the best of max_z θ_z(h → m).
    MaxZ,
}

impl Decoding {
    /// Refuses models that have no such tree.
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
