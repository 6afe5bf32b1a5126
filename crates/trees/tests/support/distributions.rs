//! All questions about a `TreeDistribution`, and the functions with a workspace.

use super::bytes::{Bytes, Sentence};
use super::{
    NO_ORDERS, ORDERS, assert_are_renyi_entropies, assert_is_distribution, assert_is_no_tree,
    assert_no_nan, assert_same_bits, generators,
};
use tutte_trees::{
    ArcMatrix, Error, ScoredTree, Tree, TreeDistribution, TreeSet, Workspace, arc_covariances_with,
    argmax_with, log_partition_with, marginals_with, mbr_with, oracle,
};

/// Asks all questions in all four sets. `tree` is a tree over the same words, not always in the set
/// and not always possible.
pub(super) fn ask(sentence: &Sentence<'_>, tree: Option<&Tree>) {
    let all: Vec<TreeDistribution> = TreeSet::ALL
        .into_iter()
        .filter_map(|tree_set| {
            ask_workspace(sentence, tree_set, tree);
            ask_one(sentence, tree_set, tree)
        })
        .collect();
    for (p, q) in all.iter().flat_map(|p| all.iter().map(move |q| (p, q))) {
        ask_both(p, q, sentence.tolerance());
    }
    if let Some(p) = all.first() {
        let flat = TreeDistribution::new(ArcMatrix::zeros(p.words()), p.tree_set());
        let q = flat.expect("every tree is possible");
        ask_both(p, &q, sentence.tolerance());
        ask_both(&q, p, sentence.tolerance());
        let longer = ArcMatrix::zeros(p.words() + 1);
        let other = TreeDistribution::new(longer, p.tree_set()).expect("every tree is possible");
        assert!(matches!(p.kl(&other), Err(Error::DifferentLengths { .. })));
        assert!(matches!(other.cross_entropy(p), Err(Error::DifferentLengths { .. })));
    }
}

/// Checks that the functions with a workspace agree with each other.
fn ask_workspace(sentence: &Sentence<'_>, tree_set: TreeSet, tree: Option<&Tree>) {
    let scores = &sentence.scores;
    let tolerance = sentence.tolerance();
    let mut workspace = Workspace::default();
    let mut marginals = ArcMatrix::default();
    let mut heads = Vec::new();
    let log_partition = log_partition_with(scores, tree_set, &mut workspace);
    let log_z = marginals_with(scores, tree_set, &mut workspace, &mut marginals);
    let best = argmax_with(scores, tree_set, &mut workspace, &mut heads);

    if let Some(bad) = sentence.bad_arc() {
        let made = TreeDistribution::new(scores.clone(), tree_set).map(|_| 0.0);
        for answer in [log_partition, log_z, best, made] {
            match answer {
                Err(Error::BadScore { head, modifier, .. }) => assert_eq!((head, modifier), bad),
                other => panic!("the score of {bad:?} is accepted: {other:?}"),
            }
        }
        return;
    }
    let log_partition = log_partition.expect("good scores have a sum");
    let known_score = tree
        .filter(|tree| tree.check_in(tree_set).is_ok())
        .map(|tree| scores.sum_over(tree).expect("a tree of this sentence"))
        .filter(|score| *score > f64::NEG_INFINITY);
    let (log_z, best) = match (log_z, best) {
        (Ok(log_z), Ok(best)) => (log_z, best),
        (Err(one), Err(other)) => {
            assert_is_no_tree(&one, scores.words(), tree_set);
            assert_eq!(one, other);
            assert_eq!(TreeDistribution::new(scores.clone(), tree_set).map(|_| ()), Err(other));
            assert_eq!(log_partition, f64::NEG_INFINITY);
            assert_eq!(known_score, None, "there is a tree");
            return;
        }
        (log_z, best) => panic!("one finds a tree and the other none: {log_z:?}, {best:?}"),
    };

    assert!(log_z.is_finite());
    assert!((log_partition - log_z).abs() <= tolerance, "{log_partition} or {log_z}");
    assert_is_distribution(&marginals, scores, tree_set, tolerance);
    if scores.words() <= 3 && tolerance < 1e-3 {
        let expected = oracle::log_partition(scores, tree_set);
        assert!((log_z - expected).abs() <= tolerance, "{log_z}, enumerated {expected}");
        for (head, modifier, p) in oracle::marginals(scores, tree_set).arcs() {
            let found = marginals[(head, modifier)];
            assert!((found - p).abs() <= tolerance, "{found}, enumerated {p}");
        }
    }

    let argmax = Tree::new(&heads).expect("the best tree is a tree");
    assert_eq!(argmax.check_in(tree_set), Ok(()));
    assert_eq!(scores.sum_over(&argmax), Ok(best));
    assert!(log_z >= best - tolerance, "log-partition {log_z}, best tree {best}");
    assert!(known_score.is_none_or(|score| score <= best + tolerance));

    for set in TreeSet::ALL {
        match mbr_with(scores, &marginals, set, &mut workspace, &mut heads) {
            Ok(gain) => {
                let tree = Tree::new(&heads).expect("a tree");
                assert_eq!(tree.check_in(set), Ok(()));
                assert!(marginals.sum_over(&tree).is_ok_and(|sum| (sum - gain).abs() <= 1e-9));
                assert!(scores.sum_over(&tree).is_ok_and(|score| score > f64::NEG_INFINITY));
            }
            Err(error) => {
                assert!(!set.contains(tree_set), "the {tree_set} trees are {set} trees");
                assert_is_no_tree(&error, scores.words(), set);
            }
        }
    }

    // A used workspace does not change answers: the second has the bits of the first.
    let mut again = ArcMatrix::default();
    let log_z_again = marginals_with(scores, tree_set, &mut workspace, &mut again);
    assert_eq!(log_z_again.map(f64::to_bits), Ok(log_z.to_bits()));
    assert_same_bits(again.as_slice(), marginals.as_slice());
}

