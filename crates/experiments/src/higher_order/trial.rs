//! Trials of the models with factors: train one on a treebank, and decode its dev sentences in several ways.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};
use tutte_treebank::eval::significance::UnitCounts;
use tutte_trees::{
    ArcMatrix, Tree, TreeSet, Workspace, hill_climb, mbr_with, second_order_argmax_with,
    second_order_marginals_with,
};

use super::corpus::{Arcs, Corpus, words};
use super::factors::Crossings;
use super::model::{Constraint, Example, Inference, Memory, Model, Training, templates};
use crate::clock::Clock;
use crate::data::{Cut, Data};
use crate::decoder::projective;
use crate::lab::Try;

/// Settings of a trial. The cache is keyed by their serialised names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FactorTrial {
    pub(crate) treebank: String,
    pub(crate) cut: Cut,
    pub(crate) arcs: Arcs,
    pub(crate) training: Training,
    pub(crate) decoders: Vec<Decoder>,
}

/// A way to find a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Decoder {
    /// The tree with the largest sum of beliefs.
    Beliefs(Inference),
    /// The projective tree with the largest sum of beliefs, and how far it is from `ExactMbr`.
    ProjectiveBeliefs(Inference),
    /// The projective tree with the largest sum of exact marginals.
    ExactMbr,
    /// The best projective tree.
    ExactMap,
    /// The tree to which the best projective one leads, one head at a time.
    HillClimbing,
}

/// Result of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Processor time of the training.
    pub(crate) seconds: f64,
    /// Number of training words.
    pub(crate) words: usize,
    /// Number of training sentences.
    pub(crate) sentences: usize,
    /// Share of crossing arcs in the training trees.
    pub(crate) crossing: f64,
    /// Candidate heads per dev word, and the share of gold arcs among them.
    pub(crate) candidates: [f64; 2],
    /// Length of each dev sentence.
    pub(crate) lengths: Vec<u32>,
    /// By decoder.
    pub(crate) decoded: Vec<Decoded>,
}

/// Results of a decoder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Decoded {
    /// Correct heads of each dev sentence.
    pub(crate) correct: Vec<u32>,
    /// Processor time.
    pub(crate) seconds: f64,
    /// Share of sentences in which belief propagation converged.
    pub(crate) converged: f64,
    /// Share of crossing arcs in the answers.
    pub(crate) crossing: f64,
    /// Share of heads that differ from those of exact inference.
    pub(crate) search_error: f64,
    /// Mean absolute difference of a candidate's belief from its exact marginal.
    pub(crate) belief_error: f64,
}

impl Outcome {
    /// Returns the UAS of a decoder, by its index.
    pub(crate) fn uas(&self, decoder: usize) -> f64 {
        let correct: u32 = self.decoded[decoder].correct.iter().sum();
        f64::from(correct) / f64::from(self.lengths.iter().sum::<u32>().max(1))
    }

    /// Returns the counts by sentence, for tests of significance.
    pub(crate) fn units(&self, decoder: usize) -> Vec<UnitCounts> {
        let counts = self.decoded[decoder].correct.iter().zip(&self.lengths);
        counts.map(|(&correct, &gold)| UnitCounts { correct, gold, system: gold }).collect()
    }
}

impl FactorTrial {
    /// Returns the index of a decoder.
    pub(crate) fn decoder(&self, decoder: Decoder) -> Result<usize> {
        let found = self.decoders.iter().position(|&other| other == decoder);
        found.ok_or_else(|| anyhow!("{self} does not have the decoder {decoder:?}"))
    }
}

impl fmt::Display for FactorTrial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Training { families, loss, inference, .. } = self.training;
        write!(f, "{}: {loss:?}, {}", self.treebank, inference.constraint.name())?;
        for (has, name) in [
            (families.crossings != Crossings::None, "NOCROSS"),
            (families.grandparents, "GRAND"),
            (families.sequences, "CHILDSEQ"),
        ] {
            if has {
                write!(f, " + {name}")?;
            }
        }
        write!(f, ", {} iterations, {:?}", inference.iterations, inference.order)
    }
}

impl Try for FactorTrial {
    type Outcome = Outcome;

    fn templates(&self) -> String {
        templates().to_string()
    }

    fn seconds(outcome: &Outcome) -> f64 {
        outcome.seconds + outcome.decoded.iter().map(|decoded| decoded.seconds).sum::<f64>()
    }

    fn headline(outcome: &Outcome) -> f64 {
        100.0 * outcome.uas(0)
    }

    fn run(&self, data: &Data) -> Result<Outcome> {
        let corpus = Corpus::of(data, &self.treebank, self.cut, self.arcs)?;
        let clock = Clock::start();
        let model = Model::train(&corpus.train, corpus.tree_set, &self.training)?;
        let seconds = clock.seconds();
        let mut memory = Memory::default();
        let mut exact: BTreeMap<usize, Exact> = BTreeMap::new();
        let needs_exact = |decoder: &Decoder| matches!(decoder, Decoder::ProjectiveBeliefs(_));
        if self.decoders.iter().any(needs_exact) {
            for (number, example) in corpus.dev.iter().enumerate() {
                exact.insert(number, Exact::of(&model, example, &mut memory)?);
            }
        }
        let mut decoded = Vec::new();
        for &decoder in &self.decoders {
            decoded.push(decode(&model, &corpus.dev, decoder, &exact, &mut memory)?);
        }
        Ok(Outcome {
            seconds,
            words: words(&corpus.train),
            sentences: corpus.train.len(),
            crossing: corpus.crossing,
            candidates: corpus.candidates(),
            lengths: corpus.dev.iter().map(|example| example.words() as u32).collect(),
            decoded,
        })
    }
}

