//! Small graphs against enumeration of all trees; sparse solvers against dense ones.

mod large;

use proptest::prelude::*;
use rand_pcg::{Pcg64, rand_core::Rng, rand_core::SeedableRng};

use super::arborescence::best_heads;
use super::sparse::{Fill, Local, solve};
use super::*;
use crate::weight::log_sum_exp;
use crate::{ArcMatrix, Error, Tree, TreeDistribution, TreeSet, oracle};

const SETS: [TreeSet; 2] = [TreeSet::NonProjectiveMultiRoot, TreeSet::NonProjectiveSingleRoot];

fn graph(nodes: usize, arcs: &[(usize, usize, f64)]) -> Graph<usize> {
    let mut graph = Graph::new(0, 1..=nodes).unwrap();
    for &(parent, child, log_weight) in arcs {
        graph.add_arc_between(parent, child, log_weight).unwrap();
    }
    graph
}

/// The score matrix of the arcs, parallel ones pooled.
fn dense_scores(nodes: usize, arcs: &[(usize, usize, f64)]) -> ArcMatrix {
    ArcMatrix::from_fn(nodes, |head, modifier| {
        let parallel = arcs.iter().filter(|arc| (arc.0, arc.1) == (head, modifier));
        log_sum_exp(&parallel.map(|arc| arc.2).collect::<Vec<_>>())
    })
}

fn is_loop(&(parent, child, _): &(usize, usize, f64)) -> bool {
    child == 0 || parent == child
}

/// The share of an arc in the weight of its parent → child pair; 0 if it is in no tree.
fn share(scores: &ArcMatrix, arc: &(usize, usize, f64)) -> f64 {
    if is_loop(arc) || arc.2 == f64::NEG_INFINITY {
        return 0.0;
    }
    (arc.2 - scores[(arc.0, arc.1)]).exp()
}

/// Up to 5 nodes with any arcs between them, some of them parallel, loops or forbidden.
fn any_graph() -> impl Strategy<Value = (usize, Vec<(usize, usize, f64)>, f64)> {
    let sigma = prop_oneof![Just(0.0), Just(1.0), Just(30.0), Just(1000.0), Just(1e5)];
    (0usize..=5, sigma).prop_flat_map(|(n, sigma)| {
        let weight = prop_oneof![
            8 => (-2.0..2.0f64).prop_map(move |x| x * sigma),
            3 => (-2i32..=2).prop_map(f64::from),
            1 => Just(f64::NEG_INFINITY)
        ];
        let arcs = prop::collection::vec((0..=n, 0..=n, weight), 0..=24);
        (Just(n), arcs, Just(sigma))
    })
}

