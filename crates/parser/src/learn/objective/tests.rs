//! Compares every value with enumeration and every gradient with central differences, in all tree sets.

use proptest::prelude::*;
use tutte_trees::{Tree, arcs, oracle};

use super::*;
use crate::model::latent;

type Gold = Vec<Option<usize>>;

/// Generates scores and a gold tree, often partial, for up to four words.
fn sentence() -> impl Strategy<Value = (ArcMatrix, TreeSet, Gold)> {
    let known = prop_oneof![Just([true; 4]), any::<[bool; 4]>()];
    let size = (1usize..=4, 0usize..4);
    (size, known, any::<prop::sample::Index>()).prop_flat_map(|((words, set), known, gold)| {
        let tree_set = TreeSet::ALL[set];
        let trees = oracle::all_trees(words, tree_set);
        let heads = gold.get(&trees).heads().iter();
        let gold: Gold = heads.zip(known).map(|(&head, known)| known.then_some(head)).collect();
        let cells = (words + 1) * (words + 1);
        prop::collection::vec(-3.0..3.0, cells).prop_map(move |values| {
            let scores = ArcMatrix::from_vec(words, values).expect("a square");
            (scores, tree_set, gold.clone())
        })
    })
}

fn value(objective: &Objective, scores: &ArcMatrix, tree_set: TreeSet, gold: &Gold) -> f64 {
    let scored = Scored { scores, gold, teacher: &[], tree_set };
    objective.evaluate(scored, 1.0, &mut Scratch::default(), &mut ArcMatrix::default()).unwrap()
}

fn check_gradient(objective: &Objective, scores: &ArcMatrix, tree_set: TreeSet, gold: &Gold) {
    let scored = Scored { scores, gold, teacher: &[], tree_set };
    let mut gradient = ArcMatrix::default();
    objective.evaluate(scored, 1.0, &mut Scratch::default(), &mut gradient).unwrap();
    for arc in arcs(scores.words()) {
        let moved = |by: f64| {
            let mut scores = scores.clone();
            scores[arc] += by;
            value(objective, &scores, tree_set, gold)
        };
        let h = 1e-5;
        let expected = (moved(h) - moved(-h)) / (2.0 * h);
        assert!(
            (gradient[arc] - expected).abs() < 1e-6,
            "{objective:?} by {arc:?} in {tree_set}: {} instead of {expected}",
            gradient[arc]
        );
    }
}

fn wrong(tree: &Tree, gold: &Gold) -> f64 {
    let known = tree.heads().iter().zip(gold).filter_map(|(head, gold)| Some((head, (*gold)?)));
    known.filter(|(head, gold)| *head != gold).count() as f64
}

fn scaled(scores: &ArcMatrix, gamma: f64) -> ArcMatrix {
    ArcMatrix::from_fn(scores.words(), |head, modifier| gamma * scores[(head, modifier)])
}

