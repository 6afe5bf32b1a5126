//! Training models whose arcs are of several latent kinds (Smith & Smith 2007, §5); what these are,
//! see [`signal::latent`](crate::model::latent).
//!
//! Kinds that score alike stay alike, so they start from noise. Then every kind follows its share of
//! the gradient: K times the time and memory of one.

use super::Options;
use crate::features::FeatureSet;
use crate::{ArcModel, Error, Index, Labelling, Learner};

/// The standard deviation of weights at the start: the paper says "noise", and no number.
const DEVIATION: f64 = 0.01;

/// A model to be trained, of as many kinds as the options say.
pub(super) fn untrained(features: FeatureSet, index: Index, options: &Options) -> ArcModel {
    match options.clusters {
        1 => ArcModel::new(features, index),
        kinds => ArcModel::clustered(features, index, kinds, DEVIATION, options.seed),
    }
}

/// Refuses what cannot be trained, before anything is.
pub(super) fn check(options: &Options) -> Result<(), Error> {
    /// Cells of a table are counted with 32 bits.
    const MOST_BITS: u32 = 32;
    let &Options { clusters, bits, ref learner, labelling, .. } = options;
    let possible = 1..=256.min(1 << MOST_BITS.saturating_sub(bits));
    if !possible.contains(&clusters) {
        return Err(Error::Setting(format!(
            "{clusters} clusters of arcs with 2^{bits} weights each were asked for, but 1 to {} are \
             possible",
            possible.end()
        )));
    }
    check_labelling(clusters, labelling)?;
    match learner {
        Learner::AdaGrad { .. } | Learner::Sgd { .. } => Ok(()),
        _ if clusters == 1 => Ok(()),
        other => Err(other.needs_one_kind()),
    }
}

/// Refuses joint labels where arcs are of several kinds: p(z | h → m) would depend on labels.
pub(super) fn check_labelling(kinds: usize, labelling: Labelling) -> Result<(), Error> {
    if kinds > 1 && labelling == Labelling::Joint {
        let why = "arcs of several kinds have no joint labels; staged ones or none are possible";
        return Err(Error::Setting(why.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