/// Like [`any_graph`], but with a tree: every node also gets a parent with a smaller number.
fn feasible_graph() -> impl Strategy<Value = (usize, Vec<(usize, usize, f64)>, f64)> {
    (any_graph(), prop::collection::vec(any::<prop::sample::Index>(), 5)).prop_map(
        |((n, mut arcs, sigma), parents)| {
            for child in 1..=n {
                // Only node 1 gets the root, so that there is a tree with one child of the root.
                let parent = if child == 1 { 0 } else { 1 + parents[child - 1].index(child - 1) };
                arcs.push((parent, child, 0.5));
            }
            (n, arcs, sigma)
        },
    )
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * a.abs().max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn feasibility_is_what_enumeration_finds((n, arcs, _) in any_graph()) {
        let scores = dense_scores(n, &arcs);
        for set in SETS {
            let trees = oracle::scored_trees(&scores, set);
            let result = GraphDistribution::new(graph(n, &arcs), set);
            prop_assert_eq!(result.is_ok(), !trees.is_empty(), "{:?}", result.err());
        }
    }

    #[test]
    fn first_order_answers_match_enumeration((n, arcs, sigma) in feasible_graph()) {
        let scores = dense_scores(n, &arcs);
        let tolerance = if sigma <= 30.0 { 1e-12 } else if sigma <= 1000.0 { 1e-10 } else { 1e-8 };
        for set in SETS {
            let d = GraphDistribution::new(graph(n, &arcs), set).unwrap();
            let log_z = oracle::log_partition(&scores, set);
            // Large scores that cancel leave rounding errors, here and in the enumeration.
            let size = arcs.iter().filter(|a| a.2.is_finite()).fold(1.0f64, |m, a| m.max(a.2.abs()));
            let slack = 1e-12 * log_z.abs().max(1.0) + 4.0 * f64::EPSILON * n as f64 * size;
            prop_assert!((d.log_partition() - log_z).abs() <= slack, "{}", d.log_partition());
            let mu = oracle::marginals(&scores, set);
            for (arc, &p) in arcs.iter().zip(d.marginals()) {
                let exact = if is_loop(arc) { 0.0 } else { mu[(arc.0, arc.1)] * share(&scores, arc) };
                prop_assert!((p - exact).abs() <= tolerance, "{:?}: {} {}", arc, p, exact);
            }
            prop_assert!((d.entropy() - oracle::entropy(&scores, set)).abs() <= 10.0 * tolerance);
            let best = oracle::ranked(&scores, set)[0].0;
            prop_assert!(close(d.argmax().score, best, 1e-9));
            for (p, tree) in oracle::distribution(&scores, set) {
                prop_assert!((d.log_prob(&tree).unwrap().exp() - p).abs() <= 10.0 * tolerance);
            }
            let f: Vec<f64> = (0..arcs.len()).map(|i| ((i * i) % 7) as f64 - 3.0).collect();
            let exact: f64 = f.iter().zip(d.marginals()).map(|(f, p)| f * p).sum();
            prop_assert!((d.expectation(&f).unwrap() - exact).abs() < 1e-10);
        }
    }

    #[test]
    fn second_order_answers_match_enumeration((n, arcs, sigma) in feasible_graph()) {
        let scores = dense_scores(n, &arcs);
        let tolerance = if sigma <= 30.0 { 1e-11 } else if sigma <= 1000.0 { 1e-9 } else { 1e-7 };
        for set in SETS {
            let d = GraphDistribution::new(graph(n, &arcs), set).unwrap();
            let trees = oracle::distribution(&scores, set);
            // P(arc a) given a tree, and so P(a and b).
            let given = |tree: &Tree, a: usize| {
                let arc = &arcs[a];
                let used = !is_loop(arc) && tree.head(arc.1) == Some(arc.0);
                if used { share(&scores, arc) } else { 0.0 }
            };
            let joint = |a: usize, b: usize| -> f64 {
                let pair = |tree: &Tree| {
                    if a == b {
                        given(tree, a)
                    } else if arcs[a].1 == arcs[b].1 {
                        0.0
                    } else {
                        given(tree, a) * given(tree, b)
                    }
                };
                trees.iter().map(|(p, tree)| p * pair(tree)).sum()
            };
            let g: Vec<f64> = (0..arcs.len()).map(|i| ((i * 5) % 11) as f64 / 3.0 - 1.0).collect();
            let f: Vec<f64> = (0..arcs.len()).map(|i| ((i * 7) % 5) as f64 - 2.0).collect();
            let covariances = d.arc_covariances(&g).unwrap();
            let mut exact_covariance = 0.0;
            prop_assert!(covariances.iter().all(|c| c.is_finite()));
            for a in 0..arcs.len() {
                let mut exact = 0.0;
                for b in 0..arcs.len() {
                    let pair = joint(a, b);
                    exact += g[b] * (pair - joint(a, a) * joint(b, b));
                    let found = d.pair_marginal(a, b).unwrap();
                    prop_assert!((found - pair).abs() <= tolerance, "{a} {b}: {found} {pair}");
                }
                prop_assert!(
                    (covariances[a] - exact).abs() <= 30.0 * tolerance,
                    "{a}: {} {exact}",
                    covariances[a]
                );
                exact_covariance += f[a] * exact;
            }
            let found = d.covariance(&f, &g).unwrap();
            let close = (found - exact_covariance).abs() <= 100.0 * tolerance;
            prop_assert!(close, "{found} {exact_covariance}");
        }
    }

    #[test]
    fn the_k_best_are_the_first_of_the_enumeration((n, arcs, _) in feasible_graph(), k in 0usize..40) {
        let scores = dense_scores(n, &arcs);
        for set in SETS {
            let d = GraphDistribution::new(graph(n, &arcs), set).unwrap();
            let ranked = oracle::ranked(&scores, set);
            let found = d.kbest(k);
            prop_assert_eq!(found.len(), k.min(ranked.len()));
            let mut seen = std::collections::HashSet::new();
            for (found, (score, _)) in found.iter().zip(&ranked) {
                prop_assert!(close(found.score, *score, 1e-9), "{} {}", found.score, score);
                let own = scores.sum_over(&found.tree).unwrap();
                prop_assert!(close(found.score, own, 1e-9));
                prop_assert!(seen.insert(found.tree.clone()));
            }
        }
    }

    #[test]
    fn conditioning_is_bayes((n, arcs, sigma) in feasible_graph(), pick in any::<prop::sample::Index>()) {
        if n == 0 || sigma > 30.0 {
            return Ok(());
        }
        let arc = pick.index(arcs.len());
        let parallel = |other: &&(usize, usize, f64)| (other.0, other.1) == (arcs[arc].0, arcs[arc].1);
        let alone = arcs.iter().filter(parallel).count() == 1;
        for set in SETS {
            let d = GraphDistribution::new(graph(n, &arcs), set).unwrap();
            let p = d.marginals()[arc];
            for (result, p) in [(d.condition(&[arc], &[]), p), (d.condition(&[], &[arc]), 1.0 - p)] {
                match result {
                    Ok(given) => {
                        let log_prob = given.log_partition() - d.log_partition();
                        prop_assert!((log_prob.exp() - p).abs() < 1e-11);
                        let kl = given.kl(&d).unwrap();
                        // Requiring one of several parallel arcs is not an event about trees alone.
                        if alone {
                            prop_assert!((kl + log_prob).abs() < 1e-9 * log_prob.abs().max(1.0));
                        }
                        let cross = given.cross_entropy(&d).unwrap();
                        prop_assert!((cross - given.entropy() - kl).abs() < 1e-9 * cross.max(1.0));
                    }
                    Err(_) => prop_assert!(p.abs() < 1e-12, "{p}"),
                }
            }
        }
    }

    #[test]
    fn divergence_is_infinite_exactly_if_a_tree_is_lost(
        (n, arcs, sigma) in feasible_graph(),
        pick in any::<prop::sample::Index>(),
    ) {
        if n == 0 || sigma > 1000.0 {
            return Ok(());
        }
        let gone = pick.index(arcs.len());
        let mut fewer = arcs.clone();
        fewer[gone].2 = f64::NEG_INFINITY;
        let scores = dense_scores(n, &arcs);
        let left = dense_scores(n, &fewer);
        for set in SETS {
            let Ok(q) = GraphDistribution::new(graph(n, &fewer), set) else { continue };
            let p = GraphDistribution::new(graph(n, &arcs), set).unwrap();
            let trees = oracle::scored_trees(&scores, set).len();
            let lost = trees > oracle::scored_trees(&left, set).len();
            prop_assert_eq!(p.kl(&q).unwrap() == f64::INFINITY, lost);
            prop_assert_eq!(p.cross_entropy(&q).unwrap() == f64::INFINITY, lost);
        }
    }

    #[test]
    fn sparse_elimination_agrees_with_dense(seed: u64, k in 1usize..40, sigma in 0.0..4.0f64) {
        let local = random_local(seed, k, 3, sigma);
        let fill = Fill::new(&local, usize::MAX).unwrap();
        let solution = solve(&local, &fill).unwrap();
        let dense =
            TreeDistribution::new(matrix(&local), TreeSet::NonProjectiveMultiRoot).unwrap();
        prop_assert!(close(solution.log_partition, dense.log_partition(), 1e-12));
        let best = best_heads(&local);
        prop_assert!(close(
            dense.scores().sum_over(&Tree::new(&best).unwrap()).unwrap(),
            dense.argmax().score,
            1e-9
        ));
        if let Some(marginals) = solution.marginals {
            for child in 0..k {
                let exact = dense.marginals()[(0, child + 1)];
                prop_assert!((marginals.outside[child] - exact).abs() < 1e-10);
                for arc in local.start[child]..local.start[child + 1] {
                    let exact = dense.marginals()[(local.parent[arc] + 1, child + 1)];
                    prop_assert!((marginals.arcs[arc] - exact).abs() < 1e-10);
                }
            }
        }
    }

    #[test]
    fn sparse_decoding_agrees_with_dense_on_ties_and_long_cycles(seed: u64, k in 1usize..30) {
        let mut local = random_local(seed, k, 4, 2.0);
        for weight in local.log_weight.iter_mut().chain(&mut local.log_outside) {
            *weight = weight.round();
        }
        let dense =
            TreeDistribution::new(matrix(&local), TreeSet::NonProjectiveMultiRoot).unwrap();
        let best = Tree::new(&best_heads(&local)).unwrap();
        prop_assert_eq!(dense.scores().sum_over(&best).unwrap(), dense.argmax().score);
    }
}

