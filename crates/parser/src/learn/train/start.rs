//! Initial weights of a training: those of another model.

use tutte_linear::Checksum;

use crate::features::{FactorSet, FeatureSet};
use crate::{ArcModel, Compact, Error, LabelModel, ParserModel, Weights};

/// Copies the weights of the last pass and of labels.
pub(super) fn copy_weights(from: &ParserModel<Compact>, to: &mut ParserModel) -> Result<(), Error> {
    let arcs = from.second_pass.as_ref().map_or(&from.arcs, |second_pass| &second_pass.arcs);
    if from.tree_set != to.tree_set {
        return refuse("tree set", from.tree_set, to.tree_set);
    }
    let passes = |is_second: bool| if is_second { "two" } else { "one" };
    let found = [from.second_pass.is_some(), to.second_pass.is_some()];
    if found[0] != found[1] {
        return refuse("number of passes", passes(found[0]), passes(found[1]));
    }
    check_arcs(arcs, to.last_pass())?;
    check_labels(&from.labels, &to.labels)?;
    let found = from.second_pass.as_ref().and_then(|second_pass| second_pass.factors.as_ref());
    let expected = to.second_pass.as_mut().and_then(|second_pass| second_pass.factors.as_mut());
    let described = |templates: Option<&FactorSet>, bits: Option<u32>| match (templates, bits) {
        (Some(templates), Some(bits)) => {
            format!("{} templates of 2^{bits} weights", templates.len())
        }
        _ => "none".to_owned(),
    };
    let is_same = match (found, &expected) {
        (Some(found), Some(expected)) => {
            (&found.features, found.bits()) == (&expected.features, expected.bits())
        }
        (found, expected) => found.is_none() && expected.is_none(),
    };
    if !is_same {
        let of_found = described(found.map(|it| &it.features), found.map(|it| it.bits()));
        let expected = expected.as_deref();
        let of_expected = described(expected.map(|it| &it.features), expected.map(|it| it.bits()));
        return refuse("set of factors", of_found, of_expected);
    }
    if let (Some(found), Some(expected)) = (found, expected) {
        expected.weights = unpacked(&found.weights);
    }
    to.last_pass().weights = unpacked(&arcs.weights);
    to.labels.weights = unpacked(from.labels.weights());
    Ok(())
}

/// Returns the hash of the weights that [`copy_weights`] copies.
pub(super) fn fingerprint(model: &ParserModel<Compact>) -> String {
    let arcs = model.second_pass.as_ref().map_or(&model.arcs, |second_pass| &second_pass.arcs);
    let mut hash = Checksum::default();
    let factors = model.second_pass.as_ref().and_then(|second_pass| second_pass.factors.as_ref());
    let factors = factors.map(|factors| &factors.weights);
    for weights in [&arcs.weights, model.labels.weights()].into_iter().chain(factors) {
        hash.update(&weights.scale().to_le_bytes());
        hash.update(bytemuck::cast_slice(weights.cells()));
    }
    hash.to_string()
}

fn check_arcs(from: &ArcModel<Compact>, to: &ArcModel) -> Result<(), Error> {
    check_templates("feature templates", &from.features, &to.features)?;
    if from.weights.cells().len() != to.weights.len() {
        return refuse("number of weights", from.weights.cells().len(), to.weights.len());
    }
    if from.clusters != to.clusters {
        return refuse("number of clusters", from.clusters, to.clusters);
    }
    Ok(())
}

fn check_labels(from: &LabelModel<Compact>, to: &LabelModel) -> Result<(), Error> {
    if from.labelling() != to.labelling() {
        return refuse("labelling", from.labelling(), to.labelling());
    }
    if from.labels() != to.labels() {
        return refuse("list of labels", from.labels().join(" "), to.labels().join(" "));
    }
    check_templates("templates of labels", &from.features, &to.features)?;
    if from.bits() != to.bits() {
        return refuse("number of weights of labels, as a power of two,", from.bits(), to.bits());
    }
    Ok(())
}

fn check_templates(what: &str, from: &FeatureSet, to: &FeatureSet) -> Result<(), Error> {
    let [found, expected] = [from, to].map(ToString::to_string);
    if found == expected {
        return Ok(());
    }
    let of = |text: &str| format!("{} templates", text.lines().count());
    refuse(what, of(&found), of(&expected))
}

fn refuse<T: std::fmt::Display>(
    what: &str,
    found: T,
    expected: impl std::fmt::Display,
) -> Result<(), Error> {
    Err(Error::Setting(format!(
        "training cannot start from that model: its {what} is {found}, this training has {expected}; use the options \
         and the treebank that the model was trained with"
    )))
}

fn unpacked(weights: &Compact) -> Vec<f32> {
    let scale = weights.scale();
    weights.cells().iter().map(|&cell| f32::from(cell) * scale).collect()
}
