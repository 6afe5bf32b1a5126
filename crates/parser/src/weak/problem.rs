//! F and its gradient.

use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, TreeSet, Workspace, arc_covariances_with, marginals_with};

use super::{Constraint, Evidence, Options, Progress, SHARDS, noise};
use crate::features::{Atoms, Prepared};
use crate::learner::each;
use crate::signal::expectation::approximate_covariances;
use crate::signal::{Objective, Scored, Scratch, arcs as arcs_of, likelihood, renyi};
use crate::{ArcModel, Candidates, Error, known};

/// What is made small, and where it is.
pub(super) struct Problem<'a> {
    options: &'a Options,
    constraints: &'a [Constraint],
    arcs: ArcModel,
    /// The cells that features of the sentences have: the variables.
    cells: Vec<u32>,
    /// For each cell, which variable it is.
    variable: Vec<u32>,
    shards: Vec<Shard<'a>>,
    /// Where F was computed last.
    last: Vec<f64>,
    /// E_q there.
    expectations: Vec<f64>,
    /// F there, and its terms.
    value: f64,
    terms: [f64; 4],
    /// Raw sentences without a tree.
    pub(super) impossible: Vec<usize>,
}

/// Some sentences, and sums over them.
struct Shard<'a> {
    items: Vec<Item<'a>>,
    /// Σ μ g_q.
    sums: Vec<f64>,
    /// Of trees, and of entropies.
    values: [f64; 2],
    gradient: Vec<f64>,
    memory: Memory,
}

/// A sentence to learn from.
struct Item<'a> {
    sentence: &'a Sentence,
    atoms: Atoms,
    candidates: Candidates,
    /// Head, dependent and constraint.
    matches: &'a [(usize, usize, usize)],
    /// Heads, if it is one of the trees.
    gold: Option<Vec<Option<usize>>>,
    scores: ArcMatrix,
}

/// Memory that sentences share.
#[derive(Default)]
struct Memory {
    prepared: Prepared,
    workspace: Workspace,
    scratch: Scratch,
    marginals: ArcMatrix,
    function: ArcMatrix,
    covariances: ArcMatrix,
    signal: ArcMatrix,
}

impl<'a> Problem<'a> {
    pub(super) fn new(
        evidence: &'a Evidence<'_>,
        options: &'a Options,
        arcs: ArcModel,
    ) -> Result<Self, Error> {
        let Evidence { raw, constraints, arcs: matches, candidates, trees } = evidence;
        let tree_set = options.tree_set;
        let atoms = |sentence: &Sentence| Atoms::new(sentence, arcs.features.columns());
        let (mut items, mut impossible) = (Vec::new(), Vec::new());
        for (at, sentence) in raw.iter().enumerate().filter(|(_, s)| !s.is_empty()) {
            let candidates = candidates.get(at).cloned().unwrap_or_else(Candidates::all);
            if !known::has_tree(&candidates, &vec![None; sentence.len()], tree_set) {
                impossible.push(at);
                continue;
            }
            let matches = matches.get(at).map_or(&[][..], Vec::as_slice);
            let (gold, scores) = (None, ArcMatrix::default());
            items.push(Item {
                sentence,
                atoms: atoms(sentence),
                candidates,
                matches,
                gold,
                scores,
            });
        }
        for sentence in trees.iter().filter(|sentence| !sentence.is_empty()) {
            known::check_heads(sentence, tree_set)?;
            items.push(Item {
                sentence,
                atoms: atoms(sentence),
                candidates: Candidates::all(),
                matches: &[],
                gold: Some(sentence.partial_heads().collect()),
                scores: ArcMatrix::default(),
            });
        }
        if items.is_empty() {
            return Err(Error::NoWords);
        }
        let (cells, variable) = variables(&arcs, &items);
        let part = items.len().div_ceil(SHARDS).max(1);
        let mut shards = Vec::new();
        let mut items = items.into_iter().peekable();
        while items.peek().is_some() {
            shards.push(Shard {
                items: items.by_ref().take(part).collect(),
                sums: vec![0.0; constraints.len()],
                values: [0.0; 2],
                gradient: vec![0.0; cells.len()],
                memory: Memory::default(),
            });
        }
        Ok(Self {
            options,
            constraints,
            arcs,
            cells,
            variable,
            shards,
            last: Vec::new(),
            expectations: vec![0.0; constraints.len()],
            value: 0.0,
            terms: [0.0; 4],
            impossible,
        })
    }