proptest! {
    #[test]
    fn gradients_are_derivatives((scores, tree_set, gold) in sentence()) {
        for objective in [
            likelihood(),
            softmax(),
            softmax_margin(1.3),
            risk(0.7),
            decoded_risk(1.0),
            decoded_risk(0.1),
            brier(),
            entropy(),
            renyi(2.0),
            renyi(0.4),
            0.5 * likelihood() + 2.0 * risk(1.0) + -0.3 * entropy() + 0.2 * renyi(3.0),
        ] {
            check_gradient(&objective, &scores, tree_set, &gold);
        }
    }

    #[test]
    fn values_are_sums_over_trees((scores, tree_set, gold) in sentence()) {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        let log_z = oracle::log_partition(&scores, tree_set);
        let all = oracle::scored_trees(&scores, tree_set);
        let agree = all.iter().filter(|(_, tree)| wrong(tree, &gold) == 0.0);
        let of_gold = agree.map(|(score, _)| score.exp()).sum::<f64>().ln();
        prop_assert!(close(value(&likelihood(), &scores, tree_set, &gold), log_z - of_gold));

        // Where every choice of heads counts, words are apart from each other.
        let heads = |m: usize| (0..=scores.words()).filter(move |h| *h != m);
        let known = (1..).zip(&gold).filter_map(|(m, head)| Some((m, (*head)?)));
        let apart: f64 = known
            .map(|(m, gold)| {
                heads(m).map(|h| scores[(h, m)].exp()).sum::<f64>().ln() - scores[(gold, m)]
            })
            .sum();
        prop_assert!(close(value(&softmax(), &scores, tree_set, &gold), apart));

        let margin = all
            .iter()
            .map(|(score, tree)| (score + 0.8 * wrong(tree, &gold)).exp())
            .sum::<f64>()
            .ln();
        let found = value(&softmax_margin(0.8), &scores, tree_set, &gold);
        prop_assert!(close(found, margin - of_gold));

        let expected =
            oracle::expectation(&scaled(&scores, 1.7), tree_set, |tree| wrong(tree, &gold));
        prop_assert!(close(value(&risk(1.7), &scores, tree_set, &gold), expected));

        let marginals = oracle::marginals(&scores, tree_set);
        let of_arc = |(head, m): (usize, usize)| gold[m - 1].map_or(0.0, |gold| {
            let target = if gold == head { 1.0 } else { 0.0 };
            (marginals[(head, m)] - target).powi(2)
        });
        let expected: f64 = arcs(scores.words()).map(of_arc).sum();
        prop_assert!(close(value(&brier(), &scores, tree_set, &gold), expected));

        let expected = oracle::entropy(&scores, tree_set);
        prop_assert!(close(value(&entropy(), &scores, tree_set, &gold), expected));

        for order in [0.4, 2.0, 5.0] {
            let sum: f64 = all.iter().map(|(score, _)| (order * (score - log_z)).exp()).sum();
            let found = value(&renyi(order), &scores, tree_set, &gold);
            prop_assert!(close(found, sum.ln() / (1.0 - order)));
        }
        let best = all.iter().map(|(score, _)| *score).fold(f64::NEG_INFINITY, f64::max);
        prop_assert!(close(value(&renyi(f64::INFINITY), &scores, tree_set, &gold), log_z - best));
        let count = (all.len() as f64).ln();
        prop_assert!(close(value(&renyi(0.0), &scores, tree_set, &gold), count));
    }

    #[test]
    fn limits_meet((scores, tree_set, gold) in sentence()) {
        let of = |objective: &Objective| value(objective, &scores, tree_set, &gold);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        prop_assert!(close(of(&softmax_margin(0.0)), of(&likelihood())));
        prop_assert!(of(&softmax_margin(1.0)) >= of(&likelihood()).max(of(&risk(1.0))) - 1e-9);
        // As γ → 0, the distribution becomes uniform.
        let trees = oracle::all_trees(scores.words(), tree_set);
        let mean = trees.iter().map(|tree| wrong(tree, &gold)).sum::<f64>() / trees.len() as f64;
        prop_assert!((of(&risk(1e-9)) - mean).abs() < 1e-6);
        // As γ → ∞, only the best tree counts.
        let best = &oracle::ranked(&scores, tree_set)[..trees.len().min(2)];
        if best.len() == 1 || best[0].0 - best[1].0 > 1e-3 {
            prop_assert!((of(&risk(1e5)) - wrong(&best[0].1, &gold)).abs() < 1e-6);
        }
    }
}

