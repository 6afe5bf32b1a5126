//! Labelled trees, against enumeration of every tree with every labelling.

use std::collections::HashSet;
use std::fmt;

use proptest::prelude::*;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use tutte_trees::{
    ArcMatrix, Constraints, Error, LabelledArcMatrix, LabelledTree, LabelledTreeDistribution, Tree,
    TreeDistribution, TreeSet, oracle,
};

use super::support::*;

#[derive(Clone)]
struct LabelledCase {
    scores: LabelledArcMatrix,
    scale: f64,
    seed: u64,
}

impl fmt::Debug for LabelledCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "scale {:e}, seed {}, {} words", self.scale, self.seed, self.scores.words())?;
        for head in 0..=self.scores.words() {
            for modifier in 1..=self.scores.words() {
                if let Some(labels) = self.scores.labels_of(head, modifier) {
                    writeln!(f, "{head} → {modifier}: {labels:?}")?;
                }
            }
        }
        Ok(())
    }
}

impl LabelledCase {
    fn distributions(&self) -> Vec<(TreeSet, LabelledTreeDistribution)> {
        labelled_distributions(&self.scores)
    }

    fn random(&self) -> Random {
        Random::new(!self.seed)
    }

    fn tolerance(&self) -> f64 {
        if self.scale <= 30.0 { 1e-12 } else { 1e-13 * self.scale }
    }
}

fn labelled_distributions(scores: &LabelledArcMatrix) -> Vec<(TreeSet, LabelledTreeDistribution)> {
    let distribution = |set| match LabelledTreeDistribution::new(scores.clone(), set) {
        Ok(distribution) => Some((set, distribution)),
        Err(Error::NoTree { tree_set, .. }) if tree_set == set => None,
        Err(other) => panic!("{set}: {other}"),
    };
    TreeSet::ALL.into_iter().filter_map(distribution).collect()
}

fn random_scores(
    random: &mut Random,
    words: usize,
    labels: usize,
    sigma: f64,
) -> LabelledArcMatrix {
    LabelledArcMatrix::from_fn(words, labels, |_, _, _| sigma * random.normal())
}

/// Up to three words and three labels; labels masked one by one; σ = −1 means ties. Half of the
/// matrices are sparse.
fn labelled_cases() -> impl Strategy<Value = LabelledCase> {
    let sigmas = prop::sample::select(vec![0.0, 1.0, 30.0, 1e3, 1e5, -1.0]);
    let rates = prop::sample::select(vec![0.0, 0.3, 0.6]);
    (0..=3usize, 1..=3usize, sigmas, rates, any::<u64>()).prop_map(
        |(words, labels, sigma, rate, seed)| {
            let mut random = Random::new(seed);
            let sparse = seed % 2 == 0;
            let mut scores = if sparse {
                LabelledArcMatrix::sparse(words, labels)
            } else {
                LabelledArcMatrix::filled(words, labels, f64::NAN)
            };
            for head in 0..=words {
                for modifier in (1..=words).filter(|&modifier| modifier != head) {
                    for label in 0..labels {
                        let normal = random.normal();
                        let value = if sigma < 0.0 { normal.round() } else { sigma * normal };
                        let masked = random.uniform() < rate;
                        if !masked || !sparse {
                            let value = if masked { FORBIDDEN } else { value };
                            scores[(head, modifier, label)] = value;
                        }
                    }
                }
            }
            LabelledCase { scores, scale: sigma.abs(), seed }
        },
    )
}

/// Every labelled tree that is not forbidden.
fn enumerate(scores: &LabelledArcMatrix, set: TreeSet) -> Enumerated<LabelledTree> {
    let mut scored = Vec::new();
    for tree in oracle::all_trees(scores.words(), set) {
        let mut labels = vec![0; scores.words()];
        loop {
            let labelled = LabelledTree::new(tree.clone(), labels.clone()).unwrap();
            let score: f64 = labelled.arcs().map(|arc| scores[arc]).sum();
            if score > FORBIDDEN {
                scored.push((score, labelled));
            }
            let Some(at) = labels.iter().rposition(|&label| label + 1 < scores.labels()) else {
                break;
            };
            labels[at] += 1;
            labels[at + 1..].fill(0);
        }
    }
    Enumerated::new(scored)
}

