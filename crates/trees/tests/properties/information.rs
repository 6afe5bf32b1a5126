//! Entropies, divergences, counts, and their gradients.

use proptest::prelude::*;
use tutte_trees::{ArcMatrix, Error, TreeDistribution, TreeSet};

use super::support::*;

const ORDERS: [f64; 7] = [0.0, 0.5, 1.0 - 1e-7, 1.0, 1.0 + 1e-7, 2.0, f64::INFINITY];

proptest! {
    #![proptest_config(runs(400))]

    #[test]
    fn entropies_are_those_of_enumeration(case in cases(0..=4)) {
        let tolerance = 10.0 * case.tolerance();
        for (set, d) in case.distributions() {
            let all = Enumerated::trees(&case.scores, set);
            assert_close(d.entropy(), all.entropy(), tolerance, set);
            let trees = all.outcomes.len();
            assert_eq!(d.tree_count(), Some(trees as u128), "{set}");
            assert_close(d.log_tree_count(), (trees as f64).ln(), 1e-12, set);
            for order in ORDERS {
                // Very near 1 the sum of powers cancels: Shannon's entropy is the better reference.
                let (expected, near) = if (order - 1.0).abs() < 1e-6 {
                    let variance = all.covariance(sum_of(d.scores()), sum_of(d.scores()));
                    (all.entropy(), 1e-7 * variance)
                } else {
                    (all.renyi(order), 0.0)
                };
                let what = format!("{set} order {order}");
                assert_close(d.renyi(order).unwrap(), expected, tolerance + near, what);
            }
            for word in 1..=case.scores.words() {
                let expected: f64 = (0..=case.scores.words())
                    .filter(|&head| head != word)
                    .map(|head| all.marginal(&[(head, word)]))
                    .map(|p| if p > 0.0 { -p * p.ln() } else { 0.0 })
                    .sum();
                let what = format!("{set} head of {word}");
                assert_close(d.head_entropy(word).unwrap(), expected, 40.0 * tolerance, what);
            }
            for outcome in &all.outcomes {
                let log_p = d.log_prob(&outcome.what).unwrap();
                let slack = tolerance.max(1e-15 * outcome.log_p.abs());
                assert_close(log_p, outcome.log_p, slack, format!("{set} {:?}", outcome.what));
            }
        }
    }

    #[test]
    fn divergences_are_those_of_enumeration(case in cases(0..=4), other in any::<u64>(), rate in prop::sample::select(vec![0.0, 0.2])) {
        let n = case.scores.words();
        let mut random = Random::new(other);
        let mut scores = random.scores(n, case.scale);
        random.mask(&mut scores, rate);
        let theirs = distributions(&scores);
        for (p_set, p) in case.distributions() {
            let mine = Enumerated::trees(&case.scores, p_set);
            assert_close(p.kl(&p).unwrap(), 0.0, 1e-10, p_set);
            assert_close(p.cross_entropy(&p).unwrap(), p.entropy(), 10.0 * case.tolerance(), p_set);
            for (q_set, q) in &theirs {
                let what = format!("{p_set} from {q_set}");
                if !q_set.contains(p_set) {
                    assert!(matches!(p.kl(q), Err(Error::BadParameter { .. })), "{what}");
                    assert!(matches!(p.cross_entropy(q), Err(Error::BadParameter { .. })), "{what}");
                    continue;
                }
                let q_all = Enumerated::trees(&scores, *q_set);
                let (cross, kl) = mine.divergences(&q_all);
                let slack = 1e-11 * 1f64.max(case.scale);
                assert_close(p.cross_entropy(q).unwrap(), cross, slack, &what);
                assert_close(p.kl(q).unwrap(), kl, slack, &what);
            }
        }
    }
}

