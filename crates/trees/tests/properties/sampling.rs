//! Draws come from the distribution, whatever the scores do to the walk.

use proptest::prelude::*;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use tutte_trees::{ArcMatrix, TreeDistribution, oracle};

#[path = "../support/stuck.rs"]
mod stuck;

use super::support::*;
use stuck::Stuck;

const DRAWS: usize = 40_000;

fn assert_draws_fit(scores: &ArcMatrix, what: &str) {
    for (set, d) in distributions(scores) {
        let all = Enumerated::trees(scores, set);
        let mut counts = vec![0; all.outcomes.len()];
        let mut rng = Pcg64::seed_from_u64(11);
        for _ in 0..DRAWS {
            let tree = d.sample(&mut rng);
            let at = all.outcomes.iter().position(|outcome| outcome.what == tree);
            counts[at.expect("an impossible tree was drawn")] += 1;
        }
        let probabilities: Vec<f64> = all.outcomes.iter().map(|outcome| outcome.p()).collect();
        assert_drawn_from(&counts, &probabilities, format!("{set} {what}"));
    }
}

#[test]
fn draws_have_their_probabilities() {
    for seed in 0..4 {
        let mut random = Random::new(seed);
        assert_draws_fit(&random.scores(3, 1.0), "N(0, 1)");
        let mut masked = random.scores(3, 1.0);
        random.mask(&mut masked, 0.3);
        assert_draws_fit(&masked, "masked");
    }
    assert_draws_fit(&ArcMatrix::zeros(3), "uniform");
}

/// Two words that hold a walk for e²⁰ steps: it gives up, and its replacement must not favour the roots
/// from which walks are short.
#[test]
fn draws_from_two_cycles() {
    let mut scores = Random::new(5).scores(3, 1.0);
    for word in 1..=3 {
        scores[(0, word)] -= 20.0;
    }
    for (head, modifier) in [(1, 2), (2, 1)] {
        scores[(head, modifier)] += 20.0;
    }
    assert_draws_fit(&scores, "two-cycle");
}

/// A walk to root word 1 is held by words 2 and 3, one to root word 2 or 3 is not.
#[test]
fn draws_whose_length_depends_on_the_root() {
    let mut scores = ArcMatrix::zeros(3);
    scores[(1, 2)] = -8.0;
    scores[(1, 3)] = -8.0;
    scores[(0, 1)] = 8.0;
    assert_draws_fit(&scores, "uneven");
}

proptest! {
    #![proptest_config(runs(60))]

    #[test]
    fn draws_are_possible_trees_and_repeat_with_the_seed(case in cases(0..=20), seed in any::<u64>()) {
        for (set, d) in case.distributions() {
            let draw = |d: &TreeDistribution| {
                let mut rng = Pcg64::seed_from_u64(seed);
                [(); 4].map(|()| d.sample(&mut rng))
            };
            let trees = draw(&d);
            for tree in &trees {
                assert_eq!(tree.check_in(set), Ok(()));
                assert!(d.log_prob(tree).unwrap() > FORBIDDEN, "{set} {tree:?}");
            }
            assert_eq!(trees, draw(&d));
            assert_eq!(trees, draw(&d.clone()));
            let mut heads = vec![9; 7];
            d.sample_into(&mut Pcg64::seed_from_u64(seed), &mut heads);
            assert_eq!(trees[0].heads(), heads);
        }
    }
}

/// In longer sentences, the frequency of each arc is its marginal.
#[test]
fn arcs_of_draws_have_their_marginals() {
    let scores = Random::new(17).scores(6, 1.5);
    for (set, d) in distributions(&scores) {
        let mut rng = Pcg64::seed_from_u64(3);
        let mut counts = vec![vec![0; 7]; 7];
        for _ in 0..DRAWS {
            for (head, modifier) in d.sample(&mut rng).arcs() {
                counts[modifier][head] += 1;
            }
        }
        let marginals = oracle::marginals(&scores, set);
        for modifier in 1..=6 {
            let heads = (0..=6).filter(|&head| head != modifier);
            let p: Vec<f64> = heads.clone().map(|head| marginals[(head, modifier)]).collect();
            let drawn: Vec<usize> = heads.map(|head| counts[modifier][head]).collect();
            assert_drawn_from(&drawn, &p, format!("{set} heads of {modifier}"));
        }
    }
}

proptest! {
    #![proptest_config(runs(300))]

    /// Marginals of arcs that are in no tree may be a rounding error above 0; none is drawn.
    #[test]
    fn draws_are_possible_however_the_dice_fall(case in cases(1..=8)) {
        for (set, d) in case.distributions() {
            for same in [0, 1, 1 << 63, u64::MAX] {
                let tree = d.sample(&mut Stuck(same));
                assert!(d.log_prob(&tree).unwrap() > FORBIDDEN, "{set} {same}: {tree:?}");
            }
        }
    }
}