/// Asks all questions about one distribution and returns it; `None` if there is no tree or a score is
/// bad.
fn ask_one(
    sentence: &Sentence<'_>,
    tree_set: TreeSet,
    tree: Option<&Tree>,
) -> Option<TreeDistribution> {
    let scores = &sentence.scores;
    let tolerance = sentence.tolerance();
    let d = TreeDistribution::new(scores.clone(), tree_set).ok()?;
    let words = d.words();
    let mut bytes = Bytes(sentence.rest);
    assert_eq!((words, d.tree_set()), (scores.words(), tree_set));
    assert_same_bits(d.scores().as_slice(), scores.as_slice());
    assert!(!format!("{d:?}").is_empty());

    assert!(d.log_partition().is_finite());
    assert!(d.log_partition() >= d.argmax().score);
    assert_is_distribution(d.marginals(), scores, tree_set, tolerance);
    for head in 0..=words + 1 {
        for modifier in 0..=words + 1 {
            match d.marginal(head, modifier) {
                Ok(p) => assert_eq!(p, d.marginals()[(head, modifier)]),
                Err(error) => {
                    assert!(!scores.has_arc(head, modifier));
                    assert!(matches!(error, Error::NoSuchArc { .. }));
                }
            }
        }
        let h = d.head_entropy(head);
        assert_eq!(h.is_ok(), (1..=words).contains(&head));
        assert!(h.is_err() || h.is_ok_and(|h| (0.0..=(words as f64).ln() + 1e-9).contains(&h)));
    }
    assert_eq!(d.arcs_above(0.0).len(), words * words);
    assert_eq!(d.arcs_above(f64::NAN).len(), 0);
    assert!(d.arcs_above(0.5).iter().all(|&(.., p)| p >= 0.5));
    for heads in [d.greedy_heads(), d.greedy_heads_by_score()] {
        let arcs = heads.iter().zip(1..).map(|(&head, modifier)| (head, modifier));
        assert!(heads.len() == words && arcs.clone().all(|(h, m)| scores.has_arc(h, m)));
        assert!(arcs.clone().all(|arc| scores[arc] > f64::NEG_INFINITY));
    }

    ask_trees(&d, tree, tolerance);
    ask_samples(&d, bytes.next());
    ask_information(&d, tolerance);
    ask_conditions(&d, &mut bytes, tolerance);
    ask_functions(&d, tolerance, &mut bytes);
    Some(d)
}

fn ask_trees(d: &TreeDistribution, tree: Option<&Tree>, tolerance: f64) {
    let tree_set = d.tree_set();
    let possible = |tree: &Tree| {
        let log_prob = d.log_prob(tree).expect("a tree of this sentence");
        assert!(log_prob <= 0.0 && (log_prob > f64::NEG_INFINITY) == log_prob.is_finite());
        log_prob > f64::NEG_INFINITY
    };
    if let Some(tree) = tree {
        let allowed = d.scores().sum_over(tree).is_ok_and(|score| score > f64::NEG_INFINITY);
        assert_eq!(possible(tree), allowed && tree.check_in(tree_set).is_ok());
    }
    let longer = Tree::new(&vec![0; d.words() + 1]).expect("all words attached to the root");
    assert!(matches!(d.log_prob(&longer), Err(Error::DifferentLengths { .. })));
    assert!(possible(&d.argmax().tree) && possible(&d.mbr()));
    assert_eq!(d.mbr_in(tree_set), Ok(d.mbr()));

    assert_eq!(d.kbest(0), []);
    for k in if d.words() <= 4 { &[1, 5, 1000][..] } else { &[1, 5] } {
        let ranked = d.kbest(*k);
        assert_are_ranked(&ranked, d.tree_count(), *k);
        assert!((ranked[0].score - d.argmax().score).abs() <= tolerance);
        for ScoredTree { tree, score } in &ranked {
            assert!(possible(tree) && score.is_finite());
            let sum = d.scores().sum_over(tree).expect("a tree of this sentence");
            assert!((sum - score).abs() <= tolerance, "{score}, summed {sum}");
        }
    }
}

