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
fn bad_numbers_are_named() {
    assert!(risk(0.0).problem().unwrap().contains("gamma is 0"));
    assert!(softmax_margin(-1.0).problem().unwrap().contains("-1"));
    assert!((f64::NAN * likelihood()).problem().is_some());
    assert!(likelihood().problem().is_none());
}
