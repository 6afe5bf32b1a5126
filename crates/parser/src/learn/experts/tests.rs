//! Forests and lists agree, gradients are derivatives, and annealed risk does what the papers say.

use tutte_linear::gaussian;
use tutte_trees::{LabelledArcMatrix, TreeSet};

use super::*;
use crate::learn::train::tests::{at_most, treebank};
use crate::{Labelling, Parser, ParserModel, TrainingOptions, train};

/// Returns a sentence with random experts and a random gold tree.
fn sentence(
    words: usize,
    labels: usize,
    experts: usize,
    tree_set: TreeSet,
    seed: u64,
) -> ExpertSentence {
    let mut draw = gaussian(seed);
    let mut matrix = || LabelledArcMatrix::from_fn(words, labels, |_, _, _| draw());
    let experts: Vec<LabelledArcMatrix> = (0..experts).map(|_| matrix()).collect();
    let gold = tutte_trees::LabelledTreeDistribution::new(matrix(), tree_set).unwrap().argmax();
    let arcs: Vec<(usize, usize, usize)> = gold.tree.arcs().collect();
    ExpertSentence {
        experts,
        gold: arcs.iter().map(|arc| Some(arc.0)).collect(),
        labels: arcs.iter().map(|arc| (labels > 1).then_some(arc.2)).collect(),
    }
}

/// Returns the lists of all trees of sentences.
fn all_trees(sentences: &[ExpertSentence], tree_set: TreeSet) -> Lists {
    let zeros = vec![0.0; sentences[0].experts.len()];
    let mut lists = Lists { lists: vec![Vec::new(); sentences.len()] };
    for (sentence, list) in sentences.iter().zip(&mut lists.lists) {
        let added = merge(list, sentence.kbest(&zeros, 1_000_000, tree_set).unwrap());
        assert_eq!(added, list.len());
        // The same trees are not added twice.
        assert_eq!(merge(list, sentence.kbest(&zeros, 5, tree_set).unwrap()), 0);
    }
    lists
}

/// Returns lists whose losses are partly explained by three features.
fn toy(seed: u64) -> Vec<Vec<Candidate>> {
    let mut draw = gaussian(seed);
    let mut candidate = || {
        let features = vec![draw(), draw(), draw()];
        let explained = 0.8 * features[0] - 0.5 * features[1];
        Candidate { loss: (3.0 - explained + 1.5 * draw()).max(0.0).round(), features }
    };
    (0..30).map(|_| (0..8).map(|_| candidate()).collect()).collect()
}

