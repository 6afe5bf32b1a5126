//! F and its gradient.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use tutte_linear::for_each_part;
use tutte_treebank::Sentence;
use tutte_trees::{
    ArcMatrix, TreeSet, Workspace, arc_covariances_with, arcs as arcs_of, marginals_with,
};

use super::rows::{KEPT, Rows};
use super::{Constraint, Evidence, Progress, SHARDS, WeakOptions, noise};
use crate::features::index::{SupportExample, SupportingArcs};
use crate::features::{Atoms, FeatureSet, Prepared};
use crate::learn::objective::expectation::{Criterion, approximate_covariances};
use crate::learn::objective::{Objective, Scored, Scratch, likelihood, renyi};
use crate::parse::constraints;
use crate::{ArcModel, Candidates, Dictionary, Error, Index, Support};

/// What is made small, and where it is.
pub(super) struct Problem<'a> {
    options: &'a WeakOptions,
    constraints: &'a [Constraint],
    dictionary: Arc<Dictionary>,
    /// w, as it is added up.
    weights: Vec<f32>,
    shards: Vec<Shard<'a>>,
    /// Whether the entropy of raw sentences counts yet.
    pub(super) decides: bool,
    /// Where F was computed last, if it was.
    last: Option<Vec<f64>>,
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

/// A sentence to learn from, or several that look the same.
struct Item<'a> {
    sentence: &'a Sentence,
    /// How many they are.
    count: f64,
    atoms: Atoms,
    /// Its features, if they are kept.
    rows: Option<Rows>,
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
    rows: Rows,
    workspace: Workspace,
    scratch: Scratch,
    marginals: ArcMatrix,
    function: ArcMatrix,
    covariances: ArcMatrix,
    signal: ArcMatrix,
    found: ArcMatrix,
}

/// What features are, and which have weights.
#[derive(Clone, Copy)]
struct Looked<'a> {
    features: &'a FeatureSet,
    dictionary: &'a Dictionary,
}

