//! Checks joint labels in every optimizer by enumeration, finite differences and steps worked by hand.

use std::sync::Arc;

use tutte_treebank::Sentence;
use tutte_trees::{LabelledTree, Tree, oracle};

use super::super::batch::Batch;
use super::super::exponentiated::{Dual, Exponentiated, Rate};
use super::super::mistake::{MistakeDriven, UpdateRule};
use super::super::passive_aggressive::{Cost, Update};
use super::super::{Optimizer, OptimizerRun, Report, Schedule};
use super::*;
use crate::features::{FactorSet, FeatureSet};
use crate::learn::objective::{brier, decoded_risk, likelihood, risk, softmax_margin};
use crate::learn::train::tests::{SMALL, corpus, sentence, small_model, treebank};
use crate::learn::train::{Corpus, TrainingOptions, train_further};
use crate::{Candidates, Labelling, ParserModel};

/// Two verbs and two nouns. The first noun can only belong to one of the verbs. The second belongs to the other one,
/// which no feature of a single arc can tell.
fn one_noun_per_verb() -> Vec<Sentence> {
    [
        "go/VERB/0/root be/AUX/1/dep tea/NOUN/1/obj cup/PROPN/2/obj",
        "go/VERB/0/root be/AUX/1/dep ice/NUM/2/obj cup/PROPN/1/obj",
        "be/AUX/2/dep go/VERB/0/root cup/PROPN/1/obj tea/NOUN/2/obj",
        "be/AUX/2/dep go/VERB/0/root cup/PROPN/2/obj ice/NUM/1/obj",
    ]
    .map(sentence)
    .into()
}

#[test]
fn factors_learn_what_arcs_cannot_tell() {
    let treebank = one_noun_per_verb();
    let tree_set = TreeSet::NonProjectiveSingleRoot;
    let loss = |factors: Option<FactorModel>| {
        let mut model = joint_model(&treebank, tree_set);
        model.arcs = ArcModel::new(
            FeatureSet::parse("conjoin none\nh.upos m.upos\nm.upos m.form").unwrap(),
            model.arcs.index.clone(),
        );
        let corpus = corpus(&treebank, &model);
        model.labels.observe(corpus.labelled_arcs());
        let factors = factors.map(|factors| (factors, tree_set));
        let mut model = Joint { arcs: model.arcs, labels: model.labels, factors };
        let optimizer: Optimizer = "adagrad:rate=0.3,damping=1,dropout=0".parse().unwrap();
        let schedule = Schedule { passes: 60, seed: 1, threads: 1 };
        let mut run = optimizer.start(&corpus, &mut model, schedule).unwrap();
        (0..60).map(|_| run.pass(&corpus, &mut model).unwrap().loss).last().unwrap()
    };
    let alone = loss(None);
    // One bit for each sentence.
    assert!(alone > 4.0 * 2f64.ln() - 1e-3, "{alone}");
    for iterations in [1, 2] {
        let with_factors = loss(Some(small_factors(iterations)));
        assert!(with_factors < 0.5, "{iterations}: {with_factors}");
    }
}

/// Dropout leaves out templates of factors, too.
#[test]
fn factors_without_templates_change_nothing() {
    let treebank = treebank();
    let tree_set = TreeSet::ProjectiveSingleRoot;
    let (mut model, corpus) = ready(&treebank, tree_set);
    model.factors = Some((small_factors(2), tree_set));
    any_weights(&mut model);
    let templates = model.templates();
    let without = Joint { factors: None, ..model.clone() };
    let mut memory = Memory::default();
    for example in &corpus.examples {
        let expected = scores(&without, example);
        let refined = scores(&model, example);
        model.prepare(example, |template| template < templates - 7, &mut memory);
        let found = model.score(example, 1.0, &mut memory);
        let differ = |a: f64, b: f64| (a - b).abs() > 1e-12;
        for part in expected.parts() {
            assert!(!differ(found[part], expected[part]), "{} {}", found[part], expected[part]);
        }
        let is_changed = expected.parts().any(|part| differ(refined[part], expected[part]));
        assert_eq!(is_changed, example.gold.len() > 1, "{}", example.gold.len());
    }
}

const SETS: [TreeSet; 4] = TreeSet::ALL;