proptest! {
    /// Checks derivatives by the score of one cluster of an arc, for an objective on the sum over clusters.
    #[test]
    fn gradients_of_clusters_are_derivatives(
        (scores, tree_set, gold) in sentence(),
        shifts in prop::collection::vec(-1.0..1.0f64, 25),
    ) {
        let words = scores.words();
        let other = ArcMatrix::from_fn(words, |head, modifier| {
            scores[(head, modifier)] + shifts[5 * head + modifier]
        });
        let clusters = [scores, other];
        let value = |clusters: &[ArcMatrix]| value(&likelihood(), &latent::summed(clusters), tree_set, &gold);
        let summed = latent::summed(&clusters);
        let scored = Scored { scores: &summed, gold: &gold, teacher: &[], tree_set };
        let mut gradient = ArcMatrix::default();
        likelihood().evaluate(scored, 1.0, &mut Scratch::default(), &mut gradient).unwrap();
        for z in 0..2 {
            let mut by_cluster = clusters[z].clone();
            latent::split(&gradient, &summed, &mut by_cluster);
            for arc in arcs(words) {
                let moved = |by: f64| {
                    let mut clusters = clusters.clone();
                    clusters[z][arc] += by;
                    value(&clusters)
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                prop_assert!((by_cluster[arc] - expected).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn annealing_is_geometric() {
    let gamma = Anneal { from: 0.25, to: 4.0 };
    assert_eq!(gamma.at(0.0), 0.25);
    assert_eq!(gamma.at(0.5), 1.0);
    assert_eq!(gamma.at(1.0), 4.0);
    assert!(annealed_risk(0.25, 4.0).is_annealed() && !risk(1.0).is_annealed());
}

#[test]
fn factors_change_along_lines() {
    let ramp = |text: &str| text.parse::<Ramp>().unwrap();
    assert_eq!(ramp("2").at(0.3), 2.0);
    assert_eq!(ramp("1..0").at(0.25), 0.75);
    assert_eq!(ramp("0..0..-4").at(0.5), 0.0);
    assert_eq!(ramp("0..0..-4").at(0.75), -2.0);
    // With as many passes as values, each pass has its own, exactly.
    for passes in 2..40usize {
        let values: Vec<f64> = (0..passes).map(|pass| (pass % 2) as f64).collect();
        let ramp = Ramp::new(values[0], &values[1..]);
        for (pass, value) in values.iter().enumerate() {
            assert_eq!(ramp.at(pass as f64 / (passes - 1) as f64), *value);
        }
    }
    assert!(!ramp("1..1").changes() && ramp("1..1..0").changes());
    let objective = |text: &str| text.parse::<Objective>().unwrap();
    let sum = objective("1..0*likelihood + 0..1*risk + 2*entropy");
    assert!(sum.is_annealed());
    assert_eq!(sum.of_first_pass(), objective("likelihood + 2*entropy"));
    assert_eq!(objective("0..1*risk").of_first_pass(), likelihood());
    let annealed = objective("risk(0.1..2)");
    assert_eq!(annealed.of_first_pass(), annealed);
    assert_eq!(3.0 * objective("1..0*likelihood"), objective("3..0*likelihood"));
}

/// The value is the sum of the terms that count in a pass.
#[test]
fn sums_follow_their_factors() {
    let scores = ArcMatrix::from_fn(3, |head, modifier| (head * modifier) as f64 % 3.0);
    let gold = [Some(2), None, Some(0)];
    let tree_set = TreeSet::NonProjectiveSingleRoot;
    let scored = Scored { scores: &scores, gold: &gold, teacher: &[], tree_set };
    let of = |objective: &Objective, progress| {
        let mut gradient = ArcMatrix::default();
        let scratch = &mut Scratch::default();
        (objective.evaluate(scored, progress, scratch, &mut gradient).unwrap(), gradient)
    };
    let sum: Objective = "1..0..0*likelihood + 0..1..0*brier + 0..0..1*risk".parse().unwrap();
    for (progress, expected) in [
        (0.0, likelihood()),
        (0.25, 0.5 * likelihood() + 0.5 * brier()),
        (0.5, brier()),
        (1.0, risk(1.0)),
    ] {
        assert_eq!(of(&sum, progress), of(&expected, progress));
    }
}

#[test]
fn bad_numbers_are_named() {
    assert!(risk(0.0).problem().unwrap().contains("gamma is 0"));
    assert!(softmax_margin(-1.0).problem().unwrap().contains("-1"));
    assert!((f64::NAN * likelihood()).problem().is_some());
    let infinite = Ramp::new(1.0, &[f64::INFINITY]) * Term::Brier;
    assert!(infinite.problem().unwrap().contains("of brier is inf"));
    for temperature in [0.0, -0.1, 1e-9, f64::NAN, f64::INFINITY] {
        assert!(decoded_risk(temperature).problem().unwrap().contains("decoded-risk"));
    }
    assert!(decoded_risk(0.1).problem().is_none());
    assert!(likelihood().problem().is_none());
}
