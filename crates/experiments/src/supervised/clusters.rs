//! Smith & Smith (2007), table 2: latent clusters of arcs.

use anyhow::Result;
use tutte_treebank::eval::significance::UnitCounts;

use super::{Plan, WrittenSection};
use crate::data::Source;
use crate::decoder::Decoder;
use crate::lab::Lab;
use crate::page::{Comparison, Finding, LEVEL, Table, Verdict, percent};
use crate::trial::{Outcome, Trial};

/// Two of the paper's three languages. Arabic sentences are long, and 32 clusters take 32 times as long.
const TREEBANKS: [&str; 2] = ["conllx/danish", "conllx/dutch"];
/// Numbers of clusters; 0 is a model without clusters.
const CLUSTERS: [usize; 4] = [0, 2, 16, 32];
const LEARNER: &str = "sgd:rate=0.05,dropout=0";
const DECODERS: [Decoder; 3] = [Decoder::Map, Decoder::Mbr, Decoder::MaxZ];
const MAP: usize = 0;
const MAX_Z: usize = 2;

/// The paper's table: map, mbr, max-z, for each language and number of clusters.
const PAPER: [[&str; 4]; 2] = [
    ["87.5 / 87.5 / 87.5", "87.5 / 87.3 / 86.3", "87.6 / 87.6 / 87.6", "87.6 / 87.5 / 87.5"],
    ["90.0 / 90.0 / 90.0", "89.5 / 89.7 / 89.4", "90.1 / 90.1 / 90.2", ""],
];

fn trial(plan: &Plan, treebank: &str, clusters: usize) -> Trial {
    Trial {
        cut: plan.cluster_cut,
        clusters,
        passes: plan.cluster_passes,
        decoders: DECODERS.to_vec(),
        ..plan.trial(Source::treebank(treebank), LEARNER)
    }
}

pub(super) fn trials(plan: &Plan) -> Vec<Trial> {
    // The longest first.
    let of = |clusters| TREEBANKS.map(|treebank| trial(plan, treebank, clusters));
    CLUSTERS.into_iter().rev().flat_map(of).collect()
}

pub(super) fn write(plan: &Plan, lab: &Lab<Trial>) -> Result<WrittenSection> {
    let mut text = format!(
        "## Latent clusters of arcs (Smith & Smith 2007, table 2)\n\n\
         **Question:** if every arc belongs to one of Z latent clusters with its own weights, is the model \
         better? **Method:** conditional training by stochastic gradients with the clusters summed out. \
         Initial weights are noise of standard deviation 0.01; {} passes. Decoders: *map* and *mbr* use the \
         distribution over trees with the clusters summed out; *max-z* takes the best pair of a tree and the \
         clusters of its arcs. UAS on test, map / mbr / max-z, with the paper's numbers in brackets:\n\n",
        plan.cluster_passes
    );
    let mut outcomes: Vec<Vec<Outcome>> = Vec::new();
    for treebank in TREEBANKS {
        outcomes.push(
            CLUSTERS
                .iter()
                .map(|&clusters| lab.outcome(&trial(plan, treebank, clusters)))
                .collect::<Result<_>>()?,
        );
    }
    let mut table = Table::new(&["", "no clusters", "2", "16", "32"]);
    for ((treebank, outcomes), paper) in TREEBANKS.iter().zip(&outcomes).zip(PAPER) {
        let cells = outcomes.iter().zip(paper).map(|(outcome, paper)| {
            let uas = (0..DECODERS.len()).map(|decoder| percent(outcome.uas(decoder)));
            let ours = uas.collect::<Vec<_>>().join(" / ");
            if paper.is_empty() { ours } else { format!("{ours} ({paper})") }
        });
        let name = Source::treebank(treebank).to_string();
        table.row(&[name].into_iter().chain(cells).collect::<Vec<_>>());
    }
    text += table.text();
    let pool = |clusters: usize, decoder: usize| -> Vec<UnitCounts> {
        outcomes.iter().flat_map(|of_treebank| of_treebank[clusters].units(decoder)).collect()
    };
    // Each decoder of each number of clusters, against the same decoder without clusters.
    let mut gains = Vec::new();
    for clusters in 1..CLUSTERS.len() {
        for decoder in 0..DECODERS.len() {
            let comparison = Comparison::new(&pool(0, decoder), &pool(clusters, decoder));
            gains.push((CLUSTERS[clusters], DECODERS[decoder], comparison));
        }
    }
    let mut table =
        Table::new(&["compared with no clusters, all sentences", "map", "mbr", "max-z"]);
    for of_number in gains.chunks(DECODERS.len()) {
        let cells = of_number.iter().map(|(_, _, comparison)| comparison.by_permutation());
        let name = format!("{} clusters", of_number[0].0);
        table.row(&[name].into_iter().chain(cells).collect::<Vec<_>>());
    }
    text += "\n";
    text += table.text();
    let mut all_map = Vec::new();
    let mut all_max_z = Vec::new();
    for clusters in 1..CLUSTERS.len() {
        all_map.extend(pool(clusters, MAP));
        all_max_z.extend(pool(clusters, MAX_Z));
    }
    let max_z = Comparison::new(&all_map, &all_max_z);
    text += &format!(
        "\nmax-z instead of map, over all sentences and numbers of clusters: {}.\n",
        max_z.by_permutation()
    );
    let best = gains.iter().max_by(|a, b| a.2.difference.total_cmp(&b.2.difference));
    let largest_gain = best.map_or(String::new(), |(clusters, decoder, comparison)| {
        format!(
            "largest of nine gains: {clusters} clusters, {decoder}, {}",
            comparison.by_permutation()
        )
    });
    // There are nine comparisons, so the level is divided by nine (Bonferroni).
    let level = LEVEL / gains.len() as f64;
    let gained =
        |comparison: &Comparison| comparison.difference > 0.0 && comparison.permutation.p < level;
    let findings = vec![
        Finding {
            claim: "Latent clusters of arcs do not raise accuracy".to_owned(),
            paper: Some("−1.2 to +0.2, no significant gain".to_owned()),
            ours: largest_gain,
            verdict: Verdict::holds(!gains.iter().any(|(_, _, comparison)| gained(comparison))),
        },
        Finding {
            claim: "Choosing the clusters too (max-z) is not better than summing them out"
                .to_owned(),
            paper: Some("−1.2 to +0.1 against map".to_owned()),
            ours: max_z.by_permutation(),
            verdict: Verdict::not_less(-max_z.difference, max_z.permutation.p),
        },
    ];
    Ok(WrittenSection { text, findings })
}