/// Returns a small model. Its label features are a pair of tags, and the form of the dependent.
fn joint_model(treebank: &[Sentence], tree_set: TreeSet) -> ParserModel {
    let mut model = small_model(treebank, SMALL, tree_set);
    let features = FeatureSet::parse("h.upos m.upos\nm.form").unwrap();
    let names = model.labels.labels().to_vec();
    model.labels = LabelModel::new(features, names, 8).with_labelling(Labelling::Joint);
    model
}

/// Returns a small joint model and its corpus.
fn ready(treebank: &[Sentence], tree_set: TreeSet) -> (Joint, Corpus<'_>) {
    let mut model = joint_model(treebank, tree_set);
    let corpus = corpus(treebank, &model);
    model.labels.observe(corpus.labelled_arcs());
    (Joint { arcs: model.arcs, labels: model.labels, factors: None }, corpus)
}

/// Sets weights without a pattern that are exact in `f32`.
fn any_weights(model: &mut Joint) {
    for (at, weight) in model.weights_mut().enumerate() {
        *weight = ((at * 37 + at / 8) % 17) as f32 / 16.0 - 0.5;
    }
}

fn scores(model: &Joint, example: &Example) -> LabelledArcMatrix {
    let mut memory = Memory::default();
    model.prepare(example, |_| true, &mut memory);
    model.score(example, 1.0, &mut memory)
}

/// Compares scores with w·f + w_ℓ·g of the two models, and `accumulate` with the derivatives of scores by weights.
#[test]
fn scores_are_sums_and_accumulate_is_their_derivative() {
    let treebank = treebank();
    let (mut model, corpus) = ready(&treebank, TreeSet::NonProjectiveSingleRoot);
    any_weights(&mut model);
    for example in &corpus.examples[..5] {
        let found = scores(&model, example);
        let mut memory = Memory::default();
        model.prepare(example, |_| true, &mut memory);
        let arcs = Scorer::score(&model.arcs, example, 1.0, &mut memory.arcs);
        let mut rows = Vec::new();
        for part @ (head, modifier, label) in found.parts() {
            if !model.labels.allows(head, label) {
                assert_eq!(found[part], f64::NEG_INFINITY);
                continue;
            }
            model.labels.rows(&memory.labels, head, modifier, &mut rows);
            let of = |row: &usize| f64::from(model.labels.weights[row + label]);
            let expected = arcs[(head, modifier)] + rows.iter().map(of).sum::<f64>();
            assert!((found[part] - expected).abs() < 1e-5);
            // `accumulate` lists the features of a single part.
            let mut one = found.zeros();
            one[part] = 1.0;
            let mut sum = 0.0;
            model.accumulate(&mut memory, &one, 0.0, |cell, amount| {
                sum += f64::from(model.weight(cell)) * f64::from(amount);
            });
            assert!((sum - found[part]).abs() < 1e-5, "{sum} {}", found[part]);
        }
    }
}