proptest! {
    #![proptest_config(runs(100))]

    #[test]
    fn entropies_are_ordered(case in cases(1..=30)) {
        for (set, d) in case.distributions() {
            let slack = 1e-10f64.max(1e-14 * d.words() as f64 * case.scale);
            let entropy = d.entropy();
            assert!(entropy >= 0.0 && entropy <= d.log_tree_count() + slack, "{set} {entropy}");
            assert_close(d.renyi(1.0).unwrap(), entropy, slack, set);
            let orders = [0.0, 0.1, 0.5, 0.9, 1.0, 1.1, 2.0, 10.0, f64::INFINITY];
            let values = orders.map(|order| d.renyi(order).unwrap());
            // Near 1 the difference of two log-partition functions is divided by |1 − α| = 0.1.
            assert!(values.windows(2).all(|pair| pair[0] >= pair[1] - 10.0 * slack), "{set} {values:?}");
            let heads: f64 = (1..=d.words()).map(|word| d.head_entropy(word).unwrap()).sum();
            assert!(entropy <= heads + slack, "{set}: {entropy} beyond its heads' {heads}");
            assert_close(values[8], -d.log_prob(&d.argmax().tree).unwrap(), slack, set);
            assert!(d.kl(&d).unwrap() <= slack);
        }
    }

    #[test]
    fn gradients_are_derivatives(case in mild_cases(1..=6)) {
        for (set, d) in case.distributions() {
            let at = |scores: &ArcMatrix| TreeDistribution::new(scores.clone(), set).unwrap();
            let expected = central_differences(&case.scores, |scores| at(scores).entropy());
            assert_arcs_close(&d.entropy_gradient(), &expected, 1e-7, set);
            for order in [0.0, 0.5, 1.0, 2.0, f64::INFINITY] {
                let renyi = |scores: &ArcMatrix| at(scores).renyi(order).unwrap();
                let expected = central_differences(&case.scores, renyi);
                let found = d.renyi_gradient(order).unwrap();
                assert_arcs_close(&found, &expected, 1e-7, format!("{set} order {order}"));
            }
            for order in [1.0 - 1e-7, 1.0 + 1e-7] {
                let found = d.renyi_gradient(order).unwrap();
                assert_arcs_close(&found, &d.entropy_gradient(), 1e-5, set);
            }
        }
    }

    /// If the best tree leads by more than 1 nat, order 200 gives the limit of order ∞:
    /// ∂R_α/∂θ = α/(α − 1) · [μ(θ) − μ(αθ)], and μ(200 θ) is the best tree.
    #[test]
    fn high_orders_look_at_the_best_tree_only(case in mild_cases(1..=6)) {
        for (set, d) in case.distributions() {
            let best = d.kbest(2);
            if best.len() == 2 && best[0].score - best[1].score <= 1.0 {
                continue;
            }
            let high = d.renyi_gradient(200.0).unwrap();
            let high = ArcMatrix::from_fn(high.words(), |h, m| high[(h, m)] * 199.0 / 200.0);
            assert_arcs_close(&high, &d.renyi_gradient(f64::INFINITY).unwrap(), 1e-6, set);
        }
    }

    /// Gradients exist, and are finite, for any scores; a shift of a column changes no entropy.
    #[test]
    fn gradients_of_columns_sum_to_zero(case in cases(1..=15)) {
        let n = case.scores.words();
        for (set, d) in case.distributions() {
            let mut gradients = vec![d.entropy_gradient()];
            gradients.extend([0.5, 2.0, f64::INFINITY].map(|order| d.renyi_gradient(order).unwrap()));
            for gradient in gradients {
                for modifier in 1..=n {
                    let heads = (0..=n).filter(|&head| head != modifier);
                    let sum: f64 = heads.map(|head| gradient[(head, modifier)]).sum();
                    // Covariances with the scores are as large as the scores.
                    assert_close(sum, 0.0, 1e-10 * case.scale.max(1.0), format!("{set} {modifier}"));
                }
            }
        }
    }
}

#[test]
fn counts_beyond_enumeration() {
    let log_count = |words| {
        let d = TreeDistribution::new(ArcMatrix::zeros(words), TreeSet::NonProjectiveMultiRoot);
        d.unwrap().log_tree_count()
    };
    assert_close(log_count(100), 99.0 * 101f64.ln(), 1e-10, "101⁹⁹");
    for set in TreeSet::ALL {
        let d = TreeDistribution::new(ArcMatrix::zeros(14), set).unwrap();
        assert_eq!(d.tree_count(), set.tree_count(14), "{set}");
        let huge = TreeDistribution::new(ArcMatrix::zeros(90), set).unwrap();
        assert_eq!(huge.tree_count(), None, "{set}");
    }
}

