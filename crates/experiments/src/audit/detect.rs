//! Detectors of wrong arcs. Each gives every arc a suspicion, from a model trained on the other folds. Folds are the
//! same for all detectors.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tutte::audit::{Audit, AuditedArc, Folds, Settings};
use tutte::features::{Atoms, FeatureSet, Prepared};
use tutte::{ArcModel, Index, Labelling, Optimizer, Parser, TrainingOptions, train};
use tutte_treebank::Sentence;
use tutte_treebank::select::Choices;
use tutte_trees::{ArcMatrix, TreeSet, Workspace, argmax_with};

/// Suspicion by sentence and word; higher is more suspicious.
pub(crate) type Suspicion = Vec<Vec<f64>>;

/// A detector of wrong arcs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Detector {
    /// `tutte audit`.
    Audit,
    /// A first-pass distribution over trees, with the templates of a pruner.
    Trees,
    /// Head selection with the same templates: a softmax over the heads of each word.
    Local,
    /// The perceptron with the same templates: score of the best tree without an arc minus score of the best tree
    /// with it.
    Perceptron,
}

/// Name of the ranking of `tutte audit`. Names of rankings are part of cached outcomes.
const AUDIT: &str = "**log P(other) − log P(head, label), by label**";

impl Detector {
    pub(crate) const ALL: [Detector; 4] =
        [Detector::Audit, Detector::Trees, Detector::Local, Detector::Perceptron];

    /// Returns the rankings of one run, with names. The first is the main one.
    pub(crate) fn run(
        self,
        treebank: &[Sentence],
        tree_set: TreeSet,
        threads: usize,
    ) -> Result<Vec<(String, Suspicion)>> {
        let options = options(treebank, tree_set, threads);
        let small = TrainingOptions::plain()
            .with_labelling(Labelling::None)
            .with_templates(FeatureSet::pruner())
            .with_bits(options.bits)
            .with_passes(PASSES)
            .with_tree_set(tree_set)
            .with_threads(threads);
        let seed = options.seed;
        match self {
            Detector::Audit => {
                let settings = Settings::default().with_folds(FOLDS).with_options(options);
                let audit = Audit::run(treebank, &settings, &mut ())?;
                let of = |suspicion: &dyn Fn(&AuditedArc, &str) -> f64| -> Suspicion {
                    let words = |(at, sentence): (usize, &Sentence)| {
                        let words = audit.arcs(at).iter().zip(sentence.words());
                        words.map(|(judged, word)| suspicion(judged, word.deprel())).collect()
                    };
                    treebank.iter().enumerate().map(words).collect()
                };
                let least = AuditedArc::LEAST;
                let other =
                    |judged: &AuditedArc| judged.other.map_or(0.0, |r| r.prob).max(least).ln();
                let heads = of(&|judged, _| -judged.head_prob.max(least).ln());
                let heads_by_label = by_label(&heads, treebank);
                Ok(vec![
                    (AUDIT.to_owned(), of(&|judged, label| audit.suspicion(judged, label))),
                    (
                        "log P(other) − log P(head, label)".to_owned(),
                        of(&|judged, _| other(judged) + judged.nats()),
                    ),
                    (
                        "−log P(head, label), by label".to_owned(),
                        of(&|judged, label| audit.suspicion(judged, label) - other(judged)),
                    ),
                    ("−log P(head, label)".to_owned(), of(&|judged, _| judged.nats())),
                    ("−log P(head), by label".to_owned(), heads_by_label),
                    ("−log P(head)".to_owned(), heads),
                ])
            }
            Detector::Trees => {
                let settings = Settings::default().with_folds(FOLDS).with_options(small);
                let audit = Audit::run(treebank, &settings, &mut ())?;
                let nats = |judged: &AuditedArc| -judged.head_prob.max(AuditedArc::LEAST).ln();
                let judged = |at| audit.arcs(at).iter().map(nats).collect();
                let suspicion = (0..treebank.len()).map(judged).collect();
                Ok(by_label_and_raw("one pass: −log P(head)", suspicion, treebank))
            }
            Detector::Local => {
                let judge = |learnt: &[Sentence], judged: &[&Sentence]| {
                    Ok(HeadSelection::learn(learnt, small.bits, seed).judge(judged))
                };
                let suspicion = by_fold(treebank, seed, threads, judge)?;
                Ok(by_label_and_raw("one pass: local softmax", suspicion, treebank))
            }
            Detector::Perceptron => {
                let options = small.with_optimizer(Optimizer::Perceptron).with_threads(1);
                let judge = |learnt: &[Sentence], judged: &[&Sentence]| {
                    let model = train(learnt, &options, &mut ())?;
                    let mut parser = Parser::new(&model);
                    let margins = |sentence: &&Sentence| {
                        margins(parser.scores(sentence)?.clone(), sentence, tree_set)
                    };
                    judged.iter().map(margins).collect()
                };
                let suspicion = by_fold(treebank, seed, threads, judge)?;
                // Not by label: margins have no scale, and an infinite margin has no mean.
                Ok(vec![("one pass: perceptron margin".to_owned(), suspicion)])
            }
        }
    }
}