/// Returns all labelled trees that the scores of a small sentence allow, best first.
fn all_trees(scores: &LabelledArcMatrix, tree_set: TreeSet) -> Vec<(f64, LabelledTree)> {
    let words = scores.words();
    let labels = scores.labels();
    let mut all = Vec::new();
    for tree in oracle::all_trees(words, tree_set) {
        for number in 0..labels.pow(words as u32) {
            let digit = |word: usize| number / labels.pow(word as u32) % labels;
            let tree = LabelledTree::new(Tree::clone(&tree), (0..words).map(digit).collect());
            let tree = tree.unwrap();
            let score = scores.sum_over(&tree).unwrap();
            if score > f64::NEG_INFINITY {
                all.push((score, tree));
            }
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all
}

#[test]
fn inference_is_enumeration() {
    let treebank =
        [sentence("a/X/2/l b/Y/0/root c/X/2/k"), sentence("a/X/0/root b/Y/3/l c/Z/1/k d/X/3/l")];
    let workspace = &mut Workspace::default();
    for tree_set in SETS {
        let (mut model, corpus) = ready(&treebank, tree_set);
        any_weights(&mut model);
        for example in &corpus.examples {
            let scores = scores(&model, example);
            let all = all_trees(&scores, tree_set);
            let log_z = all.iter().map(|(score, _)| score.exp()).sum::<f64>().ln();
            assert!((scores.log_partition(tree_set, workspace).unwrap() - log_z).abs() < 1e-9);
            let (best, parts) = scores.argmax(tree_set, workspace).unwrap();
            assert!((best - all[0].0).abs() < 1e-9);
            let of_parts: f64 = parts.iter().map(|part| scores[*part]).sum();
            assert!((of_parts - best).abs() < 1e-9);
            let few = scores.clone().kbest(4, tree_set).unwrap();
            assert_eq!(few.len(), all.len().min(4));
            for (found, (expected, _)) in few.iter().zip(&all) {
                let found: f64 = found.iter().map(|part| scores[*part]).sum();
                assert!((found - expected).abs() < 1e-9);
            }
            let gold = LabelledArcMatrix::gold(example);
            let wrong: f64 = parts.iter().map(|part| LabelledArcMatrix::cost(example, *part)).sum();
            assert_eq!(wrong as usize, parts.iter().zip(&gold).filter(|(a, b)| a != b).count());
        }
    }
}

fn schedule(passes: usize, threads: usize) -> Schedule {
    Schedule { passes, seed: 3, threads }
}

/// Steps worked by hand: two words, one feature of arcs and one of labels. With zero weights, the best tree is the
/// first of equals with the first allowed label of each arc.
#[test]
fn a_first_step_by_hand() {
    let treebank = [sentence("a/X/2/z b/Y/0/root"), sentence("c/Q/0/root d/Q/1/a")];
    let mut model = small_model(&treebank, "h.upos m.upos", TreeSet::NonProjectiveMultiRoot);
    let names = model.labels.labels().to_vec();
    assert_eq!(names, ["a", "root", "z"]);
    let features = FeatureSet::parse("m.upos").unwrap();
    model.labels = LabelModel::new(features, names, 8).with_labelling(Labelling::Joint);
    let corpus = corpus(&treebank, &model);
    model.labels.observe(corpus.labelled_arcs());
    let mut model = Joint { arcs: model.arcs, labels: model.labels, factors: None };
    let example = &corpus.examples[0];
    // Both arcs are right, and the label of the first is wrong: only weights of labels move.
    let workspace = &mut Workspace::default();
    for cell in [(2, 1), (0, 2)] {
        let mut ones = ArcMatrix::zeros(2);
        ones[cell] = 1.0;
        let Joint { arcs, .. } = &mut model;
        let mut memory = Prepared::default();
        Scorer::prepare(&*arcs, example, |_| true, &mut memory);
        let mut cells = Vec::new();
        arcs.accumulate(&memory, &ones, 0.0, |cell, _| cells.push(cell));
        cells.into_iter().for_each(|cell| arcs.weights[cell] += 1.0);
    }
    let best = scores(&model, example).argmax(corpus.tree_set, workspace).unwrap().1;
    assert_eq!(best, [(2, 1, 0), (0, 2, 1)]);
    let before = model.arcs.weights.clone();
    let mut optimizer = MistakeDriven::new(UpdateRule::Perceptron, model.cells(), 1);
    assert_eq!(optimizer.update(&corpus, example, &mut model).unwrap(), 1);
    assert_eq!(model.arcs.weights, before);
    let mut moved: Vec<f32> = model.labels.weights.iter().copied().filter(|w| *w != 0.0).collect();
    moved.sort_by(f32::total_cmp);
    // The feature has two cells, alone and with the arc's direction: up for the gold label, down for the other.
    assert_eq!(moved, [-1.0, -1.0, 1.0, 1.0]);
    assert_eq!(optimizer.update(&corpus, example, &mut model).unwrap(), 0);

    // A passive-aggressive step for one wrong label. Four cells differ by 1, so ‖d‖² = 4.
    model.labels.weights.fill(0.0);
    let pa = UpdateRule::PassiveAggressive { update: Update::Pa, cost: Cost::Identity };
    let mut optimizer = MistakeDriven::new(pa, model.cells(), 1);
    optimizer.update(&corpus, example, &mut model).unwrap();
    let highest = model.labels.weights.iter().copied().fold(0.0, f32::max);
    assert_eq!(highest, 0.25);
    let found = scores(&model, example);
    assert!((found[(2, 1, 2)] - found[(2, 1, 0)] - 1.0).abs() < 1e-6, "the margin is met exactly");
}

#[test]
fn mira_with_one_tree_is_passive_aggressive() {
    let treebank = treebank();
    for tree_set in [TreeSet::ProjectiveSingleRoot, TreeSet::NonProjectiveMultiRoot] {
        let weights = |rule| {
            let (mut model, corpus) = ready(&treebank, tree_set);
            let mut optimizer = MistakeDriven::new(rule, model.cells(), 1);
            for _ in 0..3 {
                optimizer.pass(&corpus, &mut model).unwrap();
            }
            model.weights().copied().collect::<Vec<_>>()
        };
        let cost = Cost::Identity;
        let pa = weights(UpdateRule::PassiveAggressive { update: Update::Pa, cost });
        assert_eq!(pa, weights(UpdateRule::Mira { k: 1, c: f64::INFINITY }));
        let update = Update::PaI { c: 0.02 };
        let first = weights(UpdateRule::PassiveAggressive { update, cost });
        assert_eq!(first, weights(UpdateRule::Mira { k: 1, c: 0.02 }));
        assert_ne!(pa, first);
    }
}

/// Returns factors of all families. They do not look at the best labels, which change abruptly with weights.
fn small_factors(iterations: usize) -> FactorModel {
    let templates = "\
grandparent g.upos h.upos m.upos
grandparent g.upos m.form
siblings h.upos m.upos s.upos
sequence h.upos m.upos s.upos
sequence m.upos s.form
crossing m.upos s.upos
crossing m.upos s.guide
";
    FactorModel::new(FactorSet::parse(templates).unwrap(), 12, iterations)
}

/// Compares ∇L by weights of arcs, labels and factors with central differences.
#[test]
fn gradients_are_derivatives() {
    let treebank = &treebank()[..3];
    let iterations = [0, 1, 3, 5];
    for (tree_set, iterations) in SETS.into_iter().flat_map(|set| iterations.map(|t| (set, t))) {
        for objective in [likelihood(), softmax_margin(1.0), risk(0.5), decoded_risk(0.5), brier()]
        {
            let (mut model, corpus) = ready(treebank, tree_set);
            if iterations > 0 {
                model.factors = Some((small_factors(iterations), tree_set));
            }
            any_weights(&mut model);
            let mut memory = Memory::default();
            let mut scratch = Scratch::default();
            let mut value = |model: &Joint, gradient: &mut Vec<f64>| {
                gradient.clear();
                gradient.resize(model.cells(), 0.0);
                let mut sum = 0.0;
                for example in &corpus.examples {
                    let mut coefficients = LabelledArcMatrix::default();
                    model.prepare(example, |_| true, &mut memory);
                    let scores = model.score(example, 1.0, &mut memory);
                    let term = Term { objective: &objective, example, tree_set, progress: 1.0 };
                    sum += scores.evaluate(term, &mut scratch, &mut coefficients).unwrap();
                    model.accumulate(&mut memory, &coefficients, 0.0, |cell, amount| {
                        gradient[cell] += f64::from(amount);
                    });
                }
                sum
            };
            let mut gradient = Vec::new();
            let mut unused = Vec::new();
            value(&model, &mut gradient);
            let used: Vec<usize> =
                (0..gradient.len()).filter(|cell| gradient[*cell] != 0.0).collect();
            let first = model.arcs.weights.len();
            assert!(used.iter().any(|cell| *cell < first) && used.iter().any(|cell| *cell > first));
            let first_factor = first + model.labels.weights.len();
            assert_eq!(used.iter().any(|cell| *cell >= first_factor), iterations > 0);
            for &cell in used.iter().step_by(used.len() / 25) {
                let weight = model.weight(cell);
                let mut slope = |by: f32| {
                    *model.weight_mut(cell) = weight + by;
                    let above = value(&model, &mut unused);
                    *model.weight_mut(cell) = weight - by;
                    let below = value(&model, &mut unused);
                    *model.weight_mut(cell) = weight;
                    (above - below) / (2.0 * f64::from(by))
                };
                // The steps are exact in `f32`. Two differences cancel the error in h².
                let near = slope(1.0 / 256.0);
                let far = slope(1.0 / 128.0);
                let expected = near + (near - far) / 3.0;
                assert!((gradient[cell] - expected).abs() < 1e-5, "{} {expected}", gradient[cell]);
            }
        }
    }
}

/// The dual stays below the primal, rises, and meets it.
#[test]
fn the_gap_of_exponentiated_gradient_closes() {
    let treebank: Vec<Sentence> = treebank().into_iter().take(4).collect();
    for (dual, passes, small) in [(Dual::MaxMargin, 1000, 1e-3), (Dual::LogLinear, 150, 1e-5)] {
        for tree_set in [TreeSet::NonProjectiveSingleRoot, TreeSet::ProjectiveMultiRoot] {
            let (mut model, corpus) = ready(&treebank, tree_set);
            let mut optimizer =
                Exponentiated::new(dual, 0.7, 9.0, Rate::Own, Some(0.0), &corpus, &mut model)
                    .unwrap();
            let mut reports: Vec<Report> = Vec::new();
            for _ in 0..passes {
                reports.push(optimizer.pass(&corpus, &mut model).unwrap());
            }
            let gap = |report: &Report| report.gap.unwrap();
            assert!(reports.windows(2).all(|two| two[1].loss > two[0].loss - 1e-5));
            assert!(reports.iter().all(|report| gap(report) > -1e-5));
            let (first, last) = (gap(&reports[0]), gap(&reports[passes - 1]));
            assert!(first > 0.1 && last < small, "{dual:?} {tree_set}: from {first} to {last}");
        }
    }
}

/// Both find the unique minimum of C Σ −log p(y, ℓ) + ½‖w‖².
#[test]
fn log_linear_is_what_lbfgs_finds() {
    let treebank = treebank();
    let tree_set = TreeSet::NonProjectiveSingleRoot;
    let (mut dual, corpus) = ready(&treebank, tree_set);
    let mut optimizer =
        Exponentiated::new(Dual::LogLinear, 0.7, 9.0, Rate::Own, None, &corpus, &mut dual).unwrap();
    let mut bound = 0.0;
    for _ in 0..100 {
        bound = optimizer.pass(&corpus, &mut dual).unwrap().loss;
    }
    let (mut primal, _) = ready(&treebank, tree_set);
    let mut batch = Batch::new(likelihood(), 0.7, 10, 1, &corpus, &mut primal).unwrap();
    let mut value = 0.0;
    for _ in 0..100 {
        let report = batch.pass(&corpus, &mut primal).unwrap();
        value = report.loss;
        if report.converged {
            break;
        }
    }
    assert!((value - bound).abs() < 1e-5 * value, "{value} {bound}");
    for (a, b) in dual.weights().zip(primal.weights()) {
        assert!((a - b).abs() < 2e-3, "{a} {b}");
    }
}

/// With a single label and no label features, every optimizer ends with the weights it has without labels, bit by
/// bit.
#[test]
fn one_label_is_no_labels() {
    let mut treebank = treebank();
    for sentence in &mut treebank {
        let same = vec!["l"; sentence.len()];
        sentence.set_deprels(&same).unwrap();
    }
    for name in Optimizer::NAMES {
        let optimizer = Optimizer::named(name).unwrap();
        let options = TrainingOptions { optimizer, passes: 4, ..TrainingOptions::default() };
        let trained = |labelling| {
            let mut model = small_model(&treebank, SMALL, TreeSet::NonProjectiveSingleRoot);
            let features = FeatureSet::new(Vec::new());
            model.labels =
                LabelModel::new(features, vec!["l".to_owned()], 4).with_labelling(labelling);
            let model = train_further(model, &treebank, &options, &mut ()).unwrap();
            model.arcs.weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>()
        };
        let expected = trained(Labelling::Staged);
        assert!(expected.iter().any(|bits| *bits != 0), "{name}");
        assert!(trained(Labelling::Joint) == expected, "{name}");
    }
}

/// Arcs that are not candidates get no score, and training continues without them.
#[test]
fn only_candidates_are_scored() {
    let treebank = treebank();
    for name in Optimizer::NAMES {
        let (mut model, mut corpus) = ready(&treebank, TreeSet::NonProjectiveMultiRoot);
        let few = |example: &Arc<Example>| {
            Candidates::of(example.gold.len(), |head, modifier| head == 0 || head + 1 == modifier)
        };
        // `prune` keeps the gold arcs as well.
        corpus.prune(corpus.examples.iter().map(few).collect());
        let optimizer = Optimizer::named(name).unwrap();
        let mut optimizer = optimizer.start(&corpus, &mut model, schedule(2, 1)).unwrap();
        for _ in 0..2 {
            assert!(optimizer.pass(&corpus, &mut model).unwrap().loss.is_finite(), "{name}");
        }
        for example in &corpus.examples {
            for (head, modifier, _, score) in scores(&model, example).arcs() {
                if !example.candidates.allows(head, modifier) {
                    assert_eq!(score, f64::NEG_INFINITY);
                }
            }
        }
        assert!(model.labels.weights.iter().any(|weight| *weight != 0.0), "{name}");
    }
}
