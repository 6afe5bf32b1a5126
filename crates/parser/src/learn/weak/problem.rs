//! The objective F of weak supervision, and its gradient. An evaluation takes two passes over the sentences, O(n³) per
//! sentence.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use tutte_linear::for_each_part;
use tutte_treebank::Sentence;
use tutte_trees::{
    ArcMatrix, TreeSet, Workspace, arc_covariances_with, arcs as arcs_of, marginals_with,
};

use super::feature_cells::{FeatureCells, MOST_CACHED};
use super::{ExpectationConstraint, Progress, SHARDS, WeakData, WeakOptions, noise};
use crate::features::index::{SupportExample, SupportingArcs};
use crate::features::{Atoms, FeatureSet, Prepared};
use crate::learn::objective::expectation::approximate_covariances;
use crate::learn::objective::{Objective, Scored, Scratch, likelihood, renyi};
use crate::parse::constraints;
use crate::rules::RuleSet;
use crate::{ArcModel, Candidates, Dictionary, Error, Index, Support};

/// F, with its value and expectations at the last point.
pub(super) struct Problem<'a> {
    options: &'a WeakOptions,
    rules: Option<&'a Arc<RuleSet>>,
    constraints: &'a [ExpectationConstraint],
    dictionary: Arc<Dictionary>,
    /// w in `f32`, for scoring.
    weights: Vec<f32>,
    shards: Vec<Shard<'a>>,
    /// Makes the entropy of raw sentences a term of F.
    pub(super) uses_entropy: bool,
    /// Point of the last evaluation.
    last: Option<Vec<f64>>,
    /// E_q at that point.
    expectations: Vec<f64>,
    /// F at that point.
    value: f64,
    /// Terms of F at that point: expectations, trees, entropy, prior.
    terms: [f64; 4],
    /// Indices of raw sentences whose candidates allow no tree.
    pub(super) impossible: Vec<usize>,
}

/// A part of the sentences, with sums over them.
struct Shard<'a> {
    sentences: Vec<WeakSentence<'a>>,
    /// Σ μ g_q.
    sums: Vec<f64>,
    /// Sums of the terms of trees and of entropy.
    values: [f64; 2],
    gradient: Vec<f64>,
    memory: Memory,
}

/// A training sentence, or several with the same features, matches and candidates.
struct WeakSentence<'a> {
    sentence: &'a Sentence,
    /// Number of equal sentences.
    count: f64,
    atoms: Atoms,
    /// Its features, if they are cached.
    cells: Option<FeatureCells>,
    candidates: Candidates,
    /// Arcs that constraints match: head, dependent, index of the constraint.
    matches: &'a [(usize, usize, usize)],
    /// Gold heads; `None` for a raw sentence.
    gold: Option<Vec<Option<usize>>>,
    scores: ArcMatrix,
}

/// Memory that the sentences of a shard reuse.
#[derive(Default)]
struct Memory {
    prepared: Prepared,
    cells: FeatureCells,
    workspace: Workspace,
    scratch: Scratch,
    marginals: ArcMatrix,
    /// ĝ.
    function: ArcMatrix,
    covariances: ArcMatrix,
    /// Derivatives of the term of trees or entropy by arc scores.
    derivatives: ArcMatrix,
    /// Derivatives of F by arc scores.
    coefficients: ArcMatrix,
}

/// Feature templates, and the dictionary of features that have weights.
#[derive(Clone, Copy)]
struct FeatureLookup<'a> {
    features: &'a FeatureSet,
    dictionary: &'a Dictionary,
}