fn check_gradients(data: &impl Data, weights: &[f64]) {
    let zeros = || vec![0.0; weights.len()];
    let h = 1e-5;
    let moved = |k: usize, by: f64| {
        let mut moved = weights.to_vec();
        moved[k] += by;
        moved
    };
    for gamma in [0.5, 1.0, 3.0] {
        let at = |weights: &[f64]| {
            data.risk_and_entropy(weights, gamma, [&mut zeros(), &mut zeros()]).unwrap()
        };
        let [mut of_risk, mut of_entropy] = [zeros(), zeros()];
        data.risk_and_entropy(weights, gamma, [&mut of_risk, &mut of_entropy]).unwrap();
        for k in 0..weights.len() {
            let [risk, entropy] = [0, 1]
                .map(|which| (at(&moved(k, h))[which] - at(&moved(k, -h))[which]) / (2.0 * h));
            assert!((of_risk[k] - risk).abs() < 1e-6 * (1.0 + risk.abs()), "{of_risk:?} {risk}");
            assert!((of_entropy[k] - entropy).abs() < 1e-6 * (1.0 + entropy.abs()));
        }
    }
    let at = |weights: &[f64]| data.likelihood(weights, &mut zeros()).unwrap();
    let mut gradient = zeros();
    data.likelihood(weights, &mut gradient).unwrap();
    for k in 0..weights.len() {
        let slope = (at(&moved(k, h)) - at(&moved(k, -h))) / (2.0 * h);
        assert!((gradient[k] - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{gradient:?} {slope}");
    }
}

#[test]
fn the_list_of_all_trees_is_the_forest() {
    for tree_set in TreeSet::ALL {
        for (words, labels) in [(2, 1), (3, 1), (4, 1), (2, 3), (3, 2)] {
            let sentences = [1, 2].map(|seed| sentence(words, labels, 3, tree_set, seed));
            let forest = Forest { sentences: &sentences, tree_set };
            let lists = all_trees(&sentences, tree_set);
            let weights = [0.7, -0.4, 1.1];
            for gamma in [0.3, 1.0, 4.0] {
                let values = |data: &dyn Fn([&mut [f64]; 2]) -> [f64; 2]| {
                    let [mut risk, mut entropy] = [[0.0; 3]; 2];
                    (data([&mut risk, &mut entropy]), risk, entropy)
                };
                let by_forest =
                    values(&|slopes| forest.risk_and_entropy(&weights, gamma, slopes).unwrap());
                let by_lists =
                    values(&|slopes| lists.risk_and_entropy(&weights, gamma, slopes).unwrap());
                let all = |(values, risk, entropy): ([f64; 2], [f64; 3], [f64; 3])| {
                    [&values[..], &risk, &entropy].concat()
                };
                for (found, expected) in all(by_forest).iter().zip(all(by_lists)) {
                    let error = (found - expected).abs();
                    assert!(error < 1e-9 * (1.0 + expected.abs()), "{tree_set} {found} {expected}");
                }
            }
            let [mut by_forest, mut by_lists] = [[0.0; 3]; 2];
            let value = forest.likelihood(&weights, &mut by_forest).unwrap();
            assert!((value - lists.likelihood(&weights, &mut by_lists).unwrap()).abs() < 1e-9);
            let slopes = by_forest.iter().zip(by_lists);
            assert!(slopes.into_iter().all(|(a, b)| (a - b).abs() < 1e-9));
            assert_eq!(forest.best(&weights).unwrap().0, lists.best(&weights).unwrap().0);
            check_gradients(&forest, &weights);
            check_gradients(&lists, &weights);
        }
    }
}

/// γ → 0 is the uniform distribution, γ → ∞ the best tree.
#[test]
fn the_ends_of_gamma_are_uniform_and_best() {
    let counts = [[3.0, 16.0, 125.0], [2.0, 9.0, 64.0], [3.0, 12.0, 55.0], [2.0, 7.0, 30.0]];
    let sets = [
        TreeSet::NonProjectiveMultiRoot,
        TreeSet::NonProjectiveSingleRoot,
        TreeSet::ProjectiveMultiRoot,
        TreeSet::ProjectiveSingleRoot,
    ];
    for (tree_set, counts) in sets.into_iter().zip(counts) {
        for (words, count) in (2..).zip(counts) {
            let sentences = [sentence(words, 1, 2, tree_set, 7)];
            let forest = Forest { sentences: &sentences, tree_set };
            let lists = all_trees(&sentences, tree_set);
            assert_eq!(lists.lists[0].len() as f64, count);
            let at = |gamma| {
                let unused = [&mut [0.0; 2][..], &mut [0.0; 2][..]];
                forest.risk_and_entropy(&[1.0, 0.5], gamma, unused).unwrap()
            };
            let losses = lists.lists[0].iter().map(|listed| listed.candidate.loss);
            let mean = losses.sum::<f64>() / count;
            let [risk, entropy] = at(1e-9);
            assert!((risk - mean).abs() < 1e-6 && (entropy - f64::ln(count)).abs() < 1e-6);
            let best = forest.best(&[1.0, 0.5]).unwrap().0;
            assert!((at(1e4)[0] - best).abs() < 1e-6, "{tree_set}");
        }
    }
}

/// R and H depend on γθ alone. With an entropy term, so does the optimum.
#[test]
fn gamma_alone_is_redundant() {
    let lists = Lists::new(toy(3)).unwrap();
    let at = |weights: &[f64], gamma: f64| {
        let (mut of_risk, mut of_entropy) = ([0.0; 3], [0.0; 3]);
        let slopes = [&mut of_risk[..], &mut of_entropy[..]];
        let values = lists.risk_and_entropy(weights, gamma, slopes).unwrap();
        (values, of_risk, of_entropy)
    };
    let product = [0.4, 0.2, -0.1];
    for gamma in [0.25, 4.0] {
        let (values, of_risk, of_entropy) = at(&product.map(|weight| weight / gamma), gamma);
        let (expected, by_risk, by_entropy) = at(&product, 1.0);
        for (found, expected) in values.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        for (found, expected) in
            of_risk.iter().chain(&of_entropy).zip(by_risk.iter().chain(&by_entropy))
        {
            assert!((found - gamma * expected).abs() < 1e-9, "{found} {expected}");
        }
    }
    let optimum = |gamma: f64| {
        let settings = StageSettings { temperature: 0.5, gamma };
        let mut function =
            |weights: &[f64], gradient: &mut [f64]| objective(&lists, settings, weights, gradient);
        let found = minimise(&[0.0; 3], &mut function).unwrap();
        found.into_iter().map(|weight| gamma * weight).collect::<Vec<f64>>()
    };
    for gamma in [0.25, 4.0] {
        for (found, expected) in optimum(gamma).into_iter().zip(optimum(1.0)) {
            assert!((found - expected).abs() < 1e-3, "{found} {expected}");
        }
    }
}

#[test]
fn entropy_falls_as_it_cools() {
    let annealing = Annealing::default()
        .with_cooling("1000:0.5:0.01".parse().unwrap())
        .with_quench("2:4".parse().unwrap());
    let lists = fit_lists(toy(5), &Criterion::AnnealedRisk(annealing)).unwrap();
    let uniform = 30.0 * f64::ln(8.0);
    assert!((lists.stages[0].entropy - uniform).abs() < 1e-3 * uniform);
    assert!(lists.stages[0].norm < 1e-2);
    for pair in lists.stages.windows(2) {
        assert!(pair[1].entropy <= 1.01 * pair[0].entropy + 1e-9, "{pair:?}");
    }
    let cold = lists.stages.last().unwrap();
    assert!(cold.entropy < 0.1 * uniform, "{cold:?}");
}

#[test]
fn annealed_risk_has_fewer_errors_than_likelihood_in_most_toys() {
    let [mut fewer, mut more] = [0, 0];
    for seed in 0..40 {
        let errors = |criterion| fit_lists(toy(seed), &criterion).unwrap().errors;
        let likelihood = errors(Criterion::Likelihood);
        let risk = errors(Criterion::AnnealedRisk(Annealing::default()));
        fewer += usize::from(risk < likelihood);
        more += usize::from(risk > likelihood);
    }
    assert!(fewer > 20 && more < 10, "fewer {fewer}, more {more}");
}

#[test]
fn line_searches_find_the_fewest_errors() {
    for seed in 0..10 {
        let lists = Lists::new(toy(seed)).unwrap();
        let weights = [0.3, -0.2, 0.1];
        let (errors, place) = lists.line_minimum(&weights, 0);
        let at = |value: f64| lists.best(&[value, -0.2, 0.1]).unwrap().0;
        assert_eq!(at(place), errors);
        let least = (-4000..4000).map(|step| at(f64::from(step) / 400.0)).fold(f64::MAX, f64::min);
        assert!(errors <= least, "{errors} {least}");
        let errors = |criterion| fit_lists(toy(seed), &criterion).unwrap().errors;
        let searched = errors(Criterion::MinimumError { restarts: 5, seed: 1 });
        assert!(searched <= errors(Criterion::MinimumError { restarts: 0, seed: 1 }));
        assert!(searched <= errors(Criterion::Likelihood));
    }
}

fn experts(labelling: Labelling, tree_set: TreeSet) -> Vec<ParserModel<crate::Compact>> {
    let options = TrainingOptions::plain()
        .with_bits(13)
        .with_label_bits(8)
        .with_passes(1)
        .with_labelling(labelling)
        .with_tree_set(tree_set);
    // Each expert has the labels of all trees.
    let all = at_most(tree_set);
    let expert = |seed: u64| {
        let options = options.clone().with_seed(seed);
        train(&all, &options, &mut ()).unwrap().compact()
    };
    (1..=3).map(expert).collect()
}

#[test]
fn the_product_of_experts_is_one_model() {
    for (labelling, tree_set) in [
        (Labelling::Joint, TreeSet::NonProjectiveSingleRoot),
        (Labelling::Staged, TreeSet::ProjectiveMultiRoot),
        (Labelling::None, TreeSet::NonProjectiveMultiRoot),
    ] {
        let experts = experts(labelling, tree_set);
        let treebank = treebank();
        let scored = ExpertSentence::of_treebank(&experts, &treebank, 2).unwrap();
        let weights = [0.5, 1.5, -0.25];
        let model = product(&experts, &weights).unwrap();
        let again =
            ExpertSentence::of_treebank(std::slice::from_ref(&model), &treebank, 1).unwrap();
        for (one, all) in again.iter().zip(&scored) {
            assert_eq!((&one.gold, &one.labels), (&all.gold, &all.labels));
            let sum = all.sum(&weights);
            for (head, word) in tutte_trees::arcs(sum.words()) {
                for label in 0..sum.labels() {
                    let (found, expected) =
                        (one.experts[0][(head, word, label)], sum[(head, word, label)]);
                    let is_close = found == expected || (found - expected).abs() < 1e-3;
                    assert!(is_close, "{labelling} {found} {expected}");
                }
            }
        }
        Parser::new(&model).parse(&treebank[0]).unwrap();
    }
}

#[test]
fn every_criterion_fits_experts_in_forests_and_lists() {
    let tree_set = TreeSet::NonProjectiveSingleRoot;
    let experts = experts(Labelling::Joint, tree_set);
    let treebank = treebank();
    let scored = ExpertSentence::of_treebank(&experts, &treebank, 1).unwrap();
    let forest = Forest { sentences: &scored, tree_set };
    let alone = (0..3).map(|k| {
        let mut weights = [0.0; 3];
        weights[k] = 1.0;
        forest.best(&weights).unwrap().0
    });
    let best_expert = alone.fold(f64::INFINITY, f64::min);
    let quick = Annealing::default().with_cooling("10:0.2:0.1".parse().unwrap());
    let minimum_error = Criterion::MinimumError { restarts: 3, seed: 1 };
    for criterion in [Criterion::Likelihood, Criterion::AnnealedRisk(quick), minimum_error] {
        let by_list = combine_lists(&scored, &[], tree_set, &criterion, (20, 5)).unwrap();
        assert!((1..=5).contains(&by_list.rounds));
        let errors = forest.best(&by_list.weights).unwrap().0;
        assert!(errors <= best_expert + 5.0, "{criterion:?} {errors} {best_expert}");
        if criterion == minimum_error {
            assert!(combine(&scored, &[], tree_set, &criterion).is_err());
            continue;
        }
        let by_forest = combine(&scored, &scored[..5], tree_set, &criterion).unwrap();
        assert!(by_forest.errors <= best_expert + 3.0, "{by_forest:?} {best_expert}");
        assert!(by_forest.stages.iter().all(|stage| stage.held_out_errors.is_some()));
    }
}

#[test]
fn bad_input_is_refused() {
    let candidate = |features: &[f64], loss| Candidate { features: features.into(), loss };
    let likelihood = Criterion::Likelihood;
    for (lists, what) in [
        (vec![vec![candidate(&[1.0], 0.0), candidate(&[1.0, 2.0], 0.0)]], "2 features"),
        (vec![vec![candidate(&[1.0], -1.0)]], "loss -1"),
        (vec![vec![candidate(&[1.0], f64::NAN)]], "loss NaN"),
        (vec![vec![candidate(&[f64::INFINITY], 1.0)]], "inf"),
        (vec![vec![]], "nothing to"),
    ] {
        let error = fit_lists(lists, &likelihood).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
    // Lists without anything to learn are skipped.
    let same = vec![candidate(&[1.0, 0.0], 2.0), candidate(&[0.0, 1.0], 2.0)];
    let fitted = fit_lists(vec![same, Vec::new()], &likelihood).unwrap();
    assert_eq!(fitted.weights, [0.0, 0.0]);
    let tree_set = TreeSet::NonProjectiveSingleRoot;
    assert!(combine(&[], &[], tree_set, &likelihood).is_err());
    let experts = experts(Labelling::None, tree_set);
    assert!(product(&experts, &[1.0]).is_err());
    let second = TrainingOptions::default().with_bits(13).with_passes(1);
    let stacked = train(treebank(), &second, &mut ()).unwrap().compact();
    let error = ExpertSentence::of_treebank(&[stacked], &treebank(), 1).unwrap_err().to_string();
    assert!(error.contains("--preset plain"), "{error}");
}