impl<'a> Problem<'a> {
    pub(super) fn new(evidence: &'a Evidence<'_>, options: &'a WeakOptions) -> Result<Self, Error> {
        let Evidence { raw, constraints, arcs: matches, candidates, trees } = evidence;
        let (tree_set, features) = (options.tree_set, &options.templates);
        let (mut items, mut impossible) = (Vec::new(), Vec::new());
        let item = |sentence: &'a Sentence, candidates, matches, gold| Item {
            sentence,
            count: 1.0,
            atoms: Atoms::new(sentence, features.columns()),
            rows: None,
            candidates,
            matches,
            gold,
            scores: ArcMatrix::default(),
        };
        for (at, sentence) in raw.iter().enumerate().filter(|(_, s)| !s.is_empty()) {
            let candidates = candidates.get(at).cloned().unwrap_or_else(Candidates::all);
            if !constraints::has_tree(&candidates, &vec![None; sentence.len()], tree_set) {
                impossible.push(at);
                continue;
            }
            let matches = matches.get(at).map_or(&[][..], Vec::as_slice);
            items.push(item(sentence, candidates, matches, None));
        }
        for sentence in trees.iter().filter(|sentence| !sentence.is_empty()) {
            constraints::check_heads(sentence, tree_set)?;
            let gold = Some(sentence.partial_heads().collect());
            items.push(item(sentence, Candidates::all(), &[], gold));
        }
        if items.is_empty() {
            return Err(Error::NoWords);
        }
        let dictionary = Arc::new(dictionary(&items, options)?);
        if dictionary.cells() == 0 {
            return Err(Error::Setting(format!(
                "no feature is seen on {} arcs, so there is nothing to learn: ask for fewer",
                options.least
            )));
        }
        keep_rows(&mut items, Looked { features, dictionary: &dictionary });
        let items = merged(items);
        let part = items.len().div_ceil(SHARDS).max(1);
        let mut shards = Vec::new();
        let mut items = items.into_iter().peekable();
        while items.peek().is_some() {
            shards.push(Shard {
                items: items.by_ref().take(part).collect(),
                sums: vec![0.0; constraints.len()],
                values: [0.0; 2],
                gradient: vec![0.0; dictionary.cells()],
                memory: Memory::default(),
            });
        }
        Ok(Self {
            options,
            constraints,
            weights: vec![0.0; dictionary.cells()],
            dictionary,
            shards,
            decides: false,
            last: None,
            expectations: vec![0.0; constraints.len()],
            value: 0.0,
            terms: [0.0; 4],
            impossible,
        })
    }

    /// Where to start from, the first time at 0.
    pub(super) fn start(&self, start: usize, seed: u64) -> Vec<f64> {
        match start {
            0 => vec![0.0; self.weights.len()],
            _ => noise(self.weights.len(), seed, start),
        }
    }

    pub(super) fn expectations(&self) -> &[f64] {
        &self.expectations
    }

    pub(super) fn progress(&self, start: usize, step: usize) -> Progress {
        let (objective, terms) = (self.value, self.terms);
        Progress { step, start, objective, terms, expectations: self.expectations.clone() }
    }

    pub(super) fn options(&self) -> &'a WeakOptions {
        self.options
    }

    /// The model where F was computed last.
    pub(super) fn arcs_now(&self) -> ArcModel {
        self.arcs(self.last.as_deref().unwrap_or_default())
    }

    /// The model at a point.
    pub(super) fn arcs(&self, x: &[f64]) -> ArcModel {
        let index = Index::Dictionary(Arc::clone(&self.dictionary));
        let mut arcs = ArcModel::new(self.options.templates.clone(), index);
        arcs.weights.iter_mut().zip(x).for_each(|(weight, x)| *weight = *x as f32);
        arcs
    }

    /// Computes what is reported at a point, unless it was just there.
    pub(super) fn move_to(&mut self, x: &[f64]) -> Result<(), Error> {
        if self.last.as_deref() == Some(x) {
            return Ok(());
        }
        let mut unused = vec![0.0; x.len()];
        self.evaluate(x, &mut unused).map(|_| ())
    }

    /// F, and into `gradient` ∇F.
    pub(super) fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, Error> {
        let Self { options, constraints, dictionary, weights, shards, decides, .. } = self;
        weights.iter_mut().zip(x).for_each(|(weight, x)| *weight = *x as f32);
        let (threads, tree_set) = (options.threads, options.tree_set);
        let looked = Looked { features: &options.templates, dictionary };
        for_each_part(shards, threads, |shard| shard.expect(looked, weights, tree_set))?;
        let of = |q: usize| shards.iter().map(|shard| shard.sums[q]).sum::<f64>();
        let shares = constraints.iter().enumerate().map(|(q, constraint)| of(q) / constraint.of);
        let expectations: Vec<f64> = shares.collect();
        let mut wanted = 0.0;
        // κ_q / c_q, with the constraint's weight.
        let mut slopes = Vec::with_capacity(constraints.len());
        for (constraint, &expectation) in constraints.iter().zip(&expectations) {
            let criterion = match options.criterion {
                Criterion::Kl if !constraint.grouped => Criterion::KlBernoulli,
                criterion => criterion,
            };
            let (loss, slope) = constraint.wanted.loss(expectation, criterion);
            wanted += options.rules_weight * loss;
            slopes.push(options.rules_weight * slope / constraint.of);
        }
        let entropy = options.entropy.filter(|_| *decides);
        let signals = Signals {
            trees: options.trees_weight * likelihood(),
            entropy: entropy.map(|(order, weight)| weight * renyi(order)),
            slopes: &slopes,
        };
        for_each_part(shards, threads, |shard| shard.send_back(looked, &signals, options))?;
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
        let last = self.last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(x);
        Ok(self.value)
    }
}