/// Checks the order, that no tree is listed twice, and that none is missing.
fn assert_are_ranked(ranked: &[ScoredTree], count: Option<u128>, k: usize) {
    assert!(ranked.windows(2).all(|pair| pair[0].score >= pair[1].score));
    let mut trees: Vec<&Tree> = ranked.iter().map(|scored| &scored.tree).collect();
    trees.sort();
    trees.dedup();
    assert_eq!(trees.len(), ranked.len(), "a tree is listed twice");
    assert!(count.is_none_or(|count| ranked.len() as u128 == count.min(k as u128)));
}

fn ask_samples(d: &TreeDistribution, seed: u8) {
    let mut heads = Vec::new();
    for mut rng in generators(seed) {
        for _ in 0..3 {
            let tree = d.sample(&mut rng);
            assert!(d.log_prob(&tree).is_ok_and(f64::is_finite), "{tree:?} is impossible");
        }
        d.sample_into(&mut rng, &mut heads);
        assert!(Tree::new(&heads).is_ok_and(|tree| d.log_prob(&tree).is_ok_and(f64::is_finite)));
    }
    let draw = || d.clone().sample(&mut generators(seed)[0]);
    assert_eq!(draw(), draw());
}

fn ask_information(d: &TreeDistribution, tolerance: f64) {
    let log_count = d.log_tree_count();
    if let Some(count) = d.tree_count() {
        assert!((log_count - (count as f64).ln()).abs() <= 1e-9, "{count} trees, log {log_count}");
        assert!(d.tree_set().tree_count(d.words()).is_none_or(|all| count <= all));
    }
    let entropy = d.entropy();
    assert!((0.0..=log_count + 1e-9 + tolerance).contains(&entropy), "{entropy} of {log_count}");
    assert_no_nan(d.entropy_gradient().as_slice());
    let entropies: Vec<f64> = ORDERS.map(|order| d.renyi(order).expect("an order")).to_vec();
    assert!((entropies[5] - entropy).abs() <= tolerance, "{} or {entropy}", entropies[5]);
    // Near 1 a difference of two logarithms is divided by 1e-4.
    assert_are_renyi_entropies(&entropies, 1e5 * tolerance);
    for order in ORDERS {
        assert_no_nan(d.renyi_gradient(order).expect("an order").as_slice());
    }
    for order in NO_ORDERS {
        assert!(matches!(d.renyi(order), Err(Error::BadParameter { .. })));
        assert!(matches!(d.renyi_gradient(order), Err(Error::BadParameter { .. })));
    }
}

fn ask_conditions(d: &TreeDistribution, bytes: &mut Bytes<'_>, tolerance: f64) {
    let words = d.words();
    let scores = d.scores();
    let known = bytes.constraints(words, 0);
    let log_prob = d.log_prob_of(&known.constraints());
    match d.condition(&known.constraints()) {
        Ok(posterior) => {
            let log_prob = log_prob.expect("the condition is possible");
            assert!(log_prob <= 0.0 && log_prob > f64::NEG_INFINITY, "log-probability {log_prob}");
            let ratio = posterior.log_partition() - d.log_partition();
            assert!((ratio - log_prob).abs() <= 2.0 * tolerance, "{ratio} or {log_prob}");
            assert!(known.holds(posterior.argmax().tree.heads()));
            for mut rng in generators(bytes.next()) {
                assert!(known.holds(posterior.sample(&mut rng).heads()));
            }
            assert_is_distribution(posterior.marginals(), scores, d.tree_set(), tolerance);
            assert!(known.forbidden.iter().all(|&arc| posterior.marginals()[arc] == 0.0));
        }
        Err(Error::NoTree { .. }) => assert_eq!(log_prob, Ok(f64::NEG_INFINITY)),
        Err(error) => {
            assert!(matches!(error, Error::NoSuchArc { .. }), "{error}");
            assert!(log_prob.is_err() && !known.is_in_range(scores));
        }
    }
    let labels = known.constraints().require_label(1, 0);
    assert!(matches!(d.condition(&labels), Err(Error::NoSuchLabel { .. })));

    let arcs = bytes.arcs(words);
    match d.joint_marginal(&arcs) {
        Ok(p) => {
            assert!((0.0..=1.0 + 1e-9).contains(&p), "P({arcs:?}) = {p}");
            let single = arcs.iter().map(|&arc| d.marginals()[arc]).fold(1.0, f64::min);
            assert!(p <= single + tolerance, "P({arcs:?}) = {p}, of one of them {single}");
        }
        Err(_) => assert!(arcs.iter().any(|&(head, modifier)| !scores.has_arc(head, modifier))),
    }
    if let [first, second, ..] = *arcs {
        let p = d.pair_marginal(first, second);
        assert!(p.is_err() || p.is_ok_and(|p| (0.0..=1.0 + 1e-9).contains(&p)));
    }
}