fn sum_over(values: &LabelledArcMatrix) -> impl Fn(&LabelledTree) -> f64 + '_ {
    |tree| tree.arcs().map(|arc| values[arc]).sum()
}

fn has(arc: (usize, usize, usize)) -> impl Fn(&LabelledTree) -> f64 {
    move |tree| f64::from(tree.arcs().any(|other| other == arc))
}

fn arcs_of(scores: &LabelledArcMatrix) -> Vec<(usize, usize, usize)> {
    scores.arcs().map(|(head, modifier, label, _)| (head, modifier, label)).collect()
}

proptest! {
    #![proptest_config(runs(300))]

    #[test]
    fn sums_are_those_of_enumeration(case in labelled_cases()) {
        let (n, labels) = (case.scores.words(), case.scores.labels());
        let found = case.distributions();
        for set in TreeSet::ALL {
            let possible = !enumerate(&case.scores, set).outcomes.is_empty();
            assert_eq!(found.iter().any(|(other, _)| *other == set), possible, "{set}");
        }
        for (set, d) in found {
            let all = enumerate(&case.scores, set);
            assert_eq!((d.words(), d.labels(), d.tree_set()), (n, labels, set));
            let slack = 1e-12 * all.log_partition.abs().max(1.0).max(case.scale);
            assert_close(d.log_partition(), all.log_partition, slack, set);
            let marginals = d.marginals();
            for arc in arcs_of(&case.scores) {
                let expected = all.expectation(has(arc));
                assert_close(marginals[arc], expected, case.tolerance(), format!("{set} {arc:?}"));
            }
            for (head, modifier, p) in d.arcs().marginals().arcs() {
                let given = d.label_probs(head, modifier).unwrap();
                let sum: f64 = given.iter().sum();
                assert!(p == 0.0 || (sum - 1.0).abs() <= 1e-12, "{set} {head} → {modifier}: {sum}");
                assert!(given.iter().all(|q| (0.0..=1.0 + 1e-12).contains(q)));
            }
            for outcome in &all.outcomes {
                let log_p = d.log_prob(&outcome.what).unwrap();
                let slack = 10.0 * case.tolerance() + 1e-15 * outcome.log_p.abs();
                assert_close(log_p, outcome.log_p, slack, set);
            }
        }
    }

    #[test]
    fn labels_given_arcs_are_drawn_arc_by_arc(case in labelled_cases()) {
        let mut random = case.random();
        let arcs = ArcMatrix::from_fn(case.scores.words(), |_, _| {
            if random.uniform() < 0.2 { FORBIDDEN } else { 3.0 * random.normal() }
        });
        // θ(h → m, ℓ) = θ(h → m) + x_ℓ − log Σ exp x, by its definition.
        let mut joined = LabelledArcMatrix::forbidden(case.scores.words(), case.scores.labels());
        for (head, modifier, score) in arcs.arcs() {
            let labels = case.scores.labels_of(head, modifier).unwrap();
            let high = labels.iter().copied().fold(FORBIDDEN, f64::max);
            let sum = high + labels.iter().map(|x| (x - high).exp()).sum::<f64>().ln();
            for (label, x) in labels.iter().enumerate().filter(|(_, x)| **x > FORBIDDEN) {
                joined[(head, modifier, label)] = score + (x - sum);
            }
        }
        for set in TreeSet::ALL {
            let given = LabelledTreeDistribution::given_arcs(arcs.clone(), case.scores.clone(), set);
            let whole = LabelledTreeDistribution::new(joined.clone(), set);
            let (given, whole) = match (given, whole) {
                (Ok(given), Ok(whole)) => (given, whole),
                (given, whole) => {
                    prop_assert_eq!(given.map(|_| ()), whole.map(|_| ()));
                    continue;
                }
            };
            for (head, modifier, score) in given.arcs().scores().arcs() {
                prop_assert!(score == FORBIDDEN || score == arcs[(head, modifier)]);
            }
            // Labels far below the best lose digits next to the best: allow for the scale of scores.
            let tolerance = 1e-11 * case.scale.max(1.0);
            for arc in arcs_of(&joined) {
                let (head, modifier, label) = arc;
                let [one, other] = [&given, &whole].map(|d| d.marginal(head, modifier, label).unwrap());
                prop_assert!((one - other).abs() < tolerance, "{arc:?}: {one} {other}");
            }
            prop_assert!((given.entropy() - whole.entropy()).abs() < tolerance);
            let best = whole.argmax().tree;
            let [one, other] = [&given, &whole].map(|d| d.log_prob(&best).unwrap());
            prop_assert!((one - other).abs() < tolerance, "{one} {other}");
        }
    }

    #[test]
    fn joint_marginals_are_those_of_enumeration(case in labelled_cases()) {
        let mut random = case.random();
        let arcs = arcs_of(&case.scores);
        for (set, d) in case.distributions() {
            let all = enumerate(&case.scores, set);
            assert_eq!(d.joint_marginal(&[]), Ok(1.0));
            for size in 1..=3 {
                // The arcs may repeat, give a word two heads or an arc two labels.
                let some: Vec<_> = (0..size.min(arcs.len() * size))
                    .map(|_| arcs[random.below(arcs.len())])
                    .collect();
                let expected = all.expectation(|tree| some.iter().map(|&arc| has(arc)(tree)).product());
                let found = d.joint_marginal(&some).unwrap();
                assert_close(found, expected, case.tolerance(), format!("{set} {some:?}"));
            }
        }
    }

    #[test]
    fn information_is_that_of_enumeration(case in labelled_cases(), other in any::<u64>(), rate in prop::sample::select(vec![0.0, 0.1])) {
        let (n, labels) = (case.scores.words(), case.scores.labels());
        let mut random = Random::new(other);
        let mut scores = random_scores(&mut random, n, labels, case.scale);
        for arc in arcs_of(&scores) {
            if random.uniform() < rate {
                scores[arc] = FORBIDDEN;
            }
        }
        let theirs = labelled_distributions(&scores);
        let tolerance = 10.0 * case.tolerance();
        for (set, d) in case.distributions() {
            let all = enumerate(&case.scores, set);
            assert_close(d.entropy(), all.entropy(), tolerance, set);
            for order in [0.0, 0.5, 1.0 - 1e-7, 1.0, 1.0 + 1e-7, 2.0, f64::INFINITY] {
                let (expected, near) = if (order - 1.0).abs() < 1e-6 {
                    let variance = all.covariance(sum_over(&case.scores), sum_over(&case.scores));
                    (all.entropy(), 1e-7 * variance)
                } else {
                    (all.renyi(order), 0.0)
                };
                let what = format!("{set} order {order}");
                assert_close(d.renyi(order).unwrap(), expected, tolerance + near, what);
            }
            assert_close(d.kl(&d).unwrap(), 0.0, 1e-10, set);
            for (q_set, q) in theirs.iter().filter(|(q_set, _)| q_set.contains(set)) {
                let q_all = enumerate(&scores, *q_set);
                let (cross, kl) = all.divergences(&q_all);
                let slack = 1e-11 * case.scale.max(1.0);
                let what = format!("{set} from {q_set}");
                assert_close(d.cross_entropy(q).unwrap(), cross, slack, &what);
                assert_close(d.kl(q).unwrap(), kl, slack, &what);
            }
        }
    }

    #[test]
    fn covariances_are_those_of_enumeration(case in labelled_cases()) {
        let (n, labels) = (case.scores.words(), case.scores.labels());
        let mut random = case.random();
        let f = random_scores(&mut random, n, labels, 1.0);
        let g = random_scores(&mut random, n, labels, 1.0);
        let tolerance = 10.0 * case.tolerance();
        for (set, d) in case.distributions() {
            let all = enumerate(&case.scores, set);
            assert_close(d.expectation(&g).unwrap(), all.expectation(sum_over(&g)), tolerance, set);
            let expected = all.covariance(sum_over(&f), sum_over(&g));
            assert_close(d.covariance(&f, &g).unwrap(), expected, tolerance, set);
            let covariances = d.arc_covariances(&g).unwrap();
            for arc in arcs_of(&case.scores) {
                let expected = all.covariance(has(arc), sum_over(&g));
                assert_close(covariances[arc], expected, tolerance, format!("{set} {arc:?}"));
            }
        }
    }

    #[test]
    fn best_trees_are_those_of_enumeration(case in labelled_cases()) {
        let slack = |score: f64| 1e-9 * score.abs().max(1.0).max(1e-3 * case.scale);
        for (set, d) in case.distributions() {
            let all = enumerate(&case.scores, set);
            let ranked = all.ranked_scores();
            let best = d.argmax();
            assert_close(best.score, ranked[0], slack(ranked[0]), set);
            assert_close(d.scores().sum_over(&best.tree).unwrap(), ranked[0], slack(ranked[0]), set);
            assert_eq!(best.tree.tree().check_in(set), Ok(()));
            for k in [0, 1, 5, 2000] {
                let found = d.kbest(k);
                assert_eq!(found.len(), k.min(ranked.len()), "{set}");
                for (item, &score) in found.iter().zip(&ranked) {
                    assert_close(item.score, score, slack(score), set);
                    let sum = d.scores().sum_over(&item.tree).unwrap();
                    assert_close(item.score, sum, slack(sum), set);
                    assert_eq!(item.tree.tree().check_in(set), Ok(()));
                }
                let distinct: HashSet<_> = found.iter().map(|item| &item.tree).collect();
                assert_eq!(distinct.len(), found.len());
            }

            let marginals = d.marginals();
            let gain = sum_over(&marginals);
            assert_close(gain(&d.mbr()), gain(&d.mbr_in(set).unwrap()), 0.0, set);
            for other in TreeSet::ALL {
                let trees = enumerate(&case.scores, other).outcomes;
                let best = trees.iter().map(|outcome| gain(&outcome.what)).reduce(f64::max);
                match (d.mbr_in(other), best) {
                    (Ok(tree), Some(best)) => {
                        assert_close(gain(&tree), best, 1e-12, format!("{set} in {other}"));
                        assert_eq!(tree.tree().check_in(other), Ok(()));
                        assert!(tree.arcs().all(|arc| case.scores[arc] > FORBIDDEN), "{set} {tree:?}");
                    }
                    (Err(Error::NoTree { tree_set, .. }), None) => assert_eq!(tree_set, other),
                    (found, best) => panic!("{set} in {other}: {found:?}, expected {best:?}"),
                }
            }
        }
    }

    #[test]
    fn posteriors_are_enumerations_renormalised(case in labelled_cases()) {
        let (n, labels) = (case.scores.words(), case.scores.labels());
        if n == 0 {
            return Ok(());
        }
        let mut random = case.random();
        let word = 1 + random.below(n);
        let label = random.below(labels);
        let other_word = 1 + random.below(n);
        let other_label = random.below(labels);
        let (head, modifier) = random.arc(n);
        let require_arc = random.uniform() < 0.5;
        let known = Constraints::new()
            .require_label(word, label)
            .forbid_label(other_word, other_label);
        let known = if require_arc {
            known.require_arc(head, modifier)
        } else {
            known.forbid_arc(head, modifier)
        };
        let allowed = |tree: &LabelledTree| {
            tree.labels()[word - 1] == label
                && tree.labels()[other_word - 1] != other_label
                && (tree.tree().head(modifier) == Some(head)) == require_arc
        };
        for (set, d) in case.distributions() {
            let prior = enumerate(&case.scores, set);
            let left = prior.outcomes.into_iter().filter(|outcome| allowed(&outcome.what));
            let posterior = Enumerated::new(left.map(|outcome| (outcome.score, outcome.what)).collect());
            let log_p = d.log_prob_of(&known).unwrap();
            if posterior.outcomes.is_empty() {
                assert_eq!(log_p, FORBIDDEN);
            } else {
                let expected = posterior.log_partition - prior.log_partition;
                let slack = 1e-12 * prior.log_partition.abs().max(1.0).max(case.scale);
                assert_close(log_p, expected, slack, set);
            }
            match d.condition(&known) {
                Ok(found) => {
                    let slack = 1e-12 * posterior.log_partition.abs().max(1.0).max(case.scale);
                    assert_close(found.log_partition(), posterior.log_partition, slack, set);
                    let marginals = found.marginals();
                    for arc in arcs_of(&case.scores) {
                        let expected = posterior.expectation(has(arc));
                        assert_close(marginals[arc], expected, case.tolerance(), set);
                    }
                }
                Err(Error::NoTree { tree_set, words }) => {
                    assert!(posterior.outcomes.is_empty() && tree_set == set && !words.is_empty());
                }
                Err(other) => panic!("{set}: {other}"),
            }
        }
    }
}