    /// Where to start from, the first time at 0.
    pub(super) fn start(&self, start: usize, seed: u64) -> Vec<f64> {
        match start {
            0 => vec![0.0; self.cells.len()],
            _ => noise(self.cells.len(), seed, start),
        }
    }

    pub(super) fn expectations(&self) -> &[f64] {
        &self.expectations
    }

    pub(super) fn progress(&self, start: usize, step: usize) -> Progress {
        let (objective, terms) = (self.value, self.terms);
        Progress { step, start, objective, terms, expectations: self.expectations.clone() }
    }

    /// The model at a point.
    pub(super) fn into_arcs(mut self, x: &[f64]) -> ArcModel {
        self.set(x);
        self.arcs
    }

    fn set(&mut self, x: &[f64]) {
        for (&cell, &x) in self.cells.iter().zip(x) {
            self.arcs.weights[cell as usize] = x as f32;
        }
    }

    /// Computes what is reported at a point, unless it was just there.
    pub(super) fn move_to(&mut self, x: &[f64]) -> Result<(), Error> {
        if self.last == x {
            return Ok(());
        }
        let mut unused = vec![0.0; x.len()];
        self.evaluate(x, &mut unused).map(|_| ())
    }

    /// F, and into `gradient` ∇F.
    pub(super) fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, Error> {
        self.set(x);
        let Self { options, constraints, arcs, variable, shards, .. } = self;
        let (threads, tree_set) = (options.threads, options.tree_set);
        each(shards, threads, |shard| shard.expect(arcs, tree_set))?;
        let of = |q: usize| shards.iter().map(|shard| shard.sums[q]).sum::<f64>();
        let shares = constraints.iter().enumerate().map(|(q, constraint)| of(q) / constraint.of);
        let expectations: Vec<f64> = shares.collect();
        let mut wanted = 0.0;
        // κ_q / c_q, with the constraint's weight.
        let mut slopes = Vec::with_capacity(constraints.len());
        for (constraint, &expectation) in constraints.iter().zip(&expectations) {
            let (loss, slope) = constraint.wanted.loss(expectation, options.criterion);
            wanted += loss;
            slopes.push(slope / constraint.of);
        }
        each(shards, threads, |shard| shard.send_back(arcs, variable, &slopes, options))?;
        let variance = options.prior_variance;
        gradient.iter_mut().zip(x).for_each(|(slope, x)| *slope = x / variance);
        for shard in shards.iter() {
            gradient.iter_mut().zip(&shard.gradient).for_each(|(sum, part)| *sum += part);
        }
        let value = |at: usize| shards.iter().map(|shard| shard.values[at]).sum::<f64>();
        let prior = x.iter().map(|x| x * x).sum::<f64>() / (2.0 * variance);
        self.terms = [wanted, value(0), value(1), prior];
        self.value = self.terms.iter().sum();
        self.expectations = expectations;
        self.last.clear();
        self.last.extend_from_slice(x);
        Ok(self.value)
    }
}