/// Returns the ranking by label first, and then the ranking itself.
fn by_label_and_raw(
    name: &str,
    suspicion: Suspicion,
    treebank: &[Sentence],
) -> Vec<(String, Suspicion)> {
    let by_label = by_label(&suspicion, treebank);
    vec![(format!("{name}, by label"), by_label), (name.to_owned(), suspicion)]
}

/// Subtracts from each suspicion the mean of its label.
fn by_label(suspicion: &Suspicion, treebank: &[Sentence]) -> Suspicion {
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (words, sentence) in suspicion.iter().zip(treebank) {
        for (suspicion, word) in words.iter().zip(sentence.words()) {
            let (sum, number) = sums.entry(word.deprel()).or_default();
            *sum += suspicion;
            *number += 1.0;
        }
    }
    let mean = |label: &str| sums.get(label).map_or(0.0, |(sum, number)| sum / number);
    let words = |(words, sentence): (&Vec<f64>, &Sentence)| {
        let words = words.iter().zip(sentence.words());
        words.map(|(suspicion, word)| suspicion - mean(word.deprel())).collect()
    };
    suspicion.iter().zip(treebank).map(words).collect()
}

/// Number of folds, as in `tutte audit`.
const FOLDS: usize = 5;

/// Passes over the treebank of the first-pass detectors.
const PASSES: usize = 4;

/// Returns the options of `tutte audit`.
fn options(treebank: &[Sentence], tree_set: TreeSet, threads: usize) -> TrainingOptions {
    let words: usize = treebank.iter().map(Sentence::len).sum();
    let bits = match words {
        65_536.. => 23,
        _ => (words.max(2).ilog2() + 8).clamp(14, 22),
    };
    let label_bits = (words.max(2).ilog2() + 4).clamp(10, 16);
    TrainingOptions::fast()
        .with_bits(bits)
        .with_label_bits(label_bits)
        .with_tree_set(tree_set)
        .with_threads(threads)
}

/// Trains on all folds but one and applies `judge` to that one, for every fold, in parallel.
fn by_fold(
    treebank: &[Sentence],
    seed: u64,
    threads: usize,
    judge: impl Fn(&[Sentence], &[&Sentence]) -> Result<Suspicion> + Sync,
) -> Result<Suspicion> {
    let folds = Folds::deal(treebank, FOLDS, seed)?;
    let one = |fold: usize| {
        let learnt: Vec<Sentence> = folds.learnt_for(fold).map(|at| treebank[at].clone()).collect();
        let judged: Vec<&Sentence> = folds.held_out(fold).map(|at| &treebank[at]).collect();
        judge(&learnt, &judged)
    };
    let work = |first: usize| (first..folds.count()).step_by(threads).map(one).collect::<Vec<_>>();
    let done: Vec<Vec<Result<Suspicion>>> = std::thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = (0..threads).map(|first| scope.spawn(move || work(first))).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().map(join).collect()
    });
    let mut all = vec![Vec::new(); treebank.len()];
    for (first, results) in done.into_iter().enumerate() {
        for (fold, result) in (first..).step_by(threads).zip(results) {
            for (at, suspicion) in folds.held_out(fold).zip(result?) {
                all[at] = suspicion;
            }
        }
    }
    Ok(all)
}