impl<'a> Problem<'a> {
    pub(super) fn new(evidence: &'a WeakData<'_>, options: &'a WeakOptions) -> Result<Self, Error> {
        let WeakData { raw, constraints, arcs: matches, candidates, trees, rules } = evidence;
        let tree_set = options.tree_set;
        let features = &options.templates;
        let mut sentences = Vec::new();
        let mut impossible = Vec::new();
        let new_sentence = |sentence: &'a Sentence, candidates, matches, gold| WeakSentence {
            sentence,
            count: 1.0,
            atoms: Atoms::new(sentence, features.columns()),
            cells: None,
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
            sentences.push(new_sentence(sentence, candidates, matches, None));
        }
        for sentence in trees.iter().filter(|sentence| !sentence.is_empty()) {
            constraints::check_heads(sentence, tree_set)?;
            let gold = Some(sentence.partial_heads().collect());
            sentences.push(new_sentence(sentence, Candidates::all(), &[], gold));
        }
        if sentences.is_empty() {
            return Err(Error::NoWords);
        }
        let dictionary = Arc::new(dictionary(&sentences, options)?);
        if dictionary.cells() == 0 {
            return Err(Error::Setting(format!(
                "no feature occurs on {} arcs or more; lower this limit or add sentences",
                options.least
            )));
        }
        cache_features(&mut sentences, FeatureLookup { features, dictionary: &dictionary });
        let sentences = merge_equal(sentences);
        let part = sentences.len().div_ceil(SHARDS).max(1);
        let mut shards = Vec::new();
        let mut sentences = sentences.into_iter().peekable();
        while sentences.peek().is_some() {
            shards.push(Shard {
                sentences: sentences.by_ref().take(part).collect(),
                sums: vec![0.0; constraints.len()],
                values: [0.0; 2],
                gradient: vec![0.0; dictionary.cells()],
                memory: Memory::default(),
            });
        }
        Ok(Self {
            options,
            rules: rules.as_ref(),
            constraints,
            weights: vec![0.0; dictionary.cells()],
            dictionary,
            shards,
            uses_entropy: false,
            last: None,
            expectations: vec![0.0; constraints.len()],
            value: 0.0,
            terms: [0.0; 4],
            impossible,
        })
    }

    /// Returns a starting point: 0 for `start` 0, otherwise a random point.
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
        Progress {
            step,
            start,
            objective: self.value,
            terms: self.terms,
            expectations: self.expectations.clone(),
        }
    }

    pub(super) fn options(&self) -> &'a WeakOptions {
        self.options
    }

    /// Returns the rules that every tree must satisfy.
    pub(super) fn rules(&self) -> Option<Arc<RuleSet>> {
        self.rules.cloned()
    }

    /// Returns the model at the point of the last evaluation.
    pub(super) fn arcs_now(&self) -> ArcModel {
        self.arcs(self.last.as_deref().unwrap_or_default())
    }

    /// Returns the model at a point.
    pub(super) fn arcs(&self, x: &[f64]) -> ArcModel {
        let index = Index::Dictionary(Arc::clone(&self.dictionary));
        let mut arcs = ArcModel::new(self.options.templates.clone(), index);
        arcs.weights.iter_mut().zip(x).for_each(|(weight, x)| *weight = *x as f32);
        arcs
    }

    /// Evaluates F at a point, unless the last evaluation was there.
    pub(super) fn move_to(&mut self, x: &[f64]) -> Result<(), Error> {
        if self.last.as_deref() == Some(x) {
            return Ok(());
        }
        let mut unused = vec![0.0; x.len()];
        self.evaluate(x, &mut unused).map(|_| ())
    }

    /// Returns F(x), and writes ∇F into `gradient`.
    pub(super) fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, Error> {
        let Self { options, constraints, dictionary, weights, shards, uses_entropy, .. } = self;
        weights.iter_mut().zip(x).for_each(|(weight, x)| *weight = *x as f32);
        let threads = options.threads;
        let tree_set = options.tree_set;
        let lookup = FeatureLookup { features: &options.templates, dictionary };
        for_each_part(shards, threads, |shard| shard.sum_expectations(lookup, weights, tree_set))?;
        let sum = |q: usize| shards.iter().map(|shard| shard.sums[q]).sum::<f64>();
        let shares = constraints.iter().enumerate().map(|(q, constraint)| sum(q) / constraint.of);
        let expectations: Vec<f64> = shares.collect();
        let mut expectation_term = 0.0;
        // C_G w_q κ_q / c_q.
        let mut slopes = Vec::with_capacity(constraints.len());
        for (constraint, &expectation) in constraints.iter().zip(&expectations) {
            let (loss, slope) = constraint.loss(expectation, options.criterion);
            expectation_term += options.rules_weight * loss;
            slopes.push(options.rules_weight * slope / constraint.of);
        }
        let entropy = options.entropy.filter(|_| *uses_entropy);
        let terms = Terms {
            trees: options.trees_weight * likelihood(),
            entropy: entropy.map(|(order, weight)| weight * renyi(order)),
            slopes: &slopes,
        };
        for_each_part(shards, threads, |shard| shard.sum_gradients(lookup, &terms, options))?;
        let variance = options.prior_variance;
        gradient.iter_mut().zip(x).for_each(|(slope, x)| *slope = x / variance);
        for shard in shards.iter() {
            gradient.iter_mut().zip(&shard.gradient).for_each(|(sum, part)| *sum += part);
        }
        let value = |at: usize| shards.iter().map(|shard| shard.values[at]).sum::<f64>();
        let prior = x.iter().map(|x| x * x).sum::<f64>() / (2.0 * variance);
        self.terms = [expectation_term, value(0), value(1), prior];
        self.value = self.terms.iter().sum();
        self.expectations = expectations;
        let last = self.last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(x);
        Ok(self.value)
    }
}

