//! Sentences for the models of factors: gold trees, tags, and candidate arcs.
//!
//! Candidates come from a model of arcs alone (TREE + LINK), which was not trained on the sentence: for training
//! sentences, two models are each trained on one half.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tutte::features::{Atoms, FeatureSet};
use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, Candidates, Tree, TreeSet, Workspace, argmax_with};

use super::factors::{Families, Tags, Target};
use super::model::{Example, Inference, Loss, Memory, Model, Training, templates};
use crate::data::{Cut, Data};
use crate::decoder::projective;

/// Longest sentence, because exact second-order inference takes O(n⁴).
pub(crate) const LONGEST: usize = 50;
/// Passes of the models that choose candidates.
const PASSES: usize = 3;
/// Least marginal of a candidate, relative to that of the best head.
pub(crate) const THRESHOLD: f64 = 0.01;

/// The arcs that models may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Arcs {
    /// All of them, as in the paper.
    All,
    /// Those that a model of arcs alone finds possible.
    Likely,
}

/// Training and dev sentences.
#[derive(Debug)]
pub(crate) struct Corpus {
    pub(crate) train: Vec<Example>,
    pub(crate) dev: Vec<Example>,
    pub(crate) tree_set: TreeSet,
    /// Share of crossing arcs in the training trees.
    pub(crate) crossing: f64,
}

impl Corpus {
    /// Returns the sentences of a treebank. They are made once.
    pub(crate) fn of(data: &Data, treebank: &str, cut: Cut, arcs: Arcs) -> Result<Arc<Self>> {
        type Known = BTreeMap<(String, Cut, Arcs), Arc<Corpus>>;
        static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (treebank.to_owned(), cut, arcs);
        if let Some(corpus) = known.get(&key) {
            return Ok(Arc::clone(corpus));
        }
        let corpus = Arc::new(Self::read(data, treebank, cut, arcs)?);
        known.insert(key, Arc::clone(&corpus));
        Ok(corpus)
    }

    fn read(data: &Data, treebank: &str, cut: Cut, arcs: Arcs) -> Result<Self> {
        let split = data.without_test(treebank, cut)?;
        let tree_set = split.tree_set(false);
        let features = templates();
        let examples = |sentences: &[Sentence]| -> Result<Vec<Example>> {
            let short = sentences.iter().filter(|sentence| sentence.len() <= LONGEST);
            short.map(|sentence| example(sentence, &features)).collect()
        };
        let (train, dev) = (examples(&split.train)?, examples(&split.dev)?);
        let mut corpus = Self { train, dev, tree_set, crossing: split.crossing()? };
        if arcs == Arcs::Likely {
            corpus.prune()?;
        }
        Ok(corpus)
    }

    /// Leaves the likely arcs.
    fn prune(&mut self) -> Result<()> {
        let Self { train, dev, tree_set, .. } = self;
        let training = Training {
            families: Families::NONE,
            loss: Loss::Likelihood,
            inference: Inference::tree_first(1),
            passes: PASSES,
        };
        let whole = Model::train(train, *tree_set, &training)?;
        let middle = train.len() / 2;
        let first = Model::train(&train[..middle], *tree_set, &training)?;
        let second = Model::train(&train[middle..], *tree_set, &training)?;
        let mut memory = Memory::default();
        let (first_half, second_half) = train.split_at_mut(middle);
        for (model, part) in [(&second, first_half), (&first, second_half), (&whole, &mut dev[..])]
        {
            for example in part {
                prune(model, example, &mut memory)?;
            }
        }
        Ok(())
    }

    /// Returns the mean number of candidate heads of the dev words, and the share of gold arcs among them.
    pub(crate) fn candidates(&self) -> [f64; 2] {
        let mut candidates = 0;
        let mut reachable = 0;
        for example in &self.dev {
            candidates += example.candidates.count(example.words());
            let gold = (1..).zip(&example.gold);
            reachable += gold.filter(|(m, h)| example.candidates.allows(**h, *m)).count();
        }
        let words = words(&self.dev).max(1) as f64;
        [candidates as f64 / words, reachable as f64 / words]
    }
}

/// Returns the number of words.
pub(crate) fn words(examples: &[Example]) -> usize {
    examples.iter().map(Example::words).sum()
}

/// Makes the example of a sentence with all arcs.
pub(super) fn example(sentence: &Sentence, features: &FeatureSet) -> Result<Example> {
    let tree = sentence.tree()?;
    Ok(Example {
        atoms: Atoms::new(sentence, features.columns()),
        tags: Tags::new(sentence),
        gold: tree.heads().to_vec(),
        projective_target: Target::new(tree.projectivise()),
        target: Target::new(tree),
        candidates: Candidates::all(),
    })
}

/// Leaves the arcs that a model finds likely, and those of its best trees, so that there is a tree of each kind.
fn prune(model: &Model, example: &mut Example, memory: &mut Memory) -> Result<()> {
    let marginals = model.arc_marginals(example, memory)?;
    let words = example.words();
    let mut workspace = Workspace::default();
    let mut heads = Vec::new();
    let mut kept = HashSet::new();
    for set in [model.tree_set, projective(model.tree_set)] {
        argmax_with(&marginals, set, &mut workspace, &mut heads)?;
        kept.extend((1..).zip(heads.iter().copied()));
    }
    let column = |modifier| (0..=words).filter(move |head| *head != modifier);
    let best: Vec<f64> = (1..=words)
        .map(|word| column(word).map(|head| marginals[(head, word)]).fold(0.0, f64::max))
        .collect();
    example.candidates = Candidates::of(words, |head, modifier| {
        marginals[(head, modifier)] >= THRESHOLD * best[modifier - 1]
            || kept.contains(&(modifier, head))
    });
    let gold = example.gold.clone();
    example.target = reachable(example, &marginals, &gold, model.tree_set)?;
    let gold = example.projective_target.tree.heads().to_vec();
    example.projective_target = reachable(example, &marginals, &gold, projective(model.tree_set))?;
    Ok(())
}

/// Returns the tree of candidates with the most gold heads; of several, the one with the largest marginals.
fn reachable(
    example: &Example,
    marginals: &ArcMatrix,
    gold: &[usize],
    tree_set: TreeSet,
) -> Result<Target> {
    let words = example.words();
    let scores = ArcMatrix::from_fn(words, |head, modifier| {
        let gain = if gold[modifier - 1] == head { words as f64 + 1.0 } else { 0.0 };
        if example.candidates.allows(head, modifier) {
            marginals[(head, modifier)] + gain
        } else {
            f64::NEG_INFINITY
        }
    });
    let mut heads = Vec::new();
    argmax_with(&scores, tree_set, &mut Workspace::default(), &mut heads)?;
    Ok(Target::new(Tree::new(&heads)?))
}
