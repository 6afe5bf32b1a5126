//! Checks that the duality gap closes, that the dual rises, and that both models agree with other optimizers.

use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

use super::super::batch::Batch;
use super::*;
use crate::ArcModel;
use crate::learn::objective::likelihood;
use crate::learn::train::tests::{SMALL, corpus, sentence, small_model, treebank};

const C: f64 = 0.7;

const ALL: [(Dual, Rate); 4] = [
    (Dual::MaxMargin, Rate::Shared),
    (Dual::MaxMargin, Rate::Own),
    (Dual::LogLinear, Rate::Shared),
    (Dual::LogLinear, Rate::Own),
];

fn five() -> Vec<Sentence> {
    treebank().into_iter().take(5).collect()
}

/// Runs passes. `after` gets the optimizer, its report, and the rate of the first sentence before the pass.
fn run(
    (dual, rate): (Dual, Rate),
    treebank: &[Sentence],
    tree_set: TreeSet,
    passes: usize,
    mut after: impl FnMut(&Exponentiated<ArcModel>, Report, f64),
) -> (Exponentiated<ArcModel>, Vec<f32>) {
    let mut model = small_model(treebank, SMALL, tree_set);
    let corpus = corpus(treebank, &model);
    let arcs = &mut model.arcs;
    let mut optimizer = Exponentiated::new(dual, C, 9.0, rate, Some(0.0), &corpus, arcs).unwrap();
    for _ in 0..passes {
        let rate = optimizer.blocks[0].rate;
        let report = optimizer.pass(&corpus, arcs).unwrap();
        after(&optimizer, report, rate);
    }
    (optimizer, model.arcs.weights)
}

/// Tolerance of bounds: scores are `f32`.
const ROUNDING: f64 = 1e-5;

#[test]
fn the_gap_closes_in_every_tree_set() {
    for way in ALL {
        let (passes, small) = match way {
            // The objective is about 15, and scores are `f32`.
            (Dual::MaxMargin, _) => (1200, 1e-3),
            (Dual::LogLinear, _) => (200, 1e-6),
        };
        for tree_set in TreeSet::ALL {
            let mut gaps = Vec::new();
            run(way, &five(), tree_set, passes, |_, report, _| gaps.push(report.gap.unwrap()));
            assert!(gaps.iter().all(|gap| *gap > -ROUNDING), "{way:?} {tree_set}");
            let first = gaps[0];
            let last = gaps[gaps.len() - 1];
            assert!(first > 0.1 && last < small, "{way:?} {tree_set}: from {first} to {last}");
        }
    }
}

#[test]
fn a_shared_rate_is_halved_where_the_dual_falls() {
    for dual in [Dual::MaxMargin, Dual::LogLinear] {
        let mut last = f64::NEG_INFINITY;
        let set = TreeSet::NonProjectiveSingleRoot;
        run((dual, Rate::Shared), &five(), set, 100, |optimizer, report, rate| {
            let expected = if report.loss < last { rate / 2.0 } else { rate };
            assert!(optimizer.blocks.iter().all(|block| block.rate == expected));
            last = report.loss;
        });
    }
}

#[test]
fn with_rates_of_their_own_the_dual_never_falls() {
    for dual in [Dual::MaxMargin, Dual::LogLinear] {
        for tree_set in TreeSet::ALL {
            let mut last = f64::NEG_INFINITY;
            run((dual, Rate::Own), &treebank(), tree_set, 60, |_, report, _| {
                assert!(report.loss > last - ROUNDING, "{} after {last}", report.loss);
                last = report.loss;
            });
        }
    }
}

#[test]
fn weights_are_those_of_the_marginals() {
    let treebank = five();
    for way in ALL {
        let set = TreeSet::NonProjectiveMultiRoot;
        let (mut optimizer, _) = run(way, &treebank, set, 49, |_, _, _| {});
        let mut model = small_model(&treebank, SMALL, set);
        let corpus = corpus(&treebank, &model);
        let drift = optimizer.rederive(&corpus, &mut model.arcs);
        assert!(drift < 1e-6 * optimizer.squared_norm().sqrt(), "{drift}");
    }
}

/// Both find the unique minimum of C Σ −log p + ½‖w‖².
#[test]
fn log_linear_is_what_lbfgs_finds() {
    let treebank = treebank();
    for tree_set in [TreeSet::NonProjectiveSingleRoot, TreeSet::ProjectiveMultiRoot] {
        let mut bound = 0.0;
        let (_, weights) =
            run((Dual::LogLinear, Rate::Own), &treebank, tree_set, 100, |_, report, _| {
                bound = report.loss
            });
        let mut model = small_model(&treebank, SMALL, tree_set);
        let corpus = corpus(&treebank, &model);
        let mut batch = Batch::new(likelihood(), C, 10, 1, &corpus, &mut model.arcs).unwrap();
        let mut value = 0.0;
        for _ in 0..100 {
            let report = batch.pass(&corpus, &mut model.arcs).unwrap();
            value = report.loss;
            if report.converged {
                break;
            }
        }
        assert!((value - bound).abs() < 1e-6 * value, "{value} {bound}");
        for (a, b) in weights.iter().zip(&model.arcs.weights) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
    }
}

/// At the optimum of the max-margin model, no change of a weight lowers the objective.
#[test]
fn max_margin_is_optimal() {
    let treebank = five();
    let tree_set = TreeSet::NonProjectiveSingleRoot;
    let (mut optimizer, weights) =
        run((Dual::MaxMargin, Rate::Own), &treebank, tree_set, 1200, |_, _, _| {});
    let mut model = small_model(&treebank, SMALL, tree_set);
    let corpus = corpus(&treebank, &model);
    model.arcs.weights = weights;
    let best = optimizer.primal_objective(&corpus, &model.arcs).unwrap();
    let used = |cell: &usize| optimizer.weights[*cell] != 0.0;
    let cells: Vec<usize> = (0..optimizer.weights.len()).filter(used).step_by(9).collect();
    for cell in cells {
        for by in [-0.05, 0.05] {
            let old = optimizer.weights[cell];
            optimizer.weights[cell] += by;
            model.arcs.weights[cell] = optimizer.weights[cell] as f32;
            let other = optimizer.primal_objective(&corpus, &model.arcs).unwrap();
            assert!(other > best - 1e-4, "{other} {best}");
            optimizer.weights[cell] = old;
            model.arcs.weights[cell] = old as f32;
        }
    }
}

/// Scores that sink for many passes stay finite.
#[test]
fn long_runs_stay_finite() {
    let treebank = vec![sentence("a/X/2/l b/Y/0/root c/Z/2/l")];
    for way in ALL {
        let (optimizer, _) =
            run(way, &treebank, TreeSet::NonProjectiveSingleRoot, 3000, |_, report, _| {
                assert!(report.loss.is_finite());
            });
        let lowest =
            optimizer.blocks[0].theta.arcs().map(|(_, _, score)| score).fold(0.0, f64::min);
        assert!(lowest >= FLOOR);
    }
}