/// Returns the features that occur on enough arcs of the sentences, gold or not.
fn dictionary(sentences: &[WeakSentence<'_>], options: &WeakOptions) -> Result<Dictionary, Error> {
    let seen = sentences.iter().map(|sentence| {
        let WeakSentence { sentence, atoms, .. } = sentence;
        SupportExample { sentence, atoms, gold: &[] }
    });
    let arcs = SupportingArcs {
        examples: seen.collect(),
        features: &options.templates,
        support: Support::Count(options.least.max(1)),
    };
    Dictionary::of_arcs(&arcs, options.threads)
}

/// Looks up and stores the features of the first sentences, up to [`MOST_CACHED`] numbers.
fn cache_features(sentences: &mut [WeakSentence<'_>], lookup: FeatureLookup<'_>) {
    let mut prepared = Prepared::default();
    let mut cached = 0;
    for sentence in sentences {
        let mut cells = FeatureCells::default();
        let FeatureLookup { features, dictionary } = lookup;
        cells.fill(features, dictionary, &sentence.atoms, &sentence.candidates, &mut prepared);
        cells.shrink();
        cached += cells.len();
        if cached > MOST_CACHED {
            return;
        }
        sentence.cells = Some(cells);
    }
}

/// Merges raw sentences with equal features, matches and candidates. Short sentences are often equal.
fn merge_equal(sentences: Vec<WeakSentence<'_>>) -> Vec<WeakSentence<'_>> {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut merged: Vec<WeakSentence<'_>> = Vec::new();
    for sentence in sentences {
        let Some(cells) = sentence.cells.as_ref().filter(|_| sentence.gold.is_none()) else {
            merged.push(sentence);
            continue;
        };
        let same_hash = by_hash.entry(hasher.hash_one((cells, sentence.matches))).or_default();
        let is_equal = |at: &&usize| {
            let other: &WeakSentence<'_> = &merged[**at];
            other.cells == sentence.cells
                && other.matches == sentence.matches
                && other.candidates == sentence.candidates
        };
        match same_hash.iter().find(is_equal) {
            Some(&at) => merged[at].count += 1.0,
            None => {
                same_hash.push(merged.len());
                merged.push(sentence);
            }
        }
    }
    merged
}

/// Terms of F that are sums over sentences, and slopes of the expectations.
struct Terms<'a> {
    trees: Objective,
    entropy: Option<Objective>,
    /// C_G w_q κ_q / c_q.
    slopes: &'a [f64],
}

impl Shard<'_> {
    /// First pass: scores all sentences and sums the expectations of constraints.
    fn sum_expectations(
        &mut self,
        lookup: FeatureLookup<'_>,
        weights: &[f32],
        tree_set: TreeSet,
    ) -> Result<(), Error> {
        let Self { sentences, sums, memory, .. } = self;
        sums.fill(0.0);
        for sentence in sentences {
            let words = sentence.sentence.len();
            let Memory { prepared, cells: buffer, .. } = memory;
            let cells = cells_of(&sentence.cells, sentence, lookup, prepared, buffer);
            let mut scores = std::mem::take(&mut sentence.scores);
            cells.score(words, weights, &sentence.candidates, &mut scores);
            sentence.scores = scores;
            if sentence.matches.is_empty() {
                continue;
            }
            let Memory { workspace, marginals, .. } = memory;
            marginals_with(&sentence.scores, tree_set, workspace, marginals)
                .map_err(|source| sentence.diverged(source))?;
            for &(head, word, constraint) in sentence.matches {
                sums[constraint] += sentence.count * marginals[(head, word)];
            }
        }
        Ok(())
    }

    /// Second pass: sums the gradient, and the terms of trees and entropy.
    fn sum_gradients(
        &mut self,
        lookup: FeatureLookup<'_>,
        terms: &Terms<'_>,
        options: &WeakOptions,
    ) -> Result<(), Error> {
        let Self { sentences, values, gradient, memory, .. } = self;
        gradient.fill(0.0);
        *values = [0.0; 2];
        for sentence in sentences {
            let words = sentence.sentence.len();
            let count = sentence.count;
            let (objective, value): (Option<&Objective>, _) = match sentence.gold {
                Some(_) => (Some(&terms.trees), 0),
                None => (terms.entropy.as_ref(), 1),
            };
            memory.coefficients.reset(words, 0.0);
            if let Some(objective) = objective {
                values[value] += count * sentence.evaluate(objective, options.tree_set, memory)?;
                arcs_of(words).for_each(|arc| {
                    memory.coefficients[arc] += count * memory.derivatives[arc];
                });
            }
            if !sentence.matches.is_empty() {
                sentence.covariances(terms.slopes, options, memory)?;
                arcs_of(words).for_each(|arc| {
                    memory.coefficients[arc] += count * memory.covariances[arc];
                });
            }
            let Memory { prepared, cells: buffer, coefficients, .. } = memory;
            let cells = cells_of(&sentence.cells, sentence, lookup, prepared, buffer);
            cells.accumulate(coefficients, &sentence.candidates, gradient);
        }
        Ok(())
    }
}

/// Returns the features of a sentence: the cached ones, or new ones looked up into `buffer`.
fn cells_of<'a>(
    cached: &'a Option<FeatureCells>,
    sentence: &WeakSentence<'_>,
    lookup: FeatureLookup<'_>,
    prepared: &mut Prepared,
    buffer: &'a mut FeatureCells,
) -> &'a FeatureCells {
    let FeatureLookup { features, dictionary } = lookup;
    match cached {
        Some(cells) => cells,
        None => {
            buffer.fill(features, dictionary, &sentence.atoms, &sentence.candidates, prepared);
            buffer
        }
    }
}

