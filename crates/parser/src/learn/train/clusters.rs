//! Training of models with several latent clusters of arcs (Smith & Smith 2007, §5), see
//! [`latent`](crate::model::latent).
//!
//! Clusters with equal weights have equal gradients, so they start from noise. Then every cluster follows its
//! share of the gradient. K clusters take K times the time and memory of one.

use super::TrainingOptions;
use crate::features::FeatureSet;
use crate::{ArcModel, Error, Index, Labelling, Optimizer};

/// Standard deviation of the initial weights. The paper says "noise" without a number.
const DEVIATION: f64 = 0.01;

/// Returns an untrained model with the number of clusters of the options.
pub(super) fn untrained(features: FeatureSet, index: Index, options: &TrainingOptions) -> ArcModel {
    match options.clusters {
        1 => ArcModel::new(features, index),
        clusters => ArcModel::clustered(features, index, clusters, DEVIATION, options.seed),
    }
}

/// Refuses options that cannot be trained.
pub(super) fn check(options: &TrainingOptions) -> Result<(), Error> {
    /// Cells of a table have 32-bit numbers.
    const MOST_BITS: u32 = 32;
    let &TrainingOptions { clusters, bits, ref optimizer, labelling, .. } = options;
    let possible = 1..=256.min(1 << MOST_BITS.saturating_sub(bits));
    if !possible.contains(&clusters) {
        return Err(Error::Setting(format!(
            "{clusters} clusters of 2^{bits} arc weights each are not possible; choose 1 to {} clusters",
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

/// Refuses joint labels with several clusters: p(z | h → m) would depend on labels.
pub(super) fn check_labelling(clusters: usize, labelling: Labelling) -> Result<(), Error> {
    if clusters > 1 && labelling == Labelling::Joint {
        let why = "arcs of several clusters have no joint labels; choose staged labels, or none";
        return Err(Error::Setting(why.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