fn unit(rng: &mut Pcg64) -> f64 {
    crate::uniform::uniform(rng)
}

fn below(rng: &mut Pcg64, n: usize) -> usize {
    (rng.next_u64() % n as u64) as usize
}

/// About `degree` arcs into each word, and a cycle through all words; half the words, and always word
/// 0, can be entered from outside.
fn random_local(seed: u64, k: usize, degree: usize, sigma: f64) -> Local {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut local = Local {
        start: vec![0],
        parent: Vec::new(),
        log_weight: Vec::new(),
        log_outside: Vec::new(),
    };
    for child in 0..k {
        let mut parents: Vec<usize> = (0..degree).map(|_| below(&mut rng, k)).collect();
        parents.push((child + 1) % k);
        parents.sort_unstable();
        parents.dedup();
        parents.retain(|&parent| parent != child);
        for parent in parents {
            local.parent.push(parent);
            local.log_weight.push(sigma * (4.0 * unit(&mut rng) - 2.0));
        }
        local.start.push(local.parent.len());
        let entered = child == 0 || unit(&mut rng) < 0.5;
        let weight = sigma * (4.0 * unit(&mut rng) - 3.0);
        local.log_outside.push(if entered { weight } else { f64::NEG_INFINITY });
    }
    local
}

fn matrix(local: &Local) -> ArcMatrix {
    let mut scores = ArcMatrix::forbidden(local.words());
    for child in 0..local.words() {
        scores[(0, child + 1)] = local.log_outside[child];
        for arc in local.start[child]..local.start[child + 1] {
            scores[(local.parent[arc] + 1, child + 1)] = local.log_weight[arc];
        }
    }
    scores
}