impl WeakSentence<'_> {
    /// Returns the value of an objective, and writes its derivatives into `memory.derivatives`.
    fn evaluate(
        &self,
        objective: &Objective,
        tree_set: TreeSet,
        memory: &mut Memory,
    ) -> Result<f64, Error> {
        let Memory { scratch, derivatives, .. } = memory;
        let gold = self.gold.as_deref().unwrap_or_default();
        let scored = Scored { scores: &self.scores, gold, teacher: &[], tree_set };
        objective
            .evaluate(scored, 1.0, scratch, derivatives)
            .map_err(|source| self.diverged(source))
    }

    /// Writes Cov([e ∈ y], ĝ(y)) into `memory.covariances`.
    fn covariances(
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
        let scores = &self.scores;
        let tree_set = options.tree_set;
        let result = if options.approximate {
            marginals_with(scores, tree_set, workspace, marginals)
                .inspect(|_| approximate_covariances(marginals, function, covariances))
        } else {
            arc_covariances_with(scores, function, tree_set, workspace, covariances)
        };
        result.map(|_| ()).map_err(|source| self.diverged(source))
    }

    fn diverged(&self, source: tutte_trees::Error) -> Error {
        let place = Box::new(self.sentence.place());
        let advice = "use a smaller variance, as in `--prior-variance 0.1`";
        Error::Diverged { place, source, advice }
    }
}