/// Exact marginals of a sentence, and the projective tree with the largest sum of them.
struct Exact {
    marginals: ArcMatrix,
    heads: Vec<usize>,
}

impl Exact {
    fn of(model: &Model, example: &Example, memory: &mut Memory) -> Result<Self> {
        let scores = model.parts(example, memory)?;
        let set = projective(model.tree_set);
        let workspace = &mut Workspace::default();
        let mut marginals = tutte_trees::SecondOrderParts::default();
        second_order_marginals_with(&scores, set, workspace, &mut marginals)?;
        let mut heads = Vec::new();
        mbr_with(scores.arcs(), marginals.arcs(), set, workspace, &mut heads)?;
        Ok(Self { marginals: marginals.arcs().clone(), heads })
    }
}

/// Sums over the dev sentences.
#[derive(Default)]
struct Sums {
    words: usize,
    converged: usize,
    crossing: usize,
    different: usize,
    belief_error: f64,
    candidates: usize,
}

fn decode(
    model: &Model,
    dev: &[Example],
    decoder: Decoder,
    exact: &BTreeMap<usize, Exact>,
    memory: &mut Memory,
) -> Result<Decoded> {
    let mut sums = Sums::default();
    let mut decoded = Decoded::default();
    let mut heads = Vec::new();
    for (number, example) in dev.iter().enumerate() {
        let clock = Clock::start();
        let mut converged = true;
        match decoder {
            Decoder::Beliefs(inference) => {
                let set = decoded_set(inference, model.tree_set);
                converged = model.decode(example, inference, set, memory, &mut heads)?.converged;
            }
            Decoder::ProjectiveBeliefs(inference) => {
                let set = projective(model.tree_set);
                converged = model.decode(example, inference, set, memory, &mut heads)?.converged;
            }
            Decoder::ExactMbr => heads = Exact::of(model, example, memory)?.heads,
            Decoder::ExactMap => heads = best(model, example, memory)?.1,
            Decoder::HillClimbing => heads = climb(model, example, memory)?,
        }
        decoded.seconds += clock.seconds();
        let right = heads.iter().zip(&example.gold).filter(|(a, b)| a == b).count();
        decoded.correct.push(right as u32);
        sums.words += example.words();
        sums.converged += usize::from(converged);
        sums.crossing += Tree::new(&heads)?.nonprojective_arcs().len();
        if let (Decoder::ProjectiveBeliefs(_), Some(exact)) = (decoder, exact.get(&number)) {
            sums.different += heads.iter().zip(&exact.heads).filter(|(a, b)| a != b).count();
            let beliefs = memory.beliefs();
            for arc in tutte_trees::arcs(example.words()) {
                if example.candidates.allows(arc.0, arc.1) {
                    sums.belief_error += (beliefs[arc] - exact.marginals[arc]).abs();
                    sums.candidates += 1;
                }
            }
        }
    }
    let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
    Ok(Decoded {
        converged: share(sums.converged, dev.len()),
        crossing: share(sums.crossing, sums.words),
        search_error: share(sums.different, sums.words),
        belief_error: sums.belief_error / sums.candidates.max(1) as f64,
        ..decoded
    })
}

/// Returns the trees that answers come from. Constraints weaker than TREE still decode to trees.
fn decoded_set(inference: Inference, tree_set: TreeSet) -> TreeSet {
    if inference.constraint == Constraint::ProjectiveTree { projective(tree_set) } else { tree_set }
}

/// Returns the best projective tree, with the scores of all parts.
fn best(
    model: &Model,
    example: &Example,
    memory: &mut Memory,
) -> Result<(tutte_trees::SecondOrderParts, Vec<usize>)> {
    let scores = model.parts(example, memory)?;
    let mut heads = Vec::new();
    let set = projective(model.tree_set);
    second_order_argmax_with(&scores, set, &mut Workspace::default(), &mut heads)?;
    Ok((scores, heads))
}

/// Climbs from the best projective tree over all trees of candidates.
fn climb(model: &Model, example: &Example, memory: &mut Memory) -> Result<Vec<usize>> {
    let (scores, heads) = best(model, example, memory)?;
    let score = |tree: &Tree| {
        if tree.arcs().any(|(head, modifier)| !example.candidates.allows(head, modifier)) {
            return f64::NEG_INFINITY;
        }
        scores.sum_over(tree).unwrap_or(f64::NEG_INFINITY)
    };
    Ok(hill_climb(&Tree::new(&heads)?, model.tree_set, score)?.tree.into_heads())
}