#[test]
fn all_weights_one_count_the_trees() {
    for n in 0..=12 {
        for set in SETS {
            let names = 0..=n;
            let graph = Graph::from_matrix(names, &ArcMatrix::zeros(n)).unwrap();
            let d = GraphDistribution::new(graph, set).unwrap();
            let count = set.tree_count(n).unwrap() as f64;
            assert!((d.log_partition().exp() / count - 1.0).abs() < 1e-12);
            assert!((d.entropy() - count.ln()).abs() < 1e-11);
        }
    }
}

#[test]
fn the_fixture_with_masks() {
    let arcs = [(0, 1, 0.0), (1, 2, 1.0), (0, 2, 2.0), (3, 2, 0.0), (1, 3, 0.0), (2, 3, -1.0)];
    let multi = GraphDistribution::new(graph(3, &arcs), SETS[0]).unwrap();
    assert!((multi.log_partition() - 2.696356748789).abs() < 1e-12);
    assert!((multi.marginals()[2] - 0.681748088366).abs() < 1e-12);
    assert_eq!(multi.components(), [vec![1], vec![2, 3]]);
    let single = GraphDistribution::new(graph(3, &arcs), SETS[1]).unwrap();
    assert!((single.log_partition() - 1.551444713932).abs() < 1e-12);
    assert!((single.marginals()[1] - 0.788058442383).abs() < 1e-12);
    assert_eq!(single.marginals()[2], 0.0);
    let without: Vec<_> =
        arcs.iter().copied().filter(|a| (a.0, a.1) != (1, 2) && a.0 != 3).collect();
    let multi = GraphDistribution::new(graph(3, &without), SETS[0]).unwrap();
    assert!((multi.log_partition() - 2.313261687518).abs() < 1e-12);
    assert_eq!(
        GraphDistribution::new(graph(3, &without), SETS[1]).unwrap_err(),
        Error::SeveralChildrenNeeded { nodes: vec!["1".into(), "2".into()] }
    );
}