/// Returns for each word the score of the best tree with another head minus the score of the best tree with its gold
/// head.
fn margins(mut scores: ArcMatrix, sentence: &Sentence, tree_set: TreeSet) -> Result<Vec<f64>> {
    let mut workspace = Workspace::default();
    let mut heads = Vec::new();
    let best = argmax_with(&scores, tree_set, &mut workspace, &mut heads)?;
    let chosen = heads.clone();
    let mut margins = Vec::with_capacity(sentence.len());
    for (word, token) in (1..).zip(sentence.words()) {
        let gold = token.head().unwrap_or(0);
        let is_chosen = chosen[word - 1] == gold;
        // Forbid the gold head if it was chosen, otherwise all other heads.
        let others = (0..=sentence.len()).filter(|&head| head != word);
        let forbidden: Vec<(usize, f64)> = others
            .filter(|&head| (head == gold) == is_chosen)
            .map(|head| (head, scores[(head, word)]))
            .collect();
        forbidden.iter().for_each(|&(head, _)| scores.forbid(head, word));
        let other = argmax_with(&scores, tree_set, &mut workspace, &mut heads);
        forbidden.iter().for_each(|&(head, score)| scores[(head, word)] = score);
        // Without a tree the score is −∞.
        let other = other.unwrap_or(f64::NEG_INFINITY);
        margins.push(if is_chosen { other - best } else { best - other });
    }
    Ok(margins)
}

/// Head selection (Zhang, Cheng & Lapata 2017) with linear scores: p(h | m) = exp θ(h → m) / Σ exp θ(h′ → m).
/// Trained by AdaGrad with template dropout, as tutte's default learner is.
struct HeadSelection {
    arcs: ArcModel,
}

impl HeadSelection {
    fn learn(treebank: &[Sentence], bits: u32, seed: u64) -> Self {
        const RATE: f32 = 0.05;
        const DAMPING: f32 = 10.0;
        let mut arcs = ArcModel::new(FeatureSet::pruner(), Index::Hashed { bits });
        let mut squares = vec![0f32; arcs.weights.len()];
        let mut choices = Choices::new(seed);
        let mut order: Vec<&Sentence> = treebank.iter().collect();
        let mut prepared = Prepared::default();
        let mut gradient: Vec<(usize, f32)> = Vec::new();
        for _ in 0..PASSES {
            choices.shuffle(&mut order);
            for sentence in &order {
                let atoms = Atoms::new(sentence, arcs.features.columns());
                let templates = arcs.features.templates().len();
                // Dropout of 0.3.
                let kept: Vec<bool> = (0..templates).map(|_| choices.below(10) >= 3).collect();
                prepared.fill(&arcs.features, &atoms, |template| kept[template]);
                let mut scores = ArcMatrix::zeros(sentence.len());
                arcs.score(&prepared, |_, _| true, &mut scores);
                let coefficients = softmax(&scores, Some(sentence));
                gradient.clear();
                arcs.accumulate(&prepared, &coefficients, 1e-4, |cell, amount| {
                    gradient.push((cell, amount));
                });
                for &(cell, amount) in &gradient {
                    squares[cell] += amount * amount;
                    arcs.weights[cell] -= RATE * amount / (DAMPING + squares[cell]).sqrt();
                }
            }
        }
        Self { arcs }
    }

    fn judge(&self, sentences: &[&Sentence]) -> Suspicion {
        let features = &self.arcs.features;
        let mut prepared = Prepared::default();
        let judge = |sentence: &&Sentence| {
            prepared.fill(features, &Atoms::new(sentence, features.columns()), |_| true);
            let mut scores = ArcMatrix::zeros(sentence.len());
            self.arcs.score(&prepared, |_, _| true, &mut scores);
            let probs = softmax(&scores, None);
            let words = (1..).zip(sentence.words());
            words.map(|(word, token)| -probs[(token.head().unwrap_or(0), word)].ln()).collect()
        };
        sentences.iter().map(judge).collect()
    }
}

/// Returns p(h | m) of all arcs. With a gold sentence, subtracts 1 for its arcs, which gives the gradient of −log p.
fn softmax(scores: &ArcMatrix, gold: Option<&Sentence>) -> ArcMatrix {
    let words = scores.words();
    let mut probs = ArcMatrix::zeros(words);
    for word in 1..=words {
        let heads = || (0..=words).filter(move |&head| head != word);
        let best = heads().map(|head| scores[(head, word)]).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = heads().map(|head| (scores[(head, word)] - best).exp()).sum();
        for head in heads() {
            probs[(head, word)] = (scores[(head, word)] - best).exp() / sum;
        }
    }
    for (word, token) in (1..).zip(gold.into_iter().flat_map(Sentence::words)) {
        probs[(token.head().unwrap_or(0), word)] -= 1.0;
    }
    probs
}
