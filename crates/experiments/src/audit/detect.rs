//! Ways to tell which arcs of a treebank are wrong. Each gives every arc a number, the higher the more
//! suspicious, from a model that has not seen its fold; folds are the same for all.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tutte::audit::{Audit, AuditedArc, Folds, Settings};
use tutte::features::{Atoms, FeatureSet, Prepared};
use tutte::{ArcModel, Index, Labelling, Optimizer, Parser, TrainingOptions, train};
use tutte_treebank::Sentence;
use tutte_treebank::select::Choices;
use tutte_trees::{ArcMatrix, TreeSet, Workspace, argmax_with};

/// What is suspicious, by sentence and word.
pub(crate) type Suspicion = Vec<Vec<f64>>;

/// A run of models over all folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Detector {
    /// As `tutte audit` does.
    Audit,
    /// A distribution over trees of one pass, with a pruner's templates.
    Trees,
    /// Head selection with the same templates: each word's head by a softmax of its own.
    Local,
    /// The perceptron with the same templates: by how much its best tree without an arc beats its best tree
    /// with it.
    Perceptron,
}

/// The order of `tutte audit`.
const AUDIT: &str = "**log P(other) − log P(head, label), by label**";

impl Detector {
    pub(crate) const ALL: [Detector; 4] =
        [Detector::Audit, Detector::Trees, Detector::Local, Detector::Perceptron];

    /// The rankings of one run, by name. The first is what the detector is about.
    pub(crate) fn run(
        self,
        treebank: &[Sentence],
        tree_set: TreeSet,
        threads: usize,
    ) -> Result<Vec<(String, Suspicion)>> {
        let options = options(treebank, tree_set, threads);
        let small = TrainingOptions {
            labelling: Labelling::None,
            templates: FeatureSet::pruner(),
            bits: options.bits,
            passes: PASSES,
            tree_set,
            threads,
            ..TrainingOptions::plain()
        };
        let seed = options.seed;
        match self {
            Detector::Audit => {
                let audit = Audit::run(treebank, &Settings { folds: FOLDS, options }, |_| {})?;
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
                let audit =
                    Audit::run(treebank, &Settings { folds: FOLDS, options: small }, |_| {})?;
                let nats = |judged: &AuditedArc| -judged.head_prob.max(AuditedArc::LEAST).ln();
                let judged = |at| audit.arcs(at).iter().map(nats).collect();
                let suspicion = (0..treebank.len()).map(judged).collect();
                Ok(both("one pass: −log P(head)", suspicion, treebank))
            }
            Detector::Local => {
                let judge = |learnt: &[Sentence], judged: &[&Sentence]| {
                    Ok(Heads::learn(learnt, small.bits, seed).judge(judged))
                };
                let suspicion = by_fold(treebank, seed, threads, judge)?;
                Ok(both("one pass: local softmax", suspicion, treebank))
            }
            Detector::Perceptron => {
                let options =
                    TrainingOptions { optimizer: Optimizer::Perceptron, threads: 1, ..small };
                let judge = |learnt: &[Sentence], judged: &[&Sentence]| {
                    let model = train(learnt, &options, |_, _| {})?;
                    let mut parser = Parser::new(&model);
                    let margins = |sentence: &&Sentence| {
                        margins(parser.scores(sentence)?.clone(), sentence, tree_set)
                    };
                    judged.iter().map(margins).collect()
                };
                let suspicion = by_fold(treebank, seed, threads, judge)?;
                // Not by label: margins have no scale, and no mean where nothing else is possible.
                Ok(vec![("one pass: perceptron margin".to_owned(), suspicion)])
            }
        }
    }
}

/// A ranking by itself, and by label.
fn both(name: &str, suspicion: Suspicion, treebank: &[Sentence]) -> Vec<(String, Suspicion)> {
    let by_label = by_label(&suspicion, treebank);
    vec![(format!("{name}, by label"), by_label), (name.to_owned(), suspicion)]
}

/// Each number less the mean of those of the same label.
fn by_label(suspicion: &Suspicion, treebank: &[Sentence]) -> Suspicion {
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (words, sentence) in suspicion.iter().zip(treebank) {
        for (suspicion, word) in words.iter().zip(sentence.words()) {
            let (sum, number) = sums.entry(word.deprel()).or_default();
            (*sum, *number) = (*sum + suspicion, *number + 1.0);
        }
    }
    let mean = |label: &str| sums.get(label).map_or(0.0, |(sum, number)| sum / number);
    let words = |(words, sentence): (&Vec<f64>, &Sentence)| {
        let words = words.iter().zip(sentence.words());
        words.map(|(suspicion, word)| suspicion - mean(word.deprel())).collect()
    };
    suspicion.iter().zip(treebank).map(words).collect()
}

/// As many as `tutte audit` has.
const FOLDS: usize = 5;

/// Of the detectors with one pass of parsing, over the treebank.
const PASSES: usize = 4;

/// The settings of `tutte audit`.
fn options(treebank: &[Sentence], tree_set: TreeSet, threads: usize) -> TrainingOptions {
    let words: usize = treebank.iter().map(Sentence::len).sum();
    let bits = match words {
        65_536.. => 23,
        _ => (words.max(2).ilog2() + 8).clamp(14, 22),
    };
    let label_bits = (words.max(2).ilog2() + 4).clamp(10, 16);
    TrainingOptions { bits, label_bits, tree_set, threads, ..TrainingOptions::fast() }
}

/// Learns for every fold from the others and judges it; several folds at once.
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

/// For every word, the score of the best tree in which it has another head, less that of the best tree in
/// which it has its own.
fn margins(mut scores: ArcMatrix, sentence: &Sentence, tree_set: TreeSet) -> Result<Vec<f64>> {
    let (mut workspace, mut heads) = (Workspace::default(), Vec::new());
    let best = argmax_with(&scores, tree_set, &mut workspace, &mut heads)?;
    let chosen = heads.clone();
    let mut margins = Vec::with_capacity(sentence.len());
    for (word, token) in (1..).zip(sentence.words()) {
        let gold = token.head().unwrap_or(0);
        let is_chosen = chosen[word - 1] == gold;
        // Without the gold head if it was chosen, otherwise with nothing else.
        let others = (0..=sentence.len()).filter(|&head| head != word);
        let kept: Vec<(usize, f64)> = others
            .filter(|&head| (head == gold) == is_chosen)
            .map(|head| (head, scores[(head, word)]))
            .collect();
        kept.iter().for_each(|&(head, _)| scores.forbid(head, word));
        let other = argmax_with(&scores, tree_set, &mut workspace, &mut heads);
        kept.iter().for_each(|&(head, score)| scores[(head, word)] = score);
        // Nothing else is possible.
        let other = other.unwrap_or(f64::NEG_INFINITY);
        margins.push(if is_chosen { other - best } else { best - other });
    }
    Ok(margins)
}

/// Head selection (Zhang, Cheng & Lapata 2017) with linear scores: p(h | m) = exp θ(h → m) / Σ exp θ(h′ → m),
/// learnt by AdaGrad as tutte's default learner is, and likewise with templates left out at random.
struct Heads {
    arcs: ArcModel,
}

impl Heads {
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
                // Three in ten are left out.
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

/// p(h | m) of all arcs, less 1 for those that a sentence has: the gradient of −log p.
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