#[test]
fn mistakes_are_named() {
    assert_eq!(
        Graph::new("r", ["a", "b", "a"]).unwrap_err(),
        Error::DuplicateNode { node: "a".into() }
    );
    let mut graph = Graph::new("r", ["a", "b", "c"]).unwrap();
    assert_eq!(graph.add_arc(&"r", &"x", 0.0), Err(Error::UnknownNode { node: "x".into() }));
    assert!(matches!(
        graph.add_arc(&"a", &"b", f64::NAN),
        Err(Error::BadWeight { parent, child, .. }) if parent == "a" && child == "b"
    ));
    assert!(graph.add_arc(&"a", &"b", f64::INFINITY).is_err());
    assert!(graph.add_arc_between(0, 4, 0.0).is_err());
    graph.add_arc(&"r", &"a", 0.0).unwrap();
    graph.add_arc(&"b", &"c", 0.0).unwrap();
    graph.add_arc(&"c", &"b", 0.0).unwrap();
    graph.add_arc(&"a", &"a", 0.0).unwrap();
    graph.add_arc(&"a", &"r", 0.0).unwrap();
    graph.add_arc(&"a", &"c", f64::NEG_INFINITY).unwrap();
    assert_eq!(graph.ignored_arcs().collect::<Vec<_>>(), [3, 4]);
    let error = GraphDistribution::new(graph.clone(), SETS[0]).unwrap_err();
    assert_eq!(error, Error::Unreachable { nodes: vec!["b".into(), "c".into()] });
    assert_eq!(error.to_string(), "no allowed path leads from the root to \"b\", \"c\"");
    graph.add_arc(&"a", &"b", 0.0).unwrap();
    let d = GraphDistribution::new(graph.clone(), SETS[0]).unwrap();
    assert_eq!(d.condition(&[99], &[]).unwrap_err(), Error::NoSuchGraphArc { arc: 99, arcs: 7 });
    assert!(matches!(d.condition(&[], &[6]), Err(Error::Unreachable { .. })));
    assert_eq!(
        d.condition(&[3], &[]).unwrap_err().to_string(),
        "the arc \"a\" → \"a\" is required, but no tree can contain it"
    );
    assert_eq!(
        d.condition(&[2, 6], &[]).unwrap_err().to_string(),
        "both \"c\" and \"a\" → \"b\" are required, but a node has one parent; require one of them"
    );
    assert!(d.expectation(&[0.0]).is_err());
    let mut f = [0.0; 7];
    f[5] = f64::NAN; // impossible arc: not read
    assert!(d.expectation(&f).is_ok());
    f[6] = f64::NAN;
    assert!(d.expectation(&f).is_err() && d.arc_covariances(&f).is_err());
    assert!(GraphDistribution::new(graph, TreeSet::ProjectiveMultiRoot).is_err());
}

#[test]
fn owned_names_are_found_by_borrowed_ones() {
    let mut graph = Graph::new("root".to_owned(), ["a".to_owned()]).unwrap();
    assert_eq!(graph.add_arc("root", "a", 0.0), Ok(0));
    assert_eq!((graph.node("a"), graph.node("b")), (Some(1), None));
    let mut numbered = Graph::new(0, 1..=2).unwrap();
    assert_eq!(numbered.add_arc(&0, &2, 0.0), Ok(0));
}

#[test]
fn weights_may_span_any_range() {
    let arcs = [(0, 1, -1000.0), (0, 2, -1001.0), (1, 2, 0.0), (2, 1, 0.0)];
    for set in SETS {
        let d = GraphDistribution::new(graph(2, &arcs), set).unwrap();
        assert!((d.log_partition() + 999.686738312482).abs() < 1e-9);
        assert!((d.marginals()[0] - 0.731058578630).abs() < 1e-12);
    }
    let huge = [(0, 1, -1e300), (0, 2, 1e300), (1, 2, -1e300), (2, 1, 1e300)];
    let d = GraphDistribution::new(graph(2, &huge), SETS[0]).unwrap();
    assert_eq!(d.argmax().tree.heads(), [2, 0]);
    assert!(d.marginals().iter().all(|p| (0.0..=1.0).contains(p)));
}

/// A grid whose nodes have arcs to and from their neighbours.
fn grid(side: usize, rng: &mut Pcg64) -> Graph<usize> {
    let mut graph = Graph::new(0, 1..=side * side).unwrap();
    for row in 0..side {
        for column in 0..side {
            let node = 1 + row * side + column;
            graph.add_arc_between(0, node, -3.0 - unit(rng)).unwrap();
            let right = (column + 1 < side).then_some(node + 1);
            let down = (row + 1 < side).then_some(node + side);
            for other in [right, down].into_iter().flatten() {
                graph.add_arc_between(node, other, 4.0 * unit(rng) - 2.0).unwrap();
                graph.add_arc_between(other, node, 4.0 * unit(rng) - 2.0).unwrap();
            }
        }
    }
    graph
}

/// The score matrix of arcs without parallel ones.
fn dense_scores_of(nodes: usize, arcs: &[(usize, usize, f64)]) -> ArcMatrix {
    let mut scores = ArcMatrix::forbidden(nodes);
    for &(parent, child, log_weight) in arcs {
        scores[(parent, child)] = log_weight;
    }
    scores
}