proptest! {
    #![proptest_config(runs(100))]

    /// Labels with equal scores add ln L per word and are equally probable.
    #[test]
    fn labels_that_score_alike_are_counted(case in cases(0..=12), labels in 1..=4usize) {
        let scores = LabelledArcMatrix::from_fn(case.scores.words(), labels, |head, modifier, _| {
            case.scores[(head, modifier)]
        });
        let found = labelled_distributions(&scores);
        let bare = case.distributions();
        assert_eq!(found.len(), bare.len());
        for ((set, d), (_, bare)) in found.iter().zip(&bare) {
            let extra = d.words() as f64 * (labels as f64).ln();
            let slack = 1e-11 * bare.log_partition().abs().max(1.0).max(case.scale);
            assert_close(d.log_partition(), bare.log_partition() + extra, slack, set);
            let tolerance = 1e-11f64.max(1e-14 * case.scale * d.words() as f64);
            assert_arcs_close(d.arcs().marginals(), bare.marginals(), tolerance, set);
            assert_close(d.entropy(), bare.entropy() + extra, 10.0 * tolerance, set);
            assert_close(d.argmax().score, bare.argmax().score, slack, set);
        }
    }
}

#[test]
fn draws_have_their_probabilities() {
    for seed in 0..3 {
        let mut random = Random::new(seed);
        let mut scores = random_scores(&mut random, 2, 3, 1.0);
        scores[(1, 2, 1)] = FORBIDDEN;
        scores[(0, 1, 0)] = FORBIDDEN;
        for (set, d) in labelled_distributions(&scores) {
            let all = enumerate(&scores, set);
            let mut counts = vec![0; all.outcomes.len()];
            let mut rng = Pcg64::seed_from_u64(seed);
            for _ in 0..40_000 {
                let tree = d.sample(&mut rng);
                let at = all.outcomes.iter().position(|outcome| outcome.what == tree);
                counts[at.expect("an impossible labelled tree was drawn")] += 1;
            }
            let probabilities: Vec<f64> = all.outcomes.iter().map(|outcome| outcome.p()).collect();
            assert_drawn_from(&counts, &probabilities, format!("{set} seed {seed}"));
        }
    }
}

