//! Smith & Smith (2007), table 2: latent clusters of arcs.

use anyhow::Result;
use tutte_treebank::eval::significance::UnitCounts;

use super::{Plan, Written};
use crate::data::Source;
use crate::decoder::Decoder;
use crate::lab::Lab;
use crate::page::{Duel, Finding, LEVEL, Table, Verdict, percent};
use crate::trial::{Outcome, Trial};

/// Two of their three languages: Arabic sentences are long, and 32 kinds of arcs take 32 times as
/// long.
const TREEBANKS: [&str; 2] = ["conllx/danish", "conllx/dutch"];
/// 0: no clusters.
const KINDS: [usize; 4] = [0, 2, 16, 32];
const LEARNER: &str = "sgd:rate=0.05,dropout=0";
const DECODERS: [Decoder; 3] = [Decoder::Map, Decoder::Mbr, Decoder::MaxZ];
const MAP: usize = 0;
const MAX_Z: usize = 2;

/// Their table: map, mbr, max-z, for each language and number of clusters.
const PAPER: [[&str; 4]; 2] = [
    ["87.5 / 87.5 / 87.5", "87.5 / 87.3 / 86.3", "87.6 / 87.6 / 87.6", "87.6 / 87.5 / 87.5"],
    ["90.0 / 90.0 / 90.0", "89.5 / 89.7 / 89.4", "90.1 / 90.1 / 90.2", ""],
];

fn trial(plan: &Plan, treebank: &str, kinds: usize) -> Trial {
    Trial {
        cut: plan.cluster_cut,
        kinds,
        passes: plan.cluster_passes,
        decoders: DECODERS.to_vec(),
        ..plan.trial(Source::treebank(treebank), LEARNER)
    }
}

pub(super) fn trials(plan: &Plan) -> Vec<Trial> {
    // The longest first.
    let of = |kinds| TREEBANKS.map(|treebank| trial(plan, treebank, kinds));
    KINDS.into_iter().rev().flat_map(of).collect()
}

pub(super) fn write(plan: &Plan, lab: &Lab<Trial>) -> Result<Written> {
    let mut text = format!(
        "## Latent clusters of arcs (Smith & Smith 2007, table 2)\n\n\
         **Asked:** if every arc is of one of Z kinds that nobody has named, each with weights of its own, \
         does the model get better? **How:** conditional training by stochastic gradients with the kinds \
         summed out, weights started at noise of deviation 0.01, {} passes. Decoders: *map* and *mbr* of \
         the distribution over trees with the kinds summed out, *max-z* the best tree together with the \
         kinds of its arcs. UAS on test, map / mbr / max-z, and what the paper has in brackets:\n\n",
        plan.cluster_passes
    );
    let mut outcomes: Vec<Vec<Outcome>> = Vec::new();
    for treebank in TREEBANKS {
        outcomes.push(
            KINDS
                .iter()
                .map(|&kinds| lab.outcome(&trial(plan, treebank, kinds)))
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
    let pool = |kinds: usize, decoder: usize| -> Vec<UnitCounts> {
        outcomes.iter().flat_map(|of_treebank| of_treebank[kinds].units(decoder)).collect()
    };
    // Each decoder of each number of clusters, against the same decoder without clusters.
    let mut gains = Vec::new();
    for kinds in 1..KINDS.len() {
        for decoder in 0..DECODERS.len() {
            let duel = Duel::new(&pool(0, decoder), &pool(kinds, decoder));
            gains.push((KINDS[kinds], DECODERS[decoder], duel));
        }
    }
    let mut table = Table::new(&["against no clusters, all sentences", "map", "mbr", "max-z"]);
    for of_kinds in gains.chunks(DECODERS.len()) {
        let cells = of_kinds.iter().map(|(_, _, duel)| duel.by_permutation());
        let name = format!("{} clusters", of_kinds[0].0);
        table.row(&[name].into_iter().chain(cells).collect::<Vec<_>>());
    }
    text += "\n";
    text += table.text();
    let mut all = (Vec::new(), Vec::new());
    for kinds in 1..KINDS.len() {
        all.0.extend(pool(kinds, MAP));
        all.1.extend(pool(kinds, MAX_Z));
    }
    let max_z = Duel::new(&all.0, &all.1);
    text += &format!(
        "\nmax-z instead of map, over all sentences and numbers of clusters: {}.\n",
        max_z.by_permutation()
    );
    let best = gains.iter().max_by(|a, b| a.2.difference.total_cmp(&b.2.difference));
    let told = best.map_or(String::new(), |(kinds, decoder, duel)| {
        format!("the largest gain of nine: {kinds} clusters, {decoder}, {}", duel.by_permutation())
    });
    // Nine comparisons are made, so the level is divided among them (Bonferroni).
    let level = LEVEL / gains.len() as f64;
    let gained = |duel: &Duel| duel.difference > 0.0 && duel.permutation.p < level;
    let findings = vec![
        Finding {
            claim: "Latent clusters of arcs gain nothing".to_owned(),
            paper: Some("−1.2 to +0.2, no significant gain".to_owned()),
            ours: told,
            verdict: Verdict::holds(!gains.iter().any(|(_, _, duel)| gained(duel))),
        },
        Finding {
            claim: "Deciding the clusters too (max-z) is no better than summing them out"
                .to_owned(),
            paper: Some("−1.2 to +0.1 against map".to_owned()),
            ours: max_z.by_permutation(),
            verdict: Verdict::not_less(-max_z.difference, max_z.permutation.p),
        },
    ];
    Ok(Written { text, findings })
}
