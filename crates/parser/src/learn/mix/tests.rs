//! Derivatives by weights against central differences, and the maximum against a grid.

use proptest::prelude::*;
use tutte_trees::oracle;

use super::*;

/// Generates scores of two scorers, with some arcs forbidden, and a gold tree of up to four words.
fn held() -> impl Strategy<Value = (Held, TreeSet)> {
    let size = (1usize..=4, 0usize..4);
    (size, any::<prop::sample::Index>(), any::<prop::sample::Index>()).prop_flat_map(
        |((words, set), gold, forbidden)| {
            let tree_set = TreeSet::ALL[set];
            let trees = oracle::all_trees(words, tree_set);
            let gold = gold.get(&trees).heads().to_vec();
            let cells = (words + 1) * (words + 1);
            let pair = prop::collection::vec(-3.0..3.0f64, 2 * cells);
            let labels = prop::collection::vec(prop::array::uniform2(-2.0..2.0f64), 1..5);
            let all: Vec<_> = arcs(words).collect();
            let forbidden = *forbidden.get(&all);
            (pair, labels).prop_map(move |(values, labels)| {
                let matrix = |values: &[f64]| {
                    let mut scores = ArcMatrix::from_vec(words, values.to_vec()).expect("a square");
                    if gold[forbidden.1 - 1] != forbidden.0 {
                        scores[forbidden] = f64::NEG_INFINITY;
                    }
                    scores
                };
                let scores = [matrix(&values[..cells]), matrix(&values[cells..])];
                let label = HeldLabel { gold: labels.len() / 2, scores: labels };
                (Held::new(scores, gold.clone(), vec![label]), tree_set)
            })
        },
    )
}

/// Compares all derivatives of a log-likelihood with central differences.
fn check(evaluate: impl Fn([f64; 2]) -> Moments, weights: [f64; 2]) -> Result<(), TestCaseError> {
    const H: f64 = 1e-4;
    let here = evaluate(weights);
    for at in 0..2 {
        let moved = |by: f64| {
            let mut moved = weights;
            moved[at] += by;
            evaluate(moved)
        };
        let [up, down] = [moved(H), moved(-H)];
        let slope = (up.value - down.value) / (2.0 * H);
        prop_assert!((here.gradient[at] - slope).abs() < 1e-5, "{} {slope}", here.gradient[at]);
        for other in 0..2 {
            let slope = (up.gradient[other] - down.gradient[other]) / (2.0 * H);
            let found = -here.curvature[at][other];
            prop_assert!((found - slope).abs() < 1e-5, "{found} {slope}");
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn derivatives_by_weights_are_exact(
        (held, tree_set) in held(),
        weights in prop::array::uniform2(-1.0..2.0f64),
    ) {
        let arcs = |weights| held.arc_moments(weights, tree_set).expect("a distribution");
        let scored = held.scores[0].clone();
        let mut sum = held.allowed.clone();
        sum.zip_in_place(&scored, |allowed, score| allowed + weights[0] * score);
        sum.zip_in_place(&held.scores[1], |score, other| score + weights[1] * other);
        let log_z = oracle::log_partition(&sum, tree_set);
        let gold: f64 = (1..).zip(&held.gold).map(|(m, h)| sum[(*h, m)]).sum();
        prop_assert!((arcs(weights).value - (gold - log_z)).abs() < 1e-9);
        check(arcs, weights)?;
        check(|weights| held.labels[0].moments(weights), weights)?;
    }

    #[test]
    fn certain_scorers_keep_the_geometric_mean((held, tree_set) in held()) {
        // Only the gold arcs are possible.
        let mut certain = held;
        for arc @ (head, modifier) in arcs(certain.gold.len()) {
            if certain.gold[modifier - 1] != head {
                certain.allowed[arc] = f64::NEG_INFINITY;
            }
        }
        let evaluate = |weights| certain.arc_moments(weights, tree_set);
        let best = maximum([true, true], evaluate).expect("weights");
        prop_assert!(best.iter().all(|weight| (weight - 0.5).abs() < 1e-6), "{best:?}");
        let alone = maximum([false, true], evaluate).expect("weights");
        prop_assert!(alone[0] == 0.0 && (alone[1] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn no_weights_are_better_than_the_maximum((held, tree_set) in held()) {
        let evaluate = |weights| held.arc_moments(weights, tree_set);
        let valued = |weights: [f64; 2], movable| {
            evaluate(weights).expect("a distribution").with_prior(weights, prior_means(movable)).value
        };
        let value = |weights| valued(weights, [true, true]);
        let best = maximum([true, true], evaluate).expect("weights");
        for step in [[0.1, 0.0], [-0.1, 0.0], [0.0, 0.1], [0.0, -0.1], [1.0, -1.0], [5.0, 5.0]] {
            prop_assert!(value(best) >= value([best[0] + step[0], best[1] + step[1]]));
        }
        let alone = maximum([true, false], evaluate).expect("weights");
        let value = |weights| valued(weights, [true, false]);
        prop_assert!(alone[1] == 0.0 && value(alone) >= value([alone[0] + 0.1, 0.0]));
        prop_assert!(value(alone) >= value([alone[0] - 0.1, 0.0]));
    }
}