#[test]
fn no_labels_are_no_trees() {
    for set in TreeSet::ALL {
        let empty = LabelledTreeDistribution::new(LabelledArcMatrix::zeros(0, 0), set).unwrap();
        assert_eq!(empty.log_partition(), 0.0);
        let error = LabelledTreeDistribution::new(LabelledArcMatrix::zeros(2, 0), set).unwrap_err();
        assert_eq!(error, Error::NoTree { tree_set: set, words: vec![1, 2] });
    }
}

#[test]
fn one_label_is_no_label() {
    let bare = Random::new(8).scores(6, 2.0);
    let scores = LabelledArcMatrix::from_fn(6, 1, |head, modifier, _| bare[(head, modifier)]);
    for (set, d) in labelled_distributions(&scores) {
        let bare = TreeDistribution::new(bare.clone(), set).unwrap();
        assert_eq!(d.argmax().tree.tree(), &bare.argmax().tree);
        assert_close(d.log_partition(), bare.log_partition(), 1e-12, set);
        assert_close(d.renyi(2.0).unwrap(), bare.renyi(2.0).unwrap(), 1e-12, set);
    }
}

#[test]
fn what_is_refused() {
    let set = TreeSet::NonProjectiveSingleRoot;
    let d = LabelledTreeDistribution::new(LabelledArcMatrix::zeros(2, 3), set).unwrap();
    let other = LabelledTreeDistribution::new(LabelledArcMatrix::zeros(2, 2), set).unwrap();
    let message = |error: Error| error.to_string();
    assert_eq!(
        message(d.kl(&other).unwrap_err()),
        "expected a distribution over 3 labels, found one over 2 labels"
    );
    assert_eq!(
        message(d.covariance(d.scores(), other.scores()).unwrap_err()),
        "expected values for 3 labels, found values for 2 labels"
    );
    assert_eq!(
        d.label_probs(2, 2).unwrap_err(),
        Error::NoSuchArc { head: 2, modifier: 2, words: 2 }
    );
    let tree = LabelledTree::new(Tree::new(&[0, 1]).unwrap(), vec![0, 3]).unwrap();
    assert_eq!(message(d.log_prob(&tree).unwrap_err()), "there is no label 3: labels are 0..=2");
    assert_eq!(d.marginal(0, 1, 3), Err(Error::NoSuchLabel { label: 3, labels: 3 }));
    assert_eq!(d.marginal(1, 1, 0), Err(Error::NoSuchArc { head: 1, modifier: 1, words: 2 }));
    let long = LabelledTree::new(Tree::new(&[0, 1, 1]).unwrap(), vec![0, 0, 0]).unwrap();
    assert_eq!(d.log_prob(&long), Err(Error::DifferentLengths { left: 2, right: 3 }));
    assert!(LabelledTree::new(Tree::new(&[0, 1]).unwrap(), vec![0]).is_err());
    let known = Constraints::new().require_label(1, 3);
    assert_eq!(d.condition(&known).unwrap_err(), Error::NoSuchLabel { label: 3, labels: 3 });
    let known = Constraints::new().forbid_label(3, 0);
    assert_eq!(
        d.condition(&known).unwrap_err(),
        Error::NoSuchArc { head: 0, modifier: 3, words: 2 }
    );
    let known = Constraints::new().require_label(2, 0).require_label(2, 1);
    assert_eq!(d.condition(&known).unwrap_err(), Error::NoTree { tree_set: set, words: vec![2] });
    assert_eq!(d.scores().labels_of(1, 1), None);
    assert_eq!(d.arcs().scores().words(), ArcMatrix::zeros(2).words());
}