#[test]
fn samples_follow_the_distribution() {
    // Two components, parallel arcs, several arcs from outside.
    let arcs = [
        (0, 1, 0.3),
        (0, 2, -0.5),
        (1, 2, 0.7),
        (2, 1, 0.2),
        (1, 2, -0.4),
        (0, 3, -1.0),
        (1, 3, 0.1),
        (2, 3, 0.4),
        (3, 4, 1.0),
        (4, 3, 0.5),
        (2, 4, 0.0),
    ];
    let scores = dense_scores(4, &arcs);
    for set in SETS {
        let d = GraphDistribution::new(graph(4, &arcs), set).unwrap();
        let exact = oracle::distribution(&scores, set);
        let mut counts = vec![0.0; exact.len()];
        let mut rng = Pcg64::seed_from_u64(8);
        let draws = 40_000;
        for _ in 0..draws {
            let tree = d.sample(&mut rng);
            counts[exact.iter().position(|(_, t)| *t == tree).unwrap()] += 1.0;
        }
        let chi2: f64 = exact
            .iter()
            .zip(&counts)
            .map(|((p, _), count)| (count - p * draws as f64).powi(2) / (p * draws as f64))
            .sum();
        // 99.9 % quantile of χ² by Wilson & Hilferty.
        let freedom = (exact.len() - 1) as f64;
        let spread = 2.0 / (9.0 * freedom);
        let quantile = freedom * (1.0 - spread + 3.09 * spread.sqrt()).powi(3);
        assert!(chi2 < quantile, "{chi2} {quantile}");

        let pairs = [(1, 2), (1, 4), (3, 4), (2, 2)];
        let found = d.coclustering(&mut rng, 5000, &pairs).unwrap();
        for (&(a, b), estimate) in pairs.iter().zip(&found) {
            let together = oracle::expectation(&scores, set, |tree| {
                let shared = clusters(tree).iter().any(|c| c.contains(&a) && c.contains(&b));
                f64::from(u8::from(shared))
            });
            assert!((estimate.mean - together).abs() <= 4.0 * estimate.standard_error + 1e-12);
        }
        assert!(d.coclustering(&mut rng, 1, &[(0, 1)]).is_err());
        assert_eq!(
            d.coclustering(&mut rng, 1, &[(1, 2)]).unwrap()[0].standard_error,
            f64::INFINITY
        );
    }
}

#[test]
fn a_factor_on_all_arcs_into_a_node_changes_log_z_only() {
    let mut rng = Pcg64::seed_from_u64(9);
    let plain = grid(4, &mut rng);
    let mut moved = Graph::new(0, 1..=16).unwrap();
    for (parent, child, weight) in plain.arcs() {
        moved.add_arc_between(parent, child, weight + if child == 7 { 50.0 } else { 0.0 }).unwrap();
    }
    let p = GraphDistribution::new(plain, SETS[0]).unwrap();
    let q = GraphDistribution::new(moved, SETS[0]).unwrap();
    assert!((q.log_partition() - p.log_partition() - 50.0).abs() < 1e-11);
    assert!(p.kl(&q).unwrap() < 1e-11);
    assert!(p.marginals().iter().zip(q.marginals()).all(|(a, b)| (a - b).abs() < 1e-12));
}

/// Parallel arcs share their probability even next to the largest weight, and every function accepts
/// values next to the largest.
#[test]
fn the_largest_weights_and_values() {
    let mut graph = Graph::new(0, [1, 2]).unwrap();
    for (parent, child) in [(0, 1), (0, 1), (0, 1), (1, 2), (0, 2), (2, 1)] {
        graph.add_arc(&parent, &child, ArcMatrix::MAX_SCORE).unwrap();
    }
    let d = GraphDistribution::new(graph, TreeSet::NonProjectiveMultiRoot).unwrap();
    let into_1: f64 = [0, 1, 2, 5].iter().map(|&arc: &usize| d.marginals()[arc]).sum();
    assert!((into_1 - 1.0).abs() < 1e-12, "{:?}", d.marginals());

    let mut graph = Graph::new(0, [1]).unwrap();
    for log_weight in [0.1, 0.2, 0.4, 0.9, 1.3] {
        graph.add_arc(&0, &1, log_weight).unwrap();
    }
    let d = GraphDistribution::new(graph, TreeSet::NonProjectiveMultiRoot).unwrap();
    for sign in [1.0, -1.0] {
        assert!(d.arc_covariances(&[sign * ArcMatrix::MAX_SCORE; 5]).is_ok());
    }
}