fn ask_functions(d: &TreeDistribution, tolerance: f64, bytes: &mut Bytes<'_>) {
    // Where scores leave no digits, covariances are numbers but have no bounds.
    let exact = tolerance < 0.1;
    let words = d.words();
    let palette = bytes.next();
    let mut function = || ArcMatrix::from_fn(words, |_, _| bytes.value(palette));
    let (f, g) = (function(), function());
    let is_number = |f: &ArcMatrix| {
        let mut allowed = f.arcs().filter(|&(h, m, _)| d.scores()[(h, m)] > f64::NEG_INFINITY);
        allowed.all(|(.., value)| value.abs() <= ArcMatrix::MAX_SCORE)
    };
    let size = |f: &ArcMatrix| {
        let allowed = f.arcs().filter(|&(h, m, _)| d.scores()[(h, m)] > f64::NEG_INFINITY);
        allowed.fold(0.0f64, |size, (.., value)| size.max(value.abs()))
    };
    let mut covariances = ArcMatrix::default();
    let mean = arc_covariances_with(
        d.scores(),
        &g,
        d.tree_set(),
        &mut Workspace::default(),
        &mut covariances,
    );
    assert_eq!(mean.is_ok(), is_number(&g));
    assert_eq!(d.expectation(&g).is_ok(), is_number(&g));
    assert_eq!(d.covariance(&f, &g).is_ok(), is_number(&f) && is_number(&g));
    if let (Ok(mean), Ok(expectation)) = (mean, d.expectation(&g)) {
        let bound = size(&g) * words as f64 * (1.0 + 1e-9);
        assert!(mean.abs() <= bound && expectation.abs() <= bound, "{mean} or {expectation}");
        assert_no_nan(covariances.as_slice());
        let covariances = d.arc_covariances(&g).expect("a function");
        for (head, modifier, c) in covariances.arcs() {
            assert!(!exact || c.abs() <= bound, "covariance {c} of {head} → {modifier}");
            assert!(c == 0.0 || d.scores()[(head, modifier)] > f64::NEG_INFINITY);
        }
        if let Ok(c) = d.covariance(&f, &g) {
            let bound = bound * size(&f) * words as f64;
            assert!(!c.is_nan() && (!exact || c.abs() <= bound), "{c}");
        }
        let variance = d.covariance(&g, &g).expect("a function");
        assert!(
            !variance.is_nan() && (!exact || variance >= -1e-9 * bound * bound),
            "variance {variance}"
        );
    } else {
        assert!(matches!(d.arc_covariances(&g), Err(Error::BadScore { .. })));
    }
    let longer = ArcMatrix::zeros(words + 1);
    assert!(matches!(d.expectation(&longer), Err(Error::DifferentLengths { .. })));
    assert!(matches!(d.covariance(&longer, &longer), Err(Error::DifferentLengths { .. })));
}

/// Checks the divergences between two distributions over one sentence.
fn ask_both(p: &TreeDistribution, q: &TreeDistribution, tolerance: f64) {
    let kl = p.kl(q);
    let cross_entropy = p.cross_entropy(q);
    if !q.tree_set().contains(p.tree_set()) {
        assert!(matches!((kl, cross_entropy), (Err(Error::BadParameter { .. }), Err(_))));
        return;
    }
    let kl = kl.expect("comparable");
    let cross_entropy = cross_entropy.expect("comparable");
    assert!(kl >= 0.0 && cross_entropy >= 0.0, "KL {kl}, cross-entropy {cross_entropy}");
    assert_eq!(kl.is_finite(), cross_entropy.is_finite());
    if kl.is_finite() && tolerance < 0.1 {
        let sum = p.entropy() + kl;
        assert!((sum - cross_entropy).abs() <= 4.0 * tolerance, "{sum:e} or {cross_entropy:e}");
    }
    if std::ptr::eq(p, q) {
        assert!(kl <= tolerance, "KL {kl} from itself");
    }
}