/// The features that enough arcs of the sentences have, whatever their heads.
fn dictionary(items: &[Item<'_>], options: &WeakOptions) -> Result<Dictionary, Error> {
    let seen = items.iter().map(|item| {
        let Item { sentence, atoms, .. } = item;
        SupportExample { sentence, atoms, gold: &[] }
    });
    let arcs = SupportingArcs {
        examples: seen.collect(),
        features: &options.templates,
        support: Support::Count(options.least.max(1)),
    };
    Dictionary::of_arcs(&arcs, options.threads)
}

/// Looks up the features of as many sentences as there is room for.
fn keep_rows(items: &mut [Item<'_>], looked: Looked<'_>) {
    let mut prepared = Prepared::default();
    let mut kept = 0;
    for item in items {
        let mut rows = Rows::default();
        let Looked { features, dictionary } = looked;
        rows.fill(features, dictionary, &item.atoms, &item.candidates, &mut prepared);
        rows.shrink();
        kept += rows.len();
        if kept > KEPT {
            return;
        }
        item.rows = Some(rows);
    }
}

/// Makes raw sentences that look the same one, as many of a few words do.
fn merged(items: Vec<Item<'_>>) -> Vec<Item<'_>> {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut merged: Vec<Item<'_>> = Vec::new();
    for item in items {
        let Some(rows) = item.rows.as_ref().filter(|_| item.gold.is_none()) else {
            merged.push(item);
            continue;
        };
        let alike = seen.entry(hasher.hash_one((rows, item.matches))).or_default();
        let same = |at: &&usize| {
            let other: &Item<'_> = &merged[**at];
            other.rows == item.rows
                && other.matches == item.matches
                && other.candidates == item.candidates
        };
        match alike.iter().find(same) {
            Some(&at) => merged[at].count += 1.0,
            None => {
                alike.push(merged.len());
                merged.push(item);
            }
        }
    }
    merged
}

/// What is sent back.
struct Signals<'a> {
    trees: Objective,
    entropy: Option<Objective>,
    /// w_q κ_q / c_q.
    slopes: &'a [f64],
}

impl Shard<'_> {
    /// Scores all sentences, and sums up what constraints expect.
    fn expect(
        &mut self,
        looked: Looked<'_>,
        weights: &[f32],
        tree_set: TreeSet,
    ) -> Result<(), Error> {
        let Self { items, sums, memory, .. } = self;
        sums.fill(0.0);
        for item in items {
            let words = item.sentence.len();
            let rows = rows(&item.rows, item, looked, &mut memory.prepared, &mut memory.rows);
            let mut scores = std::mem::take(&mut item.scores);
            rows.score(words, weights, &item.candidates, &mut scores);
            item.scores = scores;
            if item.matches.is_empty() {
                continue;
            }
            let Memory { workspace, marginals, .. } = memory;
            marginals_with(&item.scores, tree_set, workspace, marginals)
                .map_err(|source| item.diverged(source))?;
            for &(head, word, constraint) in item.matches {
                sums[constraint] += item.count * marginals[(head, word)];
            }
        }
        Ok(())
    }

    /// Computes what every sentence contributes to the gradient, and to terms that are sums over them.
    fn send_back(
        &mut self,
        looked: Looked<'_>,
        signals: &Signals<'_>,
        options: &WeakOptions,
    ) -> Result<(), Error> {
        let Self { items, values, gradient, memory, .. } = self;
        gradient.fill(0.0);
        *values = [0.0; 2];
        for item in items {
            let words = item.sentence.len();
            let (objective, value): (Option<&Objective>, _) = match item.gold {
                Some(_) => (Some(&signals.trees), 0),
                None => (signals.entropy.as_ref(), 1),
            };
            memory.found.reset(words, 0.0);
            if let Some(objective) = objective {
                values[value] += item.count * item.signal(objective, options.tree_set, memory)?;
                arcs_of(words).for_each(|arc| memory.found[arc] += item.count * memory.signal[arc]);
            }
            if !item.matches.is_empty() {
                item.covary(signals.slopes, options, memory)?;
                arcs_of(words)
                    .for_each(|arc| memory.found[arc] += item.count * memory.covariances[arc]);
            }
            let Memory { prepared, rows: others, found, .. } = memory;
            let rows = rows(&item.rows, item, looked, prepared, others);
            rows.accumulate(found, &item.candidates, gradient);
        }
        Ok(())
    }
}

/// The features of a sentence, looked up if they are not kept.
fn rows<'a>(
    kept: &'a Option<Rows>,
    item: &Item<'_>,
    looked: Looked<'_>,
    prepared: &mut Prepared,
    others: &'a mut Rows,
) -> &'a Rows {
    let Looked { features, dictionary } = looked;
    match kept {
        Some(rows) => rows,
        None => {
            others.fill(features, dictionary, &item.atoms, &item.candidates, prepared);
            others
        }
    }
}

impl Item<'_> {
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
    fn covary(
        &self,
        slopes: &[f64],
        options: &WeakOptions,
        memory: &mut Memory,
    ) -> Result<(), Error> {
        let Memory { workspace, marginals, function, covariances, .. } = memory;
        function.reset(self.sentence.len(), 0.0);
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
