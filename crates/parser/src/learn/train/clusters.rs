//! Training models whose arcs are of several latent clusters (Smith & Smith 2007, §5); what these are,
//! see [`signal::latent`](crate::model::latent).
//!
//! Kinds that score alike stay alike, so they start from noise. Then every kind follows its share of
//! the gradient: K times the time and memory of one.

use super::TrainingOptions;
use crate::features::FeatureSet;
use crate::{ArcModel, Error, Index, Labelling, Optimizer};

/// The standard deviation of weights at the start: the paper says "noise", and no number.
const DEVIATION: f64 = 0.01;

/// A model to be trained, of as many clusters as the options say.
pub(super) fn untrained(features: FeatureSet, index: Index, options: &TrainingOptions) -> ArcModel {
    match options.clusters {
        1 => ArcModel::new(features, index),
        clusters => ArcModel::clustered(features, index, clusters, DEVIATION, options.seed),
    }
}

/// Refuses what cannot be trained, before anything is.
pub(super) fn check(options: &TrainingOptions) -> Result<(), Error> {
    /// Cells of a table are counted with 32 bits.
    const MOST_BITS: u32 = 32;
    let &TrainingOptions { clusters, bits, ref optimizer, labelling, .. } = options;
    let possible = 1..=256.min(1 << MOST_BITS.saturating_sub(bits));
    if !possible.contains(&clusters) {
        return Err(Error::Setting(format!(
            "{clusters} clusters of arcs with 2^{bits} weights each were asked for, but 1 to {} are \
             possible",
            possible.end()
        )));
    }
    check_labelling(clusters, labelling)?;
    match optimizer {
        Optimizer::AdaGrad { .. } | Optimizer::Sgd { .. } => Ok(()),
        _ if clusters == 1 => Ok(()),
        other => Err(other.needs_one_cluster()),
    }
}

/// Refuses joint labels where arcs are of several clusters: p(z | h → m) would depend on labels.
pub(super) fn check_labelling(clusters: usize, labelling: Labelling) -> Result<(), Error> {
    if clusters > 1 && labelling == Labelling::Joint {
        let why = "arcs of several clusters have no joint labels; staged ones or none are possible";
        return Err(Error::Setting(why.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