/// Which cells have a feature, and the number of each among them.
fn variables(arcs: &ArcModel, items: &[Item<'_>]) -> (Vec<u32>, Vec<u32>) {
    const NONE: u32 = u32::MAX;
    let mut variable = vec![NONE; arcs.weights.len()];
    let mut prepared = Prepared::default();
    for item in items {
        prepared.fill_for(
            &arcs.features,
            &item.atoms,
            |_| true,
            |h, m| item.candidates.allows(h, m),
        );
        let ones = ArcMatrix::from_fn(item.sentence.len(), |head, modifier| {
            f64::from(u8::from(item.candidates.allows(head, modifier)))
        });
        arcs.accumulate(&prepared, &ones, 0.0, |cell, _| variable[cell] = 0);
    }
    let mut cells = Vec::new();
    for (cell, variable) in variable.iter_mut().enumerate().filter(|(_, v)| **v != NONE) {
        *variable = cells.len() as u32;
        cells.push(cell as u32);
    }
    (cells, variable)
}

impl Shard<'_> {
    /// Scores all sentences, and sums up what constraints expect.
    fn expect(&mut self, arcs: &ArcModel, tree_set: TreeSet) -> Result<(), Error> {
        let Self { items, sums, memory, .. } = self;
        let Memory { prepared, workspace, marginals, .. } = memory;
        sums.fill(0.0);
        for item in items {
            item.score(arcs, prepared);
            if item.matches.is_empty() {
                continue;
            }
            marginals_with(&item.scores, tree_set, workspace, marginals)
                .map_err(|source| item.diverged(source))?;
            for &(head, word, constraint) in item.matches {
                sums[constraint] += marginals[(head, word)];
            }
        }
        Ok(())
    }

    /// Computes what every sentence contributes to the gradient, and to terms that are sums over them.
    fn send_back(
        &mut self,
        arcs: &ArcModel,
        variable: &[u32],
        slopes: &[f64],
        options: &Options,
    ) -> Result<(), Error> {
        /// Below this, an arc's part in the gradient does not matter.
        const NEGLIGIBLE: f64 = 1e-12;
        let Self { items, values, gradient, memory, .. } = self;
        gradient.fill(0.0);
        *values = [0.0; 2];
        let entropy = options.entropy.map(|(order, weight)| weight * renyi(order));
        let trees = options.trees_weight * likelihood();
        for item in items {
            let words = item.sentence.len();
            let mut found = ArcMatrix::zeros(words);
            let (objective, value): (Option<&Objective>, _) = match item.gold {
                Some(_) => (Some(&trees), 0),
                None => (entropy.as_ref(), 1),
            };
            if let Some(objective) = objective {
                values[value] += item.signal(objective, options.tree_set, memory)?;
                arcs_of(words).for_each(|arc| found[arc] += memory.signal[arc]);
            }
            if !item.matches.is_empty() {
                item.covary(slopes, options, memory)?;
                arcs_of(words).for_each(|arc| found[arc] += memory.covariances[arc]);
            }
            item.prepare(arcs, &mut memory.prepared);
            arcs.accumulate(&memory.prepared, &found, NEGLIGIBLE, |cell, amount| {
                gradient[variable[cell] as usize] += f64::from(amount);
            });
        }
        Ok(())
    }
}

impl Item<'_> {
    fn prepare(&self, arcs: &ArcModel, prepared: &mut Prepared) {
        let allowed = |head, modifier| self.candidates.allows(head, modifier);
        prepared.fill_for(&arcs.features, &self.atoms, |_| true, allowed);
    }

    fn score(&mut self, arcs: &ArcModel, prepared: &mut Prepared) {
        self.prepare(arcs, prepared);
        self.scores.reset(self.sentence.len(), f64::NEG_INFINITY);
        let Self { candidates, scores, .. } = self;
        arcs.score(prepared, |h, m| candidates.allows(h, m), scores);
    }

    /// A signal of its own, and into `memory.signal` its derivatives.
    fn signal(
        &self,
        objective: &Objective,
        tree_set: TreeSet,
        memory: &mut Memory,
    ) -> Result<f64, Error> {
        let Memory { scratch, signal, .. } = memory;
        let gold = self.gold.as_deref().unwrap_or_default();
        let scored = Scored { scores: &self.scores, gold, tree_set };
        objective.evaluate(scored, 1.0, scratch, signal).map_err(|source| self.diverged(source))
    }

    /// Into `memory.covariances`, Cov([e ∈ y], ĝ(y)).
    fn covary(&self, slopes: &[f64], options: &Options, memory: &mut Memory) -> Result<(), Error> {
        let Memory { workspace, marginals, function, covariances, .. } = memory;
        *function = ArcMatrix::zeros(self.sentence.len());
        for &(head, word, constraint) in self.matches {
            function[(head, word)] += slopes[constraint];
        }
        let (scores, tree_set) = (&self.scores, options.tree_set);
        let done = match options.approximate {
            false => arc_covariances_with(scores, function, tree_set, workspace, covariances),
            true => marginals_with(scores, tree_set, workspace, marginals)
                .inspect(|_| approximate_covariances(marginals, function, covariances)),
        };
        done.map(|_| ()).map_err(|source| self.diverged(source))
    }

    fn diverged(&self, source: tutte_trees::Error) -> Error {
        Error::Diverged { place: Box::new(self.sentence.place()), source }
    }
}
