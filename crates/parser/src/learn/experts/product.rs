//! The product of experts as one model.

use super::forest::check;
use crate::{ArcModel, Error, LabelModel, ParserModel, Weights};

/// Returns the product of experts: one model whose weights are Σ_k θ_k w_k. It is as fast as one expert, and its
/// temperature is 1. Staged labels are the product, too: p(ℓ | h → m) ∝ Π_k p_k(ℓ | h → m)^θ_k.
///
/// # Errors
/// [`Error::Setting`] if the models differ in templates, in sizes of tables, in labels or in tree sets.
pub fn product<W: Weights>(
    experts: &[ParserModel<W>],
    weights: &[f64],
) -> Result<ParserModel, Error> {
    check(experts)?;
    let refuse = |why: String| Err(Error::Setting(why));
    if experts.len() != weights.len() {
        let (models, weights) = (experts.len(), weights.len());
        return refuse(format!("there are {models} experts and {weights} weights"));
    }
    let first = &experts[0];
    for (number, expert) in (1..).zip(experts) {
        let tables = |model: &ParserModel<W>| {
            let labels = &model.labels;
            let sizes = [model.arcs.weights.cells().len(), labels.weights.cells().len()];
            (model.arcs.features.to_string(), labels.features.to_string(), sizes)
        };
        if tables(expert) != tables(first) || expert.arcs.clusters != 1 || expert.network.is_some()
        {
            return refuse(format!(
                "expert {number} has other templates or tables than the first, so that their product is not one model; \
                 train both with the same --templates and --bits"
            ));
        }
    }
    let sum = |table: fn(&ParserModel<W>) -> &W| {
        let mut sum = vec![0.0; table(first).cells().len()];
        for (expert, weight) in experts.iter().zip(weights) {
            let table = table(expert);
            let factor = *weight as f32 * table.scale();
            let cells = sum.iter_mut().zip(table.cells());
            cells.for_each(|(sum, &cell)| *sum += factor * cell.into());
        }
        sum
    };
    let labels = &first.labels;
    let arcs = ArcModel {
        features: first.arcs.features.clone(),
        index: first.arcs.index.clone(),
        clusters: 1,
        weights: sum(|model| &model.arcs.weights),
    };
    let names = labels.labels().to_vec();
    let of_labels = sum(|model| &model.labels.weights);
    let all = LabelModel::with_weights(labels.features.clone(), names, labels.bits(), of_labels)
        .with_labelling(labels.labelling())
        .with_allowed_labels(labels.allowed_labels().clone());
    let product = ParserModel::new(arcs, all, first.tree_set);
    let single_labels = first.single_labels.clone();
    Ok(ParserModel { rules: first.rules.clone(), single_labels, ..product })
}
