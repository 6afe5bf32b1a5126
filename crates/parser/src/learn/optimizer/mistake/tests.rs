//! Checks steps worked by hand, proven properties of the rules, and the lazy mean against a plain one.

use tutte_trees::TreeSet;

use super::*;
use crate::ArcModel;
use crate::learn::train::tests::{SMALL, corpus, small_model, treebank};

const PA: UpdateRule = UpdateRule::PassiveAggressive { update: Update::Pa, cost: Cost::Identity };

/// Runs passes over the sentences in order, and calls `after` for each.
fn run(
    rule: UpdateRule,
    passes: usize,
    tree_set: TreeSet,
    mut after: impl FnMut(&mut MistakeDriven<ArcModel>, &Corpus<'_>, &Example, &ArcModel, usize),
) -> (MistakeDriven<ArcModel>, ArcModel) {
    let treebank = treebank();
    let mut model = small_model(&treebank, SMALL, tree_set);
    let corpus = corpus(&treebank, &model);
    let mut optimizer = MistakeDriven::new(rule, model.arcs.weights.len(), 1);
    for _ in 0..passes {
        for example in &corpus.examples {
            let wrong = optimizer.update(&corpus, example, &mut model.arcs).unwrap();
            after(&mut optimizer, &corpus, example, &model.arcs, wrong);
        }
    }
    (optimizer, model.arcs)
}

#[test]
fn lazy_mean_is_the_plain_mean() {
    let rules = [UpdateRule::Perceptron, PA, UpdateRule::Mira { k: 3, c: 0.1 }];
    for rule in rules {
        let mut sums = Vec::new();
        let mut count = 0.0;
        let set = TreeSet::NonProjectiveSingleRoot;
        let (optimizer, arcs) = run(rule, 4, set, |_, _, _, arcs, _| {
            sums.resize(arcs.weights.len(), 0.0);
            for (sum, weight) in sums.iter_mut().zip(&arcs.weights) {
                *sum += f64::from(*weight);
            }
            count += 1.0;
        });
        let lazy = optimizer.average.mean(arcs.weights.iter());
        for (lazy, sum) in lazy.iter().zip(&sums) {
            assert!((f64::from(*lazy) - sum / count).abs() < 1e-6, "{rule:?}");
        }
    }
}

#[test]
fn separable_sentences_are_learnt_without_error() {
    for tree_set in TreeSet::ALL {
        for rule in [UpdateRule::Perceptron, PA, UpdateRule::Mira { k: 3, c: f64::INFINITY }] {
            let mut wrong_by_pass = vec![0; 30];
            let mut seen = 0;
            run(rule, 30, tree_set, |_, _, _, _, wrong| {
                wrong_by_pass[seen / 20] += wrong;
                seen += 1;
            });
            assert!(wrong_by_pass[0] > 0 && wrong_by_pass[29] == 0, "{rule:?} {wrong_by_pass:?}");
        }
    }
}

/// Returns the wrong trees among the best trees of the current weights.
fn wrong_trees(
    optimizer: &mut MistakeDriven<ArcModel>,
    corpus: &Corpus<'_>,
    example: &Example,
    arcs: &ArcModel,
) -> Vec<WrongTree> {
    arcs.prepare(example, |_| true, &mut optimizer.memory);
    let scores = Scorer::score(arcs, example, 1.0, &mut optimizer.memory);
    let trees = optimizer.best_trees(corpus, &scores).unwrap();
    let gold = tutte_trees::ArcMatrix::gold(example);
    let wrong = trees.iter().filter(|tree| **tree != gold);
    wrong.map(|tree| optimizer.wrong_tree(tree, &gold, PartTable::zeros(&scores), arcs)).collect()
}

#[test]
fn a_passive_aggressive_step_gains_exactly_its_margin() {
    let treebank = treebank();
    for cost in [Cost::Sqrt, Cost::Identity] {
        let rule = UpdateRule::PassiveAggressive { update: Update::Pa, cost };
        let mut model = small_model(&treebank, SMALL, TreeSet::NonProjectiveSingleRoot);
        let corpus = corpus(&treebank, &model);
        let mut optimizer = MistakeDriven::new(rule, model.arcs.weights.len(), 1);
        let mut steps = 0;
        for example in &corpus.examples {
            let trees = wrong_trees(&mut optimizer, &corpus, example, &model.arcs);
            optimizer.update(&corpus, example, &mut model.arcs).unwrap();
            for tree in trees {
                let margin = tree.difference.dot_weights(|cell| model.arcs.weights[cell]);
                assert!((margin - cost.of(tree.wrong)).abs() < 1e-5, "{margin}");
                steps += 1;
            }
        }
        assert!(steps > 5);
    }
}

#[test]
fn mira_with_one_tree_is_passive_aggressive() {
    let set = TreeSet::ProjectiveSingleRoot;
    let weights = |rule| run(rule, 3, set, |_, _, _, _, _| {}).1.weights;
    assert_eq!(weights(PA), weights(UpdateRule::Mira { k: 1, c: f64::INFINITY }));
    let update = Update::PaI { c: 0.02 };
    let first = weights(UpdateRule::PassiveAggressive { update, cost: Cost::Identity });
    assert_eq!(first, weights(UpdateRule::Mira { k: 1, c: 0.02 }));
    assert_ne!(first, weights(PA));
}

#[test]
fn mira_gains_all_margins() {
    let treebank = treebank();
    let rule = UpdateRule::Mira { k: 5, c: f64::INFINITY };
    let mut model = small_model(&treebank, SMALL, TreeSet::NonProjectiveMultiRoot);
    let corpus = corpus(&treebank, &model);
    let mut optimizer = MistakeDriven::new(rule, model.arcs.weights.len(), 1);
    for example in &corpus.examples {
        let trees = wrong_trees(&mut optimizer, &corpus, example, &model.arcs);
        optimizer.update(&corpus, example, &mut model.arcs).unwrap();
        for tree in &trees {
            let margin = tree.difference.dot_weights(|cell| model.arcs.weights[cell]);
            assert!(margin > tree.wrong as f64 - 1e-4, "{margin} of {}", tree.wrong);
        }
    }
}

/// A step worked by hand: two words and one feature, the pair of tags. With zero weights the best tree is the first
/// of equals. Each wrong head moves two features, and each feature has two cells.
#[test]
fn a_first_step_by_hand() {
    let treebank = vec![crate::learn::train::tests::sentence("a/X/2/l b/Y/0/root")];
    let mut model = small_model(&treebank, "h.upos m.upos", TreeSet::NonProjectiveMultiRoot);
    let corpus = corpus(&treebank, &model);
    let example = &corpus.examples[0];
    let mut optimizer = MistakeDriven::new(UpdateRule::Perceptron, model.arcs.weights.len(), 1);
    let wrong = optimizer.update(&corpus, example, &mut model.arcs).unwrap();
    let moved: f32 = model.arcs.weights.iter().map(|weight| weight.abs()).sum();
    assert!(wrong > 0);
    assert_eq!(moved, 4.0 * wrong as f32);
    // The gold tree wins after this step, so the next one moves nothing.
    let before = model.arcs.weights.clone();
    assert_eq!(optimizer.update(&corpus, example, &mut model.arcs).unwrap(), 0);
    assert_eq!(model.arcs.weights, before);
}
