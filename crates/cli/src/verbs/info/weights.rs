//! Largest weights of a model that stores the names of its features.

use std::cmp::Reverse;
use std::io::Write as _;

use anyhow::Result;
use serde::Serialize;
use tutte::features::BLOCK;
use tutte::{Index, ModelFile, Weights};

use crate::failure::{Outcome, usage};
use crate::report::{Align, Table, shorten};
use crate::session::Session;

/// Names of the weights of a feature: alone, and with direction (from head to modifier) and distance.
const SLOTS: [&str; BLOCK - 1] = [
    "alone",
    "→1",
    "→2",
    "→3",
    "→4",
    "→5",
    "→6–10",
    "→11…",
    "←1",
    "←2",
    "←3",
    "←4",
    "←5",
    "←6–10",
    "←11…",
];

/// A feature and its weights that are not zero.
#[derive(Debug, Serialize)]
struct Feature {
    feature: String,
    weights: Vec<SlotWeight>,
}

#[derive(Debug, Serialize)]
struct SlotWeight {
    #[serde(rename = "with")]
    slot: &'static str,
    weight: f32,
}

/// Prints the features with the largest weights, alone or with a direction and distance.
pub(super) fn show(file: &ModelFile, top: usize, session: &Session) -> Result<Outcome> {
    let features = largest(file, top)?;
    if session.json() {
        session.print_json(&features)?;
        return Ok(Outcome::Good);
    }
    let weight = |feature: &Feature, slot: &str| {
        let found = feature.weights.iter().find(|weight| weight.slot == slot);
        found.map(|weight| format!("{:.2}", weight.weight))
    };
    let used: Vec<&str> = SLOTS
        .into_iter()
        .filter(|slot| features.iter().any(|feature| weight(feature, slot).is_some()))
        .collect();
    let names = used.iter().map(|slot| (*slot, Align::Right));
    let mut table = Table::new(names.chain([("feature", Align::Left)]));
    for feature in &features {
        let cells = used.iter().map(|slot| weight(feature, slot).unwrap_or_default());
        table.row(cells.chain([shorten(&feature.feature, LONGEST)]));
    }
    let mut out = session.stdout();
    out.write_all(table.text(0).as_bytes())?;
    out.flush()?;
    Ok(Outcome::Good)
}

/// Length of the longest name in a table.
const LONGEST: usize = 120;

/// Returns the features with the largest weights. Features of equal weight are sorted by name.
fn largest(file: &ModelFile, top: usize) -> Result<Vec<Feature>> {
    let arcs = &file.model.require_parser()?.arcs;
    let Index::Dictionary(dictionary) = &arcs.index else {
        return Err(usage(
            "--weights needs the names of features, but this model has hashed features, which have none; train a \
             model with --features dictionary",
        ));
    };
    if arcs.clusters() > 1 {
        return Err(usage(format!(
            "--weights needs one weight per feature, but this model has {} latent clusters, each with a weight of \
             its own; train a model without --clusters",
            arcs.clusters()
        )));
    }
    let cells = arcs.weights.cells();
    let size = |slots: [Option<usize>; BLOCK]| {
        slots.into_iter().flatten().map(|cell| cells[cell].unsigned_abs()).max().unwrap_or(0)
    };
    // Names are built only for features at least as large as the last one shown.
    let mut sizes: Vec<u8> = dictionary.slots().map(size).collect();
    let smallest = match top.checked_sub(1) {
        None => return Ok(Vec::new()),
        Some(last) if last < sizes.len() => {
            *sizes.select_nth_unstable_by_key(last, |s| Reverse(*s)).1
        }
        Some(_) => 0,
    };
    let features = dictionary.names().read(&arcs.features).zip(dictionary.slots());
    let mut features: Vec<(Reverse<u8>, String, [Option<usize>; BLOCK])> = features
        .filter(|(_, slots)| size(*slots) >= smallest.max(1))
        .map(|(name, slots)| (Reverse(size(slots)), name.to_string(), slots))
        .collect();
    features.sort_unstable();
    features.truncate(top);
    let weights = |slots: [Option<usize>; BLOCK]| {
        let cells =
            SLOTS.into_iter().zip(slots).filter_map(|(slot, cell)| Some((slot, cells[cell?])));
        let weights = cells.filter(|(_, cell)| *cell != 0).map(|(slot, cell)| SlotWeight {
            slot,
            weight: f32::from(cell) * arcs.weights.scale(),
        });
        weights.collect()
    };
    let named = features
        .into_iter()
        .map(|(_, feature, slots)| Feature { feature, weights: weights(slots) });
    Ok(named.collect())
}