/// 1e300 + ln 2 rounds to 1e300: label probabilities must not be computed from that sum.
#[test]
fn labels_of_the_largest_scores_share_their_arc() {
    let scores = LabelledArcMatrix::filled(2, 3, ArcMatrix::MAX_SCORE);
    for set in TreeSet::ALL {
        let d = LabelledTreeDistribution::new(scores.clone(), set).unwrap();
        let probabilities = d.label_probs(1, 2).unwrap();
        assert!(probabilities.iter().all(|p| (p - 1.0 / 3.0).abs() < 1e-15), "{probabilities:?}");
        assert!(d.renyi(1.0).unwrap() <= 27f64.ln() + 1e-9);
    }
}

/// The order is applied to the best labelled tree's scores, not to sums over labels.
#[test]
fn renyi_entropies_of_large_orders() {
    let d = LabelledTreeDistribution::new(LabelledArcMatrix::zeros(1, 4), TreeSet::ALL[0]).unwrap();
    for order in [0.0, 0.5, 2.0, 1e10, 1e17, 1e300, f64::INFINITY] {
        assert!((d.renyi(order).unwrap() - 4f64.ln()).abs() < 1e-12, "order {order}");
    }
}

#[test]
fn sparse_matrices_say_what_full_ones_say() {
    let mut full = LabelledArcMatrix::forbidden(3, 2);
    let mut sparse = LabelledArcMatrix::sparse(3, 2);
    assert_eq!(sparse, full);
    for scores in [&mut full, &mut sparse] {
        scores.forbid(1, 3, 0); // already forbidden
        scores[(0, 2, 1)] = 1.5;
        scores.labels_of_mut(2, 1).unwrap().copy_from_slice(&[0.5, FORBIDDEN]);
        scores[(2, 3, 0)] = 2.5;
        scores.forbid(2, 3, 0);
    }
    assert_eq!(sparse, full);
    assert_eq!(sparse.to_vec(), full.to_vec());
    assert_eq!(sparse.labels_of(0, 2), Some(&[FORBIDDEN, 1.5][..]));
    assert_eq!(sparse.labels_of(3, 1), Some(&[FORBIDDEN; 2][..]));
    assert_eq!((sparse.get(3, 3, 0), sparse.get(1, 2, 2)), (None, None));
    assert_eq!(LabelledArcMatrix::sparse(2, 0).to_vec(), [0.0; 0]);
    let mut bad = sparse.clone();
    bad[(1, 3, 1)] = f64::NAN;
    let error = LabelledTreeDistribution::new(bad, TreeSet::ALL[0]).unwrap_err();
    assert!(
        matches!(error, Error::BadScore { head: 1, modifier: 3, label: Some(1), .. }),
        "{error}"
    );
}