#[test]
fn other_trees_have_probability_zero() {
    let crossing = tutte_trees::Tree::new(&[3, 4, 0, 3]).unwrap();
    let two_roots = tutte_trees::Tree::new(&[0, 1, 0, 3]).unwrap();
    for set in TreeSet::ALL {
        let d = TreeDistribution::new(ArcMatrix::zeros(4), set).unwrap();
        let log_count = (set.tree_count(4).unwrap() as f64).ln();
        let expected = if set.is_projective() { FORBIDDEN } else { -log_count };
        assert_close(d.log_prob(&crossing).unwrap(), expected, 1e-12, set);
        let expected = if set.is_single_root() { FORBIDDEN } else { -log_count };
        assert_close(d.log_prob(&two_roots).unwrap(), expected, 1e-12, set);
    }
}

/// If one distribution may produce an arc and the other may not, the divergence is infinite, even if
/// the arc is improbable. An arc that is in no tree does not count.
#[test]
fn divergences_are_infinite_where_support_ends() {
    for set in TreeSet::ALL {
        let mut scores = ArcMatrix::zeros(3);
        scores[(3, 1)] = -2000.0;
        let p = TreeDistribution::new(scores, set).unwrap();
        let mut scores = ArcMatrix::zeros(3);
        scores.forbid(3, 1);
        let q = TreeDistribution::new(scores, set).unwrap();
        assert_eq!(p.kl(&q), Ok(f64::INFINITY), "{set}");
        assert_eq!(p.cross_entropy(&q), Ok(f64::INFINITY), "{set}");
        assert!(q.kl(&p).unwrap() < 1e-12, "{set}");

        // Word 2 hangs on word 3 only, and word 1 on word 2: neither can head word 3, but rounding
        // may leave those arcs a probability.
        let mut scores = ArcMatrix::forbidden(3);
        for (head, modifier, score) in
            [(0, 3, -2.0), (1, 3, 1.0), (2, 3, 1.0), (2, 1, 0.0), (3, 2, 0.0)]
        {
            scores[(head, modifier)] = score;
        }
        let p = TreeDistribution::new(scores.clone(), set).unwrap();
        scores.forbid(1, 3);
        scores.forbid(2, 3);
        let q = TreeDistribution::new(scores, set).unwrap();
        assert!(p.kl(&q).unwrap() < 1e-12, "{set}");
        assert!(p.cross_entropy(&q).unwrap() < 1e-12, "{set}");
    }
}

/// Next to the largest scores, a sum loses the digits that distinguish trees. Entropies must still be
/// those of some distribution over these trees, and decrease with their order.
#[test]
fn entropies_of_the_largest_scores_are_possible() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut scores = random.scores(4, 1.0);
        let sizes = [0.0, 1.0, 1e15, ArcMatrix::MAX_SCORE];
        let scaled = ArcMatrix::from_fn(4, |head, modifier| {
            let x = scores[(head, modifier)];
            x.signum() * sizes[(x.abs() * 16.0) as usize % sizes.len()]
        });
        scores.clone_from(&scaled);
        random.mask(&mut scores, 0.3);
        for (set, d) in distributions(&scores) {
            let most = d.log_tree_count() + 1e-9;
            for order in [0.5, 1.0 - 1e-9, 1.0 + 1e-9, 2.0, 1e10, 1e300, f64::INFINITY] {
                let entropy = d.renyi(order).unwrap();
                assert!((0.0..=16f64).contains(&entropy), "{set} order {order}: {entropy}");
                assert!(order > 1.0 || entropy <= most, "{set} order {order}: {entropy}");
            }
            assert_eq!(d.renyi(1.0), Ok(d.entropy()), "{set}");
            assert!((0.0..=4.0 * 4f64.ln() + 1e-6).contains(&d.entropy()), "{set}");
        }
    }
}

#[test]
fn renyi_entropies_of_large_orders_are_near_the_last() {
    let scores = Random::new(2).scores(4, 3.0);
    for (set, d) in distributions(&scores) {
        let last = d.renyi(f64::INFINITY).unwrap();
        for order in [1e10, 1e16, 1e18, 1e100, 1e300] {
            assert_close(d.renyi(order).unwrap(), last, 1e-8, format!("{set} order {order}"));
        }
    }
}
